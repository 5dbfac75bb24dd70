/* type.c — the one table of SQL types, and what follows from it. */
#include "value/type.h"

#include <stdio.h>

#define LENGTH .has_length = true
#define EXACT .is_exact = true

/* name, sys.types id, ODBC 3 type, SqlDbType, precedence, size of a fixed one */
static const struct type_info infos[TYPE_COUNT] = {
	[TYPE_NULL] = { "NULL", 0, 0, 0, 0, 0, .is_text = false },
	[TYPE_BIT] = { "bit", 104, -7, 2, 14, 1, EXACT, .is_integer = true },
	[TYPE_TINYINT] = { "tinyint", 48, -6, 20, 15, 1, EXACT, .is_integer = true },
	[TYPE_SMALLINT] = { "smallint", 52, 5, 16, 16, 2, EXACT, .is_integer = true },
	[TYPE_INT] = { "int", 56, 4, 8, 17, 4, EXACT, .is_integer = true },
	[TYPE_BIGINT] = { "bigint", 127, -5, 0, 18, 8, EXACT, .is_integer = true },
	[TYPE_DECIMAL] = { "decimal", 106, 3, 5, 21, 0, EXACT, .has_precision = true, .has_scale = true },
	[TYPE_NUMERIC] = { "numeric", 108, 2, 5, 21, 0, EXACT, .has_precision = true, .has_scale = true },
	[TYPE_SMALLMONEY] = { "smallmoney", 122, 3, 17, 19, 4, EXACT },
	[TYPE_MONEY] = { "money", 60, 3, 9, 20, 8, EXACT },
	[TYPE_REAL] = { "real", 59, 7, 13, 22, 4, .is_text = false },
	[TYPE_FLOAT] = { "float", 62, 6, 6, 23, 8, .is_text = false },
	[TYPE_CHAR] = { "char", 175, 1, 3, 3, 0, LENGTH, .is_text = true },
	[TYPE_VARCHAR] = { "varchar", 167, 12, 22, 4, 0, LENGTH, .is_text = true },
	[TYPE_TEXT] = { "text", 35, -1, 18, 10, 0, .is_text = true },
	[TYPE_NCHAR] = { "nchar", 239, -8, 10, 5, 0, LENGTH, .is_text = true, .is_unicode = true },
	[TYPE_NVARCHAR] = { "nvarchar", 231, -9, 12, 6, 0, LENGTH, .is_text = true, .is_unicode = true },
	[TYPE_NTEXT] = { "ntext", 99, -10, 11, 11, 0, .is_text = true, .is_unicode = true },
	[TYPE_XML] = { "xml", 241, -152, 25, 30, 0, .is_unicode = true },
	[TYPE_BINARY] = { "binary", 173, -2, 1, 1, 0, LENGTH, .is_binary = true },
	[TYPE_VARBINARY] = { "varbinary", 165, -3, 21, 2, 0, LENGTH, .is_binary = true },
	[TYPE_IMAGE] = { "image", 34, -4, 7, 9, 0, .is_binary = true },
	[TYPE_GUID] = { "uniqueidentifier", 36, -11, 14, 7, 16, .is_text = false },
	[TYPE_DATE] = { "date", 40, 91, 31, 25, 3, .is_time = true },
	[TYPE_TIME] = { "time", 41, -154, 32, 24, 0, .has_scale = true, .is_time = true },
	[TYPE_SMALLDATETIME] = { "smalldatetime", 58, 93, 15, 26, 4, .is_time = true },
	[TYPE_DATETIME] = { "datetime", 61, 93, 4, 27, 8, .is_time = true },
	[TYPE_DATETIME2] = { "datetime2", 42, 93, 33, 28, 0, .has_scale = true, .is_time = true },
	[TYPE_DATETIMEOFFSET] = { "datetimeoffset", 43, -155, 34, 29, 0, .has_scale = true, .is_time = true },
	[TYPE_VARIANT] = { "sql_variant", 98, -150, 23, 31, 0, .is_text = false },
};

