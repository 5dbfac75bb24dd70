/* test_sqltext.c — where a batch of typed T-SQL ends; which word a mistyped one is nearest to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/nearest.h"
#include "cli/sqltext.h"

/* What the last of the lines does, when they come one after another. */
static enum cli_sqltext_end last_of(const char *const *lines, unsigned *ret_times)
{
	struct cli_sqltext t;
	enum cli_sqltext_end end = CLI_SQLTEXT_MORE;

	cli_sqltext_init(&t);
	for (; *lines != NULL; lines++)
		end = cli_sqltext_add(&t, *lines, ret_times);
	cli_sqltext_fini(&t);
	return end;
}

#define LAST(...) last_of((const char *const[]){ __VA_ARGS__, NULL }, &times)

static void go_ends_a_batch_only_on_a_line_of_its_own(void **state)
{
	unsigned times = 0;

	(void)state;
	assert_int_equal(LAST("SELECT 1", "GO"), CLI_SQLTEXT_GO);
	assert_int_equal(times, 1);
	assert_int_equal(LAST("SELECT 1", "  go 12 "), CLI_SQLTEXT_GO);
	assert_int_equal(times, 12);
	assert_int_equal(LAST("GOTO there"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("go away"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("GO 99999999999"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("SELECT 'a", "GO"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("/* a", "GO"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("/* a /* b */", "GO"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("/* a /* b */ */", "GO"), CLI_SQLTEXT_GO);
}

static void a_semicolon_ends_it_outside_of_strings_names_and_comments(void **state)
{
	unsigned times = 0;

	(void)state;
	assert_int_equal(LAST("SELECT 1;"), CLI_SQLTEXT_SEMICOLON);
	assert_int_equal(LAST("SELECT 1; -- said"), CLI_SQLTEXT_SEMICOLON);
	assert_int_equal(LAST("SELECT 1; /* said */  "), CLI_SQLTEXT_SEMICOLON);
	assert_int_equal(LAST("DECLARE @a int; SELECT"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("SELECT 1 -- ;"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("SELECT ';"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("SELECT 'it''s;"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("SELECT 'it''s';"), CLI_SQLTEXT_SEMICOLON);
	assert_int_equal(LAST("SELECT [a;"), CLI_SQLTEXT_MORE);
	assert_int_equal(LAST("SELECT [a;]", ";"), CLI_SQLTEXT_SEMICOLON);
	assert_int_equal(LAST("SELECT \"a", "b\";"), CLI_SQLTEXT_SEMICOLON);
	assert_int_equal(LAST("/* ;", "*/ SELECT 1;"), CLI_SQLTEXT_SEMICOLON);
}

static void slips_have_their_distance(void **state)
{
	(void)state;
	assert_int_equal(cli_nearest_distance("status", "status"), 0);
	assert_int_equal(cli_nearest_distance("staus", "status"), 1);
	assert_int_equal(cli_nearest_distance("sttaus", "status"), 1); /* swapped */
	assert_int_equal(cli_nearest_distance("", "abc"), 3);
	assert_int_equal(cli_nearest_distance("kitten", "sitting"), 3);
	assert_true(cli_nearest_distance("0123456789012345678901234567890123456789x", "a") > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(go_ends_a_batch_only_on_a_line_of_its_own),
		cmocka_unit_test(a_semicolon_ends_it_outside_of_strings_names_and_comments),
		cmocka_unit_test(slips_have_their_distance),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
