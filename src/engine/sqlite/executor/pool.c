/* pool.c — who reads beside the writer, and when.
 *
 * Calls wait in two lanes: procedures and metadata before queries, and one thread more for them,
 * so that what is short as a rule does not wait for what may be long. A call that runs for long,
 * or whose client does not read what it is sent, is slow: it gives up its place, and another
 * reader takes the next call beside it. So neither a join nor a client that sleeps keeps others
 * from reading. Threads are bounded; where all of them are taken and somebody waits, the call
 * whose client has not read for the longest time is ended. And a reader keeps the WAL from
 * beginning anew for as long as it runs: when the WAL is too long, the one that began first is
 * ended. */
#include <assert.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/sqlite/executor/executor_int.h"

#define SLOW_MS 250
#define LOOK_MS 100   /* between two looks whether it must go */
#define STALL_MS 1000 /* a client that has not read for less is only busy */

static enum lane lane_of(const struct call *c)
{
	return c->kind == CALL_QUERY ? LANE_QUERY : LANE_PROC;
}

static unsigned threads_max(const struct executor *ex)
{
	return ex->pool.max + READERS_EXTRA;
}

/* Threads that calls of the lane may take, and those of them that may run without being slow. */
static unsigned places(const struct executor *ex, enum lane lane)
{
	return threads_max(ex) - (lane == LANE_QUERY);
}

static bool may_begin(const struct executor *ex, enum lane lane)
{
	return !list_empty(&ex->pool.queue[lane]) && ex->pool.busy < places(ex, lane) &&
	       ex->pool.busy - ex->pool.slow < ex->pool.max + (lane == LANE_PROC);
}

static bool some_may_begin(const struct executor *ex)
{
	return may_begin(ex, LANE_PROC) || may_begin(ex, LANE_QUERY);
}

/* A place whose thread has left is as good as one that never had any. */
static void add_reader(struct executor *ex)
{
	unsigned i = 0;

	while (i < READERS_MAX && ex->pool.readers[i].state == READER_RUNS)
		i++;
	if (i == READERS_MAX)
		return;
	if (ex->pool.readers[i].state == READER_LEFT)
		pthread_join(ex->pool.threads[i], NULL);
	ex->pool.readers[i] = (struct runner){ .ex = ex, .run.db = ex->db };
	if (thread_start(&ex->pool.threads[i], executor_reader_main, &ex->pool.readers[i]) < 0)
		return;
	ex->pool.readers[i].state = READER_RUNS;
	ex->pool.n++;
}

/* One more only for a place that may be taken: calls that come in a burst wait for the readers
 * there are, or threads and their connections would be made and given up again for every burst. */
static bool may_add(const struct executor *ex)
{
	unsigned wanted = ex->pool.max + 1 + ex->pool.slow;

	return ex->pool.n < (wanted < threads_max(ex) ? wanted : threads_max(ex));
}

/* Under the lock: somebody for the calls that wait, if they may begin. */
static void call_reader(struct executor *ex)
{
	assert(lock_is_mine(&ex->lock));
	if (!some_may_begin(ex) || ex->stopping)
		return;
	if (ex->pool.idle > 0)
		pthread_cond_signal(&ex->pool.wake);
	else if (may_add(ex))
		add_reader(ex);
}

enum err_id executor_pool_submit(struct executor *ex, struct call *c)
{
	assert(lock_is_mine(&ex->lock));
	if (ex->stopping)
		return ERR_SHUTDOWN;
	if (ex->waiting >= ex->db->limits.max_queue)
		return ERR_BUSY;
	list_append(&ex->pool.queue[lane_of(c)], &c->link);
	ex->waiting++;
	ex->pool.waiting++;
	if (ex->pool.waiting > ex->pool.idle && may_add(ex) && some_may_begin(ex))
		add_reader(ex);
	if (ex->pool.n > 0)
		return ERR_NONE;
	list_remove(&c->link);
	ex->waiting--;
	ex->pool.waiting--;
	return ERR_OUT_OF_MEMORY;
}

struct call *executor_pool_take(struct executor *ex, struct runner *r)
{
	enum lane lane = may_begin(ex, LANE_PROC) ? LANE_PROC : LANE_QUERY;

