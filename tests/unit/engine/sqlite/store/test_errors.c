/* test_errors.c — violations come back with SQL Server's numbers and a text that helps. */
#include "fixture.h"

#include <string.h>

static void a_second_row_with_the_same_key_is_2627(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, "INSERT INTO item VALUES ('a', 1, 7)"), 0);
	assert_int_equal(fixture_run(f, "INSERT INTO item VALUES ('a', 2, 8)"), -1);
	assert_int_equal(f->err.number, 2627);
	assert_int_equal(f->err.severity, 14);
	assert_string_equal(f->err.text, "Violation of PRIMARY KEY constraint. Cannot insert duplicate key.");
}

static void the_text_of_the_schema_wins(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, "INSERT INTO item VALUES ('a', 1, 7), ('b', 1, 7)"), -1);
	assert_int_equal(f->err.number, 2627);
	assert_string_equal(f->err.text, "The code is taken.");
	assert_int_equal(fixture_number(f, "SELECT count(*) FROM item"), 0);
}

static void a_key_of_two_columns_has_its_text(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, "INSERT INTO pair VALUES (1, 2), (1, 2)"), -1);
	assert_int_equal(f->err.number, 2627);
	assert_string_equal(f->err.text, "The two are there.");
}

static void a_missing_parent_is_547(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, "INSERT INTO part (item) VALUES ('nobody')"), -1);
	assert_int_equal(f->err.number, 547);
}

static void a_broken_check_is_547(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, "INSERT INTO item VALUES ('a', 1000, 1)"), -1);
	assert_int_equal(f->err.number, 547);
}

static void a_null_where_none_may_be_is_515(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, "INSERT INTO item VALUES ('a', NULL, 1)"), -1);
	assert_int_equal(f->err.number, 515);
	assert_non_null(strstr(f->err.text, "column 'n', table 'item'"));
}

static void a_bad_statement_is_50010(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, "SELECT nonsense"), -1);
	assert_int_equal(f->err.number, 50010);
}

static void a_value_beyond_the_limit_is_50005(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(fixture_run(f, "SELECT zeroblob(1000000001)"), -1);
	assert_int_equal(f->err.number, 50005);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_second_row_with_the_same_key_is_2627, fixture_up,
						fixture_down),
		cmocka_unit_test_setup_teardown(the_text_of_the_schema_wins, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_key_of_two_columns_has_its_text, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_missing_parent_is_547, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_broken_check_is_547, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_null_where_none_may_be_is_515, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_bad_statement_is_50010, fixture_up, fixture_down),
		cmocka_unit_test_setup_teardown(a_value_beyond_the_limit_is_50005, fixture_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
