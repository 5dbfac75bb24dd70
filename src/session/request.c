/* request.c — runs a request: frames of text, RPCs one after another, transaction manager
 * requests. See request_int.h. */
#include "session/request_int.h"

#include <assert.h>

#include "base/clock.h"

/* ---- beginning and end ---- */

static struct request *request_new(struct session *s, enum request_kind kind, struct tds_cursor body)
{
	struct request *r = arena_alloc(&s->arena, sizeof(*r));

	assert(s->phase == PHASE_BUSY && s->request == NULL && !s->sending);
	session_response_begin(s);
	if (r == NULL)
		return NULL;
	r->kind = kind;
	r->body = body;
	r->start_ms = clock_mono_ms();
	r->reset = (s->in.flags & (TDS_STATUS_RESET | TDS_STATUS_RESET_SKIPTRAN)) != 0;
	r->reset_keep = (s->in.flags & TDS_STATUS_RESET_SKIPTRAN) != 0;
	s->request = r;
	return r;
}

static void out_of_memory(struct session *s)
{
	struct err e;

	(void)err_nomem(&e);
	session_request_fail(s, &e);
}

void session_request_abandon(struct session *s)
{
	if (s->request != NULL && s->request->wait == WAIT_BELL)
		(void)session_bell_leave(&s->server->bell, &s->waiter);
	if (s->request != NULL)
		session_frames_drop(s);
	session_cursor_give_up(&s->cursors); /* its text was read, and had no frame yet */
	s->request = NULL;
}

/* Sends the answer, and makes the session ready for the next request. */
static void request_over(struct session *s)
{
	assert(s->request == NULL && s->out.lent == 0);
	s->sending = false;
	/* What the answer was made of goes before the answer does: a large one may be a while on
	 * its way. */
	tds_message_reset(&s->in);
	arena_reset(&s->arena);
	session_send(s);
	s->cancelled = false;
	session_move(s, PHASE_READY);
	session_attention_acknowledge(s);
	if (atomic_load(&s->server->draining))
		session_end(s, "server is shutting down");
	session_resume(s);
}

/* The answer has values that are sent from where they lie. The client may read on for a while: the
 * session is ready meanwhile, but takes no request (see session_data). */
static void request_leaves(struct session *s)
{
	assert(s->request == NULL && !s->out.open);
	s->sending = true;
	session_send(s);
	session_move(s, PHASE_READY);
	session_request_drained(s);
}

void session_request_drained(struct session *s)
{
	if (s->sending && s->out.lent == 0 && s->phase == PHASE_READY)
		request_over(s);
}

static void request_finish(struct session *s)
{
	if (tds_out_failed(&s->out) && s->request != NULL)
		/* its last statement said too much: an error instead, if that can be */
		(void)session_answer_go_on(s);
	if (s->out.payload == 0 && !s->resp.pending)
		session_response_done(s, TDS_DONE, 0, CMD_FAILED, 0);
	session_request_abandon(s);
	session_response_end(s);
	if (tds_out_failed(&s->out)) {
		session_abort(s, s->out.wire.bytes.denied ? "no memory for the answer"
							  : "the answer exceeds max_result_size");
		return;
	}
	session_registry_doing(&s->entry, ACTIVITY_IDLE); /* before its client, or another one, can ask */
	if (s->out.lent > 0)
		request_leaves(s);
	else
		request_over(s);
}

void session_request_fail(struct session *s, const struct err *e)
{
	session_response_begin(s);
	session_response_message(s, e);
	session_response_done(s, TDS_DONE, TDS_DONE_ERROR, CMD_FAILED, 0);
	request_finish(s);
}

/* ---- frames ---- */

int session_frame_push(struct session *s, const struct tsql_program *p, const struct value *params,
		       size_t nparams, struct invocation *inv, bool in_proc, struct err *reterr)
{
	struct request *r = s->request;
	struct frame *f;

	if (r->top != NULL && r->top->depth >= FRAME_DEPTH_MAX)
		return err_set(reterr, ERR_NESTING, FRAME_DEPTH_MAX);
	f = arena_alloc(&s->arena, sizeof(*f));
	if (f == NULL)
		return err_nomem(reterr);
	f->session = s;
	f->host = (struct tsql_host){ .sink = s->results,
				      .vars = &s->vars,
				      .ops = &session_host_ops,
				      .max_value = (size_t)s->server->config->max_value_size,
				      .sql = databases_sql(databases_system(s->server->databases)) };
	f->inv = inv;
	f->in_proc = in_proc;
	f->trancount_before = s->vars.trancount;
	f->depth = r->top == NULL ? 1 : r->top->depth + 1;
	if (tsql_run_start(p, &f->host, params, nparams, &s->arena, &f->run, reterr) < 0)
		return -1;
	if (inv != NULL) {
		session_scope_begin(s, &f->scope);
		if (inv->database != NULL) /* EXEC other..sp_executesql */
			session_stand_in(s, inv->database);
	}
	f->up = r->top;
	r->top = f;
	return 0;
}

