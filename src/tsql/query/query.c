/* query.c — a whole SELECT over views: list, FROM, WHERE, GROUP BY, HAVING, UNION, ORDER BY, TOP and OFFSET. */
#include "tsql/query/translate.h"

#include <string.h>

#include "tsql/eval/functions.h"
#include "value/convert.h"

struct core {
	const struct select *s;
	struct scope scope;
	struct text list;
	struct column *columns;
	size_t n, cap;
	bool as_table;
};

static int add_column(struct query_translation *t, struct core *c, const char *name, const struct piece *p,
		      struct str sql)
{
	struct column *col;
	struct str one;

	if (c->n == c->cap) {
		size_t cap = c->cap == 0 ? 16 : c->cap * 2;
		struct column *grown = arena_array(t->ev->arena, cap, sizeof(*grown));

		if (grown == NULL)
			return err_nomem(t->ev->err);
		if (c->n > 0)
			memcpy(grown, c->columns, c->n * sizeof(*grown));
		c->columns = grown;
		c->cap = cap;
	}
	if (c->n == 4096)
		return query_refuse(t, c->s->line, "A result set of more than 4096 columns");
	col = &c->columns[c->n];
	*col = (struct column){ .name = name, .type = p->type, .nullable = p->nullable };
	if (col->type.id == TYPE_NULL)
		col->type = TYPE_OF(TYPE_INT);
	if (c->as_table)
		one = query_sql(t, "%s%.*s AS c%zu", c->n > 0 ? ", " : "", STR_ARG(sql), c->n);
	else
		one = query_sql(t, "%s%.*s", c->n > 0 ? ", " : "", STR_ARG(sql));
	c->n++;
	return one.n == 0 ? -1 : query_append(t, &c->list, one);
}

static int star(struct query_translation *t, struct core *c, const struct select_item *it)
{
	size_t before = c->n;

	for (size_t i = 0; i < c->scope.nsources; i++) {
		const struct source *src = &c->scope.sources[i];

		if (it->star_table.n > 0 && !str_eq_nocase(src->name, it->star_table))
			continue;
		for (size_t k = 0; k < src->ncolumns; k++) {
			struct piece p = { .type = src->columns[k].type,
					   .nullable = src->columns[k].nullable ||
						       query_may_be_absent(&c->scope, src) };

			p.sql = query_column_sql(t, src, k);
			if (p.sql.n == 0 || add_column(t, c, src->columns[k].name, &p, p.sql) < 0)
				return -1;
		}
	}
	if (c->n > before)
		return 0;
	if (it->star_table.n > 0)
		err_raise(t->ev->err, 107, 15, 1,
			  "The column prefix '%.*s' does not match with a table name or alias name used in "
			  "the query.",
			  STR_ARG(it->star_table));
	else
		err_raise(t->ev->err, 263, 16, 1, "Must specify table to select from.");
	return query_fail(t, c->s->line);
}

static int list(struct query_translation *t, struct core *c)
{
	for (size_t i = 0; i < c->s->nitems; i++) {
		const struct select_item *it = &c->s->items[i];
		struct piece p;
		struct str sql;

		if (it->expr == NULL) {
			if (star(t, c, it) < 0)
				return -1;
			continue;
		}
		if (query_expr(t, &c->scope, it->expr, &p) < 0 || query_piece_sql(t, &p, NULL, &sql) < 0 ||
		    add_column(t, c, it->name, &p, sql) < 0)
			return -1;
	}
	return 0;
}

static const char *join_word(enum join_kind kind)
{
	switch (kind) {
	case JOIN_FIRST: return " FROM ";
	case JOIN_LEFT: return " LEFT JOIN ";
	case JOIN_RIGHT: return " RIGHT JOIN ";
	case JOIN_FULL: return " FULL JOIN ";
	default: return " JOIN ";
	}
}

static int from(struct query_translation *t, const struct core *c, struct text *sql)
{
	for (size_t i = 0; i < c->scope.nsources; i++) {
		const struct source *src = &c->scope.sources[i];
		struct str on, one = query_sql(t, "%s%.*s AS t%u", join_word(src->item->join),
					       STR_ARG(src->sql), src->id);

		if (one.n == 0 || query_append(t, sql, one) < 0)
			return -1;
		if (src->item->on != NULL &&
		    (query_condition(t, &c->scope, src->item->on, &on) < 0 ||
		     query_append(t, sql, STR(" ON ")) < 0 || query_append(t, sql, on) < 0))
			return -1;
	}
	return 0;
}

