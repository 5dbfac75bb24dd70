/* test_err.c — the error record: what the table says, texts cut at a character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/err.h"
#include "base/utf.h"

static const struct {
	const char *id;
	int number, severity, state;
	const char *text;
} table[] = {
#define ERR(id, number, severity, state, text) { #id, number, severity, state, text },
#include "base/errors.def"
#undef ERR
};

static void the_table_is_sane(void **state)
{
	(void)state;
	assert_int_equal(sizeof(table) / sizeof(table[0]), ERR_COUNT - 1);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		assert_true(table[i].number > 0);
		assert_in_range(table[i].severity, 0, 25);
		assert_in_range(table[i].state, 0, 255);
		assert_true(strlen(table[i].text) > 0);
		assert_true(utf8_valid(table[i].text, strlen(table[i].text), false));
		assert_null(strstr(table[i].text, "%n"));
	}
}

static void set_fills_everything(void **state)
{
	struct err e;

	(void)state;
	memset(&e, 0x55, sizeof(e));
	assert_int_equal(err_set(&e, ERR_CONVERT_ARG, "nvarchar", "int"), -1);
	assert_int_equal(e.number, 8114);
	assert_int_equal(e.severity, 16);
	assert_int_equal(e.state, 5);
	assert_int_equal(e.line, 0);
	assert_string_equal(e.proc, "");
	assert_string_equal(e.text, "Error converting data type nvarchar to int.");
	assert_true(err_is_error(&e));
	err_set(&e, ERR_RULE, "x");
	assert_false(err_is_error(&e));
	err_clear(&e);
	assert_int_equal(e.number, 0);
}

static void raise_takes_any_number(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(err_raise(&e, 9400, 16, 1, "XML parsing: line %d, character %d, %s", 1, 5,
				   "unexpected end of input"),
			 -1);
	assert_string_equal(e.text, "XML parsing: line 1, character 5, unexpected end of input");
	assert_int_equal(err_nomem(&e), -1);
	assert_int_equal(e.number, 701);
	assert_int_equal(err_set(NULL, ERR_NO_PROC, "x"), -1);
	assert_int_equal(err_raise(NULL, 1, 1, 1, "x"), -1);
}

static void long_texts_are_cut_at_a_character(void **state)
{
	char name[2001];
	struct err e;

	(void)state;
	for (size_t shift = 0; shift < 3; shift++) {
		for (size_t i = 0; i + 3 <= 2000; i += 3)
			memcpy(name + i, "€", 3);
		name[1998] = '\0';
		err_raise(&e, 50000, 16, 1, "%.*s%s", (int)shift, "xxx", name);
		assert_true(strlen(e.text) >= sizeof(e.text) - 4);
		assert_true(utf8_valid(e.text, strlen(e.text), false));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table_is_sane),
		cmocka_unit_test(set_fills_everything),
		cmocka_unit_test(raise_takes_any_number),
		cmocka_unit_test(long_texts_are_cut_at_a_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
