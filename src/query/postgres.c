/* postgres.c — the emitter for PostgreSQL: a checked SELECT as its SQL. Texts compare by the keys
 * tsql_exact(text) and tsql_names(text); functions of text are the tsql_… functions of
 * procedures/postgres/tsql.sql. Whole numbers and times are int8, truth in a column is 1 or 0.
 *
 * Sources are t1, t2 …; the columns of a SELECT that is a source itself are c0, c1 …. No text of a
 * client is part of what is written: values are bound as $1, $2 …, names come from the
 * catalogue. */
#include "query/postgres.h"

#include <assert.h>
#include <string.h>

void query_postgres_order(struct query_postgres *w, const struct query_order_item *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		query_text_put(w->t, i == 0 ? STR(" ORDER BY ") : STR(", "));
		query_postgres_rank(w, items[i].expr, items[i].expr->order);
		/* NULL is less than everything, as T-SQL and SQLite have it */
		query_text_put(w->t, items[i].descending ? STR(" DESC NULLS LAST") : STR(" NULLS FIRST"));
	}
}

static void select_as(struct query_postgres *w, const struct query_select *s);

/* A view that is not in the store: its text, with the rows that the session made. */
static void inline_view(struct query_postgres *w, const struct query_source *src)
{
	const char *sql = src->view->postgres_sql, *mark = strstr(sql, "$rows");

	assert(src->view->store_name == NULL && (mark == NULL || !src->rows.null));
	query_text_put(w->t, STR("("));
	if (mark != NULL) {
		query_text_put(w->t, (struct str){ sql, (size_t)(mark - sql) });
		query_text_format(w->t, "$%zu", query_text_bind(w->t, &src->rows));
		sql = mark + strlen("$rows");
	}
	query_text_put(w->t, str_of(sql));
	query_text_put(w->t, STR(")"));
}

static void view(struct query_postgres *w, const struct query_source *src)
{
	bool login = src->view->per_login && !src->every_login;

	if (src->view->store_name == NULL) {
		inline_view(w, src);
		return;
	}
	if (!src->view->per_database && !login) {
		query_text_name(w->t, src->view->store_name);
		return;
	}
	query_text_put(w->t, STR("(SELECT * FROM "));
	query_text_name(w->t, src->view->store_name);
	query_text_put(w->t, STR(" WHERE "));
	if (src->view->per_database)
		query_text_format(w->t, "tsql_fold(\"database_name\") = tsql_fold($%zu)%s",
				  query_text_bind(w->t, &src->database), login ? " AND " : "");
	if (login)
		query_text_format(w->t,
				  "(\"login_name\" IS NULL OR tsql_fold(\"login_name\") = tsql_fold($%zu))",
				  query_text_bind(w->t, &src->login));
	query_text_put(w->t, STR(")"));
}

/* The type in which a column comes to the server. */
static const char *type_of(const struct type *type)
{
	const struct type_info *info = type_info(type->id);

	if (info->is_binary || type->id == TYPE_GUID)
		return "bytea";
	if (type->id == TYPE_FLOAT || type->id == TYPE_REAL)
		return "float8";
	if (info->is_integer || type->id == TYPE_BIT || type->id == TYPE_DATETIME ||
	    type->id == TYPE_SMALLDATETIME || type->id == TYPE_DATE || type->id == TYPE_MONEY ||
	    type->id == TYPE_SMALLMONEY || type->id == TYPE_NULL)
		return "int8";
	return "text";
}

/* U+0000 goes as it is: the engine sends something else in its place. */
static void table_variable(struct query_postgres *w, const struct query_source *src)
{
	query_text_put(w->t, STR("(SELECT "));
	for (size_t i = 0; i < src->ncolumns; i++)
		query_text_format(w->t, "%sCAST(value ->> %zu AS %s) AS c%zu", i > 0 ? ", " : "", i,
				  type_of(&src->columns[i].type), i);
	query_text_format(w->t, " FROM jsonb_array_elements(CAST($%zu AS jsonb)) AS r(value))",
			  query_text_bind_rows(w->t, src->given, '\0'));
}

static void source(struct query_postgres *w, const struct query_source *src)
{
	query_text_put(w->t, query_join_word(src->join));
	if (src->derived != NULL) {
		query_text_put(w->t, STR("("));
		select_as(w, src->derived);
		query_text_put(w->t, STR(")"));
	} else if (src->table != NULL) {
		table_variable(w, src);
	} else {
		view(w, src);
	}
	query_text_format(w->t, " AS t%u", src->id);
	if (src->on == NULL && src->join != JOIN_FIRST) {
		query_text_put(w->t, STR(" ON true"));
	} else if (src->on != NULL) {
		query_text_put(w->t, STR(" ON "));
		query_postgres_condition(w, src->on);
	}
}

/* A variant's type is that of its value where all rows have this one; otherwise it comes as
 * text. */
