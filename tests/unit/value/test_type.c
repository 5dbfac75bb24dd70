/* test_type.c — the table of types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "value/type.h"
#include "value/value.h"

static void every_type_has_its_name(void **state)
{
	struct type t;

	(void)state;
	for (int id = TYPE_BIT; id < TYPE_COUNT; id++) {
		const struct type_info *info = type_info((enum type_id)id);

		assert_non_null(info->name);
		assert_true(info->system_type_id != 0);
		assert_true(info->precedence > 0);
		assert_true(type_by_name(str_of(info->name), &t));
		assert_int_equal(t.id, id);
	}
	assert_false(type_by_name(STR("NULL"), &t));
	assert_false(type_by_name(STR("geography"), &t));
	assert_false(type_by_name(STR(""), &t));
	assert_ptr_equal(type_info(TYPE_COUNT), type_info(TYPE_NULL));
}

static void precedence_has_no_ties_but_decimal_and_numeric(void **state)
{
	(void)state;
	for (int a = TYPE_BIT; a < TYPE_COUNT; a++)
		for (int b = a + 1; b < TYPE_COUNT; b++)
			if (!(a == TYPE_DECIMAL && b == TYPE_NUMERIC))
				assert_int_not_equal(type_info((enum type_id)a)->precedence,
						     type_info((enum type_id)b)->precedence);
}

static void check(const char *name, const char *expected, int bytes)
{
	struct type t;
	char text[64];

	assert_true(type_by_name(str_of(name), &t));
	assert_string_equal(type_format(&t, text, sizeof(text)), expected);
	assert_int_equal(type_max_bytes(&t), bytes);
}

static void bare_names_have_their_defaults(void **state)
{
	(void)state;
	check("INTEGER", "int", 4);
	check("dec", "decimal(18,0)", 9);
	check("Numeric", "numeric(18,0)", 9);
	check("double", "float", 8);
	check("character", "char(1)", 1);
	check("varchar", "varchar(1)", 1);
	check("nvarchar", "nvarchar(1)", 2);
	check("sysname", "nvarchar(128)", 256);
	check("rowversion", "binary(8)", 8);
	check("datetime2", "datetime2(7)", 8);
	check("time", "time(7)", 5);
	check("datetimeoffset", "datetimeoffset(7)", 10);
	check("date", "date", 3);
	check("ntext", "ntext", TYPE_MAX);
	check("image", "image", TYPE_MAX);
	check("xml", "xml", TYPE_MAX);
	check("sql_variant", "sql_variant", 8009);
	check("uniqueidentifier", "uniqueidentifier", 16);
	check("smallmoney", "smallmoney", 4);
}

static void sizes_follow_from_the_declaration(void **state)
{
	struct type max = TYPE_LEN(TYPE_VARBINARY, TYPE_MAX), wide = TYPE_LEN(TYPE_NCHAR, 10), t;
	char text[64];

	(void)state;
	assert_string_equal(type_format(&max, text, sizeof(text)), "varbinary(max)");
	assert_int_equal(type_max_bytes(&max), TYPE_MAX);
	assert_true(type_is_max(&max));
	assert_int_equal(type_max_bytes(&wide), 20);
	t = TYPE_NUM(TYPE_DECIMAL, 9, 2);
	assert_int_equal(type_max_bytes(&t), 5);
	t = TYPE_NUM(TYPE_DECIMAL, 28, 2);
	assert_int_equal(type_max_bytes(&t), 13);
	t = TYPE_NUM(TYPE_DECIMAL, 38, 2);
	assert_int_equal(type_max_bytes(&t), 17);
	assert_string_equal(type_format(&t, text, 8), "decimal");
	t = TYPE_NUM(TYPE_DATETIME2, 0, 3);
	assert_int_equal(type_max_bytes(&t), 7);
}

static void values_are_made_and_copied(void **state)
{
	struct value v = value_nvarchar("aé😀"), copy, variant;
	struct arena a;
	struct err e;

	(void)state;
	arena_init(&a, 1 << 16);
	assert_int_equal(v.type.length, 4);
	assert_int_equal(value_nvarchar("").type.length, 1);
	assert_int_equal(value_varchar("abc").type.length, 3);
	assert_int_equal(value_copy(&v, &a, &copy, &e), 0);
	assert_ptr_not_equal(copy.u.s.p, v.u.s.p);
	assert_true(str_eq(copy.u.s, v.u.s));
	variant = value_null(TYPE_OF(TYPE_VARIANT));
	variant.null = false;
	variant.u.variant = &v;
	assert_int_equal(value_copy(&variant, &a, &copy, &e), 0);
	assert_ptr_not_equal(copy.u.variant, &v);
	assert_ptr_not_equal(copy.u.variant->u.s.p, v.u.s.p);
	assert_true(str_eq(copy.u.variant->u.s, v.u.s));
	v = value_int(TYPE_BIGINT, INT64_MIN);
	assert_int_equal(value_copy(&v, &a, &v, &e), 0);
	assert_true(v.u.i == INT64_MIN);
	v = value_null(TYPE_OF(TYPE_XML));
	assert_int_equal(value_copy(&v, &a, &copy, &e), 0);
	assert_true(copy.null);
	arena_fini(&a);
	arena_init(&a, 0);
	v = value_varchar("abc");
	assert_int_equal(value_copy(&v, &a, &copy, &e), -1);
	assert_int_equal(e.number, 701);
	arena_fini(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_has_its_name),
		cmocka_unit_test(precedence_has_no_ties_but_decimal_and_numeric),
		cmocka_unit_test(bare_names_have_their_defaults),
		cmocka_unit_test(sizes_follow_from_the_declaration),
		cmocka_unit_test(values_are_made_and_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
