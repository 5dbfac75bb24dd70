/* values.c — values on their way to PostgreSQL and back, in binary. How SQL types lie there:
 *   bit, integers, money, datetime, date, time, datetime2   bigint, as the SQLite engine has them
 *   real, float                                             double precision
 *   texts, xml, decimal, datetimeoffset                     text (texts by text.c)
 *   binary types, uniqueidentifier (16 bytes, wire order)   bytea
 * Reading takes what an expression may have made of it: smaller integers, booleans, numeric. */
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/postgres/postgres_int.h"
#include "value/datetime.h"
#include "value/decimal.h"
#include "value/stored.h"

/* PostgreSQL takes no message, and stores no row, of a gibibyte; SQLite's limit of both is this. */
#define BYTES_MOST 1000000000

enum {
	OID_BOOL = 16,
	OID_BYTEA = 17,
	OID_NAME = 19,
	OID_INT8 = 20,
	OID_INT2 = 21,
	OID_INT4 = 23,
	OID_TEXT = 25,
	OID_OID = 26,
	OID_FLOAT4 = 700,
	OID_FLOAT8 = 701,
	OID_UNKNOWN = 705,
	OID_BPCHAR = 1042,
	OID_VARCHAR = 1043,
	OID_NUMERIC = 1700
};

static const Oid oids[] = {
	[PG_INT8] = OID_INT8, [PG_TEXT] = OID_TEXT, [PG_BYTEA] = OID_BYTEA, [PG_FLOAT8] = OID_FLOAT8
};
static const Oid array_oids[] = { [PG_INT8] = 1016, [PG_TEXT] = 1009, [PG_BYTEA] = 1001, [PG_FLOAT8] = 1022 };

uint8_t postgres_kind(const struct type *t)
{
	switch ((enum type_id)t->id) {
	case TYPE_REAL:
	case TYPE_FLOAT: return PG_FLOAT8;
	case TYPE_BINARY:
	case TYPE_VARBINARY:
	case TYPE_IMAGE:
	case TYPE_GUID: return PG_BYTEA;
	case TYPE_CHAR:
	case TYPE_VARCHAR:
	case TYPE_TEXT:
	case TYPE_NCHAR:
	case TYPE_NVARCHAR:
	case TYPE_NTEXT:
	case TYPE_XML:
	case TYPE_DECIMAL:
	case TYPE_NUMERIC:
	case TYPE_DATETIMEOFFSET:
	case TYPE_VARIANT:
	case TYPE_NULL: return PG_TEXT;
	default: return PG_INT8;
	}
}

/* ---- to PostgreSQL ---- */

int postgres_params_init(struct pg_params *p, struct arena *a, unsigned cap, struct err *reterr)
{
	*p = (struct pg_params){ .cap = (int)cap,
				 .values = arena_array(a, cap + 1, sizeof(*p->values)),
				 .lengths = arena_array(a, cap + 1, sizeof(*p->lengths)),
				 .formats = arena_array(a, cap + 1, sizeof(*p->formats)),
				 .types = arena_array(a, cap + 1, sizeof(*p->types)) };
	return p->values == NULL || p->lengths == NULL || p->formats == NULL || p->types == NULL
		       ? err_nomem(reterr)
		       : 0;
}

/* PostgreSQL would end the session of whoever sends more. */
static int too_large(struct err *reterr)
{
	return err_set(reterr, ERR_TOO_LARGE, "A value, or all that the call brings together,",
		       (unsigned long long)BYTES_MOST, "max_value_size");
}

static int put(struct pg_params *p, Oid type, const void *bytes, size_t n, struct err *reterr)
{
	assert(p->n < p->cap && p->bytes <= BYTES_MOST);
	if (n > BYTES_MOST - p->bytes)
		return too_large(reterr);
	p->bytes += n;
	p->values[p->n] = bytes;
	p->lengths[p->n] = (int)n;
	p->formats[p->n] = 1;
	p->types[p->n++] = type;
	return 0;
}

