/* odbc.c — ODBC through unixODBC and FreeTDS' driver: {call}, output parameters, prepared
 * statements, SQLProcedures, SQLCancel. */
#include <pthread.h>

#include <sql.h>
#include <sqlext.h>

#include "harness.h"

static SQLHENV env;
static char last[1500]; /* diagnostics of the last failure */
static SQLINTEGER last_error;

static void diagnose(SQLSMALLINT kind, SQLHANDLE h)
{
	SQLCHAR state[6], text[600];
	SQLSMALLINT n;
	size_t used = 0;

	last[0] = '\0';
	last_error = 0;
	for (SQLSMALLINT i = 1; i < 5; i++) {
		SQLINTEGER native;

		if (!SQL_SUCCEEDED(SQLGetDiagRec(kind, h, i, state, &native, text, sizeof(text), &n)))
			break;
		if (i == 1)
			last_error = native;
		used += (size_t)snprintf(last + used, sizeof(last) - used, "[%d %s] ", (int)native,
					 (char *)text);
		if (used >= sizeof(last))
			break;
	}
}

static SQLHDBC open_as(const char *user, const char *password, const char *database, const char *port,
		       const char *encryption)
{
	SQLHDBC db;
	char text[600];

	SQLAllocHandle(SQL_HANDLE_DBC, env, &db);
	SQLSetConnectAttr(db, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER)15, 0);
	snprintf(text, sizeof(text),
		 "DRIVER=FreeTDS;SERVER=%s;PORT=%s;TDS_Version=7.4;ClientCharset=UTF-8;Encryption=%s;UID=%s;"
		 "PWD=%s;DATABASE=%s",
		 setting("PT_HOST"), port, encryption, user, password, database);
	if (SQL_SUCCEEDED(
		    SQLDriverConnect(db, NULL, (SQLCHAR *)text, SQL_NTS, NULL, 0, NULL, SQL_DRIVER_NOPROMPT)))
		return db;
	diagnose(SQL_HANDLE_DBC, db);
	SQLFreeHandle(SQL_HANDLE_DBC, db);
	return NULL;
}

static SQLHDBC open_db(void)
{
	return open_as(setting("PT_USER"), setting("PT_PASSWORD"), "StateService", setting("PT_PORT"), "off");
}

static void close_db(SQLHDBC db)
{
	SQLDisconnect(db);
	SQLFreeHandle(SQL_HANDLE_DBC, db);
}

static SQLHSTMT statement(SQLHDBC db)
{
	SQLHSTMT st = NULL;

	SQLAllocHandle(SQL_HANDLE_STMT, db, &st);
	return st;
}

static bool drain(SQLHSTMT st)
{
	SQLRETURN rc;

	while (SQL_SUCCEEDED(rc = SQLMoreResults(st)))
		;
	if (rc != SQL_NO_DATA)
		diagnose(SQL_HANDLE_STMT, st);
	return rc == SQL_NO_DATA;
}

/* Runs text; the first column of the first row goes to ret as text. */
static bool query(SQLHDBC db, const char *text, char *ret, size_t size)
{
	SQLHSTMT st = statement(db);
	SQLRETURN rc = SQLExecDirect(st, (SQLCHAR *)text, SQL_NTS);
	SQLSMALLINT columns = 0;
	SQLLEN n = 0;
	bool ok = false;

	if (!SQL_SUCCEEDED(rc) && rc != SQL_NO_DATA) {
		diagnose(SQL_HANDLE_STMT, st);
	} else {
		ok = true;
		do {
			SQLNumResultCols(st, &columns);
			if (columns > 0 && SQLFetch(st) == SQL_SUCCESS && ret != NULL) {
				SQLGetData(st, 1, SQL_C_CHAR, ret, (SQLLEN)size, &n);
				if (n == SQL_NULL_DATA)
					snprintf(ret, size, "NULL");
			}
		} while (SQL_SUCCEEDED(rc = SQLMoreResults(st)));
		if (rc != SQL_NO_DATA) {
			diagnose(SQL_HANDLE_STMT, st);
			ok = false;
		}
	}
	SQLFreeHandle(SQL_HANDLE_STMT, st);
	return ok;
}

