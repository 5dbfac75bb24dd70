/* test_block.c — blocks of all sizes keep their bytes when they change their size, and large ones go back to the system. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>
#include <sys/mman.h>

#include "base/block.h"

#define MIB ((size_t)1 << 20)

static void fill(uint8_t *p, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		p[i] = (uint8_t)(i * 7 + i / 4096);
}

static bool holds(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] != (uint8_t)(i * 7 + i / 4096))
			return false;
	}
	return true;
}

static void bytes_stay_through_every_change_of_size(void **state)
{
	static const size_t sizes[] = { 1, 100, MIB, 2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 9 * MIB, 64 * MIB, 64 * MIB + 5, 3 * MIB, 2 * MIB - 1, 4000, 2 * MIB, 7 };
	size_t size = 0, filled = 0;
	uint8_t *p = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p = block_resize(p, size, sizes[i]);
		assert_non_null(p);
		filled = filled < sizes[i] ? filled : sizes[i];
		assert_true(holds(p, filled));
		fill(p, filled, sizes[i]);
		filled = size = sizes[i];
	}
	block_free(p, size);
	block_free(NULL, 0);
}

static void what_no_system_has_is_refused_and_harms_nothing(void **state)
{
	uint8_t *p = block_resize(NULL, 0, 5 * MIB);

	(void)state;
	assert_non_null(p);
	fill(p, 0, 5 * MIB);
#ifndef __SANITIZE_ADDRESS__            /* whose malloc would end the program */
	assert_null(block_resize(p, 5 * MIB, SIZE_MAX / 4));
	assert_null(block_resize(p, 5 * MIB, SIZE_MAX - 10));
	assert_null(block_resize(NULL, 0, SIZE_MAX - 10));
#endif
	assert_true(holds(p, 5 * MIB));
	block_free(p, 5 * MIB);
}

/* Under the sanitizer all are malloc's, which keeps freed ones to find their users. */
static void a_large_block_is_the_systems_again_when_it_is_freed(void **state)
{
	uint8_t *p = block_resize(NULL, 0, 4 * MIB);
	uint8_t *page;
	unsigned char in;

	(void)state;
	assert_non_null(p);
	memset(p, 1, 4 * MIB);
	page = (uint8_t *)(((uintptr_t)p + 2 * MIB) & ~(uintptr_t)4095);
	assert_int_equal(mincore(page, 4096, &in), 0);
	block_free(p, 4 * MIB);
#ifndef __SANITIZE_ADDRESS__
	assert_int_equal(mincore(page, 4096, &in), -1);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_stay_through_every_change_of_size),
		cmocka_unit_test(what_no_system_has_is_refused_and_harms_nothing),
		cmocka_unit_test(a_large_block_is_the_systems_again_when_it_is_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
