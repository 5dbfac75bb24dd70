/* select.c — a whole SELECT over views: list, FROM, WHERE, GROUP BY, HAVING, UNION, ORDER BY, TOP
 * and OFFSET. */
#include "query/check.h"

#include <assert.h>
#include <string.h>

#include "tsql/eval/functions.h"

static int grow(struct query_check *c, struct query_term *t)
{
	size_t cap = t->cap == 0 ? 16 : t->cap * 2;
	struct column *columns = arena_array(c->ev->arena, cap, sizeof(*columns));
	const struct query_node **items = arena_array(c->ev->arena, cap, sizeof(const struct query_node *));

	if (columns == NULL || items == NULL)
		return err_nomem(c->ev->err);
	if (t->n > 0) {
		memcpy(columns, t->columns, t->n * sizeof(*columns));
		memcpy(items, t->items, t->n * sizeof(const struct query_node *));
	}
	t->columns = columns;
	t->items = items;
	t->cap = cap;
	return 0;
}

static int add_column(struct query_check *c, struct query_term *t, const char *name,
		      const struct query_node *n, int line)
{
	if (n == NULL || (t->n == t->cap && grow(c, t) < 0))
		return -1;
	if (t->n == 4096)
		return query_refuse(c, line, "A result set of more than 4096 columns");
	t->columns[t->n] = (struct column){ .name = name, .type = n->type, .nullable = n->nullable };
	t->items[t->n++] = n;
	return 0;
}

static int star(struct query_check *c, const struct select *s, const struct query_scope *sc,
		struct query_term *t, const struct select_item *it)
{
	size_t before = t->n;

	for (size_t i = 0; i < sc->nsources; i++) {
		const struct query_source *src = &sc->sources[i];

		if (it->star_table.n > 0 && !str_eq_nocase(src->name, it->star_table))
			continue;
		for (size_t k = 0; k < src->ncolumns; k++) {
			if (add_column(c, t, src->columns[k].name, query_source_column(c, sc, src, k),
				       s->line) < 0)
				return -1;
		}
	}
	if (t->n > before)
		return 0;
	if (it->star_table.n > 0)
		err_raise(c->ev->err, 107, 15, 1,
			  "The column prefix '%.*s' does not match with a table name or alias name used in "
			  "the query.",
			  STR_ARG(it->star_table));
	else
		err_raise(c->ev->err, 263, 16, 1, "Must specify table to select from.");
	return query_fail(c, s->line);
}

static int list(struct query_check *c, const struct select *s, const struct query_scope *sc,
		struct query_term *t)
{
	c->windows_allowed = true;
	for (size_t i = 0; i < s->nitems; i++) {
		const struct select_item *it = &s->items[i];
		const struct query_node *n;

		if (it->expr == NULL ? star(c, s, sc, t, it) < 0
				     : query_expr(c, sc, it->expr, &n) < 0 ||
					       add_column(c, t, it->name, n, s->line) < 0)
			return -1;
	}
	c->windows_allowed = false;
	return 0;
}

static int group_by(struct query_check *c, const struct select *s, const struct query_scope *sc,
		    struct query_term *t)
{
	t->group_by = arena_array(c->ev->arena, s->ngroup, sizeof(const struct query_node *));
	if (t->group_by == NULL)
		return err_nomem(c->ev->err);
	for (; t->ngroup < s->ngroup; t->ngroup++) {
		if (query_expr(c, sc, s->group_by[t->ngroup], &t->group_by[t->ngroup]) < 0)
			return -1;
	}
	return 0;
}

static int count_of(struct query_check *c, const struct expr *e, int64_t *ret)
{
	struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct value v;

	if (e->in_query)
		return query_refuse(c, e->line, "A number of rows that depends on columns");
	if (tsql_suggest_value(c->ev, e, &bigint, SUGGEST_SAME) < 0 ||
	    tsql_eval_as(c->ev, e, &bigint, &v) < 0)
		return query_fail(c, e->line);
	*ret = v.null ? 0 : v.u.i;
	if (*ret < 0) {
		err_set(c->ev->err, ERR_NEGATIVE_TOP);
		return query_fail(c, e->line);
	}
	return 0;
}

static int term(struct query_check *c, const struct select *s, const struct query_scope *outer, bool alone,
		struct query_scope *ret_scope, struct query_term **ret)
{
	struct query_term *t = arena_alloc(c->ev->arena, sizeof(*t));

	if (t == NULL)
		return err_nomem(c->ev->err);
	c->line = s->line;
	c->windows_allowed = false;
	t->distinct = s->distinct;
	t->union_all = s->union_all;
	t->limit = -1;
	if (query_sources(c, s, outer, t, ret_scope) < 0 || list(c, s, ret_scope, t) < 0 ||
	    query_check_grouping(c, s, ret_scope) < 0 ||
	    (s->where != NULL && query_condition(c, ret_scope, s->where, &t->where) < 0) ||
	    group_by(c, s, ret_scope, t) < 0 ||
	    (s->having != NULL && query_condition(c, ret_scope, s->having, &t->having) < 0))
		return -1;
	*ret = t;
	return !alone && s->top != NULL ? count_of(c, s->top, &t->limit) : 0;
}

/* Is the item this column, by the name of its source? */
static bool is_column(const struct query_node *item, const struct expr *e)
{
	return item->kind == NODE_COLUMN && str_eq_nocase(item->source->name, e->table) &&
	       str_eq_nocase(str_of(item->source->columns[item->column].name), e->name);
}

