/* test_expressions.c — literals, operators, conversions and functions: value and metadata of
 * SELECT expression. */
#include "batch.h"

static void literals(void **state)
{
	(void)state;
	VALUE("1", "int!", "1");
	VALUE("-1", "int!", "-1");
	VALUE("+7", "int!", "7");
	VALUE("-2147483648", "int!", "-2147483648");
	VALUE("2147483648", "numeric(10,0)!", "2147483648");
	VALUE("1.50", "numeric(3,2)!", "1.50");
	VALUE(".5", "numeric(1,1)!", "0.5");
	VALUE("0.0", "numeric(1,1)!", "0.0");
	VALUE("1e2", "float!", "100");
	VALUE("1e", "float!", "1");
	VALUE("$12.34567", "money!", "12.35");
	VALUE("$-1", "money!", "-1.00");
	VALUE("$", "money!", "0.00");
	VALUE("'it''s'", "varchar(4)!", "it's");
	VALUE("N'\xC3\xA9'", "nvarchar(1)!", "\xC3\xA9");
	VALUE("''", "varchar(1)!", "");
	VALUE("0xABC", "varbinary(2)!", "0x0ABC");
	VALUE("0x", "varbinary(1)!", "0x");
	VALUE("NULL", "int", "NULL");
	VALUE("{d '2020-01-02'}", "datetime", "Jan  2 2020 12:00AM");
}

static void operators(void **state)
{
	(void)state;
	VALUE("1 + 2 * 3", "int", "7");
	VALUE("(1 + 2) * 3", "int", "9");
	VALUE("7 / 2", "int", "3");
	VALUE("-7 / 2", "int", "-3");
	VALUE("7 % 3", "int", "1");
	VALUE("7 / 2.0", "numeric(8,6)", "3.500000");
	VALUE("5 & 3", "int", "1");
	VALUE("5 | 3", "int", "7");
	VALUE("5 ^ 3", "int", "6");
	VALUE("~5", "int!", "-6");
	VALUE("- - 1", "int!", "1");
	VALUE("'a' + 'b'", "varchar(2)", "ab");
	VALUE("'a' + N'b'", "nvarchar(2)", "ab");
	VALUE("'5' + 1", "int", "6");
	VALUE("'a' + NULL", "varchar(1)", "NULL");
	VALUE("1 + NULL", "int", "NULL");
	VALUE("0x01 + 0x02", "varbinary(2)", "0x0102");
	VALUE("1.5 + 1", "numeric(3,1)", "2.5");
	VALUE("1.0 / 3", "numeric(7,6)", "0.333333");
	VALUE("-3 / 1.50", "numeric(9,6)", "-2.000000");
	/* the digits before the point are kept, and no more of the fraction is given up for them */
	VALUE("cast(1 as decimal(38,10)) + cast(0.0000000001 as decimal(38,10))", "decimal(38,10)",
	      "1.0000000001");
	FAILS("1 / 0", 8134);
	FAILS("'a' + 1", 245);
	FAILS("2147483647 + 1", 8115);
	VALUE("case 2 when 1 then 'a' when 2 then 'bb' else 'c' end", "varchar(2)", "bb");
	VALUE("case when 1 > 2 then 1 end", "int", "NULL");
	VALUE("case when 1 < 2 then 1 else 2.5 end", "numeric(11,1)", "1.0");
	VALUE("case null when null then 1 else 2 end", "int", "2");
}

#define TRUTH(condition, answer) VALUE("case when " condition " then 1 else 0 end", "int", answer)

