/* dblib.c — DB-Library (FreeTDS libsybdb): RPC through dbrpcinit, batches, text, cancel. */
#include <sybfront.h>
#include <sybdb.h>

#include "harness.h"

static int last_error; /* number of the last server message above class 10 */
static char last_text[512];
static const char *section = "plain74";

static int on_message(DBPROCESS *db, DBINT number, int state, int severity, char *text, char *server,
		      char *proc, int line)
{
	(void)db, (void)state, (void)server, (void)proc, (void)line;
	if (severity > 10) {
		if (last_error == 0) {
			last_error = number;
			snprintf(last_text, sizeof(last_text), "%s", text);
		}
	}
	return 0;
}

static int on_error(DBPROCESS *db, int severity, int dberr, int oserr, char *text, char *ostext)
{
	(void)db, (void)severity, (void)dberr, (void)oserr, (void)text, (void)ostext;
	return dberr == SYBETIME ? INT_TIMEOUT : INT_CANCEL;
}

static DBPROCESS *open_as(const char *server, const char *user, const char *password, const char *database)
{
	LOGINREC *login = dblogin();
	DBPROCESS *db;

	last_error = 0;
	dbsetlname(login, user, DBSETUSER);
	dbsetlname(login, password, DBSETPWD);
	dbsetlname(login, "dblib test", DBSETAPP);
	if (database != NULL)
		dbsetlname(login, database, DBSETDBNAME);
	db = dbopen(login, server);
	dbloginfree(login);
	return db;
}

static DBPROCESS *open_db(void)
{
	return open_as(section, setting("PT_USER"), setting("PT_PASSWORD"), "StateService");
}

static bool finish(DBPROCESS *db)
{
	RETCODE rc;

	while ((rc = dbresults(db)) == SUCCEED)
		while (dbnextrow(db) != NO_MORE_ROWS)
			;
	return rc == NO_MORE_RESULTS;
}

static bool run_batch(DBPROCESS *db, const char *text)
{
	last_error = 0;
	return dbcmd(db, text) == SUCCEED && dbsqlexec(db) == SUCCEED && finish(db) && last_error == 0;
}

/* First column of the first row of the first result set that has rows. */
static bool query(DBPROCESS *db, const char *text, char *ret, size_t size)
{
	bool found = false;

	last_error = 0;
	if (dbcmd(db, text) != SUCCEED || dbsqlexec(db) != SUCCEED)
		return false;
	while (dbresults(db) == SUCCEED)
		while (dbnextrow(db) != NO_MORE_ROWS)
			if (!found && dbnumcols(db) > 0) {
				found = true;
				if (dbdata(db, 1) == NULL)
					snprintf(ret, size, "NULL");
				else {
					int n = dbconvert(db, dbcoltype(db, 1), dbdata(db, 1),
							  dbdatlen(db, 1), SYBCHAR, (BYTE *)ret,
							  (DBINT)size - 1);

					if (n < 0)
						return false;
					ret[n] = '\0';
				}
			}
	return found;
}

static bool add_item(DBPROCESS *db, const char *key, const BYTE *data, int size)
{
	DBINT timeout = 20;

	last_error = 0;
	return dbrpcinit(db, "proc_AddItem", 0) == SUCCEED &&
	       dbrpcparam(db, "@id", 0, SYBVARCHAR, -1, (DBINT)strlen(key), (BYTE *)key) == SUCCEED &&
	       dbrpcparam(db, "@item", 0, size > 8000 ? SYBIMAGE : SYBVARBINARY, -1, size, (BYTE *)data) ==
		       SUCCEED &&
	       dbrpcparam(db, "@timeout", 0, SYBINT4, -1, -1, (BYTE *)&timeout) == SUCCEED &&
	       dbrpcsend(db) == SUCCEED && dbsqlok(db) == SUCCEED && finish(db) && last_error == 0;
}

static bool connects(void)
{
	char text[64];
	DBPROCESS *db = open_db();

	CHECK(db != NULL, "%d %s", last_error, last_text);
	CHECK(query(db, "select db_name()", text, sizeof(text)) && strcmp(text, "StateService") == 0, "%s",
	      text);
	dbclose(db);
	return true;
}

static bool tls(void)
{
	char text[64];

	for (int i = 0; i < 2; i++) {
		DBPROCESS *db = open_as(i == 0 ? "login74" : "tls74", setting("PT_USER"),
					setting("PT_PASSWORD"), "StateService");

		CHECK(db != NULL, "%d %s", last_error, last_text);
		CHECK(query(db, "select 1", text, sizeof(text)) && strcmp(text, "1") == 0, "%s", text);
		dbclose(db);
	}
	return true;
}

static bool wrong_password(void)
{
	CHECK(open_as(section, "nobody", "wrong", "StateService") == NULL, "logged in");
	CHECK(last_error == 18456 && strstr(last_text, "Login failed for user 'nobody'") != NULL, "%d %s",
	      last_error, last_text);
	return true;
}

static bool missing_database(void)
{
	CHECK(open_as(section, setting("PT_USER"), setting("PT_PASSWORD"), "Nowhere") == NULL, "logged in");
	CHECK(last_error == 4060, "%d %s", last_error, last_text);
	return true;
}

