/* functions.c — the table of functions and @@ variables: how many arguments, what type comes
 * out, who computes it. */
#include "tsql/eval/functions.h"

#include <string.h>

#include "value/convert.h"

#define NV(n) TYPE_LEN(TYPE_NVARCHAR, n)
#define INT TYPE_OF(TYPE_INT)
#define NONE TYPE_OF(TYPE_NULL)
#define FLOAT TYPE_OF(TYPE_FLOAT)

/* The last word of each macro names what sets the group apart; F is for the many that give NULL
 * for NULL. */
/* clang-format off */
#define F(name, min, max, rule, type, call) \
	{ name, min, max, rule, false, true, false, false, false, type, call }
#define FN_NULLS(name, min, max, rule, type, call) \
	{ name, min, max, rule, false, false, false, false, false, type, call }
#define F_PART(name, min, max, rule, type, call) \
	{ name, min, max, rule, false, true, true, false, false, type, call }
#define F_LAZY(name, min, max, rule, call) \
	{ name, min, max, rule, false, false, false, false, true, NONE, call }
#define F_WORD(name, type, call) \
	{ name, 0, 0, R_FIXED, false, false, false, true, false, type, call }
#define HOST(name, min, max, type) \
	{ name, min, max, R_FIXED, false, false, false, false, false, type, NULL }
#define GLOBAL(name, type) \
	{ name, 0, 0, R_FIXED, true, false, false, true, false, type, tsql_fn_session_value }
#define GLOBAL_NULL(name, type) \
	{ name, 0, 0, R_FIXED, false, false, false, true, false, type, tsql_fn_session_value }
#define GLOBAL_HOST(name, type) \
	{ name, 0, 0, R_FIXED, true, false, false, true, false, type, NULL }
/* clang-format on */

