/* test_large.c — values larger than what a connection keeps in memory beside them: written page
 * by page into the WAL before the commit. */
#include "fixture.h"

#include <string.h>

#define LARGE ((size_t)9 << 20)

static uint8_t *bytes;

static int large_up(void **state)
{
	bytes = malloc(LARGE + 1);
	for (size_t i = 0; i <= LARGE; i++)
		bytes[i] = (uint8_t)(i * 31 + i / 4096 * 17);
	fixture_up(state);
	assert_int_equal(fixture_run(*state, "CREATE TABLE body (n INTEGER PRIMARY KEY, data BLOB)"), 0);
	return 0;
}

static int large_down(void **state)
{
	free(bytes);
	return fixture_down(state);
}

/* Stores n bytes from the given offset of the pattern as row 1. */
static int put(struct fixture *f, size_t offset, size_t n)
{
	static const struct statement s = {
		.sql = "INSERT INTO body VALUES (1, ?1) ON CONFLICT (n) DO UPDATE SET data = ?1",
		.id = 1,
		.writes = true
	};
	struct value v = value_bytes(TYPE_LEN(TYPE_VARBINARY, TYPE_MAX), bytes + offset, n);
	struct store_stmt *st;
	int rc;

	assert_int_equal(store_statement(f->conn, &s, &st, &f->err), 0);
	assert_int_equal(store_bind(st, 1, &v, &f->err), 0);
	rc = store_step(st, &f->err);
	store_finish(st);
	return rc;
}

static void assert_holds(struct fixture *f, size_t offset, size_t n)
{
	struct arena a;
	struct value v;

	arena_init(&a, SIZE_MAX / 2);
	assert_int_equal(store_fetch(f->conn, "body", "data", 1, &a, &v, &f->err), 0);
	assert_false(v.null);
	assert_int_equal(v.type.id, TYPE_VARBINARY);
	assert_int_equal(v.u.s.n, n);
	assert_memory_equal(v.u.s.p, bytes + offset, n);
	arena_fini(&a);
}

static void a_fetched_value_is_what_was_stored(void **state)
{
	static const size_t sizes[] = { LARGE, LARGE - 4096, 1, (1 << 20) - 1, 1 << 20, (1 << 20) + 1 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(put(*state, i % 2, sizes[i]), 0);
		assert_holds(*state, i % 2, sizes[i]);
	}
}

/* In one transaction the pages are in the WAL, gathered and not written, or in memory: each is
 * found where it is. */
static void what_a_transaction_replaced_is_seen_by_it_and_undone_with_it(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(put(f, 0, LARGE), 0);
	assert_int_equal(store_begin(f->conn, &f->err), 0);
	assert_int_equal(put(f, 1, LARGE), 0);
	assert_holds(f, 1, LARGE);
	assert_int_equal(store_save(f->conn, 1, &f->err), 0);
	assert_int_equal(put(f, 0, LARGE - 9000), 0);
	assert_holds(f, 0, LARGE - 9000);
	assert_int_equal(store_rollback_to(f->conn, 1, &f->err), 0);
	assert_holds(f, 1, LARGE);
	store_rollback(f->conn);
	assert_holds(f, 0, LARGE);
	assert_int_equal(store_begin(f->conn, &f->err), 0);
	assert_int_equal(put(f, 1, LARGE), 0);
	assert_int_equal(store_commit(f->conn, &f->err), 0);
	store_checkpoint(f->conn, true);
	assert_holds(f, 1, LARGE);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
		1);
}

static void the_cache_is_as_before_afterwards(void **state)
{
	struct fixture *f = *state;
	int64_t before = fixture_number(f, "SELECT cache_size FROM pragma_cache_size");

	assert_int_equal(put(f, 0, LARGE), 0);
	assert_int_equal(fixture_number(f, "SELECT cache_size FROM pragma_cache_size"), before);
	assert_holds(f, 0, LARGE);
	assert_int_equal(fixture_number(f, "SELECT cache_size FROM pragma_cache_size"), before);
}

/* Another connection writes it, so that the reader's memory does not have it. */
static void what_was_read_before_is_read_anew(void **state)
{
	struct fixture *f = *state, reader = { .store = f->store };

	assert_int_equal(store_connect(f->store, true, &reader.conn, &f->err), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(put(f, i % 2, 60000), 0);
		if (i < 3)
			store_checkpoint(f->conn, true);
		assert_holds(&reader, i % 2, 60000);
	}
	store_disconnect(reader.conn);
}

