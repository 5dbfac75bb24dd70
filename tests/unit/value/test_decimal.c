/* test_decimal.c — exact numbers, against a table that Python's decimal module computed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "value/decimal.h"
#include "value/wide.h"

static const struct {
	char op;
	uint8_t p1, s1;
	const char *a;
	uint8_t p2, s2;
	const char *b;
	uint8_t p, s;
	const char *expected; /* NULL: overflow */
} cases[] = {
#include "decimal_cases.def"
};

static struct value decimal_value(const char *text, uint8_t p, uint8_t s)
{
	struct value v = value_null(TYPE_NUM(TYPE_NUMERIC, p, s));
	int precision, scale;
	struct decimal d;

	v.null = false;
	assert_true(decimal_parse(str_of(text), &d, &precision, &scale, NULL));
	assert_true(decimal_rescale(&d, scale, s, &v.u.dec));
	return v;
}

static void arithmetic_agrees_with_python(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value a = decimal_value(cases[i].a, cases[i].p1, cases[i].s1),
			     b = decimal_value(cases[i].b, cases[i].p2, cases[i].s2);
		struct type t = decimal_result(cases[i].op, &a.type, &b.type);
		char text[DECIMAL_TEXT] = "";
		struct decimal d;
		bool ok;

		if (t.precision != cases[i].p || t.scale != cases[i].s)
			fail_msg("%s %c %s: numeric(%d,%d)", cases[i].a, cases[i].op, cases[i].b, t.precision,
				 t.scale);
		ok = decimal_arith(cases[i].op, &a, &b, &t, &d);
		if (ok != (cases[i].expected != NULL))
			fail_msg("%s %c %s: %d", cases[i].a, cases[i].op, cases[i].b, ok);
		if (!ok)
			continue;
		decimal_format(&d, t.scale, text, sizeof(text));
		if (strcmp(text, cases[i].expected) != 0)
			fail_msg("%s %c %s: %s, not %s", cases[i].a, cases[i].op, cases[i].b, text,
				 cases[i].expected);
	}
}

static void texts_there_and_back(void **state)
{
	static const struct {
		const char *in, *out;
		int precision, scale;
	} good[] = {
		{ "0", "0", 1, 0 },
		{ "-0", "0", 1, 0 },
		{ "-0.00", "0.00", 2, 2 },
		{ "+12.50", "12.50", 4, 2 },
		{ ".5", "0.5", 1, 1 },
		{ "12.", "12", 2, 0 },
		{ "000012", "12", 2, 0 },
		{ "0.000001", "0.000001", 6, 6 },
		{ "-1.05", "-1.05", 3, 2 },
		{ "99999999999999999999999999999999999999", "99999999999999999999999999999999999999", 38, 0 },
		{ "-0.99999999999999999999999999999999999999", "-0.99999999999999999999999999999999999999",
		  38, 38 },
		{ "0.000000000000000000000000000000000000005", "0.00000000000000000000000000000000000001", 38,
		  38 },
		{ "1.00000000000000000000000000000000000005", "1.0000000000000000000000000000000000001", 38,
		  37 },
		{ "1.000000000000000000000000000000000000049999", "1.0000000000000000000000000000000000000",
		  38, 37 },
	};
	static const char *const bad[] = { "",   "+",  "-",   ".",   "1.2.3", "1e3",
					   " 1", "1 ", "0x1", "--1", "1-",    "1,000" };
	char text[DECIMAL_TEXT];
	int precision, scale;
	struct decimal d;
	bool overflow;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_true(decimal_parse(str_of(good[i].in), &d, &precision, &scale, &overflow));
		decimal_format(&d, scale, text, sizeof(text));
		assert_string_equal(text, good[i].out);
		assert_int_equal(precision, good[i].precision);
		assert_int_equal(scale, good[i].scale);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_false(decimal_parse(str_of(bad[i]), &d, &precision, &scale, &overflow));
		assert_false(overflow);
	}
	assert_false(decimal_parse(STR("100000000000000000000000000000000000000"), &d, &precision, &scale,
				   &overflow));
	assert_true(overflow);
}

