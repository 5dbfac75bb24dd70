/* type_write.c — which wire type a SQL type takes in this session, its TYPE_INFO, and its
 * values. COLMETADATA and ROW both ask tds_form_of(), so they cannot disagree. Two rules decide:
 * fixed or N type by the nullable flag (wire notes 12.2: SqlClient reads by that flag), and what
 * the client's version knows (wire notes 12.9). */
#include <string.h>

#include "tds/tds_int.h"
#include "value/datetime.h"

#define CHAR_MAX_BYTES 8000
#define VARIANT_MAX 8009

enum holds {
	HOLDS_NOTHING,
	HOLDS_INT,
	HOLDS_FLOAT,
	HOLDS_DECIMAL,
	HOLDS_MOMENT,
	HOLDS_GUID,
	HOLDS_TEXT,
	HOLDS_BYTES,
	HOLDS_VARIANT
};

/* By type id: token when not nullable, token otherwise, bytes, what the value's union holds,
 * length of its text for old clients. */
static const struct {
	uint8_t fixed, nullable, size, holds, text_units;
} forms[TYPE_COUNT] = {
	[TYPE_NULL] = { 0x26, 0x26, 4, HOLDS_NOTHING, 0 },
	[TYPE_BIT] = { 0x32, 0x68, 1, HOLDS_INT, 0 },
	[TYPE_TINYINT] = { 0x30, 0x26, 1, HOLDS_INT, 0 },
	[TYPE_SMALLINT] = { 0x34, 0x26, 2, HOLDS_INT, 0 },
	[TYPE_INT] = { 0x38, 0x26, 4, HOLDS_INT, 0 },
	[TYPE_BIGINT] = { 0x7F, 0x26, 8, HOLDS_INT, 0 },
	[TYPE_DECIMAL] = { 0x6A, 0x6A, 0, HOLDS_DECIMAL, 0 },
	[TYPE_NUMERIC] = { 0x6C, 0x6C, 0, HOLDS_DECIMAL, 0 },
	[TYPE_SMALLMONEY] = { 0x7A, 0x6E, 4, HOLDS_INT, 0 },
	[TYPE_MONEY] = { 0x3C, 0x6E, 8, HOLDS_INT, 0 },
	[TYPE_REAL] = { 0x3B, 0x6D, 4, HOLDS_FLOAT, 0 },
	[TYPE_FLOAT] = { 0x3E, 0x6D, 8, HOLDS_FLOAT, 0 },
	[TYPE_CHAR] = { 0xAF, 0xAF, 0, HOLDS_TEXT, 0 },
	[TYPE_VARCHAR] = { 0xA7, 0xA7, 0, HOLDS_TEXT, 0 },
	[TYPE_TEXT] = { 0x23, 0x23, 0, HOLDS_TEXT, 0 },
	[TYPE_NCHAR] = { 0xEF, 0xEF, 0, HOLDS_TEXT, 0 },
	[TYPE_NVARCHAR] = { 0xE7, 0xE7, 0, HOLDS_TEXT, 0 },
	[TYPE_NTEXT] = { 0x63, 0x63, 0, HOLDS_TEXT, 0 },
	[TYPE_XML] = { 0xF1, 0xF1, 0, HOLDS_TEXT, 0 },
	[TYPE_BINARY] = { 0xAD, 0xAD, 0, HOLDS_BYTES, 0 },
	[TYPE_VARBINARY] = { 0xA5, 0xA5, 0, HOLDS_BYTES, 0 },
	[TYPE_IMAGE] = { 0x22, 0x22, 0, HOLDS_BYTES, 0 },
	[TYPE_GUID] = { 0x24, 0x24, 16, HOLDS_GUID, 0 },
	[TYPE_DATE] = { 0x28, 0x28, 3, HOLDS_MOMENT, 10 },
	[TYPE_TIME] = { 0x29, 0x29, 0, HOLDS_MOMENT, 16 },
	[TYPE_SMALLDATETIME] = { 0x3A, 0x6F, 4, HOLDS_INT, 0 },
	[TYPE_DATETIME] = { 0x3D, 0x6F, 8, HOLDS_INT, 0 },
	[TYPE_DATETIME2] = { 0x2A, 0x2A, 0, HOLDS_MOMENT, 27 },
	[TYPE_DATETIMEOFFSET] = { 0x2B, 0x2B, 0, HOLDS_MOMENT, 34 },
	[TYPE_VARIANT] = { 0x62, 0x62, 0, HOLDS_VARIANT, 0 },
};

