/* decimal.h — exact numbers of up to 38 digits: sign, magnitude, and a scale that stands in the
 * type. */
#ifndef VALUE_DECIMAL_H
#define VALUE_DECIMAL_H

#include "value/value.h"

#define DECIMAL_DIGITS 38

/* Number of decimal digits of the magnitude; 0 has one. */
int decimal_digits(const struct decimal *d);
bool decimal_fits(const struct decimal *d, int precision);
struct decimal decimal_from_int(int64_t i);
/* The integer part, fraction cut off; false when it does not fit. */
bool decimal_to_int(const struct decimal *d, int scale, int64_t *ret);
double decimal_to_double(const struct decimal *d, int scale);
/* Rounded to the scale; false when more than 38 digits would be needed, or the number is not
 * finite. */
bool decimal_from_double(double f, int scale, struct decimal *ret);
/* From one scale to another, half rounded away from zero; false on overflow. */
bool decimal_rescale(const struct decimal *d, int from, int to, struct decimal *ret);
int decimal_compare(const struct decimal *a, int scale_a, const struct decimal *b, int scale_b);

/* [+-]digits[.digits], no blanks, no exponent; ret_precision and ret_scale are those of the text
 * as written (leading zeros not counted, at least 1). More than 38 digits: the fraction is
 * rounded to fit. False: not a number. ret_overflow (may be NULL): a number, but too large. */
bool decimal_parse(struct str s, struct decimal *ret, int *ret_precision, int *ret_scale, bool *ret_overflow);
/* "-12.50"; dst has at least DECIMAL_TEXT bytes. Returns the length. */
#define DECIMAL_TEXT 48
size_t decimal_format(const struct decimal *d, int scale, char *dst, size_t size);

/* The decimal type that holds every value of an exact type (compare.c). */
struct type type_as_decimal(const struct type *t);
/* T-SQL's precision and scale of a result; op is '+' (and '-'), '*', '/' or '%'. */
struct type decimal_result(char op, const struct type *a, const struct type *b);
/* The result in the given type (from decimal_result). False: overflow. Division by zero is the
 * caller's to refuse. */
bool decimal_arith(char op, const struct value *a, const struct value *b, const struct type *t,
		   struct decimal *ret);

#endif
