/* test_name.c — procedure names in every form that clients write [E-COM-09], and nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "catalogue/catalogue.h"

static struct arena arena;
/* the text, on which the parts may lie, with nothing behind it: the sanitizer sees a read past
 * it */
static char *exact;

static int parse(const char *text, struct proc_name *ret, struct err *err)
{
	size_t n = strlen(text);

	free(exact);
	exact = malloc(n + 1); /* n + 1: malloc(0) may be NULL */
	assert_non_null(exact);
	memcpy(exact, text, n);
	return catalogue_name_parse((struct str){ exact, n }, &arena, ret, err);
}

static void expect(const char *text, const char *database, const char *schema, const char *name)
{
	struct proc_name got;
	struct err err;

	assert_int_equal(parse(text, &got, &err), 0);
	assert_true(str_eq(got.database, str_of(database)));
	assert_true(str_eq(got.schema, str_of(schema)));
	assert_true(str_eq(got.name, str_of(name)));
}

static void refuse(const char *text, int number)
{
	struct proc_name got;
	struct err err;

	err_clear(&err);
	assert_int_equal(parse(text, &got, &err), -1);
	assert_int_equal(err.number, number);
}

static void forms_that_clients_write(void **state)
{
	(void)state;
	expect("proc_X", "", "", "proc_X");
	expect("dbo.proc_X", "", "dbo", "proc_X");
	expect("[dbo].[proc_X]", "", "dbo", "proc_X");
	expect("Db.dbo.proc_X", "Db", "dbo", "proc_X");
	expect("Db..proc_X", "Db", "", "proc_X");
	expect("[My db]..[proc_X];1", "My db", "", "proc_X");
	expect("\"Db\".\"dbo\".\"proc_X\"", "Db", "dbo", "proc_X");
	expect("  dbo . proc_X ; 1 ", "", "dbo", "proc_X");
	expect("[a]]b].[c\"d]", "", "a]b", "c\"d");
	expect("\"a\"\"b\"", "", "", "a\"b");
	expect("[a.b;c]", "", "", "a.b;c");
	expect(".proc_X", "", "", "proc_X");
	expect("...proc_X", "", "", "proc_X");
	expect(".Db.dbo.proc_X", "Db", "dbo", "proc_X");
	expect("[db].[sys].[sp_procedure_params_100_managed]", "db", "sys",
	       "sp_procedure_params_100_managed");
}

static void nonsense_is_refused(void **state)
{
	static const char *const bad[] = {
		"dbo.", "a.b.c.d.e", "server.db.dbo.p",
		"[p",   "p]",        "[]",
		"\"p",  "p q",       "p;2",
		"p;1x", "p;",        "[a]b",
		"a[b]", "'p'",       ".",
		"a..",  "[a]]",
	};

	(void)state;
	refuse("", 8004);
	refuse("   ", 8004);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		refuse(bad[i], 2812);
}

static void long_names_are_refused_or_cut_in_messages(void **state)
{
	char text[5000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[4999] = '\0';
	refuse(text, 2812);
	text[0] = '[';
	refuse(text, 2812);
}

static int setup(void **state)
{
	(void)state;
	arena_init(&arena, 1 << 20);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_fini(&arena);
	free(exact);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_that_clients_write),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(long_names_are_refused_or_cut_in_messages),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
