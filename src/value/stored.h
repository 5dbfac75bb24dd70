/* stored.h — values on their way back from the columns of an engine: what is the same in all of
 * them, once the column's own form has been read as a number, a text or bytes. How types lie there
 * is told at the head of each engine's values.c; numbers stand for the same in all. */
#ifndef VALUE_STORED_H
#define VALUE_STORED_H

#include "value/value.h"

/* A number as a bit, an integer, money, datetime or smalldatetime. A float loses what is behind
 * its point, but for money. */
MUST_CHECK int stored_integer(const struct type *as, int64_t i, struct value *ret, struct err *reterr);
MUST_CHECK int stored_integer_of_float(const struct type *as, double f, struct value *ret,
				       struct err *reterr);
/* With so many digits behind the point; from a float; from its text. */
MUST_CHECK int stored_decimal(const struct type *as, const struct decimal *d, int scale, struct value *ret,
			      struct err *reterr);
MUST_CHECK int stored_decimal_of_float(const struct type *as, double f, struct value *ret,
				       struct err *reterr);
MUST_CHECK int stored_decimal_of_text(const struct type *as, struct str s, struct value *ret,
				      struct err *reterr);
/* date, time, datetime2: days since 0001-01-01, 100 ns since midnight, 100 ns since 0001-01-01; and
 * the number that such a value is kept as. datetimeoffset: a text, see datetime.h. */
MUST_CHECK int stored_moment(const struct type *as, int64_t i, struct value *ret, struct err *reterr);
MUST_CHECK int stored_moment_of_text(const struct type *as, struct str s, struct value *ret,
				     struct err *reterr);
int64_t stored_of_moment(const struct value *v);
/* Its 16 bytes, or its text. */
MUST_CHECK int stored_guid(const struct type *as, struct str s, bool is_text, struct value *ret,
			   struct err *reterr);
/* The type that a text or bytes of that length have by themselves. */
struct type stored_natural_text(size_t n);
struct type stored_natural_bytes(size_t n);

/* -1: the value does not fit; it is nothing of the kind, which is a fault of the database. */
int stored_overflow(const struct type *as, struct err *reterr);
int stored_unreadable(const struct type *as, struct err *reterr);

#endif