void session_frame_pop(struct session *s)
{
	struct frame *f = s->request->top;

	assert(f != NULL && f->session == s);
	tsql_run_end(&f->run);
	s->request->top = f->up;
	if (f->inv == NULL)
		return;
	session_scope_end(s, &f->scope);
	if (f->inv->cursor != NULL) { /* it will not be opened any more */
		s->results = &s->sink;
		session_cursor_give_up(&s->cursors);
		f->inv->cursor = NULL;
	}
	if (f->inv->prepared != NULL) {
		session_prepared_release(&s->prepared, f->inv->prepared);
		f->inv->prepared = NULL;
	}
}

/* All of them, from the innermost out. Before the last DONE: ends of texts are told. */
void session_frames_drop(struct session *s)
{
	while (s->request->top != NULL)
		session_frame_pop(s);
}

static void frame_ended(struct session *s, struct frame *f, bool failed)
{
	if (f->inv != NULL) {
		session_special_text_ended(s, f, failed);
		return;
	}
	session_frame_pop(s);
	s->request->stop = true;
}

int64_t session_request_time_left(const struct session *s)
{
	int64_t limit = s->server->config->execution_timeout * 1000;

	return limit == 0 ? INT64_MAX : s->request->start_ms + limit - clock_mono_ms();
}

static void stop_for_time(struct session *s)
{
	bool in_proc = s->request->top->in_proc;
	struct err e;

	(void)err_set(&e, ERR_TIMEOUT, (int)s->server->config->execution_timeout);
	session_response_message(s, &e);
	session_frames_drop(s);
	session_response_done(s, in_proc ? TDS_DONEPROC : TDS_DONE, TDS_DONE_ERROR, CMD_FAILED, 0);
	s->request->stop = true;
}

/* WAITFOR: no longer than the request may run; the timer then finds that its time is over. */
static void delay(struct session *s, unsigned ms)
{
	int64_t left = session_request_time_left(s), wait = ms < left ? ms : left;

	s->request->wait = WAIT_DELAY;
	session_registry_doing(&s->entry, ACTIVITY_WAITFOR);
	net_stream_set_timer(s->stream, wait <= 0 ? 1 : (uint64_t)wait);
}

/* ---- transaction statements ---- */

static void tran_start(struct session *s, struct frame *f)
{
	struct err e;
	int rc = 0;

	f->tran_touched = true;
	if (session_tran_do(s, &f->run.tran, &rc, &e) == TRAN_WAIT)
		s->request->wait = WAIT_TRAN;
	else
		tsql_tran_done(&f->run, rc, &e);
}

static void tran_returned(struct session *s)
{
	struct frame *f = s->request->top;
	struct err e;
	int rc = session_tran_finish(s, &f->run.tran, &e);

	tsql_tran_done(&f->run, rc, &e);
}

/* ---- advancing ---- */

static void obey(struct session *s, enum tsql_wants wants);

/* On a work thread, and back from there. */
static void run_long(struct session *s, struct meter *m)
{
	s->request->wants = tsql_next_long(&s->request->top->run, m);
}

static void ran_long(struct session *s)
{
	if (s->request->wants == TSQL_YIELD && !session_answer_go_on(s)) /* it may have said much */
		return;
	obey(s, s->request->wants);
}

static void obey(struct session *s, enum tsql_wants wants)
{
	struct frame *f = s->request->top;

	switch (wants) {
	case TSQL_ENDED: frame_ended(s, f, false); break;
	case TSQL_FAILED: frame_ended(s, f, true); break;
	case TSQL_EXEC: session_invoke_exec(s, f); break;
	case TSQL_EXEC_TEXT: session_invoke_exec_text(s, f); break;
	case TSQL_QUERY: session_select_start(s, f); break;
	case TSQL_TRAN: tran_start(s, f); break;
	case TSQL_WAIT: delay(s, f->run.wait_ms); break;
	case TSQL_YIELD:
		if (session_request_time_left(s) > 0)
			session_work_begin(s, run_long, ran_long);
		else
			stop_for_time(s);
		break;
	case TSQL_HERE: /* tsql_next is next */ break;
	}
}

