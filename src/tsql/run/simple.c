/* simple.c — the other statements: assignments, calls, IF, transactions, WAITFOR, USE, SET,
 * RETURN. */
#include "tsql/run/run.h"

#include "base/clock.h"
#include "tsql/set_options.h"
#include "value/convert.h"

enum flow tsql_run_assignment(struct tsql_run *r, const struct insn *in)
{
	const struct value *old = &r->state->slots[in->var].value;
	struct value v;

	if (tsql_eval_value(&r->state->ev, in->expr, &v) < 0)
		return tsql_run_error(r, in, CMD_SELECT);
	if (in->assign_op >= 0) {
		if (old->null || v.null)
			value_set_null(&v, old->type);
		else if (tsql_eval_room(&r->state->ev, "The new value",
					tsql_eval_size(old) + tsql_eval_size(&v)) < 0 ||
			 value_arith((enum value_op)in->assign_op, old, &v, &r->state->scratch, &v, &r->err) <
				 0)
			return tsql_run_error(r, in, CMD_SELECT);
	}
	if (tsql_run_assign(r, in->var, &v) < 0)
		return tsql_run_error(r, in, CMD_SELECT);
	tsql_run_done(r, CMD_SELECT, true, 1);
	return FLOW_NEXT;
}

static int exec_name(struct tsql_run *r, const struct exec_call *c, struct str *ret)
{
	struct value v;

	*ret = c->name;
	if (c->name.n > 0)
		return 0;
	if (tsql_eval_value(&r->state->ev, c->expr, &v) < 0)
		return -1;
	if (v.null)
		return err_set(&r->err, ERR_NO_PROC, "");
	return value_to_text(&v, &r->state->scratch, ret, &r->err);
}

enum flow tsql_run_exec(struct tsql_run *r, const struct insn *in)
{
	const struct exec_call *c = in->u.exec;
	struct argument *args = arena_array(&r->state->scratch, c->nargs, sizeof(*args));

	if (c->into >= 0 && r->host->vars->fmtonly)
		return FLOW_NEXT;
	if (args == NULL) {
		err_nomem(&r->err);
		return tsql_run_error(r, in, CMD_FAILED);
	}
	r->exec = (struct tsql_exec){ .args = args, .nargs = c->nargs, .line = in->line };
	if (exec_name(r, c, &r->exec.name) < 0)
		return tsql_run_error(r, in, CMD_EXEC);
	for (size_t i = 0; i < c->nargs; i++) {
		args[i].name = c->args[i].name;
		args[i].is_output = c->args[i].output;
		args[i].is_default = c->args[i].expr == NULL;
		value_set_null(&args[i].value, TYPE_OF(TYPE_NULL));
		if (c->args[i].expr != NULL &&
		    tsql_eval_value(&r->state->ev, c->args[i].expr, &args[i].value) < 0)
			return tsql_run_error(r, in, CMD_FAILED);
	}
	if (c->into >= 0)
		r->exec.into = tsql_run_into(r, c->into);
	return tsql_run_hand_out(r, TSQL_EXEC);
}

enum flow tsql_run_exec_text(struct tsql_run *r, const struct insn *in)
{
	struct value v;

	r->text = (struct str){ "", 0 };
	if (tsql_eval_value(&r->state->ev, in->u.exec->expr, &v) < 0 ||
	    (!v.null && value_to_text(&v, &r->state->scratch, &r->text, &r->err) < 0))
		return tsql_run_error(r, in, CMD_FAILED);
	return tsql_run_hand_out(r, TSQL_EXEC_TEXT);
}

static int take_outputs(struct tsql_run *r, const struct exec_call *c, const int32_t *status,
			const struct value *outputs)
{
	for (size_t i = 0; outputs != NULL && i < c->nargs; i++) {
		if (c->args[i].output && tsql_run_assign(r, c->args[i].var, &outputs[i]) < 0)
			return -1;
	}
	if (status != NULL && c->status_var >= 0) {
		struct value v = value_int(TYPE_INT, *status);

		return tsql_run_assign(r, c->status_var, &v);
	}
	return 0;
}

