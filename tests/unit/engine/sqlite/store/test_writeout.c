/* test_writeout.c — when the disk is asked to begin: for what is large and lies together, not
 * for what has been flushed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "engine/sqlite/store/store_int.h"

#define MIB (1 << 20)

static char path[] = "/tmp/procession-writeout-XXXXXX";

static int up(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 20 * MIB), 0);
	close(fd);
	return 0;
}

static int down(void **state)
{
	(void)state;
	return unlink(path);
}

static sqlite3_int64 waiting(const struct store_writeout *w)
{
	return w->end - w->from;
}

static void small_commits_are_left_to_their_flush(void **state)
{
	struct store_writeout w;

	(void)state;
	store_writeout_init(&w, path);
	for (int i = 0; i < 20; i++) {
		store_writeout_wrote(&w, MIB, (sqlite3_int64)i * MIB);
		assert_int_equal(waiting(&w), MIB);
		store_writeout_flushed(&w);
	}
	for (int i = 0; i < 20; i++)
		store_writeout_wrote(&w, MIB, (sqlite3_int64)(i % 2) * 9 * MIB);
	assert_int_equal(w.fd, -1);
	store_writeout_fini(&w);
}

static void a_large_one_is_begun_step_by_step(void **state)
{
	struct store_writeout w;
	sqlite3_int64 most = 0;

	(void)state;
	store_writeout_init(&w, path);
	for (int i = 0; i < 19; i++) {
		store_writeout_wrote(&w, MIB, (sqlite3_int64)i * MIB);
		most = waiting(&w) > most ? waiting(&w) : most;
	}
	assert_true(w.fd >= 0);
	assert_in_range(most, MIB, 8 * MIB);
	store_writeout_fini(&w);
	assert_int_equal(w.fd, -1);
}

static void without_the_file_nothing_is_asked(void **state)
{
	struct store_writeout w;

	(void)state;
	store_writeout_init(&w, "/nowhere/wal");
	for (int i = 0; i < 19; i++)
		store_writeout_wrote(&w, MIB, (sqlite3_int64)i * MIB);
	assert_int_equal(w.fd, -1);
	store_writeout_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_commits_are_left_to_their_flush),
		cmocka_unit_test(a_large_one_is_begun_step_by_step),
		cmocka_unit_test(without_the_file_nothing_is_asked),
	};

	return cmocka_run_group_tests(tests, up, down);
}
