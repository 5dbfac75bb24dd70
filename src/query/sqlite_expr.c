/* sqlite_expr.c — expressions and conditions as SQLite's SQL. */
#include "query/sqlite.h"

#include <assert.h>
#include <string.h>

#include "tsql/eval/eval.h"

/* $1 … $9 are the arguments. NULL: written by a function of its own below. */
static const char *const calls[FUNCTION_COUNT] = {
	[FUNCTION_UPPER] = "tsql_upper($1)",
	[FUNCTION_LOWER] = "tsql_lower($1)",
	[FUNCTION_LTRIM] = "ltrim($1, ' ')",
	[FUNCTION_RTRIM] = "rtrim($1, ' ')",
	[FUNCTION_TRIM] = "trim($1, ' ')",
	[FUNCTION_LEN] = "tsql_len($1)",
	[FUNCTION_SUBSTRING] = "tsql_substring($1, $2, $3)",
	[FUNCTION_LEFT] = "tsql_left($1, $2)",
	[FUNCTION_RIGHT] = "tsql_right($1, $2)",
	[FUNCTION_REPLACE] = "tsql_replace($1, $2, $3)",
	[FUNCTION_CHARINDEX] = "tsql_charindex($1, $2)",
	[FUNCTION_ABS] = "abs($1)",
	[FUNCTION_ISNULL] = "coalesce($1, $2)",
	[FUNCTION_DB_NAME] = "(SELECT name FROM sys_databases WHERE database_id = $1)",
	[FUNCTION_DB_ID] = "(SELECT database_id FROM sys_databases WHERE name = $1 COLLATE tsql_names)",
	[FUNCTION_SCHEMA_NAME] = "(SELECT name FROM sys_schemas WHERE schema_id = $1 AND database_name = $2 "
				 "COLLATE NOCASE)",
	[FUNCTION_SCHEMA_ID] = "(SELECT schema_id FROM sys_schemas WHERE name = $1 COLLATE tsql_names AND "
			       "database_name = $2 COLLATE NOCASE)",
	[FUNCTION_OBJECT_NAME] =
		"(SELECT name FROM sys_all_objects WHERE object_id = $1 AND database_name = $2 "
		"COLLATE NOCASE)",
	[FUNCTION_OBJECT_SCHEMA_NAME] =
		"(SELECT s.name FROM sys_all_objects o JOIN sys_schemas s ON s.schema_id = o.schema_id AND "
		"s.database_name = o.database_name WHERE o.object_id = $1 AND o.database_name = $2 COLLATE "
		"NOCASE)",
	[FUNCTION_OBJECT_DEFINITION] =
		"(SELECT definition FROM sys_all_sql_modules WHERE object_id = $1 AND database_name = $2 "
		"COLLATE NOCASE)",
	/* No name of an object has a bracket or a quotation mark in it: those around its parts are
	 * left out. */
	[FUNCTION_OBJECT_ID] =
		"(SELECT o.object_id FROM sys_all_objects o JOIN sys_schemas s ON s.schema_id = o.schema_id "
		"AND s.database_name = o.database_name WHERE o.database_name = $3 COLLATE NOCASE AND "
		"($2 = '' OR o.type = $2 COLLATE tsql_names) AND "
		"replace(replace(replace($1, '[', ''), ']', ''), '\"', '') COLLATE tsql_names IN "
		"(CASE WHEN s.name = 'dbo' OR o.type = 'P ' THEN o.name END, s.name || '.' || o.name, "
		"o.database_name || '.' || s.name || '.' || o.name, "
		"CASE s.name WHEN 'dbo' THEN o.database_name || '..' || o.name END))",
	[FUNCTION_OBJECTPROPERTY] =
		"(SELECT CASE lower($2) WHEN 'isprocedure' THEN o.type = 'P ' WHEN 'isview' THEN o.type = 'V "
		"' "
		"WHEN 'ismsshipped' THEN o.is_ms_shipped WHEN 'execisquotedidenton' THEN 1 WHEN "
		"'execisansinullson' THEN 1 WHEN 'schemaid' THEN o.schema_id WHEN 'ownerid' THEN 1 WHEN "
		"'istable' THEN 0 WHEN 'isusertable' THEN 0 WHEN 'isencrypted' THEN 0 WHEN 'isschemabound' "
		"THEN 0 WHEN 'istrigger' THEN 0 WHEN 'isscalarfunction' THEN 0 WHEN 'istablefunction' THEN 0 "
		"END FROM sys_all_objects o WHERE o.object_id = $1 AND o.database_name = $3 COLLATE NOCASE)",
	[FUNCTION_COL_NAME] = "(SELECT c.name FROM sys_all_columns c WHERE c.object_id = $1 AND c.column_id "
			      "= $2 AND c.database_name = $3 COLLATE NOCASE)",
	[FUNCTION_COLUMNPROPERTY] =
		"(SELECT CASE lower($3) WHEN 'allowsnull' THEN c.is_nullable WHEN 'columnid' THEN "
		"c.column_id "
		"WHEN 'precision' THEN c.precision WHEN 'scale' THEN c.scale WHEN 'charmaxlen' THEN CASE "
		"WHEN "
		"c.max_length < 0 THEN -1 WHEN c.system_type_id IN (231, 239) THEN c.max_length / 2 WHEN "
		"c.system_type_id IN (165, 167, 173, 175) THEN c.max_length ELSE 0 END WHEN 'iscomputed' "
		"THEN "
		"0 WHEN 'isidentity' THEN 0 WHEN 'isrowguidcol' THEN 0 WHEN 'issparse' THEN 0 WHEN "
		"'ishidden' "
		"THEN 0 WHEN 'isfulltextindexed' THEN 0 WHEN 'statisticalsemantics' THEN 0 WHEN "
		"'generatedalwaystype' THEN 0 WHEN 'usesansitrim' THEN 1 END FROM sys_all_columns c WHERE "
		"c.object_id = $1 AND c.name = $2 COLLATE tsql_names AND c.database_name = $4 COLLATE "
		"NOCASE)",
	[FUNCTION_INDEXPROPERTY] = "NULL",
	[FUNCTION_TYPE_NAME] = "(SELECT y.name FROM sys_types y WHERE y.user_type_id = $1)",
	[FUNCTION_TYPE_ID] = "(SELECT y.user_type_id FROM sys_types y WHERE y.name = $1 COLLATE tsql_names)",
	[FUNCTION_HAS_DBACCESS] =
		"(SELECT d.state = 0 AND ($3 OR d.database_id = 1 OR EXISTS (SELECT 1 FROM "
		"sys_database_principals p WHERE p.database_name = d.name AND p.login_name = $2 COLLATE "
		"NOCASE)) FROM sys_databases d WHERE d.name = $1 COLLATE tsql_names)",
	[FUNCTION_DATABASEPROPERTYEX] =
		"(SELECT CASE lower($2) WHEN 'collation' THEN d.collation_name WHEN 'status' THEN "
		"d.state_desc "
		"WHEN 'recovery' THEN d.recovery_model_desc WHEN 'useraccess' THEN d.user_access_desc WHEN "
		"'updateability' THEN 'READ_WRITE' WHEN 'version' THEN '957' WHEN 'lcid' THEN '1033' WHEN "
		"'comparisonstyle' THEN '196609' WHEN 'sqlsortorder' THEN '52' WHEN 'isautoclose' THEN '0' "
		"WHEN "
		"'isautoshrink' THEN '0' WHEN 'isinstandby' THEN '0' WHEN 'isfulltextenabled' THEN '0' WHEN "
		"'isxtpsupported' THEN '0' END FROM sys_databases d WHERE d.name = $1 COLLATE tsql_names)",
	[FUNCTION_COLLATIONPROPERTY] =
		"CASE WHEN $1 = 'SQL_Latin1_General_CP1_CI_AS' COLLATE tsql_names THEN CASE lower($2) WHEN "
		"'lcid' THEN '1033' WHEN 'codepage' THEN '1252' WHEN 'comparisonstyle' THEN '196609' WHEN "
		"'version' THEN '0' END END",
	[FUNCTION_LOGINPROPERTY] =
		"CASE WHEN $1 IS NOT NULL AND lower($2) IN ('islocked', 'isexpired', 'ismustchange', "
		"'badpasswordcount', 'historylength') THEN '0' END",
	[FUNCTION_SUSER_SNAME] = "(SELECT p.name FROM sys_server_principals p WHERE p.type = 'S' AND p.sid = "
				 "$1 AND ($3 OR p.login_name IS NULL OR p.login_name = $2 COLLATE NOCASE))",
	[FUNCTION_SUSER_NAME] =
		"(SELECT p.name FROM sys_server_principals p WHERE p.type = 'S' AND p.principal_id = $1 AND "
		"($3 OR p.login_name IS NULL OR p.login_name = $2 COLLATE NOCASE))",
	[FUNCTION_SUSER_ID] =
		"(SELECT p.principal_id FROM sys_server_principals p WHERE p.type = 'S' AND p.name = $1 "
		"COLLATE tsql_names AND ($3 OR p.login_name IS NULL OR p.login_name = $2 COLLATE NOCASE))",
	[FUNCTION_USER_NAME] =
		"(SELECT p.name FROM sys_database_principals p WHERE p.database_name = $2 COLLATE NOCASE AND "
		"p.principal_id = $1 AND ($4 OR p.login_name IS NULL OR p.login_name = $3 COLLATE NOCASE))",
	[FUNCTION_USER_ID] = "(SELECT p.principal_id FROM sys_database_principals p WHERE p.database_name = "
			     "$2 COLLATE NOCASE AND p.name = $1 COLLATE tsql_names AND ($4 OR p.login_name "
			     "IS NULL OR p.login_name = $3 COLLATE NOCASE))",
	[FUNCTION_DATABASE_PRINCIPAL_ID] =
		"(SELECT p.principal_id FROM sys_database_principals p WHERE p.database_name = $2 COLLATE "
		"NOCASE AND p.name = $1 COLLATE tsql_names AND ($4 OR p.login_name IS NULL OR p.login_name = "
		"$3 COLLATE NOCASE))",
	[FUNCTION_QUOTENAME] =
		"CASE WHEN length($1) > 128 THEN NULL WHEN $2 = char(39) THEN char(39) || replace($1, "
		"char(39), "
		"char(39, 39)) || char(39) WHEN $2 = char(34) THEN char(34) || replace($1, char(34), "
		"char(34, "
		"34)) || char(34) WHEN $2 IN ('[', ']') THEN '[' || replace($1, ']', ']]') || ']' END",
	[FUNCTION_SQL_VARIANT_PROPERTY] = "CASE WHEN $1 IS NOT NULL AND lower($2) = 'basetype' THEN "
					  "'nvarchar' END",
};

