/* tvp.c — table-valued parameters [MS-TDS] 2.2.5.5.5.3. We have no table types: the whole is
 * read to its end, so that a broken stream is told from a wish that we cannot fulfil. */
#include "tds/tds_int.h"

#define COLUMNS_MAX 1024
#define COLUMNS_NULL 0xFFFF
#define FLAG_DEFAULT 0x0200 /* no data in the rows */

enum { TVP_END = 0x00, TVP_ROW = 0x01, TVP_ORDER_UNIQUE = 0x10, TVP_COLUMN_ORDERING = 0x11 };

static bool skip_b_varchar(struct tds_cursor *c)
{
	uint8_t n;

	return tds_get_u8(c, &n) && tds_skip(c, 2 * (size_t)n);
}

/* Columns that have data in the rows go to cols. */
static int get_columns(struct tds_read *r, struct tds_cursor *c, uint16_t count, struct tds_typed *cols,
		       size_t *ret_n)
{
	size_t n = 0;

	for (uint16_t i = 0; i < count; i++) {
		uint16_t flags;

		if (!tds_skip(c, 4) || !tds_get_u16(c, &flags))
			return tds_read_ended(r);
		if (tds_get_type_info(r, c, &cols[n]) < 0)
			return -1;
		/* A value of no bytes at all would let a row of one byte cost a thousand steps. */
		if (cols[n].prefix == PREFIX_NONE && cols[n].size == 0)
			return tds_read_bad_type(r);
		if (!skip_b_varchar(c))
			return tds_read_ended(r);
		if ((flags & FLAG_DEFAULT) == 0)
			n++;
	}
	*ret_n = n;
	return 0;
}

/* The optional lists between columns and rows, up to and with the 00. */
static bool skip_options(struct tds_cursor *c)
{
	uint8_t token;
	uint16_t n;

	for (;;) {
		if (!tds_get_u8(c, &token))
			return false;
		if (token == TVP_END)
			return true;
		if ((token != TVP_ORDER_UNIQUE && token != TVP_COLUMN_ORDERING) || !tds_get_u16(c, &n) ||
		    !tds_skip(c, (size_t)n * (token == TVP_ORDER_UNIQUE ? 3 : 2)))
			return false;
	}
}

static int skip_rows(struct tds_read *r, struct tds_cursor *c, const struct tds_typed *cols, size_t n)
{
	struct tds_cursor ignored;
	uint8_t token;
	bool null;

	for (;;) {
		if (!tds_get_u8(c, &token))
			return tds_read_ended(r);
		if (token == TVP_END)
			return 0;
		if (token != TVP_ROW)
			return tds_read_bad_type(r);
		for (size_t i = 0; i < n; i++) {
			r->token = cols[i].wire.token;
			if (tds_get_framed(r, c, &cols[i], &ignored, &null) < 0)
				return -1;
		}
	}
}

int tds_skip_tvp(struct tds_read *r, struct tds_cursor *c)
{
	struct tds_typed *cols = NULL;
	uint16_t count;
	size_t n = 0;

	if (!skip_b_varchar(c) || !skip_b_varchar(c) || !skip_b_varchar(c) || !tds_get_u16(c, &count))
		return tds_read_ended(r);
	if (count != COLUMNS_NULL) {
		if (count > COLUMNS_MAX)
			return tds_read_bad_length(r);
		cols = arena_array(r->arena, count, sizeof(*cols));
		if (cols == NULL)
			return err_nomem(r->reterr);
		if (get_columns(r, c, count, cols, &n) < 0)
			return -1;
	}
	if (!skip_options(c))
		return tds_read_ended(r);
	return skip_rows(r, c, cols, n);
}
