/* out.c — bytes → packets. Everything is written once, into the send buffer: the header of a packet is left empty when it begins and filled
 * when the next byte finds it full, or the message ends. So no packet but an empty message's is ever empty, and no length is known
 * in advance.
 *
 * A large value may be lent: it is not written when it is put. What follows it is kept apart, without packets, until the value's turn has come. Then it is copied into
 * packets piece by piece, or the packets are given out as slices: their headers from here, the value from where it lies. */
#include "tds/out.h"

#include <assert.h>
#include <string.h>

#include "base/utf.h"
#include "tds/tds_int.h"

#define B_VARCHAR_MAX 255
#define US_VARCHAR_MAX 65535
#define ROOM_MIN ((size_t)4096)
#define SLICES_OF_A_PACKET \
	(2 * (TDS_PACKET_MAX / TDS_PIECE + 2) + \
	 1) /* pieces of chunks, what lies between them, and what comes last */

void tds_out_init(struct tds_out *o, size_t max)
{
	*o = (struct tds_out){ .packet_size = TDS_PACKET_DEFAULT, .version = TDS_74, .server_name = "" };
	buf_init(&o->wire, max);
}

void tds_out_fini(struct tds_out *o)
{
	buf_fini(&o->wire);
	buf_fini(&o->rest);
	buf_fini(&o->front.wire);
}

/* What the current packet may still take, wherever it lies. */
static size_t packet_room(const struct tds_out *o)
{
	return o->packet_start + o->packet_size - o->outside - o->wire.len;
}

/* Memory for more of the current packet: all that the buffer has, and some in any case. Up to there writing needs one comparison. A packet may be large and its answer small:
 * so not for all of it. */
static bool extend_packet(struct tds_out *o)
{
	size_t left = o->wire.len < o->wire.max ? o->wire.max - o->wire.len : 0, want = packet_room(o);

	if (want > left)
		want = left;
	if (want == 0 || buf_reserve(&o->wire, want < ROOM_MIN ? want : ROOM_MIN) == NULL) {
		tds_out_fail(o);
		return false;
	}
	o->limit = o->wire.len + (want < o->wire.cap - o->wire.len ? want : o->wire.cap - o->wire.len);
	return true;
}

static bool open_packet(struct tds_out *o)
{
	size_t header = o->apart ? 0 : TDS_HEADER_LEN;

	o->packet_start = o->limit = o->wire.len;
	o->outside = 0;
	if (!extend_packet(o))
		return false;
	if (o->limit - o->wire.len < header) {
		tds_out_fail(o);
		return false;
	}
	o->wire.len += header;
	return true;
}

static void close_packet(struct tds_out *o, uint8_t status)
{
	size_t n = o->wire.len - o->packet_start + o->outside;
	const uint8_t header[TDS_HEADER_LEN] = {
		o->message_type,         status,           (uint8_t)(n >> 8), (uint8_t)n,
		(uint8_t)(o->spid >> 8), (uint8_t)o->spid, o->packet_id,      0,
	};

	memcpy(o->wire.data + o->packet_start, header, sizeof(header));
	o->packet_id++;
}

/* Finished packets leave, unless a length among them is still to be filled in. */
static bool flush_finished(struct tds_out *o)
{
	if (o->flush == NULL || o->holds > 0 || o->wire.len < o->flush_at)
		return true;
	o->flushes++;
	if (o->flush(o, o->flush_arg) < 0) {
		o->gone = true;
		tds_out_fail(o);
		return false;
	}
	o->wire.len = 0;
	return true;
}

size_t tds_out_shed(struct tds_out *o, void (*fn)(const uint8_t *p, size_t n, void *arg), void *arg)
{
	size_t n = o->packet_start;

	if (!o->open || o->apart || o->more || o->holds > 0 || o->wire.failed || n == 0)
		return 0;
	assert(o->outside == 0);
	fn(o->wire.data, n, arg);
	buf_consume(&o->wire, n);
	o->packet_start = 0;
	o->limit -= n;
	o->flushes++;
	return n;
}

/* More room: in this packet, or in the next. */
static bool next_packet(struct tds_out *o)
{
	if (packet_room(o) > 0) /* not the packet is full but its memory */
		return extend_packet(o);
	if (o->apart)
		return open_packet(o);
	close_packet(o, 0);
	return flush_finished(o) && open_packet(o);
}

void tds_out_begin(struct tds_out *o, uint8_t type)
{
	assert(!o->open && o->packet_size > TDS_HEADER_LEN && o->packet_size <= TDS_PACKET_MAX);
	o->message_type = type;
	o->packet_id = 1;
	o->payload = 0;
	o->holds = 0;
	assert(!o->more && !o->apart);
	o->open = true;
	if (!o->wire.failed)
		open_packet(o);
}

