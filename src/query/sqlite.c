/* sqlite.c — the emitter for SQLite: a checked SELECT as SQLite's SQL. Texts compare by the
 * collations tsql_exact and tsql_names; functions of text are the tsql_… functions. The SQLite
 * engine registers both, with the code of value/ that the evaluator uses too.
 *
 * Sources are t1, t2 …; the columns of a SELECT that is a source itself are c0, c1 …. No text of
 * a client is part of what is written: values are bound as ?1, ?2 …, names come from the
 * catalogue. */
#include "query/sqlite.h"

#include <assert.h>
#include <string.h>

struct str query_sqlite_collation(uint8_t order)
{
	switch (order) {
	case ORDER_EXACT: return STR(" COLLATE tsql_exact");
	case ORDER_NAMES: return STR(" COLLATE tsql_names");
	default: return STR("");
	}
}

void query_sqlite_order(struct query_text *t, const struct query_order_item *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		query_text_put(t, i == 0 ? STR(" ORDER BY ") : STR(", "));
		if (items[i].ordinal > 0)
			query_text_format(t, "%zu", items[i].ordinal);
		else
			query_sqlite_expr(t, items[i].expr);
		query_text_put(t, query_sqlite_collation(items[i].expr->order));
		if (items[i].descending)
			query_text_put(t, STR(" DESC"));
	}
}

static void select_as(struct query_text *t, const struct query_select *s, bool as_table);

/* A view that is not in the file: its text, with the rows that the session made. */
static void inline_view(struct query_text *t, const struct query_source *src)
{
	const char *sql = src->view->inline_sql, *mark = strstr(sql, "$rows");

	assert(src->view->store_name == NULL && (mark == NULL || !src->rows.null));
	query_text_put(t, STR("("));
	if (mark != NULL) {
		query_text_put(t, (struct str){ sql, (size_t)(mark - sql) });
		query_text_format(t, "?%zu", query_text_bind(t, &src->rows));
		sql = mark + strlen("$rows");
	}
	query_text_put(t, str_of(sql));
	query_text_put(t, STR(")"));
}

static void view(struct query_text *t, const struct query_source *src)
{
	bool login = src->view->per_login && !src->every_login;

	if (src->view->store_name == NULL) {
		inline_view(t, src);
		return;
	}
	if (!src->view->per_database && !login) {
		query_text_name(t, src->view->store_name);
		return;
	}
	query_text_put(t, STR("(SELECT * FROM "));
	query_text_name(t, src->view->store_name);
	query_text_put(t, STR(" WHERE "));
	if (src->view->per_database)
		query_text_format(t, "\"database_name\" = ?%zu COLLATE NOCASE%s",
				  query_text_bind(t, &src->database), login ? " AND " : "");
	if (login)
		query_text_format(t, "(\"login_name\" IS NULL OR \"login_name\" = ?%zu COLLATE NOCASE)",
				  query_text_bind(t, &src->login));
	query_text_put(t, STR(")"));
}

/* SQLite's JSON ends a text at U+0000: a byte that no text has stands for it. */
static void table_variable(struct query_text *t, const struct query_source *src)
{
	query_text_put(t, STR("(SELECT "));
	for (size_t i = 0; i < src->ncolumns; i++) {
		bool text = type_info(src->columns[i].type.id)->is_text;

		query_text_format(t, "%s%sjson_extract(value, '$[%zu]')%s AS c%zu", i > 0 ? ", " : "",
				  text ? "replace(" : "", i, text ? ", CAST(x'ff' AS TEXT), char(0))" : "",
				  i);
	}
	query_text_format(t, " FROM json_each(?%zu))", query_text_bind_rows(t, src->given, '\xff'));
}

static void source(struct query_text *t, const struct query_source *src)
{
	query_text_put(t, query_join_word(src->join));
	if (src->derived != NULL) {
		query_text_put(t, STR("("));
		select_as(t, src->derived, true);
		query_text_put(t, STR(")"));
	} else if (src->table != NULL) {
		table_variable(t, src);
	} else {
		view(t, src);
	}
	query_text_format(t, " AS t%u", src->id);
	if (src->on != NULL) {
		query_text_put(t, STR(" ON "));
		query_sqlite_condition(t, src->on);
	}
}

/* collate: rows of this SELECT are compared with each other (DISTINCT, UNION). */
static void list(struct query_text *t, const struct query_term *term, bool as_table, bool collate)
{
	for (size_t i = 0; i < term->n; i++) {
		if (i > 0)
			query_text_put(t, STR(", "));
		query_sqlite_expr(t, term->items[i]);
		if (collate)
			query_text_put(t, query_sqlite_collation(term->items[i]->order));
		if (as_table)
			query_text_format(t, " AS c%zu", i);
	}
}

static void clause(struct query_text *t, struct str word, const struct query_node *condition)
{
	if (condition == NULL)
		return;
	query_text_put(t, word);
	query_sqlite_condition(t, condition);
}

static void term_as(struct query_text *t, const struct query_term *term, bool as_table, bool collate)
{
	if (term->limit >= 0) /* a term of a UNION cannot have a LIMIT of its own */
		query_text_put(t, STR("SELECT * FROM ("));
	query_text_put(t, term->distinct ? STR("SELECT DISTINCT ") : STR("SELECT "));
	list(t, term, as_table, collate || term->distinct);
	for (size_t i = 0; i < term->nsources; i++)
		source(t, &term->sources[i]);
	clause(t, STR(" WHERE "), term->where);
	for (size_t i = 0; i < term->ngroup; i++) {
		query_text_put(t, i == 0 ? STR(" GROUP BY ") : STR(", "));
		query_sqlite_expr(t, term->group_by[i]);
		query_text_put(t, query_sqlite_collation(term->group_by[i]->order));
	}
	clause(t, STR(" HAVING "), term->having);
	if (term->limit >= 0)
		query_text_format(t, " LIMIT %lld)", (long long)term->limit);
}

static void select_as(struct query_text *t, const struct query_select *s, bool as_table)
{
	for (const struct query_term *term = s->terms; term != NULL; term = term->next) {
		term_as(t, term, as_table, s->terms->next != NULL);
		if (term->next != NULL)
			query_text_put(t, term->union_all ? STR(" UNION ALL ") : STR(" UNION "));
	}
	query_sqlite_order(t, s->order_by, s->norder);
	if (s->limit >= 0 || s->offset > 0)
		query_text_format(t, " LIMIT %lld OFFSET %lld", (long long)s->limit, (long long)s->offset);
}

void query_sqlite_select(struct query_text *t, const struct query_select *s)
{
	select_as(t, s, false);
}

const struct query_dialect query_dialect_sqlite = { .name = "sqlite", .write = query_sqlite_select };
