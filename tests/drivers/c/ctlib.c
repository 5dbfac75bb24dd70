/* ctlib.c — CT-Library (FreeTDS libct): language and RPC commands, dynamic SQL, cancel. */
#include <ctpublic.h>

#include "harness.h"

static CS_CONTEXT *context;
static int last_error;
static char last_text[1100];

static CS_RETCODE on_server(CS_CONTEXT *c, CS_CONNECTION *con, CS_SERVERMSG *m)
{
	(void)c, (void)con;
	if (m->severity > 10 && last_error == 0) {
		last_error = m->msgnumber;
		snprintf(last_text, sizeof(last_text), "%s", m->text);
	}
	return CS_SUCCEED;
}

static CS_RETCODE on_client(CS_CONTEXT *c, CS_CONNECTION *con, CS_CLIENTMSG *m)
{
	(void)c, (void)con, (void)m;
	return CS_SUCCEED;
}

struct session {
	CS_CONNECTION *con;
	CS_COMMAND *cmd;
};

static bool open_as(struct session *s, const char *server, const char *user, const char *password)
{
	memset(s, 0, sizeof(*s));
	last_error = 0;
	if (ct_con_alloc(context, &s->con) != CS_SUCCEED)
		return false;
	ct_con_props(s->con, CS_SET, CS_USERNAME, (CS_VOID *)user, CS_NULLTERM, NULL);
	ct_con_props(s->con, CS_SET, CS_PASSWORD, (CS_VOID *)password, CS_NULLTERM, NULL);
	ct_con_props(s->con, CS_SET, CS_APPNAME, (CS_VOID *)"ctlib test", CS_NULLTERM, NULL);
	if (ct_connect(s->con, (CS_CHAR *)server, CS_NULLTERM) != CS_SUCCEED) {
		ct_con_drop(s->con);
		return false;
	}
	return ct_cmd_alloc(s->con, &s->cmd) == CS_SUCCEED;
}

static void close_session(struct session *s)
{
	ct_cmd_drop(s->cmd);
	ct_close(s->con, CS_FORCE_CLOSE);
	ct_con_drop(s->con);
}

/* What the last command gave: first value of the first row, parameters, status. */
static struct {
	int rows;
	char value[256];
	int params, item_len, locked, cookie;
	char item[64];
	CS_INT status;
	bool has_status, found;
	CS_BYTE *big;
	CS_INT big_len;
} got;

static void read_rows(CS_COMMAND *cmd, CS_INT kind, const char *look_for)
{
	CS_INT columns = 0, count;

	ct_res_info(cmd, CS_NUMDATA, &columns, CS_UNUSED, NULL);
	while (ct_fetch(cmd, CS_UNUSED, CS_UNUSED, CS_UNUSED, &count) == CS_SUCCEED)
		for (CS_INT i = 1; i <= columns; i++) {
			CS_DATAFMT f;
			static CS_BYTE chunk[65536];
			CS_INT n = 0, total = 0;
			CS_RETCODE rc;

			memset(&f, 0, sizeof(f));
			ct_describe(cmd, i, &f);
			got.big_len = 0;
			while ((rc = ct_get_data(cmd, i, chunk, sizeof(chunk), &n)) == CS_SUCCEED ||
			       rc == CS_END_ITEM || rc == CS_END_DATA) {
				if (got.big != NULL && n > 0 && kind == CS_ROW_RESULT && i == 1)
					memcpy(got.big + total, chunk, (size_t)n);
				total += n;
				if (rc != CS_SUCCEED)
					break;
			}
			if (kind == CS_STATUS_RESULT) {
				memcpy(&got.status, chunk, sizeof(got.status));
				got.has_status = true;
			} else if (kind == CS_PARAM_RESULT) {
				got.params++;
				if (strcmp(f.name, "@item") == 0) {
					got.item_len = total;
					memcpy(got.item, chunk, (size_t)(total < 64 ? total : 64));
				} else if (strcmp(f.name, "@locked") == 0) {
					got.locked = total == 0 ? -1 : chunk[0];
				} else if (strcmp(f.name, "@lockCookie") == 0) {
					CS_INT v = -1;

					memcpy(&v, chunk, total == 4 ? 4 : 0);
					got.cookie = v;
				}
			} else {
				if (i == 1)
					got.big_len = total;
				if (got.rows == 0 && i == 1)
					snprintf(got.value, sizeof(got.value),
						 f.datatype == CS_INT_TYPE && total == 4 ? "%d" : "%.*s",
						 f.datatype == CS_INT_TYPE && total == 4 ? *(int *)chunk
											 : total,
						 (char *)chunk);
				if (look_for != NULL && total >= (CS_INT)strlen(look_for) &&
				    memcmp(chunk, look_for, strlen(look_for)) == 0)
					got.found = true;
				if (i == columns)
					got.rows++;
			}
		}
}