static const struct function table[] = {
	F("LEN", 1, 1, R_FIXED, INT, tsql_fn_len),
	F("DATALENGTH", 1, 1, R_FIXED, INT, tsql_fn_datalength),
	F("UPPER", 1, 1, R_TEXT, NONE, tsql_fn_upper),
	F("LOWER", 1, 1, R_TEXT, NONE, tsql_fn_lower),
	F("LTRIM", 1, 1, R_TEXT, NONE, tsql_fn_ltrim),
	F("RTRIM", 1, 1, R_TEXT, NONE, tsql_fn_rtrim),
	F("TRIM", 1, 1, R_TEXT, NONE, tsql_fn_trim),
	F("SUBSTRING", 3, 3, R_TEXT, NONE, tsql_fn_substring),
	F("LEFT", 2, 2, R_TEXT, NONE, tsql_fn_left),
	F("RIGHT", 2, 2, R_TEXT, NONE, tsql_fn_right),
	F("CHARINDEX", 2, 3, R_FIXED, INT, tsql_fn_charindex),
	F("PATINDEX", 2, 2, R_FIXED, INT, tsql_fn_patindex),
	F("REPLACE", 3, 3, R_TEXT_MAX, NONE, tsql_fn_replace),
	F("REPLICATE", 2, 2, R_TEXT_MAX, NONE, tsql_fn_replicate),
	F("SPACE", 1, 1, R_FIXED, TYPE_LEN(TYPE_VARCHAR, 8000), tsql_fn_space),
	FN_NULLS("STUFF", 4, 4, R_TEXT_MAX, NONE, tsql_fn_stuff),
	F("REVERSE", 1, 1, R_TEXT, NONE, tsql_fn_reverse),
	FN_NULLS("CONCAT", 2, 254, R_TEXT_ALL, NONE, tsql_fn_concat),
	FN_NULLS("CONCAT_WS", 3, 254, R_TEXT_ALL, NONE, tsql_fn_concat_ws),
	F("CHAR", 1, 1, R_FIXED, TYPE_LEN(TYPE_CHAR, 1), tsql_fn_char),
	F("NCHAR", 1, 1, R_FIXED, TYPE_LEN(TYPE_NCHAR, 1), tsql_fn_nchar),
	F("ASCII", 1, 1, R_FIXED, INT, tsql_fn_ascii),
	F("UNICODE", 1, 1, R_FIXED, INT, tsql_fn_unicode),
	F("STR", 1, 3, R_FIXED, TYPE_LEN(TYPE_VARCHAR, 8000), tsql_fn_str),
	F("QUOTENAME", 1, 2, R_FIXED, NV(258), tsql_fn_quotename),
	F("PARSENAME", 2, 2, R_FIXED, NV(128), tsql_fn_parsename),

	F("ABS", 1, 1, R_NUMBER, NONE, tsql_fn_abs),
	F("SIGN", 1, 1, R_NUMBER, NONE, tsql_fn_sign),
	F("FLOOR", 1, 1, R_WHOLE, NONE, tsql_fn_floor),
	F("CEILING", 1, 1, R_WHOLE, NONE, tsql_fn_ceiling),
	F("ROUND", 2, 3, R_NUMBER, NONE, tsql_fn_round),
	F("POWER", 2, 2, R_NUMBER, NONE, tsql_fn_power),
	F("SQRT", 1, 1, R_FIXED, FLOAT, tsql_fn_sqrt),
	F("SQUARE", 1, 1, R_FIXED, FLOAT, tsql_fn_square),
	F("EXP", 1, 1, R_FIXED, FLOAT, tsql_fn_exp),
	F("LOG", 1, 2, R_FIXED, FLOAT, tsql_fn_log),
	F("PI", 0, 0, R_FIXED, FLOAT, tsql_fn_pi),
	FN_NULLS("RAND", 0, 1, R_FIXED, FLOAT, tsql_fn_rand),
	FN_NULLS("ISNUMERIC", 1, 1, R_FIXED, INT, tsql_fn_isnumeric),
	FN_NULLS("ISDATE", 1, 1, R_FIXED, INT, tsql_fn_isdate),

	F("GETDATE", 0, 0, R_FIXED, TYPE_OF(TYPE_DATETIME), tsql_fn_getdate),
	F("GETUTCDATE", 0, 0, R_FIXED, TYPE_OF(TYPE_DATETIME), tsql_fn_getdate),
	F("SYSDATETIME", 0, 0, R_FIXED, TYPE_NUM(TYPE_DATETIME2, 0, 7), tsql_fn_sysdatetime),
	F("SYSUTCDATETIME", 0, 0, R_FIXED, TYPE_NUM(TYPE_DATETIME2, 0, 7), tsql_fn_sysdatetime),
	F("SYSDATETIMEOFFSET", 0, 0, R_FIXED, TYPE_NUM(TYPE_DATETIMEOFFSET, 0, 7), tsql_fn_sysdatetime),
	F_WORD("CURRENT_TIMESTAMP", TYPE_OF(TYPE_DATETIME), tsql_fn_getdate),
	F_PART("DATEADD", 3, 3, R_DATE, NONE, tsql_fn_dateadd),
	F_PART("DATEDIFF", 3, 3, R_FIXED, INT, tsql_fn_datediff),
	F_PART("DATEDIFF_BIG", 3, 3, R_FIXED, TYPE_OF(TYPE_BIGINT), tsql_fn_datediff),
	F_PART("DATEPART", 2, 2, R_FIXED, INT, tsql_fn_datepart),
	F_PART("DATENAME", 2, 2, R_FIXED, NV(30), tsql_fn_datename),
	F("YEAR", 1, 1, R_FIXED, INT, tsql_fn_year),
	F("MONTH", 1, 1, R_FIXED, INT, tsql_fn_month),
	F("DAY", 1, 1, R_FIXED, INT, tsql_fn_day),
	F("EOMONTH", 1, 2, R_FIXED, TYPE_OF(TYPE_DATE), tsql_fn_eomonth),
	F("DATEFROMPARTS", 3, 3, R_FIXED, TYPE_OF(TYPE_DATE), tsql_fn_datefromparts),

	F_LAZY("COALESCE", 2, 254, R_COMMON, tsql_fn_coalesce),
	F_LAZY("ISNULL", 2, 2, R_FIRST, tsql_fn_isnull),
	F_LAZY("NULLIF", 2, 2, R_FIRST, tsql_fn_nullif),
	F_LAZY("IIF", 3, 3, R_COMMON_REST, tsql_fn_iif),
	F_LAZY("CHOOSE", 2, 254, R_COMMON_REST, tsql_fn_choose),
	F("NEWID", 0, 0, R_FIXED, TYPE_OF(TYPE_GUID), tsql_fn_newid),
	F("XACT_STATE", 0, 0, R_FIXED, TYPE_OF(TYPE_SMALLINT), tsql_fn_xact_state),

	/* There is no CATCH block and no identity column: always NULL, in the right type. */
	FN_NULLS("ERROR_NUMBER", 0, 0, R_FIXED, INT, tsql_fn_null),
	FN_NULLS("ERROR_SEVERITY", 0, 0, R_FIXED, INT, tsql_fn_null),
	FN_NULLS("ERROR_STATE", 0, 0, R_FIXED, INT, tsql_fn_null),
	FN_NULLS("ERROR_LINE", 0, 0, R_FIXED, INT, tsql_fn_null),
	FN_NULLS("ERROR_PROCEDURE", 0, 0, R_FIXED, NV(128), tsql_fn_null),
	FN_NULLS("ERROR_MESSAGE", 0, 0, R_FIXED, NV(4000), tsql_fn_null),
	FN_NULLS("SCOPE_IDENTITY", 0, 0, R_FIXED, TYPE_NUM(TYPE_NUMERIC, 38, 0), tsql_fn_null),
	FN_NULLS("IDENT_CURRENT", 1, 1, R_FIXED, TYPE_NUM(TYPE_NUMERIC, 38, 0), tsql_fn_null),
	FN_NULLS("CONTEXT_INFO", 0, 0, R_FIXED, TYPE_LEN(TYPE_VARBINARY, 128), tsql_fn_context_info),

	GLOBAL("@@ERROR", INT),
	GLOBAL("@@ROWCOUNT", INT),
	GLOBAL("@@TRANCOUNT", INT),
	GLOBAL("@@FETCH_STATUS", INT),
	GLOBAL("@@CURSOR_ROWS", INT),
	GLOBAL("@@DATEFIRST", TYPE_OF(TYPE_TINYINT)),
	GLOBAL("@@LANGUAGE", NV(128)),
	GLOBAL("@@LANGID", TYPE_OF(TYPE_SMALLINT)),
	GLOBAL("@@TEXTSIZE", INT),
	GLOBAL("@@LOCK_TIMEOUT", INT),
	GLOBAL("@@OPTIONS", INT),
	GLOBAL("@@MAX_PRECISION", TYPE_OF(TYPE_TINYINT)),
	GLOBAL("@@PROCID", INT),
	GLOBAL_NULL("@@IDENTITY", TYPE_NUM(TYPE_NUMERIC, 38, 0)),
	GLOBAL("@@DBTS", TYPE_LEN(TYPE_VARBINARY, 8)),
	GLOBAL_NULL("@@REMSERVER", NV(128)),
	GLOBAL("@@TIMETICKS", INT),
	GLOBAL("@@CPU_BUSY", INT),
	GLOBAL("@@IDLE", INT),
	GLOBAL("@@IO_BUSY", INT),
	GLOBAL("@@PACK_SENT", INT),
	GLOBAL("@@PACK_RECEIVED", INT),
	GLOBAL("@@PACKET_ERRORS", INT),
	GLOBAL("@@TOTAL_ERRORS", INT),
	GLOBAL("@@TOTAL_READ", INT),
	GLOBAL("@@TOTAL_WRITE", INT),
	GLOBAL_HOST("@@MICROSOFTVERSION", INT),
	GLOBAL_HOST("@@NESTLEVEL", INT),
	GLOBAL_HOST("@@CONNECTIONS", INT),
	GLOBAL_HOST("@@VERSION", NV(300)),
	GLOBAL_HOST("@@SPID", TYPE_OF(TYPE_SMALLINT)),
	GLOBAL_HOST("@@SERVERNAME", NV(128)),
	GLOBAL_HOST("@@SERVICENAME", NV(128)),
	GLOBAL_HOST("@@MAX_CONNECTIONS", INT),

	HOST("DB_NAME", 0, 1, NV(128)),
	HOST("DB_ID", 0, 1, TYPE_OF(TYPE_SMALLINT)),
	HOST("SUSER_SNAME", 0, 1, NV(128)),
	HOST("SUSER_NAME", 0, 1, NV(128)),
	HOST("SUSER_ID", 0, 1, INT),
	HOST("SUSER_SID", 0, 1, TYPE_LEN(TYPE_VARBINARY, 85)),
	HOST("ORIGINAL_LOGIN", 0, 0, NV(128)),
	HOST("USER_NAME", 0, 1, NV(128)),
	HOST("USER_ID", 0, 1, INT),
	HOST("SCHEMA_NAME", 0, 1, NV(128)),
	HOST("SCHEMA_ID", 0, 1, INT),
	HOST("HOST_NAME", 0, 0, NV(128)),
	HOST("HOST_ID", 0, 0, TYPE_LEN(TYPE_CHAR, 10)),
	HOST("APP_NAME", 0, 0, NV(128)),
	HOST("PROGRAM_NAME", 0, 0, NV(128)),
	HOST("SERVERPROPERTY", 1, 1, TYPE_OF(TYPE_VARIANT)),
	HOST("DATABASEPROPERTYEX", 2, 2, TYPE_OF(TYPE_VARIANT)),
	HOST("DATABASEPROPERTY", 2, 2, INT),
	HOST("CONNECTIONPROPERTY", 1, 1, TYPE_OF(TYPE_VARIANT)),
	HOST("SESSIONPROPERTY", 1, 1, TYPE_OF(TYPE_VARIANT)),
	HOST("HAS_DBACCESS", 1, 1, INT),
	HOST("IS_SRVROLEMEMBER", 1, 2, INT),
	HOST("IS_MEMBER", 1, 1, INT),
	HOST("IS_ROLEMEMBER", 1, 2, INT),
	HOST("HAS_PERMS_BY_NAME", 3, 5, INT),
	HOST("OBJECT_ID", 1, 2, INT),
	HOST("OBJECT_NAME", 1, 2, NV(128)),
	HOST("OBJECT_SCHEMA_NAME", 1, 2, NV(128)),
	HOST("OBJECTPROPERTY", 2, 2, INT),
	HOST("OBJECTPROPERTYEX", 2, 2, TYPE_OF(TYPE_VARIANT)),
	HOST("COLUMNPROPERTY", 3, 3, INT),
	HOST("INDEXPROPERTY", 3, 3, INT),
	HOST("INDEXKEY_PROPERTY", 4, 4, INT),
	HOST("INDEX_COL", 3, 3, NV(128)),
	HOST("STATS_DATE", 2, 2, TYPE_OF(TYPE_DATETIME)),
	HOST("FILEGROUP_NAME", 1, 1, NV(128)),
	HOST("TYPEPROPERTY", 2, 2, INT),
	HOST("LOGINPROPERTY", 2, 2, TYPE_OF(TYPE_VARIANT)),
	HOST("FULLTEXTSERVICEPROPERTY", 1, 1, INT),
	F("SQL_VARIANT_PROPERTY", 2, 2, R_FIXED, TYPE_OF(TYPE_VARIANT), tsql_fn_variant_property),
	HOST("TYPE_ID", 1, 1, INT),
	HOST("TYPE_NAME", 1, 1, NV(128)),
	HOST("COL_NAME", 2, 2, NV(128)),
	HOST("COL_LENGTH", 2, 2, TYPE_OF(TYPE_SMALLINT)),
	HOST("OBJECT_DEFINITION", 1, 1, TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX)),
	HOST("COLLATIONPROPERTY", 2, 2, TYPE_OF(TYPE_VARIANT)),
	HOST("DATABASE_PRINCIPAL_ID", 0, 1, INT),
	F_WORD("SYSTEM_USER", NV(128), NULL),
	F_WORD("CURRENT_USER", NV(128), NULL),
	F_WORD("SESSION_USER", NV(128), NULL),
	F_WORD("USER", NV(128), NULL),
};

