/* stream.c — long results leave while they are made. A reader thread fills the response; when
 * enough packets are finished it hands them to the loop and goes on; it waits while the client
 * has not taken the previous ones. So a result of any size costs two buffers.
 *
 * Only for calls that change nothing: what a writer produces must stay until its commit is
 * durable. */
#include <assert.h>

#include "base/clock.h"
#include "session/session_int.h"

#define STREAM_CHUNK (128u << 10)
#define STREAM_PENDING_MAX (512u << 10)
#define WAIT_STEP_MS 125

/* Takes the lock. The engine is asked now and then whether others need the place, or the
 * WAL its end. */
static void wait_for_client(struct session *s)
{
	bool leave = false;

	lock_take(&s->streaming.lock);
	while (s->streaming.full && !leave && !atomic_load(&s->call.cancelled)) {
		if (lock_wait_until(&s->streaming.lock, &s->streaming.wake, clock_mono_ms() + WAIT_STEP_MS) ||
		    s->call.waits == NULL)
			continue;
		lock_give(&s->streaming.lock);
		leave = s->call.waits(&s->call);
		lock_take(&s->streaming.lock);
	}
}

/* On the reader's thread: hands finished packets over. A cancelled call goes on to the end of
 * its row without waiting, because the client must be able to read what it was sent up to a
 * token's end. */
static int hand_over(struct output *finished, void *arg)
{
	struct session *s = arg;
	bool post;
	int rc;

	assert(!net_loop_is_here(s->loop) && s->inflight && s->call.txn == NULL);
	wait_for_client(s);
	rc = s->end.stream_gone || !output_append(&s->finished, finished) ? -1 : 0;
	post = !s->streaming.posted;
	s->streaming.posted = s->streaming.full = true;
	lock_give(&s->streaming.lock);
	if (post)
		net_loop_post(s->loop, &s->streaming.post);
	return rc;
}

static void let_reader_go_on(struct session *s)
{
	s->streaming.full = false;
	pthread_cond_signal(&s->streaming.wake);
}

/* On the loop: sends what was handed over. */
static void take_over(struct net_post *post)
{
	struct session *s = CONTAINER_OF(post, struct session, streaming.post);

	assert(net_loop_is_here(s->loop));
	lock_take(&s->streaming.lock);
	assert(s->streaming.posted);
	s->streaming.posted = false;
	if (s->phase != PHASE_CLOSED)
		net_stream_send(s->stream, &s->finished);
	output_reset(&s->finished, 2 * STREAM_CHUNK);
	s->streaming.waits_drain = s->phase != PHASE_CLOSED &&
				   net_stream_pending(s->stream) > STREAM_PENDING_MAX;
	if (!s->streaming.waits_drain)
		let_reader_go_on(s);
	lock_give(&s->streaming.lock);
	session_unread_watch(s);
}

void session_stream_drained(struct session *s)
{
	lock_take(&s->streaming.lock);
	if (s->streaming.waits_drain) {
		s->streaming.waits_drain = false;
		net_stream_set_timer(s->stream, 0);
		let_reader_go_on(s);
	}
	lock_give(&s->streaming.lock);
}

/* A cancelled call must not wait for the client. */
void session_stream_wake(struct session *s)
{
	lock_take(&s->streaming.lock);
	pthread_cond_signal(&s->streaming.wake);
	lock_give(&s->streaming.lock);
}

void session_stream_enable(struct session *s, bool on)
{
	assert(net_loop_is_here(s->loop) && !s->inflight && !s->streaming.posted);
	s->out.flush = on ? hand_over : NULL;
	s->out.flush_arg = s;
	s->out.flush_at = STREAM_CHUNK;
	s->streaming.post.fn = take_over;
	if (!on) /* its last post came before the call's completion */
		output_reset(&s->finished, 0);
}
