/* query.h — a SELECT over views, as parsed, becomes what a database runs: checked once against
 * the catalogue, then written in the database's dialect with its values. */
#ifndef QUERY_QUERY_H
#define QUERY_QUERY_H

#include "tsql/eval/eval.h"

/* Everything is made in the arena of the evaluation. */
MUST_CHECK int query_translate(struct eval *ev, const struct select *s, const struct query **ret);
/* Only whether there is a row (EXISTS) or the first two rows of one column (a scalar subquery:
 * more than one is 512). */
MUST_CHECK int query_translate_sub(struct eval *ev, const struct select *s, bool exists,
				   const struct query **ret);
/* The columns that the SELECT would have; nothing is written. */
MUST_CHECK int query_describe(struct eval *ev, const struct select *s, const struct column **ret,
			      size_t *ret_n);

#endif
