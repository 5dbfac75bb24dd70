/* test_convert.c — T-SQL's conversions, place by place. Each line: from, value, to, expected
 * text or error number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "support.h"

struct line {
	const char *from, *value, *to, *expected;
	int number; /* when expected is NULL */
};

static void run(enum convert_mode mode, const struct line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct line *l = &lines[i];
		struct value v = value_from(l->from, l->value), ret = value_int(TYPE_BIT, 77);
		struct type to = type_from(l->to);
		struct err e = { 0 };
		int rc = value_convert(&v, &to, mode, "@x", &arena, &ret, &e);

		if (l->expected == NULL) {
			if (rc == 0)
				fail_msg("%s '%s' as %s: %s", l->from, l->value, l->to, shown(&ret));
			if (e.number != l->number)
				fail_msg("%s '%s' as %s: %d %s", l->from, l->value, l->to, (int)e.number,
					 e.text);
			assert_int_equal(ret.u.i, 77); /* untouched */
			if (e.number == 8114)
				assert_int_equal(e.state, mode == CONVERT_OUTPUT ? 2 : 5);
			continue;
		}
		if (rc != 0)
			fail_msg("%s '%s' as %s: %d %s", l->from, l->value, l->to, (int)e.number, e.text);
		if (strcmp(shown(&ret), l->expected) != 0)
			fail_msg("%s '%s' as %s: '%s', not '%s'", l->from, l->value, l->to, shown(&ret),
				 l->expected);
		assert_type_equal(&ret.type, &to);
	}
}
#define RUN(mode, lines) run((mode), (lines), ARRAY_LEN(lines))

