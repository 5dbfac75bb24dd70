/* counter.c — the thread that counts, once after the start, what is in the database: the numbers
 * that are kept from then on (store/tally.c) need a beginning. It reads the state of the moment in
 * which the first call had not run yet, beside all calls, and has time: until it is done the
 * database has no such numbers. */
#include "base/log.h"
#include "base/thread.h"
#include "engine/sqlite/executor/executor_int.h"

static bool must_leave(void *arg)
{
	const struct counter *k = arg;

	return atomic_load(&k->leaves);
}

static void *counter_main(void *arg)
{
	struct executor *ex = arg;
	struct counter *k = &ex->counter;
	const struct log_ctx ctx = { .database = ex->db->name };
	struct err err;

	executor_thread_name(ex, 'n');
	thread_step_back();
	if (store_tally_count(k->conn, &err) < 0 && !atomic_load(&k->leaves))
		LOG(LOG_WARN, &ctx, "counting_failed", F_STR("reason", err.text));
	store_release_held(k->conn);
	k->conn = NULL;
	return NULL;
}

int executor_counter_start(struct executor *ex, struct err *reterr)
{
	struct counter *k = &ex->counter;

	if (!store_has_numbers(ex->store))
		return 0;
	if (store_tally_keep(ex->writer.runner.conn, reterr) < 0 ||
	    store_connect(ex->store, true, &k->conn, reterr) < 0)
		return -1;
	store_set_interrupt(k->conn, must_leave, k);
	if (store_hold(k->conn, reterr) < 0)
		return -1;
	k->started = thread_start(&k->thread, counter_main, ex) == 0;
	return k->started ? 0 : err_nomem(reterr);
}

void executor_counter_stop(struct executor *ex)
{
	struct counter *k = &ex->counter;

	atomic_store(&k->leaves, true);
	if (k->started)
		pthread_join(k->thread, NULL);
	k->started = false;
	if (k->conn != NULL)
		store_release_held(k->conn);
	k->conn = NULL;
}
