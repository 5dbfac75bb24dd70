/* test_txn.c — explicit transactions: isolation, waiting, savepoints, idle limit, loss
 * (clarifications 6 and 7 of the errata). */
#include "fixture.h"

static int txn_up(void **state)
{
	fixture_up(state);
	fixture_start(*state);
	return 0;
}

static void others_see_only_what_was_committed(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false);
	struct test_call t;

	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	assert_int_equal(count_items(f), 0);
	call_init(&t, P_COUNT, 0, 0); /* it sees its own */
	t.call.txn = txn;
	engine_submit(&f->db, &t.call);
	assert_int_equal(call_wait(&t), 0);
	assert_int_equal(t.values[2].u.i, 1);
	call_fini(&t);
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
	assert_int_equal(count_items(f), 1);
	assert_int_equal(run_in(f, txn, P_PUT, 2, 1), 0); /* the same handle begins anew */
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK, NULL), 0);
	assert_int_equal(count_items(f), 1);
	engine_txn_free(txn);
}

static void a_failed_call_is_undone_and_the_transaction_goes_on(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false);

	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	assert_int_equal(run_in(f, txn, P_PUT_FAIL, 2, 1), 50003);
	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 2627);
	assert_int_equal(run_in(f, txn, P_PUT, 3, 1), 0);
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
	assert_int_equal(count_items(f), 2);
	engine_txn_free(txn);
}

static void savepoints_are_found_by_their_latest_name(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false);

	assert_int_equal(txn_step(f, txn, CALL_SAVE, "a"), 0);
	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	assert_int_equal(txn_step(f, txn, CALL_SAVE, "b"), 0);
	assert_int_equal(run_in(f, txn, P_PUT, 2, 1), 0);
	assert_int_equal(txn_step(f, txn, CALL_SAVE, "a"), 0);
	assert_int_equal(run_in(f, txn, P_PUT, 3, 1), 0);
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK_TO, "a"), 0); /* the second */
	assert_int_equal(run_in(f, txn, P_PUT, 3, 1), 0);
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK_TO, "a"), 0); /* it stays */
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK_TO, "b"), 0); /* later ones go */
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK_TO, "B"), 6401);
	assert_int_equal(run_in(f, txn, P_PUT, 4, 1), 0);
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
	assert_int_equal(count_items(f), 2); /* 1 and 4 */
	engine_txn_free(txn);
}

static void a_writer_waits_and_then_runs(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false);
	struct test_call t;

	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	call_init(&t, P_PUT, 1, 2);
	engine_submit(&f->db, &t.call);
	assert_false(call_is_done(&t));
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK, NULL), 0);
	assert_int_equal(call_wait(&t), 0);
	call_fini(&t);
	engine_txn_free(txn);
}

static void waiting_ends_with_1222(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false), *second = engine_begin(&f->db, false);
	struct test_call late, never, begins;

	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	call_init(&never, P_PUT, 2, 1);
	never.call.lock_timeout_ms = 0;
	engine_submit(&f->db, &never.call);
	assert_true(call_is_done(&never));
	assert_int_equal(never.call.err.number, 1222);
	/* another transaction waits like any call, longer than the next one */
	call_init(&begins, P_PUT, 3, 1);
	begins.call.txn = second;
	begins.call.lock_timeout_ms = 200;
	engine_submit(&f->db, &begins.call);
	call_init(&late, P_PUT, 4, 1);
	late.call.lock_timeout_ms = 50;
	engine_submit(&f->db, &late.call);
	assert_int_equal(call_wait(&late), -1);
	assert_int_equal(late.call.err.number, 1222);
	assert_false(late.call.status_set);
	assert_int_equal(call_wait(&begins), -1);
	assert_int_equal(begins.call.err.number, 1222);
	assert_false(begins.call.txn_lost);
	assert_int_equal(txn_step(f, second, CALL_ROLLBACK, NULL), 0);
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
	assert_int_equal(count_items(f), 1);
	call_fini(&never);
	call_fini(&late);
	call_fini(&begins);
	engine_txn_free(txn);
	engine_txn_free(second);
}

/* The writer is busy inside the transaction all the while: it must look at the clock for others. */
static void waiting_ends_while_the_transaction_runs_a_long_statement(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false);
	struct test_call spin, late;

	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	call_init(&spin, P_SPIN, 0, 0);
	spin.call.txn = txn;
	engine_submit(&f->db, &spin.call);
	call_init(&late, P_PUT, 2, 1);
	late.call.lock_timeout_ms = 20;
	engine_submit(&f->db, &late.call);
	assert_int_equal(call_wait(&late), -1);
	assert_int_equal(late.call.err.number, 1222);
	assert_false(call_is_done(&spin));
	engine_cancel(&f->db, &spin.call);
	assert_int_equal(call_wait(&spin), -1);
	assert_int_equal(spin.call.err.number, 50011);
	assert_false(spin.call.txn_lost); /* a cancelled read costs nothing */
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0);
	assert_int_equal(count_items(f), 1);
	call_fini(&spin);
	call_fini(&late);
	engine_txn_free(txn);
}

