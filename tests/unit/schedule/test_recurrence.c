/* test_recurrence.c — what is in the language of [MS-SSPSJ] 2.2.5 and what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schedule/recurrence.h"

static bool accepts(const char *text)
{
	size_t n = strlen(text);
	char *exact = malloc(n + 1); /* on the heap without room to read past */
	struct recurrence r;
	bool ok;

	assert_non_null(exact);
	memcpy(exact, text, n);
	ok = schedule_recurrence_parse((struct str){ exact, n }, &r);
	free(exact);
	return ok;
}

static void every_number_is_bounded(void **state)
{
	static const struct {
		const char *format;
		int low, high;
	} forms[] = {
		{ "every %02d seconds", 1, 59 },
		{ "every %02d minutes at 00", 1, 59 },
		{ "every 05 minutes at %02d", 0, 59 },
		{ "every 05 minutes between 00 and %02d", 0, 59 },
		{ "hourly at %02d", 0, 59 },
		{ "hourly between %02d and 00", 0, 59 },
		{ "daily at %02d:00:00", 0, 23 },
		{ "daily at 00:%02d:00", 0, 59 },
		{ "daily at 00:00:%02d", 0, 59 },
		{ "monthly at %02d 00:00:00", 1, 31 },
		{ "yearly at feb %02d 00:00:00", 1, 31 },
		{ "yearly between jan 01 00:00:00 and dec %02d 00:00:00", 1, 31 },
		{ "weekly between mon 00:00:00 and fri %02d:00:00", 0, 23 },
	};
	char text[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		for (int n = 0; n < 100; n++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			snprintf(text, sizeof(text), forms[i].format, n);
#pragma GCC diagnostic pop
			assert_int_equal(accepts(text), n >= forms[i].low && n <= forms[i].high);
		}
	}
}

static void names_in_both_lengths_and_any_case(void **state)
{
	static const char *const days[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" };
	static const char *const months[] = { "jan", "feb", "mar", "apr", "may", "jun",
					      "jul", "aug", "sep", "oct", "nov", "dec" };
	char text[100];
	struct recurrence r;

	(void)state;
	for (unsigned i = 0; i < 7; i++) {
		snprintf(text, sizeof(text), "weekly between %s 01:02:03 and %.2s 04:05:06", days[i],
			 days[(i + 1) % 7]);
		assert_true(schedule_recurrence_parse(str_of(text), &r));
		assert_int_equal(r.from.weekday, i);
		assert_int_equal(r.to.weekday, (i + 1) % 7);
	}
	for (unsigned i = 0; i < 12; i++) {
		snprintf(text, sizeof(text), "yearly at %s 31 23:59:59", months[i]);
		assert_true(schedule_recurrence_parse(str_of(text), &r));
		assert_int_equal(r.from.month, i + 1);
		assert_int_equal(r.to.month, i + 1);
	}
	assert_true(accepts("Daily At 01:00:00"));
	assert_true(accepts("YEARLY BETWEEN JAN 01 00:00:00 AND DEC 31 23:59:59"));
}

static void nothing_shorter_longer_or_in_between(void **state)
{
	static const char *const whole[] = { "every 10 seconds",
					     "every 05 minutes between 00 and 59",
					     "hourly at 15",
					     "daily between 22:00:00 and 06:00:00",
					     "weekly between su 01:00:00 and mon 02:00:00",
					     "monthly at 31 00:00:00",
					     "yearly between dec 31 23:00:00 and jan 01 01:00:00" };
	char text[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(whole); i++) {
		assert_true(accepts(whole[i]));
		for (size_t n = 0; n < strlen(whole[i]); n++) {
			snprintf(text, sizeof(text), "%.*s", (int)n, whole[i]);
			assert_false(accepts(text));
			snprintf(text, sizeof(text), "%.*s %s", (int)n, whole[i], whole[i] + n);
			assert_false(accepts(text));
		}
		snprintf(text, sizeof(text), "%s ", whole[i]);
		assert_false(accepts(text));
		snprintf(text, sizeof(text), "%sx", whole[i]);
		assert_false(accepts(text));
	}
}

static void shortened_and_foreign_forms_are_refused(void **state)
{
	static const char *const wrong[] = {
		"every 5 minutes at 0",      "every 15 minutes",
		"every 60 seconds",          "every 00 seconds",
		"daily at 24:00:00",         "daily at 1:00:00",
		"weekly at sunday 01:00:00", "weekly at s 01:00:00",
		"monthly at 32 00:00:00",    "monthly by day at 01 00:00:00",
		"yearly at 01 jan 00:00:00", "daily at 01:00",
		"hourly at 00:00",           "one-time at 2026-01-01 00:00:00",
		"daily\tat 01:00:00",        "daily between 01:00:00 to 02:00:00"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_false(accepts(wrong[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_is_bounded),
		cmocka_unit_test(names_in_both_lengths_and_any_case),
		cmocka_unit_test(nothing_shorter_longer_or_in_between),
		cmocka_unit_test(shortened_and_foreign_forms_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
