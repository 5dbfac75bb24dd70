/* test_native.c — the list of native functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "catalogue/native.h"

static int one(struct native_ctx *ctx, struct err *reterr)
{
	(void)ctx;
	(void)reterr;
	return 1;
}

static int two(struct native_ctx *ctx, struct err *reterr)
{
	(void)ctx;
	(void)reterr;
	return 2;
}

static void functions_are_found_and_replaced(void **state)
{
	struct catalogue_natives all = { .n = 0 };
	int mark;

	(void)state;
	assert_null(catalogue_native_find(&all, "one"));
	assert_null(catalogue_native_find(NULL, "one"));
	catalogue_native_register(&all, "one", one, &mark);
	catalogue_native_register_ahead(&all, "two", two, NULL);
	assert_true(catalogue_native_find(&all, "one")->fn == one);
	assert_ptr_equal(catalogue_native_find(&all, "one")->userdata, &mark);
	assert_false(catalogue_native_find(&all, "one")->ahead);
	assert_true(catalogue_native_find(&all, "two")->fn == two);
	assert_true(catalogue_native_find(&all, "two")->ahead);
	catalogue_native_register(&all, "one", two, NULL);
	assert_true(catalogue_native_find(&all, "one")->fn == two);
	assert_null(catalogue_native_find(&all, "one")->userdata);
	assert_null(catalogue_native_find(&all, "on"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(functions_are_found_and_replaced) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
