/* test_group.c — many callers at once, failures inside a group, cancelled and slow calls, the
 * end. A group is formed on purpose by holding the writer with a transaction while the calls are
 * submitted. */
#include "fixture.h"

#define THREADS 8
#define PER_THREAD 100

static int group_up(void **state)
{
	fixture_up(state);
	fixture_start(*state);
	return 0;
}

struct worker {
	struct fixture *f;
	int base;
	int failed;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (int i = 0; i < PER_THREAD; i++) {
		enum fixture_proc p = i % 10 == 3 ? P_PUT_FAIL : i % 10 == 7 ? P_COUNT : P_PUT;
		struct test_call t;

		call_init(&t, p, w->base + i, 1);
		engine_submit(&w->f->db, &t.call);
		if (call_wait(&t) != (p == P_PUT_FAIL ? -1 : 0) || t.completions != 1)
			w->failed++;
		call_fini(&t);
	}
	return NULL;
}

static void many_threads_commit_together(void **state)
{
	struct worker workers[THREADS];
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){ *state, i * PER_THREAD, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].failed, 0);
	}
	assert_int_equal(count_items(*state), THREADS * PER_THREAD * 8 / 10);
}

/* Submits n calls that run as one group. */
static void run_group(struct fixture *f, struct test_call *calls, size_t n)
{
	struct txn *txn = engine_begin(&f->db, false);

	assert_int_equal(run_in(f, txn, P_ALL, 0, 0), 0);
	for (size_t i = 0; i < n; i++)
		engine_submit(&f->db, &calls[i].call);
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK, NULL), 0);
	engine_txn_free(txn);
	for (size_t i = 0; i < n; i++) {
		call_wait(&calls[i]);
		assert_int_equal(calls[i].completions, 1);
	}
}

static void a_call_that_fails_in_a_group_is_undone_alone(void **state)
{
	struct fixture *f = *state;
	struct test_call calls[5];

	for (int round = 0; round < 2; round++) {
		/* the second time with savepoints from the beginning */
		int base = round * 10;

		call_init(&calls[0], P_PUT, base + 1, 1);
		/* duplicate: fails before it changed anything */
		call_init(&calls[1], P_PUT, base + 1, 1);
		call_init(&calls[2], P_PUT_FAIL, base + 2, 1); /* fails after it changed something */
		call_init(&calls[3], P_BUMP, base + 1, 1);
		call_init(&calls[4], P_PUT, base + 3, 1);
		run_group(f, calls, 5);
		assert_int_equal(calls[0].call.rc, 0);
		assert_int_equal(calls[1].call.err.number, 2627);
		assert_int_equal(calls[2].call.err.number, 50003);
		assert_int_equal(calls[2].events, 0);
		assert_int_equal(calls[3].call.rc, 0);
		assert_int_equal(calls[3].values[2].u.i, 2); /* not 3: the first attempt left nothing */
		assert_int_equal(calls[4].call.rc, 0);
		assert_int_equal(count_items(f), 2 * (round + 1));
		for (int i = 0; i < 5; i++)
			call_fini(&calls[i]);
	}
}

static void others_run_again_when_a_call_loses_the_transaction(void **state)
{
	struct fixture *f = *state;
	struct test_call calls[4];

	fixture_stop(f);
	f->db.limits.execution_timeout_s = 1;
	fixture_start(f);
	call_init(&calls[0], P_PUT, 1, 1);
	/* its time-out interrupts a write: SQLite undoes all of it */
	call_init(&calls[1], P_SPIN_WRITE, 0, 0);
	call_init(&calls[2], P_BUMP, 1, 1);
	call_init(&calls[3], P_PUT, 2, 1);
	run_group(f, calls, 4);
	assert_int_equal(calls[0].call.rc, 0);
	assert_int_equal(calls[1].call.err.number, 50001);
	assert_int_equal(calls[2].call.rc, 0);
	assert_int_equal(calls[2].values[2].u.i, 2);
	assert_int_equal(calls[3].call.rc, 0);
	assert_int_equal(count_items(f), 2);
	for (int i = 0; i < 4; i++)
		call_fini(&calls[i]);
}

static void a_full_disk_fails_only_the_call_that_needs_more(void **state)
{
	struct fixture *f = *state;
	struct test_call calls[3];

	assert_int_equal(run(f, P_PUT, 100, 1), 0);
	assert_int_equal(run(f, P_LIMIT, 0, 0), 0);
	call_init(&calls[0], P_PUT, 1, 1);
	call_init(&calls[1], P_FILL, 0, 0);
	call_init(&calls[2], P_BUMP, 1, 1);
	run_group(f, calls, 3);
	assert_int_equal(calls[0].call.rc, 0);
	assert_int_equal(calls[1].call.err.number, 1105);
	assert_int_equal(calls[2].call.rc, 0);
	assert_int_equal(calls[2].values[2].u.i, 2);
	assert_int_equal(count_items(f), 2);
	for (int i = 0; i < 3; i++)
		call_fini(&calls[i]);
}

