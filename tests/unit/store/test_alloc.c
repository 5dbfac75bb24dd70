/* test_alloc.c — the blocks that SQLite gets: large enough, unmixed, whoever frees them, and gone with the thread that kept them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <malloc.h>
#include <pthread.h>

#include "store/sqlite/sqlite_int.h"

#define SIZES 4500                  /* beyond those that are kept */
#define LARGE (5 << 20)

static int up(void **state)
{
	(void)state;
	sqlite_alloc_set_up();
	return sqlite3_initialize();
}

static int down(void **state)
{
	(void)state;
	return sqlite3_shutdown();
}

static uint8_t mark_of(size_t i)
{
	return (uint8_t)(i * 7 + 1);
}

static void *filled(size_t n, size_t mark)
{
	void *p = sqlite3_malloc64(n);

	assert_non_null(p);
	assert_true(sqlite3_msize(p) >= n);
	memset(p, mark_of(mark), n);
	return p;
}

static void assert_filled(const uint8_t *p, size_t n, size_t mark)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], mark_of(mark));
}

/* One block of each size. */
static void take_all(uint8_t *all[SIZES + 1])
{
	for (size_t n = 1; n <= SIZES; n++)
		all[n] = filled(n, n);
}

static void give_all(uint8_t *all[SIZES + 1])
{
	for (size_t n = 1; n <= SIZES; n++) {
		assert_filled(all[n], n, n);
		sqlite3_free(all[n]);
	}
}

static void blocks_do_not_overlap(void **state)
{
	static uint8_t *all[SIZES + 1];

	(void)state;
	for (int round = 0; round < 3; round++) {
		take_all(all);
		give_all(all);
	}
}

static void the_next_of_a_size_is_the_one_that_was_freed(void **state)
{
	void *a = filled(100, 1), *b = filled(400, 2), *again;

	(void)state;
	sqlite3_free(a);
	sqlite3_free(b);
	again = filled(97, 3);
	assert_ptr_equal(again, a);
	sqlite3_free(again);
}

static void a_larger_one_is_not_the_largest_that_is_kept(void **state)
{
	void *largest = filled(4096, 1), *larger;

	(void)state;
	sqlite3_free(largest);
	larger = filled(4100, 2);
	assert_ptr_not_equal(larger, largest);
	sqlite3_free(larger);
}

static void no_more_than_a_few_are_kept(void **state)
{
	void *all[9];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		all[i] = filled(700, i);
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		sqlite3_free(all[i]);
	all[0] = filled(700, 1);
	assert_ptr_equal(all[0], all[7]);
	sqlite3_free(all[0]);
}

static void a_block_grows_and_shrinks_with_its_contents(void **state)
{
	static const size_t sizes[] = { 10, 70, 4000, 4097, 8000, LARGE, 2 * LARGE, 5000, 4096, 65, 64, 1 };
	uint8_t *p = filled(1, 5);
	size_t before = 1;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		p = sqlite3_realloc64(p, sizes[i]);
		assert_non_null(p);
		assert_true(sqlite3_msize(p) >= sizes[i]);
		assert_filled(p, before < sizes[i] ? before : sizes[i], 5);
		memset(p, mark_of(5), sizes[i]);
		before = sizes[i];
	}
	sqlite3_free(p);
}

static void *take_and_free_theirs(void *arg)
{
	uint8_t **theirs = arg;
	static uint8_t *own[SIZES + 1];

	for (int round = 0; round < 3; round++) {
		take_all(own);
		give_all(own);
	}
	give_all(theirs);
	return NULL;
}

static void run_thread(uint8_t **theirs)
{
	pthread_t t;

	take_all(theirs);
	assert_int_equal(pthread_create(&t, NULL, take_and_free_theirs, theirs), 0);
	pthread_join(t, NULL);
}

static void a_thread_may_free_what_another_took_and_leaves_nothing_behind(void **state)
{
	static uint8_t *theirs[SIZES + 1];
	size_t before;

	(void)state;
	run_thread(theirs);
	before = mallinfo2().uordblks;
	for (int i = 0; i < 8; i++)
		run_thread(theirs);
	assert_true(mallinfo2().uordblks < before + 1000000);       /* what one thread keeps is more */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_do_not_overlap),
		cmocka_unit_test(the_next_of_a_size_is_the_one_that_was_freed),
		cmocka_unit_test(a_larger_one_is_not_the_largest_that_is_kept),
		cmocka_unit_test(no_more_than_a_few_are_kept),
		cmocka_unit_test(a_block_grows_and_shrinks_with_its_contents),
		cmocka_unit_test(a_thread_may_free_what_another_took_and_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, up, down);
}