	assert(lock_is_mine(&ex->lock) && r->began_ms == 0 && r->run.call == NULL);
	if (!may_begin(ex, lane))
		return NULL;
	assert(ex->waiting > 0 && ex->pool.waiting > 0);
	ex->waiting--;
	ex->pool.waiting--;
	ex->pool.busy++;
	r->began_ms = clock_mono_ms();
	return CONTAINER_OF(list_pop(&ex->pool.queue[lane]), struct call, link);
}

void executor_pool_over(struct executor *ex, struct runner *r)
{
	assert(lock_is_mine(&ex->lock) && ex->pool.busy > 0 && r->run.call == NULL);
	ex->pool.busy--;
	ex->pool.slow -= r->slow;
	assert(ex->pool.slow <= ex->pool.busy);
	r->slow = r->goes = false;
	r->began_ms = r->stalled_ms = r->looked_ms = 0;
}

bool executor_pool_is_surplus(const struct executor *ex)
{
	return ex->pool.n > ex->pool.max + 1;
}

/* The reader that began, or whose client stalled, before all others. */
static bool began_first(const struct executor *ex, const struct runner *r)
{
	for (unsigned i = 0; i < READERS_MAX; i++) {
		const struct runner *o = &ex->pool.readers[i];

		if (o->state == READER_RUNS && o->began_ms != 0 && o->began_ms < r->began_ms && !o->goes)
			return false;
	}
	return true;
}

static bool stalled_first(const struct executor *ex, const struct runner *r)
{
	for (unsigned i = 0; i < READERS_MAX; i++) {
		const struct runner *o = &ex->pool.readers[i];

		if (o->state == READER_RUNS && o->stalled_ms != 0 && o->stalled_ms < r->stalled_ms &&
		    !o->goes)
			return false;
	}
	return true;
}

/* Ending one does not make the WAL shorter by itself: the next follows only when it has grown
 * some more. */
static bool pins_wal(struct executor *ex, const struct runner *r)
{
	unsigned pages = store_wal_pages(ex->store), limit = ex->max_wal_pages;

	if (limit == 0 || pages <= limit) {
		ex->pool.wal_at_end = 0;
		return false;
	}
	if ((ex->pool.wal_at_end != 0 && pages < ex->pool.wal_at_end + limit / 8) || !began_first(ex, r))
		return false;
	ex->pool.wal_at_end = pages;
	return true;
}

static bool is_in_the_way(const struct executor *ex, const struct runner *r, int64_t now)
{
	bool full = (!list_empty(&ex->pool.queue[LANE_PROC]) && ex->pool.busy >= places(ex, LANE_PROC)) ||
		    (!list_empty(&ex->pool.queue[LANE_QUERY]) && ex->pool.busy >= places(ex, LANE_QUERY));

	return full && r->stalled_ms != 0 && now - r->stalled_ms >= STALL_MS && stalled_first(ex, r);
}

static void tell_end(const struct executor *ex, const struct runner *r, const struct call *c, int64_t now)
{
	const struct log_ctx ctx = { .session = c->session, .login = c->login, .database = ex->db->name };

	LOG(LOG_WARN, &ctx, "reader_ended",
	    F_STR("reason", r->run.ended == ERR_WAL_PINNED ? "it kept the WAL from being shortened"
							   : "its client does not read and others wait"),
	    F_INT("milliseconds", now - r->began_ms));
}

bool executor_pool_must_go(struct call *c, bool stalled, int64_t now)
{
	struct runner *r = executor_notes(c)->runner;
	struct executor *ex = r->ex;
	enum err_id why = ERR_NONE;

	if (r->run.ended != ERR_NONE)
		return true;
	if (now - r->looked_ms < LOOK_MS)
		return false;
	r->looked_ms = now;
	lock_take(&ex->lock);
	r->stalled_ms = !stalled ? 0 : r->stalled_ms != 0 ? r->stalled_ms : now;
	if (!r->slow && now - r->began_ms >= SLOW_MS) {
		r->slow = true;
		ex->pool.slow++;
		call_reader(ex);
	}
	if (pins_wal(ex, r))
		why = ERR_WAL_PINNED;
	else if (is_in_the_way(ex, r, now))
		why = ERR_STALLED_READER;
	r->goes = why != ERR_NONE;
	r->run.ended = why;
	lock_give(&ex->lock);
	if (why != ERR_NONE)
		tell_end(ex, r, c, now);
	return why != ERR_NONE;
}
