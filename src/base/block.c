/* block.c — see block.h. A value of 64 MiB passes through several buffers, and touching one for
 * the first time is 16,384 page faults in small pages: it took longer than copying the value.
 * Huge pages leave the zeroing, which still takes as long as the copying; so a few freed blocks
 * are kept as spares. The system may take their pages at any time (MADV_FREE), and what they add
 * to the process is bounded. */
#define _GNU_SOURCE
#include "base/block.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#if defined(__SANITIZE_ADDRESS__)
#define LARGE SIZE_MAX /* the sanitizer watches malloc's blocks */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define LARGE SIZE_MAX
#endif
#endif
#ifndef LARGE
#define LARGE (2 * HUGE_PAGE)
#endif

/* At the beginning of a mapping; the owner's bytes follow. */
struct block_mapping {
	size_t length;
	_Alignas(64) uint8_t bytes[];
};

static bool is_large(size_t size)
{
	return size >= LARGE;
}

static struct block_mapping *mapping_of(void *p)
{
	return CONTAINER_OF(p, struct block_mapping, bytes);
}

/* Whole huge pages, which the system then puts where huge pages can be. */
static size_t length_for(size_t size)
{
	return (size + sizeof(struct block_mapping) + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

static bool fits_better(const struct block_mapping *m, const struct block_mapping *than, size_t length)
{
	if (than == NULL)
		return true;
	if (m->length < length || than->length < length)
		return m->length > than->length;
	return m->length < than->length;
}

void block_spares_init(struct block_spares *s)
{
	*s = (struct block_spares){ .length = 0 };
	lock_init(&s->lock);
}

void block_spares_fini(struct block_spares *s)
{
	for (size_t i = 0; i < BLOCK_SPARES; i++) {
		if (s->all[i] != NULL)
			munmap(s->all[i], s->all[i]->length);
	}
	lock_fini(&s->lock);
}

/* The smallest spare that is large enough, or else the largest; NULL: there is none. */
static struct block_mapping *take_spare(struct block_spares *s, size_t length)
{
	struct block_mapping **best = NULL, *m = NULL;

	if (s == NULL)
		return NULL;
	lock_take(&s->lock);
	for (size_t i = 0; i < BLOCK_SPARES; i++) {
		if (s->all[i] != NULL && fits_better(s->all[i], best == NULL ? NULL : *best, length))
			best = &s->all[i];
	}
	if (best != NULL) {
		m = *best;
		*best = NULL;
		s->length -= m->length;
	}
	lock_give(&s->lock);
	return m;
}

static bool keep_spare(struct block_spares *s, struct block_mapping *m)
{
	bool kept = false;

	if (s == NULL)
		return false;
	lock_take(&s->lock);
	for (size_t i = 0; i < BLOCK_SPARES && !kept && m->length <= BLOCK_SPARES_MAX - s->length; i++) {
		if (s->all[i] == NULL) {
			s->all[i] = m;
			s->length += m->length;
			kept = true;
		}
	}
	lock_give(&s->lock);
	return kept;
}

static struct block_mapping *grow(struct block_mapping *m, size_t length)
{
	if (m->length >= length)
		return m;
	m = mremap(m, m->length, length, MREMAP_MAYMOVE);
	if (m == MAP_FAILED)
		return NULL;
	m->length = length;
	return m;
}

static struct block_mapping *map(size_t length)
{
	struct block_mapping *m = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				       0);

	if (m == MAP_FAILED)
		return NULL;
	madvise(m, length, MADV_HUGEPAGE); /* a wish: without it the block is only slower */
	m->length = length;
	return m;
}

static void *large_new(struct block_spares *s, size_t size)
{
	struct block_mapping *spare = take_spare(s, length_for(size)),
			     *m = spare == NULL ? map(length_for(size)) : grow(spare, length_for(size));

	if (m == NULL && spare != NULL)
		munmap(spare, spare->length);
	return m == NULL ? NULL : m->bytes;
}

/* Behind the first page, which says how long it is. */
static void large_free(struct block_spares *s, struct block_mapping *m)
{
	if (s != NULL)
		madvise((uint8_t *)m + 4096, m->length - 4096, MADV_FREE);
	if (!keep_spare(s, m))
		munmap(m, m->length);
}

void *block_resize(struct block_spares *s, void *p, size_t old, size_t size)
{
	struct block_mapping *m;
	void *made;

	if (size > SIZE_MAX / 2)
		return NULL; /* no system has that much */
	if (!is_large(size) && (p == NULL || !is_large(old)))
		return realloc(p, size);
	if (p != NULL && is_large(size) && is_large(old)) {
		m = grow(mapping_of(p), length_for(size));
		return m == NULL ? NULL : m->bytes;
	}
	made = is_large(size) ? large_new(s, size) : malloc(size);
	if (made != NULL && p != NULL) {
		memcpy(made, p, old < size ? old : size);
		block_free(s, p, old);
	}
	return made;
}

void block_free(struct block_spares *s, void *p, size_t size)
{
	if (p == NULL)
		return;
	if (is_large(size))
		large_free(s, mapping_of(p));
	else
		free(p);
}
