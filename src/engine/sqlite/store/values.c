/* values.c — how SQL values lie in SQLite's columns:
 *   bit, integers            INTEGER
 *   smallmoney, money        INTEGER, × 10⁴
 *   datetime, smalldatetime  INTEGER, ticks of 1/300 s since 1900-01-01
 *   date                     INTEGER, days since 0001-01-01
 *   time                     INTEGER, 100 ns since midnight
 *   datetime2                INTEGER, 100 ns since 0001-01-01
 *   datetimeoffset           TEXT, as value/datetime.h has it
 *   decimal, numeric         TEXT with the digits of its scale
 *   real, float              REAL
 *   text types               TEXT in UTF-8; lone surrogates in their three-byte form, NUL bytes
 *                            as they are
 *   xml                      TEXT when it came as Unicode, BLOB when it came as bytes with an
 *                            encoding of their own
 *   binary types             BLOB
 *   uniqueidentifier         BLOB of 16 bytes in wire order
 *   sql_variant              as its inner value
 * Reading takes what an expression may have made of it (SQLite's types are those of values, not
 * of columns). */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/sqlite/store/store_int.h"
#include "value/datetime.h"
#include "value/decimal.h"
#include "value/stored.h"

static int bind_text(sqlite3_stmt *h, int index, struct str s)
{
	return sqlite3_bind_text64(h, index, s.p == NULL ? "" : s.p, s.n, SQLITE_STATIC, SQLITE_UTF8);
}

/* A NULL pointer would bind NULL: an empty value keeps a pointer. */
static int bind_blob(sqlite3_stmt *h, int index, const void *p, size_t n)
{
	return sqlite3_bind_blob64(h, index, p == NULL ? "" : p, n, SQLITE_STATIC);
}

static int bind_offset(sqlite3_stmt *h, int index, const struct moment *m)
{
	char text[MOMENT_SORTABLE + 1];
	size_t n = moment_format_sortable(m, text, sizeof(text));

	return sqlite3_bind_text(h, index, text, (int)n, SQLITE_TRANSIENT);
}

static int bind_decimal(sqlite3_stmt *h, int index, const struct value *v)
{
	char text[DECIMAL_TEXT];
	size_t n = decimal_format(&v->u.dec, v->type.scale, text, sizeof(text));

	return sqlite3_bind_text(h, index, text, (int)n, SQLITE_TRANSIENT);
}

int store_bind_value(sqlite3_stmt *h, int index, const struct value *v)
{
	if (v->null)
		return sqlite3_bind_null(h, index);
	switch ((enum type_id)v->type.id) {
	case TYPE_BIT:
	case TYPE_TINYINT:
	case TYPE_SMALLINT:
	case TYPE_INT:
	case TYPE_BIGINT:
	case TYPE_SMALLMONEY:
	case TYPE_MONEY:
	case TYPE_SMALLDATETIME:
	case TYPE_DATETIME: return sqlite3_bind_int64(h, index, v->u.i);
	case TYPE_REAL:
	case TYPE_FLOAT: return sqlite3_bind_double(h, index, v->u.f);
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return bind_decimal(h, index, v);
	case TYPE_CHAR:
	case TYPE_VARCHAR:
	case TYPE_TEXT:
	case TYPE_NCHAR:
	case TYPE_NVARCHAR:
	case TYPE_NTEXT: return bind_text(h, index, v->u.s);
	case TYPE_XML:
		return v->xml_encoding == XML_BYTES ? bind_blob(h, index, v->u.s.p, v->u.s.n)
						    : bind_text(h, index, v->u.s);
	case TYPE_BINARY:
	case TYPE_VARBINARY:
	case TYPE_IMAGE: return bind_blob(h, index, v->u.s.p, v->u.s.n);
	case TYPE_GUID: return bind_blob(h, index, v->u.guid, sizeof(v->u.guid));
	case TYPE_DATE:
	case TYPE_TIME:
	case TYPE_DATETIME2: return sqlite3_bind_int64(h, index, stored_of_moment(v));
	case TYPE_DATETIMEOFFSET: return bind_offset(h, index, &v->u.moment);
	case TYPE_VARIANT: return store_bind_value(h, index, v->u.variant);
	case TYPE_NULL:
	case TYPE_COUNT: break;
	}
	return sqlite3_bind_null(h, index);
}

/* The bytes as they are; sqlite3_column_text() would copy where no NUL follows. Numbers become
 * their text first. */
static struct str column_bytes(sqlite3_stmt *h, int index, int storage)
{
	const char *p;

	if (storage == SQLITE_INTEGER || storage == SQLITE_FLOAT)
		(void)sqlite3_column_text(h, index);
	p = sqlite3_column_blob(h, index);
	return (struct str){ p == NULL ? "" : p, (size_t)sqlite3_column_bytes(h, index) };
}

