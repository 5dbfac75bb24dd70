/* invoke.c — one procedure call, from an RPC or from EXEC: found, admitted, sent to its executor, answered (wire notes 14.2 – 14.5). */
#include "session/request_int.h"

#include <stdio.h>

/* ---- answers ---- */

void invoke_finish(struct session *s, struct invocation *inv, const struct outcome *o)
{
	bool nested = inv->caller != NULL && inv->caller->in_proc;
	struct outcome out = *o;
	struct value *converted = NULL, *collected = NULL;
	struct err e;

	if (inv->rpc != NULL && out.rc == 0 && outputs_convert(s, inv, &converted, &e) < 0) {
		response_message(s, &e);
		out.rc = -1;
		out.error_number = e.number;
		out.has_status = false;
	}
	if (nested) {
		if (!s->vars.nocount || out.rc < 0)
			response_done(s, TDS_DONEINPROC, out.rc < 0 ? TDS_DONE_ERROR : 0, CMD_EXEC, 0);
	} else {
		response_touch(s);
		if (out.has_status)
			tds_put_returnstatus(&s->out, out.status);
		if (converted != NULL)
			outputs_send(s, inv, converted);
		response_done(s, TDS_DONEPROC, out.rc < 0 ? TDS_DONE_ERROR : 0, CMD_EXEC, 0);
	}
	s->vars.error = out.error_number;
	if (inv->caller == NULL)
		return;
	if (out.rc == 0)
		collected = outputs_collect(s, inv);
	tsql_exec_done(&inv->caller->run, out.rc, out.error_number, out.abort,
		       out.has_status ? &out.status : NULL, collected);
}

static bool aborts_transaction(const struct session *s)
{
	return s->vars.xact_abort && s->vars.trancount > 0;
}

void invoke_fail(struct session *s, struct invocation *inv, struct err *e, bool abort)
{
	struct outcome o = { .rc = -1, .error_number = e->number, .abort = abort || aborts_transaction(s) };

	response_message(s, e);
	invoke_finish(s, inv, &o);
}

/* ---- back from the executor ---- */

static struct outcome outcome_of(const struct call *c, bool abort)
{
	return (struct outcome){ .rc = c->rc,
				 .error_number = c->rc < 0 ? c->err.number : 0,
				 .abort = abort,
				 .has_status = c->status_set,
				 .status = c->status };
}

void invoke_returned(struct session *s)
{
	struct request *r = s->request;
	struct invocation *inv = r->inv;
	struct call *c = &s->call;
	struct tsql_tran rollback = { .kind = TRAN_ROLLBACK };
	struct outcome o;
	struct err e;
	int rc;

	stream_enable(s, false);
	answer_explain(s);
	if (c->rc < 0)
		response_message(s, &c->err);
	if (c->txn_lost)
		tran_lost(s);
	if (c->rc == 0 && inv->proc->cleanup_later)
		session_cleanup(s);
	/* An administration procedure changed logins or rights: what is cached of them is read again, now that it is durable. */
	if (c->rc == 0 && inv->proc->service == SERVICE_SYSTEM && !inv->proc->read_only)
		auth_reload(s->server->auth);
	/* A time-out takes the transaction with it (clarification 6); where the executor saw it, it is gone already. */
	o = outcome_of(
		c, c->rc < 0 && (aborts_transaction(s) || (c->err.number == 50001 && s->vars.trancount > 0)));
	if (o.abort) {
		r->aborted = o; /* the rollback takes the place of the call */
		if (tran_do(s, &rollback, &rc, &e) == TRAN_WAIT) {
			r->wait = WAIT_ABORT;
			return;
		}
	}
	invoke_finish(s, inv, &o);
}

/* The rollback that XACT_ABORT demands is done; the call that failed is answered now. */
void invoke_aborted(struct session *s)
{
	struct tsql_tran rollback = { .kind = TRAN_ROLLBACK };
	struct err e;

	(void)tran_finish(s, &rollback, &e);
	invoke_finish(s, s->request->inv, &s->request->aborted);
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
		(void)sink_columns(&s->sink, st->columns, st->ncolumns);
		response_done(s, TDS_DONEINPROC, TDS_DONE_COUNT, CMD_SELECT, 0);
		break;
	}
	invoke_finish(s, inv, &o);
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
		(void)err_set(reterr, ERR_NO_ACCESS, s->login_name, db->name);
		return NULL;
	}
	if (db->executor == NULL) {
		(void)err_set(reterr, ERR_NOT_SERVED, db->name);
		return NULL;
	}
	return db;
}

static void submit_proc(struct session *s, struct invocation *inv, struct database *db)
{
	bool system = inv->proc->service == SERVICE_SYSTEM;
	struct err e;

	if (s->vars.fmtonly) {
		describe_only(s, inv);
		return;
	}
	if (!system && tran_join(s, db, !inv->proc->read_only, &e) < 0) {
		invoke_fail(s, inv, &e, false);
		return;
	}
	s->call.scratch = inv->document;
	stream_enable(s, inv->proc->read_only && !inv->proc->is_short &&
				 s->call.txn == NULL); /* a short one may run on this thread, which sends */
	s->request->wait = WAIT_PROC;
	call_submit(s, system ? databases_system(s->server->databases)->executor : db->executor);
}

/* ---- what a procedure does before it needs the database ---- */

static struct executor *executor_of(const struct session *s, const struct invocation *inv)
{
	return inv->proc->service == SERVICE_SYSTEM ? databases_system(s->server->databases)->executor
						    : inv->database->executor;
}

