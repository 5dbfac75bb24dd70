/* group.c — group commit: the calls that were waiting go to PostgreSQL as one pipeline, in one
 * transaction, and share its commit. All answers are read before the commit is sent, so that
 * whatever goes wrong before is simply run again:
 *  - another transaction was in the way (40001, 40P01): the same group again; after some attempts
 *    with the gate to itself, so that nobody can be in the way;
 *  - one of the calls failed in PostgreSQL, or its answer could not be taken (memory): all of them
 *    again, one after another, a savepoint each, so that only that one is undone (a broken rule of
 *    a procedure is no failure of the statement);
 *  - a call was cancelled: the others again, without it;
 *  - the connection was lost: on the next one, for as long as failover_timeout.
 * When it is lost after the commit was sent, the mark tells (mark.c). Nobody has been answered
 * yet. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/postgres/postgres_int.h"

#define ATTEMPTS_TOGETHER 4 /* beside others; then alone */
#define ATTEMPTS_MOST 40

enum attempt {
	ATTEMPT_DONE,
	ATTEMPT_CONFLICT,  /* others were in the way: again */
	ATTEMPT_SPOILED,   /* one call failed: again, carefully */
	ATTEMPT_LOCKED,    /* the gate was not free in time: again, for those that still have time */
	ATTEMPT_CANCELLED, /* PostgreSQL was asked to end it for one of the calls: again, without that */
	ATTEMPT_BROKEN,    /* the connection is gone, and nothing happened */
	ATTEMPT_FAILED     /* nothing to be done: all have their error */
};

static void fail(struct pg_slot *s, const struct err *e)
{
	engine_call_fail(s->call, e);
	(void)engine_call_rewind(s->call, s->mark);
	s->dead = true;
}

static void fail_all(struct pg_worker *w, const struct err *e)
{
	for (size_t i = 0; i < w->ngroup; i++) {
		if (!w->group[i].dead)
			fail(&w->group[i], e);
	}
}

/* Back to the state before the attempt. */
static void rewind_all(struct pg_worker *w)
{
	for (size_t i = 0; i < w->ngroup; i++) {
		struct pg_slot *s = &w->group[i];

		if (s->dead)
			continue;
		engine_call_reset(s->call);
		(void)engine_call_rewind(s->call, s->mark);
	}
}

/* ---- the transaction around ---- */

/* Asked once for each attempt, since the setting may change meanwhile: after that the connection
 * knows. A new promise is durable, whatever the setting says. */
static bool is_lazy(const struct pg_worker *w)
{
	return w->later == PG_LATER || (w->later == PG_NOT_LATER && atomic_load(&w->db->relaxed));
}

/* Whether each call is about rows of one item, which it does not add or delete: two that change the
 * same row are never both done, and who reads only stands where its snapshot was taken. */
static bool is_of_items(const struct pg_worker *w)
{
	for (size_t i = 0; i < w->ngroup; i++) {
		const struct call *c = w->group[i].call;

		if (!w->group[i].dead && (c->kind != CALL_PROC || !c->proc->one_item))
			return false;
	}
	return true;
}

static bool send_begin(struct pg_worker *w, bool alone)
{
	struct pg_conn *c = w->conn;
	bool snapshot = w->db->takes_turns || is_of_items(w);

	return postgres_send_fixed(c, snapshot ? PG_BEGIN_SNAPSHOT : PG_BEGIN_WRITE) &&
	       postgres_send_fixed(c, alone                ? PG_GATE_ALONE
				      : w->db->takes_turns ? PG_GATE_TURN
							   : PG_GATE) &&
	       (!is_lazy(w) || postgres_send_fixed(c, PG_LAZY));
}

/* The results of send_begin(). */
static enum attempt take_begin(struct pg_worker *w)
{
	unsigned n = w->conn->lazy ? 3 : 2;
	PGresult *r = NULL;
	enum pg_state s = PG_OK;
	enum attempt result = ATTEMPT_DONE;
	struct err err;

	for (unsigned i = 0; i < n && s == PG_OK; i++) {
		PQclear(r);
		s = postgres_next(w->conn, &r);
	}
	if (s == PG_BROKEN) {
		result = ATTEMPT_BROKEN;
	} else if (s == PG_FAILED && postgres_is_lock_timeout(r)) {
		result = ATTEMPT_LOCKED;
	} else if (s == PG_FAILED && (postgres_is_conflict(r) || w->conn->cancelled)) {
		result = ATTEMPT_CONFLICT;
	} else if (s == PG_FAILED) {
		postgres_error(w->conn, r, &err);
		fail_all(w, &err);
		result = ATTEMPT_FAILED;
	}
	PQclear(r);
	atomic_store_explicit(&w->db->gate_taken, result == ATTEMPT_LOCKED, memory_order_relaxed);
	return result;
}

