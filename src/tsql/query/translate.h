/* translate.h — private to query/: a SELECT over views becomes the store's SQL.
 * Each expression is translated to a piece: text with its T-SQL type. What contains no column is computed here and bound as a value, in the
 * type of the column it meets; so every function works in constants, and no text of the client ever becomes part of the SQL. */
#ifndef TSQL_QUERY_TRANSLATE_H
#define TSQL_QUERY_TRANSLATE_H

#include "tsql/eval/eval.h"

struct piece {
	struct str sql; /* of a constant: none until it is bound */
	struct type type;
	bool nullable;
	bool nocase; /* text of a system view: compares without case */
	bool constant;
	struct value value;
};

struct source {
	const struct from_item *item;
	struct str name; /* alias or last part of the name */
	struct str sql;  /* what stands in FROM */
	const struct column *columns;
	size_t ncolumns;
	unsigned id;  /* t1, t2 … in the SQL */
	bool derived; /* columns are c0, c1 … */
	bool nocase;
};
struct scope {
	const struct scope *outer;
	struct source *sources;
	size_t nsources;
};

struct query_translation {
	struct eval *ev;
	struct tsql_host *host;
	struct value *values;
	size_t nvalues, cap;
	unsigned next_id;
	bool any_system, any_service;
	int line; /* of what is being translated, for messages */
};

/* query/text.c */
struct str query_sql(struct query_translation *t, const char *fmt, ...)
	PRINTF_LIKE(2, 3); /* n = 0 and err filled when memory is out */
/* SQL that is put together piece by piece, in the arena. */
struct text {
	char *p;
	size_t n, cap;
};
static inline struct str text_str(const struct text *s)
{
	return (struct str){ s->n == 0 ? "" : s->p, s->n };
}
MUST_CHECK int query_append(struct query_translation *t, struct text *s, struct str more);
MUST_CHECK int query_bind(struct query_translation *t, const struct value *v, struct str *ret);
/* The SQL of a piece; a constant is converted to want (NULL: as it is) and bound. */
MUST_CHECK int query_piece_sql(struct query_translation *t, const struct piece *p, const struct type *want,
			       struct str *ret);
/* The same where text is wanted: a constant as the text that it converts to; a column of whole numbers is left to the store, which makes the same text of it. */
MUST_CHECK int query_piece_text(struct query_translation *t, const struct piece *p, struct str *ret);
void query_set_line(struct query_translation *t, int line);
static inline int query_fail(struct query_translation *t,
			     int line) /* err was filled: sets its line, unless it has one */
{
	query_set_line(t, line);
	return -1;
}
static inline int query_refuse(struct query_translation *t, int line, const char *what)
{
	(void)err_set(t->ev->err, ERR_NOT_SUPPORTED, what, "Read the columns and compute it in the client.");
	return query_fail(t, line);
}
struct str query_quoted(struct query_translation *t, const char *name);

/* query/scope.c */
MUST_CHECK int query_sources(struct query_translation *t, const struct select *s, const struct scope *outer,
			     struct scope *ret);
MUST_CHECK int query_column(struct query_translation *t, const struct scope *sc, const struct expr *e,
			    struct piece *ret);
bool query_same_column(struct query_translation *t, const struct scope *sc, const struct expr *a,
		       const struct expr *b);
struct str query_column_sql(struct query_translation *t, const struct source *src, size_t column);
struct str query_current_database(struct query_translation *t);
/* May an outer join put NULLs in the place of this source's columns? */
bool query_may_be_absent(const struct scope *sc, const struct source *src);

/* query/expr.c, query/function.c */
MUST_CHECK int query_expr(struct query_translation *t, const struct scope *sc, const struct expr *e,
			  struct piece *ret);
MUST_CHECK int query_condition(struct query_translation *t, const struct scope *sc, const struct expr *e,
			       struct str *ret);
MUST_CHECK int query_call(struct query_translation *t, const struct scope *sc, const struct expr *e,
			  struct piece *ret);
MUST_CHECK int query_cast(struct query_translation *t, const struct scope *sc, const struct expr *e,
			  struct piece *ret);
MUST_CHECK int query_case(struct query_translation *t, const struct scope *sc, const struct expr *e,
			  struct piece *ret);
MUST_CHECK int query_aggregate(struct query_translation *t, const struct scope *sc, const struct expr *e,
			       struct piece *ret);
MUST_CHECK int query_compare(struct query_translation *t, const struct piece *a, const char *op,
			     const struct piece *b, struct str *ret);

/* query/query.c: the SQL of a whole SELECT with its UNIONs; as_table: columns get the names c0, c1 … */
MUST_CHECK int query_select(struct query_translation *t, const struct select *s, const struct scope *outer,
			    bool as_table, struct str *ret_sql, struct column **ret_columns, size_t *ret_n);
MUST_CHECK int query_translate(struct eval *ev, const struct select *s, const struct query **ret);
/* Only whether there is a row (EXISTS) or the first two rows of one column (a scalar subquery: more than one is 512). */
MUST_CHECK int query_translate_sub(struct eval *ev, const struct select *s, bool exists,
				   const struct query **ret);

#endif
