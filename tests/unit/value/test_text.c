/* Searching and replacing, over windows of every size; both can be stopped. Parts, lengths and
 * case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "value/text.h"

static void found_wherever_it_is(void **state)
{
	static char where[3000000];

	(void)state;
	memset(where, 'a', sizeof(where));
	for (size_t place = 0; place < sizeof(where) - 3; place += 1 + place / 7) {
		struct str all = { where, sizeof(where) };
		size_t at = 0;

		memcpy(where + place, "a\0b", 3);
		assert_int_equal(text_find(all, 0, STR("a\0b"), NULL, &at), 1);
		assert_int_equal(at, place);
		assert_int_equal(text_find(all, place, STR("a\0b"), NULL, &at), 1);
		assert_int_equal(text_find(all, place + 1, STR("a\0b"), NULL, &at), 0);
		assert_int_equal(text_find((struct str){ where, place + 2 }, 0, STR("a\0b"), NULL, &at), 0);
		memset(where + place, 'a', 3);
	}
}

static void replaced(const char *s, const char *searched, const char *what, const char *with,
		     const char *expected)
{
	char dst[64];
	size_t n = 0, again = 0;

	assert_int_equal(
		text_replace(str_of(s), str_of(searched), str_of(what), str_of(with), NULL, NULL, &n), 0);
	assert_int_equal(n, strlen(expected));
	assert_int_equal(
		text_replace(str_of(s), str_of(searched), str_of(what), str_of(with), NULL, dst, &again), 0);
	assert_int_equal(again, n);
	assert_memory_equal(dst, expected, n);
}

static void replaces_all(void **state)
{
	(void)state;
	replaced("aXbxc", "axbxc", "x", "--", "a--b--c");
	replaced("aXbxc", "aXbxc", "x", "", "aXbc");
	replaced("xxx", "xxx", "xx", "y", "yx");
	replaced("", "", "x", "y", "");
	replaced("x", "x", "xx", "y", "x");
}

static bool yes(void *arg)
{
	++*(int *)arg;
	return true;
}

static void can_be_stopped(void **state)
{
	static char where[4000000];
	int asked = 0;
	struct meter m = { .left = 100000, .stop = yes, .arg = &asked };
	size_t n;

	(void)state;
	memset(where, 'a', sizeof(where));
	assert_int_equal(text_find((struct str){ where, sizeof(where) }, 0, STR("b"), &m, &n), -1);
	m = (struct meter){ .left = 100000, .stop = yes, .arg = &asked };
	assert_int_equal(text_replace((struct str){ where, sizeof(where) },
				      (struct str){ where, sizeof(where) }, STR("aa"), STR(""), &m, NULL, &n),
			 -1);
	assert_int_equal(asked, 2);
}

static void is(struct str got, struct str expected)
{
	assert_int_equal(got.n, expected.n);
	assert_memory_equal(got.p, expected.p, expected.n);
}

static void parts_count_code_units(void **state)
{
	struct str s = STR("a\0é€\U0001F600z "); /* 1 + 1 + 1 + 1 + 2 + 1 + 1 units */

	(void)state;
	assert_int_equal(text_length(s), 7);
	assert_int_equal(text_length(STR("  ")), 0);
	is(text_part(s, 1, 2), STR("a\0"));
	is(text_part(s, 2, 3), STR("\0é€"));
	is(text_part(s, -1, 3), STR("a"));
	is(text_part(s, INT64_MIN, INT64_MAX), STR(""));
	is(text_part(s, 0, INT64_MAX), s);
	is(text_part(s, INT64_MAX, INT64_MAX), STR(""));
	is(text_part(s, 5, 1), STR("")); /* no character is torn */
	is(text_part(s, 5, 2), STR("\U0001F600"));
	is(text_right(s, 2), STR("z "));
	is(text_right(s, 0), STR(""));
	is(text_right(s, INT64_MAX), s);
}

static void case_and_blanks(void **state)
{
	char dst[16];

	(void)state;
	text_change_case(STR("a\0é÷ßZ"), true, dst);
	assert_memory_equal(dst, "A\0É÷ßZ", 9);
	text_change_case(STR("A\0É×ßz"), false, dst);
	assert_memory_equal(dst, "a\0é×ßz", 9);
	text_fold(STR("A\0ÉZ"), dst);
	assert_memory_equal(dst, "a\0Éz", 5);
	is(text_trim(STR("  a\0  "), true, true), STR("a\0"));
	is(text_trim(STR("  a "), true, false), STR("a "));
	is(text_trim(STR("  a "), false, true), STR("  a"));
	is(text_trim(STR("   "), true, true), STR(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(found_wherever_it_is),
					    cmocka_unit_test(replaces_all), cmocka_unit_test(can_be_stopped),
					    cmocka_unit_test(parts_count_code_units),
					    cmocka_unit_test(case_and_blanks) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
