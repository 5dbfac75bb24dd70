/* run.c — running a program: the loop over instructions, and how statements end. Nothing here
 * blocks or recurses; whatever needs the database is handed out, and the loop gives the thread
 * back now and then. */
#include "tsql/run/run.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "value/convert.h"

/* The thread is given back after so many instructions, or so much time; and on a loop's thread,
 * in the midst of a statement, when that has looked at so many bytes. */
#define STEPS_BETWEEN_YIELDS 10000
#define SLICE_US 2000
#define SLICE_BYTES 262144u
#define LONG_SLICE_US 50000

int tsql_run_start(const struct tsql_program *p, struct tsql_host *h, const struct value *params,
		   size_t nparams, struct arena *a, struct tsql_run *ret, struct err *reterr)
{
	struct tsql_state *st = arena_alloc(a, sizeof(*st));
	struct tsql_run r = { .host = h, .arena = a, .state = st };

	if (st == NULL)
		return err_nomem(reterr);
	st->prog = p;
	st->slots = arena_array(a, p->nvars, sizeof(*st->slots));
	if (st->slots == NULL)
		return err_nomem(reterr);
	for (size_t i = 0; i < p->nvars; i++) {
		value_set_null(&st->slots[i].value, p->vars[i].type);
		if (i < nparams && i < p->nparams &&
		    value_copy(&params[i], a, &st->slots[i].value, reterr) < 0)
			return -1;
		if (p->vars[i].table != NULL && tsql_run_make_table(&r, (int)i, reterr) < 0)
			return -1;
	}
	arena_init(&st->scratch, a->limit);
	arena_charge(&st->scratch, a->budget);
	st->scratch_live = true;
	st->ev = (struct eval){ .host = h, .slots = st->slots, .arena = &st->scratch };
	*ret = r;
	return 0;
}

void tsql_run_end(struct tsql_run *r)
{
	struct tsql_state *st = r->state;

	if (st == NULL || !st->scratch_live)
		return;
	arena_fini(&st->scratch);
	tsql_run_drop_tables(r);
	st->scratch_live = false;
	if (!st->over) {
		st->over = true;
		st->wants = TSQL_FAILED;
	}
}

enum flow tsql_run_stop(struct tsql_run *r, enum tsql_wants how)
{
	assert(!r->state->waiting); /* what was handed out has come back */
	r->state->over = true;
	r->state->wants = how;
	return FLOW_STOP;
}

enum flow tsql_run_hand_out(struct tsql_run *r, enum tsql_wants what)
{
	assert(!r->state->over && !r->state->waiting); /* invariant 6 of src/tsql */
	r->state->waiting = true;
	r->state->wants = what;
	return FLOW_HAND_OUT;
}

void tsql_run_done(struct tsql_run *r, enum tsql_command cmd, bool has_count, uint64_t count)
{
	r->host->vars->error = 0;
	r->host->vars->rowcount = has_count ? (int64_t)count : 0;
	if (cmd != CMD_NONE)
		r->host->ops->statement_done(r->host, cmd, has_count, count, false);
}

enum flow tsql_run_gone(struct tsql_run *r)
{
	err_set(&r->err, ERR_CANCELLED);
	r->err.line = r->line;
	return tsql_run_stop(r, TSQL_FAILED);
}

/* Errors that end only their statement; conversions and everything unknown end the batch (wire
 * notes 14.1). */
static bool ends_statement_only(const struct tsql_run *r)
{
	static const int32_t numbers[] = { 220,  232,  512,  517,  535,  537,  3623, 6101,
					   6102, 6104, 6106, 6107, 6115, 8115, 8134 };

	if (r->host->vars->xact_abort)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		if (r->err.number == numbers[i])
			return true;
	}
	return false;
}

enum flow tsql_run_error(struct tsql_run *r, const struct insn *in, enum tsql_command cmd)
{
	bool goes_on = ends_statement_only(r);

	assert(in != NULL && r->state->scratch_live);
	if (meter_gave_up(r->state->ev.meter))
		return FLOW_AGAIN;
	if (r->err.line == 0)
		r->err.line = in->line;
	r->host->vars->error = r->err.number;
	r->host->vars->rowcount = 0;
	if (call_sink_message(r->host->sink, &r->err) < 0)
		return tsql_run_stop(r, TSQL_FAILED);
	r->host->ops->statement_done(r->host, cmd, false, 0, true);
	return goes_on ? FLOW_NEXT : tsql_run_stop(r, TSQL_FAILED);
}

/* The text goes to the variable's own buffer, so that a loop that rebuilds it needs no more
 * memory each time. */
static int keep(struct tsql_run *r, struct slot *s, struct value *v)
{
	const struct type_info *info = type_info(v->type.id);

	if (v->null || !(info->is_text || info->is_binary))
		return v->null || v->type.id != TYPE_VARIANT ? 0 : value_copy(v, r->arena, v, &r->err);
	if (v->u.s.n > s->cap) {
		size_t cap = v->u.s.n < 64 ? 64 : v->u.s.n + v->u.s.n / 2;
		char *buf = arena_alloc_raw(r->arena, cap);

		if (buf == NULL)
			return err_nomem(&r->err);
		s->buf = buf;
		s->cap = cap;
	}
	if (v->u.s.n > 0)
		memmove(s->buf, v->u.s.p, v->u.s.n);
	v->u.s.p = s->buf != NULL ? s->buf : "";
	return 0;
}

