/* pool.c — the way in, and the threads: which queue a call goes to, who takes it, when it is
 * refused. Writers and readers take all that waits as one group. While a group is under way, what
 * comes waits for it and becomes the next one: few large groups cost PostgreSQL, and us, much less
 * than many small ones. Only when many wait, or the group takes long, another one begins beside
 * it. A transaction's calls are run by any writer, on the connection of the transaction. Threads
 * are started when they are needed. */
#define _GNU_SOURCE /* names of threads */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "engine/postgres/postgres_int.h"

#define MANY 12       /* so many calls that wait are worth a group beside each that runs */
#define ALIKE 4       /* so many calls of one procedure, and a third of all, are worth their own group */
#define LOOK_MOST 512 /* so many of those that wait are looked at for a group */
#define BESIDE_MS 20  /* after that a group is slow: nobody waits for it */
#define ITEMS_MS 1000 /* after that, nor does a call about one of its items (keeper.c looks) */

/* ---- taking ---- */

static struct call *call_of(struct list *it)
{
	return CONTAINER_OF(it, struct call, link);
}

static enum pg_worker_kind kind_of(const struct call *c)
{
	return c->txn == NULL && engine_call_only_reads(c) ? PG_READER : PG_WRITER;
}

/* It goes by itself, whatever group is under way. */
static bool is_alone(const struct pg_database *db, const struct call *c)
{
	return c->txn != NULL || (kind_of(c) == PG_READER && postgres_function(db, c) == NULL);
}

/* Under the lock. */
static void enqueue(struct pg_database *db, struct call *c)
{
	assert(lock_is_mine(&db->lock) && list_empty(&c->link));
	list_append(&db->queue[kind_of(c)], &c->link);
	db->waiting[kind_of(c)]++;
	db->waiting_alone[kind_of(c)] += is_alone(db, c);
}

/* Under the lock. */
static void dequeue(struct pg_database *db, struct call *c)
{
	assert(lock_is_mine(&db->lock) && !list_empty(&c->link) && db->waiting[kind_of(c)] > 0);
	assert(!is_alone(db, c) || db->waiting_alone[kind_of(c)] > 0);
	list_remove(&c->link);
	db->waiting[kind_of(c)]--;
	db->waiting_alone[kind_of(c)] -= is_alone(db, c);
}

/* Under the lock: out of the queue. */
static void take(struct pg_worker *w, struct call *c)
{
	assert(w->ngroup < PG_GROUP_MAX);
	dequeue(w->db, c);
	postgres_notes(c)->worker = w;
	w->group[w->ngroup++].call = c;
}

/* Under the lock: whether a group may begin now. Those that take turns would only wait for it in
 * PostgreSQL. */
static bool may_begin(const struct pg_database *db, enum pg_worker_kind kind, int64_t now_ms)
{
	assert(lock_is_mine(&db->lock));
	if (db->running[kind] == 0 || now_ms - db->latest_ms[kind] >= BESIDE_MS)
		return true;
	return !(kind == PG_WRITER && db->takes_turns) && db->waiting[kind] >= MANY * db->running[kind];
}

/* Under the lock: this worker has a group. */
static void begin(struct pg_worker *w, int64_t now_ms)
{
	assert(lock_is_mine(&w->db->lock) && !w->counted && w->ngroup > 0);
	w->db->running[w->kind]++;
	w->db->latest_ms[w->kind] = now_ms;
	w->counted = true;
	postgres_items_hold(w);
}

/* Under the lock: a group that begins with this call, beside groups of other servers, is of calls
 * of the same procedure if enough of those that wait are: they become one statement (together.c).
 * NULL: all kinds. */
static const struct proc *one_kind(const struct pg_database *db, const struct call *first)
{
	unsigned looked = 0, alike = 0;

	if (postgres_items_are_ours(db) || !postgres_together_is_for(db, first))
		return NULL;
	LIST_EACH (it, &db->queue[PG_WRITER]) {
		const struct call *c = call_of(it);

		alike += c->kind == CALL_PROC && c->proc == first->proc && c->txn == NULL;
		if (++looked == PG_GROUP_MAX)
			break;
	}
	return alike >= ALIKE && alike * 3 >= looked ? first->proc : NULL;
}