/* [E-COM-01, E-COM-07, E-STATE-08], clarification 11 */
static void arguments(void **state)
{
	static const struct line lines[] = {
		/* text to integers */
		{ "nvarchar(10)", "", "int", "0", 0 },
		{ "nvarchar(10)", " 12 ", "int", "12", 0 },
		{ "varchar(10)", "-12", "bigint", "-12", 0 },
		{ "varchar(10)", "+12", "smallint", "12", 0 },
		{ "varchar(10)", "12.5", "int", NULL, 8114 },
		{ "varchar(10)", "abc", "int", NULL, 8114 },
		{ "varchar(10)", "1e3", "int", NULL, 8114 },
		{ "varchar(10)", "0x1", "int", NULL, 8114 },
		{ "varchar(10)", "1 2", "int", NULL, 8114 },
		{ "varchar(20)", "2147483647", "int", "2147483647", 0 },
		{ "varchar(20)", "2147483648", "int", NULL, 8114 },
		{ "varchar(20)", "-9223372036854775808", "bigint", "-9223372036854775808", 0 },
		{ "varchar(20)", "9223372036854775808", "bigint", NULL, 8114 },
		{ "varchar(60)", "99999999999999999999999999999999999999999999", "bigint", NULL, 8114 },
		{ "varchar(20)", "256", "tinyint", NULL, 8114 },
		{ "varchar(20)", "-1", "tinyint", NULL, 8114 },
		{ "ntext", "255", "tinyint", "255", 0 },
		/* numbers among themselves */
		{ "int", "70000", "smallint", NULL, 8114 },
		{ "int", "-1", "tinyint", NULL, 8114 },
		{ "bigint", "2147483648", "int", NULL, 8114 },
		{ "bigint", "2147483647", "int", "2147483647", 0 },
		{ "int", "5", "bit", "1", 0 },
		{ "int", "0", "bit", "0", 0 },
		{ "decimal(9,2)", "-12.99", "int", "-12", 0 },
		{ "float", "12.99", "int", "12", 0 },
		{ "float", "1e30", "int", NULL, 8114 },
		{ "money", "1.5", "int", "2", 0 },
		{ "money", "-1.5", "int", "-2", 0 },
		{ "decimal(9,2)", "0.50", "bit", "1", 0 },
		{ "decimal(9,4)", "1.2350", "decimal(9,2)", "1.24", 0 },
		{ "decimal(9,4)", "12345.0000", "decimal(4,0)", NULL, 8114 },
		{ "int", "12345", "decimal(4,0)", NULL, 8114 },
		{ "float", "1.005e2", "decimal(9,2)", "100.50", 0 },
		{ "float", "922337203685478", "money", NULL, 8114 },
		{ "int", "300000", "smallmoney", NULL, 8114 },
		/* text to bit */
		{ "varchar(10)", "TRUE", "bit", "1", 0 },
		{ "varchar(10)", "false", "bit", "0", 0 },
		{ "varchar(10)", " true ", "bit", "1", 0 },
		{ "varchar(10)", "-7", "bit", "1", 0 },
		{ "varchar(10)", "0", "bit", "0", 0 },
		{ "varchar(10)", "", "bit", "0", 0 },
		{ "varchar(10)", "yes", "bit", NULL, 8114 },
		/* text to other numbers */
		{ "varchar(10)", "12.345", "decimal(9,2)", "12.35", 0 },
		{ "varchar(10)", "", "decimal(9,2)", NULL, 8114 },
		{ "varchar(10)", "1e2", "decimal(9,2)", NULL, 8114 },
		{ "varchar(10)", "1e2", "float", "100", 0 },
		{ "varchar(10)", "", "float", "0", 0 },
		{ "varchar(10)", "nan", "float", NULL, 8114 },
		{ "varchar(10)", "inf", "float", NULL, 8114 },
		{ "varchar(10)", "0x10", "float", NULL, 8114 },
		{ "varchar(10)", "1e999", "float", NULL, 8114 },
		{ "varchar(10)", "1e39", "real", NULL, 8114 },
		{ "varchar(20)", "-$1,234.56789", "money", "-1234.57", 0 },
		{ "varchar(20)", "$-5", "money", "-5.00", 0 },
		{ "varchar(20)", "", "money", "0.00", 0 },
		{ "varchar(20)", "1x", "money", NULL, 8114 },
		/* text to GUID */
		{ "nvarchar(40)", "{00112233-4455-6677-8899-aabbccddeeff}", "uniqueidentifier",
		  "00112233-4455-6677-8899-AABBCCDDEEFF", 0 },
		{ "nvarchar(40)", "00112233", "uniqueidentifier", NULL, 8114 },
		{ "nvarchar(40)", "", "uniqueidentifier", NULL, 8114 },
		{ "varbinary(16)", "33221100554477668899AABBCCDDEEFF", "uniqueidentifier",
		  "00112233-4455-6677-8899-AABBCCDDEEFF", 0 },
		{ "varbinary(17)", "33221100554477668899AABBCCDDEEFF00", "uniqueidentifier", NULL, 8114 },
		{ "uniqueidentifier", "00112233-4455-6677-8899-aabbccddeeff", "varbinary(16)",
		  "33221100554477668899AABBCCDDEEFF", 0 },
		{ "uniqueidentifier", "00112233-4455-6677-8899-aabbccddeeff", "nvarchar(36)",
		  "00112233-4455-6677-8899-AABBCCDDEEFF", 0 },
		{ "uniqueidentifier", "00112233-4455-6677-8899-aabbccddeeff", "nvarchar(35)", NULL, 8152 },
		{ "int", "1", "uniqueidentifier", NULL, 8114 },
		{ "uniqueidentifier", "00112233-4455-6677-8899-aabbccddeeff", "int", NULL, 8114 },
		/* text to dates */
		{ "varchar(40)", "Jan 31 2008 01:01:01:000AM", "datetime", "2008-01-31 01:01:01.000", 0 },
		{ "varchar(40)", "Dec 31 9999 11:59:59:997 PM", "datetime", "9999-12-31 23:59:59.997", 0 },
		{ "varchar(40)", "9999-12-31 23:59:59.998", "datetime", "9999-12-31 23:59:59.997", 0 },
		{ "varchar(40)", "9999-12-31 23:59:59.999", "datetime", NULL, 8114 },
		{ "varchar(40)", "2008-01-31T01:01:01.1234", "datetime", NULL, 8114 },
		{ "varchar(40)", "2008-01-31T01:01:01.1234", "datetime2(7)", "2008-01-31 01:01:01.1234000",
		  0 },
		{ "varchar(40)", "2008-01-31T01:01:01.12345678", "datetime2(7)", NULL, 8114 },
		{ "varchar(40)", "2008-01-31T01:01:01Z", "datetime", "2008-01-31 01:01:01.000", 0 },
		{ "varchar(40)", "2008-01-31T01:01:01+01:00", "datetime", NULL, 8114 },
		{ "varchar(40)", "2008-01-31T01:01:01+01:00", "datetime2(0)", "2008-01-31 01:01:01", 0 },
		{ "varchar(40)", "2008-01-31T01:01:01+01:00", "datetimeoffset(0)",
		  "2008-01-31 01:01:01 +01:00", 0 },
		{ "varchar(40)", "1752-12-31", "datetime", NULL, 8114 },
		{ "varchar(40)", "2008-02-30", "datetime", NULL, 8114 },
		{ "varchar(40)", "not a date", "datetime", NULL, 8114 },
		{ "varchar(40)", "", "datetime", "1900-01-01 00:00:00.000", 0 },
		{ "varchar(40)", "2079-06-06 23:59:29", "smalldatetime", "2079-06-06 23:59:00.000", 0 },
		{ "varchar(40)", "2079-06-06 23:59:30", "smalldatetime", NULL, 8114 },
		{ "varchar(40)", "1899-12-31", "smalldatetime", NULL, 8114 },
		/* dates among themselves, and numbers */
		{ "datetime", "2008-01-31 23:59:59.997", "date", "2008-01-31", 0 },
		{ "datetime", "2008-01-31 23:59:59.997", "datetime2(7)", "2008-01-31 23:59:59.9966667", 0 },
		{ "datetime", "2008-01-31 23:59:59.997", "time(3)", "23:59:59.997", 0 },
		{ "datetime2(7)", "2008-01-31 23:59:59.9999999", "datetime", "2008-02-01 00:00:00.000", 0 },
		{ "datetime2(7)", "9999-12-31 23:59:59.9999999", "datetime", NULL, 8114 },
		{ "datetime2(7)", "9999-12-31 23:59:59.9999999", "datetime2(0)", NULL, 8114 },
		{ "datetime2(7)", "2008-01-31 23:59:59.9999999", "datetime2(3)", "2008-02-01 00:00:00.000",
		  0 },
		{ "datetime2(7)", "1600-01-01", "datetime", NULL, 8114 },
		{ "time(7)", "23:59:59.9999999", "time(0)", "00:00:00", 0 },
		{ "time(7)", "10:20:30", "datetime", "1900-01-01 10:20:30.000", 0 },
		{ "date", "2008-01-31", "time(7)", NULL, 8114 },
		{ "datetimeoffset(7)", "2008-01-31 23:00:00 -05:00", "datetime", "2008-01-31 23:00:00.000",
		  0 },
		{ "datetimeoffset(7)", "2008-01-31 23:00:00 -05:00", "datetime2(0)", "2008-01-31 23:00:00",
		  0 },
		{ "datetime", "2008-01-31 23:00:00", "datetimeoffset(0)", "2008-01-31 23:00:00 +00:00", 0 },
		{ "int", "1", "datetime", "1900-01-02 00:00:00.000", 0 },
		{ "float", "-0.5", "datetime", "1899-12-31 12:00:00.000", 0 },
		{ "decimal(9,2)", "1.25", "datetime", "1900-01-02 06:00:00.000", 0 },
		{ "int", "2958464", "datetime", NULL, 8114 },
		{ "int", "-53691", "datetime", NULL, 8114 },
		{ "int", "1", "date", NULL, 8114 },
		{ "datetime", "2008-01-31", "int", NULL, 8114 },
		{ "datetime", "2008-01-31 01:02:03", "varchar(30)", "Jan 31 2008  1:02AM", 0 },
		/* text to text */
		{ "nvarchar(10)", "abc", "varchar(3)", "abc", 0 },
		{ "nvarchar(10)", "abcd", "varchar(3)", NULL, 8152 },
		{ "nvarchar(10)", "abc   ", "varchar(3)", "abc", 0 },
		{ "nvarchar(10)", "ab     ", "varchar(3)", "ab ", 0 },
		{ "nvarchar(10)", "ab  x", "varchar(3)", NULL, 8152 },
		{ "nvarchar(10)", "é€ü", "varchar(3)", "é€ü", 0 },
		{ "nvarchar(10)", "ő", "varchar(3)", NULL, 50004 },
		{ "nvarchar(10)", "日", "text", NULL, 50004 },
		{ "nvarchar(10)", "😀", "char(3)", NULL, 50004 },
		{ "varchar(10)", "日", "varchar(10)", NULL, 50004 },
		{ "nvarchar(10)", "日本", "nvarchar(2)", "日本", 0 },
		{ "nvarchar(10)", "😀", "nvarchar(2)", "😀", 0 },
		{ "nvarchar(10)", "😀", "nvarchar(1)", NULL, 8152 },
		{ "nvarchar(10)", "a😀", "nvarchar(2)", NULL, 8152 },
		{ "nvarchar(10)", "ab", "nchar(4)", "ab  ", 0 },
		{ "nvarchar(10)", "é", "char(3)", "é  ", 0 },
		{ "nvarchar(10)", "", "varchar(3)", "", 0 },
		{ "ntext", "日本", "nvarchar(max)", "日本", 0 },
		{ "int", "12345", "varchar(4)", NULL, 8152 },
		{ "int", "-12345", "nvarchar(6)", "-12345", 0 },
		{ "xml", "<a/>", "nvarchar(max)", "<a/>", 0 },
		/* binary */
		{ "varbinary(10)", "0102", "varbinary(2)", "0102", 0 },
		{ "varbinary(10)", "010200", "varbinary(2)", NULL, 8152 },
		{ "varbinary(10)", "0102", "binary(4)", "01020000", 0 },
		{ "varbinary(10)", "", "varbinary(max)", "", 0 },
		{ "image", "0102", "varbinary(max)", "0102", 0 },
		{ "varchar(10)", "ab", "varbinary(10)", NULL, 8114 },
		{ "nvarchar(10)", "ab", "image", NULL, 8114 },
		{ "int", "258", "varbinary(4)", "00000102", 0 },
		{ "int", "258", "varbinary(2)", "0102", 0 },
		{ "int", "66051", "varbinary(2)", NULL, 8152 },
		{ "int", "258", "binary(6)", "000000000102", 0 },
		{ "varbinary(4)", "0102", "int", "258", 0 },
		{ "varbinary(4)", "FFFFFFFF", "int", "-1", 0 },
		{ "varbinary(4)", "0000", "bit", "0", 0 },
		{ "varbinary(4)", "FF", "tinyint", "255", 0 },
		{ "varbinary(4)", "0102", "float", NULL, 8114 },
		{ "varbinary(4)", "6162", "varchar(4)", "ab", 0 },
		{ "varbinary(4)", "61006200", "nvarchar(4)", "ab", 0 },
		{ "varbinary(4)", "610062", "nvarchar(4)", "ab", 0 },
		{ "varbinary(8)", "00008EAC00107AC0", "datetime", "2000-01-01 01:00:00.000", 0 },
		{ "varbinary(8)", "7FFFFFFF00000000", "datetime", NULL, 8114 },
		/* NULL of any type */
		{ "varchar(10)", "NULL", "varbinary(10)", "NULL", 0 },
		{ "uniqueidentifier", "NULL", "int", "NULL", 0 },
		{ "date", "NULL", "time(7)", "NULL", 0 },
		{ "xml", "NULL", "float", "NULL", 0 },
	};

	(void)state;
	RUN(CONVERT_ARGUMENT, lines);
}

