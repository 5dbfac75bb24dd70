/* test_table.c — the tables of commands and options hang together, and help and manual pages
 * show all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/cli.h"

static char help[64 * 1024], man[64 * 1024];

static int print_both(void **state)
{
	FILE *f = fmemopen(help, sizeof(help), "w"), *g = fmemopen(man, sizeof(man), "w");

	(void)state;
	if (f == NULL || g == NULL)
		return -1;
	cli_help_print(f, NULL);
	bool printed = cli_help_print_man(g, NULL);

	fclose(f);
	fclose(g);
	return printed ? 0 : -1;
}

static void every_command_is_in_help_and_manual(void **state)
{
	(void)state;
	for (size_t i = 0; i < cli_commands_count; i++) {
		assert_non_null(strstr(help, cli_commands[i].help));
		assert_non_null(strstr(man, cli_commands[i].group));
		assert_non_null(cli_commands[i].run);
		assert_true(cli_commands[i].nargs <= ARGS_MAX || cli_commands[i].nargs == ARGS_ANY);
	}
}

static void every_option_belongs_to_a_command_and_is_explained(void **state)
{
	unsigned taken = 0;

	(void)state;
	for (size_t i = 0; i < cli_commands_count; i++)
		taken |= cli_commands[i].takes;
	for (size_t i = 0; i < cli_options_count; i++) {
		assert_int_equal(cli_options[i].group & ~taken, 0);
		assert_non_null(strstr(help, cli_options[i].flag));
		assert_true(cli_options[i].offset < sizeof(struct cli));
	}
}

static size_t groups_of(const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < cli_groups_count; i++)
		n += strcmp(cli_groups[i].name, name) == 0;
	return n;
}

static void every_command_is_in_the_page_of_its_group(void **state)
{
	(void)state;
	for (size_t i = 0; i < cli_commands_count; i++) {
		const struct command *c = &cli_commands[i];
		FILE *f = fmemopen(man, sizeof(man), "w");

		assert_non_null(f);
		assert_int_equal(groups_of(c->group), 1);
		assert_true(cli_help_print_man(f, c->group));
		fclose(f);
		assert_non_null(strstr(man, c->name));
		assert_non_null(strstr(man, "\\-json"));
	}
	assert_false(cli_help_print_man(NULL, "nothing"));
}

/* "grant list" would be taken for "grant LOGIN …" if the nameless command stood before it. */
static void a_nameless_command_is_the_last_of_its_group(void **state)
{
	(void)state;
	for (size_t i = 0; i < cli_commands_count; i++)
		for (size_t j = i + 1; cli_commands[i].name[0] == '\0' && j < cli_commands_count; j++)
			assert_string_not_equal(cli_commands[i].group, cli_commands[j].group);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_command_is_in_help_and_manual),
		cmocka_unit_test(every_option_belongs_to_a_command_and_is_explained),
		cmocka_unit_test(every_command_is_in_the_page_of_its_group),
		cmocka_unit_test(a_nameless_command_is_the_last_of_its_group),
	};
	return cmocka_run_group_tests(tests, print_both, NULL);
}