static void conditions(void **state)
{
	(void)state;
	TRUTH("1 = 1", "1");
	TRUTH("'a' = 'A '", "1");
	TRUTH("1 <> 1", "0");
	TRUTH("1 != 2 and 2 !< 2 and 2 !> 2 and 1 <= 1 and 2 >= 1", "1");
	TRUTH("null = null", "0");
	TRUTH("not (null = null)", "0");
	TRUTH("null is null", "1");
	TRUTH("1 is not null", "1");
	TRUTH("1 = 1 or null = 1", "1");
	TRUTH("not (1 = 2 and null = 1)", "1");
	TRUTH("5 between 1 and 5", "1");
	TRUTH("5 not between 1 and 4", "1");
	TRUTH("null between 1 and 4", "0");
	TRUTH("3 in (1, 2, 3)", "1");
	TRUTH("3 not in (1, 2)", "1");
	TRUTH("3 not in (1, null)", "0");
	TRUTH("((1 = 1) and ((2) = (2)))", "1");
	TRUTH("1.0 = 1 and '1' = 1", "1");
}

static void patterns(void **state)
{
	(void)state;
	TRUTH("'abc' like 'A%'", "1");
	TRUTH("'abc' like '_b_'", "1");
	TRUTH("'abc' like 'a[a-c]c'", "1");
	TRUTH("'abc' like 'a[^b]c'", "0");
	TRUTH("'a%c' like 'a[%]c'", "1");
	TRUTH("'abc' like 'a!%c' escape '!'", "0");
	TRUTH("'a%c' like 'a!%c' escape '!'", "1");
	TRUTH("'abc   ' like 'abc'", "1");
	TRUTH("'a ' like 'ab'", "0");
	TRUTH("'abc' not like '%z%'", "1");
	TRUTH("'' like '%'", "1");
	TRUTH("'aXbXc' like '%x%x%'", "1");
	TRUTH("'a]b' like 'a[]]b'", "1");
	TRUTH("'abc' like 'a[b'", "0");
	TRUTH("N'\xC3\xA9t\xC3\xA9' like N'_t_'", "1");
	TRUTH("null like 'a'", "0");
	VALUE("patindex('%b_d%', 'aabcd')", "int", "3");
	VALUE("patindex('abc', 'abc')", "int", "1");
	VALUE("patindex('%x%', 'abc')", "int", "0");
}

