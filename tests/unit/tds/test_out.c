/* test_out.c — packets as they are cut, lengths filled in across them, taking back, flushing, bounds. */
#include "tds_test.h"

static void packets_are_full_but_the_last(void **state)
{
	uint8_t data[2000];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 13);
	for (size_t n = 0; n < sizeof(data); n += 7) {
		struct tds_out o;
		struct tds_cursor c;
		struct tds_packet p;
		uint8_t id = 1;
		struct buf b;

		tds_out_init(&o, 1 << 20);
		o.packet_size = 512;
		o.spid = 0x1234;
		tds_out_begin(&o, TDS_MSG_RESPONSE);
		tds_put(&o, data, n);
		tds_out_end(&o);
		c = tds_cursor_of(o.wire.data, o.wire.len);
		do {
			const uint8_t *h = c.pos;
			assert_int_equal(tds_get_packet(&c, 512, &p), TDS_OK);
			assert_int_equal(p.type, TDS_MSG_RESPONSE);
			assert_int_equal(h[4] << 8 | h[5], 0x1234);
			assert_int_equal(h[6], id++);
			assert_int_equal(p.flags, tds_left(&c) == 0 ? TDS_STATUS_EOM : 0);
			assert_true(n == 0 || tds_left(&p.body) > 0);
		} while (tds_left(&c) > 0);
		b = payload_of(&o);
		assert_int_equal(b.len, n);
		if (n > 0)
			assert_memory_equal(b.data, data, n);
		buf_fini(&b);
		tds_out_fini(&o);
	}
}

static void small_pieces_give_the_same_packets(void **state)
{
	uint8_t data[1500];
	struct tds_out a, b;

	(void)state;
	memset(data, 'x', sizeof(data));
	tds_out_init(&a, 1 << 20);
	tds_out_init(&b, 1 << 20);
	a.packet_size = b.packet_size = 512;
	tds_out_begin(&a, TDS_MSG_RESPONSE);
	tds_put(&a, data, sizeof(data));
	tds_out_end(&a);
	tds_out_begin(&b, TDS_MSG_RESPONSE);
	for (size_t i = 0; i < sizeof(data); i++)
		tds_put_u8(&b, data[i]);
	tds_out_end(&b);
	assert_int_equal(a.wire.len, b.wire.len);
	assert_memory_equal(a.wire.data, b.wire.data, a.wire.len);
	tds_out_fini(&a);
	tds_out_fini(&b);
}

/* A token at every place of a packet: its length field ends up in one packet or two, and is right. */
static void lengths_are_filled_in_across_packets(void **state)
{
	(void)state;
	for (size_t before = 480; before < 520; before++) {
		struct err e = { .number = 50000, .severity = 16, .state = 1, .line = 7 };
		struct tds_out o;
		struct buf b;

		snprintf(e.text, sizeof(e.text), "text");
		tds_out_init(&o, 1 << 20);
		o.packet_size = 512;
		o.server_name = "S";
		tds_out_begin(&o, TDS_MSG_RESPONSE);
		for (size_t i = 0; i < before; i++)
			tds_put_u8(&o, 0xEE);
		tds_put_message(&o, &e);
		tds_out_end(&o);
		b = payload_of(&o);
		assert_bytes(b.data + before, b.len - before,
			     "AA 18 00 50 C3 00 00 01 10 04 00 'text' 01 'S' 00 07 00 00 00");
		buf_fini(&b);
		tds_out_fini(&o);
	}
}

static void what_has_not_left_can_be_taken_back(void **state)
{
	struct tds_mark start, mark, full;
	struct tds_out o;

	(void)state;
	tds_out_init(&o, 1 << 20);
	o.packet_size = 512;
	start = tds_out_mark(&o);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_u32(&o, 1);
	mark = tds_out_mark(&o);
	for (int i = 0; i < 3000; i++)
		tds_put_u8(&o, 2);
	assert_true(tds_out_rewind(&o, &mark));
	tds_put_u32(&o, 3);
	/* a mark where the packet is exactly full */
	while (o.wire.len < 512)
		tds_put_u8(&o, 4);
	full = tds_out_mark(&o);
	tds_put_u32(&o, 5);
	assert_true(tds_out_rewind(&o, &full));
	assert_true(tds_out_rewind(&o, &full));
	tds_put_u8(&o, 6);
	assert_int_equal(o.wire.len, 512 + 8 + 1);
	assert_true(tds_out_rewind(&o, &mark));
	tds_out_end(&o);
	assert_payload(&o, "01 00 00 00");
	assert_false(tds_out_rewind(&o, &mark));
	assert_false(tds_out_rewind(&o, &start));
	tds_out_fini(&o);
}