const struct type_info *type_info(enum type_id id)
{
	return &infos[(unsigned)id < TYPE_COUNT ? id : TYPE_NULL];
}

struct type_bounds type_bounds(enum type_id id)
{
	switch (id) {
	case TYPE_BIT: return (struct type_bounds){ 0, 1 };
	case TYPE_TINYINT: return (struct type_bounds){ 0, UINT8_MAX };
	case TYPE_SMALLINT: return (struct type_bounds){ INT16_MIN, INT16_MAX };
	case TYPE_INT:
	case TYPE_SMALLMONEY: return (struct type_bounds){ INT32_MIN, INT32_MAX };
	default: return (struct type_bounds){ INT64_MIN, INT64_MAX };
	}
}

static const struct {
	const char *name;
	struct type type;
} synonyms[] = {
	{ "integer", { TYPE_INT, 0, 0, 0 } },        { "dec", { TYPE_DECIMAL, 18, 0, 0 } },
	{ "double", { TYPE_FLOAT, 0, 0, 0 } },       { "character", { TYPE_CHAR, 0, 0, 1 } },
	{ "sysname", { TYPE_NVARCHAR, 0, 0, 128 } }, { "rowversion", { TYPE_BINARY, 0, 0, 8 } },
	{ "timestamp", { TYPE_BINARY, 0, 0, 8 } },
};

/* The type that a bare name means. */
static struct type type_default(enum type_id id)
{
	const struct type_info *info = type_info(id);
	struct type t = TYPE_OF(id);

	if (info->has_length)
		t.length = 1;
	else if (info->is_text || info->is_binary || id == TYPE_XML)
		t.length = TYPE_MAX;
	if (info->has_precision)
		t.precision = 18;
	else if (info->has_scale)
		t.scale = 7;
	return t;
}

bool type_by_name(struct str name, struct type *ret)
{
	for (int id = TYPE_BIT; id < TYPE_COUNT; id++) {
		if (str_eq_nocase(name, str_of(infos[id].name))) {
			*ret = type_default((enum type_id)id);
			return true;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(synonyms); i++) {
		if (str_eq_nocase(name, str_of(synonyms[i].name))) {
			*ret = synonyms[i].type;
			return true;
		}
	}
	return false;
}

const char *type_format(const struct type *t, char *dst, size_t size)
{
	const struct type_info *info = type_info(t->id);

	if (info->has_length && type_is_max(t))
		snprintf(dst, size, "%s(max)", info->name);
	else if (info->has_length)
		snprintf(dst, size, "%s(%d)", info->name, (int)t->length);
	else if (info->has_precision)
		snprintf(dst, size, "%s(%u,%u)", info->name, (unsigned)t->precision, (unsigned)t->scale);
	else if (info->has_scale)
		snprintf(dst, size, "%s(%u)", info->name, (unsigned)t->scale);
	else
		snprintf(dst, size, "%s", info->name);
	return dst;
}

static int32_t decimal_bytes(uint8_t precision)
{
	return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
}

static int32_t time_bytes(uint8_t scale)
{
	return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

int32_t type_max_bytes(const struct type *t)
{
	const struct type_info *info = type_info(t->id);

	if (info->size != 0)
		return info->size;
	switch ((enum type_id)t->id) {
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return decimal_bytes(t->precision);
	case TYPE_TIME: return time_bytes(t->scale);
	case TYPE_DATETIME2: return time_bytes(t->scale) + 3;
	case TYPE_DATETIMEOFFSET: return time_bytes(t->scale) + 5;
	case TYPE_VARIANT: return 8009; /* 8000 bytes of value and its description */
	default: break;
	}
	if (type_is_max(t))
		return TYPE_MAX;
	return info->is_unicode ? t->length * 2 : t->length;
}
