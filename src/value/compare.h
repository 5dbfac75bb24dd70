/* compare.h — comparison and arithmetic of values as T-SQL expressions do them. */
#ifndef VALUE_COMPARE_H
#define VALUE_COMPARE_H

#include "value/convert.h"

/* -1, 0, 1 in *ret after both sides were brought to the type of higher precedence. Neither may
 * be NULL (the caller knows three-valued logic). Text compares as SQL_Latin1_General_CP1_CI_AS
 * does for ASCII: case-insensitive, trailing blanks ignored. */
MUST_CHECK int value_compare(const struct value *a, const struct value *b, struct arena *ar, int *ret,
			     struct err *reterr);

/* The order of texts alone: -1, 0, 1. */
int text_compare(struct str a, struct str b);
/* The same by code points, so with case; blanks at the end do not count here either. */
int text_compare_exact(struct str a, struct str b);
/* The value inside a variant, or the value itself. */
const struct value *value_unwrap(const struct value *v);

enum value_op { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MOD, OP_AND, OP_OR, OP_XOR };
/* NULL in, NULL out. + concatenates text and binary. 8134, 8115, 402 … Integer division
 * truncates; decimal precision by T-SQL's rules. */
MUST_CHECK int value_arith(enum value_op op, const struct value *a, const struct value *b, struct arena *ar,
			   struct value *ret, struct err *reterr);
MUST_CHECK int value_negate(const struct value *a, struct value *ret, struct err *reterr);
/* The type of an expression that may be either (CASE, COALESCE, arithmetic operands):
 * precedence, then the larger size. */
struct type type_common(const struct type *a, const struct type *b);

#endif