void tsql_exec_done(struct tsql_run *r, int rc, int32_t error_number, bool abort, const int32_t *status,
		    const struct value *outputs)
{
	struct tsql_state *st = r->state;
	const struct insn *in = &st->prog->insns[st->pc];
	enum flow next = FLOW_NEXT;

	if (st->over || !st->waiting || (st->wants != TSQL_EXEC && st->wants != TSQL_EXEC_TEXT))
		return;
	st->waiting = false;
	if (in->u.exec->into >= 0)
		tsql_run_inserted(r, in->u.exec->into, rc < 0);
	r->host->vars->error = error_number;
	if (abort) {
		r->err.number = error_number;
		tsql_run_stop(r, TSQL_FAILED);
		return;
	}
	if (take_outputs(r, in->u.exec, status, rc < 0 ? NULL : outputs) < 0)
		next = tsql_run_error(r, in, CMD_FAILED);
	if (next == FLOW_NEXT)
		st->pc++;
}

enum flow tsql_run_if(struct tsql_run *r, const struct insn *in)
{
	enum tri t;

	if (tsql_eval_condition(&r->state->ev, in->expr, &t) < 0) {
		enum flow s = tsql_run_error(r, in, CMD_FAILED);

		if (s == FLOW_NEXT) {
			r->state->pc = in->target;
			s = FLOW_JUMPED;
		}
		return s;
	}
	tsql_run_done(r, CMD_IF, false, 0);
	if (t == TRI_TRUE)
		return FLOW_NEXT;
	r->state->pc = in->target;
	return FLOW_JUMPED;
}

enum flow tsql_run_tran(struct tsql_run *r, const struct insn *in)
{
	struct value v;

	r->tran.kind = in->u.tran.kind;
	r->tran.name = in->u.tran.name;
	r->tran.line = in->line;
	if (in->expr != NULL) {
		if (tsql_eval_value(&r->state->ev, in->expr, &v) < 0 ||
		    (!v.null && value_to_text(&v, &r->state->scratch, &r->tran.name, &r->err) < 0))
			return tsql_run_error(r, in, CMD_FAILED);
	}
	return tsql_run_hand_out(r, TSQL_TRAN);
}

/* Nothing was open, or no savepoint has this name. After any other error of a COMMIT the
 * transaction is gone, and what follows must not run as if it were not. */
static bool ends_statement_only(int32_t number)
{
	return number == ERR_COMMIT_NO_TRAN_NUMBER || number == ERR_ROLLBACK_NO_TRAN_NUMBER ||
	       number == ERR_SAVE_NO_TRAN_NUMBER || number == ERR_NO_SAVEPOINT_NUMBER;
}

void tsql_tran_done(struct tsql_run *r, int rc, const struct err *e)
{
	static const enum tsql_command commands[] = { [TRAN_BEGIN] = CMD_BEGIN,
						      [TRAN_COMMIT] = CMD_COMMIT,
						      [TRAN_ROLLBACK] = CMD_ROLLBACK,
						      [TRAN_SAVE] = CMD_FAILED };
	struct tsql_state *st = r->state;
	const struct insn *in = &st->prog->insns[st->pc];

	if (st->over || !st->waiting || st->wants != TSQL_TRAN)
		return;
	st->waiting = false;
	st->pc++;
	if (rc >= 0) {
		tsql_run_done(r, commands[in->u.tran.kind], false, 0);
		return;
	}
	if (e != NULL)
		r->err = *e;
	tsql_run_error(r, in, commands[in->u.tran.kind]);
	if (ends_statement_only(r->err.number))
		st->over = false;
}

/* Milliseconds since midnight of a text or time. */
static int time_of_day(struct tsql_run *r, const struct expr *e, int64_t *ret)
{
	struct type t = TYPE_NUM(TYPE_TIME, 0, 3);
	struct value v, time;
	struct str shown = { "", 0 };

	if (tsql_eval_value(&r->state->ev, e, &v) < 0)
		return -1;
	*ret = 0;
	if (v.null)
		return 0;
	if (value_convert(&v, &t, CONVERT_CAST, NULL, &r->state->scratch, &time, NULL) < 0) {
		char text[60];

		if (value_to_text(&v, &r->state->scratch, &shown, NULL) < 0)
			shown = STR("");
		str_copy(text, sizeof(text), shown);
		return err_raise(&r->err, 148, 15, 1,
				 "Incorrect time syntax in time string '%s' used with WAITFOR.", text);
	}
	*ret = time.u.moment.tick / 10000;
	return 0;
}