/* The bytes of a number, most significant first. */
static int number_bytes(struct arena *a, uint64_t bits, struct str *ret, struct err *reterr)
{
	uint64_t *be = arena_alloc_raw(a, sizeof(*be));

	if (be == NULL)
		return err_nomem(reterr);
	*be = htobe64(bits);
	*ret = (struct str){ (const char *)be, sizeof(*be) };
	return 0;
}

static int integer_of(const struct value *v, int64_t *ret)
{
	switch ((enum type_id)v->type.id) {
	case TYPE_DATE:
	case TYPE_TIME:
	case TYPE_DATETIME2: *ret = stored_of_moment(v); return 0;
	case TYPE_REAL:
	case TYPE_FLOAT: *ret = (int64_t)v->u.f; return 0;
	default:
		*ret = v->u.i;
		return type_info(v->type.id)->is_text || type_info(v->type.id)->is_binary ? -1 : 0;
	}
}

static int text_of(const struct value *v, struct arena *a, struct str *ret, struct err *reterr)
{
	char text[64];
	int n;

	switch ((enum type_id)v->type.id) {
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: n = (int)decimal_format(&v->u.dec, v->type.scale, text, sizeof(text)); break;
	case TYPE_DATETIMEOFFSET: n = (int)moment_format_sortable(&v->u.moment, text, sizeof(text)); break;
	default:
		if (type_info(v->type.id)->is_text || v->type.id == TYPE_XML)
			return postgres_text_out(v->u.s, a, ret, reterr);
		n = snprintf(text, sizeof(text), "%" PRId64, v->u.i);
	}
	ret->p = arena_strndup(a, text, (size_t)n);
	ret->n = (size_t)n;
	return ret->p == NULL ? err_nomem(reterr) : 0;
}

static int mismatch(const struct value *v, struct err *reterr)
{
	return err_raise(reterr, 50010, 16, 1, "A value of type %s was given where the database has another.",
			 type_info(v->type.id)->name);
}

/* It lies in the value itself, which may be gone before it is sent. */
static int guid_bytes(const struct value *v, struct arena *a, struct str *ret, struct err *reterr)
{
	ret->p = arena_strndup(a, (const char *)v->u.guid, sizeof(v->u.guid));
	ret->n = sizeof(v->u.guid);
	return ret->p == NULL ? err_nomem(reterr) : 0;
}

/* The bytes of a value that is not NULL. */
static int bytes_of(const struct value *v, uint8_t kind, struct arena *a, struct str *ret, struct err *reterr)
{
	int64_t i;
	uint64_t bits;
	double f;

	if (v->type.id == TYPE_VARIANT)
		return bytes_of(v->u.variant, kind, a, ret, reterr);
	switch ((enum pg_kind)kind) {
	case PG_INT8:
		return integer_of(v, &i) < 0 ? mismatch(v, reterr)
					     : number_bytes(a, (uint64_t)i, ret, reterr);
	case PG_FLOAT8:
		f = v->type.id == TYPE_REAL || v->type.id == TYPE_FLOAT ? v->u.f : (double)v->u.i;
		memcpy(&bits, &f, sizeof(bits));
		return number_bytes(a, bits, ret, reterr);
	case PG_TEXT: return text_of(v, a, ret, reterr);
	case PG_BYTEA:
		if (v->type.id == TYPE_GUID)
			return guid_bytes(v, a, ret, reterr);
		if (type_info(v->type.id)->is_binary || type_info(v->type.id)->is_text ||
		    v->type.id == TYPE_XML)
			*ret = (struct str){ v->u.s.p == NULL ? "" : v->u.s.p, v->u.s.n };
		else
			return mismatch(v, reterr);
		return 0;
	}
	return mismatch(v, reterr);
}

int postgres_param(struct pg_params *p, struct arena *a, const struct value *v, uint8_t kind,
		   struct err *reterr)
{
	struct str s;

	if (v->null)
		return put(p, oids[kind], NULL, 0, reterr);
	return bytes_of(v, kind, a, &s, reterr) < 0 ? -1 : put(p, oids[kind], s.p, s.n, reterr);
}

