/* test_jobs.c — rows of a result set and texts of times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "value/datetime.h"
#include "scheduler/jobs.h"

#define ID "b00ae9a1-0474-474e-b348-f6a8bcc95331"

static int read(char **names, char **cells, size_t n, struct job_row *ret)
{
	struct client_table t = { .ncols = n, .nrows = 1, .names = names, .cells = cells };
	struct err e = { 0 };

	return scheduler_job_row_read(&t, 0, ret, &e);
}

static void columns_are_found_by_name(void **state)
{
	char *names[] = { "x",          "disabled", "DISPLAYNAME", "NextDueTime", "JobData",
			  "Recurrence", "JobId",    "Class",       "Assembly",    "y" };
	char *cells[] = { "?", "1", NULL, "9999-12-31 23:59:59.997", "d", "r", ID, "c", "a", NULL };
	struct job_row row;

	(void)state;
	assert_int_equal(read(names, cells, 10, &row), 0);
	assert_true(row.disabled);
	assert_int_equal(row.due, DATETIME_MAX);
	assert_string_equal(row.id, ID);
	assert_null(row.display_name);
	for (size_t missing = 1; missing < 9; missing++) {
		char *name = names[missing];
		names[missing] = "z";
		assert_int_equal(read(names, cells, 10, &row), -1);
		names[missing] = name;
	}
}

static void values_that_are_none_are_refused(void **state)
{
	static char *const wrong[][2] = { { "0", NULL },        { NULL, "2026-01-01" }, { "2", "2026-01-01" },
					  { "", "2026-01-01" }, { "0", "soon" },        { "0", "" } };
	char *names[] = { "Assembly", "Class",       "JobId",    "Recurrence",
			  "JobData",  "DisplayName", "Disabled", "NextDueTime" };
	struct job_row row;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		char *cells[] = { "a", "c", ID, NULL, NULL, NULL, wrong[i][0], wrong[i][1] };
		assert_int_equal(read(names, cells, 8, &row), -1);
	}
	assert_int_equal(
		read(names, (char *[]){ "a", "c", "id", NULL, NULL, NULL, "0", "2026-01-01" }, 8, &row), -1);
	assert_int_equal(
		read(names, (char *[]){ NULL, "c", ID, NULL, NULL, NULL, "0", "2026-01-01" }, 8, &row), -1);
	assert_int_equal(
		read(names, (char *[]){ "a", "c", ID, NULL, NULL, NULL, "0", "2026-01-01" }, 8, &row), 0);
}

static void times_go_out_and_come_back(void **state)
{
	static const char *const times[] = { "1753-01-01T00:00:00.000", "2026-02-28T23:59:59.997",
					     "9999-12-31T23:59:59.997", "1899-12-31T12:00:00.003" };
	char text[JOB_TIME_MAX];
	int64_t ticks;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		assert_true(scheduler_job_time_parse(times[i], &ticks));
		scheduler_job_time_sent(ticks, text);
		assert_string_equal(text, times[i]);
	}
	assert_true(scheduler_job_time_parse("2026-01-01T00:00:00+02:00", &ticks));
	scheduler_job_time_shown(ticks, text);
	assert_string_equal(text, "2025-12-31 22:00:00");
	assert_false(scheduler_job_time_parse("9999-12-31T23:59:59-02:00", &ticks));
	assert_false(scheduler_job_time_parse("", &ticks));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_found_by_name),
		cmocka_unit_test(values_that_are_none_are_refused),
		cmocka_unit_test(times_go_out_and_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
