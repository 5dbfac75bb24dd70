/* texts.c — calls that run a text: sp_executesql, the prepared ones, EXEC('…') (wire notes 14.6,
 * 15); and the few protocol procedures beside them. */
#include "session/request_int.h"

#include "value/convert.h"

static void succeed(struct session *s, struct invocation *inv)
{
	struct outcome o = { .has_status = true };

	session_invoke_finish(s, inv, &o);
}

/* ---- binding values to the declared parameters ---- */

static int find_argument(const struct invocation *inv, const struct tsql_declared *d, size_t position)
{
	size_t i = inv->fixed.first_value + position;

	for (size_t k = inv->fixed.first_value; k < inv->nargs; k++)
		if (str_eq_nocase(inv->args[k].name, d->name))
			return (int)k;
	if (i < inv->nargs && inv->args[i].name.n == 0)
		return (int)i;
	/* sp_execute takes values by position whatever their names are. */
	if (i < inv->nargs && (inv->special == SPECIAL_EXECUTE || inv->special == SPECIAL_CURSOREXECUTE))
		return (int)i;
	return -1;
}

static int missing_value(struct invocation *inv, const struct tsql_declared *d, struct err *reterr)
{
	char name[140], text[200];

	str_copy(name, sizeof(name), d->name);
	str_copy(text, sizeof(text), inv->prepared != NULL ? inv->prepared->text : inv->fixed.text);
	return err_set(reterr, ERR_QUERY_PARAM, text, name);
}

static int bind_values(struct session *s, struct invocation *inv, struct value **ret, struct err *reterr)
{
	struct value *values = arena_array(&s->arena, inv->ndeclared + 1, sizeof(*values));

	inv->value_arg = arena_array(&s->arena, inv->ndeclared + 1, sizeof(int));
	if (values == NULL || inv->value_arg == NULL)
		return err_nomem(reterr);
	if (inv->nargs - inv->fixed.first_value > inv->ndeclared) {
		if (inv->special == SPECIAL_EXECUTE)
			return err_set(reterr, ERR_EXECUTE_COUNT, (int)inv->ndeclared);
		return err_set(reterr, ERR_TOO_MANY_ARGS, session_special_name(inv->special));
	}
	for (size_t i = 0; i < inv->ndeclared; i++) {
		const struct tsql_declared *d = &inv->declared[i];
		int k = find_argument(inv, d, i);
		char name[140];

		inv->value_arg[i] = k;
		if (k < 0)
			return missing_value(inv, d, reterr);
		str_copy(name, sizeof(name), d->name);
		if (inv->args[k].is_output && !d->output)
			return err_set(reterr, ERR_NOT_OUTPUT, name);
		if (value_convert(&inv->args[k].value, &d->type, CONVERT_ASSIGN, name, &s->arena, &values[i],
				  reterr) < 0)
			return -1;
	}
	*ret = values;
	return 0;
}

/* ---- starting a text ---- */

/* Its own statements are inside a procedure for the client, wherever it was called from. */
static int run_program(struct session *s, struct invocation *inv, const struct tsql_program *program,
		       struct err *reterr)
{
	struct value *values = NULL;
	int rc;

	if (bind_values(s, inv, &values, reterr) < 0)
		return -1;
	if (inv->direct)
		session_cursor_direct(s);
	if (inv->cursor != NULL)
		s->results = &inv->cursor->sink;
	rc = session_frame_push(s, program, values, inv->ndeclared, inv, true, reterr);
	if (rc < 0)
		s->results = &s->sink;
	return rc;
}

/* A text that is long for the thread that serves others too. */
static bool is_long(const struct invocation *inv)
{
	return inv->fixed.text.n + inv->fixed.declarations.n > WORK_TEXT;
}

static void compile_text(struct session *s, struct meter *m)
{
	struct request *r = s->request;
	struct invocation *inv = r->inv;
	struct tsql_declared *declared = NULL;

	r->work_rc = tsql_parse_declarations(inv->fixed.declarations, &s->arena, &declared, &inv->ndeclared,
					     &r->work_err);
	inv->declared = declared;
	inv->fixed.first_value = inv->special == SPECIAL_NONE ? inv->nargs : inv->fixed.first_value;
	if (r->work_rc == 0)
		r->work_rc = tsql_compile(inv->fixed.text, &s->vars, declared, inv->ndeclared, m, &s->arena,
					  &r->program, &r->work_err);
	if (r->work_rc == 0 && inv->special == SPECIAL_CURSOROPEN)
		r->work_rc = session_cursor_begin(s, inv, r->program, m, &r->work_err);
}

static void text_failed(struct session *s, struct invocation *inv, struct err *e)
{
	if (session_special_is_cursor(inv->special))
		session_cursor_failed(s, inv, e);
	else
		session_invoke_fail(s, inv, e, false);
}

static void text_compiled(struct session *s)
{
	struct request *r = s->request;
	struct invocation *inv = r->inv;

	if (r->work_rc < 0)
		session_work_explain(s, &r->work_err);
	if (r->work_rc < 0 || run_program(s, inv, r->program, &r->work_err) < 0)
		text_failed(s, inv, &r->work_err);
}

