/* test_select.c — SELECT over views, run on a real store: what the translation says is what
 * SQLite and its sandbox understand. */
#include "batch.h"

#include <sqlite3.h>
#include <unistd.h>

#include "dump.h"
#include "engine/sqlite/store/store.h"

struct stores {
	char dir[32];
	struct store *store[3]; /* state, system, word */
	struct store_conn *conn[3];
};
static struct stores *stores;

#define TICKS_2030 "1230733440000" /* 2030-01-01 */

static void fill(const char *path, const char *sql)
{
	char *message = NULL;
	sqlite3 *db;

	dump_fill(path, sql);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s", message);
	sqlite3_close(db);
}

static int up(void **state)
{
	static const enum service services[] = { SERVICE_STATE, SERVICE_SYSTEM, SERVICE_WORD };
	struct err e;
	char path[3][64];

	(void)state;
	stores = calloc(1, sizeof(*stores));
	snprintf(stores->dir, sizeof(stores->dir), "/tmp/tsql-XXXXXX");
	assert_non_null(mkdtemp(stores->dir));
	for (int i = 0; i < 3; i++) {
		struct store_options o = { .path = path[i],
					   .name = "Db1",
					   .service = &catalogue_service_procs[services[i]] };

		snprintf(path[i], sizeof(path[i]), "%s/%d.db", stores->dir, i);
		if (store_open(&o, &stores->store[i], &e) < 0 ||
		    store_connect(stores->store[i], true, &stores->conn[i], &e) < 0)
			fail_msg("%s", e.text);
	}
	fill(path[0],
	     "INSERT INTO item (n, id, cookie, locked, lock_time, timeout, expires, sweep, bytes) VALUES "
	     "(1, 'a', 1, 0, NULL, 360000, " TICKS_2030 ", 0, 2), "
	     "(2, 'B', 7, 1, " TICKS_2030 " - 300, 18000, " TICKS_2030
	     " + 25920000, 0, NULL), (3, 'c_d', 2, 0, NULL, 18000, 0, 0, NULL);"
	     "INSERT INTO body VALUES (1, x'0102'), (2, NULL);");
	fill(path[1], "INSERT INTO database (id, name, service, file) VALUES (5, 'Db1', 'state', 'x.db'), "
		      "(6, 'Other', 'word', 'y.db');");
	return 0;
}

static int down(void **state)
{
	char command[64];

	(void)state;
	for (int i = 0; i < 3; i++) {
		store_disconnect(stores->conn[i]);
		store_close(stores->store[i]);
	}
	snprintf(command, sizeof(command), "rm -rf %s", stores->dir);
	assert_int_equal(system(command), 0);
	free(stores);
	return 0;
}

static int run_query(struct host *h, struct tsql_run *r)
{
	const struct query *q = r->query;
	struct value *row = arena_array(&h->arena, q->ncolumns, sizeof(*row));
	struct store_stmt *s = NULL;
	uint64_t rows = 0;
	struct err e;
	int rc;

	err_clear(&e);
	rc = store_query(stores->conn[q->system                           ? 1
				      : strcmp(q->database, "Other") == 0 ? 2
									  : 0],
			 q->sql, &s, &e);
	for (size_t i = 0; rc == 0 && i < q->nvalues; i++)
		rc = store_bind(s, (unsigned)i + 1, &q->values[i], &e);
	if (rc == 0 && !q->assign)
		call_sink_columns(&h->sink, q->columns, q->ncolumns);
	while (rc == 0 && (rc = store_step(s, &e)) == 1) {
		rc = 0;
		for (size_t i = 0; rc == 0 && i < q->ncolumns; i++) {
			rc = store_column(s, (unsigned)i, &q->columns[i].type, &row[i], &e);
			if (rc == 0)
				rc = value_copy(&row[i], &h->arena, &row[i], &e);
		}
		if (rc == 0 && !q->assign)
			call_sink_row(&h->sink, row, q->ncolumns);
		dump_row(row, rc == 0 ? q->ncolumns : 0);
		rows++;
	}
	store_finish(s);
	if (rc < 0)
		line(h, "sql %s", q->sql);
	dump_end(rc);
	tsql_query_done(r, rc, &e, rows, rows > 0 ? row : NULL);
	return 0;
}