static void when_the_commit_fails_all_of_the_group_fail(void **state)
{
	struct fixture *f = *state;
	struct test_call calls[3];

	call_init(&calls[0], P_PUT, 1, 1);
	call_init(&calls[1], P_ORPHAN, 0, 0);
	call_init(&calls[2], P_PUT, 2, 1);
	run_group(f, calls, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(calls[i].call.rc, -1);
		assert_int_equal(calls[i].call.err.number, 547);
		assert_int_equal(calls[i].call.rows_changed, 0);
		call_fini(&calls[i]);
	}
	assert_int_equal(count_items(f), 0);
	assert_int_equal(run(f, P_ORPHAN, 0, 0), 547);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
}

static void a_time_out_stops_a_reader_and_leaves_it_usable(void **state)
{
	struct fixture *f = *state;

	fixture_stop(f);
	f->db.limits.execution_timeout_s = 1;
	fixture_start(f);
	assert_int_equal(run(f, P_SPIN, 0, 0), 50001);
	assert_int_equal(count_items(f), 0);
}

static void a_running_call_can_be_cancelled(void **state)
{
	static const enum fixture_proc kinds[] = { P_SPIN, P_SPIN_WRITE };
	struct fixture *f = *state;

	for (int i = 0; i < 2; i++) {
		struct test_call t;

		call_init(&t, kinds[i], 0, 0);
		engine_submit(&f->db, &t.call);
		engine_cancel(&f->db, &t.call);
		assert_int_equal(call_wait(&t), -1);
		assert_int_equal(t.call.err.number, 50011);
		assert_int_equal(t.completions, 1);
		call_fini(&t);
	}
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
}

static void a_waiting_call_is_dropped_when_it_is_cancelled(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false);
	struct test_call t;

	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	call_init(&t, P_PUT, 2, 1);
	engine_submit(&f->db, &t.call);
	assert_false(call_is_done(&t));
	engine_cancel(&f->db, &t.call);
	assert_true(call_is_done(&t));
	assert_int_equal(t.call.err.number, 50011);
	call_fini(&t);
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
	engine_txn_free(txn);
	assert_int_equal(count_items(f), 1);
}

static void a_full_queue_refuses(void **state)
{
	struct fixture *f = *state;
	struct test_call calls[3];
	struct txn *txn;

	fixture_stop(f);
	f->db.limits.max_queue = 2;
	fixture_start(f);
	txn = engine_begin(&f->db, false);
	assert_int_equal(run_in(f, txn, P_PUT, 100, 1), 0);
	for (int i = 0; i < 3; i++) {
		call_init(&calls[i], P_PUT, i, 1);
		engine_submit(&f->db, &calls[i].call);
	}
	assert_true(call_is_done(&calls[2]));
	assert_int_equal(calls[2].call.err.number, 50012);
	/* the transaction's own calls do not wait */
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
	engine_txn_free(txn);
	for (int i = 0; i < 3; i++) {
		call_wait(&calls[i]);
		call_fini(&calls[i]);
	}
	assert_int_equal(count_items(f), 3);
}

static void stopping_answers_what_waits_and_undoes_what_is_open(void **state)
{
	struct fixture *f = *state;
	struct test_call calls[10];
	struct txn *txn = engine_begin(&f->db, false);

	assert_int_equal(run_in(f, txn, P_PUT, 100, 1), 0);
	for (int i = 0; i < 10; i++) {
		call_init(&calls[i], P_PUT, i, 1);
		engine_submit(&f->db, &calls[i].call);
	}
	fixture_stop(f);
	engine_txn_free(txn);
	for (int i = 0; i < 10; i++) {
		assert_true(call_is_done(&calls[i]));
		assert_int_equal(calls[i].call.err.number, 50009);
		call_fini(&calls[i]);
	}
	fixture_start(f);
	assert_int_equal(count_items(f), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(many_threads_commit_together, group_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_call_that_fails_in_a_group_is_undone_alone, group_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(others_run_again_when_a_call_loses_the_transaction, group_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_full_disk_fails_only_the_call_that_needs_more, group_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(when_the_commit_fails_all_of_the_group_fail, group_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_time_out_stops_a_reader_and_leaves_it_usable, group_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_running_call_can_be_cancelled, group_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_waiting_call_is_dropped_when_it_is_cancelled, group_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_full_queue_refuses, group_up, fixture_down),
		cmocka_unit_test_setup_teardown(stopping_answers_what_waits_and_undoes_what_is_open, group_up,
						fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
