/* postgres_call.c — functions and CAST as PostgreSQL's SQL. */
#include <inttypes.h>
#include <string.h>

#include "query/postgres.h"

/* $1 … $9 are the arguments, #1 … #9 the same as texts. NULL: written by a function of its own
 * below. */
#define NAMED(column, argument) "tsql_names(" column ") = tsql_names(" argument ")"
#define OWN(alias, login, admin) \
	"(" admin " <> 0 OR " alias ".login_name IS NULL OR tsql_fold(" alias \
	".login_name) = tsql_fold(" login "))"
#define WHOLE(argument) "CAST(trunc(CAST(" argument " AS numeric)) AS int8)"
#define IN_DATABASE(column, argument) "tsql_fold(" column ") = tsql_fold(" argument ")"

static const char *const calls[FUNCTION_COUNT] = {
	[FUNCTION_UPPER] = "tsql_upper(#1)",
	[FUNCTION_LOWER] = "tsql_lower(#1)",
	[FUNCTION_LTRIM] = "ltrim(#1, ' ')",
	[FUNCTION_RTRIM] = "rtrim(#1, ' ')",
	[FUNCTION_TRIM] = "btrim(#1, ' ')",
	[FUNCTION_LEN] = "tsql_len(#1)",
	[FUNCTION_SUBSTRING] = "tsql_substring(#1, " WHOLE("$2") ", " WHOLE("$3") ")",
	[FUNCTION_LEFT] = "tsql_left(#1, " WHOLE("$2") ")",
	[FUNCTION_RIGHT] = "tsql_right(#1, " WHOLE("$2") ")",
	[FUNCTION_REPLACE] = "tsql_replace(#1, #2, #3)",
	[FUNCTION_CHARINDEX] = "tsql_charindex(#1, #2)",
	[FUNCTION_ABS] = "abs($1)",
	[FUNCTION_ISNULL] = "coalesce($1, $2)",
	[FUNCTION_DB_NAME] = "(SELECT name FROM sys_databases WHERE database_id = tsql_a_number($1))",
	[FUNCTION_DB_ID] = "(SELECT database_id FROM sys_databases WHERE " NAMED("name",
										 "tsql_a_text($1)") ")",
	[FUNCTION_SCHEMA_NAME] =
		"(SELECT name FROM sys_schemas WHERE schema_id = tsql_a_number($1) AND " IN_DATABASE(
			"database_name", "$2") ")",
	[FUNCTION_SCHEMA_ID] = "(SELECT schema_id FROM sys_schemas WHERE " NAMED(
		"name", "tsql_a_text($1)") " AND " IN_DATABASE("database_name", "$2") ")",
	[FUNCTION_OBJECT_NAME] = "(SELECT name FROM sys_all_objects WHERE object_id = "
				 "tsql_a_number($1) AND " IN_DATABASE("database_name", "$2") ")",
	[FUNCTION_OBJECT_SCHEMA_NAME] = "(SELECT s.name FROM sys_all_objects o JOIN sys_schemas s ON "
					"s.schema_id = o.schema_id AND "
					"s.database_name = o.database_name WHERE o.object_id = "
					"tsql_a_number($1) AND " IN_DATABASE("o.database_name", "$2") ")",
	[FUNCTION_OBJECT_DEFINITION] = "(SELECT definition FROM sys_all_sql_modules WHERE object_id = "
				       "tsql_a_number($1) AND " IN_DATABASE("database_name", "$2") ")",
	[FUNCTION_OBJECT_ID] =
		"(SELECT o.object_id FROM sys_all_objects o JOIN sys_schemas s ON s.schema_id = "
		"o.schema_id AND s.database_name = o.database_name WHERE tsql_fold(o.database_name) "
		"= tsql_fold($3) AND (#2 = '' OR tsql_names(o.type) = tsql_names(#2)) AND "
		"tsql_names(replace(replace(replace(tsql_a_text($1) COLLATE \"C\", '[', ''), ']', "
		"''), '\"', '')) IN (CASE WHEN s.name = 'dbo' OR o.type = 'P ' THEN "
		"tsql_names(o.name) END, tsql_names(concat_ws('.', s.name, o.name)), "
		"tsql_names(concat_ws('.', o.database_name, s.name, o.name)), CASE WHEN s.name = "
		"'dbo' THEN tsql_names(concat_ws('..', o.database_name, o.name)) END) LIMIT 1)",
	[FUNCTION_OBJECTPROPERTY] =
		"(SELECT CASE tsql_fold(#2) WHEN 'isprocedure' THEN as_number(o.type = 'P ') WHEN "
		"'isview' "
		"THEN "
		"as_number(o.type = 'V ') WHEN 'ismsshipped' THEN o.is_ms_shipped WHEN "
		"'execisquotedidenton' "
		"THEN 1 WHEN 'execisansinullson' THEN 1 WHEN 'schemaid' THEN o.schema_id WHEN "
		"'ownerid' THEN "
		"1 "
		"WHEN 'istable' THEN 0 WHEN 'isusertable' THEN 0 WHEN 'isencrypted' THEN 0 WHEN "
		"'isschemabound' THEN 0 WHEN 'istrigger' THEN 0 WHEN 'isscalarfunction' THEN 0 WHEN "
		"'istablefunction' THEN 0 END FROM sys_all_objects o WHERE o.object_id = "
		"tsql_a_number($1) "
		"AND " IN_DATABASE("o.database_name", "$3") ")",
	[FUNCTION_COL_NAME] = "(SELECT c.name FROM sys_all_columns c WHERE c.object_id = tsql_a_number($1) "
			      "AND c.column_id = "
			      "tsql_a_number($2) AND " IN_DATABASE("c.database_name", "$3") ")",
	[FUNCTION_COLUMNPROPERTY] =
		"(SELECT CASE tsql_fold(#3) WHEN 'allowsnull' THEN c.is_nullable WHEN 'columnid' "
		"THEN "
		"c.column_id "
		"WHEN 'precision' THEN c.precision WHEN 'scale' THEN c.scale WHEN 'charmaxlen' THEN "
		"CASE "
		"WHEN "
		"c.max_length < 0 THEN -1 WHEN c.system_type_id IN (231, 239) THEN c.max_length / 2 "
		"WHEN "
		"c.system_type_id IN (165, 167, 173, 175) THEN c.max_length ELSE 0 END WHEN "
		"'iscomputed' "
		"THEN 0 "
		"WHEN 'isidentity' THEN 0 WHEN 'isrowguidcol' THEN 0 WHEN 'issparse' THEN 0 WHEN "
		"'ishidden' "
		"THEN 0 WHEN 'isfulltextindexed' THEN 0 WHEN 'statisticalsemantics' THEN 0 WHEN "
		"'generatedalwaystype' THEN 0 WHEN 'usesansitrim' THEN 1 END FROM sys_all_columns c "
		"WHERE "
		"c.object_id = tsql_a_number($1) AND " NAMED("c.name", "#2") " AND " IN_DATABASE(
			"c.database_name", "$4") ")",
	[FUNCTION_INDEXPROPERTY] = "CAST(NULL AS int8)",
	[FUNCTION_TYPE_NAME] = "(SELECT y.name FROM sys_types y WHERE y.user_type_id = tsql_a_number($1))",
	[FUNCTION_TYPE_ID] = "(SELECT y.user_type_id FROM sys_types y WHERE " NAMED("y.name", "#1") ")",
	[FUNCTION_HAS_DBACCESS] =
		"(SELECT as_number(d.state = 0 AND ($3 <> 0 OR d.database_id = 1 OR EXISTS (SELECT 1 "
		"FROM "
		"sys_database_principals p WHERE p.database_name = d.name AND " IN_DATABASE(
			"p.login_name", "$2") "))) FROM sys_databases d WHERE " NAMED("d.name", "#1") ")",
	[FUNCTION_DATABASEPROPERTYEX] =
		"(SELECT CASE tsql_fold(#2) WHEN 'collation' THEN d.collation_name WHEN 'status' "
		"THEN "
		"d.state_desc "
		"WHEN 'recovery' THEN d.recovery_model_desc WHEN 'useraccess' THEN "
		"d.user_access_desc WHEN "
		"'updateability' THEN 'READ_WRITE' WHEN 'version' THEN '957' WHEN 'lcid' THEN '1033' "
		"WHEN "
		"'comparisonstyle' THEN '196609' WHEN 'sqlsortorder' THEN '52' WHEN 'isautoclose' "
		"THEN '0' "
		"WHEN "
		"'isautoshrink' THEN '0' WHEN 'isinstandby' THEN '0' WHEN 'isfulltextenabled' THEN "
		"'0' WHEN "
		"'isxtpsupported' THEN '0' END FROM sys_databases d WHERE " NAMED("d.name", "#1") ")",
	[FUNCTION_COLLATIONPROPERTY] = "CASE WHEN " NAMED(
		"'SQL_Latin1_General_CP1_CI_AS'", "#1") " THEN CASE tsql_fold(#2) WHEN 'lcid' "
							"THEN '1033' WHEN 'codepage' THEN '1252' WHEN "
							"'comparisonstyle' THEN '196609' WHEN 'version' "
							"THEN '0' END END",
	[FUNCTION_LOGINPROPERTY] = "CASE WHEN #1 IS NOT NULL AND tsql_fold(#2) IN ('islocked', "
				   "'isexpired', 'ismustchange', "
				   "'badpasswordcount', 'historylength') THEN '0' END",
	[FUNCTION_SUSER_SNAME] = "(SELECT p.name FROM sys_server_principals p WHERE p.type = 'S' AND p.sid = "
				 "tsql_bytes($1) AND " OWN("p", "$2", "$3") ")",
	[FUNCTION_SUSER_NAME] = "(SELECT p.name FROM sys_server_principals p WHERE p.type = 'S' AND "
				"p.principal_id = tsql_a_number($1) AND " OWN("p", "$2", "$3") ")",
	[FUNCTION_SUSER_ID] =
		"(SELECT p.principal_id FROM sys_server_principals p WHERE p.type = 'S' AND " NAMED(
			"p.name", "#1") " AND " OWN("p", "$2", "$3") ")",
	[FUNCTION_USER_NAME] = "(SELECT p.name FROM sys_database_principals p WHERE " IN_DATABASE(
		"p.database_name", "$2") " AND p.principal_id = tsql_a_number($1) AND " OWN("p", "$3",
											    "$4") ")",
	[FUNCTION_USER_ID] = "(SELECT p.principal_id FROM sys_database_principals p WHERE " IN_DATABASE(
		"p.database_name", "$2") " AND " NAMED("p.name", "#1") " AND " OWN("p", "$3", "$4") ")",
	[FUNCTION_DATABASE_PRINCIPAL_ID] =
		"(SELECT p.principal_id FROM sys_database_principals p WHERE " IN_DATABASE(
			"p.database_name", "$2") " AND " NAMED("p.name", "#1") " AND " OWN("p", "$3",
											   "$4") ")",
	[FUNCTION_QUOTENAME] = "CASE WHEN length(#1) > 128 THEN NULL WHEN #2 = chr(39) THEN chr(39) "
			       "|| replace(#1 COLLATE "
			       "\"C\", "
			       "chr(39), chr(39) || chr(39)) || chr(39) WHEN #2 = chr(34) THEN "
			       "chr(34) || replace(#1 "
			       "COLLATE "
			       "\"C\", chr(34), chr(34) || chr(34)) || chr(34) WHEN #2 IN ('[', ']') "
			       "THEN '[' || replace(#1 "
			       "COLLATE \"C\", ']', ']]') || ']' END",
	[FUNCTION_SQL_VARIANT_PROPERTY] = "CASE WHEN #1 IS NOT NULL AND tsql_fold(#2) = 'basetype' THEN "
					  "'nvarchar' END",
};