static void check(int at, const char *text, const char *expected)
{
	struct host h;
	const char *got;

	dump_for_postgres(text);
	host_init(&h);
	h.query = run_query;
	got = host_run(&h, text);
	if (strcmp(got, expected) != 0) {
		print_error("test_select.c:%d: %s\n--- got\n%s\n--- expected\n%s\n", at, text, got, expected);
		host_fini(&h);
		fail();
	}
	host_fini(&h);
}
#define QUERY(text, expected) check(__LINE__, text, expected)

static void columns_and_rows(void **state)
{
	(void)state;
	QUERY("select Id, Locked, Bytes from Items order by Id",
	      "cols Id:varchar(512)!, Locked:bit!, Bytes:bigint\nrow B|1|NULL\nrow a|0|2\nrow "
	      "c_d|0|NULL\ndone C1 3\nend");
	QUERY("select * from dbo.Items where Id = 'a'",
	      "cols Id:varchar(512)!, Locked:bit!, LockCookie:int!, LockTime:datetime, TimeoutMinutes:int!, "
	      "Expires:datetime!, Bytes:bigint\n"
	      "row a|0|1|NULL|20|Jan  1 2030 12:00AM|2\ndone C1 1\nend");
	QUERY("select i.id as x, LockCookie + 1 as y, 'k' k, 2.5 z from Db1.dbo.Items as i where "
	      "i.LockCookie in (1, '7') and Locked = 0",
	      "cols x:varchar(512)!, y:int, k:varchar(1)!, z:numeric(2,1)!\nrow a|2|k|2.5\ndone C1 1\nend");
	QUERY("select top 1 LockCookie from Items order by LockCookie desc",
	      "cols LockCookie:int!\nrow 7\ndone C1 1\nend");
	QUERY("select LockCookie from Items order by 1 offset 1 rows fetch next 1 rows only",
	      "cols LockCookie:int!\nrow 2\ndone C1 1\nend");
	QUERY("set rowcount 2 select LockCookie c from Items order by c",
	      "done BD\ncols c:int!\nrow 1\nrow 2\ndone C1 2\nend");
	QUERY("select distinct TimeoutMinutes from Items order by TimeoutMinutes",
	      "cols TimeoutMinutes:int!\nrow 1\nrow 20\ndone C1 2\nend");
	QUERY("select count(*), count(Bytes), sum(LockCookie), min(Id), max(Expires), avg(LockCookie) from "
	      "Items",
	      "cols :int!, :int!, :int, :varchar(512), :datetime, :int\nrow 3|1|10|B|Jan  2 2030 "
	      "12:00AM|3\ndone C1 1\nend");
	QUERY("select TimeoutMinutes, count(*) n from Items group by TimeoutMinutes having count(*) > 1 "
	      "order by n",
	      "cols TimeoutMinutes:int!, n:int!\nrow 1|2\ndone C1 1\nend");
}

static void constants_take_the_columns_type(void **state)
{
	(void)state;
	QUERY("select Id from Items where Expires = '2030-01-01'",
	      "cols Id:varchar(512)!\nrow a\ndone C1 1\nend");
	QUERY("select Id from Items where Expires between '20291231' and dateadd(hour, 1, '2030-01-01')",
	      "cols Id:varchar(512)!\nrow a\ndone C1 1\nend");
	QUERY("select Id from Items where Expires > getdate() + 1 and Expires < convert(datetime, "
	      "'2030-01-02 00:00:00', 120)",
	      "cols Id:varchar(512)!\nrow a\ndone C1 1\nend");
	QUERY("select datediff(second, LockTime, Expires) s, dateadd(day, 1, LockTime) d from Items where "
	      "LockTime is not null",
	      "cols s:int, d:datetime\nrow 86401|Jan  1 2030 11:59PM\ndone C1 1\nend");
	QUERY("declare @d datetime = '2030-01-01', @k varchar(10) = 'a' select Id from Items where Expires "
	      ">= @d and Id = @k",
	      "done C1 1\ndone C1 1\ncols Id:varchar(512)!\nrow a\ndone C1 1\nend");
	QUERY("select Id from Items where Expires = 'soon'",
	      "error 241/16/1 L1 Conversion failed when converting date and/or time from character "
	      "string.\ndone! FD\nfailed");
	QUERY("select Id from Items where LockCookie = 'x'",
	      "error 245/16/1 L1 Conversion failed when converting the varchar value 'x' to data type "
	      "int.\ndone! FD\nfailed");
	QUERY("select Id from Items where LockCookie > 1.5 and Id like '%[_]%'",
	      "cols Id:varchar(512)!\nrow c_d\ndone C1 1\nend");
	QUERY("select Id from Items where Id like 'c!_%' escape '!' or Id = null",
	      "cols Id:varchar(512)!\nrow c_d\ndone C1 1\nend");
	QUERY("select isnull(LockTime, '2000-01-01') from Items where Id = 'a'",
	      "cols :datetime\nrow Jan  1 2000 12:00AM\ndone C1 1\nend");
	QUERY("select upper(Id) + '!', len(Id), left(Id, 1), right(Id, 1), substring(Id, 2, 1), replace(Id, "
	      "'_', '-'), charindex('D', Id), cast(LockCookie as varchar(5)),"
	      " coalesce(Bytes, -1), iif(Locked = 1, 'y', 'n'), case LockCookie when 2 then 'two' else "
	      "'other' end, concat(Id, LockCookie, null), abs(-LockCookie)"
	      " from Items where Id = 'c_d'",
	      "cols :varchar(513), :int, :varchar(512), :varchar(512), :varchar(512), :varchar(8000), :int, "
	      ":varchar(5), :bigint, :varchar(1), :varchar(5), :nvarchar(4000)!, :int\n"
	      "row C_D!|3|c|d|_|c-d|3|2|-1|n|two|c_d2|2\ndone C1 1\nend");
}