static void expand(struct query_text *t, const char *sql, const struct query_node *n)
{
	while (*sql != '\0') {
		const char *mark = strchr(sql, '$');
		size_t plain = mark == NULL ? strlen(sql) : (size_t)(mark - sql);

		query_text_put(t, (struct str){ sql, plain });
		sql += plain;
		if (mark != NULL) {
			query_sqlite_expr(t, n->args[sql[1] - '1']);
			sql += 2;
		}
	}
}

/* Dates are ticks in the file: adding and counting boundaries is whole-number arithmetic. */
static void dates(struct query_text *t, const struct query_node *n)
{
	long long unit = query_ticks_of((enum datepart)n->part);

	query_text_put(t, STR("("));
	query_sqlite_expr(t, n->args[1]);
	query_text_put(t, n->op == FUNCTION_DATEADD ? STR(" + CAST(") : STR(""));
	if (n->op == FUNCTION_DATEDIFF)
		query_text_format(t, " / %lld - ", unit);
	query_sqlite_expr(t, n->args[0]);
	query_text_format(t, n->op == FUNCTION_DATEADD ? " AS INTEGER) * %lld)" : " / %lld)", unit);
}

static void separated(struct query_text *t, const struct query_node *n, size_t from, struct str before,
		      struct str between, struct str after)
{
	for (size_t i = from; i < n->nargs; i++) {
		if (i > from)
			query_text_put(t, between);
		query_text_put(t, before);
		query_sqlite_expr(t, n->args[i]);
		query_text_put(t, after);
	}
}

