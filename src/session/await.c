/* await.c — procession_wait_for_work: the request waits for the bell or for its timer, whichever
 * comes first, and returns the number of its database. */
#include <assert.h>

#include "session/request_int.h"

void session_announce(struct session *s, struct database *db)
{
	if (s->tran.txn != NULL)
		s->tran.announces = true;
	else
		session_bell_ring(&s->server->bell, db);
}

static void answer(struct session *s)
{
	struct invocation *inv = s->request->inv;
	const struct outcome o = { .has_status = true,
				   .status = session_bell_number(&s->server->bell, inv->database) };

	session_invoke_finish(s, inv, &o);
}

void session_await_begin(struct session *s, struct invocation *inv)
{
	const struct value *ms = &s->call.values[0], *seen = &s->call.values[1];
	int64_t left = session_request_time_left(s);
	struct err e;

	assert(net_loop_is_here(s->loop) && !s->inflight);
	assert(inv->proc->nparams == 2 && s->request->inv == inv);
	if (s->vars.trancount > 0) {
		(void)err_set(&e, ERR_NOT_SUPPORTED, "Waiting for work inside of a transaction",
			      "Others could not bring it. Commit first.");
		session_invoke_fail(s, inv, &e, false);
		return;
	}
	if (seen->null || ms->u.i == 0 || left <= 0 ||
	    !session_bell_enter(&s->server->bell, &s->waiter, inv->database, (int32_t)seen->u.i)) {
		answer(s);
		return;
	}
	s->request->wait = WAIT_BELL;
	session_registry_doing(&s->entry, ACTIVITY_WAITFOR);
	net_stream_set_timer(s->stream, (uint64_t)(ms->u.i < left ? ms->u.i : left));
}

void session_await_over(struct session *s)
{
	(void)session_bell_leave(&s->server->bell, &s->waiter);
	session_registry_doing(&s->entry, ACTIVITY_BATCH);
	answer(s);
}

bool session_await_drain(struct session *s)
{
	if (s->request == NULL || s->request->wait != WAIT_BELL)
		return false;
	session_request_continue(s);
	return true;
}

void session_await_rung(struct session *s)
{
	if (s->phase == PHASE_BUSY)
		(void)session_await_drain(s);
}