static void joins_and_subqueries(void **state)
{
	(void)state;
	QUERY("select a.Id, b.Id as other from Items a left join Items b on a.LockCookie + 1 = b.LockCookie "
	      "order by a.LockCookie",
	      "cols Id:varchar(512)!, other:varchar(512)\nrow a|c_d\nrow c_d|NULL\nrow B|NULL\ndone C1 "
	      "3\nend");
	QUERY("select count(*) from Items a, Items b cross join Items c where a.Id <> b.Id",
	      "cols :int!\nrow 18\ndone C1 1\nend");
	QUERY("select Id from Items where LockCookie in (select max(LockCookie) from Items) and exists "
	      "(select 1 from Items i where i.Id = Items.Id)",
	      "cols Id:varchar(512)!\nrow B\ndone C1 1\nend");
	QUERY("select x.n from (select count(*) as n, TimeoutMinutes t from Items group by TimeoutMinutes) x "
	      "where x.t = 1",
	      "cols n:int!\nrow 2\ndone C1 1\nend");
	QUERY("select (select max(LockCookie) from Items) as m", "cols m:int\nrow 7\ndone C1 1\nend");
	QUERY("select Id from Items where Locked = 1 union all select 'z' order by 1 desc",
	      "cols Id:varchar(512)!\nrow z\nrow B\ndone C1 2\nend");
	QUERY("select 1 a union select 1 union select 2 order by a desc",
	      "cols a:int!\nrow 2\nrow 1\ndone C1 2\nend");
	QUERY("declare @n int, @s varchar(9) select @n = LockCookie, @s = Id from Items where Id = 'B' "
	      "select @n, @s, @@rowcount",
	      "done C1 1\ncols :int, :varchar(9), :int!\nrow 7|B|1\ndone C1 1\nend");
	QUERY("declare @n int = 5 select @n = LockCookie from Items where 1 = 0 select @n",
	      "done C1 1\ndone C1 0\ncols :int\nrow 5\ndone C1 1\nend");
	QUERY("declare @n int set @n = (select count(*) from Items) + 1 if @n = 4 and exists (select * from "
	      "Items where Id = 'a') print 'yes'",
	      "done C1 1\ndone C0\ninfo 0/0/1 L1 yes\ndone F7\nend");
	QUERY("declare @n varchar(9) set @n = (select Id from Items) print 'on'",
	      "error 512/16/1 L1 Subquery returned more than 1 value. This is not permitted when the "
	      "subquery follows =, !=, <, <= , >, >= or when the subquery is used as an expression.\n"
	      "done! FD\ndone C1 1\ninfo 0/0/1 L1 on\ndone F7\nend");
}

static void system_views(void **state)
{
	(void)state;
	QUERY("select name from sys.databases where NAME = 'db1' or name = N'MASTER' order by name",
	      "cols name:nvarchar(128)!\nrow Db1\nrow master\ndone C1 2\nend");
	QUERY("SELECT name AS TABLE_CAT FROM sys.databases order by name",
	      "cols TABLE_CAT:nvarchar(128)!\nrow Db1\nrow master\nrow Other\ndone C1 3\nend");
	QUERY("select name from master.sys.databases where database_id = 5",
	      "cols name:nvarchar(128)!\nrow Db1\ndone C1 1\nend");
	QUERY("select name from master..sysdatabases where name like 'OTH%'",
	      "cols name:nvarchar(128)!\nrow Other\ndone C1 1\nend");
	QUERY("set fmtonly on select name from sys.procedures set fmtonly off",
	      "done B9\ncols name:nvarchar(128)!\ndone C1 0\ndone BA\nend");
}