static bool results(CS_COMMAND *cmd, const char *look_for)
{
	CS_INT kind;
	CS_RETCODE rc;
	CS_BYTE *big = got.big;

	memset(&got, 0, sizeof(got));
	got.big = big;
	while ((rc = ct_results(cmd, &kind)) == CS_SUCCEED)
		if (kind == CS_ROW_RESULT || kind == CS_STATUS_RESULT || kind == CS_PARAM_RESULT)
			read_rows(cmd, kind, look_for);
	return rc == CS_END_RESULTS && last_error == 0;
}

static bool run_batch(struct session *s, const char *text)
{
	last_error = 0;
	return ct_command(s->cmd, CS_LANG_CMD, (CS_CHAR *)text, CS_NULLTERM, CS_UNUSED) == CS_SUCCEED &&
	       ct_send(s->cmd) == CS_SUCCEED && results(s->cmd, NULL);
}

static bool open_db(struct session *s)
{
	return open_as(s, "plain74", setting("PT_USER"), setting("PT_PASSWORD")) &&
	       run_batch(s, "use StateService");
}

static bool param(struct session *s, const char *name, CS_INT type, const void *data, CS_INT size, CS_INT max,
		  bool output)
{
	CS_DATAFMT f;

	memset(&f, 0, sizeof(f));
	snprintf(f.name, sizeof(f.name), "%s", name);
	f.namelen = CS_NULLTERM;
	f.datatype = type;
	f.maxlength = max;
	f.status = output ? CS_RETURN : CS_INPUTVALUE;
	return ct_param(s->cmd, &f, (CS_VOID *)data, size, data == NULL ? -1 : 0) == CS_SUCCEED;
}

static bool add_item(struct session *s, const char *key, const void *data, CS_INT size)
{
	CS_INT timeout = 20;

	last_error = 0;
	return ct_command(s->cmd, CS_RPC_CMD, "proc_AddItem", CS_NULLTERM, CS_UNUSED) == CS_SUCCEED &&
	       param(s, "@id", CS_CHAR_TYPE, key, (CS_INT)strlen(key), (CS_INT)strlen(key), false) &&
	       param(s, "@item", size > 8000 ? CS_IMAGE_TYPE : CS_BINARY_TYPE, data, size, size, false) &&
	       param(s, "@timeout", CS_INT_TYPE, &timeout, sizeof(timeout), sizeof(timeout), false) &&
	       ct_send(s->cmd) == CS_SUCCEED && results(s->cmd, NULL);
}

static bool get_item(struct session *s, const char *proc, const char *key)
{
	CS_INT zero = 0;
	CS_BIT bit = 0;

	last_error = 0;
	return ct_command(s->cmd, CS_RPC_CMD, (CS_CHAR *)proc, CS_NULLTERM, CS_UNUSED) == CS_SUCCEED &&
	       param(s, "@id", CS_CHAR_TYPE, key, (CS_INT)strlen(key), (CS_INT)strlen(key), false) &&
	       param(s, "@item", CS_BINARY_TYPE, "", 1, 255, true) &&
	       param(s, "@locked", CS_BIT_TYPE, &bit, 1, 1, true) &&
	       param(s, "@lockAgeInSeconds", CS_INT_TYPE, &zero, 4, 4, true) &&
	       param(s, "@lockCookie", CS_INT_TYPE, &zero, 4, 4, true) && ct_send(s->cmd) == CS_SUCCEED &&
	       results(s->cmd, NULL);
}

static bool connects(void)
{
	struct session s;

	CHECK(open_db(&s), "%d %s", last_error, last_text);
	CHECK(run_batch(&s, "select db_name()") && strcmp(got.value, "StateService") == 0, "%s", got.value);
	close_session(&s);
	return true;
}

static bool tls(void)
{
	struct session s;

	for (int i = 0; i < 2; i++) {
		CHECK(open_as(&s, i == 0 ? "login74" : "tls74", setting("PT_USER"), setting("PT_PASSWORD")),
		      "%d %s", last_error, last_text);
		CHECK(run_batch(&s, "select 1") && strcmp(got.value, "1") == 0, "%s", got.value);
		close_session(&s);
	}
	return true;
}

static bool wrong_password(void)
{
	struct session s;

	CHECK(!open_as(&s, "plain74", "nobody", "wrong"), "logged in");
	CHECK(last_error == 18456 && strstr(last_text, "Login failed for user 'nobody'") != NULL, "%d %s",
	      last_error, last_text);
	return true;
}

