/* test_transaction.c — begin, commit, numbered savepoints, interrupts, the WAL that waits to be
 * checkpointed. */
#include "fixture.h"

static void savepoints_undo_what_came_after(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(store_begin(f->conn, &f->err), 0);
	assert_true(store_in_transaction(f->conn));
	for (unsigned n = 1; n <= 20; n++) { /* more than are kept prepared */
		assert_int_equal(store_save(f->conn, n, &f->err), 0);
		assert_int_equal(fixture_run(f, "INSERT INTO part (size) VALUES (1)"), 0);
	}
	assert_int_equal(store_rollback_to(f->conn, 12, &f->err), 0);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM part"), 11);
	assert_int_equal(store_rollback_to(f->conn, 12, &f->err), 0); /* it stays */
	assert_int_equal(store_release(f->conn, 1, &f->err), 0);
	assert_int_equal(store_commit(f->conn, &f->err), 0);
	assert_false(store_in_transaction(f->conn));
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM part"), 11);
	assert_int_equal(store_rollback_to(f->conn, 1, &f->err), -1);
}

static void rollback_undoes_everything_and_may_be_repeated(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(store_begin(f->conn, &f->err), 0);
	assert_int_equal(fixture_run(f, "INSERT INTO part (size) VALUES (1)"), 0);
	store_rollback(f->conn);
	store_rollback(f->conn);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM part"), 0);
}

static bool stop(void *arg)
{
	(*(int *)arg)++;
	return true;
}

static const char endless[] =
	"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c";
static const char endless_write[] = "INSERT INTO part (size) WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL "
				    "SELECT i + 1 FROM c) SELECT i FROM c";

static void an_interrupted_read_leaves_the_transaction(void **state)
{
	struct fixture *f = *state;
	int asked = 0;

	assert_int_equal(store_begin(f->conn, &f->err), 0);
	store_set_interrupt(f->conn, stop, &asked);
	assert_int_equal(fixture_run(f, endless), -1);
	assert_int_equal(f->err.number, 50011);
	assert_int_equal(asked, 1);
	assert_true(store_in_transaction(f->conn));
	store_set_interrupt(f->conn, NULL, NULL);
	assert_int_equal(store_commit(f->conn, &f->err), 0);
}

static void an_interrupted_write_loses_it_and_says_so(void **state)
{
	struct fixture *f = *state;
	int asked = 0;

	assert_int_equal(store_begin(f->conn, &f->err), 0);
	store_set_interrupt(f->conn, stop, &asked);
	assert_int_equal(fixture_run(f, endless_write), -1);
	assert_int_equal(f->err.number, 50011);
	assert_false(store_in_transaction(f->conn));
}

static void statements_are_kept_and_others_with_their_number_are_not_mixed_up(void **state)
{
	static const struct statement one = { .sql = "SELECT 1", .id = 3 },
				      two = { .sql = "SELECT 2", .id = 3 };
	const struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct fixture *f = *state;
	struct store_stmt *a, *b, *again;
	struct value v;

	assert_int_equal(store_statement(f->conn, &one, &a, &f->err), 0);
	assert_int_equal(store_statement(f->conn, &two, &b, &f->err), 0);
	assert_int_equal(store_step(b, &f->err), 1);
	assert_int_equal(store_column(b, 0, &bigint, &v, &f->err), 0);
	assert_int_equal(v.u.i, 2);
	assert_int_equal(store_column(b, 1, &bigint, &v, &f->err), -1);
	store_finish(b);
	store_finish(a);
	assert_int_equal(store_statement(f->conn, &one, &again, &f->err), 0);
	assert_ptr_equal(again, a);
	store_finish(again);
}

static void commits_leave_work_for_later(void **state)
{
	struct fixture *f = *state;
	uint64_t before = store_changes(f->conn);

	assert_int_equal(fixture_run(f, "INSERT INTO part (size) VALUES (1), (2)"), 0);
	assert_int_equal(store_changes(f->conn) - before, 2);
	assert_true(store_wal_waiting(f->store) > 0);
	store_checkpoint(f->conn, true);
	assert_int_equal(store_wal_waiting(f->store), 0);
	assert_int_equal(fixture_run(f, "INSERT INTO part (size) VALUES (1)"), 0);
	assert_true(store_wal_waiting(f->store) > 0);
}

static void the_log_of_a_larger_file_may_become_longer(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(store_checkpoint_worth(f->store), 1500);
	store_checkpoint(f->conn, true);
	assert_int_equal(store_checkpoint_worth(f->store), 1500);
	assert_int_equal(fixture_run(f, "INSERT INTO secret SELECT zeroblob(400000)"), 0);
	assert_int_equal(store_checkpoint_worth(f->store), 1500); /* the file has not grown yet */
	store_checkpoint(f->conn, true);
	assert_in_range(store_checkpoint_worth(f->store), 10000, 12000);
	assert_int_equal(fixture_run(f, "INSERT INTO secret SELECT zeroblob(60000000)"), 0);
	store_checkpoint(f->conn, true);
	assert_int_equal(store_checkpoint_worth(f->store), 40000);
}

static void readers_see_what_was_committed_when_they_began(void **state)
{
	struct fixture *f = *state, reader = { .store = f->store };

	assert_int_equal(store_connect(f->store, true, &reader.conn, &reader.err), 0);
	assert_int_equal(store_begin(reader.conn, &reader.err), 0);
	assert_int_equal(fixture_number(&reader, "SELECT count(*) FROM part"), 0);
	assert_int_equal(fixture_run(f, "INSERT INTO part (size) VALUES (1)"), 0);
	assert_int_equal(fixture_number(&reader, "SELECT count(*) FROM part"), 0);
	store_rollback(reader.conn);
	assert_int_equal(fixture_number(&reader, "SELECT count(*) FROM part"), 1);
	store_disconnect(reader.conn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(savepoints_undo_what_came_after, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(rollback_undoes_everything_and_may_be_repeated, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(an_interrupted_read_leaves_the_transaction, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(an_interrupted_write_loses_it_and_says_so, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(
			statements_are_kept_and_others_with_their_number_are_not_mixed_up, fixture_up,
			fixture_down),
		cmocka_unit_test_setup_teardown(commits_leave_work_for_later, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(the_log_of_a_larger_file_may_become_longer, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(readers_see_what_was_committed_when_they_began, fixture_up,
						fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
