/* test_packet.c — packets and messages, in any split. */
#include "tds_test.h"

static const uint8_t attention[] = { 0x06, 0x01, 0x00, 0x08, 0x00, 0x00, 0x01, 0x00 };
static const uint8_t batch[] = { 0x01, 0x09, 0x00, 0x0C, 0x12, 0x34, 0x01, 0x00, 'a', 0, 'b', 0 };

static enum tds_status decode(const uint8_t *p, size_t n, size_t limit, struct tds_packet *ret,
			      size_t *ret_left)
{
	uint8_t *copy = heap_copy(p, n);
	struct tds_cursor c = tds_cursor_of(copy, n);
	enum tds_status st = tds_get_packet(&c, limit, ret);

	*ret_left = tds_left(&c);
	free(copy);
	return st;
}

static void a_packet_is_read_when_it_is_whole(void **state)
{
	struct tds_packet p;
	size_t left;

	(void)state;
	for (size_t n = 0; n < sizeof(batch); n++) {
		assert_int_equal(decode(batch, n, 4096, &p, &left), TDS_MORE);
		assert_int_equal(left, n);
	}
	assert_int_equal(decode(batch, sizeof(batch), 4096, &p, &left), TDS_OK);
	assert_int_equal(left, 0);
	assert_int_equal(p.type, TDS_MSG_BATCH);
	assert_int_equal(p.flags, TDS_STATUS_EOM | TDS_STATUS_RESET);
	assert_int_equal(p.length, 12);
	assert_int_equal(tds_left(&p.body), 4);
}

static void a_header_alone_is_a_packet(void **state)
{
	struct tds_packet p;
	size_t left;

	(void)state;
	assert_int_equal(decode(attention, sizeof(attention), 512, &p, &left), TDS_OK);
	assert_int_equal(tds_left(&p.body), 0);
}

static void bad_lengths_are_refused(void **state)
{
	uint8_t bad[8];
	struct tds_packet p;
	size_t left;

	(void)state;
	memcpy(bad, attention, sizeof(bad));
	bad[3] = 7;
	assert_int_equal(decode(bad, sizeof(bad), 512, &p, &left), TDS_MALFORMED);
	bad[2] = 2, bad[3] = 1; /* 513 */
	assert_int_equal(decode(bad, sizeof(bad), 512, &p, &left), TDS_TOO_BIG);
	bad[2] = 2, bad[3] = 0;
	assert_int_equal(decode(bad, sizeof(bad), 512, &p, &left), TDS_MORE);
}

static struct tds_packet packet(uint8_t type, uint8_t flags, const void *p, size_t n)
{
	return (struct tds_packet){ type, flags, (uint16_t)(n + 8), tds_cursor_of(p, n) };
}

static void any_split_gives_the_same_message(void **state)
{
	uint8_t text[1000];
	uint32_t seed = 7;
	struct tds_message m;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 7);
	tds_message_init(&m, 1 << 20);
	for (int round = 0; round < 50; round++) {
		size_t at = 0;
		while (at < sizeof(text)) {
			size_t n = round == 0 ? 1 : test_random(&seed) % 200;
			bool last;
			if (n > sizeof(text) - at)
				n = sizeof(text) - at;
			last = at + n == sizeof(text);
			struct tds_packet p = packet(
				TDS_MSG_RPC,
				(uint8_t)((last ? TDS_STATUS_EOM : 0) | (at == 0 ? TDS_STATUS_RESET : 0)),
				text + at, n);
			assert_int_equal(tds_message_add(&m, &p), last ? TDS_OK : TDS_MORE);
			assert_int_equal(m.started, !last);
			at += n;
		}
		assert_int_equal(m.type, TDS_MSG_RPC);
		assert_int_equal(m.flags & TDS_STATUS_RESET, TDS_STATUS_RESET);
		assert_int_equal(m.body.len, sizeof(text));
		assert_memory_equal(m.body.data, text, sizeof(text));
	}
	tds_message_fini(&m);
}

static void another_type_in_the_middle_is_malformed(void **state)
{
	struct tds_packet a = packet(TDS_MSG_BATCH, 0, "ab", 2),
			  b = packet(TDS_MSG_RPC, TDS_STATUS_EOM, "cd", 2);
	struct tds_message m;

	(void)state;
	tds_message_init(&m, 100);
	assert_int_equal(tds_message_add(&m, &a), TDS_MORE);
	assert_int_equal(tds_message_add(&m, &b), TDS_MALFORMED);
	tds_message_reset(&m);
	assert_int_equal(tds_message_add(&m, &b), TDS_OK);
	tds_message_fini(&m);
}

static void a_message_past_its_bound_is_read_to_its_end(void **state)
{
	struct tds_packet a = packet(TDS_MSG_BATCH, 0, "0123456789", 10),
			  b = packet(TDS_MSG_BATCH, TDS_STATUS_EOM, "ab", 2);
	struct tds_message m;

	(void)state;
	tds_message_init(&m, 15);
	assert_int_equal(tds_message_add(&m, &a), TDS_MORE);
	assert_int_equal(tds_message_add(&m, &a), TDS_MORE);
	assert_true(m.too_big);
	assert_int_equal(m.body.len, 0);
	assert_int_equal(tds_message_add(&m, &b), TDS_OK);
	assert_true(m.too_big);
	/* the next one is read as if nothing had been */
	assert_int_equal(tds_message_add(&m, &b), TDS_OK);
	assert_false(m.too_big);
	assert_int_equal(m.body.len, 2);
	tds_message_fini(&m);
}

static void the_ignore_bit_counts_with_eom_only(void **state)
{
	struct tds_packet a = packet(TDS_MSG_BATCH, TDS_STATUS_IGNORE, "ab", 2),
			  b = packet(TDS_MSG_BATCH, TDS_STATUS_EOM, "", 0);
	struct tds_packet c = packet(TDS_MSG_BATCH, TDS_STATUS_EOM | TDS_STATUS_IGNORE, "", 0);
	struct tds_message m;

	(void)state;
	tds_message_init(&m, 100);
	assert_int_equal(tds_message_add(&m, &a), TDS_MORE);
	assert_int_equal(tds_message_add(&m, &b), TDS_OK);
	assert_false(m.ignored);
	assert_int_equal(tds_message_add(&m, &a), TDS_MORE);
	assert_int_equal(tds_message_add(&m, &c), TDS_OK);
	assert_true(m.ignored);
	tds_message_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_is_read_when_it_is_whole),
		cmocka_unit_test(a_header_alone_is_a_packet),
		cmocka_unit_test(bad_lengths_are_refused),
		cmocka_unit_test(any_split_gives_the_same_message),
		cmocka_unit_test(another_type_in_the_middle_is_malformed),
		cmocka_unit_test(a_message_past_its_bound_is_read_to_its_end),
		cmocka_unit_test(the_ignore_bit_counts_with_eom_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
