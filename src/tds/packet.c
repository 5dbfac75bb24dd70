/* packet.c — the 8-byte header that every packet begins with [MS-TDS] 2.2.3.1. */
#include "tds/packet.h"

#include <assert.h>

enum tds_status tds_get_packet(struct tds_cursor *in, size_t limit, struct tds_packet *ret)
{
	struct tds_cursor c = *in;
	struct tds_packet p = { 0 };

	if (tds_left(&c) < TDS_HEADER_LEN)
		return TDS_MORE;
	p.type = c.pos[0];
	p.flags = c.pos[1];
	p.length = (uint16_t)(c.pos[2] << 8 | c.pos[3]); /* big-endian, unlike the tokens */
	if (p.length < TDS_HEADER_LEN)
		return TDS_MALFORMED;
	if (p.length > limit)
		return TDS_TOO_BIG;
	if (!tds_get_slice(&c, p.length, &p.body))
		return TDS_MORE;
	assert(tds_left(&p.body) == p.length);
	p.body.pos += TDS_HEADER_LEN;
	*in = c;
	*ret = p;
	return TDS_OK;
}
