/* test_batches.c — what the drivers send around a program's own calls, and the flow of
 * statements. */
#include "batch.h"

#define SET_ON "done B9"
#define SET_OFF "done BA"

static void tedious_opens_a_connection(void **state)
{
	(void)state;
	BATCH("set ansi_nulls on\nset ansi_null_dflt_on on\nset ansi_padding on\nset ansi_warnings on\nset "
	      "arithabort on\nset concat_null_yields_null on\n"
	      "set datefirst 7\nset dateformat mdy\nset implicit_transactions off\nset language "
	      "us_english\nset numeric_roundabort off\nset quoted_identifier on\n"
	      "set textsize 2147483647\nset transaction isolation level read committed\nset xact_abort off",
	      "done B9\ndone B9\ndone B9\ndone B9\ndone B9\ndone B9\ndone F9\ndone F9\ndone BA\nlanguage "
	      "us_english us_english\ndone F9\ndone BA\ndone BE\n"
	      "done F9\ndone BA\nend");
}

static void pymssql_opens_a_connection(void **state)
{
	(void)state;
	BATCH("SET ARITHABORT ON;SET CONCAT_NULL_YIELDS_NULL ON;SET ANSI_NULLS ON;SET ANSI_NULL_DFLT_ON "
	      "ON;SET ANSI_PADDING ON;SET ANSI_WARNINGS ON;"
	      "SET ANSI_NULL_DFLT_ON ON;SET CURSOR_CLOSE_ON_COMMIT ON;SET QUOTED_IDENTIFIER ON;SET TEXTSIZE "
	      "2147483647;",
	      "done B9\ndone B9\ndone B9\ndone B9\ndone B9\ndone B9\ndone B9\ndone B9\ndone BE\nend");
	BATCH("use [Db]", "use Db\ndone E2\nend");
	BATCH("BEGIN TRAN", "tran begin \ndone D4\nend");
}

static void jtds_opens_a_connection(void **state)
{
	(void)state;
	BATCH("SELECT @@MAX_PRECISION\r\nSET TRANSACTION ISOLATION LEVEL READ COMMITTED\r\nSET "
	      "IMPLICIT_TRANSACTIONS OFF\r\nSET QUOTED_IDENTIFIER ON\r\n"
	      "SET TEXTSIZE 2147483647",
	      "cols :tinyint!\nrow 38\ndone C1 1\ndone F9\ndone BA\ndone BE\nend");
	BATCH("IF @@TRANCOUNT > 0 COMMIT TRAN\r\nSET IMPLICIT_TRANSACTIONS OFF", "done C0\ndone BA\nend");
	BATCH("IF @@TRANCOUNT=0 BEGIN SET IMPLICIT_TRANSACTIONS OFF; BEGIN TRAN; SET IMPLICIT_TRANSACTIONS "
	      "ON; END SAVE TRAN jtds1",
	      "done C0\ndone BA\ntran begin \ndone D4\ndone B9\ntran save jtds1\ndone FD\nend");
	BATCH("SET ROWCOUNT 5 SET TEXTSIZE 100", "done BD\ndone BE\nend");
}

