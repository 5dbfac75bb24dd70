/* test_occurrence.c — the next due time for every form and at every boundary, windows, and the
 * place inside them [E-SCHED-09 to E-SCHED-12]. Ten years day by day are compared with another
 * computation in years.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "schedule/occurrence.h"
#include "value/datetime.h"

static int64_t at(const char *text)
{
	struct civil c;
	int digits;
	bool has_offset;
	int64_t ticks;

	assert_true(datetime_parse(str_of(text), &c, &digits, &has_offset));
	assert_true(datetime_from_civil(&c, &ticks));
	return ticks;
}

static struct recurrence parsed(const char *text)
{
	struct recurrence r;

	assert_true(schedule_recurrence_parse(str_of(text), &r));
	return r;
}

static void assert_next(const char *recurrence, const char *due, const char *now, const char *want)
{
	struct recurrence r = parsed(recurrence);
	int64_t next;

	assert_true(schedule_recurrence_next(&r, at(due), at(now), &next));
	assert_int_equal(next, at(want));
	assert_true(next > at(due) && next > at(now));
}

struct step {
	const char *recurrence, *due, *now, *want;
};

static void assert_steps(const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		assert_next(steps[i].recurrence, steps[i].due, steps[i].now, steps[i].want);
}

/* [MS-SSPSJ] 4.1 */
static void the_example_of_the_specification(void **state)
{
	(void)state;
	assert_next("daily between 01:00:00 and 01:00:00", "2008-01-31 01:00:00", "2008-01-31 00:59:59.900",
		    "2008-02-01 01:00:00");
}

static void seconds_and_minutes_count_on_from_the_due_time(void **state)
{
	static const struct step steps[] = {
		{ "every 10 seconds", "2026-01-01 00:00:03", "2026-01-01 00:00:00", "2026-01-01 00:00:13" },
		{ "every 10 seconds", "2026-01-01 00:00:03", "2026-01-01 00:00:13", "2026-01-01 00:00:23" },
		{ "every 10 seconds", "2026-01-01 00:00:03", "2026-01-01 00:00:12.997",
		  "2026-01-01 00:00:13" },
		{ "every 59 seconds", "2026-12-31 23:59:59", "2026-12-31 23:59:59", "2027-01-01 00:00:58" },
		{ "every 07 seconds", "2026-01-01 00:00:00.500", "2026-01-08 00:00:00",
		  "2026-01-08 00:00:00.500" },
		{ "every 05 minutes at 30", "2026-01-01 10:02:30", "2026-01-01 10:02:30",
		  "2026-01-01 10:07:30" },
		{ "every 05 minutes at 30", "2026-01-01 10:02:30", "2026-01-01 10:07:30",
		  "2026-01-01 10:12:30" },
		{ "every 05 minutes at 30", "2026-01-01 10:02:00", "2026-01-01 10:00:00",
		  "2026-01-01 10:02:30" },
		{ "every 05 minutes at 00", "2026-01-01 10:02:59.997", "2026-01-01 10:00:00",
		  "2026-01-01 10:07:00" },
		{ "every 59 minutes between 50 and 10", "2026-12-31 23:30:50", "2026-12-31 23:30:00",
		  "2027-01-01 00:29:50" },
		{ "every 01 minutes at 59", "2026-02-28 23:59:59", "2026-02-28 23:59:59",
		  "2026-03-01 00:00:59" },
	};

	(void)state;
	assert_steps(steps, ARRAY_LEN(steps));
}