const struct function *tsql_function_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (str_eq_nocase(name, str_of(table[i].name)))
			return &table[i];
	}
	return NULL;
}

static struct type number_type(const struct type *t, bool whole)
{
	switch (t->id) {
	case TYPE_NULL:
	case TYPE_BIT:
	case TYPE_TINYINT:
	case TYPE_SMALLINT:
	case TYPE_INT: return INT;
	case TYPE_BIGINT:
	case TYPE_MONEY: return *t;
	case TYPE_SMALLMONEY: return TYPE_OF(TYPE_MONEY);
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return TYPE_NUM(t->id, t->precision, whole ? 0 : t->scale);
	default: return FLOAT;
	}
}

static struct type common_of(const struct type *args, size_t from, size_t n)
{
	struct type t = NONE;

	for (size_t i = from; i < n; i++)
		t = tsql_type_common_known(&t, &args[i]);
	return t.id == TYPE_NULL ? INT : t;
}

static struct type joined_type(const struct type *args, size_t n)
{
	bool unicode = false, unbounded = false;
	int64_t length = 0;

	for (size_t i = 0; i < n; i++) {
		struct type t = tsql_type_as_text(&args[i]);

		unicode = unicode || type_info(t.id)->is_unicode;
		unbounded = unbounded || type_is_max(&t);
		length += t.length;
	}
	if (length > (unicode ? 4000 : 8000))
		length = unicode ? 4000 : 8000;
	return TYPE_LEN(unicode ? TYPE_NVARCHAR : TYPE_VARCHAR, unbounded ? TYPE_MAX : (int32_t)length);
}

