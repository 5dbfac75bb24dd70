/* output.c — from the owner to the socket.
 * The kernel is asked first; only what it does not take is copied, into chunks of which one at a time is with libuv. Nothing here bounds the sum:
 * the owner looks at net_stream_pending and stops reading requests until drained(). */
#include "net/net.h"

#include <stdlib.h>
#include <string.h>

#include "net/net_int.h"

#define CHUNK_SMALL ((size_t)16 * 1024)
#define CHUNK_LARGE ((size_t)256 * 1024)        /* memory comes back chunk by chunk while a large answer goes out */

struct out_chunk {
	struct out_chunk *next;
	size_t len, cap;
	uint8_t data[];
};

static void start_write(struct net_stream *s);

size_t net_stream_pending(const struct net_stream *s)
{
	if (!s->writing)
		return s->queued;
	return s->queued - s->out->len + uv_stream_get_write_queue_size((const uv_stream_t *)&s->tcp);
}

static void on_written(uv_write_t *req, int status)
{
	struct net_stream *s = req->data;
	struct out_chunk *c = s->out;

	s->out = c->next;
	s->writing = false;
	s->queued -= c->len;
	free(c);
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
	b = uv_buf_init((char *)c->data, (unsigned)c->len);
	s->write_req.data = s;
	rc = uv_write(&s->write_req, (uv_stream_t *)&s->tcp, &b, 1, on_written);
	if (rc < 0)
		net_stream_fail(s, "write", uv_strerror(rc));
	else
		s->writing = true;
}

/* The chunk that may take more bytes: the last, unless libuv has it. */
static struct out_chunk *open_chunk(struct net_stream *s, size_t n)
{
	struct out_chunk *c;

	if (s->out != NULL && !(s->writing && s->out == s->out_last) && s->out_last->len < s->out_last->cap)
		return s->out_last;
	n = n < CHUNK_SMALL ? CHUNK_SMALL : n > CHUNK_LARGE ? CHUNK_LARGE : n;
	c = malloc(sizeof(*c) + n);
	if (c == NULL)
		return NULL;
	c->next = NULL;
	c->len = 0;
	c->cap = n;
	if (s->out == NULL)
		s->out = c;
	else
		s->out_last->next = c;
	s->out_last = c;
	return c;
}

static void queue_bytes(struct net_stream *s, const uint8_t *p, size_t n)
{
	while (n > 0) {
		struct out_chunk *c = open_chunk(s, n);
		size_t k;

		if (c == NULL) {
			net_stream_fail(s, "out of memory", NULL);
			return;
		}
		k = n < c->cap - c->len ? n : c->cap - c->len;
		memcpy(c->data + c->len, p, k);
		c->len += k;
		s->queued += k;
		p += k;
		n -= k;
	}
}

void net_output_put(struct net_stream *s, const uint8_t *p, size_t n)
{
	if (s->state != NET_OPEN || n == 0)
		return;
	if (s->out == NULL) {
		uv_buf_t b = uv_buf_init((char *)p, n > INT32_MAX ? INT32_MAX : (unsigned)n);
		int rc = uv_try_write((uv_stream_t *)&s->tcp, &b, 1);

		if (rc < 0 && rc != UV_EAGAIN) {
			net_stream_fail(s, "write", uv_strerror(rc));
			return;
		}
		if (rc > 0) {
			p += rc;
			n -= (size_t)rc;
		}
	}
	queue_bytes(s, p, n);
	if (s->state == NET_OPEN)
		start_write(s);
}

void net_output_fini(struct net_stream *s)
{
	while (s->out != NULL) {
		struct out_chunk *c = s->out;

		s->out = c->next;
		free(c);
	}
}

void net_stream_write_raw(struct net_stream *s, const uint8_t *p, size_t n)
{
	net_output_put(s, p, n);
}

void net_stream_write(struct net_stream *s, const uint8_t *p, size_t n)
{
	if (s->tls != NULL && !s->tls->ended && (s->tls->secured || s->tls->mode == NET_TLS_DIRECT))
		net_tls_write(s, p, n);
	else
		net_output_put(s, p, n);
}
