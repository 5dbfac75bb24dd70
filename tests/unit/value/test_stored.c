/* test_stored.c — what a column may hold for each type: the ends of its range, and what is
 * beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "value/datetime.h"
#include "value/decimal.h"
#include "value/stored.h"

#define TICKS_A_DAY INT64_C(864000000000)

static struct value v;
static struct err err;

/* 0, or the error's number. */
static int32_t integer(enum type_id id, int64_t i)
{
	struct type as = TYPE_OF(id);

	return stored_integer(&as, i, &v, &err) < 0 ? err.number : 0;
}

static void every_integer_type_has_its_ends(void **state)
{
	static const struct {
		enum type_id id;
		int64_t least, most;
	} ends[] = {
		{ TYPE_TINYINT, 0, 255 },
		{ TYPE_SMALLINT, -32768, 32767 },
		{ TYPE_INT, INT32_MIN, INT32_MAX },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		assert_int_equal(integer(ends[i].id, ends[i].least), 0);
		assert_int_equal(v.u.i, ends[i].least);
		assert_int_equal(integer(ends[i].id, ends[i].most), 0);
		assert_int_equal(v.u.i, ends[i].most);
		assert_int_equal(integer(ends[i].id, ends[i].least - 1), 8115);
		assert_int_equal(integer(ends[i].id, ends[i].most + 1), 8115);
	}
	assert_int_equal(integer(TYPE_BIGINT, INT64_MIN), 0);
	assert_int_equal(integer(TYPE_BIGINT, INT64_MAX), 0);
	assert_int_equal(integer(TYPE_BIT, 17), 0);
	assert_int_equal(v.u.i, 1);
	assert_int_equal(integer(TYPE_DATETIME, DATETIME_MAX), 0);
	assert_int_equal(integer(TYPE_DATETIME, DATETIME_MAX + 1), 50010);
	assert_int_equal(integer(TYPE_DATETIME, DATETIME_MIN - 1), 50010);
}

static void a_float_is_cut_and_money_rounded(void **state)
{
	struct type number = TYPE_OF(TYPE_INT), money = TYPE_OF(TYPE_MONEY);

	(void)state;
	assert_int_equal(stored_integer_of_float(&number, -2.7, &v, &err), 0);
	assert_int_equal(v.u.i, -2);
	assert_int_equal(stored_integer_of_float(&money, 2.7, &v, &err), 0);
	assert_int_equal(v.u.i, 3);
	assert_int_equal(stored_integer_of_float(&money, 1e19, &v, &err), -1);
	assert_int_equal(err.number, 8115);
}

static void moments_come_back_and_end_with_the_year_9999(void **state)
{
	static const enum type_id ids[] = { TYPE_DATE, TYPE_TIME, TYPE_DATETIME2 };
	static const int64_t most[] = { DAY_LAST, TICKS_A_DAY - 1,
					(DAY_LAST + INT64_C(1)) * TICKS_A_DAY - 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		struct type as = TYPE_OF(ids[i]);

		for (size_t k = 0; k < 2; k++) {
			v.type = as;
			assert_int_equal(stored_moment(&as, k == 0 ? 0 : most[i], &v, &err), 0);
			assert_int_equal(stored_of_moment(&v), k == 0 ? 0 : most[i]);
		}
		assert_int_equal(stored_moment(&as, -1, &v, &err), -1);
		assert_int_equal(err.number, 50010);
		if (ids[i] == TYPE_TIME)
			continue;
		assert_int_equal(stored_moment(&as, most[i] + 1, &v, &err), -1);
		assert_int_equal(err.number, 8115);
	}
}

static void decimals_fit_their_digits(void **state)
{
	struct type as = TYPE_NUM(TYPE_DECIMAL, 4, 2);

	(void)state;
	assert_int_equal(stored_decimal_of_text(&as, STR("99.99"), &v, &err), 0);
	assert_true(v.u.dec.magnitude == 9999);
	assert_int_equal(stored_decimal_of_float(&as, 12.34, &v, &err), 0);
	assert_true(v.u.dec.magnitude == 1234);
	assert_int_equal(stored_decimal_of_text(&as, STR("100"), &v, &err), -1);
	assert_int_equal(err.number, 8115);
	assert_int_equal(stored_decimal_of_text(&as, STR("ten"), &v, &err), -1);
	assert_int_equal(err.number, 50010);
}

static void a_guid_is_its_bytes_or_its_text(void **state)
{
	struct type as = TYPE_OF(TYPE_GUID);

	(void)state;
	assert_int_equal(stored_guid(&as, STR("0123456789abcdef"), false, &v, &err), 0);
	assert_memory_equal(v.u.guid, "0123456789abcdef", 16);
	assert_int_equal(stored_guid(&as, STR("6F9619FF-8B86-D011-B42D-00C04FC964FF"), true, &v, &err), 0);
	assert_int_equal(stored_guid(&as, STR("0123456789abcdef"), true, &v, &err), -1);
	assert_int_equal(stored_guid(&as, STR("short"), false, &v, &err), -1);
	assert_int_equal(err.number, 50010);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_integer_type_has_its_ends),
		cmocka_unit_test(a_float_is_cut_and_money_rounded),
		cmocka_unit_test(moments_come_back_and_end_with_the_year_9999),
		cmocka_unit_test(decimals_fit_their_digits),
		cmocka_unit_test(a_guid_is_its_bytes_or_its_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
