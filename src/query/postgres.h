/* postgres.h — private to the files of the emitter for PostgreSQL. */
#ifndef QUERY_POSTGRES_H
#define QUERY_POSTGRES_H

#include "query/emit.h"

struct query_postgres {
	struct query_text *t;
	/* Outside an aggregate of a SELECT with GROUP BY: texts that are equal stand for each other
	 * there, and PostgreSQL wants to be told which one is shown. */
	bool grouped;
};

void query_postgres_select(struct query_postgres *w, const struct query_select *s);
void query_postgres_order(struct query_postgres *w, const struct query_order_item *items, size_t n);
void query_postgres_expr(struct query_postgres *w, const struct query_node *n);
/* As a text, whatever it is. */
void query_postgres_as_text(struct query_postgres *w, const struct query_node *n);
/* As it groups, and is equal or not: order is that of the comparison. */
void query_postgres_key(struct query_postgres *w, const struct query_node *n, uint8_t order);
/* As it sorts, and is less or greater: texts that compare by code points have another key for
 * that. */
void query_postgres_rank(struct query_postgres *w, const struct query_node *n, uint8_t order);
void query_postgres_condition(struct query_postgres *w, const struct query_node *n);
/* postgres_call.c */
void query_postgres_call(struct query_postgres *w, const struct query_node *n);
void query_postgres_cast(struct query_postgres *w, const struct query_node *n);

#endif