static void assignments(void **state)
{
	static const struct line lines[] = {
		{ "varchar(10)", "abc", "int", NULL, 245 },
		{ "varchar(10)", "abc", "bit", NULL, 245 },
		{ "varchar(10)", "abc", "bigint", NULL, 8114 },
		{ "varchar(10)", "abc", "decimal(9,2)", NULL, 8114 },
		{ "varchar(10)", "abc", "float", NULL, 8114 },
		{ "varchar(10)", "abc", "money", NULL, 235 },
		{ "varchar(10)", "abc", "smallmoney", NULL, 293 },
		{ "varchar(10)", "abc", "uniqueidentifier", NULL, 8169 },
		{ "varchar(10)", "abc", "datetime", NULL, 241 },
		{ "varchar(10)", "abc", "date", NULL, 241 },
		{ "varchar(10)", "abc", "smalldatetime", NULL, 295 },
		{ "varchar(20)", "1700-01-01", "datetime", NULL, 242 },
		{ "varchar(20)", "3000000000", "int", NULL, 248 },
		{ "varchar(20)", "300", "tinyint", NULL, 244 },
		{ "varchar(20)", "99999", "smallint", NULL, 244 },
		{ "varchar(20)", "99999999999999999999", "bigint", NULL, 8115 },
		{ "varchar(20)", "12345", "decimal(4,0)", NULL, 8115 },
		{ "int", "300", "tinyint", NULL, 220 },
		{ "int", "99999", "smallint", NULL, 220 },
		{ "bigint", "3000000000", "int", NULL, 8115 },
		{ "decimal(20,0)", "3000000000", "int", NULL, 8115 },
		{ "float", "1e20", "int", NULL, 232 },
		{ "int", "3000000", "datetime", NULL, 8115 },
		{ "datetime2(7)", "1600-01-01", "datetime", NULL, 242 },
		{ "varchar(10)", "ab", "varbinary(10)", NULL, 257 },
		{ "datetime", "2008-01-31", "int", NULL, 257 },
		{ "xml", "<a/>", "nvarchar(10)", NULL, 257 },
		{ "int", "1", "uniqueidentifier", NULL, 206 },
		{ "int", "1", "date", NULL, 206 },
		{ "date", "2008-01-31", "int", NULL, 206 },
		{ "nvarchar(10)", "abcd", "varchar(3)", "abc", 0 },
		{ "nvarchar(10)", "aőb", "varchar(3)", "a?b", 0 },
		{ "nvarchar(10)", "a😀b", "varchar(10)", "a?b", 0 },
		{ "nvarchar(10)", "a😀b", "nvarchar(2)", "a", 0 },
		{ "varbinary(10)", "010203", "varbinary(2)", "0102", 0 },
		{ "int", "66051", "varbinary(2)", "0203", 0 },
		{ "int", "12345", "varchar(4)", "*", 0 },
		{ "int", "12345", "nvarchar(4)", NULL, 8115 },
		{ "bigint", "12345", "varchar(4)", NULL, 8115 },
		{ "decimal(9,2)", "123.45", "varchar(4)", NULL, 8115 },
		{ "money", "123.45", "varchar(4)", NULL, 234 },
		{ "uniqueidentifier", "00112233-4455-6677-8899-aabbccddeeff", "varchar(35)", NULL, 8170 },
		{ "datetime", "2008-01-31 01:02:03", "varchar(11)", "Jan 31 2008", 0 },
		{ "bit", "1", "varchar(5)", "1", 0 },
		{ "float", "1234567", "varchar(30)", "1.23457e+006", 0 },
		{ "float", "0.00001", "varchar(30)", "1e-005", 0 },
		{ "float", "0.1", "varchar(30)", "0.1", 0 },
		{ "money", "-1234.5678", "varchar(30)", "-1234.57", 0 },
		{ "decimal(5,3)", "-0.050", "varchar(30)", "-0.050", 0 },
	};

	(void)state;
	RUN(CONVERT_ASSIGN, lines);
}

