/* invoke.c — one procedure call, from an RPC or from EXEC: found, admitted, sent to its
 * engine, answered (wire notes 14.2 – 14.5). */
#include "session/request_int.h"

#include <assert.h>
#include <stdio.h>

#include "session/audit.h"

/* ---- answers ---- */

void session_invoke_finish(struct session *s, struct invocation *inv, const struct outcome *o)
{
	bool nested = inv->caller != NULL && inv->caller->in_proc;
	struct outcome out = *o;
	struct value *converted = NULL, *collected = NULL;
	struct err e;

	if (inv->rpc != NULL && out.rc == 0 && session_outputs_convert(s, inv, &converted, &e) < 0) {
		session_response_message(s, &e);
		out.rc = -1;
		out.error_number = e.number;
		out.has_status = false;
	}
	if (inv->into != NULL) {
		/* the INSERT has a DONE of its own */
	} else if (nested) {
		if (s->results == &s->sink ? !s->vars.nocount || out.rc < 0 : out.rc < 0)
			session_response_done(s, TDS_DONEINPROC, out.rc < 0 ? TDS_DONE_ERROR : 0, CMD_EXEC,
					      0);
	} else {
		session_response_touch(s);
		if (out.has_status)
			tds_put_returnstatus(&s->out, out.status);
		if (converted != NULL)
			session_outputs_send(s, inv, converted);
		session_response_done(s, TDS_DONEPROC, out.rc < 0 ? TDS_DONE_ERROR : 0, CMD_EXEC, 0);
	}
	s->vars.error = out.error_number;
	if (inv->caller == NULL)
		return;
	if (out.rc == 0)
		collected = session_outputs_collect(s, inv);
	tsql_exec_done(&inv->caller->run, out.rc, out.error_number, out.abort,
		       out.has_status ? &out.status : NULL, collected);
}

static bool aborts_transaction(const struct session *s)
{
	return s->vars.xact_abort && s->vars.trancount > 0;
}

void session_invoke_fail(struct session *s, struct invocation *inv, struct err *e, bool abort)
{
	struct outcome o = { .rc = -1, .error_number = e->number, .abort = abort || aborts_transaction(s) };

	session_response_message(s, e);
	session_invoke_finish(s, inv, &o);
}

/* ---- back from the engine ---- */

static struct outcome outcome_of(const struct call *c, bool abort)
{
	return (struct outcome){ .rc = c->rc,
				 .error_number = c->rc < 0 ? c->err.number : 0,
				 .abort = abort,
				 .has_status = c->status_set,
				 .status = c->status };
}

void session_invoke_returned(struct session *s)
{
	struct request *r = s->request;
	struct invocation *inv = r->inv;
	struct call *c = &s->call;
	struct tsql_tran rollback = { .kind = TRAN_ROLLBACK };
	struct outcome o;
	struct err e;
	int rc;

	assert(!s->inflight && inv != NULL && inv->proc == c->proc);
	session_stream_enable(s, false);
	if (inv->into != NULL && inv->into->err.number != 0 && c->rc < 0 && !s->cancelled)
		c->err = inv->into->err; /* a row that the table variable cannot hold */
	session_answer_explain(s);
	if (c->rc < 0)
		session_response_message(s, &c->err);
	if (c->txn_lost)
		session_tran_lost(s);
	if (c->rc == 0 && inv->proc->cleanup_later)
		session_cleanup(s);
	if (c->rc == 0 && inv->proc->announces_work)
		session_announce(s, inv->database);
	if (c->rc == 0)
		session_audit_call(s->server, &s->log, c, s->vars.trancount > 0);
	/* A time-out takes the transaction with it (clarification 6); where the engine saw it,
	 * it is gone already. What follows in the text was meant to be part of the transaction: it
	 * must not run on its own. */
	o = outcome_of(c, c->rc < 0 && (c->txn_lost || aborts_transaction(s) ||
					(c->err.number == ERR_TIMEOUT_NUMBER && s->vars.trancount > 0)));
	if (o.abort && s->vars.trancount > 0) {
		r->aborted = o; /* the rollback takes the place of the call */
		if (session_tran_do(s, &rollback, &rc, &e) == TRAN_WAIT) {
			r->wait = WAIT_ABORT;
			return;
		}
	}
	session_invoke_finish(s, inv, &o);
}

/* The rollback that XACT_ABORT demands is done; the call that failed is answered now. */
void session_invoke_aborted(struct session *s)
{
	struct tsql_tran rollback = { .kind = TRAN_ROLLBACK };
	struct err e;

	(void)session_tran_finish(s, &rollback, &e);
	session_invoke_finish(s, s->request->inv, &s->request->aborted);
}

/* ---- on the way in ---- */

/* SET FMTONLY ON: the shape of the first result set, and nothing is run. */
static void describe_only(struct session *s, struct invocation *inv)
{
	struct outcome o = { .has_status = true };

	for (uint16_t i = 0; i < inv->proc->nsteps; i++) {
		const struct step *st = &inv->proc->steps[i];
		if (st->kind != STEP_ROWS)
			continue;
		(void)call_sink_columns(s->results, st->columns, st->ncolumns);
		if (s->results == &s->sink)
			session_response_done(s, TDS_DONEINPROC, TDS_DONE_COUNT, CMD_SELECT, 0);
		break;
	}
	session_invoke_finish(s, inv, &o);
}

