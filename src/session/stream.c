/* stream.c — long results leave while they are made. A reader thread fills the response; when enough packets are finished it hands them to the
 * loop and goes on; it waits while the client has not taken the previous ones. So a result of any size costs two buffers.
 *
 * Only for calls that change nothing: what a writer produces must stay until its commit is durable. */
#include "session/session_int.h"

#define STREAM_CHUNK (128u << 10)
#define STREAM_PENDING_MAX (512u << 10)

/* On the reader's thread: hands over everything but the packet that is being filled. */
static int hand_over(struct tds_out *o, void *arg)
{
	struct session *s = arg;
	size_t n = o->packet_start;
	int rc = 0;

	if (n == 0)
		return 0;
	pthread_mutex_lock(&s->stream_lock);
	while (s->stream_full && !atomic_load(&s->call.cancelled))
		pthread_cond_wait(&s->stream_wake, &s->stream_lock);
	if (atomic_load(&s->call.cancelled)) {
		rc = -1;
	} else {
		buf_put(&s->stream_buf, o->wire.data, n);
		rc = s->stream_buf.failed ? -1 : 0;
		s->stream_full = true;
	}
	pthread_mutex_unlock(&s->stream_lock);
	if (rc < 0)
		return rc;
	buf_consume(&o->wire, n);
	o->packet_start = 0;
	net_loop_post(net_stream_loop(s->stream), &s->stream_post);
	return 0;
}

static void let_reader_go_on(struct session *s)
{
	s->stream_full = false;
	pthread_cond_signal(&s->stream_wake);
}

/* On the loop: sends what was handed over. */
static void take_over(struct net_post *post)
{
	struct session *s = CONTAINER_OF(post, struct session, stream_post);

	pthread_mutex_lock(&s->stream_lock);
	if (s->phase != PHASE_CLOSED)
		net_stream_write(s->stream, s->stream_buf.data, s->stream_buf.len);
	buf_reset(&s->stream_buf, 2 * STREAM_CHUNK);
	s->stream_waits_drain = s->phase != PHASE_CLOSED && net_stream_pending(s->stream) > STREAM_PENDING_MAX;
	if (!s->stream_waits_drain)
		let_reader_go_on(s);
	pthread_mutex_unlock(&s->stream_lock);
}

void stream_drained(struct session *s)
{
	pthread_mutex_lock(&s->stream_lock);
	if (s->stream_waits_drain) {
		s->stream_waits_drain = false;
		let_reader_go_on(s);
	}
	pthread_mutex_unlock(&s->stream_lock);
}

/* A cancelled call must not wait for the client. */
void stream_wake(struct session *s)
{
	pthread_mutex_lock(&s->stream_lock);
	pthread_cond_signal(&s->stream_wake);
	pthread_mutex_unlock(&s->stream_lock);
}

void stream_enable(struct session *s, bool on)
{
	s->resp.out.flush = on ? hand_over : NULL;
	s->resp.out.flush_arg = s;
	s->resp.out.flush_at = STREAM_CHUNK;
	s->stream_post.fn = take_over;
	if (!on)
		buf_reset(&s->stream_buf, 0);
}