enum flow tsql_run_wait(struct tsql_run *r, const struct insn *in)
{
	int64_t ms;

	if (time_of_day(r, in->expr, &ms) < 0)
		return tsql_run_error(r, in, CMD_FAILED);
	if (in->u.wait_time) { /* until that time of day, today or tomorrow */
		int64_t now = r->state->ev.now_us / 1000 % 86400000;

		ms = ms >= now ? ms - now : ms - now + 86400000;
	}
	r->wait_ms = (unsigned)ms;
	return tsql_run_hand_out(r, TSQL_WAIT);
}

void tsql_wait_done(struct tsql_run *r)
{
	struct tsql_state *st = r->state;

	if (st->over || !st->waiting || st->wants != TSQL_WAIT)
		return;
	st->waiting = false;
	st->pc++;
	tsql_run_done(r, CMD_WAITFOR, false, 0);
}

enum flow tsql_run_use(struct tsql_run *r, const struct insn *in)
{
	if (r->host->ops->use(r->host, in->u.name, &r->err) < 0) {
		tsql_run_error(r, in, CMD_USE);
		return tsql_run_stop(r, TSQL_FAILED);
	}
	tsql_run_done(r, CMD_USE, false, 0);
	return FLOW_NEXT;
}

static int set_value(struct tsql_run *r, const struct set_insn *s)
{
	struct str word = s->word;
	struct value v;

	if (s->expr != NULL && tsql_eval_value(&r->state->ev, s->expr, &v) < 0)
		return -1;
	if (s->option->kind == SET_NUMBER)
		return tsql_set_number(r->host->vars, s->option, &v, &r->state->scratch, &r->err);
	if (s->option->kind == SET_CONTEXT)
		return tsql_set_context(r->host->vars, &v, &r->state->scratch, &r->err);
	if (s->option->kind != SET_WORD)
		return 0;
	if (s->expr != NULL && !v.null && value_to_text(&v, &r->state->scratch, &word, &r->err) < 0)
		return -1;
	return tsql_set_word(r->host, s->option, word, &r->err);
}

enum flow tsql_run_set(struct tsql_run *r, const struct insn *in)
{
	const struct set_insn *s = in->u.set;
	enum tsql_command cmd = s->option->command;

	if (s->option->kind == SET_BOOL || s->option->kind == SET_SILENT ||
	    s->option->kind == SET_STATISTICS) {
		tsql_set_bool(r->host->vars, s->option, s->which != 0);
		if (cmd == CMD_SET_ON && s->which == 0)
			cmd = CMD_SET_OFF;
	} else if (s->option->kind == SET_ISOLATION) {
		r->host->vars->isolation = (uint8_t)s->which;
	} else if (set_value(r, s) < 0) {
		return tsql_run_error(r, in, cmd);
	}
	tsql_run_done(r, cmd, false, 0);
	return FLOW_NEXT;
}

enum flow tsql_run_return(struct tsql_run *r, const struct insn *in)
{
	struct type t = TYPE_OF(TYPE_INT);
	struct value v;

	r->return_value = 0;
	if (in->expr == NULL) {
		r->returned = true;
		tsql_run_done(r, CMD_RETURN, false, 0);
		return tsql_run_stop(r, TSQL_ENDED);
	}
	if (tsql_eval_as(&r->state->ev, in->expr, &t, &v) < 0) {
		enum flow s = tsql_run_error(r, in, CMD_FAILED);

		r->returned = s != FLOW_AGAIN;
		return s;
	}
	r->returned = true;
	if (!v.null)
		r->return_value = (int32_t)v.u.i;
	tsql_run_done(r, CMD_SELECT, true, 1);
	return tsql_run_stop(r, TSQL_ENDED);
}

enum flow tsql_run_kill(struct tsql_run *r, const struct insn *in)
{
	if (r->host->ops->kill(r->host, in->u.number, &r->err) < 0)
		return tsql_run_error(r, in, CMD_FAILED);
	tsql_run_done(r, CMD_FAILED, false, 0);
	return FLOW_NEXT;
}

enum flow tsql_run_bulk(struct tsql_run *r, const struct insn *in)
{
	err_set(&r->err, ERR_BULK);
	return tsql_run_error(r, in, CMD_FAILED);
}