static void batch_compile(struct session *s, struct meter *m)
{
	struct request *r = s->request;
	struct str text;

	r->work_rc = tds_get_batch(&r->body, &s->arena, &text, &r->work_err);
	if (r->work_rc == 0)
		r->work_rc = tsql_compile(text, &s->vars, NULL, 0, m, &s->arena, &r->program, &r->work_err);
}

static void batch_compiled(struct session *s)
{
	struct request *r = s->request;
	struct err *e = &r->work_err;

	if (r->work_rc < 0)
		session_work_explain(s, e);
	if (r->work_rc < 0 || session_frame_push(s, r->program, NULL, 0, NULL, false, e) < 0) {
		s->vars.error = e->number;
		session_response_message(s, e);
		session_response_done(s, TDS_DONE, TDS_DONE_ERROR, CMD_FAILED, 0);
		r->doomed = false; /* a text that does not compile has run nothing */
		r->stop = true;
	}
}

static void batch_begin(struct session *s)
{
	struct request *r = s->request;
	uint64_t descriptor;

	r->work_rc = tds_get_headers(&r->body, s->wire.version, &descriptor, &r->work_err);
	if (r->work_rc < 0)
		batch_compiled(s);
	else
		session_work_or_now(s, tds_left(&r->body) > 2 * WORK_TEXT, batch_compile, batch_compiled);
}

/* Values become ours on the way: a gigabyte of UTF-16 takes a second. */
static void rpc_read(struct session *s, struct meter *m)
{
	struct request *r = s->request;
	struct tds_limits limits = { .max_params = 2100,
				     .max_value = (size_t)s->server->config->max_value_size };

	(void)m;
	r->work_rc = tds_get_rpc(&r->body, s->wire.version, &limits, &s->arena, &r->rpc, &r->work_err);
}

static void rpc_was_read(struct session *s)
{
	struct request *r = s->request;

	if (r->work_rc == 0) {
		r->stop = true;
		return;
	}
	if (s->resp.pending && s->resp.kind == TDS_DONEPROC)
		s->resp.status |= TDS_DONE_RPCINBATCH;
	if (r->work_rc < 0) {
		session_response_message(s, &r->work_err);
		session_response_done(s, TDS_DONEPROC, TDS_DONE_ERROR, CMD_EXEC, 0);
		r->stop = true;
		return;
	}
	session_invoke_rpc(s, &r->rpc);
}

static void rpc_next(struct session *s)
{
	session_work_or_now(s, tds_left(&s->request->body) > WORK_RPC, rpc_read, rpc_was_read);
}

static void rpc_begin(struct session *s)
{
	struct tds_cursor *body = &s->request->body;
	uint64_t descriptor;
	struct err e;
	int rc = tds_get_headers(body, s->wire.version, &descriptor, &e);

	if (rc == 0 && tds_left(body) == 0)
		rc = err_set(&e, ERR_RPC_NAME); /* a message without a call */
	if (rc < 0) {
		session_response_message(s, &e);
		session_response_done(s, TDS_DONEPROC, TDS_DONE_ERROR, CMD_EXEC, 0);
		s->request->stop = true;
	}
}

/* Clarification 7: a transaction that was rolled back meanwhile is told by the next request,
 * whatever this would have done. */
static bool told_of_loss(struct session *s)
{
	bool rpc = s->request->kind == REQUEST_RPC;
	struct err e;

	if (s->request->kind == REQUEST_TM || s->tran.txn == NULL || !engine_txn_is_lost(s->tran.txn, &e))
		return false;
	session_response_message(s, &e);
	session_tran_lost(s);
	session_response_done(s, rpc ? TDS_DONEPROC : TDS_DONE, TDS_DONE_ERROR, rpc ? CMD_EXEC : CMD_FAILED,
			      0);
	s->request->stop = true;
	return true;
}

static void advance(struct session *s)
{
	struct request *r = s->request;

	if (!r->begun) {
		r->begun = true;
		if (told_of_loss(s))
			return;
		if (r->kind == REQUEST_BATCH)
			batch_begin(s);
		else if (r->kind == REQUEST_RPC)
			rpc_begin(s);
		else
			session_tm_begin(s);
	} else if (r->top != NULL) {
		obey(s, tsql_next(&r->top->run));
	} else if (r->kind == REQUEST_RPC) {
		rpc_next(s);
	} else {
		r->stop = true;
	}
}

/* ---- cancelling ---- */

static bool is_complete(const struct request *r)
{
	return r->stop || (r->begun && r->top == NULL && r->kind == REQUEST_RPC && tds_left(&r->body) == 0);
}