int tsql_run_assign(struct tsql_run *r, int var, const struct value *v)
{
	struct tsql_state *st = r->state;
	const struct type *t = &st->prog->vars[var].type;
	char name[130];
	struct value converted = *v;

	assert(var >= 0 && (size_t)var < st->prog->nvars && st->scratch_live);
	if (tsql_eval_spend(&st->ev, tsql_eval_size(v)) < 0)
		return -1;
	str_copy(name, sizeof(name), st->prog->vars[var].name);
	if (t->id != TYPE_NULL &&
	    value_convert(v, t, CONVERT_ASSIGN, name, &st->scratch, &converted, &r->err) < 0)
		return -1;
	if (keep(r, &st->slots[var], &converted) < 0)
		return -1;
	st->slots[var].value = converted;
	return 0;
}

/* FMTONLY runs nothing, and shows what every branch would send. */
static bool shown_in_fmtonly(uint8_t op)
{
	return op == I_SELECT || op == I_QUERY || op == I_EXEC || op == I_EXEC_TEXT || op == I_USE ||
	       op == I_SET;
}

static enum flow one(struct tsql_run *r, const struct insn *in)
{
	switch (in->op) {
	case I_ASSIGN: return tsql_run_assignment(r, in);
	case I_SELECT: return tsql_run_select(r, in);
	case I_QUERY: return tsql_run_query(r, in);
	case I_SUBQUERY: return tsql_run_subquery(r, in);
	case I_EXEC: return tsql_run_exec(r, in);
	case I_EXEC_TEXT: return tsql_run_exec_text(r, in);
	case I_JUMP: r->state->pc = in->target; return FLOW_JUMPED;
	case I_IF: return tsql_run_if(r, in);
	case I_TRAN: return tsql_run_tran(r, in);
	case I_PRINT: return tsql_run_print(r, in);
	case I_RAISERROR: return tsql_run_raiserror(r, in);
	case I_THROW: return tsql_run_throw(r, in);
	case I_WAIT: return tsql_run_wait(r, in);
	case I_USE: return tsql_run_use(r, in);
	case I_SET: return tsql_run_set(r, in);
	case I_RETURN: return tsql_run_return(r, in);
	case I_KILL: return tsql_run_kill(r, in);
	default: return tsql_run_bulk(r, in);
	}
}

static enum flow step(struct tsql_run *r)
{
	struct tsql_state *st = r->state;
	const struct tsql_session *vars = r->host->vars;
	const struct insn *in = &st->prog->insns[st->pc];
	enum flow s = FLOW_NEXT;

	assert(st->pc < st->prog->ninsns && !st->waiting && st->scratch_live);
	r->line = in->line;
	if ((!vars->noexec && !vars->parseonly && !vars->fmtonly) || in->op == I_SET ||
	    (vars->fmtonly && !vars->noexec && !vars->parseonly && shown_in_fmtonly(in->op))) {
		arena_reset(&st->scratch);
		st->ev.now_us = clock_unix_us();
		st->ev.err = &r->err;
		err_clear(&r->err);
		s = one(r, in);
		if (s != FLOW_AGAIN)
			st->items_done = 0;
		assert(s == FLOW_AGAIN || s == FLOW_STOP || !meter_gave_up(st->ev.meter));
	}
	if (s == FLOW_NEXT)
		st->pc++;
	return s;
}

static bool slice_is_over(struct tsql_state *st, int64_t began_us, int64_t slice_us)
{
	int64_t spent = st->ev.now_us - began_us;

	if (++st->steps <= STEPS_BETWEEN_YIELDS && spent >= 0 && spent < slice_us)
		return false;
	st->steps = 0;
	return true;
}

/* elsewhere: not on the thread that the session lives on. */
static enum tsql_wants run_slice(struct tsql_run *r, int64_t slice_us, bool elsewhere)
{
	struct tsql_state *st = r->state;
	int64_t began_us = clock_unix_us();

	st->ev.now_us = began_us;
	while (!st->over) {
		enum flow s;

		if (st->waiting)
			return st->wants;
		if (st->pc >= st->prog->ninsns) {
			tsql_run_stop(r, TSQL_ENDED);
			break;
		}
		if (elsewhere && st->prog->insns[st->pc].op == I_USE)
			return TSQL_HERE;
		if (slice_is_over(st, began_us, slice_us))
			return TSQL_YIELD;
		s = step(r);
		if (s == FLOW_AGAIN)
			return TSQL_YIELD;
		if (s == FLOW_HAND_OUT)
			return st->wants;
	}
	tsql_run_end(r);
	return st->wants;
}

enum tsql_wants tsql_next(struct tsql_run *r)
{
	enum tsql_wants w;

	r->state->meter = (struct meter){ .left = SLICE_BYTES };
	r->state->ev.meter = &r->state->meter;
	w = run_slice(r, SLICE_US, false);
	r->state->ev.meter = NULL;
	return w;
}

enum tsql_wants tsql_next_long(struct tsql_run *r, struct meter *meter)
{
	enum tsql_wants w;

	r->state->ev.meter = meter;
	w = run_slice(r, LONG_SLICE_US, true);
	r->state->ev.meter = NULL;
	return w;
}

const struct value *tsql_param_value(const struct tsql_run *r, size_t index)
{
	return index < r->state->prog->nparams ? &r->state->slots[index].value : NULL;
}
