/* sqlite.h — private to the files of the emitter for SQLite. */
#ifndef QUERY_SQLITE_H
#define QUERY_SQLITE_H

#include "query/emit.h"

void query_sqlite_select(struct query_text *t, const struct query_select *s);
/* What follows a text that is compared, grouped or sorted; empty for anything else. */
struct str query_sqlite_collation(uint8_t order);
void query_sqlite_order(struct query_text *t, const struct query_order_item *items, size_t n);
void query_sqlite_expr(struct query_text *t, const struct query_node *n);
void query_sqlite_condition(struct query_text *t, const struct query_node *n);

#endif
