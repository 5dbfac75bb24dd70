/* stream.c — one connection from opened() to closed().
 *
 *   OPEN ──── close(gracefully), peer's end ──► FLUSHING ── all sent ──► LINGERING
 *     │                                            │                        │
 *     │ close at once, error                       │ no progress for 2 s    │ peer's end, 2 s
 *     └────────────────────────────────────────────┴────────────────────────┴─► CLOSING
 *
 * and from CLOSING, when the handles are closed, to closed() and free memory.
 *
 * Lingering reads and drops: a socket closed with unread bytes answers with a reset, and a reset
 * may destroy our last words on their way. The memory goes in the close callbacks, which never
 * run inside one of our calls to the owner: the owner may close anywhere. */
#include "net/net.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "net/net_int.h"

struct net_stream *net_stream_new(struct net_loop *l, int fd, const struct sockaddr_storage *peer)
{
	struct net_stream *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		close(fd);
		return NULL;
	}
	s->loop = l;
	s->fd = fd;
	s->limit = NET_LIMIT;
	list_init(&s->link);
	list_init(&s->ready);
	list_init(&s->over);
	buf_init(&s->in, SIZE_MAX / 2);  /* bounded by limit after each delivery */
	buf_init(&s->raw, SIZE_MAX / 2); /* bounded by one record, or one read while paused */
	net_format_address(peer, s->peer, sizeof(s->peer));
	return s;
}

static void stream_free(struct net_stream *s)
{
	assert(s->open_handles == 0 && !s->delivering);
	net_over_gone(s);
	atomic_fetch_sub(&s->loop->nstreams, 1);
	atomic_fetch_sub(&s->loop->net->connections, 1);
	net_tls_free(s);
	net_output_fini(s);
	buf_fini(&s->in);
	buf_fini(&s->raw);
	free(s);
}

static void on_closed(uv_handle_t *h)
{
	struct net_stream *s = h->data;
	struct net_loop *l = s->loop;

	assert(s->state == NET_CLOSING && s->open_handles > 0);
	if (--s->open_handles > 0)
		return;
	list_remove(&s->link);
	list_remove(&s->ready);
	net_output_fini(s); /* while its owner's account is there */
	if (s->owner != NULL)
		l->net->handler->closed(s->owner, s->reason);
	stream_free(s);
	net_loop_stream_gone(l);
}

static void close_now(struct net_stream *s)
{
	assert(net_loop_is_here(s->loop));
	if (s->state == NET_CLOSING)
		return;
	s->state = NET_CLOSING;
	uv_close((uv_handle_t *)&s->tcp, on_closed);
	uv_close((uv_handle_t *)&s->timer, on_closed);
}

static void set_reason(struct net_stream *s, const char *reason)
{
	/* the first one is the cause, what follows are consequences */
	if (s->reason[0] == '\0')
		str_copy(s->reason, sizeof(s->reason), str_of(reason != NULL ? reason : "closed"));
}

void net_stream_fail(struct net_stream *s, const char *what, const char *detail)
{
	char text[sizeof(s->reason)];

	snprintf(text, sizeof(text), detail != NULL ? "%s: %s" : "%s", what, detail);
	set_reason(s, text);
	close_now(s);
}

void net_stream_update_reading(struct net_stream *s)
{
	bool want = !s->eof && (s->state == NET_OPEN ? !s->paused : s->state != NET_CLOSING);

	if (want == s->reading || s->state == NET_CLOSING)
		return;
	s->reading = want;
	if (want)
		uv_read_start((uv_stream_t *)&s->tcp, net_input_alloc, net_input_read);
	else
		uv_read_stop((uv_stream_t *)&s->tcp);
}

static void on_timer(uv_timer_t *h);

static void on_shutdown(uv_shutdown_t *req, int status)
{
	struct net_stream *s = req->data;

	if (s->state == NET_CLOSING)
		return;
	if (status < 0) {
		close_now(s);
		return;
	}
	s->state = NET_LINGERING;
	uv_timer_start(&s->timer, on_timer, NET_LINGER_MS, 0);
}