static bool get_item(DBPROCESS *db, const char *proc, const char *key, BYTE *item, int *item_len, int *locked,
		     int *cookie, int *status)
{
	DBINT zero = 0;
	BYTE bit = 0;
	int n;

	if (dbrpcinit(db, proc, 0) != SUCCEED ||
	    dbrpcparam(db, "@id", 0, SYBVARCHAR, -1, (DBINT)strlen(key), (BYTE *)key) != SUCCEED ||
	    dbrpcparam(db, "@item", DBRPCRETURN, SYBVARBINARY, 8000, 0, NULL) != SUCCEED ||
	    dbrpcparam(db, "@locked", DBRPCRETURN, SYBBIT, -1, -1, &bit) != SUCCEED ||
	    dbrpcparam(db, "@lockAgeInSeconds", DBRPCRETURN, SYBINT4, -1, -1, (BYTE *)&zero) != SUCCEED ||
	    dbrpcparam(db, "@lockCookie", DBRPCRETURN, SYBINT4, -1, -1, (BYTE *)&zero) != SUCCEED ||
	    dbrpcsend(db) != SUCCEED || dbsqlok(db) != SUCCEED || !finish(db))
		return false;
	*status = dbhasretstat(db) ? dbretstatus(db) : -1000;
	n = dbnumrets(db);
	if (n != 4)
		return false;
	for (int i = 1; i <= n; i++) {
		const char *name = dbretname(db, i);
		BYTE *data = dbretdata(db, i);

		if (strcmp(name, "@item") == 0) {
			*item_len = data == NULL ? -1 : dbretlen(db, i);
			if (data != NULL)
				memcpy(item, data, (size_t)*item_len);
		} else if (strcmp(name, "@locked") == 0) {
			*locked = data == NULL ? -1 : *data;
		} else if (strcmp(name, "@lockCookie") == 0) {
			*cookie = data == NULL ? -1 : *(DBINT *)data;
		}
	}
	return true;
}

static bool rpc_output(void)
{
	DBPROCESS *db = open_db();
	const char *key = fresh_key("k");
	BYTE item[8000];
	int len = 0, locked = 0, cookie = 0, status = 0;

	CHECK(add_item(db, key, (const BYTE *)"abc", 3), "%d %s", last_error, last_text);
	CHECK(get_item(db, "proc_GetItemWithLock", key, item, &len, &locked, &cookie, &status), "%d %s",
	      last_error, last_text);
	CHECK(len == 3 && memcmp(item, "abc", 3) == 0 && locked == 0 && cookie == 2 && status == 0,
	      "%d %d %d %d", len, locked, cookie, status);
	CHECK(get_item(db, "proc_GetItemWithLock", key, item, &len, &locked, &cookie, &status), "%d %s",
	      last_error, last_text);
	CHECK(len == -1 && locked == 1 && cookie == 2, "%d %d %d", len, locked, cookie);
	CHECK(get_item(db, "dbo.proc_GetItemWithoutLock", fresh_key("absent"), item, &len, &locked, &cookie,
		       &status),
	      "%d %s", last_error, last_text);
	CHECK(locked == -1 && cookie == -1, "%d %d", locked, cookie);
	dbclose(db);
	return true;
}

static bool rpc_results(void)
{
	DBPROCESS *db = open_db();
	bool found = false;

	CHECK(dbrpcinit(db, "sp_stored_procedures", 0) == SUCCEED && dbrpcsend(db) == SUCCEED &&
		      dbsqlok(db) == SUCCEED,
	      "%d", last_error);
	while (dbresults(db) == SUCCEED)
		while (dbnextrow(db) != NO_MORE_ROWS)
			if (dbdatlen(db, 3) >= 12 && memcmp(dbdata(db, 3), "proc_AddItem", 12) == 0)
				found = true;
	CHECK(found, "proc_AddItem is not in the list");
	dbclose(db);
	return true;
}

static bool batch(void)
{
	DBPROCESS *db = open_db();
	const char *key = fresh_key("k");
	char text[1000], value[64];

	snprintf(text, sizeof(text), "exec proc_AddItem @id = '%s', @item = 0x0102, @timeout = 20", key);
	CHECK(run_batch(db, text), "%d %s", last_error, last_text);
	snprintf(text, sizeof(text),
		 "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock '%s', @i "
		 "output, @l output, @a output, @c output select @i",
		 key);
	CHECK(query(db, text, value, sizeof(value)) && strcmp(value, "0102") == 0, "%s", value);
	dbclose(db);
	return true;
}