static void hours_and_days(void **state)
{
	static const struct step steps[] = {
		{ "hourly at 15", "2026-01-01 00:15:00", "2026-01-01 00:00:00", "2026-01-01 01:15:00" },
		{ "hourly at 15", "2026-01-01 00:00:00", "2026-01-01 00:14:59.997", "2026-01-01 00:15:00" },
		{ "hourly at 15", "2026-01-01 00:00:00", "2026-01-01 00:15:00", "2026-01-01 01:15:00" },
		{ "hourly at 59", "2026-12-31 23:59:00", "2026-12-31 23:59:00", "2027-01-01 00:59:00" },
		{ "hourly between 50 and 10", "2026-01-01 23:50:00", "2026-01-02 00:05:00",
		  "2026-01-02 00:50:00" },
		{ "daily at 00:00:00", "2026-01-01 00:00:00", "2026-01-01 00:00:00", "2026-01-02 00:00:00" },
		{ "daily at 23:59:59", "2026-01-01 00:00:00", "2026-01-01 23:59:58.997",
		  "2026-01-01 23:59:59" },
		{ "daily at 23:59:59", "2026-12-31 23:59:59", "2026-12-31 23:59:59.003",
		  "2027-01-01 23:59:59" },
		{ "daily between 22:00:00 and 06:00:00", "2026-03-28 22:00:00", "2026-03-29 03:00:00",
		  "2026-03-29 22:00:00" },
		{ "daily at 02:30:00", "2026-03-28 02:30:00", "2026-03-28 03:00:00", "2026-03-29 02:30:00" },
		{ "daily at 01:00:00", "2020-01-01 01:00:00", "2026-06-15 12:00:00", "2026-06-16 01:00:00" },
		{ "daily at 01:00:00", "1899-12-31 12:00:00", "1899-12-31 12:00:00", "1900-01-01 01:00:00" },
		{ "hourly at 30", "1899-12-31 23:30:00", "1899-12-31 23:30:00", "1900-01-01 00:30:00" },
	};

	(void)state;
	assert_steps(steps, ARRAY_LEN(steps));
}

static void weeks(void **state)
{
	static const struct step steps[] = {
		/* 2026-11-15 is a Sunday */
		{ "weekly at sun 00:00:00", "2026-11-14 00:00:00", "2026-11-14 23:59:59.997",
		  "2026-11-15 00:00:00" },
		{ "weekly at sun 00:00:00", "2026-11-15 00:00:00", "2026-11-15 00:00:00",
		  "2026-11-22 00:00:00" },
		{ "weekly at sat 23:59:59", "2026-11-15 00:00:00", "2026-11-15 00:00:00",
		  "2026-11-21 23:59:59" },
		{ "weekly at mo 12:00:00", "2026-11-15 00:00:00", "2026-11-16 12:00:00",
		  "2026-11-23 12:00:00" },
		{ "weekly between fri 22:00:00 and sun 06:00:00", "2026-11-13 22:00:00",
		  "2026-11-14 10:00:00", "2026-11-20 22:00:00" },
		{ "weekly at thu 08:00:00", "2026-12-31 08:00:00", "2026-12-31 08:00:00",
		  "2027-01-07 08:00:00" },
		{ "weekly at sun 01:00:00", "1899-12-30 00:00:00", "1899-12-30 00:00:00",
		  "1899-12-31 01:00:00" },
	};

	(void)state;
	assert_steps(steps, ARRAY_LEN(steps));
}

static void months_and_their_ends(void **state)
{
	static const struct step steps[] = {
		{ "monthly at 31 00:00:00", "2026-01-31 00:00:00", "2026-01-31 00:00:00",
		  "2026-02-28 00:00:00" },
		{ "monthly at 31 00:00:00", "2026-02-28 00:00:00", "2026-02-28 00:00:00",
		  "2026-03-31 00:00:00" },
		{ "monthly at 31 00:00:00", "2026-03-31 00:00:00", "2026-04-30 00:00:00",
		  "2026-05-31 00:00:00" },
		{ "monthly at 30 12:00:00", "2028-01-30 12:00:00", "2028-02-28 13:00:00",
		  "2028-02-29 12:00:00" },
		{ "monthly at 29 12:00:00", "2027-01-29 12:00:00", "2027-02-01 00:00:00",
		  "2027-02-28 12:00:00" },
		{ "monthly at 01 00:00:00", "2026-12-01 00:00:00", "2026-12-31 23:59:59",
		  "2027-01-01 00:00:00" },
		{ "monthly at 31 23:59:59", "2026-12-31 23:59:59", "2026-12-31 23:59:59",
		  "2027-01-31 23:59:59" },
	};

	(void)state;
	assert_steps(steps, ARRAY_LEN(steps));
}

