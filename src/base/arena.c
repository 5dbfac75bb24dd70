/* arena.c — chunks cut from front to back. Small requests share the newest chunk; a large one
 * gets a chunk of its own, put behind the newest so that the room left there stays in use. Under
 * the address sanitizer the room not handed out is poisoned. */
#include "base/arena.h"

#include <assert.h>
#include <string.h>

#include "base/block.h"
#include "base/poison.h"

#define ARENA_ALIGN ((size_t)16)
#define CHUNK_FIRST ((size_t)4096)
#define CHUNK_LARGEST ((size_t)65536)

struct arena_chunk {
	struct arena_chunk *next; /* older one; owned */
	size_t size, pos;         /* of data */
	_Alignas(16) uint8_t data[];
};

void arena_init(struct arena *a, size_t limit)
{
	a->head = NULL;
	a->used = 0;
	a->limit = limit;
	a->budget = NULL;
}

void arena_charge(struct arena *a, struct budget *b)
{
	assert(a->head == NULL);
	a->budget = b;
}

static void chunk_free(struct arena *a, struct arena_chunk *c)
{
	size_t bytes = sizeof(*c) + c->size;

	a->used -= bytes;
	UNPOISON(c->data, c->size);
	block_free(budget_spares(a->budget), c, bytes);
	budget_give(a->budget, bytes);
}

void arena_fini(struct arena *a)
{
	struct arena_chunk *c = a->head, *next;

	for (; c != NULL; c = next) {
		next = c->next;
		chunk_free(a, c);
	}
	a->head = NULL;
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *c = a->head, *next, *kept = NULL;

	for (; c != NULL; c = next) {
		next = c->next;
		if (kept == NULL && c->size <= CHUNK_FIRST)
			kept = c;
		else
			chunk_free(a, c);
	}
	a->head = kept;
	if (kept != NULL) {
		kept->next = NULL;
		kept->pos = 0;
		POISON(kept->data, kept->size);
	}
}

/* A chunk with room for size bytes, not yet in the list; NULL when the limit or memory is
 * exhausted. */
static struct arena_chunk *chunk_new(struct arena *a, size_t size)
{
	struct arena_chunk *c;
	size_t left = a->limit - a->used;

	if (a->used > a->limit || left < sizeof(*c) || size > left - sizeof(*c))
		return NULL;
	if (!budget_take(a->budget, sizeof(*c) + size))
		return NULL;
	c = block_resize(budget_spares(a->budget), NULL, 0, sizeof(*c) + size);
	if (c == NULL) {
		budget_give(a->budget, sizeof(*c) + size);
		return NULL;
	}
	c->next = NULL;
	c->size = size;
	c->pos = 0;
	POISON(c->data, size);
	a->used += sizeof(*c) + size;
	return c;
}

static void *chunk_cut(struct arena_chunk *c, size_t n, size_t asked)
{
	uint8_t *p = c->data + c->pos;

	c->pos += n;
	UNPOISON(p, asked);
	return p;
}

/* Slow path: n (rounded) does not fit in the newest chunk. */
static void *arena_grow(struct arena *a, size_t n, size_t asked)
{
	size_t size = a->head == NULL ? CHUNK_FIRST : a->head->size * 2;
	struct arena_chunk *c;

	if (size > CHUNK_LARGEST)
		size = CHUNK_LARGEST;
	if (size < CHUNK_FIRST)
		size = CHUNK_FIRST;
	if (n > size / 4) {
		c = chunk_new(a, n);
		if (c == NULL)
			return NULL;
		if (a->head == NULL) {
			a->head = c;
		} else {
			c->next = a->head->next;
			a->head->next = c;
		}
		return chunk_cut(c, n, asked);
	}
	c = chunk_new(a, size);
	if (c == NULL)
		c = chunk_new(a, n); /* near the limit: just what is needed */
	if (c == NULL)
		return NULL;
	c->next = a->head;
	a->head = c;
	return chunk_cut(c, n, asked);
}

void *arena_alloc_raw(struct arena *a, size_t n)
{
	size_t rounded;

	if (n > SIZE_MAX - ARENA_ALIGN)
		return NULL;
	rounded = (n + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
	if (rounded == 0)
		rounded = ARENA_ALIGN; /* so that two empty ones differ */
	if (a->head != NULL && rounded <= a->head->size - a->head->pos)
		return chunk_cut(a->head, rounded, n);
	return arena_grow(a, rounded, n);
}

void *arena_alloc(struct arena *a, size_t n)
{
	void *p = arena_alloc_raw(a, n);

	if (p != NULL)
		memset(p, 0, n);
	return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return arena_alloc(a, bytes);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p;

	if (n == SIZE_MAX)
		return NULL;
	p = arena_alloc_raw(a, n + 1);
	if (p == NULL)
		return NULL;
	if (n != 0)
		memcpy(p, s, n);
	p[n] = '\0';
	return p;
}