static bool add_item(SQLHDBC db, const char *key, const void *data, size_t size)
{
	SQLHSTMT st = statement(db);
	SQLLEN key_len = SQL_NTS, len = data == NULL ? SQL_NULL_DATA : (SQLLEN)size, int_len = 0;
	SQLINTEGER timeout = 20;
	SQLRETURN rc;
	SQLULEN column = size == 0 ? 1 : size;
	bool ok;

	SQLBindParameter(st, 1, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR, 512, 0, (SQLPOINTER)key, 0,
			 &key_len);
	SQLBindParameter(st, 2, SQL_PARAM_INPUT, SQL_C_BINARY,
			 size > 8000 ? SQL_LONGVARBINARY : SQL_VARBINARY, column, 0, (SQLPOINTER)data,
			 (SQLLEN)size, &len);
	SQLBindParameter(st, 3, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER, 0, 0, &timeout, 0, &int_len);
	rc = SQLExecDirect(st, (SQLCHAR *)"{call proc_AddItem (?, ?, ?)}", SQL_NTS);
	/* FreeTDS says no data when there was neither a result set nor a count */
	ok = SQL_SUCCEEDED(rc) || rc == SQL_NO_DATA;
	if (!ok)
		diagnose(SQL_HANDLE_STMT, st);
	else
		ok = drain(st);
	SQLFreeHandle(SQL_HANDLE_STMT, st);
	return ok;
}

struct item {
	SQLINTEGER status, age, cookie;
	unsigned char locked, data[8000];
	SQLLEN status_len, data_len, locked_len, age_len, cookie_len;
};

static bool get_item(SQLHDBC db, const char *text, const char *key, struct item *ret)
{
	SQLHSTMT st = statement(db);
	SQLLEN key_len = SQL_NTS;
	SQLRETURN rc;
	bool ok;

	memset(ret, 0, sizeof(*ret));
	ret->data_len = SQL_NULL_DATA;
	SQLBindParameter(st, 1, SQL_PARAM_OUTPUT, SQL_C_SLONG, SQL_INTEGER, 0, 0, &ret->status, 0,
			 &ret->status_len);
	SQLBindParameter(st, 2, SQL_PARAM_INPUT, SQL_C_CHAR, SQL_VARCHAR, 512, 0, (SQLPOINTER)key, 0,
			 &key_len);
	SQLBindParameter(st, 3, SQL_PARAM_INPUT_OUTPUT, SQL_C_BINARY, SQL_VARBINARY, 8000, 0, ret->data,
			 sizeof(ret->data), &ret->data_len);
	SQLBindParameter(st, 4, SQL_PARAM_INPUT_OUTPUT, SQL_C_BIT, SQL_BIT, 0, 0, &ret->locked, 0,
			 &ret->locked_len);
	SQLBindParameter(st, 5, SQL_PARAM_INPUT_OUTPUT, SQL_C_SLONG, SQL_INTEGER, 0, 0, &ret->age, 0,
			 &ret->age_len);
	SQLBindParameter(st, 6, SQL_PARAM_INPUT_OUTPUT, SQL_C_SLONG, SQL_INTEGER, 0, 0, &ret->cookie, 0,
			 &ret->cookie_len);
	rc = SQLExecDirect(st, (SQLCHAR *)text, SQL_NTS);
	ok = SQL_SUCCEEDED(rc) || rc == SQL_NO_DATA;
	if (!ok)
		diagnose(SQL_HANDLE_STMT, st);
	else
		ok = drain(st);
	SQLFreeHandle(SQL_HANDLE_STMT, st);
	return ok;
}

