/* type_variant.c — sql_variant [MS-TDS] 2.2.5.5.4: a value that carries its own, small type. */
#include <string.h>

#include "base/utf.h"
#include "tds/tds_int.h"
#include "value/datetime.h"

#define VARIANT_TEXT_MAX 8000

/* Base types, how many property bytes each has, and which of our types it is. */
static const struct base {
	uint8_t token, props, type_id;
} bases[] = {
	{ 0x30, 0, TYPE_TINYINT },   { 0x32, 0, TYPE_BIT },
	{ 0x34, 0, TYPE_SMALLINT },  { 0x38, 0, TYPE_INT },
	{ 0x7F, 0, TYPE_BIGINT },    { 0x3B, 0, TYPE_REAL },
	{ 0x3E, 0, TYPE_FLOAT },     { 0x3A, 0, TYPE_SMALLDATETIME },
	{ 0x3D, 0, TYPE_DATETIME },  { 0x7A, 0, TYPE_SMALLMONEY },
	{ 0x3C, 0, TYPE_MONEY },     { 0x24, 0, TYPE_GUID },
	{ 0x28, 0, TYPE_DATE },      { 0x29, 1, TYPE_TIME },
	{ 0x2A, 1, TYPE_DATETIME2 }, { 0x2B, 1, TYPE_DATETIMEOFFSET },
	{ 0x6A, 2, TYPE_DECIMAL },   { 0x6C, 2, TYPE_NUMERIC },
	{ 0xA5, 2, TYPE_VARBINARY }, { 0xAD, 2, TYPE_BINARY },
	{ 0xA7, 7, TYPE_VARCHAR },   { 0xAF, 7, TYPE_CHAR },
	{ 0xE7, 7, TYPE_NVARCHAR },  { 0xEF, 7, TYPE_NCHAR },
};

static const struct base *base_by_token(uint8_t token)
{
	for (size_t i = 0; i < ARRAY_LEN(bases); i++)
		if (bases[i].token == token)
			return &bases[i];
	return NULL;
}

static const struct base *base_by_type(enum type_id id)
{
	for (size_t i = 0; i < ARRAY_LEN(bases); i++)
		if (bases[i].type_id == id)
			return &bases[i];
	return NULL;
}

static int32_t text_length(enum type_id id, uint16_t bytes)
{
	int32_t n = id == TYPE_NVARCHAR || id == TYPE_NCHAR ? bytes / 2 : bytes;

	return n > 0 ? n : 1;
}

/* Properties into the type; false: not what the base type has. */
static bool get_props(struct tds_cursor *p, const struct base *base, struct tds_wire_type *w)
{
	uint16_t max;

	switch (base->props) {
	case 1: return tds_get_u8(p, &w->type.scale) && w->type.scale <= 7;
	case 2:
		if (base->type_id == TYPE_DECIMAL || base->type_id == TYPE_NUMERIC)
			return tds_get_u8(p, &w->type.precision) && tds_get_u8(p, &w->type.scale) &&
			       w->type.precision >= 1 && w->type.precision <= 38 &&
			       w->type.scale <= w->type.precision;
		break;
	case 7:
		if (!tds_get_bytes(p, w->collation, sizeof(w->collation)))
			return false;
		break;
	default: return true;
	}
	if (!tds_get_u16(p, &max) || max > VARIANT_TEXT_MAX)
		return false;
	w->type.length = text_length(base->type_id, max);
	return true;
}

int tds_read_variant(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b,
		     struct value *ret)
{
	struct tds_wire_type inner = { 0 };
	const struct tds_type_row *row;
	const struct base *base;
	struct tds_cursor props;
	struct value *v;
	uint8_t n;

	if (!tds_get_u8(&b, &inner.token) || !tds_get_u8(&b, &n) || !tds_get_slice(&b, n, &props))
		return tds_read_bad_length(r);
	base = base_by_token(inner.token);
	row = tds_type_row(inner.token);
	if (base == NULL || row == NULL || r->version < row->since)
		return tds_read_bad_value(r, TYPE_VARIANT);
	inner.type.id = base->type_id;
	if (n != base->props || !get_props(&props, base, &inner) || tds_left(&b) > VARIANT_TEXT_MAX ||
	    (row->size > 0 && tds_left(&b) != row->size))
		return tds_read_bad_length(r);
	v = arena_alloc(r->arena, sizeof(*v));
	if (v == NULL)
		return err_nomem(r->reterr);
	if (row->read(r, &inner, b, v) < 0)
		return -1;
	*ret = (struct value){ .type = w->type, .u.variant = v };
	return 0;
}

