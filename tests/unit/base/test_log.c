/* test_log.c — a log line is one line, whatever its values; the volume is bounded. stderr is a
 * file here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/utf.h"

static char captured[1 << 20];
static int saved;
static FILE *file;

static void capture_begin(void)
{
	fflush(stderr);
	saved = dup(STDERR_FILENO);
	file = tmpfile();
	assert_non_null(file);
	assert_true(dup2(fileno(file), STDERR_FILENO) >= 0);
}

static size_t capture_end(void)
{
	size_t n;

	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	n = fread(captured, 1, sizeof(captured) - 1, file);
	fclose(file);
	captured[n] = '\0';
	return n;
}

static size_t count_lines(void)
{
	size_t n = 0;

	for (const char *p = captured; (p = strchr(p, '\n')) != NULL; p++)
		n++;
	return n;
}

static void a_line_has_its_context_and_fields(void **state)
{
	struct log_ctx ctx = { .session = 51, .peer = "127.0.0.1:5000", .login = "Émile", .database = "" };

	(void)state;
	capture_begin();
	LOG(LOG_INFO, &ctx, "login", F_STR("mechanism", "sql"), F_STR("client", "a b=\"c\""),
	    F_INT("attempts", -3), F_STR("none", NULL));
	LOG(LOG_WARN, NULL, "bare");
	capture_end();
	assert_int_equal(count_lines(), 2);
	assert_non_null(strstr(
		captured,
		"Z level=info event=login session=51 peer=127.0.0.1:5000 login=\"Émile\" mechanism=sql "
		"client=\"a b=\\\"c\\\"\" attempts=-3\n"));
	assert_non_null(strstr(captured, " level=warn event=bare\n"));
	assert_memory_equal(captured, "time=20", 7);
}

static void no_value_can_forge_a_line(void **state)
{
	char value[8] = { 0 };

	(void)state;
	for (int a = 1; a < 256; a++) {
		capture_begin();
		value[0] = (char)a;
		value[1] = '\n';
		value[2] = (char)0xC2;
		value[3] = (char)0x85;
		LOG(LOG_ERROR, NULL, "x", F_STR("v", value));
		LOG(LOG_ERROR, NULL, "x", F_STR("v", "\xE2\x80\xA8\xE2\x80\xAE\xFF\xED\xA0\x80"));
		size_t n = capture_end();
		assert_int_equal(count_lines(), 2);
		assert_true(utf8_valid(captured, n, false));
		assert_null(strstr(captured, "\xC2\x85"));
		assert_null(strstr(captured, "\xE2\x80"));
		for (size_t i = 0; i < n; i++)
			assert_true((unsigned char)captured[i] >= 0x20 || captured[i] == '\n');
	}
}

static void long_values_and_lines_are_cut(void **state)
{
	char value[10000];
	size_t n;

	(void)state;
	memset(value, 'v', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	capture_begin();
	LOG(LOG_ERROR, NULL, "x", F_STR("a", value), F_STR("b", value), F_STR("c", value), F_STR("d", value),
	    F_STR("e", value));
	n = capture_end();
	assert_int_equal(count_lines(), 1);
	assert_true(n <= 4096);
	assert_non_null(strstr(captured, "v…\" b="));
}

static void levels_filter(void **state)
{
	enum log_level level;

	(void)state;
	assert_true(log_parse_level("WARN", &level));
	assert_int_equal(level, LOG_WARN);
	assert_false(log_parse_level("loud", &level));
	log_set_level(LOG_WARN);
	capture_begin();
	LOG(LOG_INFO, NULL, "quiet");
	LOG(LOG_ERROR, NULL, "loud");
	capture_end();
	log_set_level(LOG_INFO);
	assert_null(strstr(captured, "quiet"));
	assert_non_null(strstr(captured, "loud"));
	assert_false(log_enabled(LOG_DEBUG));
	assert_true(log_enabled(LOG_INFO));
}

static void the_rate_is_bounded_and_the_rest_counted(void **state)
{
	size_t lines;

	(void)state;
	log_set_rate(5);
	capture_begin();
	for (int i = 0; i < 500; i++)
		LOG(LOG_INFO, NULL, "flood");
	log_set_rate(0);
	LOG(LOG_INFO, NULL, "after");
	capture_end();
	lines = count_lines();
	assert_true(lines >= 7 && lines <= 20); /* a second may end while the loop runs */
	assert_non_null(strstr(captured, "event=log_lines_left_out lines=49"));
	assert_non_null(strstr(captured, "event=after"));
}

static void *write_many(void *arg)
{
	for (int i = 0; i < 200; i++)
		LOG(LOG_INFO, NULL, "thread", F_STR("who", arg), F_STR("text", "one two three"));
	return NULL;
}

static void threads_do_not_mix_lines(void **state)
{
	static const char *const names[4] = { "a", "b", "c", "d" };
	pthread_t threads[4];

	(void)state;
	capture_begin();
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_many, (void *)names[i]), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	capture_end();
	assert_int_equal(count_lines(), 800);
	for (char *line = captured, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		assert_memory_equal(line, "time=", 5);
		assert_non_null(strstr(line, " text=\"one two three\""));
	}
}

/* A pipe that nobody reads: who logs goes on; what was kept and how much is missing comes out in
 * order when it is read. Last, since the thread stays. */
static void a_pipe_that_nobody_reads_stops_nobody(void **state)
{
	enum { LINES = 50000 };
	int fds[2], keep = dup(STDERR_FILENO);
	long next = 0, dropped = 0, told;
	char line[8192];
	FILE *f;

	(void)state;
	log_set_rate(0);
	assert_int_equal(pipe(fds), 0);
	assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
	close(fds[1]);
	assert_int_equal(log_start_writer(), 0);
	for (long i = 0; i < LINES; i++)
		LOG(LOG_INFO, NULL, "n", F_INT("i", i));
	f = fdopen(fds[0], "r");
	assert_non_null(f);
	while (next + dropped < LINES && fgets(line, sizeof(line), f) != NULL) {
		const char *at = strstr(line, " event=n i=");

		assert_memory_equal(line, "time=", 5);
		if (at != NULL) {
			assert_int_equal(strtol(at + 11, NULL, 10), next + dropped);
			next++;
		} else {
			assert_int_equal(sscanf(strstr(line, "event=log_lines_dropped"),
						"event=log_lines_dropped lines=%ld", &told),
					 1);
			dropped += told;
		}
	}
	assert_int_equal(next + dropped, LINES);
	assert_true(dropped > 0 && next > 5000);
	LOG(LOG_INFO, NULL, "after");
	assert_non_null(fgets(line, sizeof(line), f));
	assert_non_null(strstr(line, "event=after"));
	log_flush(1000);
	dup2(keep, STDERR_FILENO);
	fclose(f);
	close(keep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_its_context_and_fields),
		cmocka_unit_test(no_value_can_forge_a_line),
		cmocka_unit_test(long_values_and_lines_are_cut),
		cmocka_unit_test(levels_filter),
		cmocka_unit_test(the_rate_is_bounded_and_the_rest_counted),
		cmocka_unit_test(threads_do_not_mix_lines),
		cmocka_unit_test(a_pipe_that_nobody_reads_stops_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