static void a_message_can_be_taken_back_whole(void **state)
{
	struct tds_mark start;
	struct tds_out o;

	(void)state;
	tds_out_init(&o, 1 << 20);
	start = tds_out_mark(&o);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_u32(&o, 1);
	assert_true(tds_out_rewind(&o, &start));
	assert_false(o.open);
	assert_int_equal(o.wire.len, 0);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_out_end(&o);
	assert_bytes(o.wire.data, o.wire.len, "04 01 00 08 00 00 01 00");
	tds_out_fini(&o);
}

static void the_bound_is_never_passed(void **state)
{
	(void)state;
	for (size_t max = 0; max < 1100; max += 3) {
		struct tds_mark mark;
		struct tds_out o;

		tds_out_init(&o, max);
		o.packet_size = 512;
		tds_out_begin(&o, TDS_MSG_RESPONSE);
		mark = tds_out_mark(&o);
		for (int i = 0; i < 500; i++)
			tds_put_u32(&o, 0x01020304);
		assert_true(o.wire.failed);
		assert_true(o.wire.len <= max);
		if (max >= 12) { /* an error instead */
			assert_true(tds_out_rewind(&o, &mark));
			assert_false(o.wire.failed);
			tds_put_u32(&o, 9);
			tds_out_end(&o);
			assert_payload(&o, "09 00 00 00");
		} else {
			tds_out_end(&o);
		}
		tds_out_fini(&o);
	}
}

static void exactly_the_bound_fits(void **state)
{
	struct tds_out o;

	(void)state;
	tds_out_init(&o, 512 + 8 + 4);
	o.packet_size = 512;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	for (int i = 0; i < 504 / 4 + 1; i++)
		tds_put_u32(&o, 1);
	tds_out_end(&o);
	assert_false(o.wire.failed);
	assert_int_equal(o.wire.len, 524);
	tds_out_fini(&o);
}

struct taker {
	struct buf got;
	int calls;
	int fail_at;
	bool steal;
};

static int take(struct tds_out *o, void *arg)
{
	struct taker *t = arg;

	if (++t->calls == t->fail_at)
		return -1;
	buf_put(&t->got, o->wire.data, o->wire.len);
	if (t->steal) { /* the whole buffer, leaving an empty one */
		size_t max = o->wire.max;
		buf_fini(&o->wire);
		buf_init(&o->wire, max);
	}
	return 0;
}

static void finished_packets_leave_early(void **state)
{
	(void)state;
	for (int steal = 0; steal < 2; steal++) {
		struct taker t = { .steal = steal };
		struct tds_mark mark;
		struct tds_out o;

		buf_init(&t.got, SIZE_MAX);
		tds_out_init(&o, 4096);
		o.packet_size = 512;
		o.flush = take;
		o.flush_arg = &t;
		o.flush_at = 1024;
		tds_out_begin(&o, TDS_MSG_RESPONSE);
		mark = tds_out_mark(&o);
		for (uint32_t i = 0; i < 5000; i++)
			tds_put_u32(&o, i);
		assert_false(o.wire.failed);
		assert_true(t.calls > 10);
		assert_true(o.wire.len <= 1024 + 512);
		assert_false(tds_out_rewind(&o, &mark));
		tds_out_end(&o);
		buf_put(&t.got, o.wire.data, o.wire.len);
		buf_fini(&o.wire);
		o.wire = t.got;
		struct buf b = payload_of(&o);
		assert_int_equal(b.len, 20000);
		for (uint32_t i = 0; i < 5000; i++)
			assert_int_equal(b.data[4 * i] | b.data[4 * i + 1] << 8, i);
		buf_fini(&b);
		tds_out_fini(&o);
	}
}