static void expand(struct query_postgres *w, const char *sql, const struct query_node *n)
{
	while (*sql != '\0') {
		size_t plain = strcspn(sql, "$#");

		query_text_put(w->t, (struct str){ sql, plain });
		sql += plain;
		if (*sql == '\0')
			return;
		if (*sql == '#')
			query_postgres_as_text(w, n->args[sql[1] - '1']);
		else
			query_postgres_expr(w, n->args[sql[1] - '1']);
		sql += 2;
	}
}

/* Dates are ticks: adding and counting boundaries is whole-number arithmetic. */
static void dates(struct query_postgres *w, const struct query_node *n)
{
	int64_t unit = query_ticks_of((enum datepart)n->part);
	bool add = n->op == FUNCTION_DATEADD;

	query_text_put(w->t, STR("("));
	query_postgres_expr(w, n->args[1]);
	query_text_put(w->t, add ? STR(" + CAST(") : STR(""));
	if (!add)
		query_text_format(w->t, " / %" PRId64 " - ", unit);
	query_postgres_expr(w, n->args[0]);
	query_text_format(w->t, add ? " AS int8) * %" PRId64 ")" : " / %" PRId64 ")", unit);
}

static void coalesced(struct query_postgres *w, const struct query_node *n)
{
	for (size_t i = 0; i < n->nargs; i++) {
		query_text_put(w->t, i == 0 ? STR("coalesce(") : STR(", "));
		query_postgres_expr(w, n->args[i]);
	}
	query_text_put(w->t, STR(")"));
}

