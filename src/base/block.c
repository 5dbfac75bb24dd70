/* block.c — see block.h. malloc maps large blocks too, but in small pages: touching a value of 64 MiB for the first time is then 16,384 page faults, which took
 * more time than copying it. And once it has seen a few large ones it keeps them in its heap, copies them to grow, and gives them back late. */
#define _GNU_SOURCE
#include "base/block.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#if defined(__SANITIZE_ADDRESS__)
#define LARGE SIZE_MAX              /* the sanitizer watches malloc's blocks */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define LARGE SIZE_MAX
#endif
#endif
#ifndef LARGE
#define LARGE HUGE_PAGE
#endif

static bool is_large(size_t size)
{
	return size >= LARGE && size <= SIZE_MAX - HUGE_PAGE;
}

/* What is mapped for a large block: whole huge pages, which the system then puts where huge pages can be. */
static size_t mapped(size_t size)
{
	return (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

static void *map(size_t size)
{
	void *p = mmap(NULL, mapped(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, mapped(size), MADV_HUGEPAGE);        /* a wish: without it the block is only slower */
	return p;
}

static void *remap(void *p, size_t old, size_t size)
{
	if (mapped(old) == mapped(size))
		return p;
	p = mremap(p, mapped(old), mapped(size), MREMAP_MAYMOVE);
	return p == MAP_FAILED ? NULL : p;
}

void *block_resize(void *p, size_t old, size_t size)
{
	void *made;

	if (!is_large(size) && (p == NULL || !is_large(old)))
		return realloc(p, size);
	if (p != NULL && is_large(size) && is_large(old))
		return remap(p, old, size);
	made = is_large(size) ? map(size) : malloc(size);
	if (made != NULL && p != NULL) {
		memcpy(made, p, old < size ? old : size);
		block_free(p, old);
	}
	return made;
}

void block_free(void *p, size_t size)
{
	if (p == NULL)
		return;
	if (is_large(size))
		munmap(p, mapped(size));
	else
		free(p);
}