static struct type longest_text(const struct type *arg)
{
	struct type t = tsql_type_as_text(arg);

	if (!type_is_max(&t))
		t.length = t.id == TYPE_NVARCHAR ? 4000 : 8000;
	return t;
}

struct type tsql_function_type(const struct function *f, const struct type *args, size_t n)
{
	switch (f->rule) {
	case R_FIRST:
		if (args[0].id == TYPE_NULL)
			return n > 1 && args[1].id != TYPE_NULL ? args[1] : INT;
		return args[0];
	case R_SECOND: return args[1];
	case R_TEXT:
		if (type_info(args[0].id)->is_binary)
			return f->call == tsql_fn_substring ? TYPE_LEN(TYPE_VARBINARY, args[0].length)
							    : tsql_type_as_text(&args[0]);
		return tsql_type_as_text(&args[0]);
	case R_TEXT_MAX: return longest_text(&args[0]);
	case R_TEXT_ALL: return joined_type(args, n);
	case R_COMMON: return common_of(args, 0, n);
	case R_COMMON_REST: return common_of(args, 1, n);
	case R_NUMBER: return number_type(&args[0], false);
	case R_WHOLE: return number_type(&args[0], true);
	case R_DATE: return type_info(args[2].id)->is_time ? args[2] : TYPE_OF(TYPE_DATETIME);
	default: return f->type;
	}
}

