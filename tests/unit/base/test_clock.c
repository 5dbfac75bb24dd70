/* test_clock.c — the clocks agree with each other and with the calendar. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"

static void ticks_are_microseconds_rounded_down(void **state)
{
	int64_t before, ticks, after;

	(void)state;
	before = clock_unix_us();
	ticks = clock_ticks() - INT64_C(25567) * TICKS_PER_DAY;
	after = clock_unix_us();
	assert_true(ticks >= before * 3 / 10000);
	assert_true(ticks <= after * 3 / 10000);
	assert_true(before > INT64_C(1600000000) * 1000000);
}

static void monotonic_time_does_not_go_back(void **state)
{
	int64_t last = clock_mono_ms();

	(void)state;
	for (int i = 0; i < 1000; i++) {
		int64_t now = clock_mono_ms();

		assert_true(now >= last);
		last = now;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_are_microseconds_rounded_down),
		cmocka_unit_test(monotonic_time_does_not_go_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
