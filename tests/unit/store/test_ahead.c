/* test_ahead.c — reads through a window give what the file has, in fewer reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <string.h>

#include "store/sqlite/sqlite_int.h"

#define PAGE 4096
#define PAGES 100
#define FRAME (PAGE + 24)
#define SIZE (PAGES * FRAME)

struct file {
	sqlite3_file *f;            /* a temporary one of SQLite's own system layer; owned */
	struct sqlite_window w;
};

static uint8_t expected[SIZE];

static int up(void **state)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	struct file *t = calloc(1, sizeof(*t));
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_EXCLUSIVE | SQLITE_OPEN_DELETEONCLOSE | SQLITE_OPEN_TEMP_JOURNAL;

	assert_non_null(t);
	t->f = calloc(1, (size_t)vfs->szOsFile);
	assert_non_null(t->f);
	assert_int_equal(vfs->xOpen(vfs, NULL, t->f, flags, NULL), SQLITE_OK);
	for (size_t i = 0; i < SIZE; i++)
		expected[i] = (uint8_t)(i * 31 + i / PAGE * 7);
	for (int i = 0; i < PAGES; i++)         /* it takes less than 128 KiB at a time */
		assert_int_equal(t->f->pMethods->xWrite(t->f, expected + i * FRAME, FRAME, i * FRAME), SQLITE_OK);
	*state = t;
	return 0;
}

static int down(void **state)
{
	struct file *t = *state;

	t->f->pMethods->xClose(t->f);
	free(t->f);
	free(t->w.data);
	free(t);
	return 0;
}

static void assert_reads(struct file *t, int n, sqlite3_int64 at)
{
	uint8_t got[PAGE];

	assert_int_equal(sqlite_window_read(&t->w, t->f, t->f->pMethods, got, n, at), SQLITE_OK);
	assert_memory_equal(got, expected + at, n);
}

static void write_byte(struct file *t, sqlite3_int64 at)
{
	expected[at] ^= 0x55;
	sqlite_window_written(&t->w, 1, at);
	assert_int_equal(t->f->pMethods->xWrite(t->f, expected + at, 1, at), SQLITE_OK);
}

static void pages_in_order_out_of_order_and_over_the_ends_of_windows(void **state)
{
	struct file *t = *state;

	for (int stride = PAGE; stride <= FRAME; stride += FRAME - PAGE)
		for (int i = 0; i < PAGES; i++)
			assert_reads(t, PAGE, i * stride);
	assert_true(t->w.len > 0);
	for (int i = PAGES - 1; i >= 0; i--)
		assert_reads(t, PAGE, i * FRAME);
	for (int i = 0, at = 0; at < SIZE - PAGE; at += 1000 + i++ % 2 * 3096)
		assert_reads(t, 1000 + i % 2 * 3096, at);
}

static void a_single_read_takes_only_what_was_asked_for(void **state)
{
	struct file *t = *state;

	assert_reads(t, PAGE, 5 * PAGE);
	assert_reads(t, PAGE, 9 * PAGE);
	assert_reads(t, PAGE, 2 * PAGE);
	assert_null(t->w.data);
	assert_reads(t, PAGE, 3 * PAGE);
	assert_non_null(t->w.data);
}

static void what_is_written_into_the_window_is_read(void **state)
{
	struct file *t = *state;

	for (int i = 1; i < 3; i++)
		assert_reads(t, PAGE, i * PAGE);
	assert_int_equal(t->w.at, 2 * PAGE);
	assert_true(t->w.len > 10 * PAGE && t->w.len < (PAGES - 10) * PAGE);
	write_byte(t, 3 * PAGE);
	assert_reads(t, PAGE, 3 * PAGE);
	write_byte(t, t->w.at + t->w.len - 1);
	for (int i = 4; i < PAGES; i++)
		assert_reads(t, PAGE, i * PAGE);
	write_byte(t, t->w.at);
	assert_reads(t, PAGE, t->w.at);
}

static void behind_the_end_it_is_as_without_a_window(void **state)
{
	struct file *t = *state;
	uint8_t got[PAGE], plain[PAGE];
	static const int ends[] = { SIZE - PAGE, SIZE - 100, SIZE, SIZE + 50 };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		assert_reads(t, 10, ends[i] < SIZE ? ends[i] - 10 : SIZE - 10);
		t->w.next = ends[i];
		memset(got, 1, sizeof(got));
		memset(plain, 2, sizeof(plain));
		assert_int_equal(sqlite_window_read(&t->w, t->f, t->f->pMethods, got, PAGE, ends[i]), t->f->pMethods->xRead(t->f, plain, PAGE, ends[i]));
		assert_memory_equal(got, plain, PAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(pages_in_order_out_of_order_and_over_the_ends_of_windows, up, down),
		cmocka_unit_test_setup_teardown(a_single_read_takes_only_what_was_asked_for, up, down),
		cmocka_unit_test_setup_teardown(what_is_written_into_the_window_is_read, up, down),
		cmocka_unit_test_setup_teardown(behind_the_end_it_is_as_without_a_window, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
