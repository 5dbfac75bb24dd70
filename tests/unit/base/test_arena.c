/* test_arena.c — memory of one call: alignment, limit, reset. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/arena.h"

static void pieces_are_zeroed_aligned_and_apart(void **state)
{
	struct arena a;
	unsigned char *last = NULL;

	(void)state;
	arena_init(&a, 1 << 20);
	for (size_t n = 0; n < 300; n++) {
		unsigned char *p = arena_alloc(&a, n);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		assert_ptr_not_equal(p, last);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xAA, n);
		last = p;
	}
	arena_fini(&a);
	assert_int_equal(a.used, 0);
}

static void the_limit_holds_to_the_byte(void **state)
{
	struct arena a;
	size_t got = 0;

	(void)state;
	arena_init(&a, 10000);
	while (arena_alloc(&a, 100) != NULL)
		got++;
	assert_true(got > 60 && got < 100);
	assert_true(a.used <= a.limit);
	assert_null(arena_alloc_raw(&a, 5000));
	arena_fini(&a);

	arena_init(&a, 0);
	assert_null(arena_alloc(&a, 1));
	arena_fini(&a);
}

static void sizes_that_wrap_are_refused(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a, SIZE_MAX);
	assert_null(arena_alloc_raw(&a, SIZE_MAX));
	assert_null(arena_alloc_raw(&a, SIZE_MAX - 15));
	assert_null(arena_array(&a, SIZE_MAX / 2, 3));
	assert_null(arena_strndup(&a, "x", SIZE_MAX));
	assert_non_null(arena_array(&a, 10, 8));
	arena_fini(&a);
}

static void a_large_piece_leaves_the_room_of_the_small_ones(void **state)
{
	struct arena a;
	char *first, *large, *second;

	(void)state;
	arena_init(&a, 1 << 22);
	first = arena_alloc(&a, 16);
	large = arena_alloc_raw(&a, 1 << 20);
	second = arena_alloc(&a, 16);
	assert_non_null(large);
	memset(large, 1, 1 << 20);
	assert_ptr_equal(second, first + 16);
	arena_fini(&a);
}

static void reset_gives_all_back_but_one_small_chunk(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a, 1 << 22);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 1000; i++)
			assert_non_null(arena_alloc(&a, 200));
		assert_non_null(arena_alloc_raw(&a, 100000));
		arena_reset(&a);
		assert_true(a.used < 5000);
	}
	arena_fini(&a);
	arena_fini(&a);
}

static void strndup_ends_in_a_nul(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a, 1 << 20);
	assert_string_equal(arena_strndup(&a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(&a, NULL, 0), "");
	arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
		cmocka_unit_test(the_limit_holds_to_the_byte),
		cmocka_unit_test(sizes_that_wrap_are_refused),
		cmocka_unit_test(a_large_piece_leaves_the_room_of_the_small_ones),
		cmocka_unit_test(reset_gives_all_back_but_one_small_chunk),
		cmocka_unit_test(strndup_ends_in_a_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
