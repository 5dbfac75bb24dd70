/* select.c — SELECT: those without data are answered here; those over views are translated and
 * handed out. */
#include "tsql/run/run.h"
#include "query/query.h"
#include "value/convert.h"

/* Does the row of this scalar SELECT exist: TOP, WHERE. */
static int row_exists(struct tsql_run *r, const struct select *s, bool *ret)
{
	struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct value top;
	enum tri t = TRI_TRUE;

	*ret = true;
	if (s->top != NULL) {
		if (tsql_eval_as(&r->state->ev, s->top, &bigint, &top) < 0)
			return -1;
		if (!top.null && top.u.i < 0)
			return err_set(&r->err, ERR_NEGATIVE_TOP);
		*ret = !top.null && top.u.i > 0;
	}
	if (s->where != NULL && tsql_eval_condition(&r->state->ev, s->where, &t) < 0)
		return -1;
	*ret = *ret && t == TRI_TRUE;
	return 0;
}

/* Left to right: a later item sees what an earlier one has set. Given up in between, it goes on
 * with the item that was not done. */
static int assign_items(struct tsql_run *r, const struct select *s)
{
	for (size_t i = r->state->items_done; i < s->nitems; i++) {
		const struct select_item *it = &s->items[i];
		const struct value *old = &r->state->slots[it->var].value;
		struct value v;

		if (tsql_eval_value(&r->state->ev, it->expr, &v) < 0)
			return -1;
		if (it->assign_op >= 0) {
			if (old->null || v.null)
				value_set_null(&v, old->type);
			else if (tsql_eval_room(&r->state->ev, "The new value",
						tsql_eval_size(old) + tsql_eval_size(&v)) < 0 ||
				 value_arith((enum value_op)it->assign_op, old, &v, &r->state->scratch, &v,
					     &r->err) < 0)
				return -1;
		}
		if (tsql_run_assign(r, it->var, &v) < 0)
			return -1;
		r->state->items_done = i + 1;
	}
	return 0;
}

static enum flow select_assign(struct tsql_run *r, const struct insn *in, const struct select *s)
{
	bool exists = r->state->items_done > 0;

	if (r->host->vars->fmtonly)
		return FLOW_NEXT;
	if ((!exists && row_exists(r, s, &exists) < 0) || (exists && assign_items(r, s) < 0))
		return tsql_run_error(r, in, CMD_SELECT);
	tsql_run_done(r, CMD_SELECT, true, exists ? 1 : 0);
	return FLOW_NEXT;
}

static int send_row(struct tsql_run *r, const struct select *head, const struct select *s, bool *ret_gone)
{
	struct value *v = arena_array(&r->state->scratch, s->nitems, sizeof(*v));

	if (v == NULL)
		return err_nomem(&r->err);
	for (size_t i = 0; i < s->nitems; i++) {
		if (tsql_eval_as(&r->state->ev, s->items[i].expr, &head->columns[i].type, &v[i]) < 0 ||
		    tsql_eval_spend(&r->state->ev, tsql_eval_size(&v[i])) < 0)
			return -1;
	}
	*ret_gone = call_sink_row(r->host->sink, v, s->nitems) < 0;
	return 0;
}

static enum flow send_rows(struct tsql_run *r, const struct insn *in, const struct select *head)
{
	bool exists = false, gone = false;
	uint64_t rows = 0;

	if (call_sink_columns(r->host->sink, head->columns, head->nitems) < 0)
		return tsql_run_gone(r);
	for (const struct select *s = head; s != NULL && !r->host->vars->fmtonly; s = s->next) {
		if (row_exists(r, s, &exists) < 0)
			return tsql_run_error(r, in, CMD_SELECT);
		if (!exists ||
		    (r->host->vars->rowcount_limit > 0 && (int64_t)rows >= r->host->vars->rowcount_limit))
			continue;
		if (send_row(r, head, s, &gone) < 0)
			return tsql_run_error(r, in, CMD_SELECT);
		if (gone)
			return tsql_run_gone(r);
		rows++;
	}
	if (call_sink_rows_done(r->host->sink, rows) < 0)
		return tsql_run_gone(r);
	tsql_run_done(r, CMD_SELECT, true, rows);
	return FLOW_NEXT;
}

/* What a SELECT that is given up has sent is taken back. */
enum flow tsql_run_select(struct tsql_run *r, const struct insn *in)
{
	const struct select *head = in->u.select;
	struct sink *sink = r->host->sink;
	enum flow flow;
	size_t mark;

	if (head->assigns)
		return select_assign(r, in, head);
	mark = sink->ops->mark(sink);
	flow = send_rows(r, in, head);
	if (flow == FLOW_AGAIN && !sink->ops->rewind(sink, mark))
		return tsql_run_gone(r);
	return flow;
}

enum flow tsql_run_query(struct tsql_run *r, const struct insn *in)
{
	if (r->host->vars->fmtonly && in->u.select->assigns)
		return FLOW_NEXT;
	if (query_translate(&r->state->ev, in->u.select, &r->query) < 0)
		return tsql_run_error(r, in, CMD_FAILED);
	if (!r->host->vars->fmtonly)
		return tsql_run_hand_out(r, TSQL_QUERY);
	if (call_sink_columns(r->host->sink, r->query->columns, r->query->ncolumns) < 0 ||
	    call_sink_rows_done(r->host->sink, 0) < 0)
		return tsql_run_gone(r);
	tsql_run_done(r, CMD_SELECT, true, 0);
	return FLOW_NEXT;
}

