/* tm.c — transaction manager requests (wire notes 10.1): the same transactions, asked for
 * without language. */
#include <assert.h>

#include "session/request_int.h"

static void finish(struct session *s, int rc, const struct err *e)
{
	if (rc < 0)
		session_response_message(s, e);
	session_response_done(s, TDS_DONE, rc < 0 ? TDS_DONE_ERROR : 0, CMD_FAILED, 0);
	s->request->stop = true;
}

/* "Commit (or roll back) and begin again": both tell the client before the one DONE. */
static void begin_again(struct session *s)
{
	struct tsql_tran begin = { .kind = TRAN_BEGIN, .name = s->request->tm.new_name };
	struct err e;
	int rc;

	if (s->request->tm.new_isolation != 0)
		s->vars.isolation = s->request->tm.new_isolation;
	(void)session_tran_do(s, &begin, &rc, &e);
}

static void done(struct session *s, int rc, struct err *e)
{
	struct request *r = s->request;
	bool ends = r->tran.kind == TRAN_COMMIT || r->tran.kind == TRAN_ROLLBACK;

	if (rc < 0 && ends)
		e->state = r->tran.kind == TRAN_COMMIT ? 3 : 2;
	if (rc == 0 && ends && r->tm.begin_again && s->vars.trancount == 0)
		begin_again(s);
	finish(s, rc, e);
}

void session_tm_returned(struct session *s)
{
	struct err e;
	int rc = session_tran_finish(s, &s->request->tran, &e);

	done(s, rc, &e);
}

static bool translate(struct session *s, struct err *reterr)
{
	struct request *r = s->request;

	r->tran.name = r->tm.name;
	switch (r->tm.type) {
	case TDS_TM_BEGIN:
		if (r->tm.isolation != 0)
			s->vars.isolation = r->tm.isolation;
		r->tran.kind = TRAN_BEGIN;
		return true;
	case TDS_TM_COMMIT: r->tran.kind = TRAN_COMMIT; return true;
	case TDS_TM_ROLLBACK: r->tran.kind = TRAN_ROLLBACK; return true;
	case TDS_TM_SAVE: r->tran.kind = TRAN_SAVE; return true;
	default: (void)err_set(reterr, ERR_PROMOTE); return false;
	}
}

void session_tm_begin(struct session *s)
{
	struct request *r = s->request;
	uint64_t descriptor;
	struct err e;
	int rc = 0;

	assert(net_loop_is_here(s->loop) && !s->inflight);
	if (tds_get_headers(&r->body, s->wire.version, &descriptor, &e) < 0 ||
	    tds_get_tm(&r->body, &s->arena, &r->tm, &e) < 0 || !translate(s, &e)) {
		finish(s, -1, &e);
		return;
	}
	if (session_tran_do(s, &r->tran, &rc, &e) == TRAN_WAIT)
		r->wait = WAIT_TM;
	else
		done(s, rc, &e);
}