static void rescaling_rounds_half_away_from_zero(void **state)
{
	struct decimal d = decimal_from_int(-15), r;

	(void)state;
	assert_true(decimal_rescale(&d, 1, 0, &r));
	assert_true(r.magnitude == 2 && r.negative);
	d = decimal_from_int(14);
	assert_true(decimal_rescale(&d, 1, 0, &r));
	assert_true(r.magnitude == 1);
	d = decimal_from_int(-4);
	assert_true(decimal_rescale(&d, 1, 0, &r));
	assert_true(r.magnitude == 0 && !r.negative);
	d = decimal_from_int(10);
	assert_false(decimal_rescale(&d, 0, 37, &r));
	assert_true(decimal_rescale(&d, 0, 36, &r));
}

static void integers_there_and_back(void **state)
{
	static const int64_t values[] = { 0, 1, -1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN };
	int64_t back;
	struct decimal d;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		d = decimal_from_int(values[i]);
		assert_true(decimal_to_int(&d, 0, &back));
		assert_true(back == values[i]);
	}
	d.magnitude++;
	assert_false(decimal_to_int(&d, 0, &back));
	d = decimal_from_int(-199);
	assert_true(decimal_to_int(&d, 2, &back));
	assert_true(back == -1);
}

static void doubles(void **state)
{
	struct decimal d;
	char text[DECIMAL_TEXT];

	(void)state;
	assert_true(decimal_from_double(0.5, 0, &d));
	assert_true(decimal_from_double(-1234.5678, 4, &d));
	decimal_format(&d, 4, text, sizeof(text));
	assert_string_equal(text, "-1234.5678");
	assert_true(decimal_to_double(&d, 4) == -1234.5678);
	assert_true(decimal_from_double(1e37, 0, &d));
	assert_false(decimal_from_double(1e38, 0, &d));
	assert_false(decimal_from_double(1e37, 10, &d));
	assert_false(decimal_from_double(1e308, 0, &d));
	assert_false(decimal_from_double(1.0 / 0.0, 0, &d));
	assert_true(decimal_from_double(1e-300, 10, &d));
	assert_true(d.magnitude == 0);
}

static void order_over_scales(void **state)
{
	struct decimal a = decimal_from_int(15), b = decimal_from_int(150), zero = decimal_from_int(0),
		       n = decimal_from_int(-150);

	(void)state;
	assert_int_equal(decimal_compare(&a, 1, &b, 2), 0);
	assert_int_equal(decimal_compare(&a, 0, &b, 2), 1);
	assert_int_equal(decimal_compare(&n, 2, &b, 2), -1);
	assert_int_equal(decimal_compare(&n, 2, &zero, 30), -1);
	assert_int_equal(decimal_compare(&n, 2, &n, 1), 1);
	assert_int_equal(decimal_compare(&zero, 0, &zero, 38), 0);
}

static void wide_division_undoes_multiplication(void **state)
{
	u128 a = ((u128)UINT64_C(0xFEDCBA9876543210) << 64) | UINT64_C(0x0123456789ABCDEF);

	(void)state;
	for (int shift = 0; shift < 128; shift++) {
		u128 b = ((u128)1 << shift) | 1;
		struct wide product = wide_add(wide_mul(a, b), wide_of(b - 1)), rest, q;

		q = wide_div(product, wide_of(b), &rest);
		assert_true(q.high == 0 && q.low == a);
		assert_true(rest.high == 0 && rest.low == b - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_agrees_with_python),
		cmocka_unit_test(texts_there_and_back),
		cmocka_unit_test(rescaling_rounds_half_away_from_zero),
		cmocka_unit_test(integers_there_and_back),
		cmocka_unit_test(doubles),
		cmocka_unit_test(order_over_scales),
		cmocka_unit_test(wide_division_undoes_multiplication),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