/* The last pending byte of a closing stream is with the kernel. */
void net_stream_flushed(struct net_stream *s)
{
	if (s->state != NET_FLUSHING || net_stream_pending(s) > 0)
		return;
	net_tls_notify_close(s);
	if (s->state != NET_FLUSHING || net_stream_pending(s) > 0)
		return;
	s->shutdown_req.data = s;
	if (s->eof || uv_shutdown(&s->shutdown_req, (uv_stream_t *)&s->tcp, on_shutdown) < 0)
		close_now(s);
	else
		s->state = NET_LINGERING;
}

/* A peer that reads nothing for a linger time is given up, and one that reads drop by drop after
 * some of them. */
static void check_flush(struct net_stream *s)
{
	size_t pending = net_stream_pending(s);

	if (pending >= s->flush_mark || ++s->flush_rounds >= NET_FLUSH_ROUNDS) {
		close_now(s);
		return;
	}
	s->flush_mark = pending;
	uv_timer_start(&s->timer, on_timer, NET_LINGER_MS, 0);
}

static void on_timer(uv_timer_t *h)
{
	struct net_stream *s = h->data;

	switch (s->state) {
	case NET_OPEN: s->loop->net->handler->timeout(s->owner); break;
	case NET_FLUSHING: check_flush(s); break;
	case NET_LINGERING: close_now(s); break;
	case NET_CLOSING: break;
	}
}

void net_stream_close(struct net_stream *s, bool gracefully, const char *reason)
{
	set_reason(s, reason);
	if (!gracefully) {
		close_now(s);
		return;
	}
	if (s->state != NET_OPEN)
		return;
	s->state = NET_FLUSHING;
	s->flush_mark = net_stream_pending(s);
	uv_timer_start(&s->timer, on_timer, NET_LINGER_MS, 0);
	net_stream_update_reading(s);
	net_stream_flushed(s);
	assert(s->state != NET_OPEN);
}

void net_stream_peer_ended(struct net_stream *s)
{
	s->eof = true;
	net_stream_update_reading(s);
	if (s->state == NET_OPEN)
		net_stream_close(s, true, "closed by the client");
	else if (s->state == NET_LINGERING)
		close_now(s);
}

void net_stream_begin(struct net_stream *s)
{
	struct net_loop *l = s->loop;
	int rc;

	assert(net_loop_is_here(l) && s->state == NET_OPEN && s->owner == NULL);
	if (l->stopping) {
		close(s->fd);
		stream_free(s);
		return;
	}
	uv_tcp_init(&l->uv, &s->tcp);
	uv_timer_init(&l->uv, &s->timer);
	s->tcp.data = s->timer.data = s;
	s->open_handles = 2;
	list_append(&l->streams, &s->link);
	rc = uv_tcp_open(&s->tcp, s->fd);
	if (rc < 0) {
		close(s->fd);
		net_stream_fail(s, "cannot open", uv_strerror(rc));
		return;
	}
	s->owner = l->net->handler->opened(s, l->net->arg);
	if (s->owner == NULL)
		net_stream_close(s, false, "refused");
	else
		net_stream_update_reading(s);
}

struct net_loop *net_stream_loop(struct net_stream *s)
{
	return s->loop;
}

const char *net_stream_peer(const struct net_stream *s)
{
	return s->peer;
}

bool net_stream_over_limit(const struct net_stream *s)
{
	return s->over_limit;
}

void net_stream_set_limit(struct net_stream *s, size_t max_unconsumed)
{
	s->limit = max_unconsumed;
}

void net_stream_set_budget(struct net_stream *s, struct budget *b)
{
	s->budget = b;
}

void net_stream_set_timer(struct net_stream *s, uint64_t ms)
{
	assert(net_loop_is_here(s->loop));
	if (s->state != NET_OPEN) /* the timer is ours now */
		return;
	if (ms == 0)
		uv_timer_stop(&s->timer);
	else
		uv_timer_start(&s->timer, on_timer, ms, 0);
}

void net_stream_pause(struct net_stream *s)
{
	assert(net_loop_is_here(s->loop));
	s->paused = true;
	net_stream_update_reading(s);
}

/* The bytes at hand are offered from the loop, not from here: the caller may be in the middle of
 * something. */
void net_stream_resume(struct net_stream *s)
{
	if (!s->paused || s->state != NET_OPEN)
		return;
	s->paused = false;
	net_loop_defer(s->loop, s);
}