static void concatenated(struct query_postgres *w, const struct query_node *n)
{
	for (size_t i = 0; i < n->nargs; i++) {
		query_text_put(w->t, i == 0 ? STR("(coalesce(") : STR(" || coalesce("));
		query_postgres_as_text(w, n->args[i]);
		query_text_put(w->t, STR(", '')"));
	}
	query_text_put(w->t, STR(")"));
}

void query_postgres_call(struct query_postgres *w, const struct query_node *n)
{
	if (calls[n->op] != NULL)
		expand(w, calls[n->op], n);
	else if (n->op == FUNCTION_COALESCE)
		coalesced(w, n);
	else if (n->op == FUNCTION_CONCAT)
		concatenated(w, n);
	else
		dates(w, n);
}

/* ---- CAST ---- */

/* What T-SQL makes of a whole number that is too long for its text. */
static bool becomes_star(const struct query_node *n)
{
	return n->args[0]->type.id <= TYPE_INT && !type_info(n->type.id)->is_unicode;
}

static void to_text(struct query_postgres *w, const struct query_node *n)
{
	bool fixed = n->type.id == TYPE_CHAR || n->type.id == TYPE_NCHAR;

	query_text_put(w->t, query_is_text(n->args[0]) ? STR("tsql_to_text(") : STR("tsql_number_to_text("));
	query_postgres_as_text(w, n->args[0]);
	query_text_format(w->t, ", %d, %s", type_is_max(&n->type) ? -1 : (int)n->type.length,
			  fixed ? "true" : "false");
	if (!query_is_text(n->args[0]))
		query_text_format(w->t, ", %s, '%s'", becomes_star(n) ? "true" : "false",
				  type_info(n->type.id)->name);
	query_text_put(w->t, STR(")"));
}

