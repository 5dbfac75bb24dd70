/* text.c — SQL text in the arena, and the values bound to it, for every emitter. */
#include "query/emit.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* SQLite takes 32766, but its time grows with the square: half a second for these, and nobody
 * can interrupt it */
#define MAX_VALUES 4000

static void fail(struct query_text *t)
{
	if (!t->failed)
		err_nomem(t->ev->err);
	t->failed = true;
}

/* The room doubles: a list of any length costs its own length. */
static bool reserve(struct query_text *t, size_t more)
{
	size_t cap = t->n + more < 64 ? 128 : 2 * (t->n + more);
	char *p;

	if (t->failed)
		return false;
	if (eval_spend(t->ev, more) < 0) {
		t->failed = true;
		return false;
	}
	if (more <= t->cap - t->n)
		return true;
	p = arena_alloc_raw(t->ev->arena, cap);
	if (p == NULL) {
		fail(t);
		return false;
	}
	if (t->n > 0)
		memcpy(p, t->p, t->n);
	t->p = p;
	t->cap = cap;
	return true;
}

void query_text_put(struct query_text *t, struct str more)
{
	if (more.n == 0 || !reserve(t, more.n))
		return;
	assert(!t->failed && more.n <= t->cap - t->n);
	memcpy(t->p + t->n, more.p, more.n);
	t->n += more.n;
}

void query_text_format(struct query_text *t, const char *fmt, ...)
{
	char small[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(small, sizeof(small), fmt, ap);
	va_end(ap);
	/* whatever is long goes through query_text_put */
	assert(n >= 0 && (size_t)n < sizeof(small));
	query_text_put(t, (struct str){ small, (size_t)n });
}

size_t query_text_bind(struct query_text *t, const struct value *v)
{
	if (t->failed)
		return 0;
	if (t->nvalues == MAX_VALUES) {
		(void)err_set(t->ev->err, ERR_NOT_SUPPORTED, "A query with more than 4000 values",
			      "Read the columns and compute it in the client.");
		t->failed = true;
		return 0;
	}
	if (t->nvalues == t->values_cap) {
		size_t cap = t->values_cap == 0 ? 16 : t->values_cap * 2;
		struct value *grown = arena_array(t->ev->arena, cap, sizeof(*grown));

		if (grown == NULL) {
			fail(t);
			return 0;
		}
		if (t->nvalues > 0)
			memcpy(grown, t->values, t->nvalues * sizeof(*grown));
		t->values = grown;
		t->values_cap = cap;
	}
	assert(t->nvalues < t->values_cap && t->nvalues < MAX_VALUES); /* invariant 2 */
	t->values[t->nvalues++] = *v;
	return t->nvalues;
}
