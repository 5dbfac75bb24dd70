/* test_out.c — packets as they are cut, lengths filled in across them, taking back, flushing,
 * bounds. */
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
		c = tds_cursor_of(o.wire.bytes.data, o.wire.bytes.len);
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
	assert_int_equal(a.wire.bytes.len, b.wire.bytes.len);
	assert_memory_equal(a.wire.bytes.data, b.wire.bytes.data, a.wire.bytes.len);
	tds_out_fini(&a);
	tds_out_fini(&b);
}

/* A token at every place of a packet: its length field ends up in one packet or two, and is
 * right. */
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
	while (o.wire.bytes.len < 512)
		tds_put_u8(&o, 4);
	full = tds_out_mark(&o);
	tds_put_u32(&o, 5);
	assert_true(tds_out_rewind(&o, &full));
	assert_true(tds_out_rewind(&o, &full));
	tds_put_u8(&o, 6);
	assert_int_equal(o.wire.bytes.len, 512 + 8 + 1);
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
	assert_int_equal(o.wire.bytes.len, 0);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_out_end(&o);
	assert_bytes(o.wire.bytes.data, o.wire.bytes.len, "04 01 00 08 00 00 01 00");
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
		assert_true(o.wire.bytes.failed);
		assert_true(o.wire.bytes.len <= max);
		if (max >= 12) { /* an error instead */
			assert_true(tds_out_rewind(&o, &mark));
			assert_false(o.wire.bytes.failed);
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
	assert_false(o.wire.bytes.failed);
	assert_int_equal(o.wire.bytes.len, 524);
	tds_out_fini(&o);
}

struct taker {
	struct buf got;
	int calls;
	int fail_at;
	bool steal;
};

static int take(struct output *finished, void *arg)
{
	struct taker *t = arg;

	if (++t->calls == t->fail_at)
		return -1;
	buf_put(&t->got, finished->bytes.data, finished->bytes.len);
	if (t->steal) { /* the whole output, leaving an empty one */
		struct output stolen;

		output_move(&stolen, finished);
		output_fini(&stolen);
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
		assert_false(o.wire.bytes.failed);
		assert_true(t.calls > 10);
		assert_true(o.wire.bytes.len <= 1024 + 512);
		assert_false(tds_out_rewind(&o, &mark));
		tds_out_end(&o);
		buf_put(&t.got, o.wire.bytes.data, o.wire.bytes.len);
		output_fini(&o.wire);
		o.wire.bytes = t.got;
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
	assert_true(o.wire.bytes.failed);
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

/* An answer of two output values, the first of n bytes, after some bytes and before more of
 * them. */
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

/* All bytes of the output, made in batches of at most so many pieces; it is empty afterwards. */
static struct buf made_of(struct output *o, size_t max_pieces)
{
	struct output_at at = { 0, 0 };
	struct output batch;
	struct buf got;

	buf_init(&got, 4 * LENT);
	output_init(&batch, 4 * LENT);
	while (output_expand(o, &at, &batch, max_pieces)) {
		struct output_at in_batch = { 0, 0 };
		struct str s;

		assert_in_range(batch.npieces, 1, max_pieces);
		while (output_next(&batch, &in_batch, &s))
			buf_put(&got, s.p, s.n);
		output_reset(&batch, 0);
	}
	assert_false(got.failed);
	output_fini(&batch);
	output_reset(o, 0);
	return got;
}

/* The same answer, with the value copied and lent, is the same bytes. */
static void assert_same_packets(const uint8_t *data, size_t n, size_t packet_size, size_t before,
				size_t max_pieces)
{
	struct tds_out copied, lent;
	struct buf got;

	tds_out_init(&copied, 2 * LENT);
	tds_out_init(&lent, 2 * LENT);
	copied.packet_size = lent.packet_size = packet_size;
	put_answer(&copied, data, n, before, false);
	put_answer(&lent, data, n, before, true);
	assert_false(copied.wire.bytes.failed || lent.wire.bytes.failed || lent.open);
	assert_int_equal(copied.wire.npieces, 0);
	assert_int_equal(lent.lent, n >= LENT);
	assert_true(lent.lent == 0 || lent.wire.bytes.len < 12000 + 2 * packet_size);
	assert_int_equal(output_length(&lent.wire), copied.wire.bytes.len);
	got = made_of(&lent.wire, max_pieces);
	assert_int_equal(lent.lent, 0);
	assert_int_equal(got.len, copied.wire.bytes.len);
	assert_memory_equal(got.data, copied.wire.bytes.data, got.len);
	tds_out_begin(&lent, TDS_MSG_RESPONSE); /* and the next message is as ever */
	tds_put_u8(&lent, 1);
	tds_out_end(&lent);
	assert_payload(&lent, "01");
	buf_fini(&got);
	tds_out_fini(&copied);
	tds_out_fini(&lent);
}

static void a_lent_value_gives_the_same_packets(void **state)
{
	static const size_t sizes[] = { 1000, LENT - 1, LENT, LENT + 7999, LENT + 8000, LENT + 8001 },
			    packets[] = { 512, 4096, 8008, 32767 };
	uint8_t *data = new_pattern(LENT + 9000);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) * 4; i++) {
		for (size_t most = OUTPUT_PIECES_MIN; most <= 64; most += 24)
			assert_same_packets(data, sizes[i / 4], packets[i % 4], i * 97 + most, most);
	}
	free(data);
}

/* With packets of 8012 bytes each takes one chunk and its length: where one of these lies
 * between two packets, all do. */