static void refusals(void **state)
{
	(void)state;
	QUERY("\nselect * from NoSuch", "error 208/16/1 L2 Invalid object name 'NoSuch'.\ndone! FD\nfailed");
	QUERY("select * from Nowhere.dbo.Items",
	      "error 208/16/1 L1 Invalid object name 'Nowhere.dbo.Items'.\ndone! FD\nfailed");
	QUERY("select * from Other.dbo.NoSuch",
	      "error 208/16/1 L1 Invalid object name 'Other.dbo.NoSuch'.\ndone! FD\nfailed");
	QUERY("select * from Closed.dbo.Items", "error 229/14/5 L1 The SELECT permission was denied on the "
						"object 'Items', database 'Other', schema "
						"'dbo'.\ndone! FD\nfailed");
	QUERY("select * from Items i join Other.dbo.Jobs j on j.JobId = i.LockCookie",
	      "error 50008/16/1 L1 One SELECT over the views of two databases is not supported by "
	      "Procession. "
	      "Use two SELECTs.\ndone! FD\nfailed");
	QUERY("select Id from Items where row_number() over (order by Id) = 1",
	      "error 4108/15/1 L1 Windowed functions can only appear in the SELECT or ORDER BY "
	      "clauses.\ndone! FD\nfailed");
	QUERY("with x (a, b) as (select Id from Items) select a from x",
	      "error 8159/16/1 L1 'x' has fewer columns than were specified in the column list.\ndone! "
	      "FD\nfailed");
	QUERY("select\nnope from Items", "error 207/16/1 L2 Invalid column name 'nope'.\ndone! FD\nfailed");
	QUERY("select x.Id from Items i",
	      "error 4104/16/1 L1 The multi-part identifier \"x.Id\" could not be bound.\ndone! FD\nfailed");
	QUERY("select Id from Items a, Items b",
	      "error 209/16/1 L1 Ambiguous column name 'Id'.\ndone! FD\nfailed");
	QUERY("select z.* from Items", "error 107/15/1 L1 The column prefix 'z' does not match with a table "
				       "name or alias name used in the query.\ndone! FD\nfailed");
	QUERY("select Id, count(*) from Items",
	      "error 8120/16/1 L1 Column 'Id' is invalid in the select list because it is not contained in "
	      "either an aggregate function or the GROUP BY clause.\ndone! FD\nfailed");
	QUERY("select Id from Items order by 5",
	      "error 108/16/1 L1 The ORDER BY position number 5 is out of range of the number of items in "
	      "the select list.\ndone! FD\nfailed");
	QUERY("select top (-1) Id from Items",
	      "error 127/15/1 L1 A TOP N or FETCH rowcount value may not be negative.\ndone! FD\nfailed");
	QUERY("select i.Id from Items i, sys.databases d",
	      "error 50008/16/1 L1 One SELECT over system views and tables of the database is not supported "
	      "by Procession. Use two SELECTs.\ndone! FD\nfailed");
	QUERY("declare @s varchar(100) = '' select @s = @s + Id from Items",
	      "done C1 1\nerror 50008/16/1 L1 A SELECT … FROM that reads the variable it sets is not "
	      "supported by Procession. Read the columns and compute it in the client.\ndone! FD\nfailed");
	QUERY("select reverse(Id) from Items",
	      "error 50008/16/1 L1 REVERSE of a column is not supported by Procession. Read the columns and "
	      "compute it in the client.\ndone! FD\nfailed");
	QUERY("select upper(Expires) from Items",
	      "error 50008/16/1 L1 UPPER of a column is not supported by Procession. Read the columns and "
	      "compute it in the client.\ndone! FD\nfailed");
	QUERY("select * into x from Items",
	      "compile 50008/16/1 L1 SELECT … INTO is not supported by Procession. Read the rows and call "
	      "the stored procedures instead.");
	QUERY("select Id from Items for xml auto",
	      "compile 50008/16/1 L1 SELECT … FOR XML or FOR JSON is not supported by Procession. Read the "
	      "rows and format them in the client.");
}

