/* test_topsample.c — what is between two looks at a server's numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/top.h"

static const struct top_times spread = { { 0.001, 0.01, 0.1, -1 }, { 50, 90, 100, 100 }, 4 };

static void quantiles_lie_within_their_bucket(void **state)
{
	const struct top_times none = { .n = 0 }, beyond = { { 0.001, -1 }, { 0, 10 }, 2 };

	(void)state;
	assert_true(cli_top_quantile_ms(&none, 0.5) < 0);
	assert_float_equal(cli_top_quantile_ms(&spread, 0.5), 1, 1e-9);
	assert_float_equal(cli_top_quantile_ms(&spread, 0.9), 10, 1e-9);
	assert_float_equal(cli_top_quantile_ms(&spread, 0.95), 55, 1e-9);
	assert_float_equal(cli_top_quantile_ms(&beyond, 0.5), 1, 1e-9); /* all that is known: not below */
}

static struct top_procedure procedure(const char *name, double calls, const struct top_times *ran)
{
	struct top_procedure p = { .calls = calls, .run_s = ran == NULL ? 0 : calls / 100 };

	snprintf(p.database, sizeof(p.database), "StateService");
	snprintf(p.name, sizeof(p.name), "%s", name);
	if (ran != NULL)
		p.ran = *ran;
	return p;
}

static void rates_are_of_the_time_between(void **state)
{
	static const struct top_times quick = { { 0.001, 0.01, 0.1, -1 }, { 300, 300, 300, 300 }, 4 };
	struct top_procedure old[] = { procedure("slow", 100, NULL), procedure("silent", 7, NULL) };
	struct top_procedure new[] = { procedure("silent", 7, NULL), procedure("unrun", 20, NULL),
				       procedure("quick", 300, &quick), procedure("slow", 200, &spread) };
	struct top_database db[] = { { .name = "StateService", .up = true, .queue = 3 } };
	struct top_session was[] = { { .number = 51, .since = "a", .requests = 10 } };
	struct top_session is[] = { { .number = 51, .since = "a", .requests = 30 },
				    { .number = 52, .since = "b", .requests = 60 } };
	struct top_sample before = { .uptime_s = 10,
				     .sent = 100,
				     .procedures = old,
				     .nprocedures = 2,
				     .sessions = was,
				     .nsessions = 1 };
	struct top_sample after = { .uptime_s = 20,
				    .sent = 1100,
				    .procedures = new,
				    .nprocedures = 4,
				    .databases = db,
				    .ndatabases = 1,
				    .sessions = is,
				    .nsessions = 2 };
	struct top_sample ret;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(cli_top_compare(&before, &after, &ret, &e), 0);
	assert_float_equal(ret.elapsed_s, 10, 1e-9);
	assert_float_equal(ret.sent, 100, 1e-9);
	assert_float_equal(ret.calls, 42, 1e-9);
	assert_float_equal(ret.databases[0].calls, 42, 1e-9);
	assert_float_equal(ret.queue, 3, 1e-9);
	/* the slowest first; what failed before it ran is there, what was not called is not */
	assert_int_equal(ret.nprocedures, 3);
	assert_string_equal(ret.procedures[0].name, "slow");
	assert_string_equal(ret.procedures[1].name, "quick");
	assert_string_equal(ret.procedures[2].name, "unrun");
	assert_float_equal(ret.procedures[0].calls, 10, 1e-9);
	assert_int_equal(ret.sessions[0].number, 52);
	assert_float_equal(ret.sessions[1].requests, 2, 1e-9);
	cli_top_sample_fini(&ret);
}

static void a_server_that_began_anew_counts_from_nothing(void **state)
{
	struct top_procedure old[] = { procedure("slow", 1000, NULL) },
			     new[] = { procedure("slow", 50, NULL) };
	struct top_sample before = { .uptime_s = 100, .procedures = old, .nprocedures = 1 };
	struct top_sample after = { .uptime_s = 5, .procedures = new, .nprocedures = 1 };
	struct top_sample ret;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(cli_top_compare(&before, &after, &ret, &e), 0);
	assert_float_equal(ret.calls, 10, 1e-9);
	cli_top_sample_fini(&ret);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_lie_within_their_bucket),
		cmocka_unit_test(rates_are_of_the_time_between),
		cmocka_unit_test(a_server_that_began_anew_counts_from_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