static int column_integer(sqlite3_stmt *h, int index, int storage, const struct type *as, struct value *ret,
			  struct err *reterr)
{
	if (storage == SQLITE_FLOAT)
		return stored_integer_of_float(as, sqlite3_column_double(h, index), ret, reterr);
	return stored_integer(as, sqlite3_column_int64(h, index), ret, reterr);
}

static int column_decimal(sqlite3_stmt *h, int index, int storage, const struct type *as, struct value *ret,
			  struct err *reterr)
{
	struct decimal d;

	if (storage == SQLITE_FLOAT)
		return stored_decimal_of_float(as, sqlite3_column_double(h, index), ret, reterr);
	if (storage != SQLITE_INTEGER)
		return stored_decimal_of_text(as, column_bytes(h, index, storage), ret, reterr);
	d = decimal_from_int(sqlite3_column_int64(h, index));
	return stored_decimal(as, &d, 0, ret, reterr);
}

static int column_guid(sqlite3_stmt *h, int index, int storage, const struct type *as, struct value *ret,
		       struct err *reterr)
{
	if (storage != SQLITE_BLOB && storage != SQLITE_TEXT)
		return stored_unreadable(as, reterr);
	return stored_guid(as, column_bytes(h, index, storage), storage == SQLITE_TEXT, ret, reterr);
}

static int column_moment(sqlite3_stmt *h, int index, int storage, const struct type *as, struct value *ret,
			 struct err *reterr)
{
	bool offset = as->id == TYPE_DATETIMEOFFSET;

	if (storage != (offset ? SQLITE_TEXT : SQLITE_INTEGER))
		return stored_unreadable(as, reterr);
	return offset ? stored_moment_of_text(as, column_bytes(h, index, storage), ret, reterr)
		      : stored_moment(as, sqlite3_column_int64(h, index), ret, reterr);
}

/* The type that a value has by itself: for sql_variant, and where nobody declared one. */
static struct type natural_type(sqlite3_stmt *h, int index, int storage)
{
	switch (storage) {
	case SQLITE_INTEGER: return TYPE_OF(TYPE_BIGINT);
	case SQLITE_FLOAT: return TYPE_OF(TYPE_FLOAT);
	case SQLITE_TEXT: return stored_natural_text((size_t)sqlite3_column_bytes(h, index));
	default: return stored_natural_bytes((size_t)sqlite3_column_bytes(h, index));
	}
}

/* A fixed-size variant shows int where int will do, as a literal would have been. */
static int column_variant(sqlite3_stmt *h, int index, int storage, struct value *inner, struct value *ret,
			  struct err *reterr)
{
	struct type t = natural_type(h, index, storage);

	assert(inner != NULL && t.id != TYPE_VARIANT); /* a variant never holds one */
	if (storage == SQLITE_INTEGER &&
	    sqlite3_column_int64(h, index) == (int32_t)sqlite3_column_int64(h, index))
		t = TYPE_OF(TYPE_INT);
	if (store_column_value(h, index, &t, NULL, inner, reterr) < 0)
		return -1;
	ret->u.variant = inner;
	return 0;
}

int store_column_value(sqlite3_stmt *h, int index, const struct type *as, struct value *inner,
		       struct value *ret, struct err *reterr)
{
	int storage = sqlite3_column_type(h, index);
	struct type natural;

	if (storage == SQLITE_NULL) {
		value_set_null(ret, *as);
		return 0;
	}
	if (as->id == TYPE_NULL) {
		natural = natural_type(h, index, storage);
		as = &natural;
	}
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
	case TYPE_DATETIME: return column_integer(h, index, storage, as, ret, reterr);
	case TYPE_REAL: ret->u.f = (float)sqlite3_column_double(h, index); return 0;
	case TYPE_FLOAT: ret->u.f = sqlite3_column_double(h, index); return 0;
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return column_decimal(h, index, storage, as, ret, reterr);
	case TYPE_XML:
		ret->xml_encoding = storage == SQLITE_BLOB ? XML_BYTES : XML_UTF8_FROM_UNICODE;
		ret->u.s = column_bytes(h, index, storage);
		return 0;
	case TYPE_CHAR:
	case TYPE_VARCHAR:
	case TYPE_TEXT:
	case TYPE_NCHAR:
	case TYPE_NVARCHAR:
	case TYPE_NTEXT:
	case TYPE_BINARY:
	case TYPE_VARBINARY:
	case TYPE_IMAGE: ret->u.s = column_bytes(h, index, storage); return 0;
	case TYPE_GUID: return column_guid(h, index, storage, as, ret, reterr);
	case TYPE_DATE:
	case TYPE_TIME:
	case TYPE_DATETIME2:
	case TYPE_DATETIMEOFFSET: return column_moment(h, index, storage, as, ret, reterr);
	case TYPE_VARIANT: return column_variant(h, index, storage, inner, ret, reterr);
	case TYPE_NULL:
	case TYPE_COUNT: break;
	}
	return stored_unreadable(as, reterr);
}