int tsql_fn_as(const struct fn_args *f, size_t i, const struct type *t, struct value *ret)
{
	return value_convert(&f->v[i], t, CONVERT_ASSIGN, NULL, f->ev->arena, ret, f->ev->err);
}

int tsql_fn_text(const struct fn_args *f, size_t i, struct str *ret)
{
	return value_to_text(&f->v[i], f->ev->arena, ret, f->ev->err);
}

int tsql_fn_int(const struct fn_args *f, size_t i, int64_t *ret)
{
	struct type t = TYPE_OF(TYPE_BIGINT);
	struct value v;

	if (tsql_fn_as(f, i, &t, &v) < 0)
		return -1;
	*ret = v.u.i;
	return 0;
}

int tsql_fn_float(const struct fn_args *f, size_t i, double *ret)
{
	struct type t = FLOAT;
	struct value v;

	if (tsql_fn_as(f, i, &t, &v) < 0)
		return -1;
	*ret = v.u.f;
	return 0;
}

/* Another name under which the host may know the value. */
static const char *host_synonym(const char *name)
{
	static const char *const pairs[][2] = {
		{ "SYSTEM_USER", "SUSER_SNAME" }, { "SUSER_NAME", "SUSER_SNAME" },
		{ "CURRENT_USER", "USER_NAME" },  { "SESSION_USER", "USER_NAME" },
		{ "USER", "USER_NAME" },          { "PROGRAM_NAME", "APP_NAME" }
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		if (strcmp(pairs[i][0], name) == 0)
			return pairs[i][1];
	}
	return NULL;
}

static int host_value(const struct fn_args *f, struct value *ret)
{
	struct tsql_host *h = f->ev->host;
	const char *other = host_synonym(f->fn->name);
	int rc = 0;

	if (h != NULL && h->ops->value != NULL) {
		rc = h->ops->value(h, f->fn->name, f->v, f->n, f->ev->arena, ret, f->ev->err);
		if (rc == 0 && other != NULL)
			rc = h->ops->value(h, other, f->v, f->n, f->ev->arena, ret, f->ev->err);
	}
	if (rc < 0)
		return -1;
	if (rc == 0)
		return err_set(f->ev->err, ERR_NOT_RECOGNIZED, f->fn->name, "built-in function name");
	return value_convert(ret, &f->fn->type, CONVERT_CAST, NULL, f->ev->arena, ret, f->ev->err);
}

int tsql_function_run(const struct fn_args *f, struct value *ret)
{
	return f->fn->call == NULL ? host_value(f, ret) : f->fn->call(f, ret);
}