/* Under the lock: the first call that need not wait, or a group of those that belong together. */
static bool take_writes(struct pg_worker *w, int64_t now_ms)
{
	struct pg_database *db = w->db;
	bool free = may_begin(db, PG_WRITER, now_ms);
	bool apart = now_ms - db->latest_ms[PG_WRITER] < ITEMS_MS;
	const struct proc *only = NULL;
	unsigned looked = 0;
	struct list *next;

	assert(w->kind == PG_WRITER && w->ngroup == 0);
	for (struct list *it = db->queue[PG_WRITER].next; it != &db->queue[PG_WRITER]; it = next) {
		struct call *c = call_of(it);

		next = it->next;
		if (w->ngroup == PG_GROUP_MAX || (w->ngroup > 0 && looked == LOOK_MOST))
			break;
		if (postgres_txn_blocks(db, c) || (c->txn == NULL && (!free || looked == LOOK_MOST)))
			continue;
		looked++;
		if (c->txn == NULL && apart && postgres_item_is_busy(db, c))
			continue;
		if (c->txn != NULL && w->ngroup > 0)
			break; /* the group goes first */
		if (w->ngroup == 0 && c->txn == NULL)
			only = one_kind(db, c);
		if (only != NULL && (c->kind != CALL_PROC || c->proc != only))
			continue;
		take(w, c);
		if (c->txn != NULL)
			break;
	}
	if (w->ngroup > 0 && w->group[0].call->txn == NULL)
		begin(w, now_ms);
	return w->ngroup > 0;
}

/* Under the lock: one that is no function goes alone, and keeps nobody from beginning. */
static bool take_reads(struct pg_worker *w, int64_t now_ms)
{
	struct pg_database *db = w->db;
	bool free = may_begin(db, PG_READER, now_ms);
	struct list *next;

	assert(w->kind == PG_READER && w->ngroup == 0);
	for (struct list *it = db->queue[PG_READER].next; it != &db->queue[PG_READER]; it = next) {
		struct call *c = call_of(it);
		bool alone = is_alone(db, c);

		next = it->next;
		if (w->ngroup == PG_GROUP_MAX)
			break;
		if (alone ? w->ngroup > 0 : !free)
			continue;
		take(w, c);
		if (alone)
			return true;
	}
	if (w->ngroup > 0)
		begin(w, now_ms);
	return w->ngroup > 0;
}

/* ---- waiting too long ---- */

/* Under the lock: the first that has waited too long, out of the queue; or NULL, and the earliest
 * end of waiting. */
static struct call *take_late(struct pg_database *db, int64_t now, int64_t *ret_earliest)
{
	assert(lock_is_mine(&db->lock));
	*ret_earliest = ENGINE_NEVER;
	if (db->pinned == NULL && !atomic_load(&db->gate_taken))
		return NULL;
	LIST_EACH (it, &db->queue[PG_WRITER]) {
		struct call *c = call_of(it);
		struct pg_notes *notes = postgres_notes(c);

		if (!postgres_txn_blocks(db, c) && (c->txn != NULL || !atomic_load(&db->gate_taken)))
			continue;
		if (notes->deadline_ms == 0)
			notes->deadline_ms = now + engine_patience_ms(&db->base, c);
		if (notes->deadline_ms <= now) {
			dequeue(db, c);
			return c;
		}
		if (notes->deadline_ms < *ret_earliest)
			*ret_earliest = notes->deadline_ms;
	}
	return NULL;
}

/* Takes the lock. */
static int64_t refuse_late(struct pg_database *db)
{
	int64_t earliest;
	struct call *late;

	assert(!lock_is_mine(&db->lock));
	do {
		lock_take(&db->lock);
		late = take_late(db, clock_mono_ms(), &earliest);
		lock_give(&db->lock);
		if (late != NULL)
			engine_call_refuse_late(&db->base, late);
	} while (late != NULL);
	return earliest;
}

/* ---- the threads ---- */

/* Under the lock, which is given up meanwhile. One of those that sleep looks again by the clock
 * when calls wait for a group that is under way. */
static void wait_for_work(struct pg_worker *w, int64_t until_ms)
{
	struct pg_database *db = w->db;
	bool watches = !db->watched[w->kind] && !list_empty(&db->queue[w->kind]);

	assert(lock_is_mine(&db->lock) && !w->told);
	if (watches && !may_begin(db, w->kind, clock_mono_ms()) &&
	    db->latest_ms[w->kind] + BESIDE_MS < until_ms)
		until_ms = db->latest_ms[w->kind] + BESIDE_MS;
	db->watched[w->kind] |= watches;
	db->idle[w->kind]++;
	list_append(&db->asleep[w->kind], &w->link);
	(void)lock_wait_until(&db->lock, &w->wake, until_ms);
	assert(db->idle[w->kind] > 0 && (!w->told || db->woken[w->kind] > 0));
	db->idle[w->kind]--;
	if (watches)
		db->watched[w->kind] = false;
	if (w->told)
		db->woken[w->kind]--;
	else
		list_remove(&w->link);
	w->told = false;
}