/* What n bytes of a value become in chunks and packets, at most. */
static size_t wire_size(const struct tds_out *o, size_t n)
{
	size_t chunks = n + (n / TDS_PIECE + 1) * sizeof(uint32_t);

	return chunks + (chunks / (o->packet_size - TDS_HEADER_LEN) + 1) * TDS_HEADER_LEN;
}

/* Where all of it is kept until the message ends, a large value would otherwise be moved again and again while the buffer grows. */
void tds_out_expect(struct tds_out *o, size_t n)
{
	size_t want = wire_size(o, n);

	if (o->flush == NULL && !o->wire.failed && o->wire.len < o->wire.max &&
	    want <= o->wire.max - o->wire.len)
		if (buf_reserve(&o->wire, want) == NULL)
			return; /* the message has failed */
}

bool tds_out_lend(struct tds_out *o, struct str s)
{
	size_t left = o->wire.max - o->wire.len, n = wire_size(o, s.n);

	if (o->lends == 0 || s.n < o->lends || o->apart || o->holds > 0 || o->wire.failed || n > left)
		return false;
	o->lent = s;
	o->flushes++;
	o->front = (struct tds_front){ o->wire, o->packet_start, o->limit };
	o->apart = true;
	buf_init(&o->wire, left - n);
	buf_charge(&o->wire, o->front.wire.budget);
	open_packet(o);
	return true;
}

/* All has been put: wire is again what comes first. */
static void join(struct tds_out *o)
{
	o->rest = o->wire;
	o->wire = o->front.wire;
	o->packet_start = o->front.packet_start;
	o->limit = o->front.limit;
	buf_init(&o->front.wire, 0);
	o->apart = false;
	o->more = true;
	if (o->rest.failed)
		tds_out_fail(o);
}

/* The value is in packets; what was put behind it follows. */
static void end_lent(struct tds_out *o)
{
	tds_put(o, o->rest.data, o->rest.len);
	buf_fini(&o->rest);
	o->lent = (struct str){ NULL, 0 };
	o->more = false;
	tds_out_end(o);
}

bool tds_out_more(struct tds_out *o)
{
	size_t n = o->lent.n < TDS_PIECE ? o->lent.n : TDS_PIECE;

	assert(o->more);
	if (n > 0 && !o->wire.failed) {
		tds_put_u32(o, (uint32_t)n);
		tds_put(o, o->lent.p, n);
		o->lent.p += n;
		o->lent.n -= n;
		return true;
	}
	end_lent(o);
	return false;
}

/* What wire has behind the last slice is one too; where it will lie is not known before wire has stopped growing. */
static size_t slice_wire(const struct tds_out *o, struct str *slices, size_t n, size_t *from)
{
	if (o->wire.len > *from)
		slices[n++] = (struct str){ NULL, o->wire.len - *from };
	*from = o->wire.len;
	return n;
}

static void find_wire(const struct tds_out *o, struct str *slices, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		if (slices[i].p == NULL) {
			slices[i].p = (const char *)o->wire.data + at;
			at += slices[i].n;
		}
	}
}

static void begin_chunk(struct tds_out *o)
{
	o->chunk = o->lent.n < TDS_PIECE ? o->lent.n : TDS_PIECE;
	tds_encode_le(o->chunk_head, o->chunk, sizeof(o->chunk_head));
	o->chunk_head_left = sizeof(o->chunk_head);
}

/* As much of its length as the packet has room for. */
static void put_chunk_head(struct tds_out *o)
{
	size_t room = packet_room(o), n = o->chunk_head_left < room ? o->chunk_head_left : room;

	tds_put(o, o->chunk_head + sizeof(o->chunk_head) - o->chunk_head_left, n);
	o->chunk_head_left = (uint8_t)(o->chunk_head_left - n);
}

/* As much of the value as the packet and its chunk have room for. */
static struct str slice_lent(struct tds_out *o)
{
	size_t room = packet_room(o), k = o->chunk < room ? o->chunk : room;
	struct str slice = { o->lent.p, k };

	o->lent.p += k;
	o->lent.n -= k;
	o->chunk -= k;
	o->outside += k;
	if (o->limit - o->wire.len > room - k)
		o->limit = o->wire.len + room - k;
	o->payload += k;
	return slice;
}

size_t tds_out_slices(struct tds_out *o, struct str *slices, size_t max)
{
	size_t n = 0, from = 0;

	assert(o->more && o->flush == NULL && max >= TDS_SLICES_MIN);
	if (o->wire.len == 0 && !open_packet(o))
		return 0;
	while (o->lent.n > 0 && !o->wire.failed) {
		if (packet_room(o) ==
		    0) { /* the only place where a packet ends: here it is known that the slices of another have room */
			if (n + SLICES_OF_A_PACKET > max) {
				close_packet(o, 0);
				break; /* the next call begins with the next packet */
			}
			next_packet(o);
		} else if (o->chunk == 0) {
			begin_chunk(o);
		} else if (o->chunk_head_left > 0) {
			put_chunk_head(o);
		} else {
			n = slice_wire(o, slices, n, &from);
			slices[n++] = slice_lent(o);
		}
	}
	if (o->lent.n == 0)
		end_lent(o);
	n = slice_wire(o, slices, n, &from);
	find_wire(o, slices, n);
	return o->wire.failed ? 0 : n;
}