static void casts(void **state)
{
	static const struct line lines[] = {
		{ "varchar(10)", "ab€", "varbinary(10)", "616280", 0 },
		{ "nvarchar(10)", "ab", "varbinary(10)", "61006200", 0 },
		{ "xml", "<a/>", "nvarchar(10)", "<a/>", 0 },
		{ "datetime", "1900-01-02 13:00:00", "int", "2", 0 },
		{ "datetime", "1900-01-02 11:00:00", "int", "1", 0 },
		{ "datetime", "1900-01-02 06:00:00", "float", "1.25", 0 },
		{ "datetime", "2000-01-01 01:00:00", "binary(8)", "00008EAC00107AC0", 0 },
		{ "date", "2000-01-01", "varbinary(10)", "07240B", 0 },
		{ "time(7)", "01:00:00", "varbinary(10)", "070068C46108", 0 },
		{ "varbinary(10)", "07240B", "date", "2000-01-01", 0 },
		{ "varbinary(10)", "070068C46108", "time(0)", "01:00:00", 0 },
		{ "varbinary(10)", "08000000000000", "time(0)", NULL, 241 },
		{ "datetime2(3)", "2000-01-01 01:00:00.5", "varbinary(10)",
		  "0374F03600"
		  "07240B",
		  0 },
		{ "varbinary(10)", "0374F0360007240B", "datetime2(1)", "2000-01-01 01:00:00.5", 0 },
		{ "datetimeoffset(7)", "2000-01-01 02:00:00 +01:00", "varbinary(20)",
		  "070068C46108"
		  "07240B"
		  "3C00",
		  0 },
		{ "varbinary(20)", "070068C4610807240B3C00", "datetimeoffset(0)",
		  "2000-01-01 02:00:00 +01:00", 0 },
		{ "varbinary(20)", "070068C4610807240B4903", "datetimeoffset(0)", NULL, 8115 },
		{ "varbinary(20)", "070068C46108FFFFFF", "datetime2(0)", NULL, 8115 },
		{ "varbinary(20)", "0700C069FFFF07240B", "datetime2(0)", NULL, 8115 },
		{ "varbinary(20)", "070068", "datetime2(0)", NULL, 241 },
		{ "varbinary(20)", "0102", "date", NULL, 241 },
		{ "varbinary(20)", "FFFFFF", "date", NULL, 8115 },
		{ "smalldatetime", "2000-01-01 01:01", "varbinary(8)", "8EAC003D", 0 },
		{ "varbinary(8)", "8EAC003D", "smalldatetime", "2000-01-01 01:01:00.000", 0 },
		{ "varbinary(8)", "FFFE", "smallint", "-2", 0 },
		{ "varbinary(8)", "0102", "decimal(9,2)", NULL, 8114 },
		{ "varchar(10)", "1e+2", "float", "100", 0 },
		{ "money", "1", "varbinary(8)", "0000000000002710", 0 },
		{ "varbinary(8)", "2710", "money", "1.00", 0 },
		{ "float", "1", "varbinary(8)", "3FF0000000000000", 0 },
		{ "real", "1", "varbinary(8)", "3F800000", 0 },
		{ "decimal(5,2)", "-1.25", "varbinary(20)", "050200007D000000", 0 },
		{ "varbinary(20)", "050200007D000000", "decimal(5,1)", "-1.3", 0 },
		{ "int", "1", "date", NULL, 529 },
		{ "uniqueidentifier", "00112233-4455-6677-8899-aabbccddeeff", "int", NULL, 529 },
		{ "varbinary(4)", "01", "uniqueidentifier", "00000001-0000-0000-0000-000000000000", 0 },
	};

	(void)state;
	RUN(CONVERT_CAST, lines);
}

