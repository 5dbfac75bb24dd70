/* answer.c — the answer of a batch, or of several RPCs, leaves while the request goes on: what
 * its statements have said so far is final. So a batch that says much costs little memory; and
 * it waits for its client, who may be slow, before it says more. What one statement says must
 * fit into memory: beyond that the request ends with an error, and all that it said before
 * stays. */
#include "session/request_int.h"

#include <assert.h>

#define SHED_AT ((size_t)128 << 10)
#define UNREAD_MAX ((size_t)512 << 10) /* above the low-water mark of net, so that drained() follows */

/* The packets that are finished. False: there were not enough of them to be worth it. */
static bool send_finished(struct session *s)
{
	if (s->out.wire.bytes.len < SHED_AT || !tds_out_take_finished(&s->out, &s->finished))
		return false;
	net_stream_send(s->stream, &s->finished);
	output_reset(&s->finished, 0);
	return true;
}

static void end_with(struct session *s, const struct err *e)
{
	struct request *r = s->request;
	bool in_proc = r->top != NULL ? r->top->in_proc : r->kind == REQUEST_RPC;

	assert(!s->inflight);
	session_response_message(s, e);
	session_frames_drop(s);
	session_response_done(s, in_proc ? TDS_DONEPROC : TDS_DONE, TDS_DONE_ERROR, CMD_FAILED, 0);
	r->stop = true;
}

static void explain(struct session *s, struct err *e)
{
	if (s->streaming.denied)
		(void)err_nomem(e);
	else
		(void)err_set(e, ERR_TOO_LARGE, "The answer",
			      (unsigned long long)s->server->config->max_result_size, "max_result_size");
	s->streaming.denied = false;
}

/* The last statement said too much: it is taken back. False: some of it has left, and the client
 * can be told nothing more. */
static bool take_back(struct session *s)
{
	struct err e;

	s->streaming.denied |= s->out.wire.bytes.denied;
	if (!tds_out_rewind(&s->out, &s->request->said.out))
		return false;
	s->resp = s->request->said.state;
	explain(s, &e);
	end_with(s, &e);
	return true;
}

bool session_answer_go_on(struct session *s)
{
	struct request *r = s->request;

	assert(net_loop_is_here(s->loop) && !s->inflight && s->out.flush == NULL);
	if (tds_out_failed(&s->out)) {
		if (!take_back(s))
			r->stop = true; /* request_finish closes the connection */
		return false;
	}
	if (send_finished(s) && net_stream_pending(s->stream) >= UNREAD_MAX) {
		r->wait = WAIT_CLIENT;
		session_unread_watch(s);
		return false;
	}
	r->said = (struct response_mark){ .out = tds_out_mark(&s->out), .state = s->resp };
	return true;
}

bool session_answer_waits(const struct session *s)
{
	return s->phase == PHASE_BUSY && s->request != NULL && s->request->wait == WAIT_CLIENT;
}

void session_answer_drained(struct session *s)
{
	if (!session_answer_waits(s))
		return;
	net_stream_set_timer(s->stream, 0);
	session_request_continue(s);
}

void session_answer_stalled(struct session *s)
{
	struct err e;

	assert(session_answer_waits(s));
	(void)err_set(&e, ERR_STALLED, (int)s->server->config->send_timeout);
	end_with(s, &e);
	session_request_continue(s);
}

void session_answer_explain(struct session *s)
{
	struct call *c = &s->call;

	assert(!s->inflight);
	s->streaming.denied |= s->results != &s->sink; /* a cursor that found no room */
	if (c->rc < 0 && c->err.number == ERR_CANCELLED_NUMBER && s->streaming.stalled)
		(void)err_set(&c->err, ERR_STALLED, (int)s->server->config->send_timeout);
	else if (c->rc < 0 && c->err.number == ERR_CANCELLED_NUMBER && !s->cancelled)
		explain(s, &c->err);
	s->streaming.stalled = s->streaming.denied = false;
}