static void years_and_leap_days(void **state)
{
	static const struct step steps[] = {
		{ "yearly at feb 29 06:00:00", "2026-02-28 06:00:00", "2026-02-28 06:00:00",
		  "2027-02-28 06:00:00" },
		{ "yearly at feb 29 06:00:00", "2027-02-28 06:00:00", "2027-02-28 06:00:00",
		  "2028-02-29 06:00:00" },
		{ "yearly at feb 30 06:00:00", "2028-02-28 06:00:00", "2028-02-28 06:00:00",
		  "2028-02-29 06:00:00" },
		{ "yearly at feb 31 06:00:00", "2099-12-31 00:00:00", "2099-12-31 00:00:00",
		  "2100-02-28 06:00:00" },
		{ "yearly at apr 31 06:00:00", "2026-01-01 00:00:00", "2026-04-30 05:59:59",
		  "2026-04-30 06:00:00" },
		{ "yearly at dec 31 23:59:59", "2026-12-31 23:59:59", "2026-12-31 23:59:59",
		  "2027-12-31 23:59:59" },
		{ "yearly at jan 01 00:00:00", "2026-01-01 00:00:00", "2026-12-31 23:59:59.997",
		  "2027-01-01 00:00:00" },
		{ "yearly between nov 01 00:00:00 and feb 01 00:00:00", "2026-11-01 00:00:00",
		  "2027-01-01 00:00:00", "2027-11-01 00:00:00" },
	};

	(void)state;
	assert_steps(steps, ARRAY_LEN(steps));
}

static void the_calendar_ends_with_9999(void **state)
{
	static const char *const forms[] = {
		"every 01 seconds",         "every 01 minutes at 59", "hourly at 59",
		"daily at 23:59:59",        "weekly at fri 23:59:59", "monthly at 31 23:59:59",
		"yearly at dec 31 23:59:59"
	};
	int64_t next;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct recurrence r = parsed(forms[i]);

		assert_false(
			schedule_recurrence_next(&r, at("9999-12-31 23:59:59"), at("2026-01-01"), &next));
		assert_false(schedule_recurrence_next(&r, DATETIME_MAX, 0, &next));
		assert_false(schedule_recurrence_next(&r, INT64_MAX, 0, &next));
		assert_false(schedule_recurrence_next(&r, INT64_MIN, 0, &next));
		assert_true(schedule_recurrence_next(&r, DATETIME_MIN, DATETIME_MIN, &next));
		assert_true(next > DATETIME_MIN);
	}
}

static void assert_window(const char *recurrence, const char *begin, const char *want)
{
	struct recurrence r = parsed(recurrence);

	assert_true(schedule_recurrence_is_begin(&r, at(begin)));
	assert_int_equal(schedule_recurrence_window_end(&r, at(begin)), at(want));
}

static void windows_wrap_over_their_period(void **state)
{
	(void)state;
	assert_window("every 05 minutes between 10 and 20", "2026-01-01 00:00:10", "2026-01-01 00:00:20");
	assert_window("every 05 minutes between 50 and 10", "2026-01-01 00:00:50", "2026-01-01 00:01:10");
	assert_window("hourly between 50 and 10", "2026-12-31 23:50:00", "2027-01-01 00:10:00");
	assert_window("daily between 22:00:00 and 06:00:00", "2026-12-31 22:00:00", "2027-01-01 06:00:00");
	assert_window("weekly between fri 22:00:00 and sun 06:00:00", "2026-11-13 22:00:00",
		      "2026-11-15 06:00:00");
	assert_window("weekly between mon 00:00:00 and sun 23:59:59", "2026-11-16 00:00:00",
		      "2026-11-22 23:59:59");
	assert_window("monthly between 28 00:00:00 and 03 00:00:00", "2026-12-28 00:00:00",
		      "2027-01-03 00:00:00");
	assert_window("yearly between nov 01 00:00:00 and feb 30 00:00:00", "2027-11-01 00:00:00",
		      "2028-02-29 00:00:00");
	assert_window("daily at 01:00:00", "2026-01-01 01:00:00", "2026-01-01 01:00:00");
	assert_window("every 10 seconds", "2026-01-01 01:00:00", "2026-01-01 01:00:00");
}