static void other_drivers(void **state)
{
	(void)state;
	BATCH("set textsize 2147483647\nset quoted_identifier on\n", "done BE\nend");
	BATCH("select @@version", "cols :nvarchar(300)!\nrow Microsoft test\ndone C1 1\nend");
	BATCH("SELECT @@spid spid", "cols spid:smallint!\nrow 51\ndone C1 1\nend");
	BATCH("select 1;", "cols :int!\nrow 1\ndone C1 1\nend");
	BATCH("sp_datatype_info_100 12,3", "exec sp_datatype_info_100(int 12, int 3) L1\nend");
	BATCH("sp_datatype_info_100 -9, 3", "exec sp_datatype_info_100(int -9, int 3) L1\nend");
	BATCH("..sp_stored_procedures", "exec ..sp_stored_procedures() L1\nend");
	BATCH("exec [db].sys.sp_sproc_columns @procedure_name=p , @ODBCVer=3, @fUsePattern=0",
	      "exec [db].sys.sp_sproc_columns(@procedure_name=nvarchar(1) p, @ODBCVer=int 3, "
	      "@fUsePattern=int 0) L1\nend");
	BATCH("exec sp_sproc_columns_100 p, @ODBCVer=3",
	      "exec sp_sproc_columns_100(nvarchar(1) p, @ODBCVer=int 3) L1\nend");
	BATCH("EXEC sp_unprepare 1;EXEC sp_unprepare 2;",
	      "exec sp_unprepare(int 1) L1\nexec sp_unprepare(int 2) L1\nend");
	BATCH("set implicit_transactions on ", "done B9\nend");
	BATCH(" set lock_timeout 1000", "done F9\nend");
	BATCH("IF @@TRANCOUNT = 0 BEGIN BEGIN TRAN IF @@TRANCOUNT = 2 COMMIT TRAN END SAVE TRAN s1",
	      "done C0\ntran begin \ndone D4\ndone C0\ntran save s1\ndone FD\nend");
	BATCH("BEGIN TRANSACTION IF @@TRANCOUNT > 0 COMMIT BEGIN TRANSACTION",
	      "tran begin \ndone D4\ndone C0\ntran commit \ndone D5\ntran begin \ndone D4\nend");
	BATCH("\nROLLBACK TRAN\n", "tran rollback \ndone D2\nend");
	BATCH("SELECT CAST(SERVERPROPERTY('EngineEdition') as INT)", "cols :int\nrow 3\ndone C1 1\nend");
	BATCH("select ID = convert(bigint, SCOPE_IDENTITY())", "cols ID:bigint\nrow NULL\ndone C1 1\nend");
	BATCH("set fmtonly on select 1 as a\nset fmtonly off",
	      "done B9\ncols a:int!\ndone C1 0\ndone BA\nend");
	BATCH(" SET FMTONLY OFF; SET NO_BROWSETABLE ON; SET FMTONLY ON;select 'x' y SET FMTONLY OFF; SET "
	      "NO_BROWSETABLE OFF;",
	      "done BA\ndone B9\ndone B9\ncols y:varchar(1)!\ndone C1 0\ndone BA\ndone BA\nend");
	BATCH("insert bulk [t] (a int) with (CHECK_CONSTRAINTS)",
	      "error 4834/16/1 L1 Bulk load is not supported by Procession. Call the stored procedures "
	      "instead.\ndone! FD\nfailed");
}

static void outputs_come_back_to_variables(void **state)
{
	struct host h;

	(void)state;
	host_init(&h);
	h.exec_status = 7;
	h.exec_outputs[1] = value_bytes(TYPE_LEN(TYPE_VARBINARY, TYPE_MAX), "ab", 2);
	assert_string_equal(host_run(&h, "declare @x varbinary(max), @rc int; exec @rc = p 'k', @item = @x "
					 "output, @n = DEFAULT; select @rc as rc, @x as item"),
			    "exec p(varchar(1) k, @item=varbinary(max) NULL out, @n=DEFAULT) L1\ncols "
			    "rc:int, item:varbinary(max)\nrow 7|0x6162\ndone C1 1\nend");
	h.exec_no_status = true;
	assert_string_equal(host_run(&h, "declare @rc int = 5; exec @rc = p; select @rc"),
			    "done C1 1\nexec p() L1\ncols :int\nrow 5\ndone C1 1\nend");
	h.exec_rc = -1;
	h.exec_error = 2812;
	assert_string_equal(host_run(&h, "exec p\nif @@error = 2812 print 'missing'"),
			    "exec p() L1\ndone C0\ninfo 0/0/1 L2 missing\ndone F7\nend");
	h.exec_abort = true;
	assert_string_equal(host_run(&h, "exec p; print 'never'"), "exec p() L1\nfailed");
	host_fini(&h);
}