/* Under the lock: one that sleeps takes what waits; the one that fell asleep last, whose session at
 * PostgreSQL has everything at hand still. */
static void wake_one(struct pg_database *db, enum pg_worker_kind kind)
{
	struct pg_worker *w = CONTAINER_OF(db->asleep[kind].prev, struct pg_worker, link);

	assert(lock_is_mine(&db->lock) && !list_empty(&db->asleep[kind]));
	list_remove(&w->link);
	w->told = true;
	db->woken[kind]++;
	pthread_cond_signal(&w->wake);
}

static void work(struct pg_worker *w)
{
	struct call *first = w->group[0].call;

	/* every call of a group is somebody's by now: in no queue, and not completed */
	assert(w->ngroup > 0 && list_empty(&first->link) && !lock_is_mine(&w->db->lock));
	if (w->kind == PG_READER) {
		postgres_reader_run(w);
	} else if (first->txn != NULL) {
		postgres_txn_run(w, first);
		w->ngroup = 0;
	} else {
		postgres_group_run(w);
	}
}

static void *worker_main(void *arg)
{
	struct pg_worker *w = arg;
	struct pg_database *db = w->db;
	int64_t until_ms;
	char name[16];

	snprintf(name, sizeof(name), "%c-%.13s", w->kind == PG_WRITER ? 'w' : 'r', db->base.name);
	pthread_setname_np(pthread_self(), name);
	for (;;) {
		until_ms = w->kind == PG_WRITER ? refuse_late(db) : ENGINE_NEVER;
		lock_take(&db->lock);
		if (atomic_load(&db->stopping)) {
			lock_give(&db->lock);
			return NULL;
		}
		if (!(w->kind == PG_WRITER ? take_writes(w, clock_mono_ms())
					   : take_reads(w, clock_mono_ms()))) {
			wait_for_work(w, until_ms);
			lock_give(&db->lock);
			continue;
		}
		/* whom that was for is answered */
		atomic_store_explicit(&w->interrupted, false, memory_order_relaxed);
		if (w->kind == PG_READER && !w->counted)
			postgres_slow_begin(w, w->group[0].call);
		if (w->group[0].call->txn != NULL)
			postgres_txn_take(w, w->group[0].call);
		postgres_rouse(db, w->kind); /* for what is left */
		lock_give(&db->lock);
		work(w);
		postgres_conn_slim(w->conn);
		lock_take(&db->lock);
		postgres_slow_end(w);
		assert(w->ngroup == 0 && (!w->counted || db->running[w->kind] > 0));
		if (w->counted)
			db->running[w->kind]--;
		postgres_items_release(w);
		w->counted = false;
		lock_give(&db->lock);
	}
}

static void worker_free(struct pg_worker *w)
{
	if (w == NULL)
		return;
	postgres_conn_free(w->conn);
	pthread_cond_destroy(&w->wake);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	free(w);
}

/* Under the lock. */
static int add_worker(struct pg_database *db, enum pg_worker_kind kind, struct err *reterr)
{
	struct pg_worker *w = calloc(1, sizeof(*w));

	assert(lock_is_mine(&db->lock));
	if (w == NULL || db->nworkers == PG_WORKERS_MAX) {
		free(w);
		return err_nomem(reterr);
	}
	lock_cond_init(&w->wake);
	w->db = db;
	w->kind = kind;
	w->run.db = &db->base;
	w->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (postgres_conn_new(db, &w->conn, reterr) < 0)
		goto fail;
	w->conn->worker = w;
	if (w->wake_fd < 0 || thread_start(&w->thread, worker_main, w) < 0) {
		(void)err_nomem(reterr);
		goto fail;
	}
	db->workers[db->nworkers++] = w;
	db->nworkers_of[kind]++;
	return 0;
fail:
	worker_free(w);
	return -1;
}

