/* test_json.c — strings of JSON: what is written is read back, and nothing ends its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static char *written(const char *text)
{
	char *data = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&data, &n);

	assert_non_null(f);
	json_put_string(f, text);
	fclose(f);
	return data;
}

static void every_byte_comes_back(void **state)
{
	char text[256], back[256], *data;
	const char *p;

	(void)state;
	for (int i = 1; i < 256; i++)
		text[i - 1] = (char)i;
	text[255] = '\0';
	data = written(text);
	assert_null(strchr(data, '\n'));
	p = data;
	assert_true(json_get_string(&p, back, sizeof(back)));
	assert_string_equal(back, text);
	assert_int_equal(*p, '\0');
	free(data);
}

static void long_strings_are_cut(void **state)
{
	const char *p = "\"abcdef\", 1";
	char back[4];

	(void)state;
	assert_true(json_get_string(&p, back, sizeof(back)));
	assert_string_equal(back, "abc");
	assert_string_equal(p, ", 1");
}

static void what_is_no_string_is_refused(void **state)
{
	static const char *const wrong[] = { "",        "x",           "\"open",  "\"a\\",
					     "\"\\u12", "\"\\u1234\"", "\"\\n\"", "\"\\u0000\"" };
	char back[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		const char *p = wrong[i];

		assert_false(json_get_string(&p, back, sizeof(back)));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_comes_back),
		cmocka_unit_test(long_strings_are_cut),
		cmocka_unit_test(what_is_no_string_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
