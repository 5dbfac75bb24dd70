/* work.c — what may take long in a request is done on a work thread, so that the loop goes on
 * serving the others. Meanwhile the session is in the same state as while the engine has its
 * call: the arena, the answer and the language's variables are the thread's, an attention or a
 * lost connection sets call.cancelled, and the session stays until the work is back. The meter
 * looks at that and at the execution time-out. */
#include "base/clock.h"

#include <assert.h>
#include "session/request_int.h"

#define ANSWER_MAX ((size_t)1 << 20) /* the loop's thread sends it before more is said (answer.c) */

static bool is_over(void *arg)
{
	struct session *s = arg;

	return atomic_load(&s->call.cancelled) || clock_mono_ms() >= s->work.until_ms ||
	       s->out.wire.bytes.len >= ANSWER_MAX;
}

/* On the work thread. The meter asks at its first step: what was cancelled in the queue is not
 * begun. */
static void on_thread(struct net_work *w)
{
	struct session *s = CONTAINER_OF(w, struct session, work.net);
	struct meter meter = { .left = 1, .stop = is_over, .arg = s };

	assert(s->inflight && s->request->wait == WAIT_WORK);
	s->request->work_run(s, &meter);
	s->work.gave_up = meter.gave_up;
}

/* On the loop's thread again. */
static void back(struct net_work *w)
{
	struct session *s = CONTAINER_OF(w, struct session, work.net);

	assert(net_loop_is_here(s->loop) && s->inflight && s->engine == NULL);
	s->inflight = false;
	if (s->end.stream_gone || s->phase == PHASE_CLOSED)
		session_release(s);
	else
		session_request_continue(s);
}

void session_work_begin(struct session *s, void (*run)(struct session *s, struct meter *m),
			void (*done)(struct session *s))
{
	struct request *r = s->request;
	int64_t left = session_request_time_left(s);

	assert(net_loop_is_here(s->loop) && !s->inflight && s->phase == PHASE_BUSY);
	r->work_run = run;
	r->work_done = done;
	r->wait = WAIT_WORK;
	s->work.gave_up = false;
	s->work.until_ms = left == INT64_MAX ? INT64_MAX : clock_mono_ms() + left;
	/* no procedure: its result sets would end otherwise (response.c) */
	call_begin(&s->call, CALL_QUERY);
	s->engine = NULL;
	s->inflight = true;
	/* Turns by login, which has a share of the threads; its sessions have one piece of work
	 * each, so that among them first come is fair. */
	s->work.net = (struct net_work){ .run = on_thread,
					 .done = back,
					 .loop = s->loop,
					 .lane = NET_LANE_REQUEST,
					 .key = str_hash_nocase(str_of(s->login.name)) };
	net_work_submit(s->server->net, &s->work.net);
}

void session_work_or_now(struct session *s, bool is_long, void (*run)(struct session *s, struct meter *m),
			 void (*done)(struct session *s))
{
	if (is_long) {
		session_work_begin(s, run, done);
		return;
	}
	s->work.gave_up = false;
	run(s, NULL);
	done(s);
}

void session_work_explain(const struct session *s, struct err *e)
{
	if (s->work.gave_up && !s->cancelled)
		(void)err_set(e, ERR_TIMEOUT, (int)s->server->config->execution_timeout);
}