static void in_doubt(struct pg_worker *w, int64_t until_ms, enum attempt *ret)
{
	const struct log_ctx ctx = { .database = w->db->base.name };
	struct err err;
	int happened = postgres_mark_look(w->conn, until_ms, &err);

	LOG(LOG_WARN, &ctx, "commit_in_doubt", F_INT("calls", w->ngroup),
	    F_STR("happened", happened > 0    ? "yes"
			      : happened == 0 ? "no"
					      : "unknown"));
	if (happened < 0)
		fail_all(w, &err);
	*ret = happened > 0 ? ATTEMPT_DONE : happened == 0 ? ATTEMPT_BROKEN : ATTEMPT_FAILED;
}

/* The mark's answer has come. */
static enum attempt commit(struct pg_worker *w, int64_t until_ms)
{
	enum attempt result = ATTEMPT_DONE;
	struct err err;

	assert(w->conn->marked); /* or nobody could find out whether it happened */
	switch (postgres_commit(w->conn, until_ms, &err)) {
	case PG_OK: break;
	case PG_BROKEN: in_doubt(w, until_ms, &result); break;
	case PG_FAILED: result = ATTEMPT_CONFLICT; break; /* as a rule; if not, it fails again */
	}
	return result;
}

static enum attempt end(struct pg_worker *w, enum attempt result)
{
	/* whatever it looks like: it may have come of that */
	if ((result == ATTEMPT_CONFLICT || result == ATTEMPT_SPOILED || result == ATTEMPT_LOCKED) &&
	    w->conn->cancelled)
		result = ATTEMPT_CANCELLED;
	if (result != ATTEMPT_DONE && result != ATTEMPT_BROKEN && w->conn->h != NULL &&
	    !postgres_rollback(w->conn))
		postgres_conn_drop(w->conn);
	if (result == ATTEMPT_BROKEN)
		postgres_conn_drop(w->conn);
	if (result != ATTEMPT_DONE)
		rewind_all(w);
	return result;
}

/* ---- all at once ---- */

/* Those that nobody wants any more are not sent. */
static void begin_all(struct pg_worker *w)
{
	for (size_t i = 0; i < w->ngroup; i++) {
		struct pg_slot *s = &w->group[i];

		if (s->dead)
			continue;
		engine_call_begin(s->call);
		if (!atomic_load_explicit(&s->call->cancelled, memory_order_relaxed))
			continue;
		(void)err_set(&s->call->err, ERR_CANCELLED);
		fail(s, &s->call->err);
	}
}

static bool send_each(struct pg_worker *w)
{
	bool broken = false;

	for (size_t i = 0; i < w->ngroup && !broken; i++) {
		struct pg_slot *s = &w->group[i];

		if (s->dead || s->way != PG_BY_ITSELF ||
		    postgres_call_send(w->conn, s->call, &broken, &s->call->err) == 0)
			continue;
		if (!broken)
			fail(s, &s->call->err); /* nothing of it was sent */
	}
	return !broken;
}

static enum attempt send_all(struct pg_worker *w, bool alone)
{
	begin_all(w);
	postgres_promise_choose(w);
	postgres_sets_choose(w);
	return send_begin(w, alone) && postgres_sets_send(w) && send_each(w) && postgres_promise_send(w) &&
			       postgres_mark_send(w->conn) && postgres_send_flush(w->conn)
		       ? ATTEMPT_DONE
		       : ATTEMPT_BROKEN;
}

/* One that the client, or its time, has ended is done with, also where PostgreSQL was asked too
 * late; the others run again. The connection may be gone with it. */
static void note_ended(struct pg_worker *w, struct pg_slot *s, bool broken)
{
	if ((broken || w->conn->cancelled) && postgres_is_ended(&w->run, s->call))
		fail(s, &s->call->err);
}

/* The next answer, in which this call takes part: waiting for it ends by the limits of this one. */
static enum attempt next_answer(struct pg_worker *w, struct pg_slot *s, PGresult **ret)
{
	enum attempt result = ATTEMPT_DONE;
	enum pg_state state;

