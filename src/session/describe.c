/* describe.c — sp_describe_first_result_set: the columns a text would send, as rows (wire notes
 * 18.9). */
#include "session/request_int.h"

#include <string.h>

#define SYSNAME TYPE_LEN(TYPE_NVARCHAR, 128)

enum described {
	D_IS_HIDDEN,
	D_ORDINAL,
	D_NAME,
	D_IS_NULLABLE,
	D_TYPE_ID, /* the first five of session_describe_type() */
	D_TYPE_NAME,
	D_MAX_LENGTH,
	D_PRECISION,
	D_SCALE,
	D_COLLATION,
	D_USER_TYPE_ID,
	D_USER_TYPE_DB,
	D_USER_TYPE_SCHEMA,
	D_USER_TYPE_NAME,
	D_ASSEMBLY,
	D_XML_ID,
	D_XML_DB,
	D_XML_SCHEMA,
	D_XML_NAME,
	D_IS_XML_DOCUMENT,
	D_IS_CASE_SENSITIVE,
	D_IS_FIXED_CLR,
	D_SRC_SERVER,
	D_SRC_DB,
	D_SRC_SCHEMA,
	D_SRC_TABLE,
	D_SRC_COLUMN,
	D_IS_IDENTITY,
	D_IS_KEY,
	D_IS_UPDATEABLE,
	D_IS_COMPUTED,
	D_IS_SPARSE,
	D_ORDER_ORDINAL,
	D_ORDER_LENGTH,
	D_ORDER_DESC,
	D_TDS_TYPE, /* the last two */
	D_TDS_LENGTH,
	D_TDS_COLLATION,
	D_TDS_SORT,
	D_COUNT,
};

static const struct column described[D_COUNT] = {
	[D_IS_HIDDEN] = { "is_hidden", TYPE_OF(TYPE_BIT), false },
	[D_ORDINAL] = { "column_ordinal", TYPE_OF(TYPE_INT), false },
	[D_NAME] = { "name", SYSNAME, true },
	[D_IS_NULLABLE] = { "is_nullable", TYPE_OF(TYPE_BIT), false },
	[D_TYPE_ID] = { "system_type_id", TYPE_OF(TYPE_INT), false },
	[D_TYPE_NAME] = { "system_type_name", TYPE_LEN(TYPE_NVARCHAR, 256), true },
	[D_MAX_LENGTH] = { "max_length", TYPE_OF(TYPE_SMALLINT), false },
	[D_PRECISION] = { "precision", TYPE_OF(TYPE_TINYINT), false },
	[D_SCALE] = { "scale", TYPE_OF(TYPE_TINYINT), false },
	[D_COLLATION] = { "collation_name", SYSNAME, true },
	[D_USER_TYPE_ID] = { "user_type_id", TYPE_OF(TYPE_INT), true },
	[D_USER_TYPE_DB] = { "user_type_database", SYSNAME, true },
	[D_USER_TYPE_SCHEMA] = { "user_type_schema", SYSNAME, true },
	[D_USER_TYPE_NAME] = { "user_type_name", SYSNAME, true },
	[D_ASSEMBLY] = { "assembly_qualified_type_name", TYPE_LEN(TYPE_NVARCHAR, 4000), true },
	[D_XML_ID] = { "xml_collection_id", TYPE_OF(TYPE_INT), true },
	[D_XML_DB] = { "xml_collection_database", SYSNAME, true },
	[D_XML_SCHEMA] = { "xml_collection_schema", SYSNAME, true },
	[D_XML_NAME] = { "xml_collection_name", SYSNAME, true },
	[D_IS_XML_DOCUMENT] = { "is_xml_document", TYPE_OF(TYPE_BIT), false },
	[D_IS_CASE_SENSITIVE] = { "is_case_sensitive", TYPE_OF(TYPE_BIT), false },
	[D_IS_FIXED_CLR] = { "is_fixed_length_clr_type", TYPE_OF(TYPE_BIT), false },
	[D_SRC_SERVER] = { "source_server", SYSNAME, true },
	[D_SRC_DB] = { "source_database", SYSNAME, true },
	[D_SRC_SCHEMA] = { "source_schema", SYSNAME, true },
	[D_SRC_TABLE] = { "source_table", SYSNAME, true },
	[D_SRC_COLUMN] = { "source_column", SYSNAME, true },
	[D_IS_IDENTITY] = { "is_identity_column", TYPE_OF(TYPE_BIT), true },
	[D_IS_KEY] = { "is_part_of_unique_key", TYPE_OF(TYPE_BIT), true },
	[D_IS_UPDATEABLE] = { "is_updateable", TYPE_OF(TYPE_BIT), true },
	[D_IS_COMPUTED] = { "is_computed_column", TYPE_OF(TYPE_BIT), true },
	[D_IS_SPARSE] = { "is_sparse_column_set", TYPE_OF(TYPE_BIT), true },
	[D_ORDER_ORDINAL] = { "ordinal_in_order_by_list", TYPE_OF(TYPE_SMALLINT), true },
	[D_ORDER_LENGTH] = { "order_by_list_length", TYPE_OF(TYPE_SMALLINT), true },
	[D_ORDER_DESC] = { "order_by_is_descending", TYPE_OF(TYPE_SMALLINT), true },
	[D_TDS_TYPE] = { "tds_type_id", TYPE_OF(TYPE_INT), false },
	[D_TDS_LENGTH] = { "tds_length", TYPE_OF(TYPE_INT), false },
	[D_TDS_COLLATION] = { "tds_collation_id", TYPE_OF(TYPE_INT), true },
	[D_TDS_SORT] = { "tds_collation_sort_id", TYPE_OF(TYPE_TINYINT), true },
};

