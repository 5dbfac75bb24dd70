/* output.c — from the owner to the socket. There is one way: net_stream_send takes an output, a
 * list of owned, lent and generated pieces (base/output.h).
 *
 *   net_stream_send ─┬─ owned bytes only ─── encrypted at once if TLS is on ─┬─► the kernel
 *                    │                                                       └─► `wire`
 *                    └─ other pieces, and all that comes behind them ─► `waiting`
 *
 * `wire` has bytes as they go to the kernel. `waiting` has outputs whose turn comes when wire is
 * empty: then their next pieces are made, and in clear sent from where they lie, with TLS gathered
 * and encrypted. So a large value costs no memory here but that of a batch.
 *
 * Nothing here bounds the sum: the owner looks at net_stream_pending and stops reading requests
 * until drained(). */
#include "net/net.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/net_int.h"

#define CHUNK_SMALL ((size_t)16 * 1024)
/* memory comes back chunk by chunk while a large answer goes out */
#define CHUNK_LARGE ((size_t)256 * 1024)
/* Lent pieces of a batch that is sent in clear. There is at most one owned piece before each and
 * one behind them, and a system call takes 1024. */
#define BATCH_PIECES ((size_t)500)
#define BATCH_SLICES (2 * BATCH_PIECES + 1)
#define BATCH_PIECES_TLS ((size_t)64)
#define GATHER_SIZE ((size_t)65536)      /* encrypted with one call */
#define TURN_BYTES ((size_t)4 << 20)     /* then other streams of the loop have their turn */
#define BATCH_MAX ((size_t)SIZE_MAX / 2) /* a batch is bounded by its pieces */

struct net_chunk {
	struct net_chunk *next;
	struct output bytes;
	struct output_at at; /* in waiting: so much of it was taken for batches */
	size_t sent;         /* in wire: so many owned bytes had been sent before it was put there */
	uint64_t length;     /* what of it is not with the kernel yet */
	/* What was counted for it in the owner's account. What the owner gave away is counted
	 * already. */
	size_t counted;
	bool encrypted; /* in waiting: it is to be */
};

static void chunk_free(struct net_stream *s, struct net_chunk *c)
{
	budget_give(s->budget, c->counted);
	output_fini(&c->bytes);
	free(c);
}

static void queue_pop(struct net_stream *s, struct net_queue *q)
{
	struct net_chunk *c = q->first;

	assert(c != NULL && q->length >= c->length);
	q->first = c->next;
	if (q->first == NULL)
		q->last = NULL;
	q->length -= c->length;
	chunk_free(s, c);
}

/* A new last chunk. NULL: no memory, and the stream closes. */
static struct net_chunk *queue_add(struct net_stream *s, struct net_queue *q)
{
	struct net_chunk *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		net_stream_fail(s, "out of memory", NULL);
		return NULL;
	}
	if (q->first == NULL) {
		q->first = c;
	} else {
		assert(q->last != NULL);
		q->last->next = c;
	}
	q->last = c;
	return c;
}

static void queue_drop(struct net_stream *s, struct net_queue *q)
{
	while (q->first != NULL)
		queue_pop(s, q);
	assert(q->length == 0);
}

size_t net_stream_pending(const struct net_stream *s)
{
	uint64_t n = s->wire.length + s->waiting.length;

	if (s->writing) {
		assert(n >= s->in_flight);
		n += uv_stream_get_write_queue_size((const uv_stream_t *)&s->tcp) - s->in_flight;
	}
	return (size_t)n;
}

/* ---- wire: bytes for the kernel ---- */

/* The chunk that may take more bytes: the last, unless libuv has it. */
static struct net_chunk *open_chunk(struct net_stream *s, size_t n)
{
	struct net_queue *q = &s->wire;
	struct net_chunk *c = q->last;

	if (c != NULL && !(s->writing && q->first == c) && c->bytes.bytes.len < c->bytes.bytes.max)
		return c;
	c = queue_add(s, q);
	if (c != NULL) {
		output_init(&c->bytes, n < CHUNK_SMALL ? CHUNK_SMALL : n > CHUNK_LARGE ? CHUNK_LARGE : n);
		c->counted = c->bytes.max;
		budget_take_anyway(s->budget, c->counted); /* what is on its way cannot be refused */
	}
	return c;
}

static void wire_copy(struct net_stream *s, const uint8_t *p, size_t n)
{
	while (n > 0) {
		struct net_chunk *c = open_chunk(s, n);
		struct buf *b;
		size_t k;

		if (c == NULL)
			return;
		b = &c->bytes.bytes;
		k = n < b->max - b->len ? n : b->max - b->len;
		buf_put(b, p, k);
		if (b->failed) {
			net_stream_fail(s, "out of memory", NULL);
			return;
		}
		c->length += k;
		s->wire.length += k;
		p += k;
		n -= k;
	}
}

