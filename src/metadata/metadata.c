/* metadata.c — the table of functions; and those that need no more than the facts of who asks. */
#include <assert.h>
#include <string.h>

#include "metadata/metadata_int.h"
#include "tds/tds.h"

#define PRODUCT_TEXT \
	"Microsoft SQL Server 2022 compatible - " TDS_PRODUCT_VERSION " (X64) - Procession on Linux"

uint8_t metadata_rights_in(const struct metadata_client *client, const struct database *db)
{
	if (client->admin)
		return RIGHT_EXECUTE | RIGHT_SELECT | RIGHT_ADMIN | RIGHT_MONITOR;
	return auth_rights(client->auth, client->login, db->name);
}

static int version(const struct metadata_call *c)
{
	*c->ret = value_text(TYPE_LEN(TYPE_NVARCHAR, 300), STR(PRODUCT_TEXT));
	return 1;
}

static int microsoft_version(const struct metadata_call *c)
{
	return metadata_int(c, TDS_PRODUCT_MAJOR << 24 | TDS_PRODUCT_MINOR << 16 | TDS_PRODUCT_BUILD);
}

static int spid(const struct metadata_call *c)
{
	return metadata_int(c, c->client->spid);
}

static int connections(const struct metadata_call *c)
{
	return metadata_int(c, c->client->ops->connections(c->client));
}

static int max_connections(const struct metadata_call *c)
{
	return metadata_int(c, c->client->max_connections);
}

static int nest_level(const struct metadata_call *c)
{
	return metadata_int(c, c->client->ops->nest_level(c->client));
}

static int server_name(const struct metadata_call *c)
{
	return metadata_name(c, c->client->server_name);
}

static int service_name(const struct metadata_call *c)
{
	return metadata_name(c, "MSSQLSERVER");
}

static int login_name(const struct metadata_call *c)
{
	return metadata_name(c, c->client->login);
}

static int host_name(const struct metadata_call *c)
{
	return metadata_name(c, c->client->host);
}

static int app_name(const struct metadata_call *c)
{
	return metadata_name(c, c->client->program);
}

static const struct {
	const char *name;
	metadata_fn *fn;
} functions[] = {
	{ "@@VERSION", version },
	{ "@@MICROSOFTVERSION", microsoft_version },
	{ "@@SPID", spid },
	{ "@@NESTLEVEL", nest_level },
	{ "@@CONNECTIONS", connections },
	{ "@@MAX_CONNECTIONS", max_connections },
	{ "@@SERVERNAME", server_name },
	{ "@@SERVICENAME", service_name },
	{ "DB_ID", metadata_db_id },
	{ "DB_NAME", metadata_db_name },
	{ "SCHEMA_ID", metadata_schema_id },
	{ "SCHEMA_NAME", metadata_schema_name },
	{ "OBJECT_ID", metadata_object_id },
	{ "OBJECT_NAME", metadata_object_name },
	{ "OBJECT_SCHEMA_NAME", metadata_object_schema_name },
	{ "OBJECT_DEFINITION", metadata_object_definition },
	{ "OBJECTPROPERTY", metadata_object_property },
	{ "OBJECTPROPERTYEX", metadata_object_property_ex },
	{ "COL_NAME", metadata_col_name },
	{ "COL_LENGTH", metadata_col_length },
	{ "COLUMNPROPERTY", metadata_column_property },
	{ "INDEXPROPERTY", metadata_no_index },
	{ "INDEXKEY_PROPERTY", metadata_no_index },
	{ "INDEX_COL", metadata_no_index },
	{ "STATS_DATE", metadata_no_index },
	{ "FILEGROUP_NAME", metadata_filegroup_name },
	{ "TYPE_ID", metadata_type_id },
	{ "TYPE_NAME", metadata_type_name },
	{ "TYPEPROPERTY", metadata_type_property },
	{ "COLLATIONPROPERTY", metadata_collation_property },
	{ "SUSER_ID", metadata_suser_id },
	{ "SUSER_SID", metadata_suser_sid },
	{ "SUSER_NAME", metadata_suser_name },
	{ "SUSER_SNAME", metadata_suser_name },
	{ "LOGINPROPERTY", metadata_login_property },
	{ "ORIGINAL_LOGIN", login_name },
	{ "USER_ID", metadata_user_id },
	{ "DATABASE_PRINCIPAL_ID", metadata_user_id },
	{ "USER_NAME", metadata_user_name },
	{ "IS_MEMBER", metadata_is_member },
	{ "IS_ROLEMEMBER", metadata_is_member },
	{ "IS_SRVROLEMEMBER", metadata_is_srvrolemember },
	{ "HAS_DBACCESS", metadata_has_dbaccess },
	{ "HAS_PERMS_BY_NAME", metadata_has_perms },
	{ "SERVERPROPERTY", metadata_server_property },
	{ "CONNECTIONPROPERTY", metadata_connection_property },
	{ "DATABASEPROPERTYEX", metadata_database_property_ex },
	{ "DATABASEPROPERTY", metadata_database_property },
	{ "SESSIONPROPERTY", metadata_session_property },
	{ "FULLTEXTSERVICEPROPERTY", metadata_no_full_text },
	{ "HOST_NAME", host_name },
	{ "APP_NAME", app_name },
};

int metadata_value(const struct metadata_client *client, const char *name, const struct value *args,
		   size_t nargs, struct arena *a, struct value *ret, struct err *reterr)
{
	const struct metadata_call c = {
		.client = client, .args = args, .nargs = nargs, .arena = a, .ret = ret, .err = reterr
	};

	assert(client->ops != NULL && client->login != NULL && client->database != NULL);
	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		if (strcmp(name, functions[i].name) == 0)
			return functions[i].fn(&c);
	}
	return 0;
}