static bool connects(void)
{
	char text[64] = "";
	SQLHDBC db = open_db();

	CHECK(db != NULL, "%s", last);
	CHECK(query(db, "select db_name()", text, sizeof(text)) && strcmp(text, "StateService") == 0, "%s %s",
	      text, last);
	close_db(db);
	return true;
}

static bool tls(void)
{
	for (int i = 0; i < 2; i++) {
		char text[64] = "";
		SQLHDBC db = open_as(setting("PT_USER"), setting("PT_PASSWORD"), "StateService",
				     setting(i == 0 ? "PT_PORT" : "PT_TLS_PORT"),
				     i == 0 ? "request" : "require");

		CHECK(db != NULL, "%s", last);
		CHECK(query(db, "select 1", text, sizeof(text)) && strcmp(text, "1") == 0, "%s", text);
		close_db(db);
	}
	return true;
}

static bool wrong_password(void)
{
	CHECK(open_as("nobody", "wrong", "StateService", setting("PT_PORT"), "off") == NULL, "logged in");
	CHECK(strstr(last, "18456") != NULL && strstr(last, "Login failed for user 'nobody'") != NULL, "%s",
	      last);
	return true;
}

static bool missing_database(void)
{
	CHECK(open_as(setting("PT_USER"), setting("PT_PASSWORD"), "Nowhere", setting("PT_PORT"), "off") ==
		      NULL,
	      "logged in");
	CHECK(strstr(last, "4060") != NULL, "%s", last);
	return true;
}

static bool rpc_output(void)
{
	SQLHDBC db = open_db();
	const char *key = fresh_key("k");
	struct item it;

	CHECK(add_item(db, key, "abc", 3), "%s", last);
	CHECK(get_item(db, "{? = call proc_GetItemWithLock (?, ?, ?, ?, ?)}", key, &it), "%s", last);
	CHECK(it.status == 0 && it.data_len == 3 && memcmp(it.data, "abc", 3) == 0 && it.locked == 0 &&
		      it.cookie == 2,
	      "%d %d %d %d", (int)it.status, (int)it.data_len, it.locked, (int)it.cookie);
	CHECK(get_item(db, "{? = call proc_GetItemWithLock (?, ?, ?, ?, ?)}", key, &it), "%s", last);
	CHECK(it.data_len == SQL_NULL_DATA && it.locked == 1, "%d %d", (int)it.data_len, it.locked);
	CHECK(get_item(db, "{? = call proc_GetItemWithoutLock (?, ?, ?, ?, ?)}", fresh_key("absent"), &it),
	      "%s", last);
	CHECK(it.locked_len == SQL_NULL_DATA && it.cookie_len == SQL_NULL_DATA, "%d %d", (int)it.locked_len,
	      (int)it.cookie_len);
	close_db(db);
	return true;
}

static bool rpc_results(void)
{
	SQLHDBC db = open_db();
	char text[256] = "";

	CHECK(query(db, "{call sp_server_info}", text, sizeof(text)) && strcmp(text, "1") == 0, "%s %s", text,
	      last);
	close_db(db);
	return true;
}

static bool batch(void)
{
	SQLHDBC db = open_db();
	const char *key = fresh_key("k");
	char text[500], value[64] = "";

	snprintf(text, sizeof(text), "exec proc_AddItem @id = '%s', @item = 0x0102, @timeout = 20", key);
	CHECK(query(db, text, NULL, 0), "%s", last);
	snprintf(text, sizeof(text),
		 "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock '%s', @i "
		 "output, @l output, @a output, @c output select @i",
		 key);
	CHECK(query(db, text, value, sizeof(value)) && strcmp(value, "0102") == 0, "%s %s", value, last);
	close_db(db);
	return true;
}

