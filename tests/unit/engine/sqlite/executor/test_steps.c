/* test_steps.c — each kind of step does what catalogue/proc.h says. */
#include "fixture.h"

static int count_to(struct native_ctx *ctx, struct err *reterr)
{
	for (int64_t i = 0; i < ctx->args[1].u.i; i++) {
		struct value field = value_int(TYPE_INT, i);
		int rc = ctx->each(ctx, &field, 1, reterr);

		if (rc != 0)
			return rc;
		if (ctx->changes != 1)
			return err_set(reterr, ERR_RANGE, "one row each");
	}
	return 0;
}

static int twice(struct native_ctx *ctx, struct err *reterr)
{
	if (ctx->args[0].u.i < 0)
		return err_set(reterr, ERR_RANGE, "negative");
	ctx->results[0] = value_int(TYPE_INT, 2 * ctx->args[0].u.i + *(const int *)ctx->userdata);
	return 0;
}

static int steps_up(void **state)
{
	static int extra = 1;
	static struct catalogue_natives natives;

	catalogue_native_register(&natives, "test_count", count_to, NULL);
	catalogue_native_register(&natives, "test_double", twice, &extra);
	fixture_up(state);
	((struct fixture *)*state)->db.natives = &natives;
	fixture_start(*state);
	return 0;
}

static struct test_call t;

static int go(struct fixture *f, enum fixture_proc p, int id, int n)
{
	call_init(&t, p, id, n);
	engine_submit(&f->db, &t.call);
	return call_wait(&t);
}

static void set_takes_the_first_row_and_leaves_targets_without_one(void **state)
{
	assert_int_equal(run(*state, P_PUT, 1, 10), 0);
	assert_int_equal(go(*state, P_BUMP, 1, 5), 0);
	assert_int_equal(t.values[2].u.i, 15);
	assert_true(t.call.status_set);
	assert_int_equal(t.call.status, 0);
	assert_int_equal(t.call.rows_changed, 1);
	call_fini(&t);
	assert_int_equal(go(*state, P_BUMP, 2, 5), 0);
	assert_true(t.values[2].null);
	call_fini(&t);
}

static void rows_go_to_the_sink(void **state)
{
	assert_int_equal(run(*state, P_PUT, 1, 10), 0);
	assert_int_equal(run(*state, P_PUT, 2, 20), 0);
	assert_int_equal(go(*state, P_ALL, 0, 0), 0);
	assert_int_equal(t.rows, 2);
	assert_int_equal(t.last_row, 20);
	assert_int_equal(t.events, 4);
	call_fini(&t);
}

static int status_of(struct fixture *f, int id, int n)
{
	int32_t status;

	assert_int_equal(go(f, P_COUNTED, id, n), 0);
	status = t.call.status;
	call_fini(&t);
	return status;
}

static void whether_the_last_step_found_anything(void **state)
{
	assert_int_equal(run(*state, P_PUT, 5, 1), 0);
	assert_int_equal(status_of(*state, 6, 1), 7); /* nothing was changed */
	assert_int_equal(status_of(*state, 5, 5), 8); /* something was, but no row was sent */
	assert_int_equal(status_of(*state, 5, 6), 0);
}

static void a_check_that_fails_ends_the_call_and_takes_everything_back(void **state)
{
	assert_int_equal(go(*state, P_PUT_FAIL, 7, 1), -1);
	assert_int_equal(t.call.err.number, 50003);
	assert_string_equal(t.call.err.text, "No 7 and {@nothing}, NULL.");
	assert_string_equal(t.call.err.proc, "put_fail");
	assert_int_equal(t.call.err.line, 1);
	assert_true(t.call.status_set); /* fails_with_status */
	assert_int_equal(t.call.status, 1);
	assert_int_equal(t.call.rows_changed, 0);
	assert_int_equal(t.events, 0); /* its rows were taken back */
	call_fini(&t);
	assert_int_equal(count_items(*state), 0);
	assert_int_equal(run(*state, P_PUT, 7, 1), 0);
	assert_int_equal(go(*state, P_PUT, 7, 1), -1);
	assert_int_equal(t.call.err.number, 2627);
	assert_false(t.call.status_set);
	call_fini(&t);
}