static void names_and_texts_never_become_sql(void **state)
{
	(void)state;
	QUERY("select Id as [x\"; drop], 'it''s \"; --' y from Items where Id = 'a'' or 1=1 --'",
	      "cols x\"; drop:varchar(512)!, y:varchar(10)!\ndone C1 0\nend");
	QUERY("select [Id\"] from Items", "error 207/16/1 L1 Invalid column name 'Id\"'.\ndone! FD\nfailed");
	QUERY("select * from [Items\" union select * from item --]",
	      "error 208/16/1 L1 Invalid object name 'Items\" union select * from item --'.\ndone! "
	      "FD\nfailed");
	QUERY("select * from view_items",
	      "error 208/16/1 L1 Invalid object name 'view_items'.\ndone! FD\nfailed");
}

static void describing(void **state)
{
	const struct column *c;
	struct tsql_program *p;
	struct host h;
	struct err e;
	size_t n;

	(void)state;
	host_init(&h);
	assert_int_equal(tsql_compile(STR("declare @x int; set @x = 1; select Id, @x as x from Items where "
					  "LockCookie = @x; select 2"),
				      &h.vars, NULL, 0, NULL, &h.arena, &p, &e),
			 0);
	assert_int_equal(tsql_describe(p, &h.host, NULL, &h.arena, &c, &n, &e), 0);
	assert_int_equal(n, 2);
	assert_string_equal(c[0].name, "Id");
	assert_true(c[1].type.id == TYPE_INT && c[1].nullable);
	assert_int_equal(tsql_compile(STR("print 'x'"), &h.vars, NULL, 0, NULL, &h.arena, &p, &e), 0);
	assert_int_equal(tsql_describe(p, &h.host, NULL, &h.arena, &c, &n, &e), 0);
	assert_int_equal(n, 0);
	assert_int_equal(tsql_compile(STR("exec sp_databases"), &h.vars, NULL, 0, NULL, &h.arena, &p, &e), 0);
	assert_int_equal(tsql_describe(p, &h.host, NULL, &h.arena, &c, &n, &e), 0);
	assert_int_equal(n, 3);
	assert_int_equal(tsql_compile(STR("select * from nowhere"), &h.vars, NULL, 0, NULL, &h.arena, &p, &e),
			 0);
	assert_int_equal(tsql_describe(p, &h.host, NULL, &h.arena, &c, &n, &e), -1);
	assert_int_equal(e.number, 208);
	host_fini(&h);
}

/* An item whose name ends with blanks. */
static int one_more(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/0.db", stores->dir);
	fill(path,
	     "INSERT INTO item (n, id, cookie, locked, lock_time, timeout, expires, sweep) VALUES (4, 'e  ', "
	     "9, 0, NULL, 18000, 0, 0)");
	return 0;
}

/* T-SQL takes the shorter text to be filled up with blanks. */
static void blanks_at_the_end_do_not_count(void **state)
{
	(void)state;
	QUERY("select Id from Items where Id = 'a  '", "cols Id:varchar(512)!\nrow a\ndone C1 1\nend");
	QUERY("select Id from Items where 'e' = Id", "cols Id:varchar(512)!\nrow e  \ndone C1 1\nend");
	QUERY("select Id from Items where Id in (N'a ', 'e') order by Id",
	      "cols Id:varchar(512)!\nrow a\nrow e  \ndone C1 2\nend");
	QUERY("select Id from Items where Id <> 'e' and Id >= 'c_d ' ", "cols Id:varchar(512)!\nrow "
									"c_d\ndone C1 1\nend");
	QUERY("select Id from Items where Id > 'd' and Id <= 'e'", "cols Id:varchar(512)!\nrow e  \ndone C1 "
								   "1\nend");
	QUERY("select case Id when 'e ' then 1 else 0 end x from Items where Id between 'e' and 'e'",
	      "cols x:int\nrow 1\ndone C1 1\nend");
	QUERY("select count(*) n from Items a join Items b on a.Id = rtrim(b.Id)",
	      "cols n:int!\nrow 4\ndone C1 1\nend");
	QUERY("select count(*) n from Items where Id in (select rtrim(Id) from Items)",
	      "cols n:int!\nrow 4\ndone C1 1\nend");
	QUERY("select nullif(Id, 'e') x from Items where Id = 'e'",
	      "cols x:varchar(512)\nrow NULL\ndone C1 1\nend");
	QUERY("select distinct x from (select Id x from Items where Id = 'e' union all select rtrim(Id) from "
	      "Items where Id = 'e') t",
	      "cols x:varchar(512)\nrow e  \ndone C1 1\nend");
	QUERY("select count(*) n from (select Id x from Items union all select rtrim(Id) from Items) t group "
	      "by x having x = 'e'",
	      "cols n:int!\nrow 2\ndone C1 1\nend");
	/* with case, as the procedures compare */
	QUERY("select Id from Items where Id = 'A'", "cols Id:varchar(512)!\ndone C1 0\nend");
	/* an empty text equals one of blanks alone */
	QUERY("select count(*) n from Items where '' = replace(Id, 'e', '')", "cols n:int!\nrow 1\ndone C1 "
									      "1\nend");
	/* LIKE: blanks of the text may stay, those of the pattern count; nvarchar minds both */
	QUERY("select Id from Items where Id like 'e'", "cols Id:varchar(512)!\nrow e  \ndone C1 1\nend");
	QUERY("select Id from Items where Id like 'a '", "cols Id:varchar(512)!\ndone C1 0\nend");
	QUERY("select Id from Items where Id like N'e'", "cols Id:varchar(512)!\ndone C1 0\nend");
}

