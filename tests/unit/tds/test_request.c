/* test_request.c — ALL_HEADERS, batches and transaction manager requests. */
#include "tds_test.h"

#include "tds/request.h"

#define HEADERS "16 00 00 00 12 00 00 00 02 00 01 02 03 04 05 06 07 08 01 00 00 00"

static struct arena arena;
static int setup(void **state)
{
	(void)state;
	arena_init(&arena, 1 << 20);
	return 0;
}
static int teardown(void **state)
{
	(void)state;
	arena_fini(&arena);
	return 0;
}

/* The number of the error, or 0. */
static int headers(const void *p, size_t n, enum tds_version v, uint64_t *ret, size_t *ret_left)
{
	uint8_t *copy = heap_copy(p, n);
	struct tds_cursor c = tds_cursor_of(copy, n);
	struct err err = { 0 };
	int rc = tds_get_headers(&c, v, ret, &err);

	*ret_left = tds_left(&c);
	free(copy);
	return rc < 0 ? err.number : 0;
}

static int headers_text(const char *s, enum tds_version v, uint64_t *ret, size_t *ret_left)
{
	struct buf b = bytes_of(s);
	int rc = headers(b.data, b.len, v, ret, ret_left);

	buf_fini(&b);
	return rc;
}

static void headers_give_the_descriptor(void **state)
{
	uint64_t d = 1;
	size_t left;

	(void)state;
	assert_int_equal(headers_text(HEADERS "AA BB", TDS_72, &d, &left), 0);
	assert_true(d == UINT64_C(0x0807060504030201));
	assert_int_equal(left, 2);
	assert_int_equal(headers_text("AA BB", TDS_71R1, &d, &left), 0); /* none before 7.2 */
	assert_true(d == 0);
	assert_int_equal(left, 2);
	/* trace header and one of the future around it */
	assert_int_equal(headers_text("3A 00 00 00 1A 00 00 00 03 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C "
				      "0D 0E 0F 00 00 00 00"
				      "12 00 00 00 02 00 01 00 00 00 00 00 00 00 01 00 00 00  0A 00 00 00 77 "
				      "00 01 02 03 04",
				      TDS_74, &d, &left),
			 0);
	assert_true(d == 1);
	assert_int_equal(left, 0);
}

static void bad_headers_are_refused(void **state)
{
	struct buf b = bytes_of(HEADERS);
	uint64_t d;
	size_t left;

	(void)state;
	for (size_t n = 0; n < b.len; n++) {
		assert_int_equal(headers(b.data, n, TDS_74, &d, &left), 4011);
		assert_int_equal(left, n);
	}
	buf_fini(&b);
	assert_int_equal(headers_text("04 00 00 00", TDS_74, &d, &left), 4013);
	assert_int_equal(headers_text("03 00 00 00", TDS_74, &d, &left), 4011);
	assert_int_equal(headers_text("FF FF FF FF", TDS_74, &d, &left), 4011);
	assert_int_equal(headers_text("0A 00 00 00 05 00 00 00 02 00", TDS_74, &d, &left), 4011);
	assert_int_equal(headers_text("0A 00 00 00 06 00 00 00 02 00", TDS_74, &d, &left), 4011);
	assert_int_equal(headers_text("0A 00 00 00 06 00 00 00 01 00", TDS_74, &d, &left), 4013);
	assert_int_equal(headers_text("0A 00 00 00 07 00 00 00 01 00", TDS_74, &d, &left), 4011);
}

static int batch(const void *p, size_t n, struct str *ret)
{
	uint8_t *copy = heap_copy(p, n);
	struct tds_cursor c = tds_cursor_of(copy, n);
	struct err err = { 0 };
	int rc = tds_get_batch(&c, &arena, ret, &err);

	free(copy);
	return rc < 0 ? err.number : 0;
}