static void call(struct query_text *t, const struct query_node *n)
{
	if (calls[n->op] != NULL) {
		expand(t, calls[n->op], n);
	} else if (n->op == FUNCTION_COALESCE) {
		query_text_put(t, STR("coalesce("));
		separated(t, n, 0, STR(""), STR(", "), STR(""));
		query_text_put(t, STR(")"));
	} else if (n->op == FUNCTION_CONCAT) {
		query_text_put(t, STR("("));
		separated(t, n, 0, STR("coalesce("), STR(" || "), STR(", '')"));
		query_text_put(t, STR(")"));
	} else {
		dates(t, n);
	}
}

static void binary(struct query_text *t, const struct query_node *n, struct str operator)
{
	query_text_put(t, STR("("));
	query_sqlite_expr(t, n->args[0]);
	query_text_put(t, operator);
	query_sqlite_expr(t, n->args[1]);
	query_text_put(t, STR(")"));
}

static struct str arithmetic_sign(uint8_t op)
{
	switch (op) {
	case OP_ADD: return STR(" + ");
	case OP_SUB: return STR(" - ");
	case OP_MUL: return STR(" * ");
	case OP_DIV: return STR(" / ");
	case OP_MOD: return STR(" % ");
	case OP_AND: return STR(" & ");
	default: return STR(" | ");
	}
}

