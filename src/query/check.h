/* check.h — private to query/: the state of a check and the steps that its files share. */
#ifndef QUERY_CHECK_H
#define QUERY_CHECK_H

#include "query/tree.h"
#include "tsql/eval/eval.h"

/* The sources whose columns an expression may name, innermost first. */
struct query_scope {
	const struct query_scope *outer;
	const struct query_source *sources;
	size_t nsources;
};

struct query_check {
	struct eval *ev;
	struct tsql_host *host;
	unsigned sources;     /* so far: numbers them, and bounds them */
	bool any_system;      /* reads system views */
	struct str service;   /* the database whose own views it reads; empty: none */
	uint8_t sql;          /* enum query_sql: in which that one wants it */
	bool windows_allowed; /* ROW_NUMBER may stand here */
	int line;             /* of what is being checked, for messages */
	struct str database;  /* the current one's name; asked for once */
	bool database_known;
};

/* check.c */
/* A node with room for nargs arguments; NULL: no memory, err says so. */
struct query_node *query_node_new(struct query_check *c, enum query_node_kind kind, size_t nargs);
/* err was filled: sets its line, unless it has one. */
int query_fail(struct query_check *c, int line);
int query_refuse(struct query_check *c, int line, const char *what);
struct str query_current_database(struct query_check *c);
/* For parameters that nobody declared: the node, if it is a constant, meets this type. query_meet
 * and query_as_text do it, too; this is for places that know more. */
MUST_CHECK int query_suggest(struct query_check *c, const struct query_node *n, const struct type *want,
			     enum suggestion how);
/* A constant as it meets values of another type (NULL: as NULL of that type); anything else as it
 * is. */
MUST_CHECK int query_meet(struct query_check *c, const struct query_node *n, const struct type *want,
			  const struct query_node **ret);
/* One of several values under a common type (in CASE, ISNULL, UNION): the database brings a column
 * to it, or the SELECT is refused. */
MUST_CHECK int query_settle(struct query_check *c, const struct query_node *n, const struct type *type,
			    const struct query_node **ret);
bool query_types_meet(const struct type *a, const struct type *b);
bool query_can_cast(const struct query_node *n, const struct type *to);
/* As query_meet, where text is wanted: a constant as the text that it converts to; a column of
 * whole numbers is left to the database, which makes the same text of it. */
MUST_CHECK int query_as_text(struct query_check *c, const struct query_node *n,
			     const struct query_node **ret);
bool query_is_number(const struct type *t);
bool query_is_float(const struct type *t);
bool query_is_whole(const struct query_node *n);

/* scope.c */
MUST_CHECK int query_sources(struct query_check *c, const struct select *s, const struct query_scope *outer,
			     struct query_term *term, struct query_scope *ret);
MUST_CHECK int query_column(struct query_check *c, const struct query_scope *sc, const struct expr *e,
			    const struct query_node **ret);
/* The column of a source that is in this scope. */
const struct query_node *query_source_column(struct query_check *c, const struct query_scope *sc,
					     const struct query_source *src, size_t column);
bool query_same_column(struct query_check *c, const struct query_scope *sc, const struct expr *a,
		       const struct expr *b);

/* source.c: what of a view's rows this session sees, and those that it makes itself. */
MUST_CHECK int query_view_rows(struct query_check *c, const struct view *v, struct query_source *src);
bool query_is_administrator(struct query_check *c);
struct value query_login(struct query_check *c);

/* expr.c, predicate.c, function.c, choice.c */
MUST_CHECK int query_expr(struct query_check *c, const struct query_scope *sc, const struct expr *e,
			  const struct query_node **ret);
MUST_CHECK int query_condition(struct query_check *c, const struct query_scope *sc, const struct expr *e,
			       const struct query_node **ret);
MUST_CHECK int query_compare(struct query_check *c, const struct query_node *a, enum comparison op,
			     const struct query_node *b, const struct query_node **ret);
MUST_CHECK int query_call(struct query_check *c, const struct query_scope *sc, const struct expr *e,
			  const struct query_node **ret);
MUST_CHECK int query_cast(struct query_check *c, const struct query_scope *sc, const struct expr *e,
			  const struct query_node **ret);
MUST_CHECK int query_case(struct query_check *c, const struct query_scope *sc, const struct expr *e,
			  const struct query_node **ret);
MUST_CHECK int query_iif(struct query_check *c, const struct query_scope *sc, const struct expr *e,
			 const struct query_node **ret);
MUST_CHECK int query_nullif(struct query_check *c, const struct query_scope *sc, const struct expr *e,
			    const struct query_node **ret);
MUST_CHECK int query_aggregate(struct query_check *c, const struct query_scope *sc, const struct expr *e,
			       const struct query_node **ret);
MUST_CHECK int query_row_number(struct query_check *c, const struct query_scope *sc, const struct expr *e,
				const struct query_node **ret);

/* grouping.c */
MUST_CHECK int query_check_grouping(struct query_check *c, const struct select *s,
				    const struct query_scope *sc);

/* select.c: a whole SELECT with its UNIONs; most: rows at the most, -1: no bound. */
MUST_CHECK int query_select(struct query_check *c, const struct select *s, const struct query_scope *outer,
			    int64_t most, const struct query_select **ret);

#endif
