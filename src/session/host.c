/* host.c — what the language asks the session: who, where, which server; USE; the DONE of a statement. */
#include <string.h>

#include "session/host_int.h"
#include "session/request_int.h"

#define PRODUCT_TEXT \
	"Microsoft SQL Server 2022 compatible - " TDS_PRODUCT_VERSION " (X64) - Procession on Linux"

static struct frame *frame_of(struct tsql_host *h)
{
	return CONTAINER_OF(h, struct frame, host);
}

static struct session *session_of(struct tsql_host *h)
{
	return frame_of(h)->session;
}

/* NOCOUNT in a batch clears the count; inside a procedure only result sets and errors keep their DONE (wire notes 13.4). */
static void host_statement_done(struct tsql_host *h, enum tsql_command cmd, bool has_count, uint64_t count,
				bool error)
{
	struct session *s = session_of(h);
	bool in_proc = frame_of(h)->in_proc;
	uint16_t status = error ? TDS_DONE_ERROR : 0;

	if (s->vars.nocount) {
		if (in_proc && !error && !s->resp.result_open)
			return;
		has_count = false;
	}
	if (has_count && !error)
		status |= TDS_DONE_COUNT;
	response_done(s, in_proc ? TDS_DONEINPROC : TDS_DONE, status, (uint16_t)cmd, has_count ? count : 0);
}

/* ---- values ---- */

static int host_version(const struct host_call *c)
{
	*c->ret = value_text(TYPE_LEN(TYPE_NVARCHAR, 300), STR(PRODUCT_TEXT));
	return 1;
}

static int host_microsoft_version(const struct host_call *c)
{
	return host_int(c, TDS_PRODUCT_MAJOR << 24 | TDS_PRODUCT_MINOR << 16 | TDS_PRODUCT_BUILD);
}

static int host_spid(const struct host_call *c)
{
	return host_int(c, c->session->entry.spid);
}

/* Since the server started, as in SQL Server. */
static int host_connections(const struct host_call *c)
{
	return host_int(c, (int64_t)registry_added(&c->session->server->registry));
}

static int host_max_connections(const struct host_call *c)
{
	return host_int(c, c->session->server->config->max_connections);
}

static int host_server_name(const struct host_call *c)
{
	return host_name(c, c->session->server->name);
}

static int host_service_name(const struct host_call *c)
{
	return host_name(c, "MSSQLSERVER");
}

static int host_login_name(const struct host_call *c)
{
	return host_name(c, c->session->login_name);
}

static int host_host_name(const struct host_call *c)
{
	return host_name(c, c->session->host_name);
}

static int host_app_name(const struct host_call *c)
{
	return host_name(c, c->session->app_name);
}

/* A text in EXEC is one deeper than its caller, one in sp_executesql two: the procedure counts. */
static int host_nest_level(const struct host_call *c)
{
	const struct request *r = c->session->request;
	int level = 0;

	for (const struct frame *f = r == NULL ? NULL : r->top; f != NULL && f->inv != NULL; f = f->up)
		level += f->inv->special == SPECIAL_EXECUTESQL ? 2 : 1;
	return host_int(c, level);
}

static const struct {
	const char *name;
	host_fn *fn;
} functions[] = {
	{ "@@VERSION", host_version },
	{ "@@MICROSOFTVERSION", host_microsoft_version },
	{ "@@SPID", host_spid },
	{ "@@NESTLEVEL", host_nest_level },
	{ "@@CONNECTIONS", host_connections },
	{ "@@MAX_CONNECTIONS", host_max_connections },
	{ "@@SERVERNAME", host_server_name },
	{ "@@SERVICENAME", host_service_name },
	{ "DB_ID", host_db_id },
	{ "DB_NAME", host_db_name },
	{ "SCHEMA_ID", host_schema_id },
	{ "SCHEMA_NAME", host_schema_name },
	{ "OBJECT_ID", host_object_id },
	{ "OBJECT_NAME", host_object_name },
	{ "OBJECT_SCHEMA_NAME", host_object_schema_name },
	{ "OBJECTPROPERTY", host_object_property },
	{ "COL_NAME", host_col_name },
	{ "SUSER_ID", host_suser_id },
	{ "SUSER_SID", host_suser_sid },
	{ "SUSER_NAME", host_suser_name },
	{ "SUSER_SNAME", host_suser_name },
	{ "ORIGINAL_LOGIN", host_login_name },
	{ "USER_ID", host_user_id },
	{ "DATABASE_PRINCIPAL_ID", host_user_id },
	{ "USER_NAME", host_user_name },
	{ "IS_MEMBER", host_is_member },
	{ "IS_ROLEMEMBER", host_is_member },
	{ "IS_SRVROLEMEMBER", host_is_srvrolemember },
	{ "HAS_DBACCESS", host_has_dbaccess },
	{ "HAS_PERMS_BY_NAME", host_has_perms },
	{ "SERVERPROPERTY", host_server_property },
	{ "CONNECTIONPROPERTY", host_connection_property },
	{ "DATABASEPROPERTYEX", host_database_property_ex },
	{ "DATABASEPROPERTY", host_database_property },
	{ "SESSIONPROPERTY", host_session_property },
	{ "HOST_NAME", host_host_name },
	{ "APP_NAME", host_app_name },
};

