/* select.h — private to select_*.c: a SELECT over views becomes the store's SQL.
 * Each expression is translated to a piece: text with its T-SQL type. What contains no column is computed here and bound as a value, in the
 * type of the column it meets; so every function works in constants, and no text of the client ever becomes part of the SQL. */
#ifndef TSQL_SELECT_H
#define TSQL_SELECT_H

#include "tsql/eval.h"

struct piece {
	struct str sql;         /* of a constant: none until it is bound */
	struct type type;
	bool nullable;
	bool nocase;            /* text of a system view: compares without case */
	bool constant;
	struct value value;
};

struct source {
	const struct from_item *item;
	struct str name;                /* alias or last part of the name */
	struct str sql;                 /* what stands in FROM */
	const struct column *columns;
	size_t ncolumns;
	unsigned id;                    /* t1, t2 … in the SQL */
	bool derived;                   /* columns are c0, c1 … */
	bool nocase;
};
struct scope {
	const struct scope *outer;
	struct source *sources;
	size_t nsources;
};

struct trans {
	struct eval *ev;
	struct tsql_host *host;
	struct value *values;
	size_t nvalues, cap;
	unsigned next_id;
	bool any_system, any_service;
	int line;                       /* of what is being translated, for messages */
};

/* select_text.c */
struct str t_sql(struct trans *t, const char *fmt, ...) PRINTF_LIKE(2, 3);    /* n = 0 and err filled when memory is out */
/* SQL that is put together piece by piece, in the arena. */
struct text {
	char *p;
	size_t n, cap;
};
static inline struct str text_str(const struct text *s) { return (struct str){ s->n == 0 ? "" : s->p, s->n }; }
MUST_CHECK int t_append(struct trans *t, struct text *s, struct str more);
MUST_CHECK int t_bind(struct trans *t, const struct value *v, struct str *ret);
/* The SQL of a piece; a constant is converted to want (NULL: as it is) and bound. */
MUST_CHECK int t_use(struct trans *t, const struct piece *p, const struct type *want, struct str *ret);
/* The same where text is wanted: a constant as the text that it converts to; a column of whole numbers is left to the store, which makes the same text of it. */
MUST_CHECK int t_use_text(struct trans *t, const struct piece *p, struct str *ret);
void t_set_line(struct trans *t, int line);
static inline int t_fail(struct trans *t, int line)         /* err was filled: sets its line, unless it has one */
{
	t_set_line(t, line);
	return -1;
}
static inline int t_refuse(struct trans *t, int line, const char *what)
{
	(void)err_set(t->ev->err, ERR_NOT_SUPPORTED, what, "Read the columns and compute it in the client.");
	return t_fail(t, line);
}
struct str t_quoted(struct trans *t, const char *name);

/* select_scope.c */
MUST_CHECK int t_sources(struct trans *t, const struct select *s, const struct scope *outer, struct scope *ret);
MUST_CHECK int t_column(struct trans *t, const struct scope *sc, const struct expr *e, struct piece *ret);
bool t_same_column(struct trans *t, const struct scope *sc, const struct expr *a, const struct expr *b);
struct str t_column_sql(struct trans *t, const struct source *src, size_t column);
struct str t_current_database(struct trans *t);
/* May an outer join put NULLs in the place of this source's columns? */
bool t_may_be_absent(const struct scope *sc, const struct source *src);

/* select_expr.c, select_func.c */
MUST_CHECK int t_expr(struct trans *t, const struct scope *sc, const struct expr *e, struct piece *ret);
MUST_CHECK int t_condition(struct trans *t, const struct scope *sc, const struct expr *e, struct str *ret);
MUST_CHECK int t_call(struct trans *t, const struct scope *sc, const struct expr *e, struct piece *ret);
MUST_CHECK int t_cast(struct trans *t, const struct scope *sc, const struct expr *e, struct piece *ret);
MUST_CHECK int t_case(struct trans *t, const struct scope *sc, const struct expr *e, struct piece *ret);
MUST_CHECK int t_aggregate(struct trans *t, const struct scope *sc, const struct expr *e, struct piece *ret);
MUST_CHECK int t_compare(struct trans *t, const struct piece *a, const char *op, const struct piece *b, struct str *ret);

/* select_query.c: the SQL of a whole SELECT with its UNIONs; as_table: columns get the names c0, c1 … */
MUST_CHECK int t_select(struct trans *t, const struct select *s, const struct scope *outer, bool as_table, struct str *ret_sql,
			struct column **ret_columns, size_t *ret_n);
MUST_CHECK int query_translate(struct eval *ev, const struct select *s, const struct query **ret);
/* Only whether there is a row (EXISTS) or the first two rows of one column (a scalar subquery: more than one is 512). */
MUST_CHECK int query_translate_sub(struct eval *ev, const struct select *s, bool exists, const struct query **ret);

#endif
