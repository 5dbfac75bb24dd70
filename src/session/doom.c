/* doom.c — a transaction that an error takes with it: any error under XACT_ABORT, a time-out
 * always (clarification 6 of the errata). The error marks the request; when its text has ended,
 * and before the next call of the message runs, the transaction is rolled back. */
#include "session/request_int.h"

#include <assert.h>

#define TIMEOUT_NUMBER 50001

void session_doom_error(struct session *s, const struct err *e)
{
	if (s->request != NULL && err_is_error(e) && s->vars.trancount > 0 &&
	    (s->vars.xact_abort || e->number == TIMEOUT_NUMBER))
		s->request->doomed = true;
}

/* The DONE that waits comes after the ENVCHANGE that tells of the rollback. */
static void hold_done(struct session *s)
{
	struct request *r = s->request;

	r->held = s->resp.pending;
	r->held_kind = s->resp.kind;
	r->held_status = s->resp.status;
	r->held_command = s->resp.command;
	r->held_count = s->resp.count;
	s->resp.pending = false;
}

static void release_done(struct session *s)
{
	struct request *r = s->request;

	if (r->held)
		session_response_done(s, r->held_kind, r->held_status, r->held_command, r->held_count);
	r->held = false;
}

/* True: it goes on when the rollback is done. */
static bool undo(struct session *s)
{
	struct tsql_tran rollback = { .kind = TRAN_ROLLBACK };
	struct err e;
	int rc;

	assert(s->request->top == NULL && !s->request->held);
	hold_done(s);
	if (session_tran_do(s, &rollback, &rc, &e) == TRAN_WAIT) {
		s->request->wait = WAIT_DOOM;
		return true;
	}
	release_done(s);
	return false;
}

bool session_doom_undo(struct session *s)
{
	struct request *r = s->request;
	bool due = r->doomed && s->vars.trancount > 0;

	if (r->top != NULL)
		return false; /* the text is still running: it may report more */
	r->doomed = false;
	return due && undo(s);
}

void session_doom_undone(struct session *s)
{
	struct tsql_tran rollback = { .kind = TRAN_ROLLBACK };
	struct err e;

	(void)session_tran_finish(s, &rollback, &e);
	release_done(s);
}
