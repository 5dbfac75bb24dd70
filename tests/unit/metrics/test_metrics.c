/* The registry of numbers: counting from many threads, snapshots, the text for Prometheus. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "metrics/metrics.h"
#include "metrics/snapshot.h"

static const char *const names[] = { "first", "second" };

static const char *call_name(const void *arg, size_t i)
{
	(void)arg;
	return names[i];
}

static struct metrics_database *add_database(struct metrics *m, const char *name)
{
	const struct metrics_database_options o = {
		.name = name, .service = "state", .n = 2, .call_name = call_name
	};

	return metrics_database_add(m, &o);
}

static struct metrics_snapshot *take(struct metrics *m)
{
	struct metrics_snapshot *s = NULL;
	struct err e;

	assert_int_equal(metrics_take(m, &s, &e), 0);
	return s;
}

static const struct metrics_sample *of_procedure(const struct metrics_snapshot *s, enum metrics_family f,
						 const char *procedure)
{
	for (const struct metrics_sample *m = metrics_samples(s, f); m != NULL; m = m->next) {
		if (strcmp(metrics_label(m, "procedure"), procedure) == 0)
			return m;
	}
	return NULL;
}

#define THREADS 8
#define TIMES 10000

static void *count_many(void *arg)
{
	for (int i = 0; i < TIMES; i++)
		metrics_call(arg, 1, 20, i % 2 == 0 ? 30 : 3000, i % 10 == 0);
	return NULL;
}

static void nothing_is_lost_between_threads(void **state)
{
	struct metrics *m = metrics_new();
	struct metrics_database *d = add_database(m, "State");
	pthread_t threads[THREADS];
	struct metrics_snapshot *s;
	const struct metrics_sample *run;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_many, d), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	s = take(m);
	assert_true(of_procedure(s, METRICS_FAMILY_CALLS, "second")->value == THREADS * TIMES);
	assert_true(of_procedure(s, METRICS_FAMILY_CALL_ERRORS, "second")->value == THREADS * TIMES / 10);
	run = of_procedure(s, METRICS_FAMILY_CALL_RUN, "second");
	assert_int_equal(run->totals->count, THREADS * TIMES);
	assert_int_equal(run->totals->sum, THREADS * TIMES / 2 * (30 + 3000));
	assert_null(of_procedure(s, METRICS_FAMILY_CALLS, "first")); /* was never called */
	metrics_snapshot_free(s);
	metrics_database_remove(d);
	metrics_free(m);
}

static void quantiles_lie_within_their_bucket(void **state)
{
	struct metrics *m = metrics_new();
	struct metrics_database *d = add_database(m, "State");
	struct metrics_snapshot *s;
	const struct metrics_totals *t;

	(void)state;
	for (int i = 0; i < 99; i++)
		metrics_call(d, 0, 0, 40, false);
	metrics_call(d, 0, 0, 40000000, false); /* above all bounds */
	s = take(m);
	t = of_procedure(s, METRICS_FAMILY_CALL_RUN, "first")->totals;
	assert_true(metrics_quantile(t, 0.5) > 25e-6 && metrics_quantile(t, 0.5) <= 50e-6);
	assert_true(metrics_quantile(t, 0.999) == 10);
	metrics_snapshot_free(s);
	metrics_database_remove(d);
	metrics_free(m);
}

static void a_call_that_never_ran_has_only_waited(void **state)
{
	struct metrics *m = metrics_new();
	struct metrics_database *d = add_database(m, "State");
	struct metrics_snapshot *s;

	(void)state;
	metrics_call(d, 0, 5, -1, true);
	s = take(m);
	assert_int_equal(of_procedure(s, METRICS_FAMILY_CALL_QUEUE, "first")->totals->count, 1);
	assert_int_equal(of_procedure(s, METRICS_FAMILY_CALL_RUN, "first")->totals->count, 0);
	assert_true(of_procedure(s, METRICS_FAMILY_CALLS, "first")->value == 1);
	metrics_snapshot_free(s);
	metrics_database_remove(d);
	metrics_free(m);
}

static void collect(struct metrics_snapshot *s, void *arg)
{
	metrics_add(s, METRICS_FAMILY_UPTIME, *(double *)arg, NULL, 0);
}

static void the_text_escapes_names_and_sums_buckets(void **state)
{
	struct metrics *m = metrics_new();
	struct metrics_database *d = add_database(m, "a\"b\\c\nd");
	double uptime = 1.5;
	const struct metrics_collector c = { collect, &uptime };
	struct buf out;
	struct err e;

	(void)state;
	buf_init(&out, 1 << 20);
	metrics_collect_from(m, &c);
	metrics_call(d, 0, 10, 11, false);
	metrics_call(d, 0, 11, 11, false);
	assert_int_equal(metrics_prometheus(m, &out, &e), 0);
	buf_put_u8(&out, 0);
#define HAS(text) assert_non_null(strstr((const char *)out.data, text))
	HAS("# TYPE procession_calls_total counter\n");
	HAS("procession_calls_total{database=\"a\\\"b\\\\c\\nd\",procedure=\"first\"} 2\n");
	HAS("procession_call_queue_seconds_bucket{database=\"a\\\"b\\\\c\\nd\",procedure=\"first\",le=\"1e-"
	    "05\"} 1\n");
	HAS("le=\"+Inf\"} 2\n");
	HAS("procession_call_queue_seconds_sum{database=\"a\\\"b\\\\c\\nd\",procedure=\"first\"} 2.1e-05\n");
	HAS("\nprocession_uptime_seconds 1.5\n");
	buf_fini(&out);
	metrics_database_remove(d);
	metrics_free(m);
}

static void without_a_registry_nothing_is_counted(void **state)
{
	(void)state;
	assert_null(add_database(NULL, "State"));
	metrics_call(NULL, 0, 1, 1, false);
	metrics_count(NULL, METRICS_LOGIN_ACCEPTED, 1);
	metrics_commit(NULL, 1);
	metrics_flush(NULL, 1);
	metrics_cleaned(NULL, 1, true);
	metrics_count_slow(NULL);
	metrics_database_remove(NULL);
	metrics_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_between_threads),
		cmocka_unit_test(quantiles_lie_within_their_bucket),
		cmocka_unit_test(a_call_that_never_ran_has_only_waited),
		cmocka_unit_test(the_text_escapes_names_and_sums_buckets),
		cmocka_unit_test(without_a_registry_nothing_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
