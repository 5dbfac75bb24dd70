/* output.c — from the owner to the socket.
 * The kernel is asked first; what it does not take waits in chunks, of which one at a time is with libuv: copied, or in the owner's own buffer when that is
 * large and was given away, or slices of memory that stays. Nothing here bounds the sum: the owner looks at net_stream_pending and stops reading requests until drained(). */
#include "net/net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "net/net_int.h"

#define CHUNK_SMALL ((size_t)16 * 1024)
#define CHUNK_LARGE ((size_t)256 * 1024) /* memory comes back chunk by chunk while a large answer goes out */

struct out_chunk {
	struct out_chunk *next;
	struct buf bytes; /* a given one may be full at any size */
	size_t sent;      /* of bytes, before it became a chunk */
	uv_buf_t *slices; /* owned; NULL, or what is sent instead of bytes, which some of them point to */
	unsigned nslices;
	size_t length;  /* of all slices */
	size_t counted; /* in the owner's account; what was given or lent has been counted before */
};

static void start_write(struct net_stream *s);

static size_t chunk_len(const struct out_chunk *c)
{
	return c->slices != NULL ? c->length : c->bytes.len - c->sent;
}

static void chunk_free(struct net_stream *s, struct out_chunk *c)
{
	budget_give(s->budget, c->counted);
	buf_fini(&c->bytes);
	free(c->slices);
	free(c);
}

size_t net_stream_pending(const struct net_stream *s)
{
	if (!s->writing)
		return s->queued;
	return s->queued - chunk_len(s->out) + uv_stream_get_write_queue_size((const uv_stream_t *)&s->tcp);
}

static void on_written(uv_write_t *req, int status)
{
	struct net_stream *s = req->data;
	struct out_chunk *c = s->out;

	s->out = c->next;
	s->writing = false;
	s->queued -= chunk_len(c);
	chunk_free(s, c);
	if (s->state == NET_CLOSING)
		return;
	if (status < 0) {
		net_stream_fail(s, "write", uv_strerror(status));
		return;
	}
	start_write(s);
	if (s->state == NET_OPEN && s->owner != NULL && net_stream_pending(s) < NET_LOW_WATER)
		s->loop->net->handler->drained(s->owner);
	net_stream_flushed(s);
}

static void start_write(struct net_stream *s)
{
	struct out_chunk *c = s->out;
	uv_buf_t b;
	int rc;

	if (s->writing || c == NULL)
		return;
	b = uv_buf_init((char *)c->bytes.data + c->sent, (unsigned)chunk_len(c));
	s->write_req.data = s;
	rc = uv_write(&s->write_req, (uv_stream_t *)&s->tcp, c->slices != NULL ? c->slices : &b,
		      c->slices != NULL ? c->nslices : 1, on_written);
	if (rc < 0)
		net_stream_fail(s, "write", uv_strerror(rc));
	else
		s->writing = true;
}

/* A new last chunk with the bytes of b from sent on; b's memory is the chunk's then. */
static struct out_chunk *add_chunk(struct net_stream *s, const struct buf *b, size_t sent)
{
	struct out_chunk *c = malloc(sizeof(*c));

	if (c == NULL) {
		net_stream_fail(s, "out of memory", NULL);
		return NULL;
	}
	*c = (struct out_chunk){ .bytes = *b, .sent = sent };
	if (s->out == NULL)
		s->out = c;
	else
		s->out_last->next = c;
	s->out_last = c;
	s->queued += chunk_len(c);
	return c;
}

/* The chunk that may take more bytes: the last, unless libuv has it. */
static struct out_chunk *open_chunk(struct net_stream *s, size_t n)
{
	struct out_chunk *c;
	struct buf b;

	if (s->out != NULL && !(s->writing && s->out == s->out_last) &&
	    s->out_last->bytes.len < s->out_last->bytes.max)
		return s->out_last;
	buf_init(&b, n < CHUNK_SMALL ? CHUNK_SMALL : n > CHUNK_LARGE ? CHUNK_LARGE : n);
	c = add_chunk(s, &b, 0);
	if (c != NULL) {
		c->counted = b.max;
		budget_take_anyway(s->budget, b.max); /* what is on its way cannot be refused */
	}
	return c;
}

