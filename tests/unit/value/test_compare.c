/* test_compare.c — the order of values, and the type in which two of them meet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

static void pairs_in_order(void **state)
{
	static const struct {
		const char *type_a, *a, *type_b, *b;
		int expected;
	} cases[] = {
		{ "int", "1", "int", "2", -1 },
		{ "tinyint", "200", "bigint", "-5", 1 },
		{ "int", "1", "decimal(9,2)", "1.00", 0 },
		{ "int", "1", "decimal(38,38)", "0.5", 1 },
		{ "bigint", "9007199254740993", "decimal(38,2)", "9007199254740992.99", 1 },
		{ "decimal(9,2)", "1.50", "decimal(9,1)", "1.5", 0 },
		{ "decimal(9,2)", "1.51", "numeric(9,1)", "1.5", 1 },
		{ "decimal(9,2)", "-1.51", "smallmoney", "-1.5", -1 },
		{ "int", "1", "float", "1.5", -1 },
		{ "money", "1.5", "decimal(9,1)", "1.5", 0 },
		{ "bit", "1", "int", "1", 0 },
		{ "varchar(10)", "12", "int", "12", 0 },
		{ "int", "12", "nvarchar(10)", " 13 ", -1 },
		{ "varchar(10)", "abc", "varchar(10)", "ABC", 0 },
		{ "varchar(10)", "abc", "nvarchar(10)", "abc   ", 0 },
		{ "varchar(10)", "abc", "nvarchar(10)", "abd", -1 },
		{ "varchar(10)", "a", "varchar(10)", "ab", -1 },
		{ "varchar(10)", "É", "varchar(10)", "é", 0 },
		{ "varchar(10)", "×", "varchar(10)", "÷", -1 },
		{ "varchar(10)", "e", "varchar(10)", "é", -1 },
		{ "varchar(10)", "_", "varchar(10)", "A", -1 },
		{ "varchar(10)", "9", "varchar(10)", "a", -1 },
		{ "varchar(10)", "", "varchar(10)", "   ", 0 },
		{ "ntext", "a", "varchar(10)", "A", 0 },
		{ "varbinary(4)", "01", "varbinary(4)", "0100", 0 },
		{ "varbinary(4)", "01", "varbinary(4)", "0001", 1 },
		{ "varbinary(4)", "FF", "int", "255", 0 },
		{ "uniqueidentifier", "00000000-0000-0000-0000-000000000001", "varchar(40)",
		  "00000000-0000-0000-0000-000000000002", -1 },
		{ "datetime", "2008-01-31", "varchar(40)", "Jan 31 2008 12:00AM", 0 },
		{ "datetime", "2008-01-31", "date", "2008-01-31", 0 },
		{ "datetime", "2008-01-31 00:00:00.003", "datetime2(7)", "2008-01-31 00:00:00.003", 1 },
		{ "datetimeoffset(0)", "2008-01-31 01:00:00 +01:00", "datetimeoffset(0)",
		  "2008-01-31 00:00:00 +00:00", 0 },
		{ "time(7)", "01:00:00", "time(0)", "00:59:59", 1 },
		{ "date", "2008-01-31", "date", "2008-02-01", -1 },
		{ "float", "-1", "real", "1", -1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value a = value_from(cases[i].type_a, cases[i].a),
			     b = value_from(cases[i].type_b, cases[i].b);
		struct err e;
		int order;

		if (value_compare(&a, &b, &arena, &order, &e) < 0)
			fail_msg("'%s' and '%s': %s", cases[i].a, cases[i].b, e.text);
		if (order != cases[i].expected)
			fail_msg("'%s' and '%s': %d", cases[i].a, cases[i].b, order);
		assert_int_equal(value_compare(&b, &a, &arena, &order, &e), 0);
		assert_int_equal(order, -cases[i].expected);
	}
}

static void what_cannot_be_compared(void **state)
{
	struct value text = value_varchar("abc"), number = value_int(TYPE_INT, 1),
		     xml = value_from("xml", "<a/>");
	struct value guid = value_from("uniqueidentifier", "00000000-0000-0000-0000-000000000001");
	struct err e;
	int order;

	(void)state;
	assert_int_equal(value_compare(&text, &number, &arena, &order, &e), -1);
	assert_int_equal(e.number, 245);
	assert_int_equal(value_compare(&xml, &text, &arena, &order, &e), -1);
	assert_int_equal(e.number, 305);
	assert_int_equal(value_compare(&guid, &number, &arena, &order, &e), -1);
	assert_int_equal(e.number, 206);
	assert_int_equal(value_compare(&guid, &text, &arena, &order, &e), -1);
	assert_int_equal(e.number, 8169);
}

static void variants_compare_as_what_they_hold(void **state)
{
	struct type variant = TYPE_OF(TYPE_VARIANT);
	struct value number = value_int(TYPE_INT, 5), wrapped, text = value_varchar("5");
	struct err e;
	int order;

	(void)state;
	assert_int_equal(value_convert(&number, &variant, CONVERT_ASSIGN, NULL, &arena, &wrapped, &e), 0);
	assert_int_equal(value_compare(&wrapped, &text, &arena, &order, &e), 0);
	assert_int_equal(order, 0);
}

static void common_types(void **state)
{
	static const struct {
		const char *a, *b, *expected;
	} cases[] = {
		{ "int", "bigint", "bigint" },
		{ "int", "varchar(10)", "int" },
		{ "varchar(10)", "varchar(20)", "varchar(20)" },
		{ "char(30)", "varchar(20)", "varchar(30)" },
		{ "varchar(10)", "nvarchar(5)", "nvarchar(10)" },
		{ "varchar(8000)", "nvarchar(5)", "nvarchar(4000)" },
		{ "varchar(max)", "nvarchar(5)", "nvarchar(max)" },
		{ "nvarchar(5)", "ntext", "ntext" },
		{ "binary(3)", "varbinary(9)", "varbinary(9)" },
		{ "decimal(9,2)", "decimal(5,4)", "decimal(11,4)" },
		{ "decimal(9,2)", "int", "decimal(12,2)" },
		{ "decimal(38,2)", "decimal(38,10)", "decimal(38,2)" },
		{ "decimal(9,2)", "float", "float" },
		{ "money", "int", "money" },
		{ "money", "decimal(9,2)", "decimal(19,4)" },
		{ "datetime", "varchar(30)", "datetime" },
		{ "datetime", "datetime2(0)", "datetime2(3)" },
		{ "date", "datetime2(1)", "datetime2(1)" },
		{ "time(3)", "time(5)", "time(5)" },
		{ "uniqueidentifier", "varchar(40)", "uniqueidentifier" },
		{ "xml", "nvarchar(9)", "xml" },
		{ "sql_variant", "int", "sql_variant" },
	};
	struct type nothing = TYPE_OF(TYPE_NULL), t;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct type a = type_from(cases[i].a), b = type_from(cases[i].b);
		char text[64];

		t = type_common(&a, &b);
		if (strcmp(type_format(&t, text, sizeof(text)), cases[i].expected) != 0)
			fail_msg("%s and %s: %s", cases[i].a, cases[i].b, text);
		t = type_common(&b, &a);
		assert_string_equal(type_format(&t, text, sizeof(text)), cases[i].expected);
		t = type_common(&nothing, &a);
		assert_type_equal(&t, &a);
	}
	t = type_common(&nothing, &nothing);
	assert_int_equal(t.id, TYPE_INT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pairs_in_order),
		cmocka_unit_test(what_cannot_be_compared),
		cmocka_unit_test(variants_compare_as_what_they_hold),
		cmocka_unit_test(common_types),
	};

	return cmocka_run_group_tests(tests, arena_begin, arena_end);
}