static bool prepared(void)
{
	SQLHDBC db = open_db();
	SQLHSTMT st = statement(db);
	SQLINTEGER in = 0;
	SQLLEN in_len = 0;

	CHECK(SQL_SUCCEEDED(SQLPrepare(st, (SQLCHAR *)"select ? + 1", SQL_NTS)), "prepare");
	SQLBindParameter(st, 1, SQL_PARAM_INPUT, SQL_C_SLONG, SQL_INTEGER, 0, 0, &in, 0, &in_len);
	for (in = 5; in < 8; in++) {
		SQLINTEGER out = 0;
		SQLLEN n;

		if (!SQL_SUCCEEDED(SQLExecute(st)))
			diagnose(SQL_HANDLE_STMT, st);
		CHECK(SQLFetch(st) == SQL_SUCCESS &&
			      SQL_SUCCEEDED(SQLGetData(st, 1, SQL_C_SLONG, &out, 0, &n)) && out == in + 1,
		      "%d %s", (int)out, last);
		SQLFreeStmt(st, SQL_CLOSE);
	}
	SQLFreeHandle(SQL_HANDLE_STMT, st);
	close_db(db);
	return true;
}

static bool values(void)
{
	static const size_t sizes[] = { 1, 8000, 8001, 1 << 20, 1 << 25 };
	SQLHDBC db = open_db();
	char value[64] = "";

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *key = fresh_key("big");
		unsigned char *data = malloc(sizes[i]), *back = malloc(sizes[i]);
		SQLHSTMT st;
		SQLLEN n = 0;
		char text[500];

		for (size_t j = 0; j < sizes[i]; j++)
			data[j] = (unsigned char)(j * 7 + j / 256);
		CHECK(add_item(db, key, data, sizes[i]), "%zu bytes: %s", sizes[i], last);
		snprintf(text, sizeof(text),
			 "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock "
			 "'%s', @i output, @l output, @a output, @c output select @i",
			 key);
		st = statement(db);
		CHECK(SQL_SUCCEEDED(SQLExecDirect(st, (SQLCHAR *)text, SQL_NTS)), "select");
		for (SQLSMALLINT columns = 0; SQLNumResultCols(st, &columns) == SQL_SUCCESS && columns == 0;)
			CHECK(SQL_SUCCEEDED(SQLMoreResults(st)), "no result set");
		CHECK(SQLFetch(st) == SQL_SUCCESS &&
			      SQLGetData(st, 1, SQL_C_BINARY, back, (SQLLEN)sizes[i], &n) == SQL_SUCCESS &&
			      n == (SQLLEN)sizes[i] && memcmp(back, data, sizes[i]) == 0,
		      "%zu bytes came back as %ld or different", sizes[i], (long)n);
		SQLFreeHandle(SQL_HANDLE_STMT, st);
		free(data);
		free(back);
	}
	CHECK(add_item(db, fresh_key("null"), NULL, 0), "%s", last);
	CHECK(query(db, "select N'żółw €'", value, sizeof(value)) && strcmp(value, "żółw €") == 0, "%s",
	      value);
	close_db(db);
	return true;
}

static bool status(void)
{
	SQLHDBC db = open_db();
	struct item it;

	CHECK(get_item(db, "{? = call proc_GetItemWithoutLock (?, ?, ?, ?, ?)}", "x", &it) &&
		      it.status == 0 && it.status_len == 4,
	      "%d %s", (int)it.status, last);
	close_db(db);
	return true;
}

static bool errors(void)
{
	SQLHDBC db = open_db();
	const char *key = fresh_key("k");

	CHECK(add_item(db, key, "x", 1), "%s", last);
	CHECK(!add_item(db, key, "x", 1) && last_error == 2627, "%s", last);
	CHECK(!query(db, "exec proc_AddItem 'k'", NULL, 0) && last_error == 201, "%s", last);
	CHECK(!query(db, "exec proc_Nothing", NULL, 0) && last_error == 2812, "%s", last);
	CHECK(query(db, "select 1", NULL, 0), "%s", last);
	close_db(db);
	return true;
}