/* ORDER BY 2, ORDER BY alias: the place in the list, from 1; 0: an expression. */
static size_t ordinal(const struct query_term *t, const struct expr *e)
{
	if (e->kind == E_LITERAL && e->type.id == TYPE_INT && !e->literal.null)
		return e->literal.u.i >= 1 && e->literal.u.i <= (int64_t)t->n ? (size_t)e->literal.u.i
									      : SIZE_MAX;
	for (size_t i = 0; e->kind == E_COLUMN && i < t->n; i++) {
		if (e->table.n == 0 ? str_eq_nocase(str_of(t->columns[i].name), e->name)
				    : is_column(t->items[i], e))
			return i + 1;
	}
	return 0;
}

static int order_item(struct query_check *c, const struct order_item *o, const struct query_scope *sc,
		      const struct query_term *t, bool alone, struct query_order_item *ret)
{
	size_t k = tsql_eval_spend(c->ev, t->n) < 0 ? 0 : ordinal(t, o->expr);

	ret->descending = o->descending;
	if (k == SIZE_MAX)
		err_raise(c->ev->err, 108, 16, 1,
			  "The ORDER BY position number %lld is out of range of the number of items "
			  "in the select list.",
			  (long long)o->expr->literal.u.i);
	if (k == 0 && !alone)
		err_raise(c->ev->err, 104, 15, 1,
			  "ORDER BY items must appear in the select list if the statement contains a "
			  "UNION, INTERSECT or EXCEPT operator.");
	if (k == SIZE_MAX || (k == 0 && !alone))
		return query_fail(c, o->expr->line);
	assert(k <= t->n); /* a place in the list, or 0 */
	ret->ordinal = k;
	ret->expr = k > 0 ? t->items[k - 1] : NULL;
	return k > 0 ? 0 : query_expr(c, sc, o->expr, &ret->expr);
}

static int order_by(struct query_check *c, const struct select *s, const struct query_scope *sc,
		    struct query_select *q)
{
	struct query_order_item *items;

	assert(s != NULL);
	items = arena_array(c->ev->arena, s->norder, sizeof(*items));
	if (items == NULL)
		return err_nomem(c->ev->err);
	c->windows_allowed = true;
	for (size_t i = 0; i < s->norder; i++) {
		if (order_item(c, &s->order_by[i], sc, q->terms, s->next == NULL, &items[i]) < 0)
			return -1;
	}
	c->windows_allowed = false;
	q->order_by = items;
	q->norder = s->norder;
	return 0;
}

static int limit(struct query_check *c, const struct select *s, int64_t most, struct query_select *q)
{
	const struct expr *bounds[2] = { s->next == NULL ? s->top : NULL, s->fetch };
	int64_t more = 0;

	q->limit = most;
	for (size_t i = 0; i < 2; i++) {
		if (bounds[i] == NULL)
			continue;
		if (count_of(c, bounds[i], &more) < 0)
			return -1;
		q->limit = q->limit < 0 || more < q->limit ? more : q->limit;
	}
	return s->offset != NULL ? count_of(c, s->offset, &q->offset) : 0;
}

static int merge_columns(struct query_check *c, struct query_term *first, const struct query_term *t,
			 int line)
{
	if (t->n != first->n) {
		err_raise(c->ev->err, 205, 16, 1,
			  "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an "
			  "equal number of expressions in their target lists.");
		return query_fail(c, line);
	}
	for (size_t i = 0; i < t->n; i++) {
		first->columns[i].type = tsql_type_common_known(&first->columns[i].type, &t->columns[i].type);
		first->columns[i].nullable = first->columns[i].nullable || t->columns[i].nullable;
	}
	return 0;
}

/* The items of all terms as values of their columns. What is NULL everywhere is an int. */
static int settle(struct query_check *c, const struct query_select *q)
{
	struct query_term *first = q->terms;

	for (size_t i = 0; i < first->n; i++) {
		if (first->columns[i].type.id == TYPE_NULL)
			first->columns[i].type = TYPE_OF(TYPE_INT);
	}
	for (struct query_term *t = first->next == NULL ? NULL : first; t != NULL; t = t->next) {
		for (size_t i = 0; i < t->n; i++) {
			if (query_settle(c, t->items[i], &first->columns[i].type, &t->items[i]) < 0)
				return -1;
		}
	}
	return 0;
}

int query_select(struct query_check *c, const struct select *s, const struct query_scope *outer, int64_t most,
		 const struct query_select **ret)
{
	struct query_select *q = arena_alloc(c->ev->arena, sizeof(*q));
	struct query_term **next = q == NULL ? NULL : &q->terms;
	bool windows = c->windows_allowed;
	struct query_scope scope, first = { 0 };

	assert(s != NULL);
	if (q == NULL)
		return err_nomem(c->ev->err);
	for (const struct select *r = s; r != NULL; r = r->next) {
		if (term(c, r, outer, s->next == NULL, &scope, next) < 0)
			return -1;
		if (r == s)
			first = scope;
		else if (merge_columns(c, q->terms, *next, s->line) < 0)
			return -1;
		next = &(*next)->next;
	}
	if (settle(c, q) < 0 || order_by(c, s, &first, q) < 0 || limit(c, s, most, q) < 0)
		return -1;
	c->windows_allowed = windows;
	*ret = q;
	return 0;
}