/* The WAL goes on, and is copied into the file as far as the reader allows. */
static void a_reader_sees_its_own_moment_whatever_others_write(void **state)
{
	struct fixture *f = *state, reader = { .store = f->store };

	assert_int_equal(put(f, 0, LARGE), 0);
	store_checkpoint(f->conn, true);
	assert_int_equal(put(f, 1, LARGE), 0);
	assert_int_equal(store_connect(f->store, true, &reader.conn, &f->err), 0);
	assert_int_equal(store_begin(reader.conn, &f->err), 0);
	assert_holds(&reader, 1, LARGE);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(put(f, i % 2, LARGE - 5000 * i), 0);
		store_checkpoint(f->conn, true);
		assert_holds(&reader, 1, LARGE);
	}
	assert_int_equal(store_commit(reader.conn, &f->err), 0);
	assert_holds(&reader, 0, LARGE - 10000);
	store_disconnect(reader.conn);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
		1);
}

/* What is copied of the WAL is what a reader has seen; the rest follows when it has gone. The
 * pages that were copied are read from the file from then on. */
static void a_log_that_is_copied_in_parts_loses_nothing(void **state)
{
	struct fixture *f = *state, reader = { .store = f->store }, late = { .store = f->store };

	assert_int_equal(store_connect(f->store, true, &reader.conn, &f->err), 0);
	assert_int_equal(store_connect(f->store, true, &late.conn, &f->err), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(put(f, i % 2, LARGE), 0);
		assert_int_equal(store_begin(reader.conn, &f->err), 0);
		assert_holds(&reader, i % 2, LARGE);
		assert_int_equal(fixture_run(f, "INSERT INTO item (id, n) VALUES (hex(randomblob(8)), 1)"),
				 0);
		store_checkpoint(f->conn, false);
		assert_holds(&late, i % 2, LARGE);
		assert_int_equal(store_commit(reader.conn, &f->err), 0);
	}
	store_disconnect(reader.conn);
	store_disconnect(late.conn);
	assert_int_equal(
		fixture_number(f, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"),
		1);
}

static bool at_once(void *arg)
{
	++*(int *)arg;
	return true;
}

static void a_fetch_can_be_stopped(void **state)
{
	struct fixture *f = *state;
	struct arena a;
	struct value v;
	int asked = 0;

	arena_init(&a, SIZE_MAX / 2);
	assert_int_equal(put(f, 0, LARGE), 0);
	store_set_interrupt(f->conn, at_once, &asked);
	assert_int_equal(store_fetch(f->conn, "body", "data", 1, &a, &v, &f->err), -1);
	assert_int_equal(f->err.number, 50011);
	assert_int_equal(asked, 1);
	store_set_interrupt(f->conn, NULL, NULL);
	assert_holds(f, 0, LARGE);
	arena_fini(&a);
}

static void a_row_that_is_not_there_and_an_arena_that_is_full_are_errors(void **state)
{
	struct fixture *f = *state;
	struct arena a;
	struct value v;

	arena_init(&a, LARGE / 2);
	assert_int_equal(store_fetch(f->conn, "body", "data", 1, &a, &v, &f->err), -1);
	assert_int_equal(put(f, 0, LARGE), 0);
	assert_int_equal(store_fetch(f->conn, "body", "data", 1, &a, &v, &f->err), -1);
	assert_int_equal(f->err.number, 701);
	arena_fini(&a);
	assert_holds(f, 0, LARGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_fetched_value_is_what_was_stored, large_up, large_down),
		cmocka_unit_test_setup_teardown(what_a_transaction_replaced_is_seen_by_it_and_undone_with_it,
						large_up, large_down),
		cmocka_unit_test_setup_teardown(the_cache_is_as_before_afterwards, large_up, large_down),
		cmocka_unit_test_setup_teardown(what_was_read_before_is_read_anew, large_up, large_down),
		cmocka_unit_test_setup_teardown(a_reader_sees_its_own_moment_whatever_others_write, large_up,
						large_down),
		cmocka_unit_test_setup_teardown(a_log_that_is_copied_in_parts_loses_nothing, large_up,
						large_down),
		cmocka_unit_test_setup_teardown(a_fetch_can_be_stopped, large_up, large_down),
		cmocka_unit_test_setup_teardown(a_row_that_is_not_there_and_an_arena_that_is_full_are_errors,
						large_up, large_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