static void a_receiver_that_is_gone_fails_the_message(void **state)
{
	struct taker t = { .fail_at = 2 };
	struct tds_mark mark;
	struct tds_out o;

	(void)state;
	buf_init(&t.got, SIZE_MAX);
	tds_out_init(&o, 1 << 20);
	o.packet_size = 512;
	o.flush = take;
	o.flush_arg = &t;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	mark = tds_out_mark(&o);
	for (uint32_t i = 0; i < 5000; i++)
		tds_put_u32(&o, i);
	assert_true(o.wire.failed);
	assert_int_equal(t.calls, 2);
	assert_false(tds_out_rewind(&o, &mark));
	tds_out_end(&o);
	buf_fini(&t.got);
	tds_out_fini(&o);
}

static void nothing_leaves_while_a_length_is_open(void **state)
{
	struct taker t = { 0 };
	struct err e = { .number = 1, .severity = 16 };
	struct tds_out o;

	(void)state;
	buf_init(&t.got, SIZE_MAX);
	memset(e.text, 'x', sizeof(e.text) - 1);
	tds_out_init(&o, 1 << 20);
	o.packet_size = 512;
	o.flush = take;
	o.flush_arg = &t;
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_message(&o, &e); /* over five packets */
	assert_int_equal(t.calls, 0);
	for (int i = 0; i < 600; i++)
		tds_put_u8(&o, 0);
	assert_true(t.calls > 0);
	assert_bytes(t.got.data + 8, 3, "AA 0C 08"); /* 14 + 2 * 1023 */
	tds_out_end(&o);
	buf_fini(&t.got);
	tds_out_fini(&o);
}

static void names_are_cut_to_what_their_count_can_say(void **state)
{
	char name[70000];
	struct tds_out o;
	struct buf b;

	(void)state;
	memset(name, 'n', sizeof(name));
	tds_out_init(&o, 1 << 20);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_put_b_varchar(&o, (struct str){ name, sizeof(name) });
	tds_put_us_varchar(&o, (struct str){ name, sizeof(name) });
	tds_put_b_varchar(&o, STR(""));
	tds_put_b_varchar(&o, (struct str){ NULL, 0 });
	tds_out_end(&o);
	b = payload_of(&o);
	assert_int_equal(b.len, 1 + 510 + 2 + 131070 + 2);
	assert_int_equal(b.data[0], 255);
	assert_bytes(b.data + 511, 2, "FF FF");
	buf_fini(&b);
	tds_out_fini(&o);
}

#define LENT ((size_t)4 << 20) /* values from this size on are */

static const struct tds_wire_type max_binary = { .token = 0xA5, .type = { TYPE_VARBINARY, 0, 0, TYPE_MAX } };

/* An answer of two output values, the first of n bytes, after some bytes and before more of them. */
static void put_answer(struct tds_out *o, const uint8_t *data, size_t n, size_t before, bool lend)
{
	struct value large = value_bytes(max_binary.type, data, n),
		     small = value_bytes(max_binary.type, data, 3);

	tds_out_begin(o, TDS_MSG_RESPONSE);
	for (size_t i = 0; i < before; i++)
		tds_put_u8(o, 0xEE);
	o->lends = lend ? LENT : 0;
	tds_put_returnvalue(o, 0, STR("@large"), &max_binary, &large);
	tds_put_returnvalue(o, 1, STR("@small"), &max_binary, &small);
	o->lends = 0;
	for (int i = 0; i < 300; i++)
		tds_put_us_varchar(o, STR("some text"));
	tds_out_end(o);
}

static uint8_t *new_pattern(size_t n)
{
	uint8_t *data = malloc(n);

	assert_non_null(data);
	for (size_t i = 0; i < n; i++)
		data[i] = (uint8_t)(i * 13 + i / 8000);
	return data;
}