static void choice(struct query_text *t, const struct query_node *n)
{
	query_text_put(t, STR("CASE"));
	for (size_t i = 0; i + 1 < n->nargs; i += 2) {
		query_text_put(t, STR(" WHEN "));
		query_sqlite_condition(t, n->args[i]);
		query_text_put(t, STR(" THEN "));
		query_sqlite_expr(t, n->args[i + 1]);
	}
	if (n->has_else) {
		query_text_put(t, STR(" ELSE "));
		query_sqlite_expr(t, n->args[n->nargs - 1]);
	}
	query_text_put(t, STR(" END"));
}

static void cast(struct query_text *t, const struct query_node *n)
{
	uint8_t from = n->args[0]->type.id;

	if (from == TYPE_DECIMAL || from == TYPE_NUMERIC) /* a number like others in the file */
		from = TYPE_FLOAT;
	query_text_put(t, STR("tsql_cast("));
	query_sqlite_expr(t, n->args[0]);
	query_text_format(t, ", %d, %d, %d)", (int)from, (int)n->type.id, (int)n->type.length);
}

static void aggregate(struct query_text *t, const struct query_node *n)
{
	static const char *const names[] = { [AGG_COUNT] = "count",
					     [AGG_COUNT_BIG] = "count",
					     [AGG_SUM] = "sum",
					     [AGG_MIN] = "min",
					     [AGG_MAX] = "max",
					     [AGG_AVG] = "avg",
					     [AGG_STRING] = "group_concat" };
	/* T-SQL's average of integers is one */
	bool whole = n->op == AGG_AVG && type_info(n->type.id)->is_integer;

	if (n->nargs == 0) {
		query_text_put(t, STR("count(*)"));
		return;
	}
	query_text_format(t, "%s%s(%s", whole ? "CAST(" : "", names[n->op], n->distinct ? "DISTINCT " : "");
	query_sqlite_expr(t, n->args[0]);
	query_text_put(t, query_sqlite_collation(n->args[0]->order));
	if (n->op == AGG_STRING) {
		query_text_put(t, STR(", "));
		query_sqlite_expr(t, n->args[1]);
	}
	query_text_put(t, whole ? STR(") AS INTEGER)") : STR(")"));
}

static void row_number(struct query_text *t, const struct query_node *n)
{
	query_text_put(t, STR("row_number() OVER ("));
	for (size_t i = 0; i < n->nargs; i++) {
		query_text_put(t, i == 0 ? STR("PARTITION BY ") : STR(", "));
		query_sqlite_expr(t, n->args[i]);
		query_text_put(t, query_sqlite_collation(n->args[i]->order));
	}
	query_sqlite_order(t, n->over, n->nover);
	query_text_put(t, STR(")"));
}