static void texts(void **state)
{
	(void)state;
	VALUE("len('ab  ')", "int", "2");
	VALUE("len(N'\xF0\x9F\x98\x80')", "int", "2");
	VALUE("datalength(N'abc')", "int", "6");
	VALUE("datalength('abc ')", "int", "4");
	VALUE("datalength(1)", "int", "4");
	VALUE("upper('aB\xC3\xA9')", "varchar(3)", "AB\xC3\x89");
	VALUE("lower(N'AB\xC3\x89')", "nvarchar(3)", "ab\xC3\xA9");
	VALUE("ltrim('  a ')", "varchar(4)", "a ");
	VALUE("'[' + rtrim('  a ') + ']'", "varchar(6)", "[  a]");
	VALUE("trim('  a ')", "varchar(4)", "a");
	VALUE("substring('abcdef', 2, 3)", "varchar(6)", "bcd");
	VALUE("substring('abcdef', 0, 3)", "varchar(6)", "ab");
	VALUE("substring('abc', 9, 3)", "varchar(3)", "");
	VALUE("substring(0x010203, 2, 5)", "varbinary(3)", "0x0203");
	FAILS("substring('abc', 1, -1)", 537);
	VALUE("left('abc', 2)", "varchar(3)", "ab");
	VALUE("right('abc', 2)", "varchar(3)", "bc");
	VALUE("right('abc', 9)", "varchar(3)", "abc");
	VALUE("charindex('C', 'abcabc')", "int", "3");
	VALUE("charindex('c', 'abcabc', 4)", "int", "6");
	VALUE("charindex('z', 'abc')", "int", "0");
	VALUE("replace('abcABC', 'b', 'xx')", "varchar(8000)", "axxcAxxC");
	VALUE("replace('abc', '', 'x')", "varchar(8000)", "abc");
	VALUE("replicate('ab', 3)", "varchar(8000)", "ababab");
	VALUE("len(replicate('ab', 5000))", "int", "8000");
	VALUE("replicate('a', -1)", "varchar(8000)", "NULL");
	VALUE("'[' + space(2) + ']'", "varchar(8000)", "[  ]");
	VALUE("stuff('abcdef', 2, 3, 'ijklmn')", "varchar(8000)", "aijklmnef");
	VALUE("stuff('abc', 5, 1, 'x')", "varchar(8000)", "NULL");
	VALUE("stuff('abc', 2, 1, null)", "varchar(8000)", "ac");
	VALUE("reverse(N'a\xC3\xA9z')", "nvarchar(3)",
	      "z\xC3\xA9"
	      "a");
	VALUE("concat('a', null, 1, N'b')", "nvarchar(4000)", "a1b");
	VALUE("concat_ws('-', 'a', null, 'b')", "nvarchar(4000)", "a-b");
	VALUE("char(65)", "char(1)", "A");
	VALUE("char(128)", "char(1)", "\xE2\x82\xAC");
	VALUE("char(999)", "char(1)", "NULL");
	VALUE("nchar(233)", "nchar(1)", "\xC3\xA9");
	VALUE("ascii('A')", "int", "65");
	VALUE("ascii('')", "int", "NULL");
	VALUE("unicode(N'\xC3\xA9')", "int", "233");
	VALUE("str(123.456, 6, 1)", "varchar(8000)", " 123.5");
	VALUE("str(123.456, 2)", "varchar(8000)", "**");
	VALUE("quotename('a]b')", "nvarchar(258)", "[a]]b]");
	VALUE("quotename('a''b', '''')", "nvarchar(258)", "'a''b'");
	VALUE("parsename('a.[b.c].d', 2)", "nvarchar(128)", "b.c");
	VALUE("parsename('a.b', 3)", "nvarchar(128)", "NULL");
	VALUE("parsename('a.b.c.d.e', 1)", "nvarchar(128)", "NULL");
}

static void numbers(void **state)
{
	(void)state;
	VALUE("abs(-5)", "int", "5");
	VALUE("abs(-1.5)", "numeric(2,1)", "1.5");
	FAILS("abs(-2147483648)", 8115);
	VALUE("sign(-3)", "int", "-1");
	VALUE("floor(-1.5)", "numeric(2,0)", "-2");
	VALUE("ceiling(-1.5)", "numeric(2,0)", "-1");
	VALUE("ceiling(1.2)", "numeric(2,0)", "2");
	VALUE("floor($1.5)", "money", "1.00");
	VALUE("round(123.456, 1)", "numeric(6,3)", "123.500");
	VALUE("round(150, -2)", "int", "200");
	VALUE("round(1.55, 1, 1)", "numeric(3,2)", "1.50");
	FAILS("round(9.9, -1) + round(99.5, 0)", 8115);
	VALUE("power(2, 10)", "int", "1024");
	FAILS("power(2, 40)", 232);
	VALUE("sqrt(16)", "float", "4");
	FAILS("sqrt(-1)", 3623);
	VALUE("square(3)", "float", "9");
	VALUE("case when rand(5) = rand(5) and rand() < 1 then 1 end", "int", "1");
	VALUE("isnumeric('1.5e3')", "int", "1");
	VALUE("isnumeric('abc')", "int", "0");
	VALUE("isnumeric('')", "int", "0");
	VALUE("isnumeric(5)", "int", "1");
	VALUE("isnumeric(null)", "int", "0");
}

