/* plp.c — partially length-prefixed bytes [MS-TDS] 2.2.5.2.3: a total (or "unknown"), then
 * chunks, then an empty chunk. Coming in, the chunks are moved together where they lie: the
 * value becomes one slice of the message without a second copy. Going out, the total is always
 * told and chunks are small: tedious copies its buffer again for every packet of an unfinished
 * chunk. */
#include <string.h>

#include "tds/tds_int.h"

#define PLP_NULL UINT64_MAX
#define PLP_UNKNOWN (UINT64_MAX - 1)

static int bad_chunks(struct tds_read *r)
{
	return err_set(r->reterr, ERR_RPC_CHUNKS, r->index, r->name, r->token);
}

static int join_chunks(struct tds_read *r, struct tds_cursor *c, uint64_t total, struct tds_cursor *ret)
{
	uint8_t *first = NULL; /* in the message, which the caller lends us for writing */
	size_t sum = 0;

	for (;;) {
		struct tds_cursor chunk;
		uint32_t n;

		if (!tds_get_u32(c, &n))
			return tds_read_ended(r);
		if (n == 0)
			break;
		if (n > r->limits->max_value || sum > r->limits->max_value - n)
			return tds_read_too_large(r);
		if (!tds_get_slice(c, n, &chunk))
			return tds_read_ended(r);
		if (first == NULL)
			first = (uint8_t *)(uintptr_t)chunk.pos;
		else
			memmove(first + sum, chunk.pos, n);
		sum += n;
	}
	if (total != PLP_UNKNOWN && total != sum)
		return bad_chunks(r);
	*ret = first == NULL ? (struct tds_cursor){ c->pos, c->pos } : tds_cursor_of(first, sum);
	return 0;
}

int tds_get_plp(struct tds_read *r, struct tds_cursor *c, struct tds_cursor *ret, bool *ret_null)
{
	uint64_t total;

	if (!tds_get_u64(c, &total))
		return tds_read_ended(r);
	*ret_null = total == PLP_NULL;
	if (*ret_null)
		return 0;
	if (total != PLP_UNKNOWN && total > r->limits->max_value)
		return tds_read_too_large(r);
	return join_chunks(r, c, total, ret);
}

static void put_chunks(struct tds_out *o, struct str s, enum tds_charset cs)
{
	uint8_t piece[TDS_PIECE];

	if (cs == CHARSET_BINARY && tds_put_large(o, s))
		return;
	if (cs == CHARSET_BINARY || cs == CHARSET_UTF8) {
		/* nothing to convert: straight from where it lies */
		tds_out_expect(o, s.n);
		for (; s.n > 0 && !tds_out_failed(o);) {
			size_t n = s.n < TDS_PIECE ? s.n : TDS_PIECE;
			tds_put_u32(o, (uint32_t)n);
			tds_put(o, s.p, n);
			s.p += n;
			s.n -= n;
		}
		return;
	}
	while (s.n > 0 && !tds_out_failed(o)) {
		size_t n = tds_next_piece(&s, cs, piece);
		if (n == 0)
			continue;
		tds_put_u32(o, (uint32_t)n);
		tds_put(o, piece, n);
	}
}

void tds_put_plp(struct tds_out *o, struct str s, enum tds_charset cs)
{
	tds_put_u64(o, tds_pieces_length(s, cs));
	put_chunks(o, s, cs);
	tds_put_u32(o, 0);
}
