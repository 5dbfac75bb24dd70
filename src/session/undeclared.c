/* undeclared.c — sp_describe_undeclared_parameters: the parameters of a text that nobody declared,
 * as rows (wire notes 18.9). Drivers ask it before they bind: mssql-jdbc for ParameterMetaData,
 * Microsoft's ODBC driver for SQLDescribeParam. */
#include "session/request_int.h"

#define SYSNAME TYPE_LEN(TYPE_NVARCHAR, 128)

enum shown {
	U_ORDINAL,
	U_NAME,
	U_TYPE_ID,
	U_TYPE_NAME,
	U_MAX_LENGTH,
	U_PRECISION,
	U_SCALE,
	U_USER_TYPE_ID,
	U_USER_TYPE_DB,
	U_USER_TYPE_SCHEMA,
	U_USER_TYPE_NAME,
	U_ASSEMBLY,
	U_XML_ID,
	U_XML_DB,
	U_XML_SCHEMA,
	U_XML_NAME,
	U_IS_XML_DOCUMENT,
	U_IS_CASE_SENSITIVE,
	U_IS_FIXED_CLR,
	U_IS_INPUT,
	U_IS_OUTPUT,
	U_FORMAL,
	U_TDS_TYPE,
	U_TDS_LENGTH,
	U_COUNT,
};

static const struct column shown[U_COUNT] = {
	[U_ORDINAL] = { "parameter_ordinal", TYPE_OF(TYPE_INT), false },
	[U_NAME] = { "name", SYSNAME, false },
	[U_TYPE_ID] = { "suggested_system_type_id", TYPE_OF(TYPE_INT), false },
	[U_TYPE_NAME] = { "suggested_system_type_name", TYPE_LEN(TYPE_NVARCHAR, 256), true },
	[U_MAX_LENGTH] = { "suggested_max_length", TYPE_OF(TYPE_SMALLINT), false },
	[U_PRECISION] = { "suggested_precision", TYPE_OF(TYPE_TINYINT), false },
	[U_SCALE] = { "suggested_scale", TYPE_OF(TYPE_TINYINT), false },
	[U_USER_TYPE_ID] = { "suggested_user_type_id", TYPE_OF(TYPE_INT), true },
	[U_USER_TYPE_DB] = { "suggested_user_type_database", SYSNAME, true },
	[U_USER_TYPE_SCHEMA] = { "suggested_user_type_schema", SYSNAME, true },
	[U_USER_TYPE_NAME] = { "suggested_user_type_name", SYSNAME, true },
	[U_ASSEMBLY] = { "suggested_assembly_qualified_type_name", TYPE_LEN(TYPE_NVARCHAR, 4000), true },
	[U_XML_ID] = { "suggested_xml_collection_id", TYPE_OF(TYPE_INT), true },
	[U_XML_DB] = { "suggested_xml_collection_database", SYSNAME, true },
	[U_XML_SCHEMA] = { "suggested_xml_collection_schema", SYSNAME, true },
	[U_XML_NAME] = { "suggested_xml_collection_name", SYSNAME, true },
	[U_IS_XML_DOCUMENT] = { "suggested_is_xml_document", TYPE_OF(TYPE_BIT), false },
	[U_IS_CASE_SENSITIVE] = { "suggested_is_case_sensitive", TYPE_OF(TYPE_BIT), false },
	[U_IS_FIXED_CLR] = { "suggested_is_fixed_length_clr_type", TYPE_OF(TYPE_BIT), false },
	[U_IS_INPUT] = { "suggested_is_input", TYPE_OF(TYPE_BIT), false },
	[U_IS_OUTPUT] = { "suggested_is_output", TYPE_OF(TYPE_BIT), false },
	[U_FORMAL] = { "formal_parameter_name", SYSNAME, true },
	[U_TDS_TYPE] = { "suggested_tds_type_id", TYPE_OF(TYPE_INT), false },
	[U_TDS_LENGTH] = { "suggested_tds_length", TYPE_OF(TYPE_INT), false },
};

static void put(struct value *row, enum shown u, int64_t i)
{
	row[u] = value_int((enum type_id)shown[u].type.id, i);
}

static void describe(struct value *row, const struct tsql_undeclared *p, size_t ordinal, char *type_name,
		     size_t size)
{
	for (size_t i = 0; i < U_COUNT; i++)
		value_set_null(&row[i], shown[i].type);
	put(row, U_ORDINAL, (int64_t)ordinal);
	row[U_NAME] = value_text(shown[U_NAME].type, p->name);
	session_describe_type(&p->type, type_name, size, &row[U_TYPE_ID], &row[U_TDS_TYPE]);
	put(row, U_IS_XML_DOCUMENT, 0);
	put(row, U_IS_CASE_SENSITIVE, 0);
	put(row, U_IS_FIXED_CLR, 0);
	put(row, U_IS_INPUT, p->input);
	put(row, U_IS_OUTPUT, p->output);
	if (p->formal != NULL)
		row[U_FORMAL] = value_text(shown[U_FORMAL].type, str_of(p->formal));
}

int session_describe_undeclared(struct session *s, struct invocation *inv, struct meter *m,
				struct err *reterr)
{
	const struct tsql_undeclared *found;
	struct tsql_declared *declared;
	struct tsql_program *program;
	size_t ndeclared, n;
	struct frame frame;

	session_describe_host(s, &frame);
	if (tsql_parse_declarations(inv->fixed.declarations, &s->arena, &declared, &ndeclared, reterr) < 0 ||
	    tsql_compile_undeclared(inv->fixed.text, &s->vars, declared, ndeclared, m, &s->arena, &program,
				    reterr) < 0 ||
	    tsql_undeclared(program, &frame.host, m, &s->arena, &found, &n, reterr) < 0)
		return -1;
	(void)call_sink_columns(&s->sink, shown, U_COUNT);
	for (size_t i = 0; i < n; i++) {
		struct value row[U_COUNT];
		char type_name[64];

		describe(row, &found[i], i + 1, type_name, sizeof(type_name));
		(void)call_sink_row(&s->sink, row, U_COUNT);
	}
	session_response_done(s, TDS_DONEINPROC, TDS_DONE_COUNT, CMD_SELECT, n);
	return 0;
}