static void pages(void **state)
{
	(void)state;
	QUERY("select Id, row_number() over (order by Id desc) n from Items where Id < 'd' order by n",
	      "cols Id:varchar(512)!, n:bigint\nrow c_d|1\nrow a|2\nrow B|3\ndone C1 3\nend");
	QUERY("select Id, row_number() over (partition by Locked order by Id) n from Items order by Id",
	      "cols Id:varchar(512)!, n:bigint\nrow B|1\nrow a|1\nrow c_d|2\nrow e  |3\ndone C1 4\nend");
	QUERY("select x.Id from (select i.*, row_number() over (order by (select 1)) r from Items i) x where "
	      "x.r >= 2 and x.r <= 2",
	      "cols Id:varchar(512)!\nrow B\ndone C1 1\nend");
	QUERY("with q as (select i.*, row_number() over (order by current_timestamp) as r from (select top "
	      "(3) "
	      "Id as k from Items order by Id) i) select k from q where r >= 2 and r < 4",
	      "cols k:varchar(512)!\nrow a\nrow c_d\ndone C1 2\nend");
	QUERY("with a (x) as (select LockCookie from Items), b as (select max(x) m from a) select a.x, m "
	      "from a "
	      "join b on m = x;",
	      "cols x:int!, m:int\nrow 9|9\ndone C1 1\nend");
	QUERY("select Id from Items order by (select 0) offset 3 rows fetch next 5 rows only",
	      "cols Id:varchar(512)!\nrow e  \ndone C1 1\nend");
	QUERY("select count(*) n, row_number() over (order by count(*)) r from Items group by Locked order "
	      "by 2",
	      "cols n:int!, r:bigint\nrow 1|1\nrow 3|2\ndone C1 2\nend");
}

static void other_databases(void **state)
{
	(void)state;
	QUERY("select JobId from Other.dbo.Jobs", "cols JobId:bigint!\ndone C1 0\nend");
	QUERY("select j.Name from Other..Jobs j where j.JobId = 4",
	      "cols Name:nvarchar(max)\ndone C1 0\nend");
	QUERY("select count(*) n from Other.sys.schemas where name = 'dbo'",
	      "cols n:int!\nrow 1\ndone C1 1\nend");
	QUERY("select count(*) n from sys.all_objects where name = 'proc_AddJob'",
	      "cols n:int!\nrow 0\ndone C1 1\nend");
	QUERY("select count(*) n from sys.objects a join Other.sys.objects b on a.name = b.name where a.type "
	      "= "
	      "'P' and a.name like 'proc[_]%'",
	      "cols n:int!\nrow 0\ndone C1 1\nend");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_and_rows),
		cmocka_unit_test(constants_take_the_columns_type),
		cmocka_unit_test(joins_and_subqueries),
		cmocka_unit_test(system_views),
		cmocka_unit_test(refusals),
		cmocka_unit_test(names_and_texts_never_become_sql),
		cmocka_unit_test(describing),
		cmocka_unit_test(other_databases),
		cmocka_unit_test_setup(blanks_at_the_end_do_not_count, one_more),
		cmocka_unit_test(pages),
	};
	return cmocka_run_group_tests(tests, up, down);
}