static bool same(struct query_translation *t, const struct scope *sc, const struct expr *a,
		 const struct expr *b)
{
	if (a == b || eval_spend(t->ev, 4) < 0)
		return a == b;
	if (a->kind != b->kind || a->op != b->op || a->nargs != b->nargs || a->fn != b->fn)
		return false;
	if (a->kind == E_COLUMN)
		return query_same_column(t, sc, a, b);
	if (a->kind == E_VARIABLE)
		return a->var == b->var;
	if (a->kind == E_LITERAL) {
		const struct value *x = &a->literal, *y = &b->literal;
		bool text = type_info(x->type.id)->is_text;

		return x->type.id == y->type.id && x->null == y->null &&
		       (text ? str_eq(x->u.s, y->u.s) : x->type.id == TYPE_INT && x->u.i == y->u.i);
	}
	for (size_t i = 0; i < a->nargs; i++) {
		if (!same(t, sc, a->args[i], b->args[i]))
			return false;
	}
	return a->nargs > 0;
}

/* The first column that neither is grouped by nor stands in an aggregate. */
static const struct expr *ungrouped(struct query_translation *t, const struct core *c, const struct expr *e)
{
	if (!e->in_query || e->kind == E_AGGREGATE || e->kind == E_SUBQUERY || e->kind == E_EXISTS)
		return NULL;
	for (size_t i = 0; i < c->s->ngroup; i++) {
		if (same(t, &c->scope, e, c->s->group_by[i]))
			return NULL;
	}
	if (e->kind == E_COLUMN)
		return e;
	for (size_t i = 0; i < e->nargs; i++) {
		const struct expr *found = ungrouped(t, c, e->args[i]);
		if (found != NULL)
			return found;
	}
	return NULL;
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

static int check_grouping(struct query_translation *t, const struct core *c)
{
	bool grouped = c->s->ngroup > 0 || c->s->having != NULL;
	char shown[129];

	for (size_t i = 0; i < c->s->nitems && !grouped; i++)
		grouped = has_aggregate(c->s->items[i].expr);
	for (size_t i = 0; grouped && i < c->s->nitems; i++) {
		const struct expr *e = c->s->items[i].expr;
		const struct expr *bad = e == NULL ? NULL : ungrouped(t, c, e);

		if (e != NULL && bad == NULL)
			continue;
		str_copy(shown, sizeof(shown), bad != NULL ? bad->name : STR("*"));
		err_raise(t->ev->err, 8120, 16, 1,
			  "Column '%s' is invalid in the select list because it is not contained in either "
			  "an aggregate function or the GROUP BY clause.",
			  shown);
		return query_fail(t, c->s->line);
	}
	return 0;
}

static int group_by(struct query_translation *t, const struct core *c, struct text *sql)
{
	for (size_t i = 0; i < c->s->ngroup; i++) {
		struct piece p;
		struct str one;

		if (query_expr(t, &c->scope, c->s->group_by[i], &p) < 0 ||
		    query_piece_sql(t, &p, NULL, &one) < 0)
			return -1;
		one = query_sql(t, "%s%.*s%s", i == 0 ? " GROUP BY " : ", ", STR_ARG(one),
				p.nocase ? " COLLATE NOCASE" : "");
		if (one.n == 0 || query_append(t, sql, one) < 0)
			return -1;
	}
	return 0;
}

static int clause(struct query_translation *t, const struct core *c, const char *word, const struct expr *e,
		  struct text *sql)
{
	struct str cond;

	if (e == NULL)
		return 0;
	return query_condition(t, &c->scope, e, &cond) < 0 || query_append(t, sql, str_of(word)) < 0
		       ? -1
		       : query_append(t, sql, cond);
}

static int count_of(struct query_translation *t, const struct expr *e, int64_t *ret)
{
	struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct value v;

	if (e->in_query)
		return query_refuse(t, e->line, "A number of rows that depends on columns");
	if (eval_as(t->ev, e, &bigint, &v) < 0)
		return query_fail(t, e->line);
	*ret = v.null ? 0 : v.u.i;
	if (*ret < 0) {
		err_set(t->ev->err, ERR_NEGATIVE_TOP);
		return query_fail(t, e->line);
	}
	return 0;
}

static int core_sql(struct query_translation *t, struct core *c, bool alone, struct str *ret)
{
	struct text all = { 0 };
	int64_t top;

	if (list(t, c) < 0 || check_grouping(t, c) < 0 ||
	    query_append(t, &all, c->s->distinct ? STR("SELECT DISTINCT ") : STR("SELECT ")) < 0 ||
	    query_append(t, &all, text_str(&c->list)) < 0 || from(t, c, &all) < 0 ||
	    clause(t, c, " WHERE ", c->s->where, &all) < 0 || group_by(t, c, &all) < 0 ||
	    clause(t, c, " HAVING ", c->s->having, &all) < 0)
		return -1;
	*ret = text_str(&all);
	if (alone || c->s->top == NULL)
		return 0;
	if (count_of(t, c->s->top, &top) < 0) /* a term of a UNION cannot have a LIMIT of its own */
		return -1;
	*ret = query_sql(t, "SELECT * FROM (%.*s LIMIT %lld)", STR_ARG(*ret), (long long)top);
	return ret->n == 0 ? -1 : 0;
}

/* ORDER BY 2, ORDER BY alias: the place in the list, from 1; 0: an expression. */
static size_t ordinal(const struct core *c, const struct expr *e)
{
	if (e->kind == E_LITERAL && e->type.id == TYPE_INT && !e->literal.null)
		return e->literal.u.i >= 1 && e->literal.u.i <= (int64_t)c->n ? (size_t)e->literal.u.i
									      : SIZE_MAX;
	if (e->kind == E_COLUMN && e->table.n == 0) {
		for (size_t i = 0; i < c->n; i++) {
			if (str_eq_nocase(str_of(c->columns[i].name), e->name))
				return i + 1;
		}
	}
	return 0;
}

static int order_by(struct query_translation *t, const struct core *c, bool alone, struct text *sql)
{
	for (size_t i = 0; i < c->s->norder; i++) {
		const struct order_item *o = &c->s->order_by[i];
		size_t k = eval_spend(t->ev, c->n) < 0 ? 0 : ordinal(c, o->expr);
		struct piece p = { 0 };
		struct str one;

		if (k == SIZE_MAX)
			err_raise(t->ev->err, 108, 16, 1,
				  "The ORDER BY position number %lld is out of range of the number of items "
				  "in the select list.",
				  (long long)o->expr->literal.u.i);
		if (k == 0 && !alone)
			err_raise(t->ev->err, 104, 15, 1,
				  "ORDER BY items must appear in the select list if the statement contains a "
				  "UNION, INTERSECT or EXCEPT operator.");
		if (k == SIZE_MAX || (k == 0 && !alone))
			return query_fail(t, o->expr->line);
		if (k == 0 &&
		    (query_expr(t, &c->scope, o->expr, &p) < 0 || query_piece_sql(t, &p, NULL, &one) < 0))
			return -1;
		if (k > 0) {
			one = query_sql(t, "%zu", k);
			p.nocase = alone && o->expr->kind == E_COLUMN && c->scope.nsources > 0 &&
				   c->scope.sources[0].nocase &&
				   type_info(c->columns[k - 1].type.id)->is_text;
		}
		one = query_sql(t, "%s%.*s%s%s", i == 0 ? " ORDER BY " : ", ", STR_ARG(one),
				p.nocase ? " COLLATE NOCASE" : "", o->descending ? " DESC" : "");
		if (one.n == 0 || query_append(t, sql, one) < 0)
			return -1;
	}
	return 0;
}

static int limit(struct query_translation *t, const struct select *s, int64_t most, struct text *sql)
{
	int64_t n = most, offset = 0, more;
	struct str one;

	for (const struct expr *const *
		     e = (const struct expr *const[]){ s->next == NULL ? s->top : NULL, s->fetch, NULL },
		    *const *end = e + 2;
	     e < end; e++) {
		if (*e == NULL)
			continue;
		if (count_of(t, *e, &more) < 0)
			return -1;
		n = n < 0 || more < n ? more : n;
	}
	if (s->offset != NULL && count_of(t, s->offset, &offset) < 0)
		return -1;
	if (n < 0 && offset == 0)
		return 0;
	one = query_sql(t, " LIMIT %lld OFFSET %lld", (long long)n, (long long)offset);
	return one.n == 0 ? -1 : query_append(t, sql, one);
}

static int merge_columns(struct query_translation *t, struct core *first, const struct core *c)
{
	if (c->n != first->n) {
		err_raise(t->ev->err, 205, 16, 1,
			  "All queries combined using a UNION, INTERSECT or EXCEPT operator must have an "
			  "equal number of expressions in their target lists.");
		return query_fail(t, first->s->line);
	}
	for (size_t i = 0; i < c->n; i++) {
		first->columns[i].type = type_common_known(&first->columns[i].type, &c->columns[i].type);
		first->columns[i].nullable = first->columns[i].nullable || c->columns[i].nullable;
	}
	return 0;
}

static int select_limited(struct query_translation *t, const struct select *s, const struct scope *outer,
			  bool as_table, int64_t most, struct str *ret_sql, struct column **ret_columns,
			  size_t *ret_n)
{
	struct core first = { 0 };
	bool alone = s->next == NULL;
	struct text all = { 0 };
	struct str sql;

	for (const struct select *r = s, *before = NULL; r != NULL; before = r, r = r->next) {
		struct core c = { .s = r, .as_table = as_table };

		t->line = r->line;
		if (query_sources(t, r, outer, &c.scope) < 0 || core_sql(t, &c, alone, &sql) < 0)
			return -1;
		if (before == NULL)
			first = c;
		else if (merge_columns(t, &first, &c) < 0 ||
			 query_append(t, &all, before->union_all ? STR(" UNION ALL ") : STR(" UNION ")) < 0)
			return -1;
		if (query_append(t, &all, sql) < 0)
			return -1;
	}
	if (order_by(t, &first, alone, &all) < 0 || limit(t, s, most, &all) < 0)
		return -1;
	*ret_sql = text_str(&all);
	*ret_columns = first.columns;
	*ret_n = first.n;
	return 0;
}

int query_select(struct query_translation *t, const struct select *s, const struct scope *outer,
		 bool as_table, struct str *ret_sql, struct column **ret_columns, size_t *ret_n)
{
	return select_limited(t, s, outer, as_table, -1, ret_sql, ret_columns, ret_n);
}

/* set: which variables the SELECT sets, n of them looked at. */
static bool reads_any(struct query_translation *t, const struct expr *e, const bool *set, size_t n)
{
	if (eval_spend(t->ev, 1) < 0)
		return true;
	if (e->kind == E_VARIABLE)
		return (size_t)e->var < n && set[e->var];
	for (size_t i = 0; i < e->nargs; i++) {
		if (reads_any(t, e->args[i], set, n))
			return true;
	}
	return false;
}

/* SELECT @s = @s + x FROM …: T-SQL carries the variable from row to row, the store cannot. */
static int check_assignment(struct query_translation *t, const struct select *s)
{
	size_t n = 0;
	bool *set;

	if (!s->assigns)
		return 0;
	for (size_t i = 0; i < s->nitems; i++)
		n = (size_t)s->items[i].var >= n ? (size_t)s->items[i].var + 1 : n;
	set = arena_array(t->ev->arena, n, sizeof(*set));
	if (set == NULL)
		return err_nomem(t->ev->err);
	for (size_t i = 0; i < s->nitems; i++)
		set[s->items[i].var] = true;
	for (size_t i = 0; i < s->nitems; i++) {
		if (s->items[i].assign_op >= 0 || reads_any(t, s->items[i].expr, set, n))
			return query_refuse(t, s->line, "A SELECT … FROM that reads the variable it sets");
	}
	return 0;
}

static int finish(struct query_translation *t, const struct select *s, struct str sql, struct column *columns,
		  size_t n, const struct query **ret)
{
	struct query *q = arena_alloc(t->ev->arena, sizeof(*q));

	if (q == NULL)
		return err_nomem(t->ev->err);
	if (t->any_system && t->any_service) {
		err_set(t->ev->err, ERR_NOT_SUPPORTED,
			"One SELECT over system views and tables of the database", "Use two SELECTs.");
		return query_fail(t, s->line);
	}
	q->sql = arena_strndup(t->ev->arena, sql.p, sql.n);
	if (q->sql == NULL)
		return err_nomem(t->ev->err);
	q->values = t->values;
	q->nvalues = t->nvalues;
	q->columns = columns;
	q->ncolumns = n;
	q->system = !t->any_service;
	q->assign = s->assigns;
	*ret = q;
	return 0;
}

int query_translate(struct eval *ev, const struct select *s, const struct query **ret)
{
	struct query_translation t = { .ev = ev, .host = ev->host, .line = s->line };
	int64_t most = ev->host->vars->rowcount_limit;
	struct column *columns;
	struct str sql;
	size_t n;

	if (check_assignment(&t, s) < 0 ||
	    select_limited(&t, s, NULL, false, most > 0 ? most : -1, &sql, &columns, &n) < 0)
		return query_fail(&t, s->line);
	return finish(&t, s, sql, columns, n, ret);
}

int query_translate_sub(struct eval *ev, const struct select *s, bool exists, const struct query **ret)
{
	struct query_translation t = { .ev = ev, .host = ev->host, .line = s->line };
	struct column *columns;
	struct str sql;
	struct query *q;
	const struct query *made;
	size_t n;

	if (select_limited(&t, s, NULL, false, exists ? 1 : 2, &sql, &columns, &n) < 0 ||
	    finish(&t, s, sql, columns, n, &made) < 0)
		return query_fail(&t, s->line);
	q = arena_alloc(ev->arena, sizeof(*q));
	if (q == NULL)
		return err_nomem(ev->err);
	*q = *made;
	q->assign = true;
	*ret = q;
	return 0;
}