static void calls_take_every_form(void **state)
{
	(void)state;
	BATCH("declare @n sysname = 'dbo.p' exec @n 1, -2.5, 'it''s', N'x', 0x1, NULL, $1.5, 1e3, @@spid",
	      "done C1 1\nexec dbo.p(int 1, numeric(2,1) -2.5, varchar(4) it's, nvarchar(1) x, varbinary(1) "
	      "0x01, null NULL, money 1.50, float 1000, smallint 51) L1\nend");
	BATCH("exec p;1 'a'", "exec p;1(varchar(1) a) L1\nend");
	BATCH("execute [My Db]..[a]]b] with recompile", "exec [My Db]..[a]]b]() L1\nend");
	BATCH("declare @t nvarchar(50) = N'select 1'; exec (@t + ' as x')",
	      "done C1 1\ntext select 1 as x\nend");
	BATCH("exec p @a = 1, 2",
	      "compile 119/15/1 L1 Must pass parameter number 2 and subsequent parameters as '@name = "
	      "value'. After the form '@name = value' has been used, all subsequent parameters must be "
	      "passed in the form '@name = value'.");
	BATCH("exec p 'a' + 'b'", "compile 102/15/1 L1 Incorrect syntax near '+'.");
	BATCH("declare @a int\nexec p @a = @a output, @b = @a",
	      "exec p(@a=int NULL out, @b=int NULL) L2\nend");
}

static void variables_hold_what_was_assigned(void **state)
{
	(void)state;
	BATCH("declare @a int, @b varchar(3) = 'abcdef', @c decimal(5,2) = 1.239\nset @a = 5\nset @a *= "
	      "2\nselect @a += 1, @b = @b + '!'\nselect @a, @b, @c",
	      "done C1 1\ndone C1 1\ndone C1 1\ndone C1 1\ndone C1 1\ncols :int, :varchar(3), "
	      ":decimal(5,2)\nrow 11|abc|1.24\ndone C1 1\nend");
	BATCH("declare @a int; select @a = 1 where 1 = 0; select @a, @@rowcount",
	      "done C1 0\ncols :int, :int!\nrow NULL|0\ndone C1 1\nend");
	BATCH("declare @a int = 1; select @a = 2, @a = @a + 5; select @a",
	      "done C1 1\ndone C1 1\ncols :int\nrow 7\ndone C1 1\nend");
	BATCH("declare @s varchar(max) = ''; declare @i int = 0; while @i < 3 begin set @s += cast(@i as "
	      "varchar) + ','; set @i += 1 end; select @s",
	      "done C1 1\ndone C1 1\ndone C0\ndone C1 1\ndone C1 1\ndone C0\ndone C1 1\ndone C1 1\ndone "
	      "C0\ndone C1 1\ndone C1 1\ndone C0\ncols :varchar(max)\nrow 0,1,2,\ndone C1 1\nend");
	BATCH("declare @s varchar(10) = 'abc'; set @s = substring(@s, 2, 2); select @s",
	      "done C1 1\ndone C1 1\ncols :varchar(10)\nrow bc\ndone C1 1\nend");
	BATCH("declare @a int\ndeclare @A int",
	      "compile 134/15/2 L2 The variable name '@A' has already been declared. Variable names must be "
	      "unique within a query batch or stored procedure.");
	BATCH("print 'x'\n\nset @nope = 1",
	      "compile 137/15/2 L3 Must declare the scalar variable \"@nope\".");
	BATCH("declare @t text",
	      "compile 2739/16/1 L1 The text, ntext, and image data types are invalid for local variables.");
	BATCH("declare @t nosuch",
	      "compile 2715/16/3 L1 Column, parameter, or variable #1: Cannot find data type nosuch.");
}