static bool values(void)
{
	static const int sizes[] = { 1, 8000, 8001, 1 << 20, 1 << 25 };
	DBPROCESS *db = open_db();

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *key = fresh_key("big");
		BYTE *data = malloc((size_t)sizes[i]);
		char text[500];
		bool same = false;

		for (int j = 0; j < sizes[i]; j++)
			data[j] = (BYTE)(j * 7 + j / 256);
		CHECK(add_item(db, key, data, sizes[i]), "%d bytes: %d %s", sizes[i], last_error, last_text);
		snprintf(text, sizeof(text),
			 "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock "
			 "'%s', @i output, @l output, @a output, @c output select @i",
			 key);
		CHECK(dbcmd(db, text) == SUCCEED && dbsqlexec(db) == SUCCEED, "%d %s", last_error, last_text);
		while (dbresults(db) == SUCCEED)
			while (dbnextrow(db) != NO_MORE_ROWS)
				same = dbdatlen(db, 1) == sizes[i] &&
				       memcmp(dbdata(db, 1), data, (size_t)sizes[i]) == 0;
		CHECK(same, "%d bytes came back different", sizes[i]);
		free(data);
	}
	{
		char text[200];

		CHECK(query(db, "select N'żółw €'", text, sizeof(text)) && strcmp(text, "żółw €") == 0, "%s",
		      text);
		CHECK(query(db, "select cast(null as int)", text, sizeof(text)) && strcmp(text, "NULL") == 0,
		      "%s", text);
	}
	dbclose(db);
	return true;
}

static bool status(void)
{
	DBPROCESS *db = open_db();
	const char *key = fresh_key("k");

	CHECK(dbrpcinit(db, "proc_RefreshItemExpiration", 0) == SUCCEED &&
		      dbrpcparam(db, "", 0, SYBVARCHAR, -1, (DBINT)strlen(key), (BYTE *)key) == SUCCEED &&
		      dbrpcsend(db) == SUCCEED && dbsqlok(db) == SUCCEED && finish(db),
	      "%d", last_error);
	CHECK(dbhasretstat(db) && dbretstatus(db) == 0, "no status");
	dbclose(db);
	return true;
}

static bool errors(void)
{
	DBPROCESS *db = open_db();
	const char *key = fresh_key("k");

	CHECK(add_item(db, key, (const BYTE *)"x", 1), "%d", last_error);
	CHECK(!add_item(db, key, (const BYTE *)"x", 1) && last_error == 2627, "%d %s", last_error, last_text);
	CHECK(!run_batch(db, "exec proc_AddItem 'k'") && last_error == 201, "%d %s", last_error, last_text);
	CHECK(!run_batch(db, "exec proc_Nothing") && last_error == 2812, "%d %s", last_error, last_text);
	CHECK(run_batch(db, "select 1"), "%d", last_error);
	dbclose(db);
	return true;
}

static bool present(DBPROCESS *db, const char *key)
{
	char text[500], value[64] = "";

	snprintf(text, sizeof(text),
		 "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock '%s', @i "
		 "output, @l output, @a output, @c output select @l",
		 key);
	return query(db, text, value, sizeof(value)) && strcmp(value, "NULL") != 0;
}

static bool transactions(void)
{
	DBPROCESS *db = open_db(), *other = open_db();
	const char *a = fresh_key("a"), *b = fresh_key("b");

	CHECK(run_batch(db, "begin tran") && add_item(db, a, (const BYTE *)"x", 1) && present(db, a) &&
		      run_batch(db, "rollback tran"),
	      "%d", last_error);
	CHECK(!present(other, a), "seen after rollback");
	CHECK(run_batch(db, "begin tran") && add_item(db, b, (const BYTE *)"x", 1) &&
		      run_batch(db, "commit tran"),
	      "%d", last_error);
	CHECK(present(other, b), "not seen after commit");
	dbclose(db);
	dbclose(other);
	return true;
}

static bool cancel(void)
{
	DBPROCESS *db = open_db();
	char text[64];
	double start = seconds();

	CHECK(dbcmd(db, "waitfor delay '00:00:20'") == SUCCEED && dbsqlsend(db) == SUCCEED, "%d", last_error);
	usleep(200000);
	CHECK(dbcancel(db) == SUCCEED, "cancel");
	CHECK(seconds() - start < 10, "too late");
	CHECK(query(db, "select 7", text, sizeof(text)) && strcmp(text, "7") == 0, "%s", text);
	CHECK(dbcmd(db, "exec sp_stored_procedures") == SUCCEED && dbsqlexec(db) == SUCCEED &&
		      dbresults(db) == SUCCEED && dbnextrow(db) == REG_ROW,
	      "rows");
	CHECK(dbcancel(db) == SUCCEED && query(db, "select 8", text, sizeof(text)) && strcmp(text, "8") == 0,
	      "%s", text);
	dbclose(db);
	return true;
}

int main(void)
{
	static const struct feature features[] = {
		{ "connect", connects },
		{ "tls", tls },
		{ "wrong_password", wrong_password },
		{ "missing_database", missing_database },
		{ "rpc_output", rpc_output },
		{ "rpc_results", rpc_results },
		{ "batch", batch },
		{ "values", values },
		{ "status", status },
		{ "errors", errors },
		{ "transactions", transactions },
		{ "cancel", cancel },
	};

	if (dbinit() == FAIL)
		return 2;
	dberrhandle(on_error);
	dbmsghandle(on_message);
	dbsetlogintime(15);
	return run_features(features, sizeof(features) / sizeof(features[0]));
}
