/* grouping.c — GROUP BY: whatever stands in the list is grouped by or inside an aggregate. */
#include "query/check.h"

static bool same_literal(const struct value *x, const struct value *y)
{
	bool text = type_info(x->type.id)->is_text;

	return x->type.id == y->type.id && x->null == y->null &&
	       (text ? str_eq(x->u.s, y->u.s) : x->type.id == TYPE_INT && x->u.i == y->u.i);
}

static bool same(struct query_check *c, const struct query_scope *sc, const struct expr *a,
		 const struct expr *b)
{
	if (a == b || tsql_eval_spend(c->ev, 4) < 0)
		return a == b;
	if (a->kind != b->kind || a->op != b->op || a->nargs != b->nargs || a->fn != b->fn)
		return false;
	if (a->kind == E_COLUMN)
		return query_same_column(c, sc, a, b);
	if (a->kind == E_VARIABLE)
		return a->var == b->var;
	if (a->kind == E_LITERAL)
		return same_literal(&a->literal, &b->literal);
	for (size_t i = 0; i < a->nargs; i++) {
		if (!same(c, sc, a->args[i], b->args[i]))
			return false;
	}
	return a->nargs > 0;
}

/* The first column that neither is grouped by nor stands in an aggregate. */
static const struct expr *ungrouped(struct query_check *c, const struct select *s,
				    const struct query_scope *sc, const struct expr *e)
{
	const struct expr *found = NULL;

	if (!e->in_query || e->kind == E_AGGREGATE || e->kind == E_SUBQUERY || e->kind == E_EXISTS)
		return NULL;
	for (size_t i = 0; i < s->ngroup; i++) {
		if (same(c, sc, e, s->group_by[i]))
			return NULL;
	}
	if (e->kind == E_COLUMN)
		return e;
	for (size_t i = 0; found == NULL && i < e->nargs; i++)
		found = ungrouped(c, s, sc, e->args[i]);
	for (size_t i = 0; found == NULL && i < e->nover; i++)
		found = ungrouped(c, s, sc, e->over[i].expr);
	return found;
}

static bool has_aggregate(const struct expr *e)
{
	if (e == NULL || !e->in_query || e->kind == E_AGGREGATE)
		return e != NULL && e->kind == E_AGGREGATE;
	for (size_t i = 0; i < e->nargs; i++) {
		if (has_aggregate(e->args[i]))
			return true;
	}
	return false;
}

int query_check_grouping(struct query_check *c, const struct select *s, const struct query_scope *sc)
{
	bool grouped = s->ngroup > 0 || s->having != NULL;
	char shown[129];

	for (size_t i = 0; i < s->nitems && !grouped; i++)
		grouped = has_aggregate(s->items[i].expr);
	for (size_t i = 0; grouped && i < s->nitems; i++) {
		const struct expr *e = s->items[i].expr;
		const struct expr *bad = e == NULL ? NULL : ungrouped(c, s, sc, e);

		if (e != NULL && bad == NULL)
			continue;
		str_copy(shown, sizeof(shown), bad != NULL ? bad->name : STR("*"));
		err_raise(c->ev->err, 8120, 16, 1,
			  "Column '%s' is invalid in the select list because it is not contained in either "
			  "an aggregate function or the GROUP BY clause.",
			  shown);
		return query_fail(c, s->line);
	}
	return 0;
}