int postgres_param_int(struct pg_params *p, struct arena *a, int64_t i, struct err *reterr)
{
	struct str s;

	if (number_bytes(a, (uint64_t)i, &s, reterr) < 0)
		return -1;
	return put(p, OID_INT8, s.p, s.n, reterr);
}

int postgres_param_text(struct pg_params *p, const char *s, struct err *reterr)
{
	return put(p, OID_TEXT, s, s == NULL ? 0 : strlen(s), reterr);
}

/* ---- arrays: dimensions, whether there are NULLs, type; size and lower bound; elements ---- */

static void put32(uint8_t *at, uint32_t v)
{
	v = htobe32(v);
	memcpy(at, &v, sizeof(v));
}

static int array_size(const struct value *values, size_t stride, size_t n, uint8_t kind, struct arena *a,
		      struct str *elements, size_t *ret, struct err *reterr)
{
	*ret = n == 0 ? 12 : 20;
	for (size_t i = 0; i < n; i++) {
		elements[i] = (struct str){ NULL, 0 };
		if (!values[i * stride].null &&
		    bytes_of(&values[i * stride], kind, a, &elements[i], reterr) < 0)
			return -1;
		*ret += 4 + elements[i].n;
	}
	return *ret > BYTES_MOST ? too_large(reterr) : 0;
}

int postgres_param_array(struct pg_params *p, struct arena *a, const struct value *values, size_t stride,
			 size_t n, uint8_t kind, struct err *reterr)
{
	struct str *elements = arena_array(a, n + 1, sizeof(*elements));
	size_t size, at = n == 0 ? 12 : 20;
	uint8_t *bytes;

	if (elements == NULL)
		return err_nomem(reterr);
	if (array_size(values, stride, n, kind, a, elements, &size, reterr) < 0)
		return -1;
	bytes = arena_alloc(a, size);
	if (bytes == NULL)
		return err_nomem(reterr);
	put32(bytes, n == 0 ? 0 : 1);
	put32(bytes + 4, 1);
	put32(bytes + 8, oids[kind]);
	if (n > 0) {
		put32(bytes + 12, (uint32_t)n);
		put32(bytes + 16, 1);
	}
	for (size_t i = 0; i < n; i++) {
		bool null = values[i * stride].null;

		put32(bytes + at, null ? UINT32_MAX : (uint32_t)elements[i].n);
		if (!null && elements[i].n > 0)
			memcpy(bytes + at + 4, elements[i].p, elements[i].n);
		at += 4 + elements[i].n;
	}
	assert(at == size);
	return put(p, array_oids[kind], bytes, size, reterr);
}

/* ---- from PostgreSQL ---- */

struct cell {
	Oid type;
	struct str s;
};

static uint64_t big_endian(struct str s)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.n && i < 8; i++)
		v = v << 8 | (uint8_t)s.p[i];
	return v;
}