static void a_lent_value_gives_the_same_packets(void **state)
{
	static const size_t sizes[] = { 1000, LENT - 1, LENT, LENT + 7999, LENT + 8001 };
	uint8_t *data = new_pattern(LENT + 9000);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (size_t before = 0; before < 600; before += 97) {
			struct tds_out a, b;

			tds_out_init(&a, 2 * LENT);
			tds_out_init(&b, 2 * LENT);
			a.packet_size = b.packet_size = before % 2 == 0 ? 512 : 4096;
			put_answer(&a, data, sizes[i], before, false);
			put_answer(&b, data, sizes[i], before, true);
			assert_false(a.more);
			assert_int_equal(b.more, sizes[i] >= LENT);
			assert_true(!b.more || b.wire.len < 10000);
			while (b.more && tds_out_more(&b))
				assert_true(b.more);
			assert_false(b.more);
			assert_false(b.wire.failed || b.open);
			assert_int_equal(a.wire.len, b.wire.len);
			assert_memory_equal(a.wire.data, b.wire.data, a.wire.len);
			tds_out_fini(&a);
			tds_out_fini(&b);
		}
	}
	free(data);
}

static int collect(struct tds_out *o, void *arg)
{
	buf_put(arg, o->wire.data, o->wire.len);
	return 0;
}

static void a_lent_value_leaves_while_it_is_written(void **state)
{
	uint8_t *data = new_pattern(LENT + 9000);
	struct tds_out a, b;
	struct buf left;

	(void)state;
	tds_out_init(&a, 2 * LENT);
	tds_out_init(&b, 2 * LENT);
	buf_init(&left, 2 * LENT);
	put_answer(&a, data, LENT, 5, false);
	put_answer(&b, data, LENT, 5, true);
	b.flush = collect;
	b.flush_arg = &left;
	b.flush_at = 20000;
	while (tds_out_more(&b))
		assert_true(b.wire.len < 40000);
	buf_put(&left, b.wire.data, b.wire.len);
	assert_int_equal(left.len, a.wire.len);
	assert_memory_equal(left.data, a.wire.data, left.len);
	b.flush = NULL;
	b.wire.len = 0;
	tds_out_begin(&b, TDS_MSG_RESPONSE); /* and the next message is as ever */
	tds_put_u8(&b, 1);
	tds_out_end(&b);
	assert_payload(&b, "01");
	buf_fini(&left);
	tds_out_fini(&a);
	tds_out_fini(&b);
	free(data);
}

/* All slices that b gives out, one behind the other. */
static void collect_slices(struct tds_out *b, size_t most, struct buf *left)
{
	struct str slices[64];

	while (b->more) {
		size_t n = tds_out_slices(b, slices, most);

		assert_in_range(n, 1, most);
		for (size_t i = 0; i < n; i++)
			buf_put(left, slices[i].p, slices[i].n);
		b->wire.len = 0;
	}
	assert_false(b->wire.failed || b->open || left->failed);
}

static void same_in_slices(const uint8_t *data, size_t n, size_t packet_size, size_t before, size_t most)
{
	struct tds_out a, b;
	struct buf left;

	tds_out_init(&a, 2 * LENT);
	tds_out_init(&b, 2 * LENT);
	buf_init(&left, 2 * LENT);
	a.packet_size = b.packet_size = packet_size;
	put_answer(&a, data, n, before, false);
	put_answer(&b, data, n, before, true);
	collect_slices(&b, most, &left);
	assert_int_equal(left.len, a.wire.len);
	assert_memory_equal(left.data, a.wire.data, left.len);
	tds_out_begin(&b, TDS_MSG_RESPONSE); /* and the next message is as ever */
	tds_put_u8(&b, 1);
	tds_out_end(&b);
	assert_payload(&b, "01");
	buf_fini(&left);
	tds_out_fini(&a);
	tds_out_fini(&b);
}

static void slices_of_a_lent_value_are_the_same_packets(void **state)
{
	static const size_t sizes[] = { LENT, LENT + 7999, LENT + 8001 },
			    packets[] = { 512, 4096, 8008, 32767 };
	uint8_t *data = new_pattern(LENT + 9000);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) * 4; i++) {
		for (size_t most = TDS_SLICES_MIN; most <= 64; most += 24)
			same_in_slices(data, sizes[i / 4], packets[i % 4], i * 97 + most, most);
	}
	free(data);
}