static void outputs(void **state)
{
	static const struct line lines[] = {
		{ "nvarchar(10)", "abcd", "varchar(3)", "abc", 0 },
		{ "nvarchar(10)", "ő", "varchar(3)", "?", 0 },
		{ "int", "300", "tinyint", NULL, 8114 },
		{ "int", "12345", "varchar(3)", NULL, 8114 },
		{ "varbinary(4)", "01020304", "varbinary(2)", "0102", 0 },
		{ "datetime", "2008-01-31", "int", NULL, 8114 },
	};

	(void)state;
	RUN(CONVERT_OUTPUT, lines);
}

static void messages_name_what_they_mean(void **state)
{
	struct type varchar3 = TYPE_LEN(TYPE_VARCHAR, 3), number = TYPE_OF(TYPE_INT),
		    dec = TYPE_NUM(TYPE_DECIMAL, 3, 0);
	struct value v = value_nvarchar("abcd"), ret;
	struct err e;

	(void)state;
	assert_int_equal(value_convert(&v, &varchar3, CONVERT_ARGUMENT, "@id", &arena, &ret, &e), -1);
	assert_string_equal(e.text, "String or binary data would be truncated: @id holds at most 3.");
	assert_int_equal(value_convert(&v, &varchar3, CONVERT_ARGUMENT, NULL, &arena, &ret, &e), -1);
	assert_string_equal(e.text, "String or binary data would be truncated: varchar(3) holds at most 3.");
	assert_int_equal(value_convert(&v, &number, CONVERT_ARGUMENT, "@id", &arena, &ret, &e), -1);
	assert_string_equal(e.text, "Error converting data type nvarchar to int.");
	assert_int_equal(value_convert(&v, &dec, CONVERT_ARGUMENT, "@id", &arena, &ret, &e), -1);
	assert_string_equal(e.text, "Error converting data type nvarchar to numeric.");
	assert_int_equal(value_convert(&v, &number, CONVERT_ASSIGN, NULL, &arena, &ret, &e), -1);
	assert_string_equal(e.text,
			    "Conversion failed when converting the nvarchar value 'abcd' to data type int.");
	v = value_nvarchar("ő");
	assert_int_equal(value_convert(&v, &varchar3, CONVERT_ARGUMENT, "@id", &arena, &ret, &e), -1);
	assert_string_equal(
		e.text, "The value for @id has a character that code page 1252 lacks; nothing was changed.");
	v = value_int(TYPE_BIGINT, INT64_MAX);
	assert_int_equal(value_convert(&v, &number, CONVERT_ASSIGN, NULL, &arena, &ret, &e), -1);
	assert_string_equal(e.text, "Arithmetic overflow error converting expression to data type int.");
	assert_int_equal(value_convert(&v, &number, CONVERT_ASSIGN, NULL, &arena, &ret, NULL), -1);
}