static struct database *target_database(struct session *s, const struct proc_name *n, struct str given,
					struct err *reterr)
{
	struct database *db = s->database;
	char name[300];

	if (n->database.n > 0)
		db = databases_find(s->server->databases, n->database);
	if (db == NULL) {
		str_copy(name, sizeof(name), given);
		(void)err_set(reterr, ERR_NO_PROC, name);
		return NULL;
	}
	if (db != s->database && db->service != SERVICE_SYSTEM && session_rights(s, db) == 0) {
		(void)err_set(reterr, ERR_NO_ACCESS, s->login.name, db->name);
		return NULL;
	}
	if (db->engine == NULL) {
		(void)err_set(reterr, ERR_NOT_SERVED, db->name);
		return NULL;
	}
	return db;
}

static void submit_proc(struct session *s, struct invocation *inv, struct database *db)
{
	bool system = inv->proc->service == SERVICE_SYSTEM;
	struct err e;

	assert(s->call.proc == inv->proc && s->request->inv == inv);
	if (s->vars.fmtonly) {
		describe_only(s, inv);
		return;
	}
	if (inv->proc->waits_for_work) {
		session_await_begin(s, inv);
		return;
	}
	if (!system && session_tran_join(s, db, !inv->proc->read_only, &e) < 0) {
		session_invoke_fail(s, inv, &e, false);
		return;
	}
	s->call.scratch = inv->document;
	if (inv->into != NULL)
		s->call.sink = &inv->into->sink;
	/* a short one may run on this thread, which sends */
	session_stream_enable(s, inv->proc->read_only && !inv->proc->is_short && s->call.txn == NULL &&
					 s->call.sink == &s->sink);
	s->request->wait = WAIT_PROC;
	session_call_submit(s, system ? databases_system(s->server->databases)->engine : db->engine);
}

/* ---- what a procedure does before it needs the database ---- */

static struct engine_database *engine_of(const struct session *s, const struct invocation *inv)
{
	return inv->proc->service == SERVICE_SYSTEM ? databases_system(s->server->databases)->engine
						    : inv->database->engine;
}

/* A document is an xml value, which is no text to type_info. */
static size_t document_bytes(const struct call *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nvalues; i++)
		if (!c->values[i].null && c->values[i].type.id == TYPE_XML)
			n += c->values[i].u.s.n;
	return n;
}

/* On a work thread, where s->call is not the procedure's: only whether it was cancelled. */
static void ahead_run(struct session *s, struct meter *m)
{
	struct invocation *inv = s->request->inv;

	inv->ahead->scratch = NULL;
	inv->ahead->rc = engine_run_ahead(engine_of(s, inv), inv->ahead, m);
}

static void ahead_done(struct session *s)
{
	struct invocation *inv = s->request->inv;
	struct call *c = &s->call;

	session_call_make(s, CALL_PROC, inv->database);
	c->proc = inv->proc;
	c->values = inv->ahead->values;
	c->wanted = inv->ahead->wanted;
	c->nvalues = inv->ahead->nvalues;
	inv->document = inv->ahead->scratch;
	if (inv->ahead->rc == 0) {
		submit_proc(s, inv, inv->database);
		return;
	}
	c->rc = -1;
	c->err = inv->ahead->err;
	c->status = inv->ahead->status;
	c->status_set = inv->ahead->status_set;
	session_work_explain(s, &c->err);
	session_invoke_returned(s);
}

/* A document is read before the call takes a place in the queue of the writer: here when it is
 * short, otherwise on a work thread. */
static void ahead_begin(struct session *s, struct invocation *inv)
{
	struct err e;

	inv->ahead = arena_alloc(&s->arena, sizeof(*inv->ahead));
	if (inv->ahead == NULL) {
		(void)err_nomem(&e);
		session_invoke_fail(s, inv, &e, false);
		return;
	}
	call_begin(inv->ahead, CALL_PROC);
	inv->ahead->proc = inv->proc;
	inv->ahead->arena = &s->arena;
	inv->ahead->values = s->call.values;
	inv->ahead->wanted = s->call.wanted;
	inv->ahead->nvalues = s->call.nvalues;
	session_work_or_now(s, document_bytes(&s->call) > WORK_TEXT, ahead_run, ahead_done);
}

/* Too many arguments is a compile error in a batch, so it ends it (wire notes 14.4). */
static bool ends_batch(const struct invocation *inv, const struct err *e)
{
	return inv->caller != NULL &&
	       (e->number == ERR_TOO_MANY_ARGS_NUMBER || e->number == ERR_NO_PARAMS_NUMBER);
}

static void invoke_proc(struct session *s, struct invocation *inv, const struct proc_name *n,
			struct str given)
{
	char name[300];
	struct database *db;
	struct err e;

