/* emit.h — what an emitter is: the one place that knows a database's dialect. It writes a checked
 * SELECT (tree.h) as SQL with the values that are bound to it. Each dialect is a
 * file with a struct query_dialect. */
#ifndef QUERY_EMIT_H
#define QUERY_EMIT_H

#include "query/tree.h"
#include "tsql/eval/eval.h"

/* SQL that is put together piece by piece in the arena, and its values. An error stays: whoever
 * writes looks once, at the end. */
struct query_text {
	struct eval *ev;
	char *p;
	size_t n, cap;
	struct value *values;
	size_t nvalues, values_cap;
	bool failed; /* ev->err says why */
};
void query_text_put(struct query_text *t, struct str more);
void query_text_format(struct query_text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A name in double quotes; a column of a source. */
void query_text_name(struct query_text *t, const char *name);
void query_text_column(struct query_text *t, const struct query_source *src, size_t column);
/* Keeps the value; its number, from 1. */
size_t query_text_bind(struct query_text *t, const struct value *v);
/* Keeps the rows of a table variable as one text, a JSON array of arrays; nul stands for U+0000,
 * which databases do not take in JSON. */
size_t query_text_bind_rows(struct query_text *t, const struct table_rows *rows, char nul);

/* words.c: what all dialects write alike. */
struct str query_join_word(enum join_kind kind);
struct str query_comparison_sign(uint8_t op);
struct str query_without_blanks(struct str s);
bool query_is_text_constant(const struct query_node *n);
/* Of a part of a date that has one length. */
int64_t query_ticks_of(enum datepart part);

struct query_dialect {
	const char *name;
	void (*write)(struct query_text *t, const struct query_select *s);
};
extern const struct query_dialect query_dialect_sqlite, query_dialect_postgres;

#endif