bool tds_value_fits(const struct value *v, enum type_id id)
{
	return v->null || (v->type.id < TYPE_COUNT && forms[v->type.id].holds == forms[id].holds);
}

/* text, ntext and image by pointer; also what (max) and xml become for a client without PLP. */
static void form_pointer(struct tds_form *f)
{
	f->how = HOW_POINTER;
	f->token = f->charset == CHARSET_BINARY ? 0x22 : f->charset == CHARSET_UTF16 ? 0x63 : 0x23;
	f->max = f->charset == CHARSET_UTF16 ? 0x7FFFFFFE : 0x7FFFFFFF;
}

static uint8_t var_token(uint8_t charset)
{
	return charset == CHARSET_BINARY ? 0xA5 : charset == CHARSET_UTF16 ? 0xE7 : 0xA7;
}

static void form_unbounded(struct tds_form *f, enum tds_version v, enum tds_place place)
{
	bool old_lob = f->type.id == TYPE_TEXT || f->type.id == TYPE_NTEXT || f->type.id == TYPE_IMAGE;

	if (place == PLACE_COLUMN && (old_lob || v < TDS_72)) {
		form_pointer(f);
	} else if (v < TDS_72) {
		/* an output value has no text pointer; 4073 was said before if it is longer */
		f->how = HOW_LEN16;
		f->token = var_token(f->charset);
		f->max = CHAR_MAX_BYTES;
	} else {
		f->how = HOW_PLP;
		f->token = f->type.id == TYPE_XML ? 0xF1 : var_token(f->charset);
		f->max = 0xFFFF;
	}
}

static void form_string(struct tds_form *f, enum tds_version v, enum tds_place place)
{
	bool wide = f->type.id == TYPE_NCHAR || f->type.id == TYPE_NVARCHAR || f->type.id == TYPE_NTEXT ||
		    f->type.id == TYPE_XML;
	int64_t bytes = (int64_t)f->type.length * (wide ? 2 : 1);

	f->charset = forms[f->type.id].holds == HOLDS_BYTES ? CHARSET_BINARY
		     : wide                                 ? CHARSET_UTF16
							    : CHARSET_1252;
	if (f->type.length == TYPE_MAX || f->type.id == TYPE_TEXT || f->type.id == TYPE_NTEXT ||
	    f->type.id == TYPE_IMAGE || f->type.id == TYPE_XML) {
		form_unbounded(f, v, place);
	} else {
		f->how = HOW_LEN16;
		f->max = bytes < 1                ? (wide ? 2 : 1)
			 : bytes > CHAR_MAX_BYTES ? CHAR_MAX_BYTES
						  : (uint32_t)bytes;
	}
	if (f->charset != CHARSET_BINARY && f->token != 0xF1 && v >= TDS_71)
		f->collation = tds_collation_default;
}

static void form_date_text(struct tds_form *f, enum tds_version v)
{
	f->as_text = true;
	f->token = 0xE7;
	f->how = HOW_LEN16;
	f->charset = CHARSET_UTF16;
	f->max = 2u * forms[f->type.id].text_units;
	if (v >= TDS_71)
		f->collation = tds_collation_default;
}

static uint8_t small_size(const struct type *t)
{
	switch (t->id) {
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return tds_decimal_size(t->precision);
	case TYPE_TIME: return tds_time_size(t->scale);
	case TYPE_DATETIME2: return (uint8_t)(tds_time_size(t->scale) + 3);
	case TYPE_DATETIMEOFFSET: return (uint8_t)(tds_time_size(t->scale) + 5);
	default: return forms[t->id].size;
	}
}

struct tds_form tds_form_of(const struct tds_out *o, const struct type *t, bool nullable,
			    enum tds_place place)
{
	uint8_t holds = forms[t->id].holds;
	struct tds_form f = { .type = *t };

	assert(t->id < TYPE_COUNT && f.type.id == t->id);
	nullable = nullable || place == PLACE_RETURNVALUE;
	f.token = nullable ? forms[t->id].nullable : forms[t->id].fixed;
	if (holds == HOLDS_TEXT || holds == HOLDS_BYTES) {
		form_string(&f, o->version, place);
	} else if (holds == HOLDS_MOMENT && o->version < TDS_73A) {
		form_date_text(&f, o->version);
	} else if (holds == HOLDS_VARIANT) {
		f.how = HOW_VARIANT;
		f.max = VARIANT_MAX;
	} else {
		f.how = forms[t->id].fixed != forms[t->id].nullable && !nullable ? HOW_BARE : HOW_LEN8;
		f.max = small_size(t);
	}
	return f;
}