/* Wire notes 11.1: the message is ended with an error bit and without an ERROR; under XACT_ABORT
 * the transaction goes too. */
static void cancel_finish(struct session *s)
{
	struct request *r = s->request;
	struct tsql_tran rollback = { .kind = TRAN_ROLLBACK };
	struct err e;
	int rc;

	session_stream_enable(s, false);
	if (r->wait != WAIT_CANCEL && s->vars.xact_abort && s->vars.trancount > 0) {
		if (session_tran_do(s, &rollback, &rc, &e) == TRAN_WAIT) {
			r->wait = WAIT_CANCEL;
			return;
		}
	} else if (r->wait == WAIT_CANCEL) {
		(void)session_tran_finish(s, &rollback, &e);
	}
	session_frames_drop(s);
	session_response_done(s, r->kind == REQUEST_RPC ? TDS_DONEPROC : TDS_DONE, TDS_DONE_ERROR, CMD_FAILED,
			      0);
	request_finish(s);
}

/* The call was stopped by the attention, or nothing was in flight. */
static bool cancel_now(const struct session *s)
{
	const struct request *r = s->request;

	switch (r->wait) {
	case WAIT_NONE:
	case WAIT_DELAY:
	case WAIT_BELL:
	case WAIT_CLIENT:
	case WAIT_WORK:
	case WAIT_CANCEL: return true;
	case WAIT_PROC:
	case WAIT_QUERY: return s->call.rc < 0 && s->call.err.number == ERR_CANCELLED_NUMBER;
	default: return false;
	}
}

/* ---- continuing ---- */

static void resolve_wait(struct session *s)
{
	struct request *r = s->request;
	enum request_wait wait = r->wait;

	assert(!s->inflight);
	r->wait = WAIT_NONE;
	switch (wait) {
	case WAIT_RESET:
		session_tran_forget(s);
		if (r->inv != NULL)
			session_special_reset_done(s, r->inv);
		else
			session_ready_reset(s, false);
		break;
	case WAIT_PROC: session_invoke_returned(s); break;
	case WAIT_ABORT: session_invoke_aborted(s); break;
	case WAIT_DOOM: session_doom_undone(s); break;
	case WAIT_QUERY: session_select_returned(s); break;
	case WAIT_TRAN: tran_returned(s); break;
	case WAIT_TM: session_tm_returned(s); break;
	case WAIT_WORK: r->work_done(s); break;
	case WAIT_BELL: session_await_over(s); break;
	case WAIT_DELAY:
		session_registry_doing(&s->entry, ACTIVITY_BATCH);
		if (session_request_time_left(s) <= 0)
			stop_for_time(s);
		else
			tsql_wait_done(&r->top->run);
		break;
	default: break;
	}
}

void session_request_continue(struct session *s)
{
	struct request *r = s->request;

	assert(net_loop_is_here(s->loop) && s->phase == PHASE_BUSY && r != NULL && !s->inflight);
	if (s->cancelled && cancel_now(s)) {
		if (s->call.txn_lost)
			session_tran_lost(s);
		cancel_finish(s);
		return;
	}
	resolve_wait(s);
	while (r->wait == WAIT_NONE && !r->stop) {
		if (s->cancelled && !is_complete(r)) {
			cancel_finish(s);
			return;
		}
		if (session_answer_go_on(s) && !session_doom_undo(s))
			advance(s);
	}
	if (r->wait == WAIT_NONE && !session_doom_undo(s))
		request_finish(s);
}

void session_request_timer(struct session *s)
{
	if (s->request != NULL && (s->request->wait == WAIT_DELAY || s->request->wait == WAIT_BELL))
		session_request_continue(s);
}

static void request_start(struct session *s, enum request_kind kind, struct tds_cursor body)
{
	struct request *r = request_new(s, kind, body);

	if (r == NULL) {
		out_of_memory(s);
		return;
	}
	if (r->reset) {
		tds_put_envchange_bytes(&s->out, 18, NULL, 0, NULL, 0);
		if (!r->reset_keep && session_tran_abandon(s)) {
			r->wait = WAIT_RESET;
			return;
		}
		session_ready_reset(s, r->reset_keep);
	}
	session_request_continue(s);
}

void session_request_batch(struct session *s, struct tds_cursor body)
{
	request_start(s, REQUEST_BATCH, body);
}

void session_request_rpc(struct session *s, struct tds_cursor body)
{
	request_start(s, REQUEST_RPC, body);
}

void session_request_tm(struct session *s, struct tds_cursor body)
{
	request_start(s, REQUEST_TM, body);
}