static void if_jumps_return_ends_message_informs(void **state)
{
	assert_int_equal(go(*state, P_BRANCH, 2, 2), 0);
	assert_int_equal(t.call.status, 42);
	assert_string_equal(t.message, "50002 equal: 2");
	assert_true(t.values[2].null);
	call_fini(&t);
	assert_int_equal(go(*state, P_BRANCH, 2, 3), 0);
	assert_int_equal(t.call.status, 0);
	assert_int_equal(t.messages, 0);
	assert_int_equal(t.values[2].u.i, 4); /* through the local */
	call_fini(&t);
}

static void each_runs_the_statement_for_every_row(void **state)
{
	assert_int_equal(run(*state, P_EACH, 100, 50), 0);
	assert_int_equal(count_items(*state), 50);
	assert_int_equal(run(*state, P_EACH, 60, 50), 2627); /* 60 … 99 are free, 100 is not */
	assert_int_equal(count_items(*state), 50);
}

static void natives_give_values_and_errors(void **state)
{
	assert_int_equal(go(*state, P_NATIVE, 4, 0), 0);
	assert_int_equal(t.values[2].u.i, 9);
	call_fini(&t);
	assert_int_equal(run(*state, P_NATIVE, -1, 0), 50003);
}

static void a_statement_knows_time_errata_login_and_database(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f, P_AROUND, 0, 0), 0);
	atomic_store(&f->db.literal, false);
	assert_int_equal(run(f, P_AROUND, 0, 0), 50003);
}

static void a_sink_that_is_gone_stops_the_call(void **state)
{
	assert_int_equal(run(*state, P_PUT, 1, 10), 0);
	call_init(&t, P_PUT_FAIL, 2, 1);
	t.refuse_row = 1;
	engine_submit(&((struct fixture *)*state)->db, &t.call);
	assert_int_equal(call_wait(&t), -1);
	assert_int_equal(t.call.err.number, 50011);
	call_fini(&t);
	assert_int_equal(count_items(*state), 1);
}

static void queries_run_in_the_sandbox(void **state)
{
	const struct value five = value_int(TYPE_INT, 5);
	struct query q = { .sql = "SELECT id, n FROM view_items WHERE n > ?1",
			   .values = &five,
			   .nvalues = 1,
			   .columns = fixture_columns,
			   .ncolumns = 2 };
	struct fixture *f = *state;

	assert_int_equal(run(f, P_PUT, 1, 5), 0);
	assert_int_equal(run(f, P_PUT, 2, 6), 0);
	for (int i = 0; i < 2; i++) {
		call_init(&t, P_PUT, 0, 0);
		t.call.kind = CALL_QUERY;
		t.call.query = &q;
		engine_submit(&f->db, &t.call);
		assert_int_equal(call_wait(&t), -i);
		assert_int_equal(i == 0 ? t.last_row : t.call.err.number, i == 0 ? 6 : 229);
		call_fini(&t);
		q.sql = "SELECT id, n FROM item WHERE n > ?1";
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(set_takes_the_first_row_and_leaves_targets_without_one,
						steps_up, fixture_down),
		cmocka_unit_test_setup_teardown(rows_go_to_the_sink, steps_up, fixture_down),
		cmocka_unit_test_setup_teardown(whether_the_last_step_found_anything, steps_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_check_that_fails_ends_the_call_and_takes_everything_back,
						steps_up, fixture_down),
		cmocka_unit_test_setup_teardown(if_jumps_return_ends_message_informs, steps_up, fixture_down),
		cmocka_unit_test_setup_teardown(each_runs_the_statement_for_every_row, steps_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(natives_give_values_and_errors, steps_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_statement_knows_time_errata_login_and_database, steps_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(a_sink_that_is_gone_stops_the_call, steps_up, fixture_down),
		cmocka_unit_test_setup_teardown(queries_run_in_the_sandbox, steps_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
