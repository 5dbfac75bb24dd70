/* Searching and replacing against the plain definition, over windows of every size; and both can be stopped. */
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

static void replaced(const char *s, const char *searched, const char *what, const char *with, const char *expected)
{
	char dst[64];
	size_t n = 0, again = 0;

	assert_int_equal(text_replace(str_of(s), str_of(searched), str_of(what), str_of(with), NULL, NULL, &n), 0);
	assert_int_equal(n, strlen(expected));
	assert_int_equal(text_replace(str_of(s), str_of(searched), str_of(what), str_of(with), NULL, dst, &again), 0);
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
	assert_int_equal(text_replace((struct str){ where, sizeof(where) }, (struct str){ where, sizeof(where) }, STR("aa"), STR(""), &m, NULL, &n), -1);
	assert_int_equal(asked, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(found_wherever_it_is), cmocka_unit_test(replaces_all), cmocka_unit_test(can_be_stopped) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