static void dates(void **state)
{
	(void)state;
	VALUE("dateadd(month, 1, '2020-01-31')", "datetime", "Feb 29 2020 12:00AM");
	VALUE("dateadd(day, -1, cast('2020-03-01' as date))", "date", "2020-02-29");
	VALUE("dateadd(ms, 5, cast('2020-01-01' as datetime2(3)))", "datetime2(3)",
	      "2020-01-01 00:00:00.005");
	VALUE("dateadd(hour, 25, cast('01:00' as time(0)))", "time(0)", "02:00:00");
	VALUE("dateadd(minute, 90, cast('2020-01-01 00:00:00 +02:00' as datetimeoffset(0)))",
	      "datetimeoffset(0)", "2020-01-01 01:30:00 +02:00");
	FAILS("dateadd(year, 9000, '2020-01-01')", 517);
	FAILS("dateadd(hour, 1, cast('2020-03-01' as date))", 9810);
	VALUE("datediff(day, '2019-12-31 23:59', '2020-01-01 00:01')", "int", "1");
	VALUE("datediff(year, '2019-12-31', '2020-01-01')", "int", "1");
	VALUE("datediff(week, '2020-01-04', '2020-01-05')", "int", "1");
	VALUE("datediff(month, '2020-03-31', '2020-01-01')", "int", "-2");
	VALUE("datediff(second, '2020-01-01', '2020-01-01 00:01:00')", "int", "60");
	FAILS("datediff(ms, '1900-01-01', '2020-01-01')", 535);
	VALUE("datediff_big(ms, '1900-01-01', '2020-01-01')", "bigint", "3786825600000");
	VALUE("datepart(weekday, '2020-01-05')", "int", "1");
	VALUE("datepart(dy, '2020-03-01')", "int", "61");
	VALUE("datepart(week, '2020-01-05')", "int", "2");
	VALUE("datepart(iso_week, '2021-01-01')", "int", "53");
	VALUE("datepart(ms, cast('2020-01-01 00:00:00.007' as datetime))", "int", "7");
	VALUE("datepart(quarter, '2020-12-01')", "int", "4");
	VALUE("datename(month, '2020-02-01')", "nvarchar(30)", "February");
	VALUE("datename(dw, '2020-01-01')", "nvarchar(30)", "Wednesday");
	VALUE("datename(year, '2020-02-01')", "nvarchar(30)", "2020");
	VALUE("year('2020-02-01')", "int", "2020");
	VALUE("month(0)", "int", "1");
	VALUE("day('2020-02-29')", "int", "29");
	VALUE("eomonth('2020-01-31', 1)", "date", "2020-02-29");
	VALUE("datefromparts(2020, 2, 29)", "date", "2020-02-29");
	FAILS("datefromparts(2021, 2, 29)", 289);
	VALUE("isdate('2020-02-30')", "int", "0");
	VALUE("isdate('2020-02-29')", "int", "1");
	VALUE("case when getdate() = current_timestamp and sysdatetime() >= '2020-01-01' then 1 end", "int",
	      "1");
	VALUE("convert(varchar(10), cast('2020-02-01' as datetime), 120)", "varchar(10)", "2020-02-01");
}

static void choices(void **state)
{
	(void)state;
	VALUE("coalesce(null, null, 3)", "int", "3");
	VALUE("coalesce(null, 1, 2.5)", "numeric(11,1)", "1.0");
	VALUE("isnull(null, 'abc')", "varchar(3)", "abc");
	VALUE("isnull(cast(null as varchar(2)), 'abc')", "varchar(2)", "ab");
	VALUE("nullif(1, 1)", "int", "NULL");
	VALUE("nullif(1, 2)", "int", "1");
	VALUE("iif(1 > 2, 'a', 'bb')", "varchar(2)", "bb");
	VALUE("choose(2, 'a', 'b')", "varchar(1)", "b");
	VALUE("choose(3, 'a', 'b')", "varchar(1)", "NULL");
	VALUE("iif(1 = 1, 1, 1 / 0)", "int", "1");
	VALUE("len(cast(newid() as varchar(40)))", "int", "36");
	VALUE("xact_state()", "smallint", "0");
	VALUE("error_number()", "int", "NULL");
	VALUE("scope_identity()", "numeric(38,0)", "NULL");
	VALUE("@@identity", "numeric(38,0)", "NULL");
	VALUE("@@language", "nvarchar(128)!", "us_english");
	VALUE("@@dbts", "varbinary(8)!", "0x0000000000000000");
	VALUE("@@options", "int!", "5432");
	VALUE("@@textsize", "int!", "2147483647");
	VALUE("db_name()", "nvarchar(128)", "Db1");
	VALUE("system_user", "nvarchar(128)", "sa");
	VALUE("serverproperty('EngineEdition')", "sql_variant", "3");
	FAILS("host_name()", 195);
}