static void flow(void **state)
{
	(void)state;
	BATCH("if 1 = 1 print 'a' else print 'b'", "done C0\ninfo 0/0/1 L1 a\ndone F7\nend");
	BATCH("if 1 = 0 print 'a'; else if 2 = 2 print 'b'",
	      "done C0\ndone C0\ninfo 0/0/1 L1 b\ndone F7\nend");
	BATCH("if null = null select 1 else select 2", "done C0\ncols :int!\nrow 2\ndone C1 1\nend");
	BATCH("declare @i int = 0 while 1 = 1 begin set @i = @i + 1 if @i = 2 continue if @i > 2 break end "
	      "select @i",
	      "done C1 1\ndone C0\ndone C1 1\ndone C0\ndone C0\ndone C0\ndone C1 1\ndone C0\ndone C0\ndone "
	      "C1 1\ndone C0\ndone C0\ncols :int\nrow 3\ndone C1 1\nend");
	BATCH("while 1=1 begin while 1=1 break break end print 'out'",
	      "done C0\ndone C0\ninfo 0/0/1 L1 out\ndone F7\nend");
	BATCH("print 'a' return print 'b'", "info 0/0/1 L1 a\ndone F7\ndone DB\nend\nreturned 0");
	BATCH("return 4 + 1 print 'b'", "done C1 1\nend\nreturned 5");
	BATCH("waitfor delay '00:00:01.5'", "wait 1500\ndone F3\nend");
	BATCH("waitfor delay 'soon'", "error 148/15/1 L1 Incorrect time syntax in time string 'soon' used "
				      "with WAITFOR.\ndone! FD\nfailed");
	BATCH("use nodb print 'never'", "error 911/16/1 L1 Database 'nodb' does not exist. Make sure that "
					"the name is entered correctly.\ndone! E2\nfailed");
	BATCH("", "end");
	BATCH(" ;; -- nothing\n/* here /* nested */ */", "end");
	BATCH("begin tran a commit tran a rollback transaction b save transaction c commit work",
	      "tran begin a\ndone D4\ntran commit a\ndone D5\ntran rollback b\ndone D2\ntran save c\ndone "
	      "FD\ntran commit \ndone D5\nend");
}

static void a_failed_commit_lets_the_batch_go_on(void **state)
{
	struct host h;

	(void)state;
	host_init(&h);
	h.tran_rc = -1;
	assert_string_equal(host_run(&h, "print 'a'\ncommit\nselect @@error"),
			    "info 0/0/1 L1 a\ndone F7\ntran commit \nerror 3902/16/1 L2 The COMMIT "
			    "TRANSACTION request has no corresponding BEGIN TRANSACTION.\n"
			    "done! D5\ncols :int!\nrow 3902\ndone C1 1\nend");
	host_fini(&h);
}

static void an_endless_loop_gives_the_thread_back(void **state)
{
	struct host h;

	(void)state;
	host_init(&h);
	h.quiet = true;
	host_run(&h,
		 "declare @i int = 0, @s nvarchar(4000) = N'x' while 1 = 1 set @s = left(@s + N'yz', 3000)");
	assert_true(h.yields > 20);
	assert_true(h.arena.used < 8 << 20); /* and keeps its memory */
	host_fini(&h);
}

