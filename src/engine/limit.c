/* limit.c — the limits of a call: how long it may run, what a SELECT may cost, how long it may wait
 * for the transaction of others; and those of an explicit transaction. */
#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/implement.h"

void engine_run_begin(struct engine_run *r, struct call *c)
{
	assert(r->db != NULL && r->call == NULL);
	r->call = c;
	r->deadline_ms = 0;
	r->timed_out = false;
	r->ended = ERR_NONE;
	r->questions = 0;
}

void engine_run_end(struct engine_run *r)
{
	assert(r->call != NULL);
	r->call = NULL;
}

/* Like a governor of queries: what they cost is counted, whatever the machine's speed.
 * Procedures are ours. */
static bool is_too_costly(struct engine_run *r, uint64_t cost)
{
	if (r->call->kind != CALL_QUERY || cost == 0 || ++r->questions <= cost)
		return false;
	r->ended = ERR_QUERY_COST;
	return true;
}

/* The clock is read here first, not when the call begins: most calls end before. */
bool engine_run_stop(struct engine_run *r, uint64_t cost, int64_t now_ms)
{
	int limit_s = r->db->limits.execution_timeout_s;

	assert(r->call != NULL);
	if (atomic_load_explicit(&r->call->cancelled, memory_order_relaxed) || is_too_costly(r, cost))
		return true;
	if (limit_s <= 0)
		return false;
	if (r->deadline_ms == 0)
		r->deadline_ms = now_ms + (int64_t)limit_s * 1000;
	if (now_ms < r->deadline_ms)
		return false;
	r->timed_out = true;
	return true;
}

/* A sink may block until the client has read; that is not execution [E-COM-16]. */
int engine_run_row(struct engine_run *r, const struct value *vals, size_t n, struct err *reterr)
{
	int64_t before = r->deadline_ms == 0 ? 0 : clock_mono_ms();
	int rc = call_sink_row(r->call->sink, vals, n);

	if (before != 0)
		r->deadline_ms += clock_mono_ms() - before;
	return rc == 0 ? 0 : err_set(reterr, ERR_CANCELLED);
}

void engine_run_explain(const struct engine_run *r, struct err *e)
{
	if (r->ended == ERR_QUERY_COST)
		err_set(e, ERR_QUERY_COST, (unsigned long long)r->db->limits.query_cost_limit);
	else if (r->ended == ERR_STALLED_READER)
		err_set(e, ERR_STALLED_READER, r->db->name);
	else if (r->timed_out)
		err_set(e, ERR_TIMEOUT, r->db->limits.execution_timeout_s);
}

/* ---- waiting for others ---- */

static int64_t lock_patience_ms(const struct engine_database *db, const struct call *c)
{
	return c->lock_timeout_ms < 0 ? db->limits.lock_timeout_ms : c->lock_timeout_ms;
}

/* Waiting is part of the execution: its limit may come first [E-COM-16]. */
static bool execution_ends_first(const struct engine_database *db, const struct call *c)
{
	int limit_s = db->limits.execution_timeout_s;

	return limit_s > 0 && (int64_t)limit_s * 1000 <= lock_patience_ms(db, c);
}

int64_t engine_patience_ms(const struct engine_database *db, const struct call *c)
{
	return execution_ends_first(db, c) ? (int64_t)db->limits.execution_timeout_s * 1000
					   : lock_patience_ms(db, c);
}

bool engine_call_is_late(const struct engine_database *db, struct call *c)
{
	bool timed_out = execution_ends_first(db, c);

	if (timed_out)
		(void)err_set(&c->err, ERR_TIMEOUT, db->limits.execution_timeout_s);
	else
		(void)err_set(&c->err, ERR_LOCK_TIMEOUT);
	return timed_out;
}

/* An execution time-out takes the caller's own transaction with it (clarification 6), which has
 * done nothing yet. */
void engine_call_refuse_late(const struct engine_database *db, struct call *c)
{
	if (!engine_call_is_late(db, c)) {
		engine_call_refuse(c, ERR_LOCK_TIMEOUT, NULL);
		return;
	}
	engine_call_fail(c, &c->err);
	c->txn_lost = c->txn != NULL;
	engine_call_complete(c);
}

/* ---- explicit transactions ---- */

static int64_t seconds_from(int seconds, int64_t now_ms)
{
	return seconds <= 0 ? ENGINE_NEVER : now_ms + (int64_t)seconds * 1000;
}

int64_t engine_idle_limit_ms(const struct engine_database *db, int64_t now_ms)
{
	return seconds_from(db->limits.transaction_idle_s, now_ms);
}

int64_t engine_age_limit_ms(const struct engine_database *db, int64_t now_ms)
{
	return seconds_from(db->limits.transaction_s, now_ms);
}

struct err engine_txn_overdue(const struct engine_database *db, int64_t age_at_ms, int64_t now_ms)
{
	const struct log_ctx ctx = { .database = db->name };
	bool old = age_at_ms <= now_ms;
	int limit = old ? db->limits.transaction_s : db->limits.transaction_idle_s;
	struct err err;

	err_set(&err, old ? ERR_TXN_AGE : ERR_TXN_IDLE, limit);
	LOG(LOG_WARN, &ctx, old ? "transaction_age" : "transaction_idle", F_INT("seconds", limit));
	return err;
}

bool engine_txn_is_too_old(const struct call *c, int64_t age_at_ms, int64_t now_ms)
{
	return age_at_ms <= now_ms && c->kind != CALL_COMMIT && c->kind != CALL_ROLLBACK;
}