static void a_batch_is_text(void **state)
{
	struct buf b = bytes_of("'select ' E9 00 3D D8 00 DE 00 D8"); /* é, 😀, half a character */
	struct str s;

	(void)state;
	assert_int_equal(batch(b.data, b.len, &s), 0);
	assert_string_equal(s.p, "select \xC3\xA9\xF0\x9F\x98\x80\xED\xA0\x80");
	assert_int_equal(batch(b.data, b.len - 1, &s), 4002);
	assert_int_equal(batch(b.data, 0, &s), 0);
	assert_int_equal(s.n, 0);
	buf_fini(&b);
}

/* Past the size where the length is measured first, pairs at every place. */
static void a_long_batch_is_text_too(void **state)
{
	struct buf b;
	struct str s;

	(void)state;
	for (size_t shift = 0; shift < 4; shift++) {
		buf_init(&b, 1 << 20);
		for (size_t i = 0; i < shift; i++)
			put_bytes(&b, "'x'");
		for (size_t i = 0; i < 40000; i++)
			put_bytes(&b, i % 3 == 0 ? "3D D8 00 DE" : i % 3 == 1 ? "E9 00" : "AC 20");
		assert_int_equal(batch(b.data, b.len, &s), 0);
		assert_int_equal(s.n, shift + 13334 * 4 + 13333 * 2 + 13333 * 3);
		assert_memory_equal(s.p + s.n - 7, "\xE2\x82\xAC\xF0\x9F\x98\x80", 7);
		arena_reset(&arena);
		buf_fini(&b);
	}
}

static int tm(const void *p, size_t n, struct tds_tm *ret)
{
	uint8_t *copy = heap_copy(p, n);
	struct tds_cursor c = tds_cursor_of(copy, n);
	struct err err = { 0 };
	int rc = tds_get_tm(&c, &arena, ret, &err);

	free(copy);
	return rc < 0 ? err.number : 0;
}

static int tm_text(const char *s, struct tds_tm *ret)
{
	struct buf b = bytes_of(s);
	int rc;

	for (size_t n = 0; n < b.len; n++) { /* every truncation */
		rc = tm(b.data, n, ret);
		assert_true(rc == 4002 || (n >= 2 && (b.data[0] < 5 || b.data[0] == 6)));
	}
	rc = tm(b.data, b.len, ret);
	buf_fini(&b);
	return rc;
}

static void transaction_requests_are_read(void **state)
{
	struct tds_tm t;

	(void)state;
	assert_int_equal(tm_text("05 00 02 00", &t), 0);
	assert_int_equal(t.type, TDS_TM_BEGIN);
	assert_int_equal(t.isolation, 2);
	assert_int_equal(t.name.n, 0);
	assert_int_equal(tm_text("05 00 04 06 'abc'", &t), 0);
	assert_string_equal(t.name.p, "abc");
	/* FreeTDS ODBC, pytds: commit and begin again */
	assert_int_equal(tm_text("07 00 00 01 00 00", &t), 0);
	assert_true(t.begin_again);
	assert_int_equal(tm_text("08 00 04 's1' 01 03 02 'n'", &t), 0);
	assert_string_equal(t.name.p, "s1");
	assert_true(t.begin_again && t.new_isolation == 3);
	assert_string_equal(t.new_name.p, "n");
	assert_int_equal(tm_text("08 00 00 00", &t), 0);
	assert_false(t.begin_again);
	assert_int_equal(tm_text("09 00 04 'sp'", &t), 0);
	assert_string_equal(t.name.p, "sp");
	assert_int_equal(tm_text("00 00 00 00", &t), 0);
	assert_int_equal(tm_text("06 00", &t), 0);
	assert_int_equal(t.type, TDS_TM_PROMOTE);
	assert_int_equal(tm("\x09\x00\x03"
			    "abc",
			    6, &t),
			 4002); /* half a character */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(headers_give_the_descriptor), TEST(bad_headers_are_refused),       TEST(a_batch_is_text),
		TEST(a_long_batch_is_text_too),    TEST(transaction_requests_are_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