static void errors_end_what_they_should(void **state)
{
	(void)state;
	BATCH("select 1/0\nselect @@error", "cols :int\nerror 8134/16/1 L1 Divide by zero error "
					    "encountered.\ndone! C1\ncols :int!\nrow 8134\ndone C1 1\nend");
	BATCH("print 'a'\nselect cast('x' as int)\nprint 'never'",
	      "info 0/0/1 L1 a\ndone F7\ncols :int\nerror 245/16/1 L2 Conversion failed when converting the "
	      "varchar value 'x' to data type int.\ndone! C1\nfailed");
	BATCH("set xact_abort on select 1/0 print 'never'",
	      "done B9\ncols :int\nerror 8134/16/1 L1 Divide by zero error encountered.\ndone! C1\nfailed");
	BATCH("declare @d datetime = 'tomorrow'", "error 241/16/1 L1 Conversion failed when converting date "
						  "and/or time from character string.\ndone! C1\nfailed");
	BATCH("raiserror('low %d %s', 10, 3, 7, 'x')", "info 50000/10/3 L1 low 7 x\ndone F6\nend");
	BATCH("raiserror('high', 16, 2) select @@error",
	      "error 50000/16/2 L1 high\ndone! F6\ncols :int!\nrow 50000\ndone C1 1\nend");
	BATCH("raiserror('[%5d|%-5s|%05d|%x|%u|%%|%s]', 1, 1, 42, N'ab', 42, 255, -1)",
	      "info 50000/1/1 L1 [   42|ab   |00042|ff|4294967295|%|(null)]\ndone F6\nend");
	BATCH("raiserror('x', 19, 1)",
	      "error 2754/16/1 L1 Error severity levels greater than 18 can only be specified by members of "
	      "the sysadmin role, using the WITH LOG option.\ndone! F6\nfailed");
	BATCH("raiserror('%d', 16, 1, 'text')",
	      "error 2786/16/1 L1 The data type of substitution parameter 1 does not match the expected type "
	      "of the format specification.\ndone! F6\nfailed");
	BATCH("raiserror('x', 9, 1) with seterror, nowait select @@error",
	      "info 50000/9/1 L1 x\ndone F6\ncols :int!\nrow 50000\ndone C1 1\nend");
	BATCH("throw 50001, N'thrown', 2; print 'never'", "error 50001/16/2 L1 thrown\ndone! FD\nfailed");
	BATCH("throw 1, 'x', 1",
	      "error 35100/16/10 L1 Error number 1 in the THROW statement is outside the valid range. "
	      "Specify an error number in the valid range of 50000 to 2147483647.\ndone! FD\nfailed");
	BATCH("select has_dbaccess('x')", "cols :int\nerror 50000/16/1 L1 refused\ndone! C1\nfailed");
}

static void what_is_not_supported_says_so(void **state)
{
	(void)state;
	BATCH("print 'never'\nbegin try select 1 end try begin catch end catch",
	      "compile 50008/16/1 L2 BEGIN TRY … END CATCH is not supported by Procession. Test @@ERROR "
	      "after each statement, or handle the error in the client.");
	BATCH("insert into t exec p", "compile 50008/16/1 L1 INSERT … EXEC is not supported by Procession. "
				      "Run the procedure and read its result set in the client.");
	BATCH("\ninsert t values (1)", "compile 50008/16/1 L2 INSERT is not supported by Procession. Call "
				       "the stored procedures instead.");
	BATCH("create table t (a int)", "compile 50008/16/1 L1 CREATE is not supported by Procession. The "
					"schema is fixed; call the stored procedures instead.");
	BATCH("delete from t", "compile 50008/16/1 L1 DELETE is not supported by Procession. Call the stored "
			       "procedures instead.");
	BATCH("with a as (select 1 x) delete from a",
	      "compile 50008/16/1 L1 A WITH that is not followed by SELECT is not supported by Procession. "
	      "Call the stored procedures instead.");
	BATCH("with a as (select 1 x union all select x from a) select * from a",
	      "compile 50008/16/1 L1 A WITH that names itself is not supported by Procession. Read the rows "
	      "step by step.");
	BATCH("declare @t table (a int primary key)",
	      "compile 50008/16/1 L1 A key, default, identity or check of a table variable is not supported "
	      "by Procession. Leave it out.");
	BATCH("create procedure p @t table as select 1", "compile 50008/16/1 L1 CREATE is not supported by "
							 "Procession. The schema is fixed; call the stored "
							 "procedures instead.");
	BATCH("set showplan_xml on", "compile 50008/16/1 L1 SET SHOWPLAN_XML is not supported by Procession. "
				     "There are no plans to show.");
}

