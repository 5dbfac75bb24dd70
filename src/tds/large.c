/* large.c — a large value leaves from where it lies (zero-copy). On the wire it is cut twice: into
 * chunks with their lengths (PLP), and these into packets with their headers. The lengths are known
 * in advance, so all packets that hold nothing but the value can be made when their turn to be sent
 * comes: they are one generated piece of the output. What the value has in the packet before them
 * and in the packet behind them is copied like any other bytes. */
#include <stdlib.h>

#include "tds/tds_int.h"

#define CHUNK_HEAD sizeof(uint32_t)

/* The value as chunks, read from the front, a run of bytes at a time. */
struct chunks {
	struct str value;         /* what is left of it */
	size_t chunk;             /* what is left of the chunk that has begun */
	uint8_t head[CHUNK_HEAD]; /* its length on the wire */
	size_t head_left;         /* bytes of head that have not been read yet */
};

/* The next run: bytes of a chunk's length, or of the value, at most max of them. */
static struct str next_run(struct chunks *c, size_t max, bool *ret_is_head)
{
	struct str run;

	assert(max > 0);
	if (c->chunk == 0) {
		assert(c->value.n > 0 && c->head_left == 0);
		c->chunk = c->value.n < TDS_PIECE ? c->value.n : TDS_PIECE;
		tds_encode_le(c->head, c->chunk, CHUNK_HEAD);
		c->head_left = CHUNK_HEAD;
	}
	*ret_is_head = c->head_left > 0;
	if (*ret_is_head) {
		run.p = (const char *)c->head + CHUNK_HEAD - c->head_left;
		run.n = c->head_left < max ? c->head_left : max;
		c->head_left -= run.n;
		return run;
	}
	run.p = c->value.p;
	run.n = c->chunk < max ? c->chunk : max;
	c->value.p += run.n;
	c->value.n -= run.n;
	c->chunk -= run.n;
	return run;
}

/* All chunks of n bytes with their lengths. */
static size_t chunks_size(size_t n)
{
	return n + (n + TDS_PIECE - 1) / TDS_PIECE * CHUNK_HEAD;
}

/* The chunks of s after so many bytes of them have been read. */
static struct chunks chunks_behind(struct str s, size_t read)
{
	size_t whole = read / (CHUNK_HEAD + TDS_PIECE), begun = read % (CHUNK_HEAD + TDS_PIECE);
	struct chunks c = { .value = { s.p + whole * TDS_PIECE, s.n - whole * TDS_PIECE } };
	bool is_head;

	assert(whole * TDS_PIECE <= s.n);
	while (begun > 0)
		begun -= next_run(&c, begun, &is_head).n;
	return c;
}

/* The generated piece: whole packets of the value. */
struct large {
	struct output_source source;
	struct chunks chunks;
	struct tds_packet_head head; /* of the next packet; all have the same length */
	struct tds_out *out;         /* counts what was lent, and outlives it */
	struct budget *budget;       /* that this struct is counted in */
};

/* Runs of one packet that are lent: parts of chunks, of which the first and the last are cut. */
#define RUNS_OF_A_PACKET ((size_t)TDS_PACKET_MAX / TDS_PIECE + 2)
_Static_assert(RUNS_OF_A_PACKET <= OUTPUT_PIECES_MIN, "a packet must fit into a batch");

static void make_packet(struct large *l, struct output *to)
{
	uint8_t header[TDS_HEADER_LEN];
	size_t room = l->head.length - sizeof(header);

	tds_encode_header(&l->head, header);
	l->head.id++;
	buf_put(&to->bytes, header, sizeof(header));
	while (room > 0) {
		bool is_head;
		struct str run = next_run(&l->chunks, room, &is_head);

		if (is_head)
			buf_put(&to->bytes, run.p, run.n);
		else
			output_lend(to, run);
		room -= run.n;
	}
}

static void make(struct output_source *src, struct output *to, size_t max_pieces)
{
	struct large *l = CONTAINER_OF(src, struct large, source);

	while (src->left > 0 && to->npieces + RUNS_OF_A_PACKET <= max_pieces && !to->bytes.failed) {
		assert(src->left >= l->head.length);
		make_packet(l, to);
		src->left -= l->head.length;
	}
}

static void release(struct output_source *src)
{
	struct large *l = CONTAINER_OF(src, struct large, source);

	assert(l->out->lent > 0);
	l->out->lent--;
	budget_give(l->budget, sizeof(*l));
	free(l);
}

static struct large *large_new(struct tds_out *o)
{
	struct budget *account = o->wire.bytes.budget;
	struct large *l;

	if (!budget_take(account, sizeof(*l)))
		return NULL;
	l = malloc(sizeof(*l));
	if (l == NULL) {
		budget_give(account, sizeof(*l));
		return NULL;
	}
	*l = (struct large){ .source = { .make = make, .release = release }, .out = o, .budget = account };
	o->lent++;
	return l;
}

/* n bytes of the chunks go the way of all other bytes. */
static void copy(struct tds_out *o, struct chunks *c, size_t n)
{
	while (n > 0 && !tds_out_failed(o)) {
		bool is_head;
		struct str run = next_run(c, n, &is_head);

		tds_put(o, run.p, run.n);
		n -= run.n;
	}
}

/* Something always follows the generated packets, because the last packet of a message says that it
 * is the last, and they do not. */
bool tds_put_large(struct tds_out *o, struct str s)
{
	size_t size = chunks_size(s.n), before = tds_out_packet_room(o),
	       in_packet = o->packet_size - TDS_HEADER_LEN,
	       npackets = size > before ? (size - before - 1) / in_packet : 0;
	struct chunks c = { .value = s };
	struct large *l;

	if (o->lends == 0 || s.n < o->lends || npackets == 0 || !tds_out_may_lend(o))
		return false;
	l = large_new(o);
	if (l == NULL)
		return false;
	copy(o, &c, before);
	l->chunks = c;
	if (tds_out_insert_packets(o, &l->source, npackets, &l->head)) {
		c = chunks_behind(s, before + npackets * in_packet);
		before += npackets * in_packet;
	} else {
		release(&l->source);
	}
	copy(o, &c, size - before);
	return true;
}
