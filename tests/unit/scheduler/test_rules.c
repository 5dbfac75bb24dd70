/* test_rules.c — what a row means ([MS-SSPSJ] 3.2.4.1), and which occurrences lie in an
 * interval. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "value/datetime.h"
#include "scheduler/rules.h"

#define ID "B00AE9A1-0474-474E-B348-F6A8BCC95331"

static int64_t at(const char *text)
{
	int64_t ticks;

	assert_true(scheduler_job_time_parse(text, &ticks));
	return ticks;
}

static struct job_row row_of(const char *class, const char *recurrence, const char *data)
{
	const struct job_class *c = schedule_class_by_name(str_of(class));

	assert_non_null(c);
	return (struct job_row){ .assembly = c->assembly,
				 .class = c->class,
				 .id = ID,
				 .recurrence = recurrence,
				 .data = data,
				 .due = at("2026-01-01 01:00:00") };
}

static enum verdict verdict_of(struct job_row row)
{
	struct judgement j;

	scheduler_rules_judge(&row, &j);
	return j.verdict;
}

static void each_kind_of_row(void **state)
{
	struct job_row row = row_of("DLImportJob", NULL, NULL);

	(void)state;
	assert_int_equal(verdict_of(row), VERDICT_TAKE);
	assert_int_equal(verdict_of(row_of("DLImportJob", "daily at 01:00:00", "")), VERDICT_TAKE);
	assert_int_equal(verdict_of(row_of("DLImportJob", "daily at 1:00", "")), VERDICT_UNKNOWN_RECURRENCE);
	/* nobody can run it, but it was handed out */
	assert_int_equal(verdict_of(row_of("UserProfileImportJob", NULL, NULL)), VERDICT_TAKE);
	assert_int_equal(verdict_of(row_of("PWASSPSubmitSiteCreationTimerJob", NULL, NULL)), VERDICT_IGNORE);
	assert_int_equal(verdict_of(row_of("PWASSPSubmitServerScheduledTimerJob", "daily at 01:00:00", NULL)),
			 VERDICT_IGNORE);
	row.disabled = true;
	assert_int_equal(verdict_of(row), VERDICT_IGNORE);
	row.recurrence = "daily at 01:00:00";
	assert_int_equal(verdict_of(row), VERDICT_DISABLED);
	row.disabled = false;
	row.assembly = schedule_classes[0].assembly;
	assert_int_equal(verdict_of(row), VERDICT_TAKE);
}

/* A window of a day: the place of this job is hours away, and yet the row is taken once it is
 * due [E-SCHED-21]. */
static void a_place_beyond_the_interval_is_taken(void **state)
{
	struct job_row row = row_of("DLImportJob", "daily between 01:00:00 and 00:59:59", NULL);
	struct judgement j;
	struct occurrences it;
	int64_t due, start, horizon = row.due + 60 * TICKS_PER_SECOND;

	(void)state;
	scheduler_rules_judge(&row, &j);
	assert_int_equal(j.verdict, VERDICT_TAKE);
	scheduler_rules_occurrences(&it, &row, &j, row.due, horizon);
	assert_true(scheduler_rules_occurrence(&it, &due, &start));
	assert_int_equal(due, row.due);
	assert_true(start > horizon && start < row.due + TICKS_PER_DAY);
	assert_false(scheduler_rules_occurrence(&it, &due, &start));
	assert_int_equal(it.next, row.due + TICKS_PER_DAY);
}

static size_t count(const struct job_row *row, const char *now, int seconds, int64_t *ret_next)
{
	struct judgement j;
	struct occurrences it;
	int64_t due, start, last = INT64_MIN, horizon = at(now) + seconds * TICKS_PER_SECOND;
	size_t n = 0;

	scheduler_rules_judge(row, &j);
	assert_int_equal(j.verdict, VERDICT_TAKE);
	scheduler_rules_occurrences(&it, row, &j, at(now), horizon);
	for (; scheduler_rules_occurrence(&it, &due, &start); n++) {
		assert_true(due > last && start >= due && due < horizon);
		last = due;
	}
	assert_true(it.next > last);
	*ret_next = it.next;
	return n;
}

static void occurrences_of_an_interval(void **state)
{
	struct job_row daily = row_of("DLImportJob", "daily at 01:00:00", NULL),
		       seconds = row_of("DLImportJob", "every 10 seconds", NULL),
		       once = row_of("DLImportJob", NULL, NULL);
	int64_t next;

	(void)state;
	assert_int_equal(count(&daily, "2026-01-01 00:59:30", 60, &next), 1);
	assert_int_equal(next, at("2026-01-02 01:00:00"));
	assert_int_equal(count(&once, "2026-01-01 00:59:30", 60, &next), 1);
	assert_int_equal(next, DATETIME_MAX);
	assert_int_equal(count(&seconds, "2026-01-01 00:59:30", 60, &next), 3); /* :00 :10 :20 */
	assert_int_equal(next, at("2026-01-01 01:00:30"));
	/* Overdue for five days: once for all that was missed, then those to come. */
	assert_int_equal(count(&seconds, "2026-01-06 00:00:05", 60, &next), 7);
	assert_int_equal(next, at("2026-01-06 00:01:10"));
	assert_int_equal(count(&daily, "2026-01-06 00:00:05", 60, &next), 1);
	assert_int_equal(next, at("2026-01-06 01:00:00"));
}

static void the_last_occurrence_of_all(void **state)
{
	struct job_row row = row_of("DLImportJob", "daily at 23:59:59", NULL);
	int64_t next;

	(void)state;
	row.due = at("9999-12-31 23:59:58");
	assert_int_equal(count(&row, "9999-12-31 23:59:58", 1, &next), 1);
	assert_int_equal(next, at("9999-12-31 23:59:59"));
	row.due = at("9999-12-31 23:59:59");
	assert_int_equal(count(&row, "9999-12-31 23:59:58", 60, &next), 1);
	assert_int_equal(next, DATETIME_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_row),
		cmocka_unit_test(a_place_beyond_the_interval_is_taken),
		cmocka_unit_test(occurrences_of_an_interval),
		cmocka_unit_test(the_last_occurrence_of_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
