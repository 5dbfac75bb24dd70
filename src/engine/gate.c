/* gate.c — see gate.h. A call is counted while an engine has it. Whoever shuts the gate first says
 * so, then looks at the number; whoever submits counts first, then looks at the gate: so no call
 * slips through unseen. Transactions that have begun pass, since they must be able to end. */
#include "engine/gate.h"

#include <assert.h>
#include <time.h>

#include "base/clock.h"
#include "engine/implement.h"

#define LOOK_NS 500000 /* between two looks whether all is over */

void engine_gate_init(struct engine_gate *g)
{
	atomic_init(&g->state, GATE_OPEN);
	atomic_init(&g->inside, 0);
	atomic_init(&g->successor, NULL);
	lock_init(&g->lock);
	lock_init(&g->passing);
	list_init(&g->held);
	list_init(&g->txns);
}

void engine_gate_fini(struct engine_gate *g)
{
	assert(list_empty(&g->held));
	lock_fini(&g->passing);
	lock_fini(&g->lock);
}

struct engine_database *engine_follow(struct engine_database *db)
{
	while (atomic_load(&db->gate.state) == GATE_LEADS)
		db = atomic_load(&db->gate.successor);
	return db;
}

/* ---- transactions ---- */

struct txn *engine_txn_current(struct txn *t)
{
	while (t->successor != NULL)
		t = t->successor;
	return t;
}

/* Under the lock: from its first call on a transaction is one that a move waits for. */
static void note_begun(struct engine_gate *g, struct txn *t)
{
	assert(lock_is_mine(&g->lock));
	if (t->begun)
		return;
	t->begun = true;
	list_append(&g->txns, &t->link);
}

void engine_gate_txn_init(struct txn *t)
{
	t->begun = false;
	t->successor = NULL;
	list_init(&t->link);
}

void engine_gate_txn_fini(struct txn *t)
{
	struct engine_gate *g = &t->database->gate;

	if (!t->begun)
		return;
	lock_take(&g->lock);
	list_remove(&t->link);
	lock_give(&g->lock);
}

/* Begun in a database that has moved since: only one that is lost can be. */
static void refuse_moved(struct call *c, struct txn *t)
{
	struct err why;

	if (!t->database->ops->txn_is_lost(t, &why))
		err_set(&why, ERR_SHUTDOWN);
	engine_call_refuse_lost(c, &why);
}

/* What a transaction that had not begun is in the database that took over. */
static bool carry_over(struct engine_database *db, struct txn *t)
{
	struct txn *here = db->ops->begin(db, t->snapshot);

	if (here == NULL)
		return false;
	engine_gate_txn_init(here);
	lock_take(&db->gate.lock);
	note_begun(&db->gate, here);
	lock_give(&db->gate.lock);
	t->successor = here;
	return true;
}

/* The call's transaction is one of db; else the call has been refused. */
static bool has_its_txn(struct engine_database *db, struct call *c)
{
	struct txn *t = engine_txn_current(c->txn);

	if (t->database != db && engine_follow(t->database) == db) {
		if (t->begun) {
			refuse_moved(c, t);
			return false;
		}
		if (!carry_over(db, t)) {
			engine_call_refuse(c, ERR_OUT_OF_MEMORY, NULL);
			return false;
		}
		t = t->successor;
	}
	c->txn = t;
	return true;
}

/* ---- calls ---- */

/* Under the lock. */
static bool passes(const struct engine_gate *g, const struct call *c)
{
	enum gate_state state = atomic_load(&g->state);

	if (state == GATE_OPEN || (c->txn != NULL && engine_txn_current(c->txn)->begun))
		return true;
	return state == GATE_NARROW && c->txn == NULL;
}

/* A call that belongs to a transaction, or that comes while the gate is not open. */
static enum gate_answer look_closely(struct engine_database *db, struct call *c)
{
	struct engine_gate *g = &db->gate;
	enum gate_answer answer = GATE_ENTER;

	lock_take(&g->lock);
	if (atomic_load(&g->state) == GATE_LEADS) {
		answer = GATE_ELSEWHERE;
	} else if (!passes(g, c)) {
		answer = GATE_HELD;
		list_append(&g->held, &c->link);
	} else if (c->txn != NULL && engine_txn_current(c->txn)->database == db) {
		note_begun(g, engine_txn_current(c->txn));
	}
	if (answer != GATE_ENTER)
		atomic_fetch_sub(&g->inside, 1);
	lock_give(&g->lock);
	return answer;
}

struct engine_database *engine_gate_enter(struct engine_database *db, struct call *c)
{
	enum gate_answer answer = GATE_ELSEWHERE;