static void lengths_of_chunks_may_lie_between_packets(void **state)
{
	uint8_t *data = new_pattern(LENT);

	(void)state;
	for (size_t before = 7950; before < 8012; before++)
		assert_same_packets(data, LENT, 8012, before, OUTPUT_PIECES_MIN);
	free(data);
}

/* Marks hold before a lent value and behind it, as long as nothing has left. */
static void a_lent_value_can_be_taken_back(void **state)
{
	uint8_t *data = new_pattern(LENT);
	struct value large = value_bytes(max_binary.type, data, LENT);
	struct tds_mark before, behind;
	struct tds_out o, plain;
	struct buf got;

	(void)state;
	tds_out_init(&o, 2 * LENT); /* so that two of them would not fit */
	tds_out_init(&plain, 2 * LENT);
	tds_out_begin(&o, TDS_MSG_RESPONSE);
	tds_out_begin(&plain, TDS_MSG_RESPONSE);
	tds_put_u32(&o, 5);
	tds_put_u32(&plain, 5);
	before = tds_out_mark(&o);
	o.lends = LENT;
	tds_put_returnvalue(&o, 0, STR("@large"), &max_binary, &large);
	assert_int_equal(o.lent, 1);
	assert_true(tds_out_rewind(&o, &before));
	assert_int_equal(o.lent, 0);
	tds_put_returnvalue(&o, 0, STR("@large"), &max_binary, &large);
	tds_put_returnvalue(&plain, 0, STR("@large"), &max_binary, &large);
	assert_int_equal(o.lent, 1);
	behind = tds_out_mark(&o);
	for (int i = 0; i < 9000; i++)
		tds_put_u8(&o, 7);
	assert_true(tds_out_rewind(&o, &behind));
	tds_put_u32(&o, 8);
	tds_put_u32(&plain, 8);
	tds_out_end(&o);
	tds_out_end(&plain);
	got = made_of(&o.wire, OUTPUT_PIECES_MIN);
	assert_int_equal(got.len, plain.wire.bytes.len);
	assert_memory_equal(got.data, plain.wire.bytes.data, got.len);
	buf_fini(&got);
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
		assert_int_equal(a.wire.bytes.failed, b.wire.bytes.failed);
		assert_true(output_length(&b.wire) <= max);
		tds_out_fini(&a);
		tds_out_fini(&b);
		assert_int_equal(b.lent, 0);
	}
	free(data);
}

/* Where the account has no memory for lending the value is copied, or fails as a copied one does;
 * what was taken is given back. */
static void a_lent_value_is_counted(void **state)
{
	uint8_t *data = new_pattern(LENT);

	(void)state;
	for (size_t limit = 0; limit < 40000; limit += 500) {
		struct budget account;
		struct tds_out o;

		budget_init(&account, NULL, limit);
		tds_out_init(&o, 2 * LENT);
		output_charge(&o.wire, &account);
		put_answer(&o, data, LENT, 5, true);
		assert_true(budget_used(&account) <= limit);
		assert_true(o.wire.bytes.failed || o.lent == 1);
		assert_true(limit < 35000 || !o.wire.bytes.failed);
		tds_out_fini(&o);
		assert_int_equal(o.lent, 0);
		budget_fini(&account);
	}
	free(data);
}

/* Finished packets of an answer that goes on are taken, again and again: in the end all bytes are
 * there, in their order. */
static void finished_packets_can_be_taken(void **state)
{
	uint8_t *data = new_pattern(LENT);

	(void)state;
	for (size_t every = 1; every < 2000; every += 111) {
		struct value large = value_bytes(max_binary.type, data, LENT);
		struct tds_out all, o;
		struct output taken;
		struct tds_mark mark;
		struct buf got, part;
		int times = 0;

		tds_out_init(&all, 2 * LENT);
		tds_out_init(&o, 2 * LENT);
		output_init(&taken, 2 * LENT);
		buf_init(&got, 2 * LENT);
		all.packet_size = o.packet_size = 512;
		tds_out_begin(&all, TDS_MSG_RESPONSE);
		tds_out_begin(&o, TDS_MSG_RESPONSE);
		mark = tds_out_mark(&o);
		for (uint32_t i = 0; i < 3000; i++) {
			tds_put_u32(&all, i);
			tds_put_u32(&o, i);
			if (i == 1500) {
				o.lends = LENT;
				tds_put_returnvalue(&o, 0, STR("@l"), &max_binary, &large);
				tds_put_returnvalue(&all, 0, STR("@l"), &max_binary, &large);
			}
			if (i % every == 0 && tds_out_take_finished(&o, &taken)) {
				part = made_of(&taken, OUTPUT_PIECES_MIN);
				assert_int_equal(part.len % 512, 0);
				buf_put(&got, part.data, part.len);
				buf_fini(&part);
				assert_false(tds_out_rewind(&o, &mark));
				times++;
			}
		}
		assert_true(times > 0);
		tds_out_end(&all);
		tds_out_end(&o);
		part = made_of(&o.wire, OUTPUT_PIECES_MIN);
		buf_put(&got, part.data, part.len);
		assert_int_equal(got.len, all.wire.bytes.len);
		assert_memory_equal(got.data, all.wire.bytes.data, got.len);
		buf_fini(&part);
		buf_fini(&got);
		output_fini(&taken);
		tds_out_fini(&all);
		tds_out_fini(&o);
	}
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_are_full_but_the_last),
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
		cmocka_unit_test(a_lent_value_can_be_taken_back),
		cmocka_unit_test(a_lent_value_is_bounded_as_others),
		cmocka_unit_test(a_lent_value_is_counted),
		cmocka_unit_test(finished_packets_can_be_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