	engine_run_begin(&w->run, s->call);
	w->conn->run = &w->run;
	state = postgres_next(w->conn, ret);
	w->conn->run = NULL;
	if (state == PG_BROKEN) {
		result = ATTEMPT_BROKEN;
	} else if (state == PG_FAILED) {
		result = postgres_is_conflict(*ret)       ? ATTEMPT_CONFLICT
			 : postgres_is_lock_timeout(*ret) ? ATTEMPT_LOCKED
							  : ATTEMPT_SPOILED;
	} else if (w->conn->cancelled) {
		result = ATTEMPT_CANCELLED;
	}
	note_ended(w, s, state == PG_BROKEN);
	engine_run_end(&w->run);
	return result;
}

static enum attempt take_one(struct pg_worker *w, struct pg_slot *s)
{
	PGresult *r = NULL;
	enum attempt result = next_answer(w, s, &r);
	int rc = result == ATTEMPT_DONE ? postgres_call_take(w->conn, s->call, r, &s->call->err) : 0;

	if (rc == PG_UNTAKEN) {
		result = ATTEMPT_SPOILED;
	} else if (rc < 0) {
		/* a broken rule, which changed nothing; the others are not harmed */
		engine_call_fail(s->call, &s->call->err);
		(void)engine_call_rewind(s->call, s->mark);
	}
	s->way = PG_ANSWERED;
	PQclear(r);
	return result;
}

static enum attempt take_sets(struct pg_worker *w)
{
	enum attempt result = ATTEMPT_DONE;

	for (unsigned i = 0; i < w->nsets && result == ATTEMPT_DONE; i++) {
		const struct pg_set *set = &w->sets[i];
		PGresult *r = NULL;

		if (set->n == 0)
			continue;
		result = next_answer(w, &w->group[set->slots[0]], &r);
		if (result == ATTEMPT_DONE && !postgres_set_take(w, set, r))
			result = ATTEMPT_SPOILED;
		PQclear(r);
	}
	return result;
}

static enum attempt take_each(struct pg_worker *w)
{
	enum attempt result = ATTEMPT_DONE;

	for (size_t i = 0; result == ATTEMPT_DONE && i < w->ngroup; i++) {
		if (!w->group[i].dead && w->group[i].way == PG_BY_ITSELF)
			result = take_one(w, &w->group[i]);
	}
	return result;
}

static enum attempt take_mark(struct pg_worker *w)
{
	switch (postgres_mark_answer(w->conn)) {
	case PG_OK: return ATTEMPT_DONE;
	case PG_BROKEN: return ATTEMPT_BROKEN;
	default: return ATTEMPT_CONFLICT;
	}
}

/* What a set has left alone: each by itself, and a mark that stands behind all. */
static enum attempt run_left(struct pg_worker *w)
{
	enum attempt result;
	bool any = false;

	for (size_t i = 0; i < w->ngroup; i++) {
		if (w->group[i].dead || w->group[i].way != PG_IN_SET)
			continue;
		w->group[i].way = PG_BY_ITSELF;
		any = true;
	}
	if (!any)
		return ATTEMPT_DONE;
	if (!send_each(w) || !postgres_mark_send(w->conn) || !postgres_send_flush(w->conn))
		return ATTEMPT_BROKEN;
	result = take_each(w);
	return result == ATTEMPT_DONE ? take_mark(w) : result;
}

static enum attempt take_all(struct pg_worker *w)
{
	enum attempt result = take_begin(w);
	enum pg_state s;

	if (result == ATTEMPT_DONE)
		result = take_sets(w);
	if (result == ATTEMPT_DONE)
		result = take_each(w);
	if (result != ATTEMPT_DONE)
		return result;
	s = postgres_promise_take(w);
	if (s != PG_OK)
		return s == PG_BROKEN ? ATTEMPT_BROKEN : ATTEMPT_CONFLICT;
	result = take_mark(w);
	return result == ATTEMPT_DONE ? run_left(w) : result;
}

static enum attempt attempt_fast(struct pg_worker *w, bool alone, int64_t until_ms)
{
	enum attempt result = send_all(w, alone);

	if (result == ATTEMPT_DONE)
		result = take_all(w);
	if (result != ATTEMPT_DONE)
		return end(w, result);
	/* a cancelling may still come, and must not find the commit */
	if (w->conn->cancelled || !postgres_promise_holds(w))
		return end(w, ATTEMPT_CONFLICT);
	result = commit(w, until_ms);
	if (result == ATTEMPT_DONE)
		postgres_promise_kept(w);
	return end(w, result);
}