void query_sqlite_expr(struct query_text *t, const struct query_node *n)
{
	switch ((enum query_node_kind)n->kind) {
	case NODE_VALUE: query_text_format(t, "?%zu", query_text_bind(t, &n->value)); break;
	case NODE_COLUMN: query_text_column(t, n->source, n->column); break;
	case NODE_UNARY:
		if (n->op == '~' && n->type.id == TYPE_BIT)
			query_text_put(t, STR("(1 - "));
		else
			query_text_format(t, "(%c ", n->op);
		query_sqlite_expr(t, n->args[0]);
		query_text_put(t, STR(")"));
		break;
	case NODE_ARITHMETIC: binary(t, n, arithmetic_sign(n->op)); break;
	case NODE_JOIN_TEXT: binary(t, n, STR(" || ")); break;
	case NODE_CASE: choice(t, n); break;
	case NODE_CAST: cast(t, n); break;
	case NODE_CALL: call(t, n); break;
	case NODE_AGGREGATE: aggregate(t, n); break;
	case NODE_ROW_NUMBER: row_number(t, n); break;
	case NODE_SUBQUERY:
		query_text_put(t, STR("("));
		query_sqlite_select(t, n->query);
		query_text_put(t, STR(")"));
		break;
	default: query_sqlite_condition(t, n);
	}
}

/* ---- conditions ---- */

/* An index of the file is in SQLite's own order, so that a comparison by tsql_exact cannot use it.
 * All texts that are equal to a constant but for blanks at the end lie between the constant
 * without its own and the same with '!', which comes after the blank: an index finds these. */
static void near(struct query_text *t, const struct query_node *column, const struct value *constant)
{
	struct str s = query_without_blanks(constant->u.s);
	struct value low = *constant, high = *constant;
	char *p;

	low.u.s = s;
	p = arena_alloc_raw(t->ev->arena, s.n + 1);
	if (p == NULL)
		return; /* only slower */
	if (s.n > 0)
		memcpy(p, s.p, s.n);
	p[s.n] = '!';
	high.u.s = (struct str){ p, s.n + 1 };
	query_sqlite_expr(t, column);
	query_text_format(t, " >= ?%zu AND ", query_text_bind(t, &low));
	query_sqlite_expr(t, column);
	query_text_format(t, " < ?%zu AND ", query_text_bind(t, &high));
}

/* SQLite may build an index of its own for a join or a comparison with a constant, with a filter
 * in front of it that knows the lengths of texts only (3.38 to 3.40): texts that are equal but for
 * their blanks get lost. A plus sign keeps a column out of it. Names of a system view have no
 * blanks at the end, as long as they are not of type char. */
static void operand(struct query_text *t, const struct query_node *n, bool collated, bool opaque)
{
	struct query_node trimmed;

	if (opaque && n->kind == NODE_COLUMN)
		query_text_put(t, STR("+"));
	if (!opaque && collated && query_is_text_constant(n)) {
		trimmed = *n;
		trimmed.value.u.s = query_without_blanks(n->value.u.s);
		n = &trimmed;
	}
	query_sqlite_expr(t, n);
}

static bool may_end_with_blanks(const struct query_node *n)
{
	return n->kind == NODE_COLUMN &&
	       (n->order == ORDER_EXACT || n->type.id == TYPE_CHAR || n->type.id == TYPE_NCHAR);
}

static void comparison(struct query_text *t, const struct query_node *n)
{
	const struct query_node *a = n->args[0], *b = n->args[1];
	bool opaque = n->order != ORDER_PLAIN && (may_end_with_blanks(a) || may_end_with_blanks(b));

	query_text_put(t, STR("("));
	if (n->op == CMP_EQ && n->order == ORDER_EXACT) {
		if (a->kind == NODE_COLUMN && query_is_text_constant(b))
			near(t, a, &b->value);
		else if (b->kind == NODE_COLUMN && query_is_text_constant(a))
			near(t, b, &a->value);
	}
	operand(t, a, n->order != ORDER_PLAIN, opaque);
	query_text_put(t, query_comparison_sign(n->op));
	operand(t, b, n->order != ORDER_PLAIN, opaque);
	query_text_put(t, query_sqlite_collation(n->order));
	query_text_put(t, STR(")"));
}