/* The owner's buffer becomes a chunk, where copying what is left of it would cost more than
 * that. */
static void wire_move(struct net_stream *s, struct output *o, size_t sent)
{
	struct net_chunk *c = queue_add(s, &s->wire);

	if (c == NULL)
		return;
	output_move(&c->bytes, o);
	c->bytes.bytes.max = c->bytes.bytes.len; /* full: what follows has chunks of its own */
	c->sent = sent;
	c->length = c->bytes.bytes.len - sent;
	s->wire.length += c->length;
}

/* As much as the kernel takes now, unless others wait before it. Returns how much that was.
 * libuv's own way for it, uv_try_write, comes down to a write to a file. */
static size_t write_now(struct net_stream *s, const uint8_t *p, size_t n)
{
	ssize_t sent;

	if (s->wire.first != NULL || s->writing)
		return 0;
	do
		sent = send(s->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		net_stream_fail(s, "write", strerror(errno));
	if (sent > 0)
		net_loop_count(&s->loop->sent, (uint64_t)sent);
	return sent > 0 ? (size_t)sent : 0;
}

static void start_write(struct net_stream *s);
static void go_on(struct net_stream *s);

void net_output_put(struct net_stream *s, const uint8_t *p, size_t n)
{
	size_t done;

	assert(net_loop_is_here(s->loop));
	if (!net_stream_sends(s) || n == 0)
		return;
	done = write_now(s, p, n);
	if (net_stream_sends(s))
		wire_copy(s, p + done, n - done);
	if (net_stream_sends(s))
		start_write(s);
}

/* Owned bytes in clear. */
static void put_output(struct net_stream *s, struct output *o)
{
	size_t n = o->bytes.len, done = write_now(s, o->bytes.data, n);

	if (!net_stream_sends(s))
		return;
	if (n - done < CHUNK_LARGE)
		wire_copy(s, o->bytes.data + done, n - done);
	else
		wire_move(s, o, done);
	if (net_stream_sends(s))
		start_write(s);
}

/* ---- libuv writes one thing at a time: the first chunk of wire, or a batch of waiting ---- */

static void on_written(uv_write_t *req, int status)
{
	struct net_stream *s = req->data;

	s->writing = false;
	if (status == 0)
		net_loop_count(&s->loop->sent, s->in_flight);
	if (s->writes_batch) {
		struct net_chunk *c = s->waiting.first;

		assert(c->length >= s->in_flight);
		c->length -= s->in_flight;
		s->waiting.length -= s->in_flight;
		output_fini(&s->batch);
		if (output_at_end(&c->bytes, &c->at))
			queue_pop(s, &s->waiting);
	} else {
		assert(s->wire.first->length == s->in_flight);
		queue_pop(s, &s->wire);
	}
	if (s->state == NET_CLOSING)
		return;
	if (status < 0)
		net_stream_fail(s, "write", uv_strerror(status));
	else
		go_on(s);
}

static void write_slices(struct net_stream *s, const uv_buf_t *slices, size_t n, uint64_t length, bool batch)
{
	int rc;

	assert(!s->writing && n > 0 && n <= BATCH_SLICES && length > 0);
	s->write_req.data = s;
	rc = uv_write(&s->write_req, (uv_stream_t *)&s->tcp, slices, (unsigned)n, on_written);
	if (rc < 0) {
		net_stream_fail(s, "write", uv_strerror(rc));
		return;
	}
	s->writing = true;
	s->writes_batch = batch;
	s->in_flight = length;
}

/* The next pieces of the first output that waits, from where they lie. */
static void write_batch(struct net_stream *s)
{
	struct net_chunk *c = s->waiting.first;
	struct output_at at = { 0, 0 };
	uv_buf_t slices[BATCH_SLICES];
	uint64_t length = 0;
	struct str piece;
	size_t n = 0;

	output_init(&s->batch, BATCH_MAX);
	(void)output_expand(&c->bytes, &c->at, &s->batch, BATCH_PIECES);
	if (s->batch.bytes.failed) {
		net_stream_fail(s, "out of memory", NULL);
		return;
	}
	while (output_next(&s->batch, &at, &piece)) {
		assert(n < BATCH_SLICES);
		slices[n++] = (uv_buf_t){ .base = (char *)(uintptr_t)piece.p, .len = piece.n };
		length += piece.n;
	}
	write_slices(s, slices, n, length, true); /* libuv has copied them when it returns */
}

/* ---- waiting, with TLS ---- */

/* Small pieces are encrypted together, since each call makes a record of its own. */
static void gather(struct net_stream *s, struct buf *b, struct str piece)
{
	if (b->len + piece.n > GATHER_SIZE) {
		net_tls_write(s, b->data, b->len);
		b->len = 0;
	}
	if (piece.n > GATHER_SIZE)
		net_tls_write(s, (const uint8_t *)piece.p, piece.n);
	else
		buf_put(b, piece.p, piece.n);
}

/* Encrypts the next pieces of the first output that waits; they go to the kernel or to wire. Gives
 * how many bytes that were. */
static uint64_t encrypt_batch(struct net_stream *s)
{
	struct net_chunk *c = s->waiting.first;
	struct buf *b = &s->loop->gather;
	struct output_at at = { 0, 0 };
	struct output batch;
	struct str piece;
	uint64_t length = 0;

	assert(c->encrypted && b->len == 0);
	output_init(&batch, BATCH_MAX);
	(void)output_expand(&c->bytes, &c->at, &batch, BATCH_PIECES_TLS);
	while (net_stream_sends(s) && output_next(&batch, &at, &piece)) {
		gather(s, b, piece);
		length += piece.n;
	}
	if (b->failed || batch.bytes.failed)
		net_stream_fail(s, "out of memory", NULL);
	else if (b->len > 0)
		net_tls_write(s, b->data, b->len);
	output_fini(&batch);
	buf_reset(b, GATHER_SIZE);
	assert(s->waiting.first == c && c->length >= length);
	c->length -= length;
	s->waiting.length -= length;
	if (output_at_end(&c->bytes, &c->at))
		queue_pop(s, &s->waiting);
	return length;
}

/* Until the socket is full, or others shall have their turn. */
static void encrypt_waiting(struct net_stream *s)
{
	uint64_t done = 0;

	while (net_stream_sends(s) && net_tls_writes(s) && s->waiting.first != NULL &&
	       s->wire.first == NULL) {
		if (done >= TURN_BYTES) {
			net_loop_defer(s->loop, s);
			return;
		}
		done += encrypt_batch(s);
	}
}

void net_output_encrypt_all(struct net_stream *s)
{
	while (net_stream_sends(s) && net_tls_writes(s) && s->waiting.first != NULL)
		(void)encrypt_batch(s);
}

/* ---- all together ---- */

static void start_write(struct net_stream *s)
{
	const struct net_chunk *c = s->wire.first;

	if (s->writing)
		return;
	if (c != NULL) {
		uv_buf_t b = { .base = (char *)c->bytes.bytes.data + c->sent, .len = (size_t)c->length };

		write_slices(s, &b, 1, c->length, false);
	} else if (s->waiting.first != NULL && !s->waiting.first->encrypted) {
		write_batch(s);
	}
}

/* What was to be encrypted and cannot be any more, after an error of TLS, is never sent. */
static void pump(struct net_stream *s)
{
	if (s->writing)
		return;
	if (s->waiting.first != NULL && s->waiting.first->encrypted) {
		if (net_tls_writes(s))
			encrypt_waiting(s);
		else
			queue_drop(s, &s->waiting);
	}
	if (net_stream_sends(s))
		start_write(s);
}

/* Something was written, or it is the stream's turn again. */
static void go_on(struct net_stream *s)
{
	pump(s);
	if (s->state == NET_OPEN && s->owner != NULL && net_stream_pending(s) < NET_LOW_WATER)
		s->loop->net->handler->drained(s->owner);
	net_stream_flushed(s);
}

void net_output_again(struct net_stream *s)
{
	if (net_stream_sends(s) && s->waiting.first != NULL && !s->writing)
		go_on(s);
}

static void wait_for_turn(struct net_stream *s, struct output *o)
{
	struct net_chunk *c = queue_add(s, &s->waiting);

	if (c == NULL)
		return;
	output_move(&c->bytes, o);
	c->length = output_length(&c->bytes);
	c->encrypted = net_tls_writes(s);
	s->waiting.length += c->length;
	pump(s);
}

void net_stream_send(struct net_stream *s, struct output *o)
{
	assert(net_loop_is_here(s->loop) && !o->bytes.failed);
	if (s->state == NET_OPEN && output_length(o) > 0) {
		if (o->npieces > 0 || s->waiting.first != NULL)
			wait_for_turn(s, o);
		else if (net_tls_writes(s))
			net_tls_write(s, o->bytes.data, o->bytes.len);
		else
			put_output(s, o);
	}
	output_reset(o, o->bytes.cap); /* memory that is still the owner's can be used again */
}

void net_output_fini(struct net_stream *s)
{
	output_fini(&s->batch);
	queue_drop(s, &s->wire);
	queue_drop(s, &s->waiting);
}