static void xml_remembers_how_to_be_read(void **state)
{
	static const struct {
		const char *from, *text;
		int encoding;
		size_t n;
	} cases[] = {
		{ "nvarchar(100)", "<a>é</a>", XML_UTF8_FROM_UNICODE, 9 },
		{ "nvarchar(100)", "<?xml version='1.0' encoding='utf-8'?><a/>", XML_UTF8_FROM_UNICODE, 42 },
		{ "varchar(100)", "<a>é</a>", XML_UTF8_FROM_UNICODE, 9 },
		{ "varchar(100)", "<?xml version='1.0'?><a>é</a>", XML_UTF8_FROM_UNICODE, 30 },
		{ "varchar(100)", "<?xml version='1.0' encoding='windows-1252'?><a>é</a>", XML_BYTES, 53 },
		{ "text", "<?xml version='1.0' encoding='utf-8'?><a>Ã©</a>", XML_BYTES, 47 },
		{ "varbinary(100)", "3C612F3E", XML_BYTES, 4 },
	};
	struct type xml = TYPE_LEN(TYPE_XML, TYPE_MAX), text = TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX);
	struct value v, ret, back;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		v = value_from(cases[i].from, cases[i].text);
		assert_int_equal(value_convert(&v, &xml, CONVERT_ARGUMENT, "@x", &arena, &ret, &e), 0);
		assert_int_equal(ret.xml_encoding, cases[i].encoding);
		assert_int_equal(ret.u.s.n, cases[i].n);
		assert_int_equal(value_convert(&ret, &xml, CONVERT_ARGUMENT, "@x", &arena, &back, &e), 0);
		assert_int_equal(back.xml_encoding, cases[i].encoding);
		assert_int_equal(value_convert(&ret, &text, CONVERT_CAST, "@x", &arena, &back, &e), 0);
	}
	v = value_text(xml, (struct str){ "\xFF\xFE<\0a\0/\0>\0\xAC\x20", 12 });
	v.xml_encoding = XML_BYTES;
	assert_int_equal(value_convert(&v, &text, CONVERT_ARGUMENT, "@x", &arena, &back, &e), 0);
	assert_string_equal(shown(&back), "<a/>€");
	v = value_text(xml, (struct str){ "\xEF\xBB\xBF<a/>", 7 });
	v.xml_encoding = XML_BYTES;
	assert_int_equal(value_convert(&v, &text, CONVERT_ARGUMENT, "@x", &arena, &back, &e), 0);
	assert_string_equal(shown(&back), "<a/>");
	v = value_text(xml, (struct str){ "<a>\xE9</a>", 8 });
	v.xml_encoding = XML_BYTES;
	assert_int_equal(value_convert(&v, &text, CONVERT_ARGUMENT, "@x", &arena, &back, &e), 0);
	assert_string_equal(shown(&back), "<a>é</a>");
}