void tds_out_end(struct tds_out *o)
{
	assert(o->open && !o->more);
	if (o->apart) {
		join(o);
		return;
	}
	if (!o->wire.failed)
		close_packet(o, TDS_STATUS_EOM);
	o->open = false;
	o->packet_start = o->limit = o->wire.len;
	o->outside = 0;
	o->flushes++;
}

struct tds_mark tds_out_mark(const struct tds_out *o)
{
	return (struct tds_mark){ o->wire.len,  o->packet_start, o->payload,    o->flushes,
				  o->packet_id, o->open,         o->wire.failed };
}

bool tds_out_rewind(struct tds_out *o, const struct tds_mark *m)
{
	size_t end, room;

	if (m->flushes != o->flushes || o->gone || m->wire_len > o->wire.len)
		return false;
	o->wire.len = m->wire_len;
	o->wire.failed = m->failed;
	o->wire.denied &= m->failed;
	o->packet_start = m->packet_start;
	o->payload = m->payload;
	o->packet_id = m->packet_id;
	o->open = m->open;
	o->holds = 0;
	end = o->packet_start + o->packet_size;
	room = o->wire.cap < o->wire.max ? o->wire.cap : o->wire.max;
	o->limit = !o->open ? o->wire.len : end < room ? end : room;
	return true;
}

void tds_put(struct tds_out *o, const void *p, size_t n)
{
	const uint8_t *src = p;

	assert(o->open);
	while (n > 0 && !o->wire.failed) {
		size_t room = o->limit - o->wire.len, k = n < room ? n : room;

		if (room == 0) {
			if (!next_packet(o))
				return;
			continue;
		}
		assert(o->wire.data != NULL);
		memcpy(o->wire.data + o->wire.len, src, k);
		tds_out_took(o, k);
		src += k;
		n -= k;
	}
}

static void put_le(struct tds_out *o, uint64_t v, size_t n)
{
	uint8_t b[8], *room = tds_out_room(o, n);

	if (room != NULL) {
		tds_encode_le(room, v, n);
		tds_out_took(o, n);
		return;
	}
	tds_encode_le(b, v, n);
	tds_put(o, b, n);
}

void tds_put_u8(struct tds_out *o, uint8_t v)
{
	put_le(o, v, 1);
}
void tds_put_u16(struct tds_out *o, uint16_t v)
{
	put_le(o, v, 2);
}
void tds_put_u32(struct tds_out *o, uint32_t v)
{
	put_le(o, v, 4);
}
void tds_put_u64(struct tds_out *o, uint64_t v)
{
	put_le(o, v, 8);
}

void tds_put_b_varchar(struct tds_out *o, struct str s)
{
	uint8_t text[1 + 2 * 3 * B_VARCHAR_MAX], *room, *p;
	size_t n;

	if (s.n > B_VARCHAR_MAX) /* no more characters than bytes */
		s.n = utf8_prefix(s.p, s.n, B_VARCHAR_MAX);
	if (s.n > (sizeof(text) - 1) / 2)
		s.n = 0;
	room = tds_out_room(o, 1 + 2 * s.n);
	p = room != NULL ? room : text;
	n = utf16le_from_utf8(p + 1, s.p, s.n);
	p[0] = (uint8_t)(n / 2);
	if (room != NULL)
		tds_out_took(o, 1 + n);
	else
		tds_put(o, text, 1 + n);
}

void tds_put_us_varchar(struct tds_out *o, struct str s)
{
	struct tds_length l = tds_length_begin(o, 2);

	s.n = utf8_prefix(s.p, s.n, US_VARCHAR_MAX);
	tds_put_utf16(o, s);
	tds_length_end(o, &l, 2);
}

/* Zeros for now; where each of them stands is remembered singly, since a packet may end between two. */
struct tds_length tds_length_begin(struct tds_out *o, uint8_t width)
{
	struct tds_length l = { .width = width };

	o->holds++;
	for (uint8_t i = 0; i < width; i++) {
		tds_put_u8(o, 0);
		l.at[i] = o->wire.len - 1;
	}
	l.from = o->payload;
	return l;
}

void tds_length_end(struct tds_out *o, const struct tds_length *l, unsigned unit)
{
	uint64_t n = (o->payload - l->from) / unit;

	o->holds--;
	if (o->wire.failed)
		return;
	if (n >> 8 * l->width != 0) {
		tds_out_fail(o);
		return;
	}
	for (uint8_t i = 0; i < l->width; i++)
		o->wire.data[l->at[i]] = (uint8_t)(n >> 8 * i);
}
