/* type_read.c — one value off the wire: first its framing (length, chunks, NULL), then the codec
 * of its type. */
#include "tds/tds_int.h"

int tds_read_ended(struct tds_read *r)
{
	return err_set(r->reterr, ERR_STREAM_ENDED);
}

int tds_read_bad_type(struct tds_read *r)
{
	return err_set(r->reterr, ERR_RPC_TYPE, r->index, r->name, r->token);
}

int tds_read_bad_length(struct tds_read *r)
{
	return err_set(r->reterr, ERR_RPC_LENGTH, r->index, r->name, r->token);
}

int tds_read_bad_value(struct tds_read *r, enum type_id id)
{
	return err_set(r->reterr, ERR_RPC_VALUE, r->index, r->name, type_info(id)->name);
}

int tds_read_too_large(struct tds_read *r)
{
	return err_set(r->reterr, ERR_TOO_LARGE, r->name[0] != '\0' ? r->name : "A parameter",
		       (unsigned long long)r->limits->max_value, "max_value_size");
}

/* n bytes, of which no more than the type allows. */
static int get_counted(struct tds_read *r, struct tds_cursor *c, size_t n, size_t max, struct tds_cursor *ret)
{
	if (n > max)
		return tds_read_bad_length(r);
	return tds_get_slice(c, n, ret) ? 0 : tds_read_ended(r);
}

static int get_u8_framed(struct tds_read *r, struct tds_cursor *c, const struct tds_typed *t,
			 struct tds_cursor *ret, bool *ret_null)
{
	uint8_t n;

	if (!tds_get_u8(c, &n))
		return tds_read_ended(r);
	*ret_null = n == 0;
	return get_counted(r, c, n, t->max, ret);
}

static int get_u16_framed(struct tds_read *r, struct tds_cursor *c, const struct tds_typed *t,
			  struct tds_cursor *ret, bool *ret_null)
{
	uint16_t n;

	if (!tds_get_u16(c, &n))
		return tds_read_ended(r);
	*ret_null = n == 0xFFFF;
	return *ret_null ? 0 : get_counted(r, c, n, t->max, ret);
}

/* text, ntext, image: jTDS states the maximum of ntext in characters, so the stated maximum is
 * not believed. */
static int get_u32_framed(struct tds_read *r, struct tds_cursor *c, uint32_t null, struct tds_cursor *ret,
			  bool *ret_null)
{
	uint32_t n;

	if (!tds_get_u32(c, &n))
		return tds_read_ended(r);
	*ret_null = n == null;
	if (*ret_null)
		return 0;
	if (n > INT32_MAX)
		return tds_read_bad_length(r);
	if (n > r->limits->max_value)
		return tds_read_too_large(r);
	return get_counted(r, c, n, INT32_MAX, ret);
}

int tds_get_framed(struct tds_read *r, struct tds_cursor *c, const struct tds_typed *t,
		   struct tds_cursor *ret, bool *ret_null)
{
	*ret_null = false;
	*ret = (struct tds_cursor){ c->pos, c->pos };
	switch ((enum tds_prefix)t->prefix) {
	case PREFIX_NONE: return get_counted(r, c, t->size, t->size, ret);
	case PREFIX_U8: return get_u8_framed(r, c, t, ret, ret_null);
	case PREFIX_U16: return get_u16_framed(r, c, t, ret, ret_null);
	case PREFIX_U32: return get_u32_framed(r, c, UINT32_MAX, ret, ret_null);
	case PREFIX_U32_NULL0: return get_u32_framed(r, c, 0, ret, ret_null);
	case PREFIX_PLP: return tds_get_plp(r, c, ret, ret_null);
	}
	return tds_read_bad_type(r);
}

int tds_get_value(struct tds_read *r, struct tds_cursor *c, const struct tds_typed *t, struct value *ret)
{
	struct tds_cursor b;
	bool null;

	if (tds_get_framed(r, c, t, &b, &null) < 0)
		return -1;
	if (null) {
		value_set_null(ret, t->wire.type);
		return 0;
	}
	if (tds_left(&b) > r->limits->max_value)
		return tds_read_too_large(r);
	return tds_type_row(t->wire.token)->read(r, &t->wire, b, ret);
}