static const struct type *type_of_item(const struct query_node *n, const struct type *type, bool alone)
{
	bool constant = alone && type->id == TYPE_VARIANT && n->kind == NODE_VALUE && !n->value.null;

	return constant ? &n->value.u.variant->type : type;
}

/* One of several rows that are the same but for case and blanks is shown as its key shows it, or,
 * of names, as the first of them. */
static void item(struct query_postgres *w, const struct query_node *n, const struct type *type, bool compared)
{
	bool names = compared && n->order == ORDER_NAMES;

	query_text_put(w->t, STR("CAST("));
	if (compared && n->order == ORDER_EXACT)
		query_postgres_key(w, n, n->order);
	else
		query_postgres_expr(w, n);
	query_text_format(w->t, " AS %s)%s", type_of(type), names ? " COLLATE nocase" : "");
}

static void list(struct query_postgres *w, const struct query_term *term, const struct query_term *first,
		 bool compared)
{
	for (size_t i = 0; i < term->n; i++) {
		const struct query_node *n = term->items[i];

		if (i > 0)
			query_text_put(w->t, STR(", "));
		item(w, n, type_of_item(n, &first->columns[i].type, first->next == NULL), compared);
		query_text_format(w->t, " AS c%zu", i);
	}
}

static void clause(struct query_postgres *w, struct str word, const struct query_node *condition)
{
	if (condition == NULL)
		return;
	query_text_put(w->t, word);
	query_postgres_condition(w, condition);
}

/* order: of the whole SELECT, where it is this term alone and no row is compared with another. */
static void term_as(struct query_postgres *outer, const struct query_term *term,
		    const struct query_term *first, bool compared, const struct query_select *order)
{
	struct query_postgres w = { outer->t, false }, inside = { outer->t, term->ngroup > 0 };

	if (term->limit >= 0)
		query_text_put(w.t, STR("(SELECT * FROM ("));
	query_text_put(w.t, term->distinct ? STR("SELECT DISTINCT ") : STR("SELECT "));
	list(&inside, term, first, compared || term->distinct);
	for (size_t i = 0; i < term->nsources; i++)
		source(&w, &term->sources[i]);
	clause(&w, STR(" WHERE "), term->where);
	for (size_t i = 0; i < term->ngroup; i++) {
		query_text_put(w.t, i == 0 ? STR(" GROUP BY ") : STR(", "));
		query_postgres_key(&w, term->group_by[i], term->group_by[i]->order);
	}
	clause(&inside, STR(" HAVING "), term->having);
	if (order != NULL)
		query_postgres_order(&inside, order->order_by, order->norder);
	if (term->limit >= 0)
		query_text_format(w.t, " LIMIT %lld) AS u)", (long long)term->limit);
}

/* Rows that were compared are ordered afterwards, by columns of the list. */
static void ordered(struct query_postgres *w, const struct query_select *s)
{
	for (size_t i = 0; i < s->norder; i++) {
		const struct query_order_item *o = &s->order_by[i];
		const char *key = o->expr->order == ORDER_EXACT   ? "tsql_rank"
				  : o->expr->order == ORDER_NAMES ? "tsql_names"
								  : "";

		query_text_format(w->t, "%s%s(u.c%zu)%s", i == 0 ? " ORDER BY " : ", ", key,
				  o->ordinal > 0 ? o->ordinal - 1 : 0,
				  o->descending ? " DESC NULLS LAST" : " NULLS FIRST");
	}
}

/* Does a UNION compare rows of its terms? */
static bool compares(const struct query_select *s)
{
	for (const struct query_term *term = s->terms; term->next != NULL; term = term->next) {
		if (!term->union_all)
			return true;
	}
	return false;
}

static void select_as(struct query_postgres *w, const struct query_select *s)
{
	bool compared = compares(s), union_ = s->terms->next != NULL;
	bool outside = (union_ || s->terms->distinct) && s->norder > 0;

	if (outside)
		query_text_put(w->t, STR("SELECT * FROM ("));
	for (const struct query_term *term = s->terms; term != NULL; term = term->next) {
		term_as(w, term, s->terms, compared, union_ || term->distinct ? NULL : s);
		if (term->next != NULL)
			query_text_put(w->t, term->union_all ? STR(" UNION ALL ") : STR(" UNION "));
	}
	if (outside) {
		query_text_put(w->t, STR(") AS u"));
		ordered(w, s);
	}
	if (s->limit >= 0)
		query_text_format(w->t, " LIMIT %lld", (long long)s->limit);
	if (s->offset > 0)
		query_text_format(w->t, " OFFSET %lld", (long long)s->offset);
}

void query_postgres_select(struct query_postgres *w, const struct query_select *s)
{
	select_as(w, s);
}

static void write_select(struct query_text *t, const struct query_select *s)
{
	struct query_postgres w = { t, false };

	query_postgres_select(&w, s);
}

const struct query_dialect query_dialect_postgres = { .name = "postgres", .write = write_select };