static void windows_that_a_short_month_crushes(void **state)
{
	(void)state;
	/* Both ends fall on 28 February, the end before the begin: one instant. */
	assert_window("monthly between 30 22:00:00 and 31 06:00:00", "2026-02-28 22:00:00",
		      "2026-02-28 22:00:00");
	/* The end of January's window would lie after the begin of February's. */
	assert_window("monthly between 31 00:00:00 and 30 23:59:59", "2026-01-31 00:00:00",
		      "2026-02-27 23:59:59");
}

static void other_times_begin_no_window(void **state)
{
	struct recurrence r = parsed("daily between 22:00:00 and 06:00:00"),
			  m = parsed("every 05 minutes between 10 and 20");

	(void)state;
	assert_false(schedule_recurrence_is_begin(&r, at("2026-01-01 22:00:00.003")));
	assert_false(schedule_recurrence_is_begin(&r, at("2026-01-01 23:00:00")));
	assert_false(schedule_recurrence_is_begin(&m, at("2026-01-01 23:00:11")));
	assert_false(schedule_recurrence_is_begin(&r, INT64_MAX));
	assert_int_equal(schedule_recurrence_start(&r, at("2026-01-01 23:00:00"), 12345),
			 at("2026-01-01 23:00:00"));
}

static void the_place_in_the_window_is_stable_and_spread(void **state)
{
	struct recurrence r = parsed("hourly between 50 and 10"), instant = parsed("daily at 01:00:00");
	int64_t begin = at("2026-01-01 00:50:00"), end = at("2026-01-01 01:10:00");
	unsigned seen[4] = { 0 };
	char id[] = "b00ae9a1-0474-474e-b348-f6a8bcc95300";

	(void)state;
	for (int i = 0; i < 100; i++) {
		int64_t start;

		id[34] = (char)('0' + i / 10);
		id[35] = (char)('0' + i % 10);
		start = schedule_recurrence_start(&r, begin, schedule_recurrence_seed(str_of(id)));
		assert_true(start >= begin && start <= end);
		assert_int_equal(schedule_recurrence_start(&r, begin + 24 * INT64_C(3600) * TICKS_PER_SECOND,
							   schedule_recurrence_seed(str_of(id))) -
					 start,
				 TICKS_PER_DAY);
		seen[(start - begin) * 4 / (end - begin + 1)]++;
		assert_int_equal(schedule_recurrence_start(&instant, at("2026-01-01 01:00:00"),
							   schedule_recurrence_seed(str_of(id))),
				 at("2026-01-01 01:00:00"));
	}
	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		assert_true(seen[i] > 10);
	assert_int_equal(schedule_recurrence_seed(STR("ABCDEF")), schedule_recurrence_seed(STR("abcdef")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_specification),
		cmocka_unit_test(seconds_and_minutes_count_on_from_the_due_time),
		cmocka_unit_test(hours_and_days),
		cmocka_unit_test(weeks),
		cmocka_unit_test(months_and_their_ends),
		cmocka_unit_test(years_and_leap_days),
		cmocka_unit_test(the_calendar_ends_with_9999),
		cmocka_unit_test(windows_wrap_over_their_period),
		cmocka_unit_test(windows_that_a_short_month_crushes),
		cmocka_unit_test(other_times_begin_no_window),
		cmocka_unit_test(the_place_in_the_window_is_stable_and_spread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
