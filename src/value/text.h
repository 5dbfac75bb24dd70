/* text.h — searching in texts, for the evaluator and for the store. Whoever searches without case gives texts in lower case. */
#ifndef VALUE_TEXT_H
#define VALUE_TEXT_H

#include "base/meter.h"
#include "base/str.h"

/* The first what (not empty) in where, from byte from on. Linear. 1 and *ret_at, 0: not there, -1: given up. */
MUST_CHECK int text_find(struct str where, size_t from, struct str what, struct meter *m, size_t *ret_at);

/* Every what (not empty) in s replaced. searched is s, or s in lower case: what is compared, while s is what is copied. dst NULL: only *ret_n, how long it becomes.
 * 0, or -1: given up. */
MUST_CHECK int text_replace(struct str s, struct str searched, struct str what, struct str with, struct meter *m, char *dst, size_t *ret_n);

#endif
