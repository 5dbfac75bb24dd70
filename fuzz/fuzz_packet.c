/* fuzz_packet.c — a stream of packets, arriving in pieces. Input: BYTE how it is cut, then the
 * stream. */
#include <string.h>

#include "fuzz.h"
#include "tds/packet.h"

/* One packet off what has arrived, into the message. False: not now, or never again. */
static bool step(struct tds_cursor *c, struct tds_message *m)
{
	struct tds_cursor before = *c;
	struct tds_packet p;
	enum tds_status st = tds_get_packet(c, TDS_PACKET_MAX, &p);

	if (st != TDS_OK) {
		HOLDS(c->pos == before.pos);
		return false;
	}
	HOLDS((size_t)(c->pos - before.pos) == p.length && tds_left(&p.body) + TDS_HEADER_LEN == p.length);
	switch (tds_message_add(m, &p)) {
	case TDS_MORE: HOLDS(m->started); return true;
	case TDS_OK:
		HOLDS(!m->started && m->body.len <= m->body.max && (!m->too_big || m->body.len == 0));
		return true;
	default: return false;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tds_message m;
	struct tds_cursor c;
	size_t piece, end;

	if (size < 1)
		return 0;
	piece = (size_t)data[0] + 1;
	data++, size--;
	tds_message_init(&m, 4096);
	c = tds_cursor_of(data, 0);
	for (end = 0; end < size;) {
		end += piece < size - end ? piece : size - end;
		c.end = data + end;
		while (step(&c, &m))
			;
	}
	tds_message_fini(&m);
	return 0;
}
