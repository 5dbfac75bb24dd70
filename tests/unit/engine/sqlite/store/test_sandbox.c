/* test_sandbox.c — a client's SELECT reaches the readable views and nothing else, whatever its
 * text says. */
#include "fixture.h"

static int query_up(void **state)
{
	struct fixture *f;

	fixture_up(state);
	f = *state;
	assert_int_equal(fixture_run(f, "INSERT INTO item VALUES ('a', 5, 1)"), 0);
	store_disconnect(f->conn);
	assert_int_equal(store_connect(f->store, true, &f->conn, &f->err), 0);
	return 0;
}

static int query(struct fixture *f, const char *sql)
{
	struct store_stmt *st;
	int rc;

	if (store_query(f->conn, sql, &st, &f->err) < 0)
		return -1;
	while ((rc = store_step(st, &f->err)) > 0)
		;
	store_finish(st);
	return rc;
}

static void views_are_readable(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(query(f, "SELECT id, upper(shown) FROM view_items WHERE n > 1 ORDER BY id LIMIT 3"),
			 0);
	assert_int_equal(query(f, "SELECT count(*) FROM view_items AS v"), 0);
	assert_int_equal(query(f, "SELECT max(x.n) FROM (SELECT n FROM view_items) AS x"), 0);
}

static void nothing_else_is(void **state)
{
	static const char *const texts[] = {
		"SELECT * FROM item",
		"SELECT count(*) FROM secret",
		"SELECT 1 FROM part",
		"SELECT word FROM secret",
		"SELECT (SELECT word FROM secret) FROM view_items",
		"WITH view_items AS (SELECT word FROM secret) SELECT * FROM view_items",
		"WITH view_items AS (SELECT code FROM item) SELECT * FROM view_items",
		"SELECT sql FROM sqlite_schema",
		"SELECT * FROM pragma_table_info('item')",
		"PRAGMA table_info(item)",
		"PRAGMA query_only=OFF",
		"ATTACH 'x.db' AS x",
		"DELETE FROM item",
		"DELETE FROM view_items",
		"INSERT INTO item VALUES ('b', 1, 2)",
		"CREATE TEMP TABLE t (a)",
		"BEGIN",
		"VACUUM INTO 'copy.db'",
		"SELECT load_extension('x')",
		"SELECT randomblob(1000000000)",
		"SELECT printf('%1000000000d', 1) FROM sqlite_schema",
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT count(*) FROM c",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		if (query(f, texts[i]) == 0)
			fail_msg("was allowed: %s", texts[i]);
	}
	assert_int_equal(query(f, "SELECT word FROM secret"), -1);
	assert_int_equal(f->err.number, 229);
}

static void statements_of_the_catalogue_are_free(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(query(f, "SELECT word FROM secret"), -1);
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM secret"), 1);
	assert_int_equal(fixture_run(f, "DELETE FROM item"), -1); /* read-only connection */
}

static void an_empty_text_is_an_error(void **state)
{
	assert_int_equal(query(*state, " -- nothing"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(views_are_readable, query_up, fixture_down),
		cmocka_unit_test_setup_teardown(nothing_else_is, query_up, fixture_down),
		cmocka_unit_test_setup_teardown(statements_of_the_catalogue_are_free, query_up, fixture_down),
		cmocka_unit_test_setup_teardown(an_empty_text_is_an_error, query_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
