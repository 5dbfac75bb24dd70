/* type_info.c — the one table of wire types [MS-TDS] 2.2.5.4 – 2.2.5.6, and reading a TYPE_INFO
 * by it. A type code that is not here does not exist for us. */
#include "tds/tds_int.h"

#include <string.h>

#define CHAR_MAX_BYTES 8000

static int read_null(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		     struct value *ret)
{
	(void)r, (void)b;
	value_set_null(ret, w->type);
	return 0;
}

/* clang-format off */
#define FIXED(n, id, fn)        { META_NONE, PREFIX_NONE, (n), TDS_70, false, false, (id), (fn) }
#define NULLABLE(fn)            { META_LEN8, PREFIX_U8, 0, TDS_70, false, false, TYPE_NULL, (fn) }
#define DECIMAL(id)             { META_DECIMAL, PREFIX_U8, 0, TDS_70, false, false, (id), tds_read_decimal }
#define TIME(meta, id)          { (meta), PREFIX_U8, 0, TDS_73A, false, false, (id), tds_read_moment }
#define OLD(id, fn)             { META_LEN8, PREFIX_U8, 0, TDS_70, false, false, (id), (fn) }
#define STRING(coll, var, id, fn) { META_LEN16, PREFIX_U16, 0, TDS_70, (coll), (var), (id), (fn) }
#define LOB(coll, id, fn)       { META_LEN32, PREFIX_U32, 0, TDS_70, (coll), false, (id), (fn) }
/* clang-format on */

static const struct tds_type_row rows[256] = {
	[0x1F] = FIXED(0, TYPE_NULL, read_null),
	[0x30] = FIXED(1, TYPE_TINYINT, tds_read_int),
	[0x32] = FIXED(1, TYPE_BIT, tds_read_int),
	[0x34] = FIXED(2, TYPE_SMALLINT, tds_read_int),
	[0x38] = FIXED(4, TYPE_INT, tds_read_int),
	[0x7F] = FIXED(8, TYPE_BIGINT, tds_read_int),
	[0x3B] = FIXED(4, TYPE_REAL, tds_read_float),
	[0x3E] = FIXED(8, TYPE_FLOAT, tds_read_float),
	[0x3A] = FIXED(4, TYPE_SMALLDATETIME, tds_read_datetime),
	[0x3D] = FIXED(8, TYPE_DATETIME, tds_read_datetime),
	[0x7A] = FIXED(4, TYPE_SMALLMONEY, tds_read_money),
	[0x3C] = FIXED(8, TYPE_MONEY, tds_read_money),

	[0x26] = NULLABLE(tds_read_int),
	[0x68] = NULLABLE(tds_read_int),
	[0x6D] = NULLABLE(tds_read_float),
	[0x6E] = NULLABLE(tds_read_money),
	[0x6F] = NULLABLE(tds_read_datetime),
	[0x24] = NULLABLE(tds_read_guid),

	[0x6A] = DECIMAL(TYPE_DECIMAL),
	[0x6C] = DECIMAL(TYPE_NUMERIC),
	[0x37] = DECIMAL(TYPE_DECIMAL),
	[0x3F] = DECIMAL(TYPE_NUMERIC),

	[0x28] = TIME(META_NONE, TYPE_DATE),
	[0x29] = TIME(META_SCALE, TYPE_TIME),
	[0x2A] = TIME(META_SCALE, TYPE_DATETIME2),
	[0x2B] = TIME(META_SCALE, TYPE_DATETIMEOFFSET),

	[0x2F] = OLD(TYPE_CHAR, tds_read_char),
	[0x27] = OLD(TYPE_VARCHAR, tds_read_char),
	[0x2D] = OLD(TYPE_BINARY, tds_read_binary),
	[0x25] = OLD(TYPE_VARBINARY, tds_read_binary),

	[0xAF] = STRING(true, false, TYPE_CHAR, tds_read_char),
	[0xA7] = STRING(true, true, TYPE_VARCHAR, tds_read_char),
	[0xEF] = STRING(true, false, TYPE_NCHAR, tds_read_nchar),
	[0xE7] = STRING(true, true, TYPE_NVARCHAR, tds_read_nchar),
	[0xAD] = STRING(false, false, TYPE_BINARY, tds_read_binary),
	[0xA5] = STRING(false, true, TYPE_VARBINARY, tds_read_binary),

	[0x23] = LOB(true, TYPE_TEXT, tds_read_char),
	[0x63] = LOB(true, TYPE_NTEXT, tds_read_nchar),
	[0x22] = LOB(false, TYPE_IMAGE, tds_read_binary),

	[0x62] = { META_LEN32, PREFIX_U32_NULL0, 0, TDS_71, false, false, TYPE_VARIANT, tds_read_variant },
	[0xF1] = { META_XML, PREFIX_PLP, 0, TDS_72, false, false, TYPE_XML, tds_read_xml },
	[0xF3] = { META_TVP, PREFIX_NONE, 0, TDS_73A, false, false, TYPE_NULL, read_null },
};

const struct tds_type_row *tds_type_row(uint8_t token)
{
	return rows[token].read == NULL ? NULL : &rows[token];
}