/* A program of this library names no database when it logs in: USE answers 911. */
static bool missing_database(void)
{
	struct session s;

	CHECK(open_db(&s), "%d %s", last_error, last_text);
	CHECK(!run_batch(&s, "use Nowhere") && last_error == 911, "%d %s", last_error, last_text);
	close_session(&s);
	return true;
}

static bool rpc_output(void)
{
	struct session s;
	const char *key = fresh_key("k");

	CHECK(open_db(&s), "%d", last_error);
	CHECK(add_item(&s, key, "abc", 3), "%d %s", last_error, last_text);
	CHECK(got.has_status && got.status == 0, "no status");
	CHECK(get_item(&s, "proc_GetItemWithLock", key), "%d %s", last_error, last_text);
	CHECK(got.params == 4 && got.item_len >= 3 && memcmp(got.item, "abc", 3) == 0 && got.locked == 0 &&
		      got.cookie == 2,
	      "%d %d %d %d", got.params, got.item_len, got.locked, got.cookie);
	CHECK(get_item(&s, "proc_GetItemWithLock", key) && got.item_len == 0 && got.locked == 1, "%d %d",
	      got.item_len, got.locked);
	close_session(&s);
	return true;
}

static bool rpc_results(void)
{
	struct session s;

	CHECK(open_db(&s), "%d", last_error);
	CHECK(ct_command(s.cmd, CS_RPC_CMD, "sp_stored_procedures", CS_NULLTERM, CS_UNUSED) == CS_SUCCEED &&
		      ct_send(s.cmd) == CS_SUCCEED && results(s.cmd, "proc_AddItem"),
	      "%d %s", last_error, last_text);
	CHECK(got.found, "proc_AddItem is not in the list");
	close_session(&s);
	return true;
}

static bool present(struct session *s, const char *key)
{
	char text[500];

	snprintf(text, sizeof(text),
		 "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock '%s', @i "
		 "output, @l output, @a output, @c output "
		 "select case when @l is null then 'absent' else 'present' end",
		 key);
	return run_batch(s, text) && strcmp(got.value, "present") == 0;
}

static bool batch(void)
{
	struct session s;
	const char *key = fresh_key("k");
	char text[500];

	CHECK(open_db(&s), "%d", last_error);
	snprintf(text, sizeof(text), "exec proc_AddItem @id = '%s', @item = 0x6162, @timeout = 20", key);
	CHECK(run_batch(&s, text) && got.has_status && got.status == 0, "%d %s", last_error, last_text);
	snprintf(text, sizeof(text),
		 "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock '%s', @i "
		 "output, @l output, @a output, @c output select @i",
		 key);
	CHECK(run_batch(&s, text) && strcmp(got.value, "ab") == 0, "%s", got.value);
	close_session(&s);
	return true;
}

static bool prepared(void)
{
	struct session s;

	CHECK(open_db(&s), "%d", last_error);
	last_error = 0;
	CHECK(ct_dynamic(s.cmd, CS_PREPARE, "d1", CS_NULLTERM, "select ? + 1", CS_NULLTERM) == CS_SUCCEED &&
		      ct_send(s.cmd) == CS_SUCCEED && results(s.cmd, NULL),
	      "prepare: %d %s", last_error, last_text);
	for (CS_INT i = 5; i < 8; i++) {
		char want[16];

		snprintf(want, sizeof(want), "%d", i + 1);
		CHECK(ct_dynamic(s.cmd, CS_EXECUTE, "d1", CS_NULLTERM, NULL, CS_UNUSED) == CS_SUCCEED &&
			      param(&s, "", CS_INT_TYPE, &i, 4, 4, false) && ct_send(s.cmd) == CS_SUCCEED &&
			      results(s.cmd, NULL),
		      "execute: %d %s", last_error, last_text);
		CHECK(strcmp(got.value, want) == 0, "%s instead of %s", got.value, want);
	}
	CHECK(ct_dynamic(s.cmd, CS_DEALLOC, "d1", CS_NULLTERM, NULL, CS_UNUSED) == CS_SUCCEED &&
		      ct_send(s.cmd) == CS_SUCCEED && results(s.cmd, NULL),
	      "dealloc: %d", last_error);
	close_session(&s);
	return true;
}