static void to_number(struct query_postgres *w, const struct query_node *n)
{
	struct type_bounds b = type_bounds(n->type.id);

	query_text_put(w->t, STR("tsql_to_number("));
	query_postgres_expr(w, n->args[0]);
	/* quoted: without, the minus is an operator, and the least bigint too large for one */
	query_text_format(w->t, ", '%" PRId64 "', '%" PRId64 "', '%s', '%s')", b.least, b.most,
			  type_info(n->type.id)->name, type_info(n->args[0]->type.id)->name);
}

void query_postgres_cast(struct query_postgres *w, const struct query_node *n)
{
	if (type_info(n->type.id)->is_text) {
		to_text(w, n);
	} else if (n->type.id == TYPE_BIT) {
		query_text_put(w->t, STR("tsql_to_bit("));
		query_postgres_expr(w, n->args[0]);
		query_text_put(w->t, STR(")"));
	} else if (n->type.id == TYPE_FLOAT || n->type.id == TYPE_REAL) {
		query_text_put(w->t, STR("tsql_to_float("));
		query_postgres_expr(w, n->args[0]);
		query_text_format(w->t, ", '%s', '%s')", type_info(n->type.id)->name,
				  type_info(n->args[0]->type.id)->name);
	} else {
		to_number(w, n);
	}
}
