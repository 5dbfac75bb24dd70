/* text.c — making SQL text in the arena, and binding values. */
#include "tsql/query/translate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "value/convert.h"

#define MAX_VALUES \
	4000 /* SQLite takes 32766, but its time grows with the square: half a second for these, and nobody can interrupt it */

void query_set_line(struct query_translation *t, int line)
{
	if (t->ev->err != NULL && t->ev->err->line == 0)
		t->ev->err->line = line;
}

struct str query_sql(struct query_translation *t, const char *fmt, ...)
{
	va_list ap, again;
	int n;
	char *p;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	p = n < 0 || eval_spend(t->ev, (uint64_t)n) < 0 ? NULL : arena_alloc_raw(t->ev->arena, (size_t)n + 1);
	if (p == NULL)
		err_nomem(t->ev->err);
	else
		vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	return p == NULL ? (struct str){ "", 0 } : (struct str){ p, (size_t)n };
}

/* The room doubles: a list of any length costs its own length. */
int query_append(struct query_translation *t, struct text *s, struct str more)
{
	if (eval_spend(t->ev, more.n) < 0)
		return -1;
	if (more.n > s->cap - s->n) {
		size_t cap = s->n + more.n < 64 ? 128 : 2 * (s->n + more.n);
		char *p = arena_alloc_raw(t->ev->arena, cap);

		if (p == NULL)
			return err_nomem(t->ev->err);
		if (s->n > 0)
			memcpy(p, s->p, s->n);
		s->p = p;
		s->cap = cap;
	}
	if (more.n > 0)
		memcpy(s->p + s->n, more.p, more.n);
	s->n += more.n;
	return 0;
}

int query_bind(struct query_translation *t, const struct value *v, struct str *ret)
{
	if (t->nvalues == MAX_VALUES)
		return query_refuse(t, t->line, "A query with more than 4000 values");
	if (t->nvalues == t->cap) {
		size_t cap = t->cap == 0 ? 16 : t->cap * 2;
		struct value *grown = arena_array(t->ev->arena, cap, sizeof(*grown));

		if (grown == NULL)
			return err_nomem(t->ev->err);
		if (t->nvalues > 0)
			memcpy(grown, t->values, t->nvalues * sizeof(*grown));
		t->values = grown;
		t->cap = cap;
	}
	t->values[t->nvalues++] = *v;
	*ret = query_sql(t, "?%zu", t->nvalues);
	return ret->n == 0 ? -1 : 0;
}

static bool is_number(const struct type *t)
{
	const struct type_info *info = type_info(t->id);

	return info->is_integer || info->is_exact || t->id == TYPE_BIT || t->id == TYPE_REAL ||
	       t->id == TYPE_FLOAT;
}

/* Which type the constant needs to meet values of another; false: as it is. */
static bool meeting_type(const struct type *constant, const struct type *want, struct type *ret)
{
	const struct type_info *info = type_info(want->id);

	if (info->is_text) {
		*ret = TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX);
		return !is_number(constant);
	}
	if (is_number(want) && is_number(constant)) {
		*ret = TYPE_OF(TYPE_FLOAT);
		return constant->id == TYPE_DECIMAL || constant->id == TYPE_NUMERIC ||
		       constant->id == TYPE_MONEY || constant->id == TYPE_SMALLMONEY;
	}
	*ret = *want;
	if (info->is_binary)
		*ret = TYPE_LEN(TYPE_VARBINARY, TYPE_MAX);
	if (want->id == TYPE_DECIMAL || want->id == TYPE_NUMERIC)
		*ret = TYPE_OF(TYPE_FLOAT);
	return want->id != TYPE_NULL;
}

int query_piece_sql(struct query_translation *t, const struct piece *p, const struct type *want,
		    struct str *ret)
{
	struct value v = p->value;
	struct type to;

	if (!p->constant) {
		*ret = p->sql;
		return 0;
	}
	if (want != NULL && !v.null && meeting_type(&v.type, want, &to) &&
	    value_convert(&v, &to, type_info(to.id)->is_binary ? CONVERT_CAST : CONVERT_ASSIGN, NULL,
			  t->ev->arena, &v, t->ev->err) < 0)
		return query_fail(t, t->line);
	return query_bind(t, &v, ret);
}

int query_piece_text(struct query_translation *t, const struct piece *p, struct str *ret)
{
	struct value v = p->value;
	struct str text;

	if (!p->constant)
		return query_piece_sql(t, p, NULL, ret);
	if (!v.null) {
		if (value_to_text(&v, t->ev->arena, &text, t->ev->err) < 0)
			return query_fail(t, t->line);
		v = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), text);
	}
	return query_bind(t, &v, ret);
}

struct str query_quoted(struct query_translation *t, const char *name)
{
	size_t n = strlen(name), at = 0;
	char *p = arena_alloc_raw(t->ev->arena, 2 * n + 2);

	if (p == NULL) {
		err_nomem(t->ev->err);
		return (struct str){ "", 0 };
	}
	p[at++] = '"';
	for (size_t i = 0; i < n; i++) {
		p[at++] = name[i];
		if (name[i] == '"')
			p[at++] = '"';
	}
	p[at++] = '"';
	return (struct str){ p, at };
}
