/* test_error.c — PostgreSQL's failures in our numbers. The fields of a failure are the test's:
 * __wrap_PQresultErrorField() stands before libpq's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/postgres/postgres_int.h"

static struct {
	const char *state, *message, *detail, *constraint, *function, *file;
} failure;

char *__wrap_PQresultErrorField(const PGresult *r, int field);
char *__wrap_PQresultErrorField(const PGresult *r, int field)
{
	(void)r;
	switch (field) {
	case PG_DIAG_SQLSTATE: return (char *)failure.state;
	case PG_DIAG_MESSAGE_PRIMARY: return (char *)failure.message;
	case PG_DIAG_MESSAGE_DETAIL: return (char *)failure.detail;
	case PG_DIAG_SOURCE_FUNCTION: return (char *)failure.function;
	case PG_DIAG_SOURCE_FILE: return (char *)failure.file;
	case PG_DIAG_CONSTRAINT_NAME: return (char *)failure.constraint;
	case PG_DIAG_COLUMN_NAME: return "column";
	case PG_DIAG_TABLE_NAME: return "table";
	default: return NULL;
	}
}

static const struct pg_constraint constraints[] = {
	{ 2627, "item_id_key", "Violation of PRIMARY KEY constraint 'PK_Items'." },
	{ 547, "", "The group has no job." },
	{ 547, "positive", "It must be positive." },
};
static const struct pg_service service = { .constraints = constraints,
					   .nconstraints = ARRAY_LEN(constraints) };

static struct err told(const char *state, const char *message, const char *detail, const char *constraint)
{
	struct pg_database db = { .sql = &service };
	struct pg_conn c = { .db = &db };
	struct err err;

	failure.state = state;
	failure.message = message;
	failure.detail = detail;
	failure.constraint = constraint;
	str_copy(db.base.name, sizeof(db.base.name), STR("StateService"));
	err_clear(&err);
	arena_init(&c.arena, 1 << 16);
	postgres_error(&c, NULL, &err);
	arena_fini(&c.arena);
	return err;
}

static void numbers_of_states(void **state)
{
	static const struct {
		const char *state;
		int32_t number;
	} cases[] = {
		{ "PC824", 824 },  { "57014", 50011 }, { "55P03", 1222 }, { "22003", 8115 },
		{ "22012", 8134 }, { "23502", 515 },   { "53100", 1105 }, { "53200", 701 },
		{ "54000", 701 },  { "XX000", 50010 }, { "42883", 911 },  { "42P01", 911 },
		{ "54011", 1056 }, { "3F000", 911 },   { NULL, 50010 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = told(cases[i].state, "words", NULL, NULL);

		if (e.number != cases[i].number)
			fail_msg("%s: %d, not %d", cases[i].state, e.number, cases[i].number);
	}
}

/* Whatever the language of the messages. */
static void what_postgresql_cannot_allocate_is_too_large(void **state)
{
	struct err e;

	(void)state;
	failure.file = "stringinfo.c";
	e = told("54000", "Speicher aufgebraucht", NULL, NULL);
	assert_int_equal(e.number, 50005);
	assert_non_null(strstr(e.text, "1073741823 bytes"));
	assert_int_equal(told("XX000", "words", NULL, NULL).number, 50010);
	failure.file = "mcxt.c";
	assert_int_equal(told("XX000", "words", NULL, NULL).number, 50005);
	assert_int_equal(told("53200", "words", NULL, NULL).number, 701);
	failure.file = NULL;
}

static void what_a_function_raised_is_told_as_it_is(void **state)
{
	struct err e = told("PC001", "Nothing of it \xf4\x8f\xa0\x80 100%s.", "50004 14 3", NULL);

	(void)state;
	assert_int_equal(e.number, 50004);
	assert_int_equal(e.severity, 14);
	assert_int_equal(e.state, 3);
	assert_non_null(strstr(e.text, "100%s."));
	assert_null(strstr(e.text, "\xf4\x8f")); /* a lone surrogate again */
	e = told("PC001", "short", "50004", NULL);
	assert_int_equal(e.severity, 16);
	e = told("PC001", NULL, NULL, NULL);
	assert_string_equal(e.text, "");
}

static void constraints_have_their_texts(void **state)
{
	struct err e = told("23505", "words", NULL, "item_id_key");

	(void)state;
	assert_int_equal(e.number, 2627);
	assert_non_null(strstr(e.text, "PK_Items"));
	assert_int_equal(told("23505", "words", NULL, "unknown").number, 2627);
	e = told("23503", "words", NULL, "whatever");
	assert_int_equal(e.number, 547);
	assert_non_null(strstr(e.text, "no job"));
	e = told("23514", "words", NULL, "positive");
	assert_int_equal(e.number, 547);
	e = told("23502", "words", NULL, NULL);
	assert_non_null(strstr(e.text, "'column'"));
	assert_non_null(strstr(e.text, "'table'"));
}

static void kinds_of_failures(void **state)
{
	(void)state;
	failure.state = "40001";
	assert_true(postgres_is_conflict(NULL));
	failure.state = "40P01";
	assert_true(postgres_is_conflict(NULL));
	assert_false(postgres_is_gone(NULL));
	failure.state = "57P01";
	assert_true(postgres_is_gone(NULL));
	assert_false(postgres_is_conflict(NULL));
	failure.state = "25006";
	assert_true(postgres_is_gone(NULL));
	failure.state = "08006";
	assert_true(postgres_is_gone(NULL));
	failure.state = "57014";
	assert_false(postgres_is_gone(NULL));
	failure.state = NULL;
	assert_false(postgres_is_conflict(NULL) || postgres_is_gone(NULL) || postgres_is_lock_timeout(NULL));
}

static void a_commit_that_no_standby_has_in_any_language(void **state)
{
	(void)state;
	failure.message = "storniere Warten auf synchrone Replikation wegen Benutzeraufforderung";
	failure.function = "SyncRepWaitForLSN";
	assert_true(postgres_is_unconfirmed(NULL));
	failure.function = NULL;
	assert_false(postgres_is_unconfirmed(NULL));
	failure.message = "canceling wait for synchronous replication due to user request";
	assert_true(postgres_is_unconfirmed(NULL));
	failure.message = NULL;
	assert_false(postgres_is_unconfirmed(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_states),
		cmocka_unit_test(what_postgresql_cannot_allocate_is_too_large),
		cmocka_unit_test(what_a_function_raised_is_told_as_it_is),
		cmocka_unit_test(constraints_have_their_texts),
		cmocka_unit_test(kinds_of_failures),
		cmocka_unit_test(a_commit_that_no_standby_has_in_any_language),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