static void variants_are_unwrapped_and_wrapped(void **state)
{
	struct type variant = TYPE_OF(TYPE_VARIANT), number = TYPE_OF(TYPE_INT);
	struct value v = value_nvarchar("12"), wrapped, ret;
	struct err e;

	(void)state;
	assert_int_equal(value_convert(&v, &variant, CONVERT_ARGUMENT, "@x", &arena, &wrapped, &e), 0);
	assert_int_equal(wrapped.type.id, TYPE_VARIANT);
	assert_int_equal(wrapped.u.variant->type.id, TYPE_NVARCHAR);
	assert_int_equal(value_convert(&wrapped, &number, CONVERT_ARGUMENT, "@x", &arena, &ret, &e), 0);
	assert_int_equal(ret.u.i, 12);
	assert_int_equal(value_convert(&wrapped, &variant, CONVERT_ARGUMENT, "@x", &arena, &wrapped, &e), 0);
	assert_int_equal(wrapped.u.variant->type.id, TYPE_NVARCHAR);
	v = value_null(TYPE_OF(TYPE_NULL));
	assert_int_equal(value_convert(&v, &number, CONVERT_ARGUMENT, "@x", &arena, &v, &e), 0);
	assert_true(v.null);
	assert_int_equal(v.type.id, TYPE_INT);
}

