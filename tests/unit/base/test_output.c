/* test_output.c — lists of owned, lent and generated pieces: every order of them arrives as it was
 * put, what is taken back leaves no trace, every source is released once, bounds and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"

#define STEP ((size_t)7) /* lent bytes of a source between two of its own */

static int sources; /* made and not released */
static const char text[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* Makes "<lent>": an owned mark, then bytes that lie in text, as often as there is room. */
struct test_source {
	struct output_source source;
	const char *next;
};

static void make(struct output_source *src, struct output *to, size_t max_pieces)
{
	struct test_source *t = (struct test_source *)src;

	while (src->left > 0 && to->npieces < max_pieces) {
		size_t n = src->left - 1 < STEP ? (size_t)src->left - 1 : STEP;

		buf_put_u8(&to->bytes, '<');
		output_lend(to, (struct str){ t->next, n });
		t->next += n;
		src->left -= n + 1;
	}
}

static void release(struct output_source *src)
{
	sources--;
	free(src);
}

/* n bytes of text, and a mark before each STEP of them. */
static struct test_source *new_source(size_t n)
{
	struct test_source *t = malloc(sizeof(*t));

	assert_non_null(t);
	*t = (struct test_source){ .source = { n + (n + STEP - 1) / STEP, make, release }, .next = text };
	sources++;
	return t;
}

static void put_flat_source(struct buf *flat, size_t n)
{
	for (size_t i = 0; i < n; i += STEP) {
		buf_put_u8(flat, '<');
		buf_put(flat, text + i, n - i < STEP ? n - i : STEP);
	}
}

/* One piece of the kind, and what it is to become. */
static void put_piece(struct output *o, struct buf *flat, int kind, size_t n)
{
	if (kind == 0) {
		buf_put(&o->bytes, text, n);
		buf_put(flat, text, n);
	} else if (kind == 1) {
		output_lend(o, (struct str){ text + 10, n });
		buf_put(flat, text + 10, n);
	} else {
		assert_true(output_generate(o, &new_source(n)->source));
		put_flat_source(flat, n);
	}
}

/* All bytes of o, read in batches of at most max pieces. */
static void assert_reads(const struct output *o, size_t max, const struct buf *want)
{
	struct output_at at = { 0, 0 };
	struct output batch;
	struct buf got;

	buf_init(&got, 1 << 20);
	output_init(&batch, 1 << 20);
	assert_int_equal(output_length(o), want->len);
	while (output_expand(o, &at, &batch, max)) {
		struct output_at in_batch = { 0, 0 };
		struct str s;

		assert_false(batch.bytes.failed);
		while (output_next(&batch, &in_batch, &s))
			buf_put(&got, s.p, s.n);
		output_reset(&batch, 0);
	}
	assert_true(output_at_end(o, &at));
	assert_int_equal(got.len, want->len);
	if (got.len > 0)
		assert_memory_equal(got.data, want->data, got.len);
	output_fini(&batch);
	buf_fini(&got);
}

static void every_order_of_pieces_arrives(void **state)
{
	(void)state;
	for (int code = 0; code < 3 * 3 * 3 * 3 * 3; code++) {
		for (size_t n = 0; n <= 5; n++) {
			struct output o;
			struct buf flat;
			int rest = code;

			output_init(&o, 1 << 20);
			buf_init(&flat, 1 << 20);
			for (size_t i = 0; i < n; i++, rest /= 3)
				put_piece(&o, &flat, rest % 3, 1 + i * 9);
			assert_reads(&o, OUTPUT_PIECES_MIN, &flat);
			output_fini(&o);
			assert_int_equal(sources, 0);
			buf_fini(&flat);
		}
	}
}

/* A source that needs several batches, between others. */
static void a_batch_is_bounded(void **state)
{
	struct output o, batch;
	struct output_at at = { 0, 0 };
	struct buf flat;
	int batches = 0;

	(void)state;
	output_init(&o, 1 << 20);
	buf_init(&flat, 1 << 20);
	for (int i = 0; i < 20; i++)
		put_piece(&o, &flat, 2 - i % 3, 50);
	output_init(&batch, 1 << 20);
	while (output_expand(&o, &at, &batch, OUTPUT_PIECES_MIN)) {
		assert_in_range(batch.npieces, 1, OUTPUT_PIECES_MIN);
		output_reset(&batch, 0);
		batches++;
	}
	assert_in_range(batches, 4, 20);
	assert_int_equal(output_length(&o), flat.len - 7 * (50 + 8)); /* what was made is gone */
	output_fini(&batch);
	output_fini(&o);
	buf_fini(&flat);
	assert_int_equal(sources, 0);
}

static void what_is_taken_back_leaves_no_trace(void **state)
{
	(void)state;
	for (int code = 0; code < 81; code++) {
		for (int keep = 0; keep <= 4; keep++) {
			struct output o;
			struct buf flat, dropped;
			size_t nbytes = 0, npieces = 0;
			int rest = code, kept = 0;

			output_init(&o, 1000);
			buf_init(&flat, 1 << 20);
			buf_init(&dropped, 1 << 20);
			for (int i = 0; i < 4; i++, rest /= 3) {
				if (i == keep) {
					nbytes = o.bytes.len;
					npieces = o.npieces;
				}
				put_piece(&o, i < keep ? &flat : &dropped, rest % 3, 40);
				kept += i < keep && rest % 3 == 2;
			}
			if (keep < 4)
				output_truncate(&o, nbytes, npieces);
			assert_int_equal(sources, kept);
			put_piece(&o, &flat, 0, 5);
			put_piece(&o, &flat, 2, 5);
			assert_reads(&o, OUTPUT_PIECES_MIN, &flat);
			output_fini(&o);
			buf_fini(&flat);
			buf_fini(&dropped);
			assert_int_equal(sources, 0);
		}
	}
}

static void the_bound_is_that_of_all_pieces(void **state)
{
	struct test_source *t;
	struct output o;
	struct buf flat;

	(void)state;
	buf_init(&flat, 1 << 20);
	output_init(&o, 100);
	put_piece(&o, &flat, 0, 20);
	put_piece(&o, &flat, 1, 20);
	put_piece(&o, &flat, 2, 35);
	assert_int_equal(output_length(&o), 80);
	t = new_source(20);
	assert_false(output_generate(&o, &t->source)); /* 23 bytes: nothing has changed */
	release(&t->source);
	assert_false(o.bytes.failed);
	put_piece(&o, &flat, 0, 20);
	assert_int_equal(output_length(&o), 100);
	output_lend(&o, STR("x"));
	assert_true(o.bytes.failed && !o.bytes.denied);
	output_truncate(&o, 20, 1);
	o.bytes.failed = false;
	buf_put(&o.bytes, text, 60);
	assert_false(o.bytes.failed);
	output_reset(&o, 0);
	assert_int_equal(o.bytes.max, 100);
	output_fini(&o);
	buf_fini(&flat);
	assert_int_equal(sources, 0);
}

static void outputs_go_behind_each_other(void **state)
{
	(void)state;
	for (int code = 0; code < 81; code++) {
		struct output a, b;
		struct buf flat;
		int rest = code;

		output_init(&a, 1000);
		output_init(&b, 1000);
		buf_init(&flat, 1 << 20);
		for (int i = 0; i < 4; i++, rest /= 3) {
			put_piece(&b, &flat, rest % 3, 10);
			if (i % 2 == 1) {
				assert_true(output_append(&a, &b));
				assert_int_equal(output_length(&b), 0);
			}
		}
		assert_reads(&a, OUTPUT_PIECES_MIN, &flat);
		output_fini(&a);
		output_fini(&b);
		buf_fini(&flat);
		assert_int_equal(sources, 0);
	}
}

static void an_empty_output_takes_the_memory(void **state)
{
	struct output a, b;
	uint8_t *memory;

	(void)state;
	output_init(&a, 1000);
	output_init(&b, 1000);
	buf_put(&b.bytes, text, 50);
	memory = b.bytes.data;
	assert_true(output_append(&a, &b));
	assert_ptr_equal(a.bytes.data, memory);
	assert_int_equal(b.bytes.len, 0);
	buf_put(&b.bytes, text, 10);
	output_reset(&a, SIZE_MAX);
	assert_true(output_append(&a, &b));
	assert_ptr_equal(b.bytes.data, memory); /* and gives its own for it */
	output_fini(&a);
	output_fini(&b);
}

static void what_cannot_be_appended_stays(void **state)
{
	struct output a, b;
	struct buf flat;

	(void)state;
	output_init(&a, 60);
	output_init(&b, 60);
	buf_init(&flat, 1000);
	put_piece(&a, &flat, 0, 10);
	buf_fini(&flat);
	put_piece(&b, &flat, 2, 42);
	put_piece(&b, &flat, 0, 3);
	assert_false(output_append(&a, &b)); /* 61 bytes */
	assert_int_equal(output_length(&a), 10);
	assert_false(a.bytes.failed);
	assert_reads(&b, OUTPUT_PIECES_MIN, &flat);
	output_fini(&a);
	output_fini(&b);
	buf_fini(&flat);
	assert_int_equal(sources, 0);
}

/* Memory ends at every step: nothing is lost, nothing counted twice. */
static void an_account_that_is_full_is_a_failure(void **state)
{
	(void)state;
	for (size_t limit = 0; limit < 400; limit += 10) {
		struct budget account;
		struct output a, b;
		struct buf flat;
		size_t n;

		budget_init(&account, NULL, limit);
		output_init(&a, 1000);
		output_init(&b, 1000);
		output_charge(&a, &account);
		output_charge(&b, &account);
		buf_init(&flat, 1000);
		for (int i = 0; i < 3; i++)
			put_piece(&a, &flat, 0, 40);
		assert_int_equal(a.bytes.failed, limit < 120);
		if (a.bytes.failed) {
			assert_true(a.bytes.denied);
			output_reset(&a, 0);
		}
		put_piece(&b, &flat, 0, 40);
		n = a.bytes.len;
		if (b.bytes.failed)
			output_reset(&b, 0);
		else if (output_append(&a, &b))
			assert_int_equal(a.bytes.len, n + 40);
		else
			assert_true(a.bytes.len == n && b.bytes.len == 40 && !a.bytes.failed);
		output_fini(&a);
		output_fini(&b);
		buf_fini(&flat);
		budget_fini(&account);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order_of_pieces_arrives),
		cmocka_unit_test(a_batch_is_bounded),
		cmocka_unit_test(what_is_taken_back_leaves_no_trace),
		cmocka_unit_test(the_bound_is_that_of_all_pieces),
		cmocka_unit_test(outputs_go_behind_each_other),
		cmocka_unit_test(an_empty_output_takes_the_memory),
		cmocka_unit_test(what_cannot_be_appended_stays),
		cmocka_unit_test(an_account_that_is_full_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