static void syntax_errors_have_a_line(void **state)
{
	(void)state;
	BATCH("select 1\nselect from", "compile 156/15/1 L2 Incorrect syntax near the keyword 'from'.");
	BATCH("select 1 +", "compile 102/15/1 L1 Incorrect syntax near ''.");
	BATCH("select 'abc", "compile 105/15/1 L1 Unclosed quotation mark after the character string 'abc'.");
	BATCH("print 1 /* open", "compile 113/15/1 L1 Missing end comment mark '*/'.");
	BATCH("print 'a' nonsense here", "compile 102/15/1 L1 Incorrect syntax near 'nonsense'.");
	BATCH("set nosuch on", "compile 195/15/10 L1 'nosuch' is not a recognized SET option.");
	BATCH("select nosuch(1)",
	      "compile 195/15/10 L1 'nosuch' is not a recognized built-in function name.");
	BATCH("select dbo.f(1)", "compile 4121/16/1 L1 Cannot find the user-defined function or aggregate "
				 "\"dbo.f\", or the name is ambiguous.");
	BATCH("select a", "compile 207/16/1 L1 Invalid column name 'a'.");
	BATCH("select len()", "compile 174/15/1 L1 The LEN function requires 1 argument(s).");
	BATCH("if 1 select 1", "compile 4145/15/1 L1 An expression of non-boolean type specified in a "
			       "context where a condition is expected, near 'select'.");
	BATCH("select 1=1", "compile 102/15/1 L1 Incorrect syntax near '='.");
	BATCH("begin end", "compile 156/15/1 L1 Incorrect syntax near the keyword 'end'.");
	BATCH("break",
	      "compile 135/15/1 L1 Cannot use a BREAK statement outside the scope of a WHILE statement.");
	BATCH("select *", "compile 263/16/1 L1 Must specify table to select from.");
	BATCH("select 1, @x = 2", "compile 137/15/2 L1 Must declare the scalar variable \"@x\".");
	BATCH("declare @x int select 1, @x = 2",
	      "compile 141/15/1 L1 A SELECT statement that assigns a value to a variable must not be "
	      "combined with data-retrieval operations.");
	BATCH("throw", "compile 10704/15/1 L1 To rethrow an error, a THROW statement must be used inside a "
		       "CATCH block.");
	BATCH("select dateadd(fortnight, 1, getdate())",
	      "compile 155/15/1 L1 'fortnight' is not a recognized DATEADD option.");
}

static void nesting_has_a_limit(void **state)
{
	char *text = malloc(20000);
	struct host h;

	(void)state;
	assert_non_null(text);
	host_init(&h);
	memset(text, '(', 5000);
	memcpy(text, "select ", 7);
	text[5000] = '\0';
	assert_non_null(strstr(host_run(&h, text), "compile 191/15/1 L1"));
	for (size_t i = 0; i < 3000; i++)
		memcpy(text + 6 * i, "begin ", 7);
	assert_non_null(strstr(host_run(&h, text), "compile 191/15/1 L1"));
	memcpy(text, "select 1", 9);
	for (size_t i = 0; i < 3000; i++)
		memcpy(text + 8 + 2 * i, "+1", 3);
	assert_non_null(strstr(host_run(&h, text), "compile 191/15/1 L1"));
	text[8 + 2 * 400] = '\0';
	assert_non_null(strstr(host_run(&h, text), "row 401"));
	host_fini(&h);
	free(text);
}