static void casts(void **state)
{
	(void)state;
	VALUE("cast(1.5 as int)", "int", "1");
	VALUE("cast('5' as bigint)", "bigint", "5");
	VALUE("cast(5 as varchar)", "varchar(30)", "5");
	VALUE("cast('2020-01-01' as datetime2)", "datetime2(7)", "2020-01-01 00:00:00.0000000");
	VALUE("cast(0x41 as varchar(5))", "varchar(5)", "A");
	VALUE("convert(varchar(10), 0x0102, 1)", "varchar(10)", "0x0102");
	VALUE("try_cast('x' as int)", "int", "NULL");
	VALUE("try_convert(date, '2020-13-01')", "date", "NULL");
	VALUE("cast('x' as national character varying(5))", "nvarchar(5)", "x");
	VALUE("cast(1 as double precision)", "float", "1");
	VALUE("cast(1 as float(24))", "real", "1");
	FAILS("cast('x' as int)", 245);
	FAILS("cast(1 as varchar(0))", 1001);
	FAILS("cast(1 as varchar(9000))", 131);
	FAILS("cast(1 as decimal(5,6))", 192);
	FAILS("cast(1 as int(5))", 2716);
	FAILS("cast(1 as time(9))", 1002);
}

static void selects_without_data(void **state)
{
	(void)state;
	BATCH("select 1 as a, b = 2, 3 c, 4 'd', 5 as [e f], 'g' = 6",
	      "cols a:int!, b:int!, c:int!, d:int!, e f:int!, g:int!\nrow 1|2|3|4|5|6\ndone C1 1\nend");
	BATCH("select 1 where 1 = 0", "cols :int!\ndone C1 0\nend");
	BATCH("select top 0 1", "cols :int!\ndone C1 0\nend");
	BATCH("select top (1) 1", "cols :int!\nrow 1\ndone C1 1\nend");
	BATCH("select 1 a union all select 2.5 union all select null",
	      "cols a:numeric(11,1)\nrow 1.0\nrow 2.5\nrow NULL\ndone C1 3\nend");
	BATCH("select 1 union all select 1, 2",
	      "compile 205/16/1 L1 All queries combined using a UNION, INTERSECT or EXCEPT operator must "
	      "have an equal number of expressions in their target lists.");
	BATCH("select 1 select 2", "cols :int!\nrow 1\ndone C1 1\ncols :int!\nrow 2\ndone C1 1\nend");
	BATCH("select 1 a for browse", "cols a:int!\nrow 1\ndone C1 1\nend");
	BATCH("select 1 option (recompile)", "cols :int!\nrow 1\ndone C1 1\nend");
	BATCH("set concat_null_yields_null off select 'a' + null",
	      "done BA\ncols :varchar(1)\nrow a\ndone C1 1\nend");
	BATCH("set ansi_nulls off if null = null print 'same'",
	      "done BA\ndone C0\ninfo 0/0/1 L1 same\ndone F7\nend");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals),   cmocka_unit_test(operators),
		cmocka_unit_test(conditions), cmocka_unit_test(patterns),
		cmocka_unit_test(texts),      cmocka_unit_test(numbers),
		cmocka_unit_test(dates),      cmocka_unit_test(choices),
		cmocka_unit_test(casts),      cmocka_unit_test(selects_without_data),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
