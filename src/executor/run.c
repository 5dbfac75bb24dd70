/* run.c — one call on one connection: its clock reading, its time limit, its result. Knows nothing of transactions: the caller puts one around it. */
#include "base/clock.h"
#include "executor/executor_int.h"

/* Like a governor of queries: what they cost is counted, whatever the machine's speed. Procedures are ours. */
static bool too_costly(struct runner *r)
{
	uint64_t limit = r->ex->query_cost_limit;

	if (r->call->kind != CALL_QUERY || limit == 0 || ++r->questions <= limit)
		return false;
	r->ended = ERR_QUERY_COST;
	return true;
}

/* Its cost ends it on the connection that it runs on, the others end it on the thread that it runs on: for a snapshot these are two. */
static enum err_id why_ended(const struct runner *r, const struct call *c)
{
	const struct runner *thread = c->runner;

	return r->ended != ERR_NONE || thread == NULL ? r->ended : thread->ended;
}

/* What the client is told of a call that was stopped for a reason of ours. */
static void say_why(const struct runner *r, const struct call *c, struct err *e)
{
	const struct executor *ex = r->ex;
	enum err_id why = why_ended(r, c);

	if (why == ERR_QUERY_COST)
		err_set(e, why,
			(unsigned long long)(ex->query_cost_limit * STORE_STEPS_A_QUESTION / 1000000));
	else if (why == ERR_LOG_PINNED)
		err_set(e, why, ex->name, ex->max_wal_pages / (1048576u / STORE_PAGE));
	else if (why != ERR_NONE)
		err_set(e, why, ex->name);
	else if (r->timed_out)
		err_set(e, ERR_TIMEOUT, ex->execution_timeout_s);
}

/* Asked by the store now and then while a statement runs. The clock is read here first, not when the call begins: most calls end before. */
bool run_stop(void *arg)
{
	struct runner *r = arg;
	struct executor *ex = r->ex;
	int64_t now;

	if (r->call == NULL)
		return false;
	now = clock_mono_ms();
	if (r->writer && now >= atomic_load_explicit(&ex->next_deadline_ms, memory_order_relaxed))
		queue_sweep(ex);
	if (atomic_load_explicit(&r->call->cancelled, memory_order_relaxed) || too_costly(r) ||
	    (r->call->waits != NULL && pool_must_go(r->call, false, now)))
		return true;
	if (ex->execution_timeout_s <= 0)
		return false;
	if (r->deadline_ms == 0)
		r->deadline_ms = now + (int64_t)ex->execution_timeout_s * 1000;
	if (now < r->deadline_ms)
		return false;
	r->timed_out = true;
	return true;
}

/* A sink may block until the client has read; that is not execution [E-COM-16]. */
int run_row(struct runner *r, const struct value *vals, size_t n, struct err *reterr)
{
	int64_t before = r->deadline_ms == 0 ? 0 : clock_mono_ms();
	int rc = sink_row(r->call->sink, vals, n);

	if (before != 0)
		r->deadline_ms += clock_mono_ms() - before;
	return rc == 0 && why_ended(r, r->call) == ERR_NONE ? 0 : err_set(reterr, ERR_CANCELLED);
}

size_t run_mark(struct call *c)
{
	return c->sink != NULL && c->sink->ops->mark != NULL ? c->sink->ops->mark(c->sink) : 0;
}

bool run_rewind(struct call *c, size_t mark)
{
	return c->sink == NULL || (c->sink->ops->rewind != NULL && c->sink->ops->rewind(c->sink, mark));
}

void run_reset(struct call *c)
{
	const struct proc *p = c->proc;

	if (c->kind != CALL_PROC)
		return;
	for (unsigned i = 0; i < p->nparams; i++) {
		if (p->params[i].output)
			value_set_null(&c->values[i], p->params[i].type);
	}
	for (unsigned i = 0; i < p->nlocals; i++)
		value_set_null(&c->values[p->nparams + i], p->locals[i].type);
}

void run_fail(struct call *c, const struct err *e)
{
	if (e != &c->err)
		c->err = *e;
	c->rc = -1;
	c->rows_changed = 0;
	c->status = 0;
	c->status_set = false;
	if (c->kind != CALL_PROC)
		return;
	if (c->err.proc[0] == '\0')
		str_copy(c->err.proc, sizeof(c->err.proc), str_of(c->proc->name));
	if (c->err.line == 0)
		c->err.line = 1;
	if (c->proc->fails_with_status) { /* [E-COM-03], clarification 5 */
		c->status = 1;
		c->status_set = true;
	}
}

static int run_body(struct runner *r, struct call *c)
{
	switch (c->kind) {
	case CALL_PROC: return steps_run(r, c, &c->err);
	case CALL_QUERY: return query_run(r, c, &c->err);
	default:
		return err_set(&c->err, ERR_NOT_SUPPORTED, "A transaction step outside a transaction",
			       "Begin one first.");
	}
}

int run_call(struct runner *r, struct call *c)
{
	uint64_t before;
	int rc;

	c->rc = 0;
	c->status = 0;
	c->status_set = c->kind == CALL_PROC;
	c->txn_lost = false;
	c->rows_changed = 0;
	c->later = NULL;
	c->now = clock_ticks(); /* [E-COM-05] */
	r->call = c;
	r->deadline_ms = 0;
	r->timed_out = false;
	r->ended = ERR_NONE;
	r->questions = 0;
	r->count = 0;
	before = store_changes(r->conn);
	rc = store_sound(r->ex->store, &c->err);
	if (rc == 0)
		rc = atomic_load_explicit(&c->cancelled, memory_order_relaxed)
			     ? err_set(&c->err, ERR_CANCELLED)
			     : run_body(r, c);
	r->call = NULL;
	if (rc < 0) {
		say_why(r, c, &c->err);
		run_fail(c, &c->err);
	}
	c->rows_changed = store_changes(r->conn) -
			  before; /* also after a failure: the caller wants to know what to undo */
	return rc;
}
