/* test_output.c — result sets on the terminal and as JSON; nothing in them may steer a terminal
 * or break the JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

/* What cli_output_table prints, from malloc. */
static char *printed(const struct client_table *t, bool json)
{
	char *text = NULL;
	size_t n;
	FILE *real = stdout, *memory = open_memstream(&text, &n);

	assert_non_null(memory);
	stdout = memory;
	cli_output_table(t, json);
	stdout = real;
	fclose(memory);
	return text;
}

static void assert_printed(const char *name, bool numeric, const char *cell, bool json, const char *want)
{
	struct client_table t = { .ncols = 1,
				  .nrows = 1,
				  .names = (char *[]){ (char *)name },
				  .numeric = (bool[]){ numeric },
				  .cells = (char *[]){ (char *)cell } };
	char *text = printed(&t, json);

	assert_string_equal(text, want);
	free(text);
}

static void columns_are_aligned_by_characters(void **state)
{
	char *names[] = { "name", "n" }, *cells[] = { "Zoë", "7", "a longer one", NULL };
	bool numeric[] = { false, true };
	struct client_table t = {
		.ncols = 2, .nrows = 2, .names = names, .numeric = numeric, .cells = cells
	};
	char *text = printed(&t, false);

	(void)state;
	assert_string_equal(text, "name             n\n"
				  "------------  ----\n"
				  "Zoë              7\n"
				  "a longer one  NULL\n");
	free(text);
}

static void control_characters_are_shown_not_sent(void **state)
{
	(void)state;
	assert_printed("c", false, "a\033[2Jb\nc\x7f\xc2\x9b", false,
		       "c\n"
		       "--------------------\n"
		       "a\\x1b[2Jb\\nc\\x7f\\x9b\n");
}

static void json_escapes_and_keeps_numbers(void **state)
{
	(void)state;
	assert_printed("a\"b", false, "x\\y\n\"", true, "[{\"a\\\"b\": \"x\\\\y\\u000a\\\"\"}]\n");
	assert_printed("n", true, "-12.50", true, "[{\"n\": -12.50}]\n");
	assert_printed("n", true, ".5", true, "[{\"n\": \".5\"}]\n");
	assert_printed("n", true, "1e400", true, "[{\"n\": \"1e400\"}]\n");
	assert_printed("n", true, "007", true, "[{\"n\": \"007\"}]\n");
	assert_printed("n", true, NULL, true, "[{\"n\": null}]\n");
	assert_printed("n", false, "5", true, "[{\"n\": \"5\"}]\n");
}

static void a_table_without_rows_has_its_head(void **state)
{
	struct client_table t = {
		.ncols = 1, .nrows = 0, .names = (char *[]){ "name" }, .numeric = (bool[]){ false }
	};
	char *text = printed(&t, false), *json = printed(&t, true);

	(void)state;
	assert_string_equal(text, "name\n----\n");
	assert_string_equal(json, "[]\n");
	free(text);
	free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_are_aligned_by_characters),
		cmocka_unit_test(control_characters_are_shown_not_sent),
		cmocka_unit_test(json_escapes_and_keeps_numbers),
		cmocka_unit_test(a_table_without_rows_has_its_head),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
