/* properties.c — SERVERPROPERTY and its kin: tables of what holds here; what is not in them
 * is NULL, as in SQL Server. */
#include "metadata/metadata_int.h"

#include <unistd.h>

#include "tds/tds.h"

#define COLLATION "SQL_Latin1_General_CP1_CI_AS"
#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

struct property {
	const char *name, *text; /* text NULL: the number */
	int64_t number;
};

static const struct property *find(const struct property *list, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq_nocase(name, str_of(list[i].name)))
			return &list[i];
	}
	return NULL;
}

/* The property named by argument i, as sql_variant. */
static int answer(const struct metadata_call *c, size_t i, const struct property *list, size_t n)
{
	const struct property *p = NULL;
	struct str name;
	int rc = metadata_arg_text(c, i, &name);

	if (rc < 0)
		return -1;
	if (rc > 0)
		p = find(list, n, name);
	if (p == NULL)
		return metadata_null(c);
	return metadata_variant(c,
				p->text != NULL ? value_nvarchar(p->text) : value_int(TYPE_INT, p->number));
}

int metadata_server_property(const struct metadata_call *c)
{
	const char *name = c->client->server_name;
	const struct property list[] = {
		{ "ProductVersion", TDS_PRODUCT_VERSION, 0 },
		{ "ProductLevel", "RTM", 0 },
		{ "Edition", "Procession", 0 },
		{ "EngineEdition", NULL, 3 },
		{ "ServerName", name, 0 },
		{ "MachineName", name, 0 },
		{ "ComputerNamePhysicalNetBIOS", name, 0 },
		{ "ProcessID", NULL, getpid() },
		{ "EditionID", NULL, 0 },
		{ "InstanceDefaultDataPath", "", 0 },
		{ "InstanceDefaultLogPath", "", 0 },
		{ "ProductUpdateLevel", "RTM", 0 },
		{ "BuildClrVersion", "", 0 },
		{ "CollationID", NULL, 872468488 },
		{ "ComparisonStyle", NULL, 196609 },
		{ "SqlCharSet", NULL, 1 },
		{ "IsBigDataCluster", NULL, 0 },
		{ "IsExternalAuthenticationOnly", NULL, 0 },
		{ "IsTempDbMetadataMemoryOptimized", NULL, 0 },
		{ "IsServerSuspendedForSnapshotBackup", NULL, 0 },
		{ "HadrManagerStatus", NULL, 2 },
		{ "IsIntegratedSecurityOnly", NULL, 0 },
		{ "IsClustered", NULL, 0 },
		{ "IsSingleUser", NULL, 0 },
		{ "IsFullTextInstalled", NULL, 0 },
		{ "IsHadrEnabled", NULL, 0 },
		{ "IsLocalDB", NULL, 0 },
		{ "IsXTPSupported", NULL, 0 },
		{ "IsPolyBaseInstalled", NULL, 0 },
		{ "IsAdvancedAnalyticsInstalled", NULL, 0 },
		{ "FilestreamConfiguredLevel", NULL, 0 },
		{ "FilestreamEffectiveLevel", NULL, 0 },
		{ "ProductMajorVersion", TEXT_OF(TDS_PRODUCT_MAJOR), 0 },
		{ "ProductMinorVersion", TEXT_OF(TDS_PRODUCT_MINOR), 0 },
		{ "ProductBuild", TEXT_OF(TDS_PRODUCT_BUILD), 0 },
		{ "ResourceVersion", TDS_PRODUCT_VERSION, 0 },
		{ "LicenseType", "DISABLED", 0 },
		{ "PathSeparator", "/", 0 },
		{ "Collation", COLLATION, 0 },
		{ "LCID", NULL, 1033 },
		{ "SqlCharSetName", "iso_1", 0 },
		{ "SqlSortOrder", NULL, 52 },
		{ "SqlSortOrderName", "nocase_iso", 0 },
	};
	return answer(c, 0, list, ARRAY_LEN(list));
}

int metadata_connection_property(const struct metadata_call *c)
{
	const struct property list[] = {
		{ "net_transport", "TCP", 0 },           { "protocol_type", "TSQL", 0 },
		{ "auth_scheme", c->client->scheme, 0 }, { "client_net_address", c->client->address, 0 },
		{ "physical_net_transport", "TCP", 0 },
	};
	return answer(c, 0, list, ARRAY_LEN(list));
}