/* ---- one after another, in one transaction ---- */

/* Nobody confirms an error: it is given only while the primary is known to be one. */
static bool is_true_still(struct pg_worker *w, struct pg_slot *s)
{
	int64_t until_ms = clock_mono_ms() + w->db->engine->failover_ms;
	struct err err;

	switch (postgres_lease(w->conn, until_ms, &err)) {
	case PG_BROKEN: return false;
	case PG_FAILED: engine_call_fail(s->call, &err); break;
	case PG_OK: break;
	}
	return true;
}

static enum attempt undo_one(struct pg_worker *w, struct pg_slot *s, const struct pg_outcome *out, bool saved)
{
	(void)engine_call_rewind(s->call, s->mark);
	if (out->broken) {
		note_ended(w, s, true);
		return ATTEMPT_BROKEN;
	}
	if (out->conflict || (w->conn->cancelled && !postgres_is_ended(&w->run, s->call)))
		return ATTEMPT_CONFLICT;
	if (!saved && !is_true_still(w, s))
		return ATTEMPT_BROKEN;
	if (w->conn->cancelled || !saved) { /* the cancelling may come late: nothing of this goes on */
		s->dead = true;
		return w->ngroup == 1 ? ATTEMPT_FAILED : ATTEMPT_SPOILED;
	}
	if (out->failed && (!postgres_send_sync(w->conn) || postgres_synced(w->conn) != PG_OK))
		return ATTEMPT_BROKEN;
	if (postgres_do_fixed(w->conn, PG_BACK, NULL) != PG_OK)
		return ATTEMPT_BROKEN;
	return ATTEMPT_DONE;
}

static enum attempt run_one(struct pg_worker *w, struct pg_slot *s, bool saved)
{
	struct pg_outcome out;

	if (saved && postgres_do_fixed(w->conn, PG_SAVE, NULL) != PG_OK)
		return ATTEMPT_BROKEN;
	out = postgres_run_call(w->conn, s->call, &w->run);
	if (out.rc < 0)
		return undo_one(w, s, &out, saved);
	if (saved && postgres_do_fixed(w->conn, PG_RELEASE, NULL) != PG_OK)
		return ATTEMPT_BROKEN;
	return w->conn->cancelled ? ATTEMPT_CONFLICT : ATTEMPT_DONE;
}

static enum attempt attempt_slow(struct pg_worker *w, bool alone, int64_t until_ms)
{
	enum attempt result = ATTEMPT_DONE;

	w->later = PG_NOT_LATER;
	if (!send_begin(w, alone) || !postgres_send_flush(w->conn))
		return end(w, ATTEMPT_BROKEN);
	result = take_begin(w);
	for (size_t i = 0; result == ATTEMPT_DONE && i < w->ngroup; i++) {
		if (!w->group[i].dead)
			result = run_one(w, &w->group[i], w->ngroup > 1);
	}
	if (result != ATTEMPT_DONE)
		return end(w, result);
	if (!postgres_mark_send(w->conn) || !postgres_send_flush(w->conn))
		return end(w, ATTEMPT_BROKEN);
	result = take_mark(w);
	return end(w, result == ATTEMPT_DONE ? commit(w, until_ms) : result);
}

/* ---- the order of rows ---- */

static int compare_slots(const void *a, const void *b)
{
	const struct str *x = postgres_item_name(((const struct pg_slot *)a)->call);
	const struct str *y = postgres_item_name(((const struct pg_slot *)b)->call);
	int differ;

	if (x == NULL || y == NULL)
		return (x != NULL) - (y != NULL);
	differ = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
	return differ != 0 ? differ : (x->n > y->n) - (x->n < y->n);
}

/* Side by side, groups that lock the same rows in another order would wait for each other, until
 * PostgreSQL notices (deadlock_timeout: a second). Calls of a group have come together, so that any
 * order is right. False: one of them is about many rows, and wants the gate to itself. */
static bool put_in_order(struct pg_worker *w)
{
	if (w->db->takes_turns)
		return true;
	qsort(w->group, w->ngroup, sizeof(w->group[0]), compare_slots);
	return postgres_item_name(w->group[0].call) != NULL;
}

/* ---- again and again ---- */