static int host_value(struct tsql_host *h, const char *name, const struct value *args, size_t nargs,
		      struct arena *a, struct value *ret, struct err *reterr)
{
	const struct host_call c = {
		.session = session_of(h), .args = args, .nargs = nargs, .arena = a, .ret = ret, .err = reterr
	};

	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		if (strcmp(name, functions[i].name) == 0)
			return functions[i].fn(&c);
	}
	return 0;
}

/* ---- USE, SET LANGUAGE ---- */

static int host_use(struct tsql_host *h, struct str name, struct err *reterr)
{
	struct session *s = session_of(h);
	struct database *db = databases_find(s->server->databases, name);
	char old[129], given[129];
	enum entry entry;
	struct err e;

	str_copy(given, sizeof(given), name);
	str_copy(old, sizeof(old), str_of(s->database_name));
	if (db == NULL)
		return err_set(reterr, ERR_NO_DATABASE_USE, given);
	entry = session_enter_database(s, db);
	if (entry == ENTRY_NOT_SERVED)
		return err_set(reterr, ERR_NOT_SERVED, given);
	if (entry == ENTRY_DENIED)
		return err_set(reterr, ERR_NO_ACCESS, s->login_name, given);
	response_touch(s);
	tds_put_envchange_text(&s->out, 1, str_of(s->database_name), str_of(old));
	(void)err_set(&e, ERR_CONTEXT, s->database_name);
	e.line = 1;
	tds_put_message(&s->out, &e);
	tds_put_envchange_bytes(&s->out, 7, tds_collation_default, 5, NULL, 0);
	return 0;
}

static void host_language(struct tsql_host *h, const char *old_name, const char *new_name)
{
	struct session *s = session_of(h);
	struct err e;

	response_touch(s);
	tds_put_envchange_text(&s->out, 2, str_of(new_name), str_of(old_name));
	(void)err_set(&e, ERR_LANGUAGE, new_name);
	e.line = 1;
	tds_put_message(&s->out, &e);
}

static enum service host_service(struct tsql_host *h)
{
	return session_of(h)->database->service;
}

/* KILL. The session ends soon, on its own loop: what it runs is cancelled, its transaction rolled back. */
static int host_kill(struct tsql_host *h, int64_t spid, struct err *reterr)
{
	struct session *s = session_of(h);

	if (!s->admin)
		return err_set(reterr, ERR_KILL_PERMISSION);
	if (s->vars.trancount > 0)
		return err_set(reterr, ERR_KILL_IN_TRAN);
	if (spid < 1 || spid > SPID_LAST)
		return err_set(reterr, ERR_KILL_NUMBER, (long long)spid);
	if (spid < SPID_FIRST)
		return err_set(reterr, ERR_KILL_SYSTEM);
	if (spid == s->entry.spid)
		return err_set(reterr, ERR_KILL_SELF);
	if (!registry_kill(&s->server->registry, (uint16_t)spid))
		return err_set(reterr, ERR_KILL_ABSENT, (int)spid);
	return 0;
}

static bool host_may_select(struct tsql_host *h)
{
	struct session *s = session_of(h);

	return (session_rights(s, s->database) & RIGHT_SELECT) != 0;
}

const struct tsql_host_ops session_host_ops = {
	.statement_done = host_statement_done,
	.value = host_value,
	.use = host_use,
	.language = host_language,
	.service = host_service,
	.kill = host_kill,
	.may_select = host_may_select,
};
