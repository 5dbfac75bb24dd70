/* leaving.c — an answer with a large value leaves while it is put into packets: from where the value lies, as much as the client takes. So the value is in memory once, and
 * what was sent of it is still in the processor's cache. The session is ready meanwhile, but takes no request until all has left. */
#include "session/session_int.h"

#define PIECE (256u << 10)          /* handed to the socket at once */
#define ROUND (4u << 20)            /* then other sessions of the loop have their turn */

static int give(struct tds_out *o, void *arg)
{
	struct session *s = arg;

	s->left += o->wire.len;
	net_stream_give(s->stream, &o->wire);
	return 0;
}

static void go_on(struct session *s);

static void next_round(struct net_post *post)
{
	struct session *s = CONTAINER_OF(post, struct session, post);

	s->inflight = false;
	if (s->stream_gone || s->phase == PHASE_CLOSED)
		session_release(s);
	else
		go_on(s);
}

static void post_round(struct session *s)
{
	s->left = 0;
	s->post.fn = next_round;
	s->inflight = true;
	net_loop_post(s->loop, &s->post);
}

static void all_left(struct session *s)
{
	s->resp.out.flush = NULL;
	if (s->resp.out.wire.failed)
		session_abort(s, "no memory for the answer");
	else
		request_over(s);
}

/* Until the socket is full: then drained() follows. */
static void go_on(struct session *s)
{
	net_stream_set_timer(s->stream, (unsigned)s->server->config->idle_timeout * 1000u);
	while (tds_out_more(&s->resp.out)) {
		if (net_stream_pending(s->stream) > 0)
			return;
		if (s->left >= ROUND) {
			post_round(s);
			return;
		}
	}
	all_left(s);
}

/* A client that cancelled, or a server that stops, waits for nothing more than the bytes. */
void leaving_begin(struct session *s)
{
	struct tds_out *o = &s->resp.out;

	if (s->cancelled || s->attentions > 0 || atomic_load(&s->server->draining)) {
		while (tds_out_more(o))
			;
		all_left(s);
		return;
	}
	o->flush = give;
	o->flush_arg = s;
	o->flush_at = PIECE;
	s->left = 0;
	session_move(s, PHASE_READY);
	go_on(s);
}

bool leaving(const struct session *s)
{
	return s->resp.out.more;
}

void leaving_drained(struct session *s)
{
	if (leaving(s) && !s->inflight && s->phase == PHASE_READY)
		go_on(s);
}
