/* unread.c — clients that do not read their answers. What they leave unread costs memory, a
 * reader and its hold on the WAL; so after send_timeout without a byte taken a query ends, and a
 * connection whose answer is complete is closed. A slow client is no such client: any byte
 * begins the time anew. */
#include "session/session_int.h"

#include <assert.h>

static uint64_t earlier(int64_t a_s, int64_t b_s)
{
	return (uint64_t)(a_s == 0 || (b_s != 0 && b_s < a_s) ? b_s : a_s) * 1000;
}

/* Time for the client to take something, or, when it has all, to send the next request. */
void session_unread_arm(struct session *s)
{
	const struct config *c = s->server->config;

	assert(net_loop_is_here(s->loop));
	assert(s->phase == PHASE_READY);
	s->streaming.unread = net_stream_pending(s->stream);
	net_stream_set_timer(s->stream,
			     earlier(c->idle_timeout, s->streaming.unread > 0 ? c->send_timeout : 0));
}

void session_unread_watch(struct session *s)
{
	if (s->phase != PHASE_BUSY || !(s->streaming.waits_drain || session_answer_waits(s)))
		return;
	s->streaming.unread = net_stream_pending(s->stream);
	net_stream_set_timer(s->stream, earlier(s->server->config->send_timeout, 0));
}

bool session_unread_timeout(struct session *s)
{
	size_t pending = net_stream_pending(s->stream);

	if (pending == 0 || (s->phase == PHASE_BUSY && !s->streaming.waits_drain && !session_answer_waits(s)))
		return false;
	if (pending < s->streaming.unread) {
		if (s->phase == PHASE_READY)
			session_unread_arm(s);
		else
			session_unread_watch(s);
	} else if (s->phase == PHASE_READY) {
		session_abort(s, "the client does not read its answer");
	} else if (session_answer_waits(s)) {
		session_answer_stalled(s);
	} else {
		assert(s->phase == PHASE_BUSY && s->streaming.waits_drain);
		s->streaming.stalled = true;
		session_call_cancel(s);
	}
	return true;
}