static void put_text_props(struct tds_out *o, uint8_t token, const struct tds_form *f)
{
	bool collated = f->charset != CHARSET_BINARY;

	tds_put_u8(o, token);
	tds_put_u8(o, collated ? 7 : 2);
	if (collated)
		tds_put(o, tds_collation_default, sizeof(tds_collation_default));
	tds_put_u16(o, (uint16_t)f->max);
}

/* char … varbinary, at most 8000 bytes; no length before them: the whole has one. */
static void put_text(struct tds_out *o, enum type_id id, struct str s)
{
	bool wide = id == TYPE_NVARCHAR || id == TYPE_NCHAR,
	     binary = id == TYPE_BINARY || id == TYPE_VARBINARY;
	struct tds_form f = { .max = VARIANT_TEXT_MAX,
			      .charset = wide     ? CHARSET_UTF16
					 : binary ? CHARSET_BINARY
						  : CHARSET_1252 };
	uint8_t piece[TDS_PIECE];

	if (wide)
		s.n = utf8_prefix(s.p, s.n, VARIANT_TEXT_MAX / 2);
	else if (binary)
		s.n = s.n <= VARIANT_TEXT_MAX ? s.n : VARIANT_TEXT_MAX;
	else
		s.n = utf8_prefix(s.p, s.n, VARIANT_TEXT_MAX);
	put_text_props(o, base_by_type(id)->token, &f);
	while (s.n > 0 && !tds_out_failed(o)) {
		size_t n = tds_next_piece(&s, f.charset, piece);
		tds_put(o, piece, n);
	}
}

/* Decimals always in 17 bytes: SqlClient's reader of output values insists. */
static void put_small(struct tds_out *o, const struct base *base, const struct value *v)
{
	struct type t = v->type;
	uint8_t bytes[TDS_SMALL_MAX];
	size_t n;

	if (base->props == 2)
		t.precision = 38;
	n = tds_encode_small(&t, v, bytes);
	if (n == 0) {
		tds_out_fail(o);
		return;
	}
	tds_put_u8(o, base->token);
	tds_put_u8(o, base->props);
	if (base->props == 2)
		tds_put_u8(o, v->type.precision);
	if (base->props > 0)
		tds_put_u8(o, v->type.scale);
	tds_put(o, bytes, n);
}

static bool is_moment(enum type_id id)
{
	return id == TYPE_DATE || id == TYPE_TIME || id == TYPE_DATETIME2 || id == TYPE_DATETIMEOFFSET;
}

/* What a variant cannot hold goes as its nearest relative. */
static enum type_id storable(enum type_id id)
{
	switch (id) {
	case TYPE_TEXT: return TYPE_VARCHAR;
	case TYPE_NTEXT:
	case TYPE_XML: return TYPE_NVARCHAR;
	case TYPE_IMAGE: return TYPE_VARBINARY;
	default: return id;
	}
}

void tds_put_variant(struct tds_out *o, const struct value *v)
{
	const struct base *base = base_by_type(storable(v->type.id));
	struct tds_length l;
	char text[64];

	if (v->null || v->type.id == TYPE_NULL) {
		tds_put_u32(o, 0);
		return;
	}
	if (base == NULL) {
		tds_out_fail(o);
		return;
	}
	l = tds_length_begin(o, 4);
	if (is_moment(v->type.id) && o->version < TDS_73A)
		put_text(o, TYPE_NVARCHAR, (struct str){ text, datetime_format(v, text, sizeof(text)) });
	else if (type_info(base->type_id)->is_text || type_info(base->type_id)->is_binary)
		put_text(o, base->type_id, v->type.id == TYPE_XML ? tds_xml_text(v->u.s) : v->u.s);
	else
		put_small(o, base, v);
	tds_length_end(o, &l, 1);
}