static double double_of(struct cell c)
{
	uint64_t bits = big_endian(c.s);
	uint32_t half = (uint32_t)bits;
	double d;
	float f;

	if (c.type == OID_FLOAT4) {
		memcpy(&f, &half, sizeof(f));
		return f;
	}
	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* 10^38, the first number that a decimal cannot hold. */
static unsigned __int128 ten_to_the_38(void)
{
	unsigned __int128 m = 1;

	for (int i = 0; i < DECIMAL_DIGITS; i++)
		m *= 10;
	return m;
}

/* numeric: number of digits of base 10000, weight of the first, sign, scale; the digits. False when
 * it is no number, or longer than a decimal; what there is no room for behind the point is left
 * out. */
static bool numeric_of(struct str s, struct decimal *ret, int *ret_scale)
{
	const unsigned __int128 most = ten_to_the_38();
	int ndigits, weight, scale, shift, used = 0;
	unsigned __int128 m = 0;

	if (s.n < 8)
		return false;
	ndigits = (int)big_endian((struct str){ s.p, 2 });
	weight = (int16_t)big_endian((struct str){ s.p + 2, 2 });
	scale = (int)big_endian((struct str){ s.p + 6, 2 });
	if ((uint8_t)s.p[4] >= 0xc0 || s.n != 8 + 2 * (size_t)ndigits)
		return false;
	for (; used < ndigits && m < most / 10000; used++)
		m = m * 10000 + big_endian((struct str){ s.p + 8 + 2 * used, 2 }) % 10000;
	if (scale > DECIMAL_DIGITS)
		scale = DECIMAL_DIGITS;
	/* m × 10000^(weight - used + 1), to be shown with scale digits */
	for (shift = 4 * (weight - used + 1) + scale; shift > 0 && m < most / 10; shift--)
		m *= 10;
	if (shift > 0)
		scale -= shift;
	for (; shift < 0 && m > 0; shift++)
		m /= 10;
	*ret = (struct decimal){ .magnitude = m, .negative = (uint8_t)s.p[4] == 0x40 && m > 0 };
	*ret_scale = scale;
	return scale >= 0;
}

static bool is_integer(Oid t)
{
	return t == OID_INT8 || t == OID_INT4 || t == OID_INT2 || t == OID_BOOL || t == OID_OID;
}

static int64_t integer_in(struct cell c)
{
	uint64_t v = big_endian(c.s);

	switch (c.type) {
	case OID_INT4: return (int32_t)v;
	case OID_INT2: return (int16_t)v;
	default: return (int64_t)v;
	}
}

static int column_integer(struct cell c, const struct type *as, struct value *ret, struct err *reterr)
{
	struct decimal d;
	int64_t i;
	int scale;

	if (is_integer(c.type))
		return stored_integer(as, integer_in(c), ret, reterr);
	if (c.type == OID_FLOAT8 || c.type == OID_FLOAT4)
		return stored_integer_of_float(as, double_of(c), ret, reterr);
	if (c.type != OID_NUMERIC)
		return stored_unreadable(as, reterr);
	if (!numeric_of(c.s, &d, &scale) || !decimal_to_int(&d, scale, &i))
		return stored_overflow(as, reterr);
	return stored_integer(as, i, ret, reterr);
}

static int column_float(struct cell c, const struct type *as, struct value *ret, struct err *reterr)
{
	struct decimal d;
	int scale;

	if (is_integer(c.type))
		ret->u.f = (double)integer_in(c);
	else if (c.type == OID_FLOAT8 || c.type == OID_FLOAT4)
		ret->u.f = double_of(c);
	else if (c.type != OID_NUMERIC)
		return stored_unreadable(as, reterr);
	else if (numeric_of(c.s, &d, &scale))
		ret->u.f = decimal_to_double(&d, scale);
	else
		return stored_overflow(as, reterr);
	return 0;
}

static int column_decimal(struct cell c, const struct type *as, struct value *ret, struct err *reterr)
{
	struct decimal d;
	int scale = 0;

	if (c.type == OID_FLOAT8 || c.type == OID_FLOAT4)
		return stored_decimal_of_float(as, double_of(c), ret, reterr);
	if (!is_integer(c.type) && c.type != OID_NUMERIC)
		return stored_decimal_of_text(as, c.s, ret, reterr);
	if (is_integer(c.type))
		d = decimal_from_int(integer_in(c));
	else if (!numeric_of(c.s, &d, &scale))
		return stored_overflow(as, reterr);
	return stored_decimal(as, &d, scale, ret, reterr);
}

static int column_moment(struct cell c, const struct type *as, struct value *ret, struct err *reterr)
{
	if (as->id == TYPE_DATETIMEOFFSET)
		return stored_moment_of_text(as, c.s, ret, reterr);
	return is_integer(c.type) ? stored_moment(as, integer_in(c), ret, reterr)
				  : stored_unreadable(as, reterr);
}

/* Numbers become their text where a text is asked for, as in an expression. */
static int column_text(struct cell c, struct arena *a, struct value *ret, struct err *reterr)
{
	char text[DECIMAL_TEXT];
	struct decimal d;
	int n, scale;

	if (is_integer(c.type))
		n = snprintf(text, sizeof(text), "%" PRId64, integer_in(c));
	else if (c.type == OID_FLOAT8 || c.type == OID_FLOAT4)
		n = snprintf(text, sizeof(text), "%.15g", double_of(c));
	else if (c.type == OID_NUMERIC && numeric_of(c.s, &d, &scale))
		n = (int)decimal_format(&d, scale, text, sizeof(text));
	else if (c.type == OID_BYTEA)
		return (ret->u.s = c.s, 0);
	else
		return postgres_text_in(c.s, a, &ret->u.s, reterr);
	ret->u.s = (struct str){ arena_strndup(a, text, (size_t)n), (size_t)n };
	return ret->u.s.p == NULL ? err_nomem(reterr) : 0;
}

/* The type that a value has by itself. */
static struct type natural_type(struct cell c)
{
	if (is_integer(c.type))
		return integer_in(c) == (int32_t)integer_in(c) ? TYPE_OF(TYPE_INT) : TYPE_OF(TYPE_BIGINT);
	if (c.type == OID_FLOAT8 || c.type == OID_FLOAT4)
		return TYPE_OF(TYPE_FLOAT);
	if (c.type == OID_BYTEA)
		return stored_natural_bytes(c.s.n);
	return stored_natural_text(c.s.n);
}

static int column_value(struct cell c, const struct type *as, struct arena *a, struct value *ret,
			struct err *reterr)
{
	ret->type = *as;
	ret->null = false;
	ret->xml_encoding = XML_UTF8_FROM_UNICODE;
	switch ((enum type_id)as->id) {
	case TYPE_BIT:
	case TYPE_TINYINT:
	case TYPE_SMALLINT:
	case TYPE_INT:
	case TYPE_BIGINT:
	case TYPE_SMALLMONEY:
	case TYPE_MONEY:
	case TYPE_SMALLDATETIME:
	case TYPE_DATETIME: return column_integer(c, as, ret, reterr);
	case TYPE_REAL:
	case TYPE_FLOAT: return column_float(c, as, ret, reterr);
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return column_decimal(c, as, ret, reterr);
	case TYPE_XML:
		ret->xml_encoding = c.type == OID_BYTEA ? XML_BYTES : XML_UTF8_FROM_UNICODE;
		return column_text(c, a, ret, reterr);
	case TYPE_CHAR:
	case TYPE_VARCHAR:
	case TYPE_TEXT:
	case TYPE_NCHAR:
	case TYPE_NVARCHAR:
	case TYPE_NTEXT: return column_text(c, a, ret, reterr);
	case TYPE_BINARY:
	case TYPE_VARBINARY:
	case TYPE_IMAGE: ret->u.s = c.s; return 0;
	case TYPE_GUID: return stored_guid(as, c.s, c.type != OID_BYTEA, ret, reterr);
	case TYPE_DATE:
	case TYPE_TIME:
	case TYPE_DATETIME2:
	case TYPE_DATETIMEOFFSET: return column_moment(c, as, ret, reterr);
	default: return stored_unreadable(as, reterr);
	}
}

int postgres_column(const PGresult *r, int row, int column, const struct type *as, struct arena *a,
		    struct value *ret, struct err *reterr)
{
	struct cell c = { PQftype(r, column),
			  { PQgetvalue(r, row, column), (size_t)PQgetlength(r, row, column) } };
	struct type natural;
	struct value *inner;

	if (PQgetisnull(r, row, column)) {
		value_set_null(ret, *as);
		return 0;
	}
	natural = natural_type(c);
	if (as->id != TYPE_VARIANT)
		return column_value(c, as->id == TYPE_NULL ? &natural : as, a, ret, reterr);
	inner = arena_alloc(a, sizeof(*inner));
	if (inner == NULL)
		return err_nomem(reterr);
	ret->type = *as;
	ret->null = false;
	ret->u.variant = inner;
	return column_value(c, &natural, a, inner, reterr);
}

int64_t postgres_column_int(const PGresult *r, int row, int column)
{
	struct cell c = { PQftype(r, column),
			  { PQgetvalue(r, row, column), (size_t)PQgetlength(r, row, column) } };

	return PQgetisnull(r, row, column) ? 0 : integer_in(c);
}
