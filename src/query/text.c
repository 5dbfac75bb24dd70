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
	if (tsql_eval_spend(t->ev, more) < 0) {
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

void query_text_name(struct query_text *t, const char *name)
{
	query_text_put(t, STR("\""));
	for (const char *p = name; *p != '\0'; p++)
		query_text_put(t, *p == '"' ? STR("\"\"") : (struct str){ p, 1 });
	query_text_put(t, STR("\""));
}

void query_text_column(struct query_text *t, const struct query_source *src, size_t column)
{
	assert(src->id > 0 && column < src->ncolumns);
	if (src->view == NULL) {
		query_text_format(t, "t%u.c%zu", src->id, column);
		return;
	}
	query_text_format(t, "t%u.", src->id);
	query_text_name(t, src->columns[column].name);
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

/* ---- the rows of a table variable ---- */

static void put_json_text(struct query_text *j, struct str s, char nul)
{
	size_t from = 0;

	query_text_put(j, STR("\""));
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		query_text_put(j, (struct str){ s.p + from, i - from });
		if (c == 0)
			query_text_put(j, (struct str){ &nul, 1 });
		else
			query_text_format(j, "\\u%04x", c);
		from = i + 1;
	}
	query_text_put(j, (struct str){ s.p + from, s.n - from });
	query_text_put(j, STR("\""));
}

static void put_json_row(struct query_text *j, const struct value *row, size_t n, char nul)
{
	for (size_t i = 0; i < n; i++) {
		query_text_put(j, i == 0 ? STR("[") : STR(","));
		if (row[i].null)
			query_text_put(j, STR("null"));
		else if (type_info(row[i].type.id)->is_text)
			put_json_text(j, row[i].u.s, nul);
		else
			query_text_format(j, "%lld", (long long)row[i].u.i);
	}
	query_text_put(j, STR("]"));
}

size_t query_text_bind_rows(struct query_text *t, const struct table_rows *rows, char nul)
{
	struct query_text j = { .ev = t->ev };
	struct value v;

	query_text_put(&j, STR("["));
	for (size_t i = 0; rows != NULL && i < rows->n; i++) {
		if (i > 0)
			query_text_put(&j, STR(","));
		put_json_row(&j, rows->rows[i], rows->type->n, nul);
	}
	query_text_put(&j, STR("]"));
	t->failed |= j.failed;
	v = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), (struct str){ j.p, j.n });
	return query_text_bind(t, &v);
}