static void put(struct value *row, enum described d, int64_t i)
{
	row[d] = value_int((enum type_id)described[d].type.id, i);
}

static void put_text(struct value *row, enum described d, const char *s)
{
	row[d] = value_text(described[d].type, str_of(s));
}

/* What SQL Server shows for any type: int has 10 and 0. */
static uint8_t precision_of(const struct type *t)
{
	static const uint8_t fixed[] = {
		[TYPE_BIT] = 1,     [TYPE_TINYINT] = 3,    [TYPE_SMALLINT] = 5,        [TYPE_INT] = 10,
		[TYPE_BIGINT] = 19, [TYPE_MONEY] = 19,     [TYPE_SMALLMONEY] = 10,     [TYPE_REAL] = 24,
		[TYPE_FLOAT] = 53,  [TYPE_DATE] = 10,      [TYPE_SMALLDATETIME] = 16,  [TYPE_DATETIME] = 23,
		[TYPE_TIME] = 8,    [TYPE_DATETIME2] = 19, [TYPE_DATETIMEOFFSET] = 26,
	};

	if (type_info(t->id)->has_precision)
		return t->precision;
	if (t->id >= ARRAY_LEN(fixed) || fixed[t->id] == 0)
		return 0;
	/* a time with digits after the second has these and the point */
	if (type_info(t->id)->is_time && type_info(t->id)->has_scale && t->scale > 0)
		return (uint8_t)(fixed[t->id] + 1 + t->scale);
	return fixed[t->id];
}

static uint8_t scale_of(const struct type *t)
{
	if (t->id == TYPE_MONEY || t->id == TYPE_SMALLMONEY)
		return 4;
	return t->id == TYPE_DATETIME ? 3 : t->scale;
}

void session_describe_type(const struct type *t, char *name, size_t size, struct value ret[5],
			   struct value ret_tds[2])
{
	int32_t bytes = type_max_bytes(t);

	ret[0] = value_int(TYPE_INT, type_info(t->id)->system_type_id);
	ret[1] = value_text(TYPE_LEN(TYPE_NVARCHAR, 256), str_of(type_format(t, name, size)));
	ret[2] = value_int(TYPE_SMALLINT, bytes < 0 ? -1 : bytes);
	ret[3] = value_int(TYPE_TINYINT, precision_of(t));
	ret[4] = value_int(TYPE_TINYINT, scale_of(t));
	ret_tds[0] = value_int(TYPE_INT, tds_type_token(t));
	ret_tds[1] = value_int(TYPE_INT, bytes < 0 ? 65535 : bytes);
}

static void describe_type(struct value *row, const struct type *t, char *name, size_t size)
{
	const struct type_info *info = type_info((enum type_id)t->id);

	session_describe_type(t, name, size, &row[D_TYPE_ID], &row[D_TDS_TYPE]);
	if (info->is_text && t->id != TYPE_XML) {
		put_text(row, D_COLLATION, "SQL_Latin1_General_CP1_CI_AS");
		put(row, D_TDS_COLLATION, 13632521);
		put(row, D_TDS_SORT, 52);
	}
}

static void describe_column(struct value *row, const struct column *c, size_t ordinal, char *name,
			    size_t size)
{
	static const enum described zero[] = { D_IS_HIDDEN,    D_IS_XML_DOCUMENT, D_IS_CASE_SENSITIVE,
					       D_IS_FIXED_CLR, D_IS_IDENTITY,     D_IS_UPDATEABLE,
					       D_IS_COMPUTED,  D_IS_SPARSE };

	for (size_t i = 0; i < D_COUNT; i++)
		value_set_null(&row[i], described[i].type);
	for (size_t i = 0; i < ARRAY_LEN(zero); i++)
		put(row, zero[i], 0);
	put(row, D_ORDINAL, (int64_t)ordinal);
	if (c->name != NULL && c->name[0] != '\0')
		put_text(row, D_NAME, c->name);
	put(row, D_IS_NULLABLE, c->nullable);
	describe_type(row, &c->type, name, size);
}

void session_describe_host(struct session *s, struct frame *ret)
{
	*ret = (struct frame){ .session = s, .elsewhere = s->request->inv->database };
	ret->host = (struct tsql_host){ .sink = &s->sink,
					.vars = &s->vars,
					.ops = &session_host_ops,
					.max_value = (size_t)s->server->config->max_value_size,
					.sql = databases_sql(databases_system(s->server->databases)) };
}

int session_describe_program(struct session *s, const struct tsql_program *program, struct meter *m,
			     const struct column **ret, size_t *ret_n, struct err *reterr)
{
	struct frame frame;

	session_describe_host(s, &frame);
	return tsql_describe(program, &frame.host, m, &s->arena, ret, ret_n, reterr);
}

int session_describe_first_result_set(struct session *s, struct invocation *inv, struct meter *m,
				      struct err *reterr)
{
	struct tsql_declared *declared;
	struct tsql_program *program;
	const struct column *cols;
	size_t ndeclared, ncols;

	if (tsql_parse_declarations(inv->fixed.declarations, &s->arena, &declared, &ndeclared, reterr) < 0 ||
	    tsql_compile(inv->fixed.text, &s->vars, declared, ndeclared, m, &s->arena, &program, reterr) <
		    0 ||
	    session_describe_program(s, program, m, &cols, &ncols, reterr) < 0)
		return -1;
	(void)call_sink_columns(&s->sink, described, D_COUNT);
	for (size_t i = 0; i < ncols; i++) {
		struct value row[D_COUNT];
		char name[64];

		describe_column(row, &cols[i], i + 1, name, sizeof(name));
		(void)call_sink_row(&s->sink, row, D_COUNT);
	}
	session_response_done(s, TDS_DONEINPROC, TDS_DONE_COUNT, CMD_SELECT, ncols);
	return 0;
}