static void styles_of_convert(void **state)
{
	static const struct {
		const char *from, *value, *to;
		int style;
		const char *expected;
		int number;
	} cases[] = {
		{ "datetime", "2008-01-31 13:00:00", "varchar(30)", 112, "20080131", 0 },
		{ "datetime", "2008-01-31 13:00:00", "varchar(30)", 126, "2008-01-31T13:00:00", 0 },
		{ "datetime", "2008-01-31 13:00:00", "varchar(30)", 77, NULL, 281 },
		{ "varchar(20)", "31/01/2008", "datetime", 103, "2008-01-31 00:00:00.000", 0 },
		{ "varchar(20)", "31/01/2008", "datetime", 101, NULL, 241 },
		{ "varbinary(4)", "1FA0", "varchar(30)", 1, "0x1FA0", 0 },
		{ "varbinary(4)", "1FA0", "nvarchar(30)", 2, "1FA0", 0 },
		{ "varbinary(4)", "6162", "varchar(30)", 0, "ab", 0 },
		{ "varbinary(4)", "6162", "varchar(30)", 3, NULL, 281 },
		{ "varchar(10)", "0x1fa0", "varbinary(10)", 1, "1FA0", 0 },
		{ "varchar(10)", "1fa0", "varbinary(10)", 2, "1FA0", 0 },
		{ "varchar(10)", "1fa", "varbinary(10)", 2, NULL, 8114 },
		{ "varchar(10)", "1fa0", "varbinary(10)", 1, NULL, 8114 },
		{ "varchar(10)", "zz", "varbinary(10)", 2, NULL, 8114 },
		{ "money", "-1234567.891", "varchar(30)", 0, "-1234567.89", 0 },
		{ "money", "-1234567.891", "varchar(30)", 1, "-1,234,567.89", 0 },
		{ "money", "123.891", "varchar(30)", 1, "123.89", 0 },
		{ "money", "-1234567.891", "varchar(30)", 2, "-1234567.8910", 0 },
		{ "money", "1", "varchar(30)", 9, NULL, 281 },
		{ "float", "123.456", "varchar(30)", 1, "1.2345600e+002", 0 },
		{ "float", "0.1", "varchar(30)", 2, "1.000000000000000e-001", 0 },
		{ "float", "0.1", "varchar(30)", 3, "1.0000000000000001e-001", 0 },
		{ "real", "0.1", "varchar(30)", 3, "1.00000001e-001", 0 },
		{ "float", "0.1", "varchar(30)", 9, NULL, 281 },
		{ "varchar(20)", "08.01.31", "date", 2, "2008-01-31", 0 },
		{ "date", "2008-01-31", "varchar(20)", 108, NULL, 281 },
		{ "time(0)", "01:02:03", "varchar(20)", 112, NULL, 281 },
		{ "int", "5", "varchar(30)", 9, "5", 0 },
		{ "int", "5", "varchar(30)", -1, NULL, 281 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value v = value_from(cases[i].from, cases[i].value), ret;
		struct type to = type_from(cases[i].to);
		struct err e;

		if (value_convert_style(&v, &to, cases[i].style, &arena, &ret, &e) < 0) {
			if (cases[i].expected != NULL)
				fail_msg("%s style %d: %s", cases[i].value, cases[i].style, e.text);
			assert_int_equal(e.number, cases[i].number);
			continue;
		}
		if (cases[i].expected == NULL)
			fail_msg("%s style %d: %s", cases[i].value, cases[i].style, shown(&ret));
		assert_string_equal(shown(&ret), cases[i].expected);
	}
}

/* Every type to every type, in every place: an answer or a numbered error, and never more than
 * the target holds. */
static void every_pair_has_an_answer(void **state)
{
	static const char *const texts[] = { "",           "1", "2008-01-31",
					     "abcdefghij", "😀", "00112233-4455-6677-8899-AABBCCDDEEFF" };
	static const char *const names[] = {
		"bit",
		"tinyint",
		"smallint",
		"int",
		"bigint",
		"decimal(5,2)",
		"numeric(38,10)",
		"smallmoney",
		"money",
		"real",
		"float",
		"char(3)",
		"varchar(3)",
		"text",
		"nchar(3)",
		"nvarchar(3)",
		"ntext",
		"xml",
		"binary(3)",
		"varbinary(3)",
		"image",
		"uniqueidentifier",
		"date",
		"time(2)",
		"smalldatetime",
		"datetime",
		"datetime2(2)",
		"datetimeoffset(2)",
		"sql_variant",
	};

	struct arena none;

	(void)state;
	arena_init(&none, 0);
	assert_int_equal(ARRAY_LEN(names), TYPE_COUNT - 1);
	for (size_t t = 0; t < ARRAY_LEN(texts); t++) {
		for (size_t i = 0; i < ARRAY_LEN(names); i++) {
			struct type from = type_from(names[i]);
			struct value source = value_nvarchar(texts[t]), v, ret;
			struct err e;

			if (value_convert(&source, &from, CONVERT_ASSIGN, NULL, &arena, &v, &e) < 0)
				continue;
			for (size_t k = 0; k < ARRAY_LEN(names) * 4; k++) {
				struct type to = type_from(names[k / 4]);

				e.number = 0;
				if (value_convert(&v, &to, (enum convert_mode)(k % 4), NULL, &none, &ret,
						  &e) < 0)
					/* 701 where memory would have been needed */
					assert_true(e.number > 0);
				e.number = 0;
				if (value_convert(&v, &to, (enum convert_mode)(k % 4), NULL, &arena, &ret,
						  &e) < 0) {
					assert_true(e.number > 0 && e.severity == 16);
					continue;
				}
				assert_int_equal(ret.type.id, to.id);
				if (to.length > 0)
					assert_true(ret.u.s.n <= (size_t)to.length * 4);
			}
		}
		arena_reset(&arena);
	}
}

static void lack_of_memory_is_an_error(void **state)
{
	struct type t = TYPE_LEN(TYPE_NCHAR, 4000), hexed = TYPE_LEN(TYPE_VARCHAR, TYPE_MAX);
	struct value v = value_nvarchar("abc"),
		     bytes = value_bytes(TYPE_LEN(TYPE_VARBINARY, 8), "12345678", 8), ret;
	struct arena small;
	struct err e;

	(void)state;
	arena_init(&small, 0);
	assert_int_equal(value_convert(&v, &t, CONVERT_ASSIGN, NULL, &small, &ret, &e), -1);
	assert_int_equal(e.number, 701);
	assert_int_equal(value_convert_style(&bytes, &hexed, 1, &small, &ret, &e), -1);
	assert_int_equal(e.number, 701);
	assert_int_equal(value_convert(&bytes, &hexed, CONVERT_ASSIGN, NULL, &small, &ret, &e), -1);
	assert_int_equal(e.number, 701);
	arena_fini(&small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments),
		cmocka_unit_test(assignments),
		cmocka_unit_test(casts),
		cmocka_unit_test(outputs),
		cmocka_unit_test(messages_name_what_they_mean),
		cmocka_unit_test(xml_remembers_how_to_be_read),
		cmocka_unit_test(variants_are_unwrapped_and_wrapped),
		cmocka_unit_test(styles_of_convert),
		cmocka_unit_test(every_pair_has_an_answer),
		cmocka_unit_test(lack_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, arena_begin, arena_end);
}
