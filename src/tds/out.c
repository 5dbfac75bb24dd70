/* out.c — bytes → packets. Everything is written once, into the output that is sent: the header of
 * a packet is left empty when it begins and filled when the next byte finds it full, or the message
 * ends. So no packet but an empty message's is ever empty, and no length is known in advance. */
#include "tds/out.h"

#include <assert.h>
#include <string.h>

#include "base/utf.h"
#include "tds/tds_int.h"

#define B_VARCHAR_MAX 255
#define US_VARCHAR_MAX 65535
#define ROOM_MIN ((size_t)4096)

void tds_out_init(struct tds_out *o, size_t max)
{
	*o = (struct tds_out){ .packet_size = TDS_PACKET_DEFAULT, .version = TDS_74, .server_name = "" };
	output_init(&o->wire, max);
}

void tds_out_fini(struct tds_out *o)
{
	output_fini(&o->wire);
	assert(o->lent == 0);
}

size_t tds_out_packet_room(const struct tds_out *o)
{
	assert(o->open && o->wire.bytes.len <= o->packet_start + o->packet_size);
	return o->packet_start + o->packet_size - o->wire.bytes.len;
}

/* Memory for more of the current packet: all that the buffer has, and some in any case. Up to there
 * writing needs one comparison. A packet may be large and its answer small: so not for all of
 * it. */
static bool extend_packet(struct tds_out *o)
{
	struct buf *b = &o->wire.bytes;
	size_t left = b->len < b->max ? b->max - b->len : 0, want = tds_out_packet_room(o);

	if (want > left)
		want = left;
	if (want == 0 || buf_reserve(b, want < ROOM_MIN ? want : ROOM_MIN) == NULL) {
		tds_out_fail(o);
		return false;
	}
	o->limit = b->len + (want < b->cap - b->len ? want : b->cap - b->len);
	return true;
}

static bool open_packet(struct tds_out *o)
{
	struct buf *b = &o->wire.bytes;

	o->packet_start = o->limit = b->len;
	if (!extend_packet(o))
		return false;
	if (o->limit - b->len < TDS_HEADER_LEN) {
		tds_out_fail(o);
		return false;
	}
	b->len += TDS_HEADER_LEN;
	return true;
}

static void close_packet(struct tds_out *o, uint8_t status)
{
	const struct tds_packet_head head = {
		.type = o->message_type,
		.status = status,
		.length = (uint16_t)(o->wire.bytes.len - o->packet_start),
		.spid = o->spid,
		.id = o->packet_id++,
	};

	assert(head.length >= TDS_HEADER_LEN && head.length <= o->packet_size);
	tds_encode_header(&head, o->wire.bytes.data + o->packet_start);
}

/* Finished packets leave, unless a length among them is still to be filled in. */
static bool flush_finished(struct tds_out *o)
{
	if (o->flush == NULL || o->holds > 0 || o->wire.bytes.len < o->flush_at)
		return true;
	o->departures++;
	if (o->flush(&o->wire, o->flush_arg) < 0) {
		o->gone = true;
		tds_out_fail(o);
		return false;
	}
	output_truncate(&o->wire, 0, 0);
	return true;
}

/* What is known of the current packet but its limit has been set. */
static void find_limit(struct tds_out *o)
{
	const struct buf *b = &o->wire.bytes;
	size_t end = o->packet_start + o->packet_size, room = b->cap < b->max ? b->cap : b->max;

	o->limit = !o->open ? b->len : end < room ? end : room;
	if (o->limit < b->len)
		o->limit = b->len;
}

bool tds_out_take_finished(struct tds_out *o, struct output *to)
{
	size_t begun = o->packet_start, rest = o->wire.bytes.len - begun;

	assert(output_length(to) == 0);
	if (!o->open || o->holds > 0 || tds_out_failed(o) || begun == 0)
		return false;
	if (buf_reserve(&to->bytes, rest) == NULL) { /* they stay, and leave another time */
		output_reset(to, 0);
		return false;
	}
	if (!output_append(to, &o->wire))
		return false;
	assert(to->npieces == 0 || to->pieces[to->npieces - 1].at <= begun);
	buf_put(&o->wire.bytes, to->bytes.data + begun, rest);
	output_truncate(to, begun, to->npieces);
	o->packet_start = 0;
	o->departures++;
	find_limit(o);
	return true;
}

/* More room: in this packet, or in the next. */
static bool next_packet(struct tds_out *o)
{
	if (tds_out_packet_room(o) > 0) /* not the packet is full but its memory */
		return extend_packet(o);
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
	o->open = true;
	if (!tds_out_failed(o))
		open_packet(o);
}