static void junction(struct query_text *t, const struct query_node *n, struct str word)
{
	for (size_t i = 0; i < n->nargs; i++) {
		query_text_put(t, i == 0 ? STR("(") : word);
		query_sqlite_condition(t, n->args[i]);
	}
	query_text_put(t, STR(")"));
}

/* Whole numbers of a list are written out, so that a list of them may be long. */
static void member(struct query_text *t, const struct query_node *n)
{
	if (n->kind == NODE_VALUE && !n->value.null && type_info(n->value.type.id)->is_integer)
		query_text_format(t, "%lld", (long long)n->value.u.i);
	else
		query_sqlite_expr(t, n);
}

/* A column and a few texts: comparisons one by one can use an index each, IN cannot (see near). */
static bool are_few_texts(const struct query_node *n)
{
	if (n->order != ORDER_EXACT || n->args[0]->kind != NODE_COLUMN || n->nargs > 65)
		return false;
	for (size_t i = 1; i < n->nargs; i++) {
		if (!query_is_text_constant(n->args[i]))
			return false;
	}
	return true;
}

static void one_by_one(struct query_text *t, const struct query_node *n)
{
	for (size_t i = 1; i < n->nargs; i++) {
		const struct query_node *pair[] = { n->args[0], n->args[i] };
		const struct query_node equal = {
			.kind = NODE_COMPARE, .op = CMP_EQ, .order = n->order, .args = pair, .nargs = 2
		};

		query_text_put(t, i == 1 ? STR("(") : STR(" OR "));
		comparison(t, &equal);
	}
	query_text_put(t, STR(")"));
}

static void in_list(struct query_text *t, const struct query_node *n)
{
	if (are_few_texts(n)) {
		one_by_one(t, n);
		return;
	}
	query_text_put(t, STR("("));
	query_sqlite_expr(t, n->args[0]);
	query_text_put(t, query_sqlite_collation(n->order));
	query_text_put(t, STR(" IN ("));
	for (size_t i = 1; i < n->nargs; i++) {
		if (i > 1)
			query_text_put(t, STR(", "));
		member(t, n->args[i]);
	}
	query_text_put(t, STR("))"));
}

static void in_query(struct query_text *t, const struct query_node *n)
{
	query_text_put(t, STR("("));
	query_sqlite_expr(t, n->args[0]);
	query_text_put(t, query_sqlite_collation(n->order));
	query_text_put(t, STR(" IN ("));
	query_sqlite_select(t, n->query);
	query_text_put(t, STR("))"));
}

static void around(struct query_text *t, struct str before, const struct query_node *n, struct str after)
{
	query_text_put(t, before);
	query_sqlite_expr(t, n);
	query_text_put(t, after);
}

void query_sqlite_condition(struct query_text *t, const struct query_node *n)
{
	switch ((enum query_node_kind)n->kind) {
	case NODE_TRUTH:
		query_text_put(t, n->op == TRI_TRUE ? STR("1") : n->op == TRI_FALSE ? STR("0") : STR("NULL"));
		break;
	case NODE_COMPARE: comparison(t, n); break;
	case NODE_AND: junction(t, n, STR(" AND ")); break;
	case NODE_OR: junction(t, n, STR(" OR ")); break;
	case NODE_NOT: around(t, STR("(NOT "), n->args[0], STR(")")); break;
	case NODE_IS_NULL: around(t, STR("("), n->args[0], STR(" IS NULL)")); break;
	case NODE_IN: in_list(t, n); break;
	case NODE_IN_QUERY: in_query(t, n); break;
	case NODE_EXISTS:
		query_text_put(t, STR("EXISTS ("));
		query_sqlite_select(t, n->query);
		query_text_put(t, STR(")"));
		break;
	case NODE_LIKE:
		query_text_put(t, n->unicode ? STR("tsql_nlike(") : STR("tsql_like("));
		separated(t, n, 0, STR(""), STR(", "), STR(""));
		query_text_put(t, STR(")"));
		break;
	default: assert(!"no condition"); break;
	}
}