static void prepare(struct session *s, struct meter *m)
{
	struct request *r = s->request;
	struct invocation *inv = r->inv;
	struct prepared *p;
	struct err ignored;

	r->work_rc = session_prepared_add(&s->prepared, inv->fixed.declarations, inv->fixed.text, &s->vars,
					  (size_t)s->server->config->max_prepared, m, &p, &r->work_err);
	if (r->work_rc < 0)
		return;
	inv->handle = p->handle;
	inv->returns_handle = true;
	/* a text whose columns cannot be known yet is prepared without */
	if (inv->fixed.wants_columns &&
	    session_describe_program(s, p->program, m, &inv->columns, &inv->ncolumns, &ignored) < 0)
		inv->ncolumns = 0;
	if (inv->special == SPECIAL_CURSORPREPEXEC)
		r->work_rc = session_cursor_begin(s, inv, p->program, m, &r->work_err);
}

/* sp_cursorexecute */
static void look_at_prepared(struct session *s, struct meter *m)
{
	struct request *r = s->request;
	struct prepared *p = session_prepared_use(&s->prepared, r->inv->fixed.handle);

	if (p == NULL) {
		r->work_rc = err_set(&r->work_err, ERR_NO_HANDLE, r->inv->fixed.handle);
		return;
	}
	r->work_rc = session_cursor_begin(s, r->inv, p->program, m, &r->work_err);
	session_prepared_release(&s->prepared, p);
}

static int run_prepared(struct session *s, struct invocation *inv, int32_t handle, struct err *reterr)
{
	struct prepared *p = session_prepared_use(&s->prepared, handle);

	if (p == NULL)
		return err_set(reterr, ERR_NO_HANDLE, handle);
	inv->prepared = p;
	inv->declared = p->params;
	inv->ndeclared = p->nparams;
	if (run_program(s, inv, p->program, reterr) < 0) {
		inv->prepared = NULL;
		session_prepared_release(&s->prepared, p);
		return -1;
	}
	return 0;
}

/* The real error, then 8180, then status 8180 (wire notes 15.1). */
static void prepare_failed(struct session *s, struct invocation *inv, const struct err *first)
{
	struct outcome o = { .rc = -1, .error_number = 8180, .has_status = true, .status = 8180 };
	struct err e;

	session_response_message(s, first);
	(void)err_set(&e, ERR_NOT_PREPARED);
	session_response_message(s, &e);
	session_invoke_finish(s, inv, &o);
}

/* RETURN_METADATA: the columns, and no rows; what has none says that (wire notes 15.1). */
static void tell_columns(struct session *s, struct invocation *inv)
{
	if (inv->special == SPECIAL_CURSORPREPARE)
		session_cursor_prepared(s, inv);
	if (!inv->fixed.wants_columns)
		return;
	if (inv->ncolumns > 0)
		(void)call_sink_columns(&s->sink, inv->columns, inv->ncolumns);
	session_response_done(s, TDS_DONEINPROC, TDS_DONE_COUNT, CMD_SELECT, 0);
}

static void prepared(struct session *s)
{
	struct request *r = s->request;
	struct invocation *inv = r->inv;

	if (r->work_rc < 0) {
		session_work_explain(s, &r->work_err);
		if (inv->returns_handle) /* prepared, but no cursor */
			session_cursor_failed(s, inv, &r->work_err);
		else
			prepare_failed(s, inv, &r->work_err);
	} else if (inv->special == SPECIAL_PREPARE || inv->special == SPECIAL_CURSORPREPARE) {
		tell_columns(s, inv);
		succeed(s, inv);
	} else if (run_prepared(s, inv, inv->handle, &r->work_err) < 0) {
		text_failed(s, inv, &r->work_err);
	}
}

static void looked_at_prepared(struct session *s)
{
	struct request *r = s->request;

	if (r->work_rc < 0)
		session_work_explain(s, &r->work_err);
	if (r->work_rc < 0 || run_prepared(s, r->inv, r->inv->fixed.handle, &r->work_err) < 0)
		session_cursor_failed(s, r->inv, &r->work_err);
}

static void do_unprepare(struct session *s, struct invocation *inv)
{
	struct err e;

	if (session_prepared_drop(&s->prepared, inv->fixed.handle)) {
		succeed(s, inv);
		return;
	}
	(void)err_set(&e, ERR_NO_HANDLE, inv->fixed.handle);
	session_invoke_fail(s, inv, &e, false);
}

static void do_reset(struct session *s, struct invocation *inv)
{
	session_tran_tell_rollback(s);
	if (session_tran_abandon(s)) {
		s->request->inv = inv;
		s->request->wait = WAIT_RESET;
		return;
	}
	session_special_reset_done(s, inv);
}

void session_special_reset_done(struct session *s, struct invocation *inv)
{
	session_ready_reset(s, false);
	succeed(s, inv);
}

