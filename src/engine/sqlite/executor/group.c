/* group.c — group commit: the calls that were waiting run in one transaction and share one
 * fsync.
 *
 * A call that fails must leave nothing behind. Savepoints would see to that but cost as much as
 * a small call, so the first attempt runs without:
 *  - a call that fails before it has changed anything (a broken rule, a duplicate key) needs no
 *    undoing;
 *  - one that fails later spoils the attempt. Nobody has been answered yet: everything is undone
 *    and the group runs again, a savepoint each, and so do the next groups for a while, since
 *    whoever fails in this way may do so again;
 *  - where the engine gives the transaction up by itself (an interrupted write, a full disk),
 *    the culprit is left out and the others run again: together with savepoints after an
 *    interrupt, each in a transaction of its own after trouble with the disk. */
#include "engine/sqlite/executor/executor_int.h"

#define CAREFUL_GROUPS 64
/* how often a group takes in what arrived while it ran: the first ones must not wait for ever */
#define ROUNDS_MAX 4

enum attempt {
	ATTEMPT_DONE,    /* committed, or failed as a whole */
	ATTEMPT_SPOILED, /* undone: run again with savepoints */
	ATTEMPT_LOST,    /* the engine undid it: run again without the dead */
};

static void fail(struct slot *s, const struct err *e)
{
	engine_call_fail(s->call, e);
	engine_call_rewind(s->call, s->mark);
}

static void fail_all(struct executor *ex, const struct err *e)
{
	for (size_t i = 0; i < ex->group.n; i++) {
		if (!ex->group.slots[i].dead)
			fail(&ex->group.slots[i], e);
	}
}

/* Back to the state before the attempt. A call whose rows have left cannot be run twice. */
static void rewind_all(struct executor *ex)
{
	struct err err;

	for (size_t i = 0; i < ex->group.n; i++) {
		struct slot *s = &ex->group.slots[i];

		if (s->dead)
			continue;
		engine_call_reset(s->call);
		if (engine_call_rewind(s->call, s->mark))
			continue;
		err_set(&err, ERR_STORE, ex->db->name, "the transaction was lost after rows had been sent");
		engine_call_fail(s->call, &err);
		s->dead = true;
	}
}

/* Says why when the store has nothing to say of its own. */
static void lost_silently(struct executor *ex, struct call *c)
{
	struct err err;

	err_set(&err, ERR_STORE, ex->db->name, "it gave the transaction up");
	engine_call_fail(c, &err);
}

static void undo(struct executor *ex)
{
	executor_deferred_rollback(ex);
	rewind_all(ex);
}

/* After a call of the attempt failed. */
static enum attempt undo_one(struct executor *ex, struct slot *s, bool saved)
{
	struct store_conn *conn = ex->writer.runner.conn;
	struct err err;

	engine_call_rewind(s->call, s->mark);
	if (saved && (store_rollback_to(conn, 1, &err) < 0 || store_release(conn, 1, &err) < 0)) {
		s->dead = true;
		return ATTEMPT_LOST;
	}
	return saved || s->call->rows_changed == 0 ? ATTEMPT_DONE : ATTEMPT_SPOILED;
}

static enum attempt run_one(struct executor *ex, struct slot *s, bool careful)
{
	struct store_conn *conn = ex->writer.runner.conn;
	enum attempt result = ATTEMPT_DONE;
	int rc;

	if (careful && store_save(conn, 1, &s->call->err) < 0) {
		engine_call_fail(s->call, &s->call->err);
		s->dead = true;
		return ATTEMPT_LOST;
	}
	rc = executor_run_call(&ex->writer.runner, s->call);
	if (!store_in_transaction(conn)) {
		if (rc == 0)
			lost_silently(ex, s->call);
		engine_call_rewind(s->call, s->mark);
		s->dead = true;
		result = ATTEMPT_LOST;
	} else if (rc < 0) {
		result = undo_one(ex, s, careful);
	} else if (careful && store_release(conn, 1, &s->call->err) < 0) {
		fail(s, &s->call->err);
		s->dead = true;
		result = ATTEMPT_LOST;
	}
	if (s->call->rc < 0)
		s->call->rows_changed = 0;
	return result;
}

/* The calls that have arrived while the group ran share its commit too. False: there are none. */
static bool take_more(struct executor *ex, unsigned *rounds)
{
	size_t before = ex->group.n;

	if (++*rounds >= ROUNDS_MAX)
		return false;
	lock_take(&ex->lock);
	if (!ex->writer.worker_is_inline || executor_inline_goes_on(ex))
		executor_group_take(ex);
	lock_give(&ex->lock);
	return ex->group.n > before;
}

static bool call_may_wait(const struct call *c)
{
	return c->kind == CALL_PROC && c->proc->flush_later;
}

/* Nobody in the group asks for a flush before the answer. */
static bool may_wait(const struct executor *ex)
{
	for (size_t i = 0; i < ex->group.n; i++) {
		if (!call_may_wait(ex->group.slots[i].call))
			return false;
	}
	return true;
}

static bool has_later(const struct slot *s)
{
	return s->call->rc == 0 && executor_notes(s->call)->later != NULL;
}

/* The group ends here, since its last call wants the state as it is now: those that have not run
 * go back to where they came from. The dead stay, to be answered. */