void postgres_rouse(struct pg_database *db, enum pg_worker_kind kind)
{
	unsigned most = kind == PG_WRITER ? db->engine->connections : postgres_slow_readers_most(db);
	struct err err;

	assert(lock_is_mine(&db->lock));
	if (list_empty(&db->queue[kind]) || atomic_load(&db->stopping))
		return;
	if (db->watched[kind] && db->waiting_alone[kind] == 0 && !may_begin(db, kind, clock_mono_ms()))
		return;
	if (!list_empty(&db->asleep[kind])) {
		wake_one(db, kind);
	} else if (db->woken[kind] == 0 && db->nworkers_of[kind] < most) {
		(void)add_worker(db, kind, &err); /* without it, those that are there go on */
	}
}

int postgres_pool_start(struct pg_database *db, struct err *reterr)
{
	int rc;

	lock_take(&db->lock);
	rc = add_worker(db, PG_WRITER, reterr);
	if (rc == 0)
		rc = add_worker(db, PG_READER, reterr);
	lock_give(&db->lock);
	return rc;
}

/* The workers are gone. The end of a transaction that has been ended here is no failure. */
static void answer_all(struct pg_database *db, enum pg_worker_kind kind)
{
	for (;;) {
		struct list *it;
		bool answered = false;

		lock_take(&db->lock);
		it = list_pop(&db->queue[kind]);
		if (it != NULL && call_of(it)->txn != NULL)
			answered = postgres_txn_answers(postgres_txn_of(call_of(it)), call_of(it));
		lock_give(&db->lock);
		if (it == NULL)
			return;
		if (answered)
			engine_call_complete(call_of(it));
		else
			engine_call_refuse(call_of(it), ERR_SHUTDOWN, NULL);
	}
}

/* Others may still submit and cancel: workers are freed when nobody finds them any more. */
void postgres_pool_stop(struct pg_database *db)
{
	unsigned n;

	lock_take(&db->lock);
	atomic_store(&db->stopping, true);
	for (unsigned i = 0; i < db->nworkers; i++) {
		pthread_cond_signal(&db->workers[i]->wake);
		postgres_interrupt(db->workers[i]);
	}
	lock_give(&db->lock);
	for (unsigned i = 0; i < db->nworkers; i++)
		pthread_join(db->workers[i]->thread, NULL);
	postgres_txn_end_all(db);
	assert(db->idle[PG_WRITER] + db->idle[PG_READER] + db->running[PG_WRITER] + db->running[PG_READER] ==
	       0);
	lock_take(&db->lock);
	n = db->nworkers;
	db->nworkers = 0;
	lock_give(&db->lock);
	for (unsigned i = 0; i < n; i++)
		worker_free(db->workers[i]);
	answer_all(db, PG_WRITER);
	answer_all(db, PG_READER);
}

void postgres_wake(struct pg_database *db)
{
	lock_take(&db->lock);
	postgres_rouse(db, PG_WRITER);
	postgres_rouse(db, PG_READER);
	lock_give(&db->lock);
}

/* ---- the way in ---- */

bool postgres_submit(struct pg_database *db, struct call *c)
{
	enum err_id refused = ERR_NONE;
	bool answered = false;

	postgres_notes(c)->deadline_ms = 0;
	lock_take(&db->lock);
	if (c->txn != NULL)
		answered = postgres_txn_answers(postgres_txn_of(c), c);
	/* while workers end, their transactions are open: these calls are answered after that */
	if (atomic_load(&db->stopping) && (c->txn == NULL || db->nworkers == 0))
		refused = ERR_SHUTDOWN;
	else if (db->waiting[PG_WRITER] + db->waiting[PG_READER] >= db->base.limits.max_queue &&
		 c->txn == NULL)
		refused = ERR_BUSY;
	if (!answered && refused == ERR_NONE)
		enqueue(db, c);
	lock_give(&db->lock);
	if (answered)
		engine_call_complete(c);
	else if (refused != ERR_NONE)
		engine_call_refuse(c, refused, db->base.name);
	return !answered && refused == ERR_NONE;
}

void postgres_cancel(struct pg_database *db, struct call *c)
{
	bool waits;

	lock_take(&db->lock);
	waits = !list_empty(&c->link) && !engine_call_ends_txn(c);
	if (waits)
		dequeue(db, c);
	for (unsigned i = 0; !waits && i < db->nworkers; i++) {
		if (db->workers[i] == postgres_notes(c)->worker)
			postgres_interrupt(db->workers[i]);
	}
	lock_give(&db->lock);
	if (waits)
		engine_call_refuse(c, ERR_CANCELLED, NULL);
}

void postgres_pool_sweep(struct pg_database *db, int64_t now_ms)
{
	(void)refuse_late(db);
	postgres_txn_sweep(db, now_ms);
	postgres_wake(db);
}
