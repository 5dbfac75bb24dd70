/* host.c — what the language asks the session: who, where, which server; USE; the DONE of a statement. */
#include "session/request_int.h"

#include <stdio.h>
#include <string.h>

#define PRODUCT_TEXT "Microsoft SQL Server 2022 compatible - " TDS_PRODUCT_VERSION " (X64) - Procession on Linux"

static struct frame *frame_of(struct tsql_host *h)
{
	return CONTAINER_OF(h, struct frame, host);
}

static struct session *session_of(struct tsql_host *h)
{
	return frame_of(h)->session;
}

/* NOCOUNT in a batch clears the count; inside a procedure only result sets and errors keep their DONE (crib 13.4). */
static void host_statement_done(struct tsql_host *h, enum tsql_command cmd, bool has_count, uint64_t count, bool error)
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

static int text_value(struct arena *a, struct type t, const char *text, struct value *ret, struct err *reterr)
{
	char *copy = arena_strndup(a, text, strlen(text));

	if (copy == NULL)
		return err_nomem(reterr);
	*ret = value_text(t, str_of(copy));
	return 1;
}

static int sysname(struct arena *a, const char *text, struct value *ret, struct err *reterr)
{
	return text_value(a, TYPE_LEN(TYPE_NVARCHAR, 128), text, ret, reterr);
}

static int int_value(enum type_id id, int64_t i, struct value *ret)
{
	*ret = value_int(id, i);
	return 1;
}

static struct str arg_text(const struct value *args, size_t nargs)
{
	if (nargs == 0 || args[0].null || !type_info((enum type_id)args[0].type.id)->is_text)
		return (struct str){ "", 0 };
	return args[0].u.s;
}

/* SERVERPROPERTY and relatives are sql_variant. */
static int variant(struct arena *a, struct value inner, struct value *ret, struct err *reterr)
{
	struct value *box = arena_alloc(a, sizeof(*box));

	if (box == NULL)
		return err_nomem(reterr);
	*box = inner;
	*ret = (struct value){ .type = TYPE_OF(TYPE_VARIANT), .u.variant = box };
	return 1;
}

struct property { const char *name, *text; int64_t number; };

static int property_value(const struct property *list, size_t n, struct str name, struct arena *a, struct value *ret, struct err *reterr)
{
	for (size_t i = 0; i < n; i++) {
		if (!str_eq_nocase(name, str_of(list[i].name)))
			continue;
		if (list[i].text != NULL)
			return variant(a, value_nvarchar(list[i].text), ret, reterr);
		return variant(a, value_int(TYPE_INT, list[i].number), ret, reterr);
	}
	*ret = value_null(TYPE_OF(TYPE_VARIANT));
	return 1;
}

static int server_property(struct session *s, struct str name, struct arena *a, struct value *ret, struct err *reterr)
{
	const struct property list[] = {
		{ "ProductVersion", TDS_PRODUCT_VERSION, 0 }, { "ProductLevel", "RTM", 0 }, { "Edition", "Procession", 0 },
		{ "EngineEdition", NULL, 3 }, { "ServerName", s->server->name, 0 }, { "MachineName", s->server->name, 0 },
		{ "IsIntegratedSecurityOnly", NULL, 0 }, { "Collation", "SQL_Latin1_General_CP1_CI_AS", 0 }, { "IsClustered", NULL, 0 },
		{ "IsSingleUser", NULL, 0 }, { "ProductMajorVersion", "16", 0 }, { "ProductMinorVersion", "0", 0 }, { "ProductBuild", "4108", 0 },
		{ "ResourceVersion", TDS_PRODUCT_VERSION, 0 }, { "IsHadrEnabled", NULL, 0 }, { "LicenseType", "DISABLED", 0 },
	};
	return property_value(list, ARRAY_LEN(list), name, a, ret, reterr);
}

static int connection_property(struct session *s, struct str name, struct arena *a, struct value *ret, struct err *reterr)
{
	const struct property list[] = {
		{ "net_transport", "TCP", 0 }, { "protocol_type", "TSQL", 0 }, { "auth_scheme", "SQL", 0 }, { "client_net_address", s->peer_host, 0 },
		{ "physical_net_transport", "TCP", 0 },
	};
	return property_value(list, ARRAY_LEN(list), name, a, ret, reterr);
}

static int database_property(struct session *s, const struct value *args, size_t nargs, struct arena *a, struct value *ret, struct err *reterr)
{
	static const struct property list[] = {
		{ "Collation", "SQL_Latin1_General_CP1_CI_AS", 0 }, { "Status", "ONLINE", 0 }, { "Updateability", "READ_WRITE", 0 },
		{ "UserAccess", "MULTI_USER", 0 }, { "Recovery", "FULL", 0 }, { "Version", NULL, 957 }, { "IsReadOnly", NULL, 0 },
	};
	if (nargs < 2 || databases_find(s->server->databases, arg_text(args, nargs)) == NULL) {
		*ret = value_null(TYPE_OF(TYPE_VARIANT));
		return 1;
	}
	return property_value(list, ARRAY_LEN(list), arg_text(args + 1, nargs - 1), a, ret, reterr);
}

static int has_access(struct session *s, struct str name, struct value *ret)
{
	struct database *db = databases_find(s->server->databases, name);

	if (db == NULL) {
		*ret = value_null(TYPE_OF(TYPE_INT));
		return 1;
	}
	return int_value(TYPE_INT, db->service == SERVICE_SYSTEM || session_rights(s, db) != 0, ret);
}

