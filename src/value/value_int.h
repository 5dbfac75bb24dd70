/* value_int.h — what the files of conversion share. Private to the folder. */
#ifndef VALUE_VALUE_INT_H
#define VALUE_VALUE_INT_H

#include "value/convert.h"
#include "value/datetime.h"
#include "value/decimal.h"

/* One conversion on its way. v is neither NULL nor a variant; the result is built in out, whose
 * type is set already. */
struct conv {
	const struct value *v;
	const struct type *to;
	enum convert_mode mode;
	const char *what;
	int style; /* CONVERT's third argument; -1: none */
	struct arena *arena;
	struct err *err;
	struct value out;
};

/* What went wrong; conv_fail finds the number that fits place, source and target. */
enum conv_fault {
	FAULT_SYNTAX, /* the text is no such value */
	FAULT_RANGE,  /* it is one, but does not fit */
};
MUST_CHECK int conv_fail(const struct conv *c, enum conv_fault fault);
/* 8152 [E-COM-07]. */
MUST_CHECK int conv_too_long(const struct conv *c);
/* 8114 in the places where it is the answer to everything. */
static inline bool conv_is_call(const struct conv *c)
{
	return c->mode == CONVERT_ARGUMENT || c->mode == CONVERT_OUTPUT;
}
/* The name that SQL Server's messages use: numeric for decimal. */
const char *conv_type_name(enum type_id id);

/* One function for each family of targets. */
MUST_CHECK int conv_to_number(struct conv *c);
MUST_CHECK int conv_to_text(struct conv *c);
MUST_CHECK int conv_to_time(struct conv *c);
MUST_CHECK int conv_to_binary(struct conv *c);
MUST_CHECK int conv_to_guid(struct conv *c);
MUST_CHECK int conv_to_xml(struct conv *c);

/* Numbers in transit: exact ones as a decimal with its scale, approximate ones as a double. */
struct number {
	bool approximate;
	int scale;
	struct decimal dec;
	double f;
};
bool number_of(const struct value *v, struct number *ret); /* bit … float only */

/* The text of a number in its default form (style -1) or CONVERT's; returns the length, 0 for an
 * unknown style. */
size_t number_format(const struct value *v, int style, char *dst, size_t size);

#endif