/* With packets of 8012 bytes each takes one chunk and its length: where one of these lies between two packets, all do. */
static void lengths_of_chunks_may_lie_between_packets(void **state)
{
	uint8_t *data = new_pattern(LENT);

	(void)state;
	for (size_t before = 7950; before < 8012; before++)
		same_in_slices(data, LENT, 8012, before, TDS_SLICES_MIN);
	free(data);
}

/* What lies before it may have left already when the rest is taken back. */
static void behind_a_lent_value_marks_hold_and_before_it_they_do_not(void **state)
{
	uint8_t *data = new_pattern(LENT);
	struct value large = value_bytes(max_binary.type, data, LENT);
	struct tds_mark before, behind;
	struct tds_out o, plain;

	(void)state;
	tds_out_init(&o, 2 * LENT);
	tds_out_init(&plain, 2 * LENT);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_out_begin(&plain, TDS_MSG_RESPONSE);
	before = tds_out_mark(&o);
	o.lends = LENT;
	tds_put_returnvalue(&o, 0, STR("@large"), &max_binary, &large);
	tds_put_returnvalue(&plain, 0, STR("@large"), &max_binary, &large);
	behind = tds_out_mark(&o);
	for (int i = 0; i < 9000; i++)
		tds_put_u8(&o, 7);
	assert_true(tds_out_rewind(&o, &behind));
	assert_false(tds_out_rewind(&o, &before));
	tds_put_u32(&o, 8);
	tds_put_u32(&plain, 8);
	tds_out_end(&o);
	tds_out_end(&plain);
	while (tds_out_more(&o))
		;
	assert_int_equal(o.wire.len, plain.wire.len);
	assert_memory_equal(o.wire.data, plain.wire.data, o.wire.len);
	tds_out_fini(&o);
	tds_out_fini(&plain);
	free(data);
}

/* The bound counts what is lent; an answer given up half-way leaves nothing behind. */
static void a_lent_value_is_bounded_as_others(void **state)
{
	uint8_t *data = new_pattern(LENT);

	(void)state;
	for (size_t max = LENT - 5000; max < LENT + 80000; max += 5000) {
		struct tds_out a, b;

		tds_out_init(&a, max);
		tds_out_init(&b, max);
		put_answer(&a, data, LENT, 5, false);
		put_answer(&b, data, LENT, 5, true);
		assert_true(max > LENT || !b.more); /* nothing leaves of what cannot be sent */
		while (b.more && tds_out_more(&b))
			;
		assert_true(a.wire.failed ? b.wire.failed : max < LENT + 40000 || !b.wire.failed);
		tds_out_fini(&a);
		put_answer(&a, data, LENT, 5, true);
		tds_out_fini(&a);
		tds_out_fini(&b);
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_full_but_the_last),
		cmocka_unit_test(slices_of_a_lent_value_are_the_same_packets),
		cmocka_unit_test(lengths_of_chunks_may_lie_between_packets),
		cmocka_unit_test(small_pieces_give_the_same_packets),
		cmocka_unit_test(lengths_are_filled_in_across_packets),
		cmocka_unit_test(what_has_not_left_can_be_taken_back),
		cmocka_unit_test(a_message_can_be_taken_back_whole),
		cmocka_unit_test(the_bound_is_never_passed),
		cmocka_unit_test(exactly_the_bound_fits),
		cmocka_unit_test(finished_packets_leave_early),
		cmocka_unit_test(a_receiver_that_is_gone_fails_the_message),
		cmocka_unit_test(nothing_leaves_while_a_length_is_open),
		cmocka_unit_test(names_are_cut_to_what_their_count_can_say),
		cmocka_unit_test(a_lent_value_gives_the_same_packets),
		cmocka_unit_test(a_lent_value_leaves_while_it_is_written),
		cmocka_unit_test(behind_a_lent_value_marks_hold_and_before_it_they_do_not),
		cmocka_unit_test(a_lent_value_is_bounded_as_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