static void cut(struct executor *ex, size_t from)
{
	struct list *first;
	size_t n = ex->group.n;

	assert(executor_is_writer(ex) && from <= n);
	ex->group.n = from;
	lock_take(&ex->lock);
	first = ex->queue.next; /* before it, in their order */
	for (size_t i = from; i < n; i++) {
		if (ex->group.slots[i].dead) {
			ex->group.slots[ex->group.n++] = ex->group.slots[i];
		} else {
			list_append(first, &ex->group.slots[i].call->link);
			ex->waiting++;
		}
	}
	lock_give(&ex->lock);
}

/* Inline execution does not wait for another process that has the database: the calls go back
 * into the queue, and the writer runs them, which may. */
static bool is_for_the_writer(const struct executor *ex)
{
	return ex->writer.worker_is_inline && store_was_busy(ex->writer.runner.conn);
}

static enum attempt attempt(struct executor *ex, bool careful, struct slot **ret_culprit)
{
	struct slot *last = NULL;
	unsigned rounds = 0;
	struct err err;

	if (executor_deferred_begin(ex, !may_wait(ex), &err) < 0) {
		if (is_for_the_writer(ex))
			cut(ex, 0);
		else
			fail_all(ex, &err);
		return ATTEMPT_DONE;
	}
	for (size_t i = 0; i < ex->group.n || take_more(ex, &rounds); i++) {
		enum attempt result;

		if (ex->group.slots[i].dead)
			continue;
		result = run_one(ex, &ex->group.slots[i], careful);
		if (result != ATTEMPT_DONE) {
			*ret_culprit = &ex->group.slots[i];
			undo(ex);
			return result;
		}
		if (has_later(&ex->group.slots[i])) {
			last = &ex->group.slots[i];
			cut(ex, i + 1);
			break;
		}
	}
	if (executor_commit_all(ex, may_wait(ex), &err) < 0) {
		executor_deferred_rollback(ex);
		fail_all(ex, &err);
	} else if (last != NULL) {
		executor_later_committed(ex, last->call);
	}
	return ATTEMPT_DONE;
}

/* A call with a transaction to itself needs no savepoint: all of it goes. Unless it changed
 * nothing: then what is held may stay. */
static void run_alone(struct executor *ex, struct slot *s)
{
	struct store_conn *conn = ex->writer.runner.conn;
	struct err err;
	int rc;

	if (executor_deferred_begin(ex, !call_may_wait(s->call), &err) < 0) {
		if (ex->group.n == 1 && is_for_the_writer(ex))
			cut(ex, 0);
		else
			fail(s, &err);
		return;
	}
	rc = executor_run_call(&ex->writer.runner, s->call);
	if (rc == 0 && !store_in_transaction(conn))
		lost_silently(ex, s->call);
	if (s->call->rc < 0) {
		if (ex->deferred.state != DEFERRED_OPEN || s->call->rows_changed > 0 ||
		    !store_in_transaction(conn))
			executor_deferred_rollback(ex);
		engine_call_rewind(s->call, s->mark);
		s->call->rows_changed = 0;
	} else if (executor_commit_all(ex, call_may_wait(s->call), &err) < 0) {
		executor_deferred_rollback(ex);
		fail(s, &err);
	} else if (has_later(s)) {
		executor_later_committed(ex, s->call);
	}
}

static bool was_interrupted(const struct slot *s)
{
	int32_t number = s->call->err.number;

	return number == ERR_CANCELLED_NUMBER || number == ERR_TIMEOUT_NUMBER;
}

/* With the disk: nobody is in a hurry. */
static void after_trouble(struct executor *ex)
{
	if (ex->writer.worker_is_inline) {
		cut(ex, 0);
		return;
	}
	for (size_t i = 0; i < ex->group.n; i++) {
		if (!ex->group.slots[i].dead)
			run_alone(ex, &ex->group.slots[i]);
	}
}

static void run_together(struct executor *ex)
{
	struct slot *culprit = NULL;
	bool careful = ex->group.careful > 0;

	if (careful)
		ex->group.careful--;
	for (;;) {
		switch (attempt(ex, careful, &culprit)) {
		case ATTEMPT_DONE: return;
		case ATTEMPT_SPOILED:
			careful = true;
			ex->group.careful = CAREFUL_GROUPS;
			break;
		case ATTEMPT_LOST:
			careful = true;
			if (was_interrupted(culprit))
				break;
			after_trouble(ex);
			return;
		}
	}
}

static void complete(struct executor *ex, struct slot *s)
{
	if (has_later(s))
		executor_later_complete(ex, s->call);
	else
		engine_call_complete(s->call);
}

void executor_group_run(struct executor *ex)
{
	assert(executor_is_writer(ex) && !lock_is_mine(&ex->lock));
	assert(ex->group.n > 0 && ex->group.n <= GROUP_MAX && ex->pinned == NULL);
	if (ex->group.n == 1)
		run_alone(ex, &ex->group.slots[0]);
	else
		run_together(ex);
}

void executor_group_answer(struct executor *ex)
{
	assert(executor_is_writer(ex) && !lock_is_mine(&ex->lock));
	for (size_t i = 0; i < ex->group.n; i++)
		complete(ex, &ex->group.slots[i]);
	ex->group.n = 0;
}