uint8_t tds_type_token(const struct type *t)
{
	const struct tds_out o = { .version = TDS_74 };

	return tds_form_of(&o, t, true, PLACE_COLUMN).token;
}

void tds_piece_user_type(struct tds_piece *p, enum tds_version v)
{
	tds_piece_le(p, 0, v < TDS_72 ? 2 : 4);
}

void tds_piece_type_info(struct tds_piece *p, const struct tds_form *f)
{
	tds_piece_le(p, f->token, 1);
	switch ((enum tds_meta)tds_type_row(f->token)->meta) {
	case META_NONE:
	case META_TVP: break;
	case META_LEN8: tds_piece_le(p, f->max, 1); break;
	case META_DECIMAL:
		tds_piece_le(p, f->max, 1);
		tds_piece_le(p, f->type.precision, 1);
		tds_piece_le(p, f->type.scale, 1);
		break;
	case META_SCALE: tds_piece_le(p, f->type.scale, 1); break;
	case META_LEN16: tds_piece_le(p, f->max, 2); break;
	case META_LEN32: tds_piece_le(p, f->max, 4); break;
	case META_XML:
		tds_piece_le(p, 0, 1); /* no schema collection */
		break;
	}
	for (size_t i = 0; i < 5 && f->collation != NULL; i++)
		tds_piece_le(p, f->collation[i], 1);
}

size_t tds_encode_small(const struct type *t, const struct value *v, uint8_t dst[TDS_SMALL_MAX])
{
	switch (t->id) {
	case TYPE_DATE:
	case TYPE_TIME:
	case TYPE_SMALLDATETIME:
	case TYPE_DATETIME:
	case TYPE_DATETIME2:
	case TYPE_DATETIMEOFFSET: return tds_encode_time(t, v, dst);
	default: return tds_encode_number(t, v, dst);
	}
}

static void put_null(struct tds_out *o, const struct tds_form *f)
{
	switch ((enum tds_how)f->how) {
	case HOW_BARE: tds_out_fail(o); break; /* declared NOT NULL: there is no way to say it */
	case HOW_LEN8:
	case HOW_POINTER: tds_put_u8(o, 0); break;
	case HOW_LEN16: tds_put_u16(o, 0xFFFF); break;
	case HOW_PLP: tds_put_u64(o, UINT64_MAX); break;
	case HOW_VARIANT: tds_put_u32(o, 0); break;
	}
}

static void put_small(struct tds_out *o, const struct tds_form *f, const struct value *v)
{
	uint8_t b[1 + TDS_SMALL_MAX];
	size_t n = tds_encode_small(&f->type, v, b + 1);

	if (n == 0) {
		tds_out_fail(o);
		return;
	}
	b[0] = (uint8_t)n;
	if (f->how == HOW_BARE)
		tds_put(o, b + 1, n);
	else
		tds_put(o, b, n + 1);
}

static struct str text_of(const struct tds_form *f, const struct value *v, char *room, size_t size)
{
	if (f->as_text)
		return (struct str){ room, datetime_format(v, room, size) };
	return f->type.id == TYPE_XML ? tds_xml_text(v->u.s) : v->u.s;
}

void tds_put_value(struct tds_out *o, const struct tds_form *f, const struct value *v)
{
	char room[64];

	if (v->null) {
		put_null(o, f);
		return;
	}
	if (!tds_value_fits(v, f->type.id)) {
		tds_out_fail(o);
		return;
	}
	switch ((enum tds_how)f->how) {
	case HOW_BARE:
	case HOW_LEN8: put_small(o, f, v); break;
	case HOW_LEN16: tds_put_len16(o, f, text_of(f, v, room, sizeof(room))); break;
	case HOW_PLP: tds_put_plp(o, text_of(f, v, room, sizeof(room)), f->charset); break;
	case HOW_POINTER: tds_put_pointer(o, text_of(f, v, room, sizeof(room)), f->charset); break;
	case HOW_VARIANT: tds_put_variant(o, v->u.variant); break;
	}
}