	while (answer == GATE_ELSEWHERE) {
		db = engine_follow(db);
		atomic_store_explicit(&c->submitted_to, db, memory_order_release);
		atomic_fetch_add(&db->gate.inside, 1);
		if (c->txn == NULL && atomic_load(&db->gate.state) == GATE_OPEN)
			return db;
		answer = look_closely(db, c);
	}
	if (answer == GATE_HELD)
		return NULL;
	return c->txn == NULL || has_its_txn(db, c) ? db : NULL;
}

void engine_gate_left(struct engine_database *db)
{
	unsigned before = atomic_fetch_sub(&db->gate.inside, 1);

	assert(before > 0);
	(void)before;
}

/* Takes it out of those that wait at this gate, if it is one of them. */
static bool take_held(struct engine_gate *g, struct call *c)
{
	bool held = false;

	lock_take(&g->passing); /* it is here or there, and not on its way */
	lock_take(&g->lock);
	LIST_EACH (it, &g->held)
		held |= it == &c->link;
	if (held) {
		list_remove(&c->link);
		atomic_fetch_add(&g->inside, 1); /* its end is counted */
	}
	lock_give(&g->lock);
	lock_give(&g->passing);
	return held;
}

/* It may wait further on than where its owner gave it to: the engine there must not look for it. */
bool engine_gate_cancel(struct engine_database *db, struct call *c, struct engine_database **ret)
{
	bool held = take_held(&db->gate, c);

	while (!held && atomic_load(&db->gate.state) == GATE_LEADS) {
		db = atomic_load(&db->gate.successor);
		held = take_held(&db->gate, c);
	}
	*ret = atomic_load(&c->submitted_to);
	return held;
}

/* ---- shutting it ---- */

static void set_state(struct engine_gate *g, enum gate_state state)
{
	lock_take(&g->lock);
	atomic_store(&g->state, state);
	lock_give(&g->lock);
}

/* What waited is submitted as if it came now. */
static bool let_one_go(struct engine_database *db)
{
	struct engine_gate *g = &db->gate;
	struct list *item;

	lock_take(&g->passing);
	lock_take(&g->lock);
	item = list_pop(&g->held);
	lock_give(&g->lock);
	if (item != NULL)
		engine_submit(db, CONTAINER_OF(item, struct call, link));
	lock_give(&g->passing);
	return item != NULL;
}

static void let_go(struct engine_database *db)
{
	while (let_one_go(db))
		;
}

void engine_gate_open(struct engine_database *db)
{
	set_state(&db->gate, GATE_OPEN);
	let_go(db);
}

void engine_gate_lead(struct engine_database *db, struct engine_database *successor)
{
	assert(db != successor && db->service == successor->service);
	assert(atomic_load(&db->gate.state) == GATE_SHUT);
	atomic_store(&db->gate.successor, successor);
	set_state(&db->gate, GATE_LEADS);
	let_go(db);
}

/* One that was lost is no more than its owner's memory of it. */
static bool has_open_txns(struct engine_database *db)
{
	bool any = false;
	struct err why;

	lock_take(&db->gate.lock);
	LIST_EACH (it, &db->gate.txns)
		any |= !db->ops->txn_is_lost(CONTAINER_OF(it, struct txn, link), &why);
	lock_give(&db->gate.lock);
	return any;
}

static bool has_calls(struct engine_database *db)
{
	return atomic_load(&db->gate.inside) > 0 || has_open_txns(db);
}

static bool wait_while(struct engine_database *db, bool (*busy)(struct engine_database *db), int64_t until_ms,
		       bool (*stop)(void *arg), void *arg)
{
	const struct timespec pause = { 0, LOOK_NS };

	while (busy(db)) {
		if (clock_mono_ms() >= until_ms || (stop != NULL && stop(arg))) {
			engine_gate_open(db);
			return false;
		}
		nanosleep(&pause, NULL);
	}
	return true;
}

bool engine_gate_narrow(struct engine_database *db, int64_t until_ms, bool (*stop)(void *arg), void *arg)
{
	assert(atomic_load(&db->gate.state) == GATE_OPEN && db->service != SERVICE_SYSTEM);
	set_state(&db->gate, GATE_NARROW);
	return wait_while(db, has_open_txns, until_ms, stop, arg);
}

bool engine_gate_shut(struct engine_database *db, int64_t until_ms, bool (*stop)(void *arg), void *arg)
{
	assert(atomic_load(&db->gate.state) == GATE_NARROW);
	set_state(&db->gate, GATE_SHUT);
	return wait_while(db, has_calls, until_ms, stop, arg);
}
