/* input.c — from the socket to the owner. All streams of a loop read into one buffer; only bytes
 * that the owner leaves are copied, and a stream without such bytes holds no memory for them.
 * The next read finds them put before it, so that the many bytes of a read need not be put
 * behind the few that were left. `in` holds bytes for the owner, `raw` TLS records before
 * decryption. In clear there is no raw: what the owner has not consumed when TLS begins becomes
 * raw, so a byte that came before the handshake's end can only be taken for a record, never for
 * plain text. */
#include "net/net.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "net/net_int.h"

void net_input_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
	struct net_stream *s = h->data;

	(void)suggested;
	*ret = uv_buf_init((char *)s->loop->read_buf + NET_KEPT_SIZE, (unsigned)NET_READ_SIZE);
}

/* Drops what was used and gives memory back as soon as there is nothing to hold. */
static void buf_drop(struct buf *b, size_t n)
{
	buf_consume(b, n);
	if (b->len == 0)
		buf_reset(b, 0);
}

static void check_limit(struct net_stream *s)
{
	char text[24];

	if (s->in.failed || s->raw.failed) {
		net_stream_fail(s, "out of memory", NULL);
	} else if (s->state == NET_OPEN && !s->paused && !s->tls_takes_over && s->in.len > s->limit) {
		/* A paused stream reads no further: what it holds is bounded by one read. */
		snprintf(text, sizeof(text), "%zu", s->limit);
		net_stream_fail(s, "more unconsumed bytes than the limit", text);
	}
}

/* Of n bytes at p, which are those of b when kept, pos were used. */
static void keep(struct net_stream *s, struct buf *b, bool kept, const uint8_t *p, size_t n, size_t pos)
{
	if (!kept && pos < n && s->state == NET_OPEN)
		buf_put(b, p + pos, n - pos);
	else
		buf_drop(b, kept ? pos : 0);
	check_limit(s);
}

void net_input_offer(struct net_stream *s, const uint8_t *p, size_t n)
{
	bool kept = s->in.len > 0 || s->paused;
	size_t pos = 0, used;

	assert(s->delivering && s->owner != NULL);
	if (kept) {
		buf_put(&s->in, p, n);
		p = s->in.data;
		n = s->in.len;
	}
	/* Again while the owner gets on, so that it may take one message a call. */
	while (pos < n && s->state == NET_OPEN && !s->paused && !s->tls_takes_over) {
		used = s->loop->net->handler->data(s->owner, p + pos, n - pos);
		if (used == 0)
			break;
		pos += used < n - pos ? used : n - pos;
	}
	keep(s, &s->in, kept, p, n, pos);
}

/* The owner's leftover is the first of the records. */
static void take_over(struct net_stream *s)
{
	struct buf empty = s->raw;

	assert(s->tls != NULL && empty.len == 0);
	s->tls_takes_over = false;
	s->raw = s->in;
	s->in = empty;
}

void net_input_to_tls(struct net_stream *s)
{
	s->tls_takes_over = true;
	if (s->delivering) /* the owner still reads from `in`: input_run goes on from here */
		return;
	take_over(s);
	net_loop_defer(s->loop, s);
}

/* Record after record, until they end, the owner pauses or clear bytes begin. */
static void run_records(struct net_stream *s, const uint8_t *p, size_t n)
{
	bool kept = s->raw.len > 0;
	size_t pos = 0;

	if (kept) {
		buf_put(&s->raw, p, n);
		p = s->raw.data;
		n = s->raw.len;
	}
	while (pos < n && s->state == NET_OPEN && !s->paused) {
		ssize_t used;

		if (s->tls == NULL) { /* the end of login-only encryption: the rest is clear */
			net_input_offer(s, p + pos, n - pos);
			pos = n;
			break;
		}
		used = net_tls_record(s, p + pos, n - pos);
		if (used < 0)
			return;
		if (used == 0 && s->tls != NULL)
			break;
		pos += (size_t)used;
	}
	keep(s, &s->raw, kept, p, n, pos);
}

/* n new bytes from the socket; with none, those kept are looked at again. */
static void input_run(struct net_stream *s, const uint8_t *p, size_t n)
{
	assert(net_loop_is_here(s->loop) && !s->delivering && s->state == NET_OPEN);
	s->delivering = true;
	if (!net_tls_reads(s) && s->raw.len == 0) {
		net_input_offer(s, p, n);
		p = NULL;
		n = 0;
		if (s->tls_takes_over)
			take_over(s);
	} else if (s->in.len > 0 && n == 0) {
		net_input_offer(s, NULL, 0);
	}
	if (s->state == NET_OPEN && (n > 0 || s->raw.len > 0))
		run_records(s, p, n);
	s->delivering = false;
	if (s->state != NET_OPEN) { /* closed on the way: nobody wants the rest */
		buf_reset(&s->in, 0);
		buf_reset(&s->raw, 0);
	}
}

void net_input_again(struct net_stream *s)
{
	if (s->state != NET_OPEN || s->owner == NULL)
		return;
	if (!s->paused && (s->in.len > 0 || s->raw.len > 0))
		input_run(s, NULL, 0);
	net_stream_update_reading(s);
}

/* Puts what was left of the last read before the new bytes, where it fits. Returns how much that
 * is. */
static size_t join_kept(struct net_stream *s, uint8_t *p)
{
	struct buf *b = net_tls_reads(s) || s->raw.len > 0 ? &s->raw : &s->in;
	size_t n = b->len;

	if (s->paused || n == 0 || n > NET_KEPT_SIZE)
		return 0;
	memcpy(p - n, b->data, n);
	b->len = 0; /* its memory stays: there is often a rest again */
	return n;
}

void net_input_read(uv_stream_t *h, ssize_t n, const uv_buf_t *b)
{
	struct net_stream *s = h->data;
	uint8_t *p = (uint8_t *)b->base;
	size_t kept;

	if (n == UV_EOF) {
		net_stream_peer_ended(s);
	} else if (n < 0) {
		net_stream_fail(s, "read", uv_strerror((int)n));
	} else if (n > 0 && s->state == NET_OPEN) {
		net_loop_count(&s->loop->received, (uint64_t)n);
		kept = join_kept(s, p);
		input_run(s, p - kept, kept + (size_t)n);
	}
}
