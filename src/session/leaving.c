/* leaving.c — an answer with a large value leaves from where the value lies, as much as the client takes: so the value is in memory once. In clear the socket takes it from
 * there, between the headers of the packets. With TLS it is put into packets piece by piece, and what is encrypted of it is still in the processor's cache. The session
 * is ready meanwhile, but takes no request until all has left. */
#include "session/session_int.h"

#define FROM_CLEAR ((size_t)64 << 10)
#define FROM_TLS ((size_t)4 << 20) /* smaller ones are encrypted faster as a whole */
#define PIECE (256u << 10)         /* encrypted at once */
#define SLICES 1000u               /* sent at once; a system call takes no more than 1024 */
#define ROUND (4u << 20)           /* then other sessions of the loop have their turn */

size_t leaving_from(const struct session *s)
{
	return net_stream_is_tls(s->stream) ? FROM_TLS : FROM_CLEAR;
}

static int give(struct tds_out *o, void *arg)
{
	struct session *s = arg;

	s->left += o->wire.len;
	net_stream_give(s->stream, &o->wire);
	return 0;
}

/* The next slices to the socket. They may wait there: the answer is not over before they have been sent. */
static void lend(struct session *s)
{
	struct tds_out *o = &s->out;
	struct str slices[SLICES];
	size_t n = tds_out_slices(o, slices, SLICES);

	for (size_t i = 0; i < n; i++)
		s->left += slices[i].n;
	net_stream_lend(s->stream, &o->wire, slices, n);
	s->lending = !o->more && !o->wire.failed;
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
	s->out.flush = NULL;
	s->lending = false;
	if (s->out.wire.failed)
		session_abort(s, "no memory for the answer");
	else
		request_over(s);
}

/* Until the socket is full: then drained() follows. */
static void go_on(struct session *s)
{
	struct tds_out *o = &s->out;

	unread_arm(s);
	while (o->more && !o->wire.failed) {
		if (net_stream_pending(s->stream) > 0)
			return;
		if (s->left >= ROUND) {
			post_round(s);
			return;
		}
		if (o->flush == NULL)
			lend(s);
		else
			tds_out_more(o);
	}
	if (!s->lending || net_stream_pending(s->stream) == 0)
		all_left(s);
}

/* A client that cancelled, or a server that stops, waits for nothing more than the bytes. */
void leaving_begin(struct session *s)
{
	struct tds_out *o = &s->out;

	if (s->cancelled || s->attentions > 0 || atomic_load(&s->server->draining)) {
		while (tds_out_more(o))
			;
		all_left(s);
		return;
	}
	if (net_stream_is_tls(s->stream)) {
		o->flush = give;
		o->flush_arg = s;
		o->flush_at = PIECE;
	}
	s->left = 0;
	session_move(s, PHASE_READY);
	go_on(s);
}

bool leaving(const struct session *s)
{
	return s->out.more || s->lending;
}

void leaving_drained(struct session *s)
{
	if (leaving(s) && !s->inflight && s->phase == PHASE_READY)
		go_on(s);
}