static bool values(void)
{
	static const int sizes[] = { 1, 8000, 8001, 1 << 20, 1 << 25 };
	struct session s;

	CHECK(open_db(&s), "%d", last_error);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *key = fresh_key("big");
		CS_BYTE *data = malloc((size_t)sizes[i]);
		char text[500];
		bool same;

		got.big = NULL;
		for (int j = 0; j < sizes[i]; j++)
			data[j] = (CS_BYTE)(j * 7 + j / 256);
		CHECK(add_item(&s, key, data, sizes[i]), "%d bytes: %d %s", sizes[i], last_error, last_text);
		got.big = malloc((size_t)sizes[i] + 65536);
		snprintf(text, sizeof(text),
			 "declare @i varbinary(max), @l bit, @a int, @c int exec proc_GetItemWithoutLock "
			 "'%s', @i output, @l output, @a output, @c output select @i",
			 key);
		CHECK(run_batch(&s, text), "%d %s", last_error, last_text);
		same = got.big_len == sizes[i] && memcmp(got.big, data, (size_t)sizes[i]) == 0;
		CHECK(same, "%d bytes came back as %d or different", sizes[i], got.big_len);
		free(got.big);
		got.big = NULL;
		free(data);
	}
	CHECK(run_batch(&s, "select N'żółw €'") && strcmp(got.value, "żółw €") == 0, "%s", got.value);
	CHECK(run_batch(&s, "select cast(null as int)") && got.rows == 1 && got.big_len == 0, "%s",
	      got.value);
	close_session(&s);
	return true;
}

static bool status(void)
{
	struct session s;

	CHECK(open_db(&s), "%d", last_error);
	CHECK(run_batch(&s, "exec proc_RefreshItemExpiration 'nothing'") && got.has_status && got.status == 0,
	      "%d", got.status);
	close_session(&s);
	return true;
}

static bool errors(void)
{
	struct session s;
	const char *key = fresh_key("k");

	CHECK(open_db(&s), "%d", last_error);
	CHECK(add_item(&s, key, "x", 1), "%d", last_error);
	CHECK(!add_item(&s, key, "x", 1) && last_error == 2627, "%d %s", last_error, last_text);
	CHECK(!run_batch(&s, "exec proc_AddItem 'k'") && last_error == 201, "%d %s", last_error, last_text);
	CHECK(!run_batch(&s, "exec proc_Nothing") && last_error == 2812, "%d %s", last_error, last_text);
	CHECK(run_batch(&s, "select 1"), "%d", last_error);
	close_session(&s);
	return true;
}

static bool transactions(void)
{
	struct session s, other;
	const char *a = fresh_key("a"), *b = fresh_key("b");

	CHECK(open_db(&s) && open_db(&other), "%d", last_error);
	CHECK(run_batch(&s, "begin tran") && add_item(&s, a, "x", 1) && present(&s, a) &&
		      run_batch(&s, "rollback tran"),
	      "%d %s", last_error, last_text);
	CHECK(!present(&other, a), "seen after rollback");
	CHECK(run_batch(&s, "begin tran") && add_item(&s, b, "x", 1) && run_batch(&s, "commit tran"), "%d %s",
	      last_error, last_text);
	CHECK(present(&other, b), "not seen after commit");
	close_session(&s);
	close_session(&other);
	return true;
}

static bool cancel(void)
{
	struct session s;
	double start = seconds();

	CHECK(open_db(&s), "%d", last_error);
	CHECK(ct_command(s.cmd, CS_LANG_CMD, "waitfor delay '00:00:20'", CS_NULLTERM, CS_UNUSED) ==
			      CS_SUCCEED &&
		      ct_send(s.cmd) == CS_SUCCEED,
	      "send");
	usleep(200000);
	CHECK(ct_cancel(NULL, s.cmd, CS_CANCEL_ALL) == CS_SUCCEED, "cancel");
	CHECK(seconds() - start < 10, "too late");
	ct_cmd_drop(s.cmd); /* FreeTDS sends nothing more with a cancelled command */
	CHECK(ct_cmd_alloc(s.con, &s.cmd) == CS_SUCCEED, "cmd");
	CHECK(run_batch(&s, "select 7") && strcmp(got.value, "7") == 0, "%d %s", last_error, got.value);
	close_session(&s);
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
	};

	if (cs_ctx_alloc(CS_VERSION_150, &context) != CS_SUCCEED ||
	    ct_init(context, CS_VERSION_150) != CS_SUCCEED)
		return 2;
	ct_callback(context, NULL, CS_SET, CS_SERVERMSG_CB, (CS_VOID *)on_server);
	ct_callback(context, NULL, CS_SET, CS_CLIENTMSG_CB, (CS_VOID *)on_client);
	return run_features(features, sizeof(features) / sizeof(features[0]));
}