static void options_reach_the_session(void **state)
{
	struct host h;

	(void)state;
	host_init(&h);
	assert_string_equal(host_run(&h, "SET ANSI_NULLS, QUOTED_IDENTIFIER, NOCOUNT ON; SET XACT_ABORT ON"),
			    "done B9\ndone B9\ndone B9\nend");
	assert_true(h.vars.nocount && h.vars.xact_abort);
	host_run(&h, "declare @n int = 5 set rowcount @n; set lock_timeout -1 set transaction isolation "
		     "level serializable set datefirst 1 set dateformat mdy");
	assert_int_equal(h.vars.rowcount_limit, 5);
	assert_int_equal(h.vars.isolation, 4);
	assert_int_equal(h.vars.datefirst, 1);
	assert_string_equal(host_run(&h, "set datefirst 9"),
			    "error 2744/16/2 L1 The SET DATEFIRST value 9 is outside the range of allowed "
			    "values (1 to 7).\ndone! F9\nfailed");
	assert_string_equal(host_run(&h, "set language Klingon"),
			    "error 2741/16/1 L1 SET LANGUAGE failed because 'Klingon' is not an official "
			    "language name or a language alias on this SQL Server.\ndone! F9\nfailed");
	assert_string_equal(host_run(&h, "set context_info 0x01 set statistics io, time on set "
					 "deadlock_priority low set deadlock_priority 3"),
			    "done F9\ndone B9\ndone F9\ndone F9\nend");
	assert_string_equal(host_run(&h, "set noexec on select 1 print 'x' set noexec off print 'y'"),
			    "done B9\ndone BA\ninfo 0/0/1 L1 y\ndone F7\nend");
	assert_string_equal(
		host_run(&h, "set quoted_identifier off select \"text\" set quoted_identifier on"),
		"cols :varchar(4)!\nrow text\ndone C1 1\nend");
	assert_string_equal(host_run(&h, "select 1 as \"a \"\"b\""),
			    "cols a \"b:int!\nrow 1\ndone C1 1\nend");
	host_fini(&h);
}

static void parameters_are_variables(void **state)
{
	struct tsql_declared *d;
	struct host h;
	struct value v[2];
	struct err e;
	size_t n;

	(void)state;
	host_init(&h);
	assert_int_equal(
		tsql_parse_declarations(STR("@P0 int, @p1 NVARCHAR(4000) OUTPUT"), &h.arena, &d, &n, &e), 0);
	assert_int_equal(n, 2);
	assert_true(d[0].type.id == TYPE_INT && !d[0].output && d[1].output && d[1].type.length == 4000);
	v[0] = value_int(TYPE_INT, 4);
	v[1] = value_nvarchar("x");
	assert_string_equal(host_run_with(&h, "set @p1 = @P1 + cast(@p0 as nvarchar)", d, v, 2),
			    "done C1 1\nend\nparam x4");
	assert_int_equal(tsql_parse_declarations(STR(""), &h.arena, &d, &n, &e), 0);
	assert_int_equal(n, 0);
	assert_int_equal(tsql_parse_declarations(
				 STR(" @a as national character varying(max)out,@b numeric ( 10 , 2 ) "),
				 &h.arena, &d, &n, &e),
			 0);
	assert_true(n == 2 && d[0].type.length == TYPE_MAX && d[0].output && d[1].type.precision == 10 &&
		    d[1].type.scale == 2);
	assert_int_equal(tsql_parse_declarations(STR("@a ntext, @b image"), &h.arena, &d, &n, &e), 0);
	assert_int_equal(tsql_parse_declarations(STR("@a int @b int"), &h.arena, &d, &n, &e), -1);
	assert_int_equal(e.number, 102);
	assert_int_equal(tsql_parse_declarations(STR("@a int, @a int"), &h.arena, &d, &n, &e), -1);
	assert_int_equal(e.number, 134);
	host_fini(&h);
}

static void a_run_can_be_given_up(void **state)
{
	struct tsql_program *p;
	struct tsql_run r;
	struct host h;
	struct err e;

	(void)state;
	host_init(&h);
	assert_int_equal(tsql_compile(STR("exec p 'a'"), &h.vars, NULL, 0, NULL, &h.arena, &p, &e), 0);
	assert_int_equal(tsql_run_start(p, &h.host, NULL, 0, &h.arena, &r, &e), 0);
	assert_int_equal(tsql_next(&r), TSQL_EXEC);
	assert_int_equal(tsql_next(&r), TSQL_EXEC); /* not answered yet */
	tsql_run_end(&r);
	tsql_run_end(&r);
	assert_int_equal(tsql_next(&r), TSQL_FAILED);
	h.rows_before_gone = 0;
	assert_string_equal(host_run(&h, "select 1 print 'never'"), "cols :int!\nfailed");
	host_fini(&h);
}