/* Ids as sys.databases shows them live in the system store; the current database is 5, the system one 1. */
static int database_id(struct session *s, const struct value *args, size_t nargs, struct value *ret)
{
	struct database *db = nargs == 0 ? s->database : databases_find(s->server->databases, arg_text(args, nargs));

	if (db == NULL) {
		*ret = value_null(TYPE_OF(TYPE_SMALLINT));
		return 1;
	}
	return int_value(TYPE_SMALLINT, db->service == SERVICE_SYSTEM ? 1 : 5, ret);
}

static int role_member(struct session *s, struct str role, struct value *ret)
{
	bool admin_role = str_eq_nocase(role, STR("sysadmin")) || str_eq_nocase(role, STR("db_owner"));

	return int_value(TYPE_INT, (admin_role && s->admin) || str_eq_nocase(role, STR("public")), ret);
}

static int host_value(struct tsql_host *h, const char *name, const struct value *args, size_t nargs, struct arena *a, struct value *ret,
		      struct err *reterr)
{
	struct session *s = session_of(h);
	const struct { const char *name, *text; } names[] = {
		{ "@@SERVERNAME", s->server->name }, { "@@SERVICENAME", "MSSQLSERVER" }, { "SUSER_SNAME", s->login_name }, { "SUSER_NAME", s->login_name },
		{ "SYSTEM_USER", s->login_name }, { "ORIGINAL_LOGIN", s->login_name }, { "HOST_NAME", s->host_name }, { "APP_NAME", s->app_name },
		{ "PROGRAM_NAME", s->app_name }, { "USER_NAME", "dbo" }, { "USER", "dbo" }, { "CURRENT_USER", "dbo" }, { "SESSION_USER", "dbo" },
		{ "SCHEMA_NAME", "dbo" },
	};
	static const struct { const char *name; enum type_id type; int64_t number; } numbers[] = {
		{ "@@MAX_CONNECTIONS", TYPE_INT, 32767 }, { "@@CPU_BUSY", TYPE_INT, 0 }, { "USER_ID", TYPE_INT, 1 }, { "SCHEMA_ID", TYPE_INT, 1 },
		{ "SUSER_ID", TYPE_INT, 1 }, { "IS_MEMBER", TYPE_INT, 1 }, { "HAS_PERMS_BY_NAME", TYPE_INT, 1 },
	};

	if (strcmp(name, "DB_NAME") == 0)
		return sysname(a, s->database_name, ret, reterr);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i].name) == 0)
			return sysname(a, names[i].text, ret, reterr);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (strcmp(name, numbers[i].name) == 0)
			return int_value(numbers[i].type, numbers[i].number, ret);
	if (strcmp(name, "@@VERSION") == 0)
		return text_value(a, TYPE_LEN(TYPE_NVARCHAR, 300), PRODUCT_TEXT, ret, reterr);
	if (strcmp(name, "@@SPID") == 0)
		return int_value(TYPE_SMALLINT, s->resp.out.spid, ret);
	if (strcmp(name, "@@CONNECTIONS") == 0)
		return int_value(TYPE_INT, atomic_load(&s->server->sessions), ret);
	if (strcmp(name, "DB_ID") == 0)
		return database_id(s, args, nargs, ret);
	if (strcmp(name, "SERVERPROPERTY") == 0)
		return server_property(s, arg_text(args, nargs), a, ret, reterr);
	if (strcmp(name, "CONNECTIONPROPERTY") == 0)
		return connection_property(s, arg_text(args, nargs), a, ret, reterr);
	if (strcmp(name, "DATABASEPROPERTYEX") == 0)
		return database_property(s, args, nargs, a, ret, reterr);
	if (strcmp(name, "HAS_DBACCESS") == 0)
		return has_access(s, arg_text(args, nargs), ret);
	if (strcmp(name, "IS_SRVROLEMEMBER") == 0)
		return role_member(s, arg_text(args, nargs), ret);
	if (strcmp(name, "OBJECT_ID") == 0) {
		*ret = value_null(TYPE_OF(TYPE_INT));
		return 1;
	}
	return 0;
}

/* ---- USE, SET LANGUAGE ---- */

static int host_use(struct tsql_host *h, struct str name, struct err *reterr)
{
	struct session *s = session_of(h);
	struct database *db = databases_find(s->server->databases, name);
	char old[129], given[129];
	struct err e;

	str_copy(given, sizeof(given), name);
	str_copy(old, sizeof(old), str_of(s->database_name));
	if (db == NULL)
		return err_set(reterr, ERR_NO_DATABASE_USE, given);
	if (!session_enter_database(s, db))
		return err_set(reterr, ERR_NO_ACCESS, s->login_name, given);
	response_touch(s);
	tds_put_envchange_text(&s->resp.out, 1, str_of(s->database_name), str_of(old));
	(void)err_set(&e, ERR_CONTEXT, s->database_name);
	e.line = 1;
	tds_put_message(&s->resp.out, &e);
	tds_put_envchange_bytes(&s->resp.out, 7, tds_collation_default, 5, NULL, 0);
	return 0;
}

static void host_language(struct tsql_host *h, const char *old_name, const char *new_name)
{
	struct session *s = session_of(h);
	struct err e;

	response_touch(s);
	tds_put_envchange_text(&s->resp.out, 2, str_of(new_name), str_of(old_name));
	(void)err_set(&e, ERR_LANGUAGE, new_name);
	e.line = 1;
	tds_put_message(&s->resp.out, &e);
}

static enum service host_service(struct tsql_host *h)
{
	return session_of(h)->database->service;
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
	.may_select = host_may_select,
};