/* The N types: the length tells which type it is. */
static const struct {
	uint8_t token, length, type_id;
} by_length[] = {
	{ 0x26, 1, TYPE_TINYINT },       { 0x26, 2, TYPE_SMALLINT },   { 0x26, 4, TYPE_INT },
	{ 0x26, 8, TYPE_BIGINT },        { 0x68, 1, TYPE_BIT },        { 0x6D, 4, TYPE_REAL },
	{ 0x6D, 8, TYPE_FLOAT },         { 0x6E, 4, TYPE_SMALLMONEY }, { 0x6E, 8, TYPE_MONEY },
	{ 0x6F, 4, TYPE_SMALLDATETIME }, { 0x6F, 8, TYPE_DATETIME },   { 0x24, 16, TYPE_GUID },
};

static int get_len8(struct tds_read *r, struct tds_cursor *c, struct tds_typed *t)
{
	uint8_t n;

	if (!tds_get_u8(c, &n))
		return tds_read_ended(r);
	t->max = n;
	if (t->wire.type.id != TYPE_NULL) { /* an old char or binary */
		t->wire.type.length = n > 0 ? n : 1;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(by_length); i++) {
		if (by_length[i].token == r->token && by_length[i].length == n) {
			t->wire.type.id = by_length[i].type_id;
			return 0;
		}
	}
	return tds_read_bad_length(r);
}

static int get_decimal(struct tds_read *r, struct tds_cursor *c, struct tds_typed *t)
{
	uint8_t b[3];

	if (!tds_get_bytes(c, b, sizeof(b)))
		return tds_read_ended(r);
	if (b[1] < 1 || b[1] > 38 || b[2] > b[1])
		return err_set(r->reterr, ERR_RPC_PRECISION, r->index, r->name, r->token);
	t->max = 17; /* whatever it says: jTDS and FreeTDS disagree about b[0] */
	t->wire.type.precision = b[1];
	t->wire.type.scale = b[2];
	return 0;
}

static int get_scale(struct tds_read *r, struct tds_cursor *c, struct tds_typed *t)
{
	uint8_t n;

	if (!tds_get_u8(c, &n))
		return tds_read_ended(r);
	if (n > 7)
		return err_set(r->reterr, ERR_RPC_PRECISION, r->index, r->name, r->token);
	t->max = 10;
	t->wire.type.scale = n;
	return 0;
}

static int get_collation(struct tds_read *r, struct tds_cursor *c, struct tds_typed *t)
{
	if (r->version < TDS_71 || !rows[r->token].collated)
		return 0;
	return tds_get_bytes(c, t->wire.collation, sizeof(t->wire.collation)) ? 0 : tds_read_ended(r);
}

static int get_len16(struct tds_read *r, struct tds_cursor *c, struct tds_typed *t)
{
	bool wide = rows[r->token].read == tds_read_nchar;
	uint16_t n;

	if (!tds_get_u16(c, &n))
		return tds_read_ended(r);
	if (n == 0xFFFF && rows[r->token].var && r->version >= TDS_72) {
		t->prefix = PREFIX_PLP;
		t->wire.type.length = TYPE_MAX;
	} else if (n > CHAR_MAX_BYTES) {
		return tds_read_bad_length(r);
	} else {
		int32_t length = wide ? n / 2 : n;
		/* an empty value makes some drivers say (0) */
		t->wire.type.length = length > 0 ? length : 1;
	}
	t->max = n;
	return get_collation(r, c, t);
}

static int get_len32(struct tds_read *r, struct tds_cursor *c, struct tds_typed *t)
{
	if (!tds_get_u32(c, &t->max))
		return tds_read_ended(r);
	t->wire.type.length = t->wire.type.id == TYPE_VARIANT ? 0 : TYPE_MAX;
	return get_collation(r, c, t);
}

static bool skip_b_varchar(struct tds_cursor *c)
{
	uint8_t n;

	return tds_get_u8(c, &n) && tds_skip(c, 2 * (size_t)n);
}

static int get_xml_schema(struct tds_read *r, struct tds_cursor *c, struct tds_typed *t)
{
	uint8_t present;
	uint16_t n;

	t->wire.type.length = TYPE_MAX;
	if (!tds_get_u8(c, &present))
		return tds_read_ended(r);
	if (present == 0)
		return 0;
	if (!skip_b_varchar(c) || !skip_b_varchar(c) || !tds_get_u16(c, &n) || !tds_skip(c, 2 * (size_t)n))
		return tds_read_ended(r);
	return 0;
}

int tds_get_type_info(struct tds_read *r, struct tds_cursor *c, struct tds_typed *ret)
{
	const struct tds_type_row *row;

	if (!tds_get_u8(c, &r->token))
		return tds_read_ended(r);
	row = tds_type_row(r->token);
	if (row == NULL || r->version < row->since)
		return tds_read_bad_type(r);
	*ret = (struct tds_typed){ .wire = { .token = r->token, .type = { .id = row->type_id } },
				   .prefix = row->prefix,
				   .size = row->size };
	switch (row->meta) {
	case META_LEN8: return get_len8(r, c, ret);
	case META_DECIMAL: return get_decimal(r, c, ret);
	case META_SCALE: return get_scale(r, c, ret);
	case META_LEN16: return get_len16(r, c, ret);
	case META_LEN32: return get_len32(r, c, ret);
	case META_XML: return get_xml_schema(r, c, ret);
	default: ret->max = row->size > 0 ? row->size : 3; return 0; /* 3: date */
	}
}
