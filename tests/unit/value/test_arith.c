/* test_arith.c — operators: type and value of the result, or the error number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

static const struct {
	const char *type_a, *a;
	enum value_op op;
	const char *type_b, *b, *type, *expected;
	int number;
} cases[] = {
	{ "int", "2", OP_ADD, "int", "3", "int", "5", 0 },
	{ "int", "7", OP_DIV, "int", "-2", "int", "-3", 0 },
	{ "int", "-7", OP_MOD, "int", "2", "int", "-1", 0 },
	{ "int", "6", OP_AND, "int", "3", "int", "2", 0 },
	{ "int", "6", OP_OR, "tinyint", "3", "int", "7", 0 },
	{ "int", "6", OP_XOR, "bigint", "3", "bigint", "5", 0 },
	{ "bit", "1", OP_AND, "bit", "1", "bit", "1", 0 },
	{ "bit", "1", OP_ADD, "bit", "1", NULL, NULL, 402 },
	{ "int", "2147483647", OP_ADD, "int", "1", NULL, NULL, 8115 },
	{ "int", "-2147483648", OP_DIV, "int", "-1", NULL, NULL, 8115 },
	{ "bigint", "-9223372036854775808", OP_DIV, "bigint", "-1", NULL, NULL, 8115 },
	{ "bigint", "-9223372036854775808", OP_MOD, "bigint", "-1", "bigint", "0", 0 },
	{ "bigint", "9223372036854775807", OP_MUL, "bigint", "2", NULL, NULL, 8115 },
	{ "tinyint", "200", OP_ADD, "tinyint", "100", NULL, NULL, 8115 },
	{ "tinyint", "1", OP_SUB, "tinyint", "2", NULL, NULL, 8115 },
	{ "int", "1", OP_DIV, "int", "0", NULL, NULL, 8134 },
	{ "int", "1", OP_MOD, "int", "0", NULL, NULL, 8134 },
	{ "float", "1", OP_DIV, "float", "0", NULL, NULL, 8134 },
	{ "decimal(9,2)", "1", OP_DIV, "int", "0", NULL, NULL, 8134 },
	{ "money", "1", OP_DIV, "int", "0", NULL, NULL, 8134 },
	{ "int", "1", OP_ADD, "varchar(5)", "2", "int", "3", 0 },
	{ "int", "1", OP_ADD, "varchar(5)", "x", NULL, NULL, 245 },
	{ "decimal(2,1)", "2.0", OP_DIV, "decimal(1,0)", "3", "numeric(7,6)", "0.666666", 0 },
	{ "decimal(5,2)", "1.25", OP_ADD, "int", "1", "numeric(13,2)", "2.25", 0 },
	{ "decimal(5,2)", "1.25", OP_MUL, "decimal(5,2)", "-2.00", "numeric(11,4)", "-2.5000", 0 },
	{ "decimal(5,2)", "7.50", OP_MOD, "decimal(5,2)", "2.00", "numeric(5,2)", "1.50", 0 },
	{ "decimal(38,0)", "99999999999999999999999999999999999999", OP_ADD, "decimal(38,0)", "1", NULL, NULL,
	  8115 },
	{ "money", "1.5", OP_MUL, "money", "1.5", "money", "2.25", 0 },
	{ "money", "1", OP_DIV, "int", "3", "money", "0.33", 0 },
	{ "money", "1", OP_ADD, "int", "3", "money", "4.00", 0 },
	{ "money", "900000000000000", OP_MUL, "int", "100", NULL, NULL, 8115 },
	{ "float", "1", OP_DIV, "int", "4", "float", "0.25", 0 },
	{ "float", "1.5", OP_ADD, "bigint", "2", "float", "3.5", 0 },
	{ "float", "1.5", OP_SUB, "decimal(9,2)", "2", "float", "-0.5", 0 },
	{ "decimal(5,2)", "1", OP_ADD, "tinyint", "2", "numeric(6,2)", "3.00", 0 },
	{ "decimal(5,2)", "1", OP_ADD, "smallint", "2", "numeric(8,2)", "3.00", 0 },
	{ "decimal(5,2)", "1", OP_ADD, "bit", "1", "numeric(6,2)", "2.00", 0 },
	{ "decimal(5,2)", "1", OP_ADD, "smallmoney", "2", "numeric(11,4)", "3.0000", 0 },
	{ "decimal(5,2)", "1", OP_ADD, "varchar(5)", "x", NULL, NULL, 8114 },
	{ "ntext", "a", OP_ADD, "ntext", "b", "ntext", "ab", 0 },
	{ "float", "1e308", OP_MUL, "float", "10", NULL, NULL, 8115 },
	{ "float", "1", OP_MOD, "float", "1", NULL, NULL, 402 },
	{ "real", "1", OP_DIV, "int", "4", "real", "0.25", 0 },
	{ "float", "1", OP_AND, "int", "1", NULL, NULL, 402 },
	{ "varchar(3)", "ab", OP_ADD, "varchar(5)", "cd", "varchar(8)", "abcd", 0 },
	{ "char(3)", "ab ", OP_ADD, "char(2)", "cd", "varchar(5)", "ab cd", 0 },
	{ "varchar(3)", "ab", OP_ADD, "nvarchar(5)", "日", "nvarchar(8)", "ab日", 0 },
	{ "nvarchar(4000)", "ab", OP_ADD, "nvarchar(4000)", "c", "nvarchar(4000)", "abc", 0 },
	{ "nvarchar(max)", "ab", OP_ADD, "nvarchar(4000)", "c", "nvarchar(max)", "abc", 0 },
	{ "varbinary(2)", "01", OP_ADD, "binary(2)", "0203", "varbinary(4)", "010203", 0 },
	{ "varbinary(2)", "01", OP_ADD, "int", "1", "int", "2", 0 },
	{ "varchar(3)", "ab", OP_SUB, "varchar(5)", "cd", NULL, NULL, 402 },
	{ "varchar(3)", "ab", OP_ADD, "varbinary(5)", "01", NULL, NULL, 402 },
	{ "datetime", "2008-01-31", OP_ADD, "int", "1", "datetime", "2008-02-01 00:00:00.000", 0 },
	{ "datetime", "2008-01-31", OP_SUB, "float", "0.5", "datetime", "2008-01-30 12:00:00.000", 0 },
	{ "datetime", "2008-02-01", OP_SUB, "datetime", "2008-01-31", "datetime", "1900-01-02 00:00:00.000",
	  0 },
	{ "datetime", "9999-12-31", OP_ADD, "int", "1", NULL, NULL, 8115 },
	{ "datetime", "2008-01-31", OP_MUL, "int", "1", NULL, NULL, 402 },
	{ "date", "2008-01-31", OP_ADD, "int", "1", NULL, NULL, 402 },
	{ "uniqueidentifier", "00000000-0000-0000-0000-000000000001", OP_ADD, "int", "1", NULL, NULL, 206 },
	{ "int", "NULL", OP_ADD, "int", "1", "int", "NULL", 0 },
	{ "int", "NULL", OP_DIV, "int", "0", "int", "NULL", 0 },
	{ "varchar(3)", "NULL", OP_ADD, "varchar(5)", "x", "varchar(8)", "NULL", 0 },
	{ "decimal(5,2)", "NULL", OP_MUL, "decimal(5,2)", "1", "numeric(11,4)", "NULL", 0 },
};

static void every_case(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value a = value_from(cases[i].type_a, cases[i].a),
			     b = value_from(cases[i].type_b, cases[i].b), ret;
		char type[64];
		struct err e;

		if (value_arith(cases[i].op, &a, &b, &arena, &ret, &e) < 0) {
			if (e.number != cases[i].number)
				fail_msg("%s op %d %s: %d %s", cases[i].a, cases[i].op, cases[i].b,
					 (int)e.number, e.text);
			continue;
		}
		if (cases[i].expected == NULL || strcmp(shown(&ret), cases[i].expected) != 0)
			fail_msg("%s op %d %s: %s", cases[i].a, cases[i].op, cases[i].b, shown(&ret));
		if (cases[i].type[0] == 'n' && type_info(ret.type.id)->has_precision)
			ret.type.id = TYPE_NUMERIC; /* decimal and numeric are one */
		assert_string_equal(type_format(&ret.type, type, sizeof(type)), cases[i].type);
	}
}