/* Wherever memory ends, in compiling, describing or running: an error, and nothing is lost. */
static void memory_can_run_out(void **state)
{
	static const char text[] = "declare @s varchar(max) = 'abc', @n int = 1, @v sql_variant; select @s = "
				   "@s + replicate(@s, 20), @n = 2; exec p @s output, [x], -1.5;"
				   "select i.Id, count(*) n, case when Id like 'a%' then upper(Id) else 'x' "
				   "end from (select distinct Id from Items where Expires > '2020-01-01') i "
				   "where Id in ('a', 'b') group by Id order by n; select concat(@s, 1, 'b', "
				   "2.5, getdate()), parsename('a.b', 1), str(5), stuff(@s, 1, 1, 'x');"
				   "if exists (select 1 from sys.databases) raiserror('%s %d', 1, 1, @s, 5) "
				   "else print @s; exec ('a' + 'b'); waitfor delay '00:00'";
	bool complete = false;

	(void)state;
	for (size_t limit = 0; limit < (1 << 20) && !complete; limit += 256) {
		struct host h;
		struct tsql_program *p;
		struct tsql_run r = { .state = NULL };
		struct err e = { 0 };
		const struct column *c;
		enum tsql_wants w = TSQL_FAILED;
		size_t n;

		host_init(&h);
		h.exec_outputs[0] = value_varchar("out");
		arena_fini(&h.arena);
		arena_init(&h.arena, limit);
		h.quiet = true;
		if (tsql_compile(STR(text), &h.vars, NULL, 0, NULL, &h.arena, &p, &e) < 0 ||
		    tsql_describe(p, &h.host, NULL, &h.arena, &c, &n, &e) < 0 ||
		    tsql_run_start(p, &h.host, NULL, 0, &h.arena, &r, &e) < 0) {
			assert_int_equal(e.number, 701);
			host_fini(&h);
			continue;
		}
		while ((w = tsql_next(&r)) != TSQL_ENDED && w != TSQL_FAILED) {
			if (w == TSQL_EXEC)
				tsql_exec_done(&r, 0, 0, false, NULL, h.exec_outputs);
			else
				host_answer(&h, &r, w);
		}
		complete = w == TSQL_ENDED;
		tsql_run_end(&r);
		host_fini(&h);
	}
	assert_true(complete);
}

static void kill_takes_a_number(void **state)
{
	(void)state;
	BATCH("kill 55 select 1", "kill 55\ndone FD\ncols :int!\nrow 1\ndone C1 1\nend");
	BATCH("kill -2", "kill -2\ndone FD\nend");
	BATCH("kill 53 select 1", "error 6106/16/2 L1 Process ID 53 is not an active process ID.\ndone! "
				  "FD\ncols :int!\nrow 1\ndone C1 1\nend");
	BATCH("kill 99999999999", "kill 2147483647\ndone FD\nend");
	BATCH("declare @x int kill @x", "compile 102/15/1 L1 Incorrect syntax near '@x'.");
	BATCH("kill", "compile 102/15/1 L1 Incorrect syntax near ''.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kill_takes_a_number),
		cmocka_unit_test(tedious_opens_a_connection),
		cmocka_unit_test(pymssql_opens_a_connection),
		cmocka_unit_test(jtds_opens_a_connection),
		cmocka_unit_test(other_drivers),
		cmocka_unit_test(outputs_come_back_to_variables),
		cmocka_unit_test(calls_take_every_form),
		cmocka_unit_test(variables_hold_what_was_assigned),
		cmocka_unit_test(flow),
		cmocka_unit_test(a_failed_commit_lets_the_batch_go_on),
		cmocka_unit_test(an_endless_loop_gives_the_thread_back),
		cmocka_unit_test(errors_end_what_they_should),
		cmocka_unit_test(what_is_not_supported_says_so),
		cmocka_unit_test(syntax_errors_have_a_line),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(options_reach_the_session),
		cmocka_unit_test(parameters_are_variables),
		cmocka_unit_test(a_run_can_be_given_up),
		cmocka_unit_test(memory_can_run_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
