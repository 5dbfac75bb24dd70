/* result.c — what comes of a call: its result before it runs, when it fails, when it is refused
 * without having run; and what its sink has got so far. */
#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/implement.h"

void engine_call_begin(struct call *c)
{
	c->rc = 0;
	c->status = 0;
	c->status_set = c->kind == CALL_PROC;
	c->txn_lost = false;
	c->rows_changed = 0;
	c->now = clock_ticks(); /* [E-COM-05] */
	engine_call_started(c);
}

void engine_call_started(struct call *c)
{
	if (c->began_us == 0)
		c->began_us = clock_mono_us();
}

void engine_call_fail(struct call *c, const struct err *e)
{
	if (e != &c->err)
		c->err = *e;
	assert(c->err.number != 0);
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

void engine_call_reset(struct call *c)
{
	const struct proc *p = c->proc;

	if (c->kind != CALL_PROC)
		return;
	assert(c->nvalues >= p->nparams);
	for (unsigned i = 0; i < p->nparams; i++) {
		if (p->params[i].output)
			value_set_null(&c->values[i], p->params[i].type);
	}
	for (unsigned i = 0; i < p->nlocals; i++)
		value_set_null(&c->values[p->nparams + i], p->locals[i].type);
}

/* ---- its end ---- */

static size_t counted_as(const struct call *c)
{
	const struct service_procs *s = &catalogue_service_procs[c->submitted_to->service];

	return c->kind == CALL_PROC ? (size_t)(c->proc - s->procs) : (size_t)s->nprocs + c->kind - CALL_QUERY;
}

static const char *called(const struct call *c)
{
	return c->kind == CALL_PROC ? c->proc->name : c->kind == CALL_QUERY ? "SELECT" : "transaction";
}

static void tell_slow(const struct call *c, int64_t waited_us, int64_t ran_us)
{
	const struct engine_database *db = c->submitted_to;
	const struct log_ctx ctx = { .session = c->session, .login = c->login, .database = db->name };

	metrics_count_slow(db->metrics);
	LOG(LOG_WARN, &ctx, "slow_call", F_STR("procedure", called(c)), F_INT("waited_ms", waited_us / 1000),
	    F_INT("ran_ms", ran_us < 0 ? 0 : ran_us / 1000), F_INT("error", c->rc < 0 ? c->err.number : 0));
}

static bool is_slow(const struct call *c, int64_t us)
{
	const atomic_uint *limit_ms = c->submitted_to->limits.slow_call_ms;
	unsigned ms = limit_ms == NULL ? 0 : atomic_load_explicit(limit_ms, memory_order_relaxed);

	return ms > 0 && us >= (int64_t)ms * 1000;
}

static void count(const struct call *c)
{
	int64_t now = clock_mono_us(), began = c->began_us == 0 ? now : c->began_us,
		waited = began - c->submitted_us, ran = c->began_us == 0 ? -1 : now - began;

	metrics_call(c->submitted_to->metrics, counted_as(c), waited, ran, c->rc < 0);
	if (is_slow(c, now - c->submitted_us))
		tell_slow(c, waited, ran);
}

void engine_call_complete(struct call *c)
{
	if (c->submitted_to != NULL) {
		count(c);
		engine_gate_left(c->submitted_to);
	}
	c->complete(c);
}

/* ---- calls that do not run ---- */

/* Waiting is part of the execution: the status is that of a call that failed. */
void engine_call_refuse(struct call *c, enum err_id id, const char *arg)
{
	err_set(&c->err, id, arg);
	engine_call_fail(c, &c->err);
	c->txn_lost = false;
	engine_call_complete(c);
}

void engine_call_refuse_lost(struct call *c, const struct err *e)
{
	assert(c->txn != NULL);
	c->err = *e;
	c->rc = -1;
	c->status_set = false;
	c->txn_lost = true;
	c->rows_changed = 0;
	engine_call_complete(c);
}

void engine_call_succeed(struct call *c)
{
	c->rc = 0;
	c->status_set = false;
	c->rows_changed = 0;
	c->txn_lost = false;
}

bool engine_call_only_reads(const struct call *c)
{
	return c->kind == CALL_QUERY || (c->kind == CALL_PROC && c->proc->read_only);
}

bool engine_call_ends_txn(const struct call *c)
{
	return c->kind == CALL_COMMIT || c->kind == CALL_ROLLBACK;
}

/* ---- its sink ---- */

size_t engine_call_mark(struct call *c)
{
	return c->sink != NULL && c->sink->ops->mark != NULL ? c->sink->ops->mark(c->sink) : 0;
}

bool engine_call_rewind(struct call *c, size_t mark)
{
	return c->sink == NULL || (c->sink->ops->rewind != NULL && c->sink->ops->rewind(c->sink, mark));
}