static void messages(void **state)
{
	struct value a = value_int(TYPE_INT, INT32_MAX), text = value_varchar("x"), ret;
	struct err e;

	(void)state;
	assert_int_equal(value_arith(OP_MUL, &a, &a, &arena, &ret, &e), -1);
	assert_string_equal(e.text, "Arithmetic overflow error converting expression to data type int.");
	assert_int_equal(value_arith(OP_SUB, &text, &text, &arena, &ret, &e), -1);
	assert_string_equal(e.text,
			    "The data types varchar and varchar are incompatible in the subtract operator.");
}

static void negation(void **state)
{
	static const struct {
		const char *type, *value, *expected;
		int number;
	} lines[] = {
		{ "int", "5", "-5", 0 },
		{ "int", "-2147483648", NULL, 8115 },
		{ "bigint", "-9223372036854775808", NULL, 8115 },
		{ "tinyint", "255", "-255", 0 },
		{ "decimal(5,2)", "1.50", "-1.50", 0 },
		{ "decimal(5,2)", "0", "0.00", 0 },
		{ "money", "1.5", "-1.50", 0 },
		{ "float", "1.5", "-1.5", 0 },
		{ "varchar(5)", "1", NULL, 8117 },
		{ "bit", "1", NULL, 8117 },
		{ "datetime", "2008-01-31", NULL, 8117 },
		{ "int", "NULL", "NULL", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct value v = value_from(lines[i].type, lines[i].value);
		struct err e;

		if (value_negate(&v, &v, &e) < 0)
			assert_int_equal(e.number, lines[i].number);
		else
			assert_string_equal(shown(&v), lines[i].expected);
	}
}

static void untyped_null(void **state)
{
	struct value nothing = value_null(TYPE_OF(TYPE_NULL)), text = value_varchar("x"), ret;
	struct err e;

	(void)state;
	assert_int_equal(value_arith(OP_ADD, &nothing, &nothing, &arena, &ret, &e), 0);
	assert_true(ret.null);
	assert_int_equal(value_arith(OP_ADD, &nothing, &text, &arena, &ret, &e), 0);
	assert_true(ret.null);
	assert_int_equal(ret.type.id, TYPE_VARCHAR);
	assert_int_equal(value_negate(&nothing, &ret, &e), 0);
	assert_true(ret.null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case),
		cmocka_unit_test(messages),
		cmocka_unit_test(negation),
		cmocka_unit_test(untyped_null),
	};

	return cmocka_run_group_tests(tests, arena_begin, arena_end);
}
