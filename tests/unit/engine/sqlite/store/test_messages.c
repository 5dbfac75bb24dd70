/* test_messages.c — what SQLite says reaches the log, once its level is worth it, and never more
 * than a few lines a second. */
#include "fixture.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

/* What is written to stderr while fn runs. */
static char *written(void (*fn)(void), char *dst, size_t size)
{
	char path[] = "/tmp/procession-messages-XXXXXX";
	int fd = mkstemp(path), was = dup(STDERR_FILENO);
	ssize_t n;

	assert_true(fd >= 0 && was >= 0);
	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	fn();
	fflush(stderr);
	dup2(was, STDERR_FILENO);
	close(was);
	n = pread(fd, dst, size - 1, 0);
	assert_true(n >= 0);
	dst[n] = '\0';
	close(fd);
	unlink(path);
	return dst;
}

static unsigned count(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what)) != NULL) {
		text += strlen(what);
		n++;
	}
	return n;
}

static void say_things(void)
{
	sqlite3_log(SQLITE_CONSTRAINT_UNIQUE, "a constraint");
	sqlite3_log(SQLITE_CORRUPT, "a damaged page");
	sqlite3_log(SQLITE_NOTICE_RECOVER_WAL, "a recovered WAL");
}

static void say_much(void)
{
	for (int i = 0; i < 1000; i++)
		sqlite3_log(SQLITE_IOERR_READ, "page %d", i);
}

static void warnings_reach_the_log(void **state)
{
	static char text[100000];

	(void)state;
	log_set_level(LOG_INFO);
	written(say_things, text, sizeof(text));
	assert_int_equal(count(text, "event=sqlite"), 2);
	assert_non_null(strstr(text, "level=warn event=sqlite code=11 message=\"a damaged page\""));
	assert_non_null(strstr(text, "level=info event=sqlite code=283 message=\"a recovered WAL\""));
}

static void a_flood_is_cut(void **state)
{
	static char text[400000];

	(void)state;
	written(say_much, text, sizeof(text));
	/* ten a second, on a slow machine too */
	assert_in_range(count(text, "event=sqlite"), 1, 100);
	sleep(1);
	written(say_things, text, sizeof(text));
	assert_null(strstr(text, "code=11 message=\"a damaged page\" left_out=0\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(warnings_reach_the_log),
					    cmocka_unit_test(a_flood_is_cut) };

	return cmocka_run_group_tests(tests, fixture_up, fixture_down);
}
