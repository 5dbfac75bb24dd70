/* test_datetime.c — every day of the calendar, every millisecond, the texts that are dates and
 * those that are not [E-COM-06]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "value/datetime.h"

static void every_day_there_and_back(void **state)
{
	int year = 1, month = 1, day = 1;

	(void)state;
	for (int32_t n = 0; n <= DAY_LAST; n++) {
		struct civil c;

		civil_from_day(n, &c);
		if (c.year != year || c.month != month || c.day != day ||
		    day_from_civil(year, month, day) != n)
			fail_msg("day %d: %d-%d-%d", n, c.year, c.month, c.day);
		c.day = ++day;
		if (!civil_valid(&c)) {
			day = 1;
			if (++month == 13) {
				month = 1;
				year++;
			}
		}
	}
	assert_int_equal(year, 10000);
	assert_int_equal(day_from_civil(1900, 1, 1), DAY_1900);
	assert_int_equal(day_from_civil(2000, 1, 1), 730119);
	assert_int_equal(day_from_civil(9999, 12, 31), DAY_LAST);
}

static void every_millisecond_goes_to_the_nearest_tick(void **state)
{
	(void)state;
	for (int ms = 0; ms < 1000; ms++) {
		static const int last_digit[10] = { 0, 0, 3, 3, 3, 7, 7, 7, 7, 10 };
		struct civil c = { 2008, 1, 31, 1, 1, 1, (int64_t)ms * 1000000, 0 }, back;
		int expected = ms / 10 * 10 + last_digit[ms % 10];
		int64_t ticks;

		assert_true(datetime_from_civil(&c, &ticks));
		civil_from_datetime(ticks, &back);
		assert_int_equal(back.second * 1000 + back.nanosecond / 1000000, 1000 + expected);
		assert_int_equal(datetime_ms(ticks), expected % 1000);
	}
}

static void every_tick_of_a_second_there_and_back(void **state)
{
	(void)state;
	for (int64_t start = -3; start <= 3; start++) {
		for (int64_t t = start * 86400 * 300; t < start * 86400 * 300 + 300; t++) {
			struct civil c;
			int64_t back;

			civil_from_datetime(t, &c);
			assert_true(datetime_from_civil(&c, &back));
			assert_true(back == t);
		}
	}
}

static void the_range_of_datetime(void **state)
{
	struct civil c = { 9999, 12, 31, 23, 59, 59, 998000000, 0 };
	int64_t ticks;

	(void)state;
	assert_true(datetime_from_civil(&c, &ticks));
	assert_true(ticks == DATETIME_MAX);
	c.nanosecond = 999000000;
	assert_false(datetime_from_civil(&c, &ticks));
	c = (struct civil){ 1753, 1, 1, 0, 0, 0, 0, 0 };
	assert_true(datetime_from_civil(&c, &ticks));
	assert_true(ticks == DATETIME_MIN);
	c = (struct civil){ 1752, 12, 31, 23, 59, 59, 0, 0 };
	assert_false(datetime_from_civil(&c, &ticks));
	c = (struct civil){ 2023, 2, 29, 0, 0, 0, 0, 0 };
	assert_false(datetime_from_civil(&c, &ticks));
	civil_from_datetime(DATETIME_MAX, &c);
	assert_int_equal(c.year, 9999);
	assert_int_equal(c.nanosecond, 997000000);
}

static void texts_that_are_dates(void **state)
{
	static const struct {
		const char *text, *expected;
		int digits, offset;
	} cases[] = {
		{ "Jan 31 2008 01:01:01:000AM", "2008-01-31 01:01:01.000000000", 3, 0 },
		{ "Dec 31 9999 11:59:59:997 PM", "9999-12-31 23:59:59.997000000", 3, 0 },
		{ "Jan 31 2008  1:01AM", "2008-01-31 01:01:00.000000000", 0, 0 },
		{ "Jan  1 2008 12:00AM", "2008-01-01 00:00:00.000000000", 0, 0 },
		{ "Jan 1 2008 12:30PM", "2008-01-01 12:30:00.000000000", 0, 0 },
		{ "January 31, 2008", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "31 january 2008 1pm", "2008-01-31 13:00:00.000000000", 0, 0 },
		{ "31-Jan-2008", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "2008-Jan-31", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "Jan-31-2008", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "2008 Jan 31", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "Jan 2008", "2008-01-01 00:00:00.000000000", 0, 0 },
		{ "Jan 31 49", "2049-01-31 00:00:00.000000000", 0, 0 },
		{ "Jan 31 50", "1950-01-31 00:00:00.000000000", 0, 0 },
		{ "SEPTEMBER 1 2001", "2001-09-01 00:00:00.000000000", 0, 0 },
		{ "2008-01-31", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "2008-1-3", "2008-01-03 00:00:00.000000000", 0, 0 },
		{ "2008-01-31T01:02:03", "2008-01-31 01:02:03.000000000", 0, 0 },
		{ "2008-01-31T01:02:03.123", "2008-01-31 01:02:03.123000000", 3, 0 },
		{ "2008-01-31 01:02:03.1", "2008-01-31 01:02:03.100000000", 1, 0 },
		{ "2008-01-31 01:02:03:1", "2008-01-31 01:02:03.001000000", 1, 0 },
		{ "2008-01-31 01:02:03.1234567", "2008-01-31 01:02:03.123456700", 7, 0 },
		{ "2008-01-31T01:02:03Z", "2008-01-31 01:02:03.000000000", 0, 0 },
		{ "2008-01-31T01:02:03.5+05:30", "2008-01-31 01:02:03.500000000", 1, 330 },
		{ "2008-01-31 01:02:03 -08:00", "2008-01-31 01:02:03.000000000", 0, -480 },
		{ "20080131", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "20080131 23:59:59.997", "2008-01-31 23:59:59.997000000", 3, 0 },
		{ "20080131T10:00:00", "2008-01-31 10:00:00.000000000", 0, 0 },
		{ "080131", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "2008", "2008-01-01 00:00:00.000000000", 0, 0 },
		{ "1/31/2008", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "1-31-08", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "01.31.2008 5:06", "2008-01-31 05:06:00.000000000", 0, 0 },
		{ "10:20:30", "1900-01-01 10:20:30.000000000", 0, 0 },
		{ "10 AM", "1900-01-01 10:00:00.000000000", 0, 0 },
		{ "10:20 2008-01-31", "2008-01-31 10:20:00.000000000", 0, 0 },
		{ "  2008-01-31  ", "2008-01-31 00:00:00.000000000", 0, 0 },
		{ "", "1900-01-01 00:00:00.000000000", 0, 0 },
		{ "0001-01-01", "0001-01-01 00:00:00.000000000", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct civil c;
		bool has_offset;
		int digits;
		char text[64];

		if (!datetime_parse(str_of(cases[i].text), &c, &digits, &has_offset))
			fail_msg("not read: '%s'", cases[i].text);
		snprintf(text, sizeof(text), "%04d-%02d-%02d %02d:%02d:%02d.%09d", c.year, c.month, c.day,
			 c.hour, c.minute, c.second, (int)c.nanosecond);
		assert_string_equal(text, cases[i].expected);
		assert_int_equal(digits, cases[i].digits);
		assert_int_equal(c.offset, cases[i].offset);
	}
}

static void texts_that_are_not(void **state)
{
	static const char *const bad[] = {
		"x",
		"2008-13-01",
		"2008-02-30",
		"2008-00-01",
		"2008-01-32",
		"13/13/2008",
		"31/1/2008",
		"2008-01-31 24:00:00",
		"2008-01-31 10:60",
		"2008-01-31 10:00:60",
		"2008-01-31T",
		"T10:00:00",
		"2008-01-31T10:00:00T",
		"10:00:00.",
		"10:00:00:1234",
		"10:00 13AM",
		"13:00AM",
		"0:00PM",
		"Jan",
		"Jan 31",
		"Jan Jan 31 2008",
		"31",
		"123",
		"12345",
		"1234567",
		"123456789",
		"1234567890",
		"2008-01",
		"2008-01-",
		"2008-01-31-",
		"2008/01-31",
		"10:",
		":10",
		"2008-01-31 10:00 +15:00",
		"2008-01-31 10:00 +1",
		"2008-01-31 10:00 +01:60",
		"2008-01-31 2008-01-31",
		"10:00 11:00",
		"1 2 3 4",
		"2008-01-31é",
		"0000-01-01",
		"Jan 32 2008",
		"Janu 31 2008",
		"2008-01-31 10:00XM",
		"100-01-01",
		"-1-1-2008",
		"2008-01-31 10:00:00.1234567890",
	};
	struct civil c;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (datetime_parse(str_of(bad[i]), &c, NULL, NULL))
			fail_msg("read: '%s'", bad[i]);
	}
}

static void every_cut_of_a_text_is_safe(void **state)
{
	static const char text[] = "Jan 31, 2008 01:01:01.1234567 AM +05:30";
	struct civil c;

	(void)state;
	for (size_t from = 0; from < sizeof(text); from++) {
		for (size_t n = 0; from + n < sizeof(text); n++) {
			char *heap = malloc(n + 1);

			memcpy(heap, text + from, n);
			heap = realloc(heap, n == 0 ? 1 : n);
			(void)datetime_parse((struct str){ heap, n }, &c, NULL, NULL);
			free(heap);
		}
	}
}

static void orders_other_than_us(void **state)
{
	struct civil c;

	(void)state;
	assert_true(datetime_parse_order(STR("31/1/2008"), DATE_DMY, &c, NULL, NULL));
	assert_int_equal(c.day, 31);
	assert_true(datetime_parse_order(STR("08.1.31"), DATE_YMD, &c, NULL, NULL));
	assert_int_equal(c.year, 2008);
	assert_int_equal(c.day, 31);
	assert_true(datetime_parse_order(STR("2008-01-31"), DATE_DMY, &c, NULL, NULL));
	assert_int_equal(c.month, 1);
}

static struct value datetime_value(const char *text)
{
	struct civil c;
	int64_t ticks;

	assert_true(datetime_parse(str_of(text), &c, NULL, NULL));
	assert_true(datetime_from_civil(&c, &ticks));
	return value_int(TYPE_DATETIME, ticks);
}

static struct value moment_value(enum type_id id, int scale, const char *text)
{
	struct value v = value_null(TYPE_NUM(id, 0, (uint8_t)scale));
	struct civil c;

	v.null = false;
	assert_true(datetime_parse(str_of(text), &c, NULL, NULL));
	assert_true(moment_from_civil(&c, &v.u.moment));
	if (id == TYPE_DATETIMEOFFSET)
		assert_true(moment_shift(&v.u.moment, -c.offset));
	return v;
}

static void styles(void **state)
{
	static const struct {
		int style;
		const char *expected;
	} cases[] = {
		{ 0, "Jan  3 2008  1:02PM" },
		{ 1, "01/03/08" },
		{ 2, "08.01.03" },
		{ 3, "03/01/08" },
		{ 4, "03.01.08" },
		{ 5, "03-01-08" },
		{ 6, "03 Jan 08" },
		{ 7, "Jan 03, 08" },
		{ 8, "13:02:04" },
		{ 9, "Jan  3 2008  1:02:04:997PM" },
		{ 10, "01-03-08" },
		{ 11, "08/01/03" },
		{ 12, "080103" },
		{ 13, "03 Jan 2008 13:02:04:997" },
		{ 14, "13:02:04:997" },
		{ 20, "2008-01-03 13:02:04" },
		{ 21, "2008-01-03 13:02:04.997" },
		{ 100, "Jan  3 2008  1:02PM" },
		{ 101, "01/03/2008" },
		{ 102, "2008.01.03" },
		{ 103, "03/01/2008" },
		{ 104, "03.01.2008" },
		{ 105, "03-01-2008" },
		{ 106, "03 Jan 2008" },
		{ 107, "Jan 03, 2008" },
		{ 108, "13:02:04" },
		{ 109, "Jan  3 2008  1:02:04:997PM" },
		{ 110, "01-03-2008" },
		{ 111, "2008/01/03" },
		{ 112, "20080103" },
		{ 113, "03 Jan 2008 13:02:04:997" },
		{ 114, "13:02:04:997" },
		{ 120, "2008-01-03 13:02:04" },
		{ 121, "2008-01-03 13:02:04.997" },
		{ 126, "2008-01-03T13:02:04.997" },
		{ 127, "2008-01-03T13:02:04.997" },
	};
	struct value v = datetime_value("2008-01-03 13:02:04.997");
	char text[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(datetime_format_style(&v, cases[i].style, text, sizeof(text)),
				 strlen(cases[i].expected));
		assert_string_equal(text, cases[i].expected);
	}
	assert_int_equal(datetime_format_style(&v, 99, text, sizeof(text)), 0);
	assert_int_equal(datetime_format_style(&v, 130, text, sizeof(text)), 0);
	assert_int_equal(datetime_format_style(&v, 121, text, 5), 4);
	assert_string_equal(text, "2008");
	v = datetime_value("2008-01-03 00:00:00");
	datetime_format_style(&v, 126, text, sizeof(text));
	assert_string_equal(text, "2008-01-03T00:00:00");
}

static void default_texts(void **state)
{
	struct value v = datetime_value("2008-12-31 00:05:00");
	char text[64];

	(void)state;
	datetime_format(&v, text, sizeof(text));
	assert_string_equal(text, "Dec 31 2008 12:05AM");
	v = moment_value(TYPE_DATE, 0, "2008-12-31");
	datetime_format(&v, text, sizeof(text));
	assert_string_equal(text, "2008-12-31");
	v = moment_value(TYPE_TIME, 7, "10:20:30.1234567");
	datetime_format(&v, text, sizeof(text));
	assert_string_equal(text, "10:20:30.1234567");
	v = moment_value(TYPE_DATETIME2, 3, "2008-12-31 10:20:30.123");
	datetime_format(&v, text, sizeof(text));
	assert_string_equal(text, "2008-12-31 10:20:30.123");
	v = moment_value(TYPE_DATETIME2, 0, "2008-12-31 10:20:30");
	datetime_format(&v, text, sizeof(text));
	assert_string_equal(text, "2008-12-31 10:20:30");
	v = moment_value(TYPE_DATETIMEOFFSET, 7, "2008-12-31 23:20:30.5 -01:30");
	assert_int_equal(v.u.moment.day, day_from_civil(2009, 1, 1));
	datetime_format(&v, text, sizeof(text));
	assert_string_equal(text, "2008-12-31 23:20:30.5000000 -01:30");
	datetime_format_style(&v, 127, text, sizeof(text));
	assert_string_equal(text, "2009-01-01T00:50:30.5000000Z");
	assert_int_equal(datetime_format_style(&v, 112, text, sizeof(text)), 8);
	assert_string_equal(text, "20081231");
}

static void sortable(const char *text, bool good)
{
	struct moment m = { 0 };
	char again[MOMENT_SORTABLE + 1];

	if (moment_parse_sortable(str_of(text), &m) != good)
		fail_msg("%s", text);
	if (!good)
		return;
	assert_int_equal(moment_format_sortable(&m, again, sizeof(again)), MOMENT_SORTABLE);
	assert_string_equal(again, text);
}

static void the_text_of_an_offset_sorts(void **state)
{
	(void)state;
	sortable("2008-01-31 01:01:01.0000000Z+060", true);
	sortable("0001-01-01 00:00:00.0000000Z-840", true);
	sortable("9999-12-31 23:59:59.9999999Z+840", true);
	sortable("2008-02-29 00:00:00.0000001Z+000", true);
	sortable("2007-02-29 00:00:00.0000000Z+000", false); /* no such day */
	sortable("2008-13-01 00:00:00.0000000Z+000", false);
	sortable("0000-01-01 00:00:00.0000000Z+000", false);
	sortable("2008-01-31 24:00:00.0000000Z+000", false);
	sortable("2008-01-31 01:01:01.0000000Z+841", false);
	sortable("2008-01-31 01:01:01.0000000Z 060", false);
	sortable("2008-01-31T01:01:01.0000000Z+060", false);
	sortable("2008-01-31 01:01:01.000000xZ+060", false);
	sortable("2008-01-31 01:01:01.0000000Z+06", false);
	sortable("2008-01-31 01:01:01.0000000Z+0600", false);
	sortable("", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_day_there_and_back),
		cmocka_unit_test(every_millisecond_goes_to_the_nearest_tick),
		cmocka_unit_test(every_tick_of_a_second_there_and_back),
		cmocka_unit_test(the_range_of_datetime),
		cmocka_unit_test(texts_that_are_dates),
		cmocka_unit_test(texts_that_are_not),
		cmocka_unit_test(every_cut_of_a_text_is_safe),
		cmocka_unit_test(orders_other_than_us),
		cmocka_unit_test(styles),
		cmocka_unit_test(default_texts),
		cmocka_unit_test(the_text_of_an_offset_sorts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