static void queue_bytes(struct net_stream *s, const uint8_t *p, size_t n)
{
	while (n > 0) {
		struct out_chunk *c = open_chunk(s, n);
		size_t k;

		if (c == NULL)
			return;
		k = n < c->bytes.max - c->bytes.len ? n : c->bytes.max - c->bytes.len;
		buf_put(&c->bytes, p, k);
		if (c->bytes.failed) {
			net_stream_fail(s, "out of memory", NULL);
			return;
		}
		s->queued += k;
		p += k;
		n -= k;
	}
}

/* As much as the kernel takes now, unless others wait before it. Returns how much that was. libuv's own way for it, uv_try_write, comes down to a write to a file. */
static size_t write_now(struct net_stream *s, const uint8_t *p, size_t n)
{
	ssize_t sent;

	if (s->out != NULL)
		return 0;
	do
		sent = send(s->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
		net_stream_fail(s, "write", strerror(errno));
	return sent > 0 ? (size_t)sent : 0;
}

void net_output_put(struct net_stream *s, const uint8_t *p, size_t n)
{
	size_t done;

	if (s->state != NET_OPEN || n == 0)
		return;
	done = write_now(s, p, n);
	if (s->state != NET_OPEN)
		return;
	queue_bytes(s, p + done, n - done);
	if (s->state == NET_OPEN)
		start_write(s);
}

/* The given buffer becomes a chunk when copying what is left of it would cost more than that. */
static void output_give(struct net_stream *s, struct buf *b)
{
	size_t done;

	if (s->state != NET_OPEN || b->len == 0)
		return;
	done = write_now(s, b->data, b->len);
	if (s->state != NET_OPEN)
		return;
	if (b->len - done < CHUNK_LARGE || b->len > INT32_MAX) {
		queue_bytes(s, b->data + done, b->len - done);
	} else if (add_chunk(s, b, done) != NULL) {
		s->out_last->bytes.max = b->len; /* full: what follows has chunks of its own */
		buf_forget(b);
	}
	if (s->state == NET_OPEN)
		start_write(s);
}

static uv_buf_t *slices_copy(const struct str *slices, size_t n, size_t *ret_length)
{
	uv_buf_t *all = malloc(n * sizeof(*all));

	*ret_length = 0;
	for (size_t i = 0; all != NULL && i < n; i++) {
		all[i] = uv_buf_init((char *)(uintptr_t)slices[i].p, (unsigned)slices[i].n);
		*ret_length += slices[i].n;
	}
	return all;
}

void net_stream_lend(struct net_stream *s, struct buf *head, const struct str *slices, size_t n)
{
	size_t length;
	uv_buf_t *all;

	if (s->state != NET_OPEN || n == 0)
		return;
	all = slices_copy(slices, n, &length);
	if (all == NULL) {
		net_stream_fail(s, "out of memory", NULL);
		return;
	}
	if (add_chunk(s, head, head->len) == NULL) {
		free(all);
		return;
	}
	s->out_last->slices = all;
	s->out_last->nslices = (unsigned)n;
	s->out_last->length = length;
	s->out_last->bytes.max = head->len; /* full: what follows has chunks of its own */
	s->queued += length;
	buf_forget(head);
	start_write(s);
}

void net_output_fini(struct net_stream *s)
{
	while (s->out != NULL) {
		struct out_chunk *c = s->out;

		s->out = c->next;
		chunk_free(s, c);
	}
}

void net_stream_write_raw(struct net_stream *s, const uint8_t *p, size_t n)
{
	net_output_put(s, p, n);
}

static bool encrypts(const struct net_stream *s)
{
	return s->tls != NULL && !s->tls->ended && (s->tls->secured || s->tls->mode == NET_TLS_DIRECT);
}

/* Piece by piece: what OpenSSL has written is not all in memory beside what it was made of and what waits. */
static void encrypt(struct net_stream *s, const uint8_t *p, size_t n)
{
	while (n > 0 && encrypts(s) && s->state == NET_OPEN) {
		size_t k = n < CHUNK_LARGE ? n : CHUNK_LARGE;

		net_tls_write(s, p, k);
		p += k;
		n -= k;
	}
}

void net_stream_write(struct net_stream *s, const uint8_t *p, size_t n)
{
	if (encrypts(s))
		encrypt(s, p, n);
	else
		net_output_put(s, p, n);
}

void net_stream_give(struct net_stream *s, struct buf *b)
{
	if (encrypts(s))
		encrypt(s, b->data, b->len);
	else
		output_give(s, b);
	b->len = 0;
}