static bool is_pipelined(const struct pg_worker *w)
{
	for (size_t i = 0; i < w->ngroup; i++) {
		if (postgres_function(w->db, w->group[i].call) == NULL)
			return false;
	}
	return true;
}

/* Those that have waited too long for somebody else's transaction are answered. */
static void refuse_late(struct pg_worker *w)
{
	int64_t now = clock_mono_ms();

	for (size_t i = 0; i < w->ngroup; i++) {
		struct pg_slot *s = &w->group[i];
		bool cancelled = atomic_load_explicit(&s->call->cancelled, memory_order_relaxed);

		if (s->dead || (postgres_notes(s->call)->deadline_ms > now && !cancelled))
			continue;
		if (cancelled)
			(void)err_set(&s->call->err, ERR_CANCELLED);
		else
			(void)engine_call_is_late(&w->db->base, s->call);
		fail(s, &s->call->err);
	}
}

static bool all_dead(const struct pg_worker *w)
{
	for (size_t i = 0; i < w->ngroup; i++) {
		if (!w->group[i].dead)
			return false;
	}
	return true;
}

/* The connection, and the row of its marks. */
static int get_ready(struct pg_worker *w, int64_t until_ms, struct err *reterr)
{
	for (;;) {
		if (postgres_conn_ready(w->conn, until_ms, reterr) < 0)
			return -1;
		switch (postgres_mark_make(w->conn, reterr)) {
		case PG_OK: return 0;
		case PG_FAILED: return -1;
		case PG_BROKEN: postgres_conn_drop(w->conn); break;
		}
	}
}

static void run_all(struct pg_worker *w)
{
	bool fast = is_pipelined(w), together = put_in_order(w), shared = together, late = false;
	unsigned conflicts = 0;
	int64_t until_ms = clock_mono_ms() + w->db->engine->failover_ms;
	struct err err;

	for (postgres_dismiss(w); !all_dead(w); postgres_dismiss(w)) {
		if (get_ready(w, until_ms, &err) < 0) {
			if (postgres_is_called_off(w->conn))
				continue; /* the others wait on */
			fail_all(w, &err);
			return;
		}
		switch (fast ? attempt_fast(w, !shared, until_ms) : attempt_slow(w, !shared, until_ms)) {
		case ATTEMPT_DONE:
		case ATTEMPT_FAILED: return;
		case ATTEMPT_CONFLICT:
			atomic_fetch_add(&w->db->conflicts, 1);
			shared = ++conflicts < ATTEMPTS_TOGETHER && together;
			if (conflicts == ATTEMPTS_MOST) {
				(void)err_set(&err, ERR_STORE, w->db->base.name,
					      "others were in the way of this change, again and again");
				fail_all(w, &err);
				return;
			}
			break;
		case ATTEMPT_CANCELLED: break;
		case ATTEMPT_SPOILED: fast = false; break;
		case ATTEMPT_LOCKED: refuse_late(w); break;
		case ATTEMPT_BROKEN:
			atomic_fetch_add(&w->db->reconnects, 1);
			if (late) {
				(void)err_set(&err, ERR_UNREACHABLE, w->db->base.name,
					      w->db->engine->failover_ms / 1000,
					      "the connection is lost again and again");
				fail_all(w, &err);
				return;
			}
			late = clock_mono_ms() >= until_ms; /* one more attempt */
			break;
		}
	}
}

void postgres_group_run(struct pg_worker *w)
{
	int64_t now = clock_mono_ms();

	assert(w->kind == PG_WRITER && w->ngroup > 0 && w->ngroup <= PG_GROUP_MAX);
	for (size_t i = 0; i < w->ngroup; i++) {
		struct pg_slot *s = &w->group[i];

		s->mark = engine_call_mark(s->call);
		s->dead = false;
		if (postgres_notes(s->call)->deadline_ms == 0)
			postgres_notes(s->call)->deadline_ms = now +
							       engine_patience_ms(&w->db->base, s->call);
	}
	run_all(w);
	/* nobody is kept waiting by it any more: what comes next tries, however little it may
	 * wait */
	atomic_store_explicit(&w->db->gate_taken, false, memory_order_relaxed);
	if (w->ngroup > 0)
		metrics_commit(w->db->base.metrics, w->ngroup);
	for (size_t i = 0; i < w->ngroup; i++)
		engine_call_complete(w->group[i].call);
	w->ngroup = 0;
}