/* Where all of it is kept until the message ends, a large value would otherwise be moved again and
 * again while the buffer grows. n bytes become so many in chunks and packets, at most. */
void tds_out_expect(struct tds_out *o, size_t n)
{
	size_t chunks = n + (n / TDS_PIECE + 1) * sizeof(uint32_t),
	       want = chunks + (chunks / (o->packet_size - TDS_HEADER_LEN) + 1) * TDS_HEADER_LEN;
	struct buf *b = &o->wire.bytes;

	if (o->flush == NULL && !b->failed && b->len < b->max && want <= b->max - b->len)
		if (buf_reserve(b, want) == NULL)
			return; /* the message has failed */
}

bool tds_out_may_lend(const struct tds_out *o)
{
	return o->open && o->holds == 0 && o->flush == NULL && !tds_out_failed(o);
}

bool tds_out_insert_packets(struct tds_out *o, struct output_source *src, size_t n,
			    struct tds_packet_head *ret)
{
	if (tds_out_failed(o))
		return false;
	assert(o->holds == 0 && tds_out_packet_room(o) == 0);
	src->left = (uint64_t)n * o->packet_size;
	if (!output_generate(&o->wire, src))
		return false;
	close_packet(o, 0);
	*ret = (struct tds_packet_head){ .type = o->message_type,
					 .length = (uint16_t)o->packet_size,
					 .spid = o->spid,
					 .id = o->packet_id };
	o->packet_id = (uint8_t)(o->packet_id + n);
	o->payload += (uint64_t)n * (o->packet_size - TDS_HEADER_LEN);
	open_packet(o);
	return true;
}

void tds_out_end(struct tds_out *o)
{
	assert(o->open);
	if (!tds_out_failed(o)) {
		assert(o->holds == 0);
		close_packet(o, TDS_STATUS_EOM);
	}
	o->open = false;
	o->packet_start = o->limit = o->wire.bytes.len;
	o->departures++;
}

struct tds_mark tds_out_mark(const struct tds_out *o)
{
	return (struct tds_mark){ .nbytes = o->wire.bytes.len,
				  .npieces = o->wire.npieces,
				  .packet_start = o->packet_start,
				  .payload = o->payload,
				  .departures = o->departures,
				  .packet_id = o->packet_id,
				  .open = o->open,
				  .failed = tds_out_failed(o) };
}

bool tds_out_rewind(struct tds_out *o, const struct tds_mark *m)
{
	struct buf *b = &o->wire.bytes;

	if (m->departures != o->departures || o->gone || m->nbytes > b->len)
		return false;
	output_truncate(&o->wire, m->nbytes, m->npieces);
	b->failed = m->failed;
	b->denied &= m->failed;
	o->packet_start = m->packet_start;
	o->payload = m->payload;
	o->packet_id = m->packet_id;
	o->open = m->open;
	o->holds = 0;
	find_limit(o);
	return true;
}

void tds_put(struct tds_out *o, const void *p, size_t n)
{
	const uint8_t *src = p;

	assert(o->open);
	while (n > 0 && !tds_out_failed(o)) {
		size_t room = o->limit - o->wire.bytes.len, k = n < room ? n : room;

		if (room == 0) {
			if (!next_packet(o))
				return;
			continue;
		}
		assert(o->wire.bytes.data != NULL);
		memcpy(o->wire.bytes.data + o->wire.bytes.len, src, k);
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

/* Zeros for now; where each of them stands is remembered singly, since a packet may end between
 * two. */
struct tds_length tds_length_begin(struct tds_out *o, uint8_t width)
{
	struct tds_length l = { .width = width };

	assert(o->open && width <= sizeof(l.at) / sizeof(l.at[0]));
	o->holds++;
	for (uint8_t i = 0; i < width; i++) {
		tds_put_u8(o, 0);
		l.at[i] = o->wire.bytes.len - 1;
	}
	l.from = o->payload;
	return l;
}

void tds_length_end(struct tds_out *o, const struct tds_length *l, unsigned unit)
{
	uint64_t n = (o->payload - l->from) / unit;

	assert(o->holds > 0 && o->payload >= l->from);
	o->holds--;
	if (tds_out_failed(o))
		return;
	if (n >> 8 * l->width != 0) {
		tds_out_fail(o);
		return;
	}
	for (uint8_t i = 0; i < l->width; i++)
		o->wire.bytes.data[l->at[i]] = (uint8_t)(n >> 8 * i);
}