static size_t text_bytes(const struct call *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nvalues; i++)
		if (!c->values[i].null && type_info(c->values[i].type.id)->is_text)
			n += c->values[i].u.s.n;
	return n;
}

/* On a work thread, where s->call is not the procedure's: only whether it was cancelled. */
static void ahead_run(struct session *s, struct meter *m)
{
	struct invocation *inv = s->request->inv;

	inv->ahead->scratch = NULL;
	inv->ahead->rc = executor_run_ahead(executor_of(s, inv), inv->ahead, m);
}

static void ahead_done(struct session *s)
{
	struct invocation *inv = s->request->inv;
	struct call *c = &s->call;

	call_make(s, CALL_PROC, inv->database);
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
	work_explain(s, &c->err);
	invoke_returned(s);
}

/* A document is read before the call takes a place in the queue of the writer: here when it is short, otherwise on a work thread. */
static void ahead_begin(struct session *s, struct invocation *inv)
{
	struct err e;

	inv->ahead = arena_alloc(&s->arena, sizeof(*inv->ahead));
	if (inv->ahead == NULL) {
		(void)err_nomem(&e);
		invoke_fail(s, inv, &e, false);
		return;
	}
	call_begin(inv->ahead, CALL_PROC);
	inv->ahead->proc = inv->proc;
	inv->ahead->arena = &s->arena;
	inv->ahead->values = s->call.values;
	inv->ahead->wanted = s->call.wanted;
	inv->ahead->nvalues = s->call.nvalues;
	work_or_now(s, text_bytes(&s->call) > WORK_TEXT, ahead_run, ahead_done);
}

/* Too many arguments is a compile error in a batch, so it ends it (wire notes 14.4). */
static bool ends_batch(const struct invocation *inv, const struct err *e)
{
	return inv->caller != NULL && (e->number == 8144 || e->number == 8146);
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
		invoke_fail(s, inv, &e, false);
		return;
	}
	inv->proc = catalogue_find(db->service, n->schema, n->name);
	if (inv->proc == NULL) {
		str_copy(name, sizeof(name), given);
		(void)err_set(&e, ERR_NO_PROC, name);
		e.line = inv->line;
		invoke_fail(s, inv, &e, false);
		return;
	}
	call_make(s, CALL_PROC, db);
	s->call.proc = inv->proc;
	if (catalogue_admit(&s->call, inv->args, inv->nargs, inv->rpc != NULL, &inv->origin, &e) < 0) {
		if (e.proc[0] == '\0')
			str_copy(e.proc, sizeof(e.proc), str_of(inv->proc->name));
		invoke_fail(s, inv, &e, ends_batch(inv, &e));
		return;
	}
	inv->database = db;
	s->request->inv = inv;
	if (executor_has_ahead(inv->proc) && !s->vars.fmtonly)
		ahead_begin(s, inv);
	else
		submit_proc(s, inv, db);
}

static void invoke_name(struct session *s, struct invocation *inv, struct str name)
{
	struct proc_name n;
	struct err e;

	if (proc_name_parse(name, &s->arena, &n, &e) < 0) {
		e.line = inv->line;
		invoke_fail(s, inv, &e, false);
		return;
	}
	inv->special = special_by_name(n.name);
	if (inv->special != SPECIAL_NONE)
		special_invoke(s, inv);
	else
		invoke_proc(s, inv, &n, name);
}

static struct invocation *invocation_new(struct session *s)
{
	struct invocation *inv = arena_alloc(&s->arena, sizeof(*inv));
	struct err e;

	if (inv == NULL) {
		(void)err_nomem(&e);
		response_message(s, &e);
		response_done(s, TDS_DONE, TDS_DONE_ERROR, CMD_FAILED, 0);
		s->request->stop = true;
		while (s->request->top != NULL)
			frame_pop(s);
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

void invoke_rpc(struct session *s, const struct tds_rpc *rpc)
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
		invoke_fail(s, inv, &e, false);
	} else if (rpc->no_exec) {
		(void)err_set(&e, ERR_NOT_SUPPORTED, "An RPC marked as not to be executed",
			      "It was left out.");
		invoke_fail(s, inv, &e, false);
	} else if (rpc->proc_id == 0) {
		invoke_name(s, inv, rpc->name);
	} else {
		inv->special = special_by_id(rpc->proc_id);
		if (inv->special != SPECIAL_NONE) {
			special_invoke(s, inv);
			return;
		}
		char name[24];
		snprintf(name, sizeof(name), "#%u", rpc->proc_id);
		(void)err_set(&e, ERR_NO_PROC, name);
		invoke_fail(s, inv, &e, false);
	}
}

void invoke_exec(struct session *s, struct frame *f)
{
	struct invocation *inv = invocation_new(s);

	if (inv == NULL)
		return;
	inv->caller = f;
	inv->args = f->run.exec.args;
	inv->nargs = f->run.exec.nargs;
	inv->line = f->run.exec.line;
	invoke_name(s, inv, f->run.exec.name);
}

void invoke_exec_text(struct session *s, struct frame *f)
{
	struct invocation *inv = invocation_new(s);

	if (inv == NULL)
		return;
	inv->caller = f;
	inv->line = f->run.line;
	inv->special = SPECIAL_NONE;
	inv->fixed = (struct special_args){ .has_text = true, .text = f->run.text, .handle_arg = -1 };
	special_invoke(s, inv);
}
