/* test_commit.c — commits that are answered before their flush, the flush behind them, promises,
 * and the WAL that is copied beside the writer. What reaches the disk is tested by
 * tests/crash/test_powerloss.py; here it is who waits for whom, and that nothing is forgotten. */
#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fixture.h"

#define THREADS 4
#define PER_THREAD 100
#define BURST 200
/* at which the checkpointer begins, see engine/sqlite/store/checkpoint.c */
#define WAL_WORTH 1500

struct worker {
	struct fixture *f;
	int base, failed;
};

static void start_relaxed(struct fixture *f, int interval_ms)
{
	f->options.relaxed = true;
	f->options.commit_interval_ms = interval_ms;
	fixture_start(f);
}

static void *put_many(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < PER_THREAD; i++) {
		if (run(w->f, P_PUT, w->base + i, 1) != 0)
			w->failed++;
	}
	return NULL;
}

static void start_workers(struct fixture *f, struct worker *workers, pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ f, i * PER_THREAD, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, put_many, &workers[i]), 0);
	}
}

static void join_workers(const struct worker *workers, const pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].failed, 0);
	}
}

/* An interval of a millisecond: the writer waits for the flusher all the time. */
static void relaxed_groups_complete(void **state)
{
	static const int intervals[] = { 1, 20, 60000 };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(intervals); i++) {
		struct worker workers[THREADS];
		pthread_t threads[THREADS];
		struct txn *txn;

		start_relaxed(f, intervals[i]);
		start_workers(f, workers, threads);
		join_workers(workers, threads);
		assert_int_equal(count_items(f), THREADS * PER_THREAD);
		txn = engine_begin(&f->db, false);
		assert_int_equal(run_in(f, txn, P_PUT, 1000000, 1), 0);
		assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
		engine_txn_free(txn);
		fixture_stop(f);
		fixture_down(state);
		fixture_up(state);
		f = *state;
	}
	fixture_start(f);
}

static void the_setting_changes_while_calls_run(void **state)
{
	struct fixture *f = *state;
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	start_relaxed(f, 5);
	start_workers(f, workers, threads);
	for (int i = 0; i < 200; i++) {
		executor_set_commit(f->ex, i % 2 == 0, i % 3 == 0 ? 60000 : 1);
		assert_int_equal(run(f, P_COUNT, 0, 0), 0);
	}
	join_workers(workers, threads);
	assert_int_equal(count_items(f), THREADS * PER_THREAD);
}

/* Every call is answered once, those that were done are there, the others are not. */
static void the_end_comes_while_a_flush_is_under_way(void **state)
{
	struct fixture *f = *state;
	struct test_call *calls = calloc(BURST, sizeof(*calls));
	int done = 0;

	for (int round = 0; round < 10; round++) {
		start_relaxed(f, 1 + round % 3);
		for (int i = 0; i < BURST; i++) {
			call_init(&calls[i], P_PUT, round * BURST + i, 1);
			engine_submit(&f->db, &calls[i].call);
		}
		call_wait(&calls[round * BURST / 10]); /* the rest is taken, waits, or is refused */
		fixture_stop(f);
		for (int i = 0; i < BURST; i++) {
			assert_true(call_is_done(&calls[i]));
			assert_int_equal(calls[i].completions, 1);
			if (calls[i].call.rc == 0)
				done++;
			else
				assert_int_equal(calls[i].call.err.number, 50009);
			call_fini(&calls[i]);
		}
	}
	fixture_start(f);
	assert_int_equal(count_items(f), done);
	free(calls);
}

/* Of the thread whose name begins so; -1: there is none. */
static int priority_of(const char *name)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int priority = -1;

	assert_non_null(tasks);
	while ((task = readdir(tasks)) != NULL) {
		char path[300], comm[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		f = fopen(path, "r");
		if (f != NULL && fgets(comm, sizeof(comm), f) != NULL &&
		    strncmp(comm, name, strlen(name)) == 0)
			priority = getpriority(PRIO_PROCESS, (id_t)strtol(task->d_name, NULL, 10));
		if (f != NULL)
			fclose(f);
	}
	closedir(tasks);
	return priority;
}

/* The checkpointer goes on while calls go on; without it the waiting would only grow. */
static void the_wal_is_copied_under_load(void **state)
{
	struct fixture *f = *state;
	unsigned most = 0, waiting = 0;

	start_relaxed(f, 1000);
	for (int i = 0; waiting >= most / 4; i++) {
		assert_true(i < 3000);
		assert_int_equal(run(f, P_FILL, 0, 0), 0);
		/* The checkpointer is of low priority: on a busy machine its turn comes late. */
		usleep(waiting < WAL_WORTH ? 1000 : 20000);
		waiting = store_wal_waiting(f->store);
		most = waiting > most ? waiting : most;
	}
	assert_true(most >= WAL_WORTH);
	assert_int_equal(priority_of("c-"), 15);
	assert_int_equal(priority_of("f-"), getpriority(PRIO_PROCESS, 0));
	assert_int_equal(priority_of("w-"), getpriority(PRIO_PROCESS, 0));
}

/* One promise covers all renewals of its time; a call that wants its flush needs none; the end
 * takes the promise back. */
static void a_promise_is_made_once(void **state)
{
	struct fixture *f = *state;

	f->options.promise = &procs[P_PROMISE];
	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
	assert_int_equal(number_of(f, P_PROMISES), 1);
	for (int i = 0; i < 50; i++)
		assert_int_equal(run(f, P_RENEW, 1, i), 0);
	assert_int_equal(number_of(f, P_PROMISES), 101);
	assert_int_equal(run(f, P_PUT, 2, 1), 0);
	fixture_stop(f);
	fixture_start(f);
	assert_int_equal(number_of(f, P_PROMISES), 10102);
	assert_int_equal(run(f, P_BUMP, 1, 0), 0);
	fixture_stop(f); /* nothing was promised: nothing to take back */
	/* promises, too: then renewals are lost without harm, unlike its other calls */
	start_relaxed(f, 10);
	assert_int_equal(run(f, P_RENEW, 1, 7), 0);
	assert_int_equal(number_of(f, P_PROMISES), 10203);
}

/* A group with one call that wants its flush has it: no promise is needed. */
static void one_durable_call_makes_the_group_durable(void **state)
{
	struct fixture *f = *state;
	struct test_call calls[3];
	struct txn *txn;

	f->options.promise = &procs[P_PROMISE];
	fixture_start(f);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
	txn = engine_begin(&f->db, false);
	/* holds the writer until the group has come together */
	assert_int_equal(run_in(f, txn, P_ALL, 0, 0), 0);
	call_init(&calls[0], P_RENEW, 1, 5);
	call_init(&calls[1], P_PUT, 2, 1);
	call_init(&calls[2], P_RENEW, 1, 6);
	for (int i = 0; i < 3; i++)
		engine_submit(&f->db, &calls[i].call);
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK, NULL), 0);
	engine_txn_free(txn);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(call_wait(&calls[i]), 0);
		call_fini(&calls[i]);
	}
	assert_int_equal(number_of(f, P_PROMISES), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(relaxed_groups_complete, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(the_setting_changes_while_calls_run, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(the_end_comes_while_a_flush_is_under_way, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(the_wal_is_copied_under_load, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_promise_is_made_once, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(one_durable_call_makes_the_group_durable, fixture_up,
						fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