static void refuse(struct session *s, struct invocation *inv)
{
	struct err e;

	(void)err_set(&e, ERR_NOT_SUPPORTED, session_special_name(inv->special),
		      "Use sp_prepexec or call the procedure by name.");
	struct outcome o = { .rc = -1, .error_number = e.number, .has_status = true, .status = 1 };
	session_response_message(s, &e);
	session_invoke_finish(s, inv, &o);
}

static void describe(struct session *s, struct meter *m)
{
	struct request *r = s->request;

	r->work_rc = r->inv->special == SPECIAL_DESCRIBE_FIRST
			     ? session_describe_first_result_set(s, r->inv, m, &r->work_err)
			     : session_describe_undeclared(s, r->inv, m, &r->work_err);
}

static void described(struct session *s)
{
	struct request *r = s->request;

	if (r->work_rc < 0) {
		session_work_explain(s, &r->work_err);
		session_invoke_fail(s, r->inv, &r->work_err, false);
	} else {
		succeed(s, r->inv);
	}
}

static void do_execute(struct session *s, struct invocation *inv)
{
	struct err e;

	if (run_prepared(s, inv, inv->fixed.handle, &e) < 0)
		session_invoke_fail(s, inv, &e, false);
}

void session_special_invoke(struct session *s, struct invocation *inv)
{
	struct err e;

	if (inv->special != SPECIAL_NONE &&
	    session_special_bind(inv->special, inv->args, inv->nargs, &s->arena, &inv->fixed, &e) < 0) {
		str_copy(e.proc, sizeof(e.proc), str_of(session_special_name(inv->special)));
		session_invoke_fail(s, inv, &e, false);
		return;
	}
	s->request->inv = inv;
	switch (inv->special) {
	case SPECIAL_NONE:
	case SPECIAL_EXECUTESQL: session_work_or_now(s, is_long(inv), compile_text, text_compiled); break;
	case SPECIAL_PREPARE:
	case SPECIAL_PREPEXEC:
		session_work_or_now(s, is_long(inv) || inv->fixed.wants_columns, prepare, prepared);
		break;
	case SPECIAL_CURSOROPEN: session_work_begin(s, compile_text, text_compiled); break;
	case SPECIAL_CURSORPREPARE:
	case SPECIAL_CURSORPREPEXEC: session_work_begin(s, prepare, prepared); break;
	case SPECIAL_CURSOREXECUTE: session_work_begin(s, look_at_prepared, looked_at_prepared); break;
	case SPECIAL_CURSOR:
	case SPECIAL_CURSORFETCH:
	case SPECIAL_CURSOROPTION:
	case SPECIAL_CURSORCLOSE: session_cursor_invoke(s, inv); break;
	case SPECIAL_EXECUTE: do_execute(s, inv); break;
	case SPECIAL_CURSORUNPREPARE:
	case SPECIAL_UNPREPARE: do_unprepare(s, inv); break;
	case SPECIAL_RESET_CONNECTION: do_reset(s, inv); break;
	case SPECIAL_DESCRIBE_FIRST:
	case SPECIAL_DESCRIBE_UNDECLARED:
		session_work_begin(s, describe, described); /* it computes constants, as a run does */
		break;
	default: refuse(s, inv);
	}
}

/* ---- the end of a text ---- */

static int32_t text_status(const struct session *s, const struct frame *f, bool failed)
{
	if (f->inv->special == SPECIAL_EXECUTESQL)
		return failed ? f->run.err.number : s->vars.error;
	if (failed)
		return -6;
	return f->run.returned ? f->run.return_value : 0;
}

static bool count_mismatch(const struct session *s, const struct frame *f)
{
	return f->tran_touched && f->trancount_before != s->vars.trancount;
}

/* What the text left in its OUTPUT parameters, kept before the frame goes. */
static void keep_outputs(struct frame *f)
{
	struct invocation *inv = f->inv;

	for (size_t i = 0; i < inv->ndeclared; i++)
		if (inv->value_arg[i] >= 0 && inv->args[inv->value_arg[i]].is_output)
			inv->args[inv->value_arg[i]].value = *tsql_param_value(&f->run, i);
}

void session_special_text_ended(struct session *s, struct frame *f, bool failed)
{
	struct invocation *inv = f->inv;
	struct outcome o = { .has_status = true, .status = text_status(s, f, failed) };
	struct cursor *cursor;
	struct err e;

	o.error_number = failed ? f->run.err.number : s->vars.error;
	if (failed && inv->caller != NULL) {
		o.rc = -1;
		o.abort = true;
	}
	keep_outputs(f);
	cursor = inv->cursor;
	inv->cursor = NULL; /* the frame would take it along */
	session_frame_pop(s);
	if (cursor != NULL) {
		s->results = &s->sink;
		inv->cursor = cursor;
		session_cursor_ended(s, inv, failed || o.error_number != 0, o.error_number);
		return;
	}
	if (inv->direct)
		session_cursor_none(s, inv);
	if (!failed && inv->rpc != NULL && count_mismatch(s, f)) {
		(void)err_set(&e, ERR_TRANCOUNT_CHANGED, f->trancount_before, s->vars.trancount);
		session_response_message(s, &e);
		o.rc = -1;
		o.error_number = o.status = 266;
	}
	session_invoke_finish(s, inv, &o);
}
