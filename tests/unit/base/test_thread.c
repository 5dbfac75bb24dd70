/* test_thread.c — a thread that steps back, and those that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/resource.h>

#include "base/thread.h"

static void *priority_after_stepping_back(void *ret)
{
	thread_step_back();
	*(int *)ret = getpriority(PRIO_PROCESS, 0);
	return NULL;
}

static void only_the_thread_that_steps_back_does(void **state)
{
	int before = getpriority(PRIO_PROCESS, 0), priority = -1;
	pthread_t t;

	(void)state;
	assert_int_equal(thread_start(&t, priority_after_stepping_back, &priority), 0);
	pthread_join(t, NULL);
	assert_int_equal(priority, 15);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), before);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(only_the_thread_that_steps_back_does) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
