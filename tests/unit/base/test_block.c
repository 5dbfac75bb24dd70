/* test_block.c — blocks of all sizes keep their bytes when they change their size, and few of
 * the large ones are kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "base/block.h"

#define MIB ((size_t)1 << 20)

static struct block_spares spares;

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
	static const size_t sizes[] = {
		1,        100,          MIB,     2 * MIB - 1, 2 * MIB, 2 * MIB + 1, 9 * MIB,
		64 * MIB, 64 * MIB + 5, 3 * MIB, 2 * MIB - 1, 4000,    2 * MIB,     7
	};
	size_t size = 0, filled = 0;
	uint8_t *p = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p = block_resize(&spares, p, size, sizes[i]);
		assert_non_null(p);
		filled = filled < sizes[i] ? filled : sizes[i];
		assert_true(holds(p, filled));
		fill(p, filled, sizes[i]);
		filled = size = sizes[i];
	}
	block_free(&spares, p, size);
	block_free(&spares, NULL, 0);
}

static void what_no_system_has_is_refused_and_harms_nothing(void **state)
{
	uint8_t *p = block_resize(&spares, NULL, 0, 5 * MIB);

	(void)state;
	assert_non_null(p);
	fill(p, 0, 5 * MIB);
#ifndef __SANITIZE_ADDRESS__ /* whose malloc would end the program */
	assert_null(block_resize(&spares, p, 5 * MIB, SIZE_MAX / 4));
	assert_null(block_resize(&spares, p, 5 * MIB, SIZE_MAX - 10));
	assert_null(block_resize(&spares, NULL, 0, SIZE_MAX - 10));
#endif
	assert_true(holds(p, 5 * MIB));
	block_free(&spares, p, 5 * MIB);
}

#ifndef __SANITIZE_ADDRESS__ /* there all are malloc's */
static bool is_mapped(const uint8_t *p)
{
	unsigned char in;

	return mincore((void *)((uintptr_t)p & ~(uintptr_t)4095), 1, &in) == 0;
}

static void a_freed_block_is_taken_again_whatever_its_size(void **state)
{
	uint8_t *p = block_resize(&spares, NULL, 0, 30 * MIB), *q, *r;

	(void)state;
	assert_non_null(p);
	fill(p, 0, 30 * MIB);
	block_free(&spares, p, 30 * MIB);
	q = block_resize(&spares, NULL, 0, 5 * MIB);
	assert_ptr_equal(q, p);
	r = block_resize(&spares, NULL, 0, 5 * MIB);
	assert_non_null(r);
	assert_ptr_not_equal(r, p);
	fill(q, 0, 5 * MIB);
	fill(r, 0, 5 * MIB);
	block_free(&spares, q, 5 * MIB);
	block_free(&spares, r, 5 * MIB);
	q = block_resize(&spares, NULL, 0, 50 * MIB); /* larger than both: the larger grows */
	assert_non_null(q);
	fill(q, 0, 50 * MIB);
	assert_true(holds(q, 50 * MIB));
	block_free(&spares, q, 50 * MIB);
}

static void without_spares_nothing_is_kept(void **state)
{
	uint8_t *p = block_resize(NULL, NULL, 0, 5 * MIB);

	(void)state;
	assert_non_null(p);
	fill(p, 0, 5 * MIB);
	block_free(NULL, p, 5 * MIB);
	assert_false(is_mapped(p + 2 * MIB));
}

/* Several large requests at once: what they leave behind is bounded in number and in bytes. */
static void what_is_kept_is_bounded(void **state)
{
	static const size_t sizes[] = { 5 * MIB, 70 * MIB };
	uint8_t *p[12];
	size_t kept;

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < 12; i++) {
			p[i] = block_resize(&spares, NULL, 0, sizes[k]);
			assert_non_null(p[i]);
			p[i][0] = p[i][sizes[k] - 1] = 1;
		}
		kept = 0;
		for (size_t i = 0; i < 12; i++)
			block_free(&spares, p[i], sizes[k]);
		for (size_t i = 0; i < 12; i++)
			kept += is_mapped(p[i] + 2 * MIB);
		assert_in_range(kept, 1, 4);
		assert_in_range(kept * sizes[k], 1, 160 * MIB);
	}
}
#endif

static int spares_up(void **state)
{
	(void)state;
	block_spares_init(&spares);
	return 0;
}

static int spares_down(void **state)
{
	(void)state;
	block_spares_fini(&spares);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_stay_through_every_change_of_size),
		cmocka_unit_test(what_no_system_has_is_refused_and_harms_nothing),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(a_freed_block_is_taken_again_whatever_its_size),
		cmocka_unit_test(without_spares_nothing_is_kept),
		cmocka_unit_test(what_is_kept_is_bounded),
#endif
	};

	return cmocka_run_group_tests(tests, spares_up, spares_down);
}