	db = target_database(s, n, given, &e);
	if (db == NULL) {
		e.line = inv->line;
		session_invoke_fail(s, inv, &e, false);
		return;
	}
	inv->proc = catalogue_find(db->service, n->schema, n->name);
	if (inv->proc == NULL) {
		str_copy(name, sizeof(name), given);
		(void)err_set(&e, ERR_NO_PROC, name);
		e.line = inv->line;
		session_invoke_fail(s, inv, &e, false);
		return;
	}
	session_call_make(s, CALL_PROC, db);
	s->call.proc = inv->proc;
	if (catalogue_admit(&s->call, inv->args, inv->nargs, inv->rpc != NULL, &inv->origin, &e) < 0) {
		if (e.proc[0] == '\0')
			str_copy(e.proc, sizeof(e.proc), str_of(inv->proc->name));
		session_invoke_fail(s, inv, &e, ends_batch(inv, &e));
		return;
	}
	inv->database = db;
	s->request->inv = inv;
	if (engine_has_ahead(engine_of(s, inv), inv->proc) && !s->vars.fmtonly)
		ahead_begin(s, inv);
	else
		submit_proc(s, inv, db);
}

static void invoke_name(struct session *s, struct invocation *inv, struct str name)
{
	struct proc_name n;
	struct err e;

	if (catalogue_name_parse(name, &s->arena, &n, &e) < 0) {
		e.line = inv->line;
		session_invoke_fail(s, inv, &e, false);
		return;
	}
	inv->special = session_special_by_name(n.name);
	if (inv->special == SPECIAL_NONE) {
		invoke_proc(s, inv, &n, name);
		return;
	}
	if (inv->into != NULL) {
		(void)err_set(&e, ERR_NOT_SUPPORTED, "INSERT … EXEC of a text or a cursor",
			      "Name a procedure that has a result set.");
		e.line = inv->line;
		session_invoke_fail(s, inv, &e, true);
		return;
	}
	if (n.database.n > 0) {
		inv->database = target_database(s, &n, name, &e);
		if (inv->database == NULL) {
			e.line = inv->line;
			session_invoke_fail(s, inv, &e, false);
			return;
		}
	}
	session_special_invoke(s, inv);
}

static struct invocation *invocation_new(struct session *s)
{
	struct invocation *inv = arena_alloc(&s->arena, sizeof(*inv));
	struct err e;

	if (inv == NULL) {
		(void)err_nomem(&e);
		session_response_message(s, &e);
		session_frames_drop(s);
		session_response_done(s, TDS_DONE, TDS_DONE_ERROR, CMD_FAILED, 0);
		s->request->stop = true;
	}
	return inv;
}

static struct argument *rpc_arguments(struct session *s, const struct tds_rpc *rpc)
{
	struct argument *args = arena_array(&s->arena, rpc->nparams + 1, sizeof(*args));

	for (size_t i = 0; args != NULL && i < rpc->nparams; i++) {
		const struct tds_param *p = &rpc->params[i];

		args[i].name = p->name;
		args[i].value = p->value;
		args[i].is_default = p->is_default;
		args[i].is_output = p->by_ref;
	}
	return args;
}

void session_invoke_rpc(struct session *s, const struct tds_rpc *rpc)
{
	struct invocation *inv = invocation_new(s);
	struct err e;

	if (inv == NULL)
		return;
	inv->rpc = rpc;
	inv->args = rpc_arguments(s, rpc);
	inv->nargs = rpc->nparams;
	if (inv->args == NULL) {
		(void)err_nomem(&e);
		inv->nargs = 0;
		session_invoke_fail(s, inv, &e, false);
	} else if (rpc->no_exec) {
		(void)err_set(&e, ERR_NOT_SUPPORTED, "An RPC marked as not to be executed",
			      "It was left out.");
		session_invoke_fail(s, inv, &e, false);
	} else if (rpc->proc_id == 0) {
		invoke_name(s, inv, rpc->name);
	} else {
		inv->special = session_special_by_id(rpc->proc_id);
		if (inv->special != SPECIAL_NONE) {
			session_special_invoke(s, inv);
			return;
		}
		char name[24];
		snprintf(name, sizeof(name), "#%u", rpc->proc_id);
		(void)err_set(&e, ERR_NO_PROC, name);
		session_invoke_fail(s, inv, &e, false);
	}
}

void session_invoke_exec(struct session *s, struct frame *f)
{
	struct invocation *inv = invocation_new(s);

	if (inv == NULL)
		return;
	inv->caller = f;
	inv->args = f->run.exec.args;
	inv->nargs = f->run.exec.nargs;
	inv->line = f->run.exec.line;
	inv->into = f->run.exec.into;
	invoke_name(s, inv, f->run.exec.name);
}

void session_invoke_exec_text(struct session *s, struct frame *f)
{
	struct invocation *inv = invocation_new(s);

	if (inv == NULL)
		return;
	inv->caller = f;
	inv->line = f->run.line;
	inv->special = SPECIAL_NONE;
	inv->fixed = (struct special_args){ .has_text = true, .text = f->run.text, .handle_arg = -1 };
	session_special_invoke(s, inv);
}