enum flow tsql_run_subquery(struct tsql_run *r, const struct insn *in)
{
	if (query_translate_sub(&r->state->ev, in->u.select, in->exists, &r->query) < 0)
		return tsql_run_error(r, in, CMD_FAILED);
	return tsql_run_hand_out(r, TSQL_QUERY);
}

static int take_subquery(struct tsql_run *r, const struct insn *in, uint64_t rows,
			 const struct value *last_row)
{
	struct value v = value_int(TYPE_INT, rows > 0);

	if (!in->exists) {
		if (rows > 1)
			return err_raise(&r->err, 512, 16, 1,
					 "Subquery returned more than 1 value. This is not permitted when "
					 "the subquery follows =, !=, <, <= , >, >= or when the subquery is "
					 "used as an expression.");
		v = rows == 1 && last_row != NULL ? last_row[0] : value_null(r->query->columns[0].type);
	}
	return tsql_run_assign(r, in->var, &v);
}

static int take_row(struct tsql_run *r, const struct select *s, const struct value *last_row)
{
	for (size_t i = 0; last_row != NULL && i < s->nitems; i++) {
		if (tsql_run_assign(r, s->items[i].var, &last_row[i]) < 0)
			return -1;
	}
	return 0;
}

void tsql_query_done(struct tsql_run *r, int rc, const struct err *e, uint64_t rows,
		     const struct value *last_row)
{
	struct tsql_state *st = r->state;
	const struct insn *in = &st->prog->insns[st->pc];
	enum flow next = FLOW_NEXT;

	if (st->over || !st->waiting || st->wants != TSQL_QUERY)
		return;
	st->waiting = false;
	if (rc < 0) {
		if (e != NULL)
			r->err = *e;
		tsql_run_error(r, in, in->op == I_QUERY && !in->u.select->assigns ? CMD_SELECT : CMD_FAILED);
		tsql_run_stop(r, TSQL_FAILED);
		return;
	}
	if (in->op == I_SUBQUERY) {
		if (take_subquery(r, in, rows, last_row) < 0)
			next = tsql_run_error(r, in, CMD_FAILED);
	} else if (in->u.select->assigns && take_row(r, in->u.select, last_row) < 0) {
		next = tsql_run_error(r, in, CMD_SELECT);
	} else {
		tsql_run_done(r, CMD_SELECT, true, rows);
	}
	if (next == FLOW_NEXT)
		st->pc++;
}

static int describe_proc(struct tsql_host *h, const struct exec_call *c, struct arena *a,
			 const struct column **ret, size_t *ret_n, struct err *reterr)
{
	struct tsql_database db = { .service = SERVICE_SYSTEM };
	struct proc_name name;
	const struct proc *p;

	if (c->name.n == 0)
		return 0;
	if (catalogue_name_parse(c->name, a, &name, reterr) < 0)
		return -1;
	if (h->ops->database != NULL && h->ops->database(h, name.database, &db, reterr) < 0)
		return -1;
	p = catalogue_find(db.service, name.schema, name.name);
	for (size_t i = 0; p != NULL && i < p->nsteps; i++) {
		if (p->steps[i].kind == STEP_ROWS) {
			*ret = p->steps[i].columns;
			*ret_n = p->steps[i].ncolumns;
			return 0;
		}
	}
	return 0;
}

/* Subqueries that are run first belong to the SELECT. */
bool tsql_is_one_statement(const struct tsql_program *p)
{
	const struct insn *last = p->ninsns == 0 ? NULL : &p->insns[p->ninsns - 1];

	for (size_t i = 0; i + 1 < p->ninsns; i++) {
		if (p->insns[i].op != I_SUBQUERY)
			return false;
	}
	return last != NULL && ((last->op == I_EXEC && last->u.exec->into < 0) ||
				((last->op == I_SELECT || last->op == I_QUERY) && !last->u.select->assigns));
}

int tsql_describe(const struct tsql_program *p, struct tsql_host *h, struct meter *meter, struct arena *a,
		  const struct column **ret, size_t *ret_n, struct err *reterr)
{
	struct slot *slots = arena_array(a, p->nvars, sizeof(*slots));
	struct eval ev = { .host = h, .slots = slots, .arena = a, .meter = meter, .err = reterr };

	if (slots == NULL)
		return err_nomem(reterr);
	for (size_t i = 0; i < p->nvars; i++)
		value_set_null(&slots[i].value, p->vars[i].type);
	*ret_n = 0;
	*ret = NULL;
	for (size_t i = 0; i < p->ninsns && *ret_n == 0; i++) {
		const struct insn *in = &p->insns[i];

		if (in->op == I_SELECT && !in->u.select->assigns) {
			*ret = in->u.select->columns;
			*ret_n = in->u.select->nitems;
		} else if (in->op == I_QUERY && !in->u.select->assigns) {
			if (query_describe(&ev, in->u.select, ret, ret_n) < 0)
				return -1;
		} else if (in->op == I_EXEC && in->u.exec->into < 0 &&
			   describe_proc(h, in->u.exec, a, ret, ret_n, reterr) < 0) {
			return -1;
		}
	}
	return 0;
}