static bool present(SQLHDBC db, const char *key)
{
	struct item it;

	return get_item(db, "{? = call proc_GetItemWithoutLock (?, ?, ?, ?, ?)}", key, &it) &&
	       it.locked_len != SQL_NULL_DATA;
}

static bool transactions(void)
{
	SQLHDBC db = open_db(), other = open_db();
	const char *a = fresh_key("a"), *b = fresh_key("b");

	SQLSetConnectAttr(db, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER)SQL_AUTOCOMMIT_OFF, 0);
	CHECK(add_item(db, a, "x", 1) && present(db, a) &&
		      SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, db, SQL_ROLLBACK)),
	      "%s", last);
	CHECK(!present(other, a), "seen after rollback");
	CHECK(add_item(db, b, "x", 1) && SQL_SUCCEEDED(SQLEndTran(SQL_HANDLE_DBC, db, SQL_COMMIT)), "%s",
	      last);
	CHECK(present(other, b), "not seen after commit");
	SQLEndTran(SQL_HANDLE_DBC, db, SQL_ROLLBACK);
	close_db(db);
	close_db(other);
	return true;
}

static void *cancel_soon(void *st)
{
	usleep(300000);
	SQLCancel(st);
	return NULL;
}

static bool cancel(void)
{
	SQLHDBC db = open_db();
	SQLHSTMT st = statement(db);
	pthread_t thread;
	double start = seconds();
	char text[64] = "";
	SQLRETURN rc;

	pthread_create(&thread, NULL, cancel_soon, st);
	rc = SQLExecDirect(st, (SQLCHAR *)"waitfor delay '00:00:20'", SQL_NTS);
	pthread_join(thread, NULL);
	CHECK(!SQL_SUCCEEDED(rc) && seconds() - start < 10, "rc %d after %.1f s", rc, seconds() - start);
	SQLFreeHandle(SQL_HANDLE_STMT, st);
	CHECK(query(db, "select 7", text, sizeof(text)) && strcmp(text, "7") == 0, "%s %s", text, last);
	close_db(db);
	return true;
}

static bool metadata(void)
{
	SQLHDBC db = open_db();
	SQLHSTMT st = statement(db);
	int procs = 0, columns = 0;
	char name[300];
	SQLLEN n;

	CHECK(SQL_SUCCEEDED(SQLProcedures(st, NULL, 0, NULL, 0, (SQLCHAR *)"proc_%", SQL_NTS)),
	      "SQLProcedures");
	while (SQLFetch(st) == SQL_SUCCESS) {
		SQLGetData(st, 3, SQL_C_CHAR, name, sizeof(name), &n);
		procs += strncmp(name, "proc_", 5) == 0;
	}
	SQLFreeStmt(st, SQL_CLOSE);
	CHECK(procs >= 8, "%d procedures", procs);
	CHECK(SQL_SUCCEEDED(SQLProcedureColumns(st, NULL, 0, NULL, 0, (SQLCHAR *)"proc_GetItemWithLock",
						SQL_NTS, NULL, 0)),
	      "SQLProcedureColumns");
	while (SQLFetch(st) == SQL_SUCCESS) {
		SQLGetData(st, 4, SQL_C_CHAR, name, sizeof(name), &n);
		columns += name[0] == '@';
	}
	CHECK(columns == 6, "%d parameters", columns);
	SQLFreeHandle(SQL_HANDLE_STMT, st);
	close_db(db);
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
		{ "prepared", prepared },
		{ "values", values },
		{ "status", status },
		{ "errors", errors },
		{ "transactions", transactions },
		{ "cancel", cancel },
		{ "metadata", metadata },
	};

	SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &env);
	SQLSetEnvAttr(env, SQL_ATTR_ODBC_VERSION, (SQLPOINTER)SQL_OV_ODBC3, 0);
	return run_features(features, sizeof(features) / sizeof(features[0]));
}
