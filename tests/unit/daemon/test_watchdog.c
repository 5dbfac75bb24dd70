/* test_watchdog.c — systemd hears of the server only while every loop answers, and often enough. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/watchdog.h"

struct world {
	unsigned asked, told;
	bool hangs;
};

static void ask(void *arg)
{
	((struct world *)arg)->asked++;
}

static bool answered(void *arg)
{
	return !((struct world *)arg)->hangs;
}

static void alive(void *arg)
{
	((struct world *)arg)->told++;
}

static struct watchdog_ops ops_of(struct world *w)
{
	return (struct watchdog_ops){ ask, answered, alive, w };
}

static void it_tells_four_times_within_the_limit(void **state)
{
	struct world world = { 0 };
	struct watchdog_ops ops = ops_of(&world);
	struct watchdog w;
	int64_t now = 1000;

	(void)state;
	daemon_watchdog_init(&w, &ops, 60000000, now);
	assert_int_equal(world.told, 1);
	assert_int_equal(daemon_watchdog_wait_ms(&w, now, 3600000), 15000);
	assert_int_equal(daemon_watchdog_wait_ms(&w, now, 50), 50);
	for (; now < 61000; now += 50) /* called more often than it wants */
		daemon_watchdog_tick(&w, now);
	assert_int_equal(world.told, 4);
	daemon_watchdog_tick(&w, now);
	assert_int_equal(world.told, 5);
	assert_int_equal(world.asked, 5);
	assert_int_equal(daemon_watchdog_wait_ms(&w, now + 20000, 3600000), 0);
}

static void a_loop_that_hangs_silences_it(void **state)
{
	struct world world = { 0 };
	struct watchdog_ops ops = ops_of(&world);
	struct watchdog w;
	int64_t now = 0;

	(void)state;
	daemon_watchdog_init(&w, &ops, 4000000, now);
	world.hangs = true;
	for (int i = 0; i < 20; i++)
		daemon_watchdog_tick(&w, now += 1000);
	assert_int_equal(world.told, 1);
	assert_int_equal(world.asked, 1); /* it owes the answer to the first question still */
	world.hangs = false;
	daemon_watchdog_tick(&w, now + 999); /* not before the next period */
	assert_int_equal(world.told, 1);
	daemon_watchdog_tick(&w, now + 1000);
	assert_int_equal(world.told, 2);
}

static void without_a_limit_it_does_nothing(void **state)
{
	struct world world = { 0 };
	struct watchdog_ops ops = ops_of(&world);
	struct watchdog w;

	(void)state;
	daemon_watchdog_init(&w, &ops, 0, 5);
	daemon_watchdog_tick(&w, INT64_MAX);
	assert_int_equal(world.told + world.asked, 0);
	assert_int_equal(daemon_watchdog_wait_ms(&w, 7, 1234), 1234);
	daemon_watchdog_init(&w, &ops, 1, 5); /* as short as can be: still a period */
	assert_int_equal(w.period_ms, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_tells_four_times_within_the_limit),
		cmocka_unit_test(a_loop_that_hangs_silences_it),
		cmocka_unit_test(without_a_limit_it_does_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
