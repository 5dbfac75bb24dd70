/* budget.c — see budget.h. A limit may be passed for a moment by what is then refused: others
 * that ask in this moment may be refused, too, which is as good as their having come a moment
 * later. */
#include "base/budget.h"

#include <assert.h>

void budget_init(struct budget *b, struct budget *up, size_t limit)
{
	b->up = up;
	b->spares = NULL;
	b->limit = limit;
	atomic_init(&b->used, 0);
}

void budget_keep(struct budget *b, struct block_spares *spares)
{
	assert(b->up == NULL);
	b->spares = spares;
}

struct block_spares *budget_spares(const struct budget *b)
{
	while (b != NULL && b->up != NULL)
		b = b->up;
	return b == NULL ? NULL : b->spares;
}

void budget_fini(struct budget *b)
{
	assert(budget_used(b) == 0);
	(void)b;
}

static void put(struct budget *from, const struct budget *to, size_t n)
{
	for (struct budget *b = from; b != to; b = b->up) {
		size_t before = atomic_fetch_sub_explicit(&b->used, n, memory_order_relaxed);

		assert(before >= n);
		(void)before;
	}
}

bool budget_take(struct budget *b, size_t n)
{
	for (struct budget *at = b; at != NULL; at = at->up) {
		size_t before;

		if (n > at->limit) { /* and nothing wraps */
			put(b, at, n);
			return false;
		}
		before = atomic_fetch_add_explicit(&at->used, n, memory_order_relaxed);
		if (before > at->limit || n > at->limit - before) {
			put(b, at->up, n);
			return false;
		}
	}
	return true;
}

void budget_take_anyway(struct budget *b, size_t n)
{
	for (; b != NULL; b = b->up)
		atomic_fetch_add_explicit(&b->used, n, memory_order_relaxed);
}

void budget_give(struct budget *b, size_t n)
{
	put(b, NULL, n);
}

void budget_move(struct budget *b, struct budget *up)
{
	size_t n = budget_used(b);

	budget_take_anyway(up, n);
	budget_give(b->up, n);
	b->up = up;
}

size_t budget_used(const struct budget *b)
{
	return atomic_load_explicit(&b->used, memory_order_relaxed);
}
