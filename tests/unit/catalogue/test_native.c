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
	int mark;
	void *userdata = NULL;

	(void)state;
	assert_null(native_find("one", &userdata));
	native_register("one", one, &mark);
	native_register("two", two, NULL);
	assert_true(native_find("one", &userdata) == one);
	assert_ptr_equal(userdata, &mark);
	assert_true(native_find("two", NULL) == two);
	native_register("one", two, NULL);
	assert_true(native_find("one", &userdata) == two);
	assert_null(userdata);
	assert_null(native_find("on", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(functions_are_found_and_replaced) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