/* The database that the first argument names, or NULL. */
static int of_database(const struct metadata_call *c, const struct database **ret)
{
	struct str name;
	int rc = metadata_arg_text(c, 0, &name);

	*ret = rc > 0 && name.n > 0 ? databases_find(c->client->databases, name) : NULL;
	return rc;
}

int metadata_database_property_ex(const struct metadata_call *c)
{
	const struct database *db;
	int rc = of_database(c, &db);
	const struct property list[] = {
		{ "Collation", COLLATION, 0 },
		{ "ComparisonStyle", NULL, 196609 },
		{ "Edition", "Procession", 0 },
		{ "Status", db == NULL || db->engine != NULL ? "ONLINE" : "SUSPECT", 0 },
		{ "Updateability", "READ_WRITE", 0 },
		{ "UserAccess", "MULTI_USER", 0 },
		{ "Recovery", "FULL", 0 },
		{ "Version", NULL, 957 },
		{ "LCID", NULL, 1033 },
		{ "SQLSortOrder", NULL, 52 },
		{ "IsAutoClose", NULL, 0 },
		{ "IsAutoShrink", NULL, 0 },
		{ "IsInStandBy", NULL, 0 },
		{ "IsFulltextEnabled", NULL, 0 },
		{ "IsPublished", NULL, 0 },
		{ "IsSubscribed", NULL, 0 },
		{ "IsMergePublished", NULL, 0 },
		{ "IsReadOnly", NULL, 0 },
		{ "IsXTPSupported", NULL, 0 },
	};

	return rc < 0 ? -1 : db == NULL ? metadata_null(c) : answer(c, 1, list, ARRAY_LEN(list));
}

/* The old form: numbers only. */
int metadata_database_property(const struct metadata_call *c)
{
	const struct database *db;
	int rc = of_database(c, &db);
	const struct property list[] = {
		{ "IsReadOnly", NULL, 0 },
		{ "IsOffline", NULL, 0 },
		{ "IsSingleUser", NULL, 0 },
		{ "IsDboOnly", NULL, 0 },
		{ "IsSuspect", NULL, db != NULL && db->engine == NULL },
		{ "IsInLoad", NULL, 0 },
		{ "IsInRecovery", NULL, 0 },
		{ "IsInStandBy", NULL, 0 },
		{ "IsNotRecovered", NULL, 0 },
		{ "IsDetached", NULL, 0 },
		{ "IsEmergencyMode", NULL, 0 },
		{ "IsShutDown", NULL, 0 },
		{ "IsBulkCopy", NULL, 0 },
		{ "IsTruncLog", NULL, 0 },
		{ "IsAutoClose", NULL, 0 },
		{ "IsAutoShrink", NULL, 0 },
		{ "IsFulltextEnabled", NULL, 0 },
		{ "Version", NULL, 957 },
	};
	const struct property *p = NULL;
	struct str name;
	int rc_name = metadata_arg_text(c, 1, &name);

	if (rc < 0 || rc_name < 0)
		return -1;
	if (db != NULL && rc_name > 0)
		p = find(list, ARRAY_LEN(list), name);
	return p == NULL ? metadata_null(c) : metadata_int(c, p->number);
}

int metadata_session_property(const struct metadata_call *c)
{
	const struct tsql_session *v = c->client->vars;
	const struct property list[] = {
		{ "ANSI_NULLS", NULL, v->ansi_nulls },
		{ "ANSI_PADDING", NULL, v->ansi_padding },
		{ "ANSI_WARNINGS", NULL, v->ansi_warnings },
		{ "ARITHABORT", NULL, v->arithabort },
		{ "CONCAT_NULL_YIELDS_NULL", NULL, v->concat_null_yields_null },
		{ "NUMERIC_ROUNDABORT", NULL, v->numeric_roundabort },
		{ "QUOTED_IDENTIFIER", NULL, v->quoted_identifier },
	};
	return answer(c, 0, list, ARRAY_LEN(list));
}

/* COLLATIONPROPERTY(collation, property); there is one. */
int metadata_collation_property(const struct metadata_call *c)
{
	const struct property list[] = {
		{ "CodePage", NULL, 1252 },
		{ "LCID", NULL, 1033 },
		{ "ComparisonStyle", NULL, 196609 },
		{ "Version", NULL, 0 },
	};
	struct str name;
	int rc = metadata_arg_text(c, 0, &name);

	if (rc <= 0 || !str_eq_nocase(name, STR(COLLATION)))
		return rc < 0 ? -1 : metadata_null(c);
	return answer(c, 1, list, ARRAY_LEN(list));
}
