/* token_row.c — ROW [MS-TDS] 2.2.7.17, the hot path: integers, short text and the like are
 * written where they will be sent from, as long as the packet has room for them; everything else
 * takes the general way, which gives the same bytes. */
#include <string.h>

#include "base/utf.h"
#include "tds/tds_int.h"
#include "tds/token.h"

#define TEXT_QUICK 2048 /* bytes of UTF-8 */

static const bool quick_small[TYPE_COUNT] = {
	[TYPE_BIT] = true,    [TYPE_TINYINT] = true, [TYPE_SMALLINT] = true, [TYPE_INT] = true,
	[TYPE_BIGINT] = true, [TYPE_GUID] = true,    [TYPE_DATETIME] = true,
};

/* False: not written. */
static bool put_quick_small(struct tds_out *o, const struct column *col, const struct value *v)
{
	uint8_t *p = tds_out_room(o, 1 + TDS_SMALL_MAX);
	bool length = col->nullable || col->type.id == TYPE_GUID;
	size_t n;

	if (p == NULL)
		return false;
	if (v->null) {
		if (!length)
			return false;
		*p = 0;
		tds_out_took(o, 1);
		return true;
	}
	if (v->type.id != col->type.id)
		return false;
	n = tds_encode_small(&col->type, v, p + length);
	if (n == 0)
		return false;
	if (length)
		*p = (uint8_t)n;
	tds_out_took(o, n + length);
	return true;
}

static bool put_quick_text(struct tds_out *o, const struct column *col, const struct value *v)
{
	bool wide = col->type.id == TYPE_NVARCHAR;
	size_t max = (size_t)col->type.length * (wide ? 2 : 1), n;
	uint8_t *p;

	if (col->type.length < 1) /* (max): by version */
		return false;
	if (v->null) {
		tds_put_u16(o, 0xFFFF);
		return true;
	}
	if (v->type.id != col->type.id || v->u.s.n > TEXT_QUICK)
		return false;
	p = tds_out_room(o, 2 + v->u.s.n * (wide ? 2 : 1));
	if (p == NULL)
		return false;
	if (wide)
		n = utf16le_from_utf8(p + 2, v->u.s.p, v->u.s.n);
	else
		n = cp1252_from_utf8(p + 2, v->u.s.p, v->u.s.n, NULL);
	if (n > max) /* to be cut at a character: nothing has been taken yet */
		return false;
	tds_encode_le(p, n, 2);
	tds_out_took(o, n + 2);
	return true;
}

static bool put_quick(struct tds_out *o, const struct column *col, const struct value *v)
{
	if (quick_small[col->type.id])
		return put_quick_small(o, col, v);
	if (col->type.id == TYPE_NVARCHAR || col->type.id == TYPE_VARCHAR)
		return put_quick_text(o, col, v);
	return false;
}

void tds_put_row(struct tds_out *o, const struct column *cols, const struct value *vals, size_t n)
{
	tds_put_u8(o, TDS_TOKEN_ROW);
	for (size_t i = 0; i < n; i++) {
		struct tds_form f;

		if (put_quick(o, &cols[i], &vals[i]))
			continue;
		f = tds_form_of(o, &cols[i].type, cols[i].nullable, PLACE_COLUMN);
		tds_put_value(o, &f, &vals[i]);
	}
}
