/* value.h — a SQL value. Small ones are held inside, text and binary are slices of memory that
 * somebody else owns (the request's arena, the message, a row of the store). Text is UTF-8
 * whatever its SQL type. */
#ifndef VALUE_VALUE_H
#define VALUE_VALUE_H

#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "value/type.h"

/* sign and magnitude; scale stands in the type. 38 digits fit in 127 bits. */
struct decimal {
	unsigned __int128 magnitude;
	bool negative;
};

/* date: day. time: tick. datetime2: both. datetimeoffset: both in UTC, and the offset. */
struct moment {
	int32_t day;    /* days since 0001-01-01 */
	int64_t tick;   /* 100 ns since midnight */
	int16_t offset; /* minutes east of UTC */
};

/* How the bytes of an xml value are encoded. */
enum xml_encoding {
	/* arrived as UTF-16 (nvarchar, or xml in UTF-16); now UTF-8. A declared encoding other
	 * than UTF-16 is 9402 */
	XML_UTF8_FROM_UNICODE = 0,
	/* bytes as they arrived (varchar in its code page, xml with its own declaration) */
	XML_BYTES,
};

struct value {
	struct type type;
	bool null;
	uint8_t xml_encoding; /* TYPE_XML only */
	union {
		/* bit, integers; smallmoney and money × 10⁴; datetime and smalldatetime in ticks
		 * of 1/300 s since 1900-01-01 */
		int64_t i;
		double f; /* real (rounded to float), float */
		struct decimal dec;
		struct moment moment;  /* date, time, datetime2, datetimeoffset */
		uint8_t guid[16];      /* wire order */
		struct str s;          /* char … xml as UTF-8; binary … image as bytes */
		struct value *variant; /* TYPE_VARIANT: the inner value, never NULL when !null */
	} u;
};

/* NULL in place. An assignment would make it elsewhere and copy it before the processor has it
 * together: a dozen times a call, that is worth a function. */
static inline void value_set_null(struct value *v, struct type t)
{
	memset(v, 0, sizeof(*v));
	v->type = t;
	v->null = true;
}

static inline struct value value_null(struct type t)
{
	struct value v;

	value_set_null(&v, t);
	return v;
}

struct value value_int(enum type_id id, int64_t i);
struct value value_text(struct type t, struct str s); /* no check of the length */
struct value value_bytes(struct type t, const void *p, size_t n);
struct value value_nvarchar(const char *s); /* nvarchar(n) for a C string */
struct value value_varchar(const char *s);
/* A copy whose text and bytes are in the arena; ret may be v. */
MUST_CHECK int value_copy(const struct value *v, struct arena *a, struct value *ret, struct err *reterr);

#endif
