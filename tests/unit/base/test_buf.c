/* test_buf.c — the growable buffer: bound, failure that is remembered, consuming. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buf.h"

static void bytes_come_back_in_order(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100000);
	for (int i = 0; i < 5000; i++) {
		buf_put_u8(&b, (uint8_t)i);
		buf_put(&b, "ab", 2);
	}
	assert_false(b.failed);
	assert_int_equal(b.len, 15000);
	for (size_t i = 0; i < 5000; i++) {
		assert_int_equal(b.data[3 * i], (uint8_t)i);
		assert_memory_equal(b.data + 3 * i + 1, "ab", 2);
	}
	buf_consume(&b, 3);
	assert_int_equal(b.len, 14997);
	assert_int_equal(b.data[0], 1);
	buf_consume(&b, 99999);
	assert_int_equal(b.len, 0);
	buf_fini(&b);
}

static void the_bound_is_exact_and_failure_stays(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 10);
	buf_put(&b, "0123456789", 10);
	assert_false(b.failed);
	buf_put(&b, "", 0);
	assert_false(b.failed);
	buf_put_u8(&b, 1);
	assert_true(b.failed);
	buf_reset(&b, 0);
	assert_false(b.failed);
	assert_null(b.data);
	buf_put(&b, "x", 1);
	assert_int_equal(b.len, 1);
	assert_null(buf_reserve(&b, SIZE_MAX));
	assert_true(b.failed);
	buf_put(&b, "y", 1);
	assert_int_equal(b.len, 1);
	buf_fini(&b);
}

static void printf_of_any_length(void **state)
{
	struct buf b;
	char text[1001];

	(void)state;
	memset(text, 'x', 1000);
	text[1000] = '\0';
	buf_init(&b, 20000);
	for (int n = 0; n <= 1000; n += 50)
		buf_printf(&b, "%d:%.*s;", n, n, text);
	assert_false(b.failed);
	assert_memory_equal(b.data, "0:;50:xxx", 9);
	assert_memory_equal(b.data + b.len - 2, "x;", 2);
	buf_fini(&b);

	buf_init(&b, 1000); /* the bound counts the text, not printf's NUL */
	buf_printf(&b, "%s", text);
	assert_false(b.failed);
	assert_int_equal(b.len, 1000);
	buf_printf(&b, "%s", "x");
	assert_true(b.failed);
	buf_fini(&b);
}

static void reset_keeps_small_memory(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 10000);
	buf_put(&b, "abc", 3);
	buf_reset(&b, 4096);
	assert_non_null(b.data);
	assert_int_equal(b.len, 0);
	buf_fini(&b);
}

/* Otherwise a value of 64 MiB may hold twice that. */
static void a_large_buffer_is_little_larger_than_its_bytes(void **state)
{
	static const uint8_t piece[65536] = { 1, 2, 3 };
	struct buf b;

	(void)state;
	buf_init(&b, (size_t)1 << 30);
	for (unsigned i = 0; i < 65 * 16; i++) {
		buf_put(&b, piece, sizeof(piece));
		assert_true(b.cap <= 2 * b.len);
		assert_true(b.len < (size_t)8 << 20 || b.cap <= b.len + b.len / 4);
	}
	assert_false(b.failed);
	assert_int_equal(b.len, (size_t)65 << 20);
	assert_memory_equal(b.data + b.len - sizeof(piece), piece, sizeof(piece));
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_come_back_in_order),
		cmocka_unit_test(the_bound_is_exact_and_failure_stays),
		cmocka_unit_test(printf_of_any_length),
		cmocka_unit_test(reset_keeps_small_memory),
		cmocka_unit_test(a_large_buffer_is_little_larger_than_its_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