static void an_idle_transaction_is_rolled_back_and_its_owner_told(void **state)
{
	struct fixture *f = *state;
	struct txn *txn;
	struct test_call waits, told;

	fixture_stop(f);
	f->db.limits.transaction_idle_s = 1;
	fixture_start(f);
	txn = engine_begin(&f->db, false);
	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	assert_false(engine_txn_is_lost(txn, &f->err));
	call_init(&waits, P_PUT, 2, 1);
	engine_submit(&f->db, &waits.call);
	assert_int_equal(call_wait(&waits), 0); /* when the second is over */
	assert_true(engine_txn_is_lost(txn, &f->err));
	assert_int_equal(f->err.number, 50006);
	call_init(&told, P_PUT, 3, 1);
	told.call.txn = txn;
	engine_submit(&f->db, &told.call);
	assert_int_equal(call_wait(&told), -1);
	assert_int_equal(told.call.err.number, 50006);
	assert_true(told.call.txn_lost);
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 50006);
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK, NULL), 0);
	assert_int_equal(count_items(f), 1);
	call_fini(&waits);
	call_fini(&told);
	engine_txn_free(txn);
}

static void a_time_out_rolls_the_whole_transaction_back(void **state)
{
	static const enum fixture_proc kinds[] = { P_SPIN, P_SPIN_WRITE };
	struct fixture *f = *state;

	fixture_stop(f);
	f->db.limits.execution_timeout_s = 1;
	fixture_start(f);
	for (int i = 0; i < 2; i++) {
		struct txn *txn = engine_begin(&f->db, false);
		struct test_call t;

		assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
		call_init(&t, kinds[i], 0, 0);
		t.call.txn = txn;
		engine_submit(&f->db, &t.call);
		assert_int_equal(call_wait(&t), -1);
		assert_int_equal(t.call.err.number, 50001);
		assert_true(t.call.txn_lost);
		assert_int_equal(count_items(f), 0);
		assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 50001);
		call_fini(&t);
		engine_txn_free(txn);
	}
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
}

static void a_commit_that_fails_ends_the_transaction(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false);
	struct test_call t;

	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	assert_int_equal(run_in(f, txn, P_ORPHAN, 0, 0), 0);
	call_init(&t, P_PUT, 0, 0);
	t.call.kind = CALL_COMMIT;
	t.call.txn = txn;
	engine_submit(&f->db, &t.call);
	assert_int_equal(call_wait(&t), -1);
	assert_int_equal(t.call.err.number, 547);
	assert_true(t.call.txn_lost);
	call_fini(&t);
	engine_txn_free(txn);
	assert_int_equal(count_items(f), 0);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
}

static void a_transaction_that_the_store_gives_up_is_lost(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false);
	struct test_call t;

	assert_int_equal(run(f, P_LIMIT, 0, 0), 0);
	assert_int_equal(run_in(f, txn, P_PUT, 1, 1), 0);
	call_init(&t, P_FILL, 0, 0);
	t.call.txn = txn;
	engine_submit(&f->db, &t.call);
	assert_int_equal(call_wait(&t), -1);
	assert_int_equal(t.call.err.number, 1105);
	assert_true(t.call.txn_lost);
	call_fini(&t);
	assert_int_equal(txn_step(f, txn, CALL_ROLLBACK, NULL), 0);
	engine_txn_free(txn);
	assert_int_equal(count_items(f), 0);
	assert_int_equal(run(f, P_PUT, 1, 1), 0);
}

static void steps_without_a_transaction_are_refused(void **state)
{
	struct fixture *f = *state;
	struct txn *txn = engine_begin(&f->db, false);

	assert_int_equal(txn_step(f, NULL, CALL_COMMIT, NULL), 3902);
	assert_int_equal(txn_step(f, NULL, CALL_ROLLBACK, NULL), 3903);
	assert_int_equal(txn_step(f, NULL, CALL_SAVE, "a"), 628);
	assert_int_equal(txn_step(f, txn, CALL_COMMIT, NULL), 0); /* nothing was done in it */
	assert_ptr_equal(engine_txn_database(txn), &f->db);
	engine_txn_free(txn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(others_see_only_what_was_committed, txn_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_failed_call_is_undone_and_the_transaction_goes_on, txn_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(savepoints_are_found_by_their_latest_name, txn_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_writer_waits_and_then_runs, txn_up, fixture_down),
		cmocka_unit_test_setup_teardown(waiting_ends_with_1222, txn_up, fixture_down),
		cmocka_unit_test_setup_teardown(waiting_ends_while_the_transaction_runs_a_long_statement,
						txn_up, fixture_down),
		cmocka_unit_test_setup_teardown(an_idle_transaction_is_rolled_back_and_its_owner_told, txn_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_time_out_rolls_the_whole_transaction_back, txn_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_commit_that_fails_ends_the_transaction, txn_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_transaction_that_the_store_gives_up_is_lost, txn_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(steps_without_a_transaction_are_refused, txn_up,
						fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
