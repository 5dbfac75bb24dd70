/* table.c — table variables: DECLARE @t TABLE (…), INSERT @t EXEC … . mssql-jdbc keeps in one what
 * a procedure of the catalogue tells, to give its columns other names. Numbers and texts are what
 * such procedures have. */
#include "tsql/parse/parser.h"

#define COLUMNS_MAX 256

static int refuse_type(struct parser *p, int line)
{
	return tsql_parse_not_supported(
		p, line, "A column of a table variable that is neither a whole number nor a text",
		"Read the procedure's result set in the client.");
}

static bool may_be_kept(const struct type *t)
{
	const struct type_info *info = type_info(t->id);
	bool old = t->id == TYPE_TEXT || t->id == TYPE_NTEXT || t->id == TYPE_XML;

	return info->is_integer || t->id == TYPE_BIT || (info->is_text && !old);
}

/* NULL, NOT NULL, COLLATE x; in any order. */
static int column_options(struct parser *p, struct column *c)
{
	struct str ignored;
	int rc;

	while (!tsql_parse_is_op(p, ',') && !tsql_parse_is_op(p, ')')) {
		if ((rc = tsql_parse_accept(p, "COLLATE")) != 0) {
			if (rc < 0 || tsql_parse_name(p, &ignored) < 0)
				return -1;
			continue;
		}
		rc = tsql_parse_accept(p, "NOT");
		if (rc < 0)
			return -1;
		if (rc == 0 && !tsql_parse_is(p, "NULL"))
			return tsql_parse_not_supported(
				p, p->tok.line, "A key, default, identity or check of a table variable",
				"Leave it out.");
		c->nullable = rc == 0;
		if (tsql_parse_expect(p, "NULL") < 0)
			return -1;
	}
	return 0;
}

static int column(struct parser *p, int index, struct column *c)
{
	int line = p->tok.line;
	struct str name;

	if (tsql_parse_name(p, &name) < 0)
		return -1;
	c->name = arena_strndup(p->arena, name.p, name.n);
	if (c->name == NULL)
		return tsql_parse_nomem(p);
	c->nullable = !tsql_parse_is(p, "SYSNAME");
	if (tsql_parse_type(p, false, index, &c->type) < 0)
		return -1;
	return may_be_kept(&c->type) ? column_options(p, c) : refuse_type(p, line);
}

static int is_new(struct parser *p, const struct column *columns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!str_eq_nocase(str_of(columns[i].name), str_of(columns[n].name)))
			continue;
		err_raise(p->err, 2705, 16, 3,
			  "Column names in each table must be unique. Column name '%.128s' is specified more "
			  "than once.",
			  columns[n].name);
		return tsql_parse_fail(p, p->tok.line);
	}
	return 0;
}

int tsql_parse_table(struct parser *p, struct str name)
{
	struct table_type *t = arena_alloc(p->arena, sizeof(*t));
	struct column *columns = NULL;
	size_t cap = 0;
	int more, var;

	if (t == NULL)
		return tsql_parse_nomem(p);
	if (tsql_parse_next(p) < 0 || tsql_parse_expect_op(p, '(') < 0)
		return -1;
	do {
		if (t->n == COLUMNS_MAX)
			return tsql_parse_not_supported(p, p->tok.line,
							"A table variable of more than 256 columns",
							"Leave some out.");
		if (tsql_parse_grow(p, (void **)&columns, t->n, &cap, sizeof(*columns)) < 0 ||
		    column(p, (int)t->n + 1, &columns[t->n]) < 0 || is_new(p, columns, t->n) < 0)
			return -1;
		t->n++;
		more = tsql_parse_accept_op(p, ',');
	} while (more > 0);
	t->columns = columns;
	if (more < 0 || tsql_parse_expect_op(p, ')') < 0 ||
	    tsql_parse_add_variable(p, name, TYPE_OF(TYPE_NULL), &var) < 0)
		return -1;
	p->prog->vars[var].table = t;
	return 0;
}

int tsql_parse_table_name(struct parser *p, int *ret)
{
	char shown[129];

	*ret = tsql_parse_find_variable(p, p->tok.text);
	if (*ret < 0 || p->prog->vars[*ret].table == NULL) {
		str_copy(shown, sizeof(shown), p->tok.text);
		err_raise(p->err, 1087, 15, 2, "Must declare the table variable \"%s\".", shown);
		return tsql_parse_fail(p, p->tok.line);
	}
	return tsql_parse_next(p);
}

int tsql_parse_insert_exec(struct parser *p, int line)
{
	int into;

	if (tsql_parse_table_name(p, &into) < 0)
		return -1;
	if (tsql_parse_is_op(p, '('))
		return tsql_parse_not_supported(
			p, line, "A list of columns in INSERT … EXEC",
			"Declare the table variable with the columns of the result set.");
	if (!tsql_parse_is(p, "EXEC") && !tsql_parse_is(p, "EXECUTE"))
		return tsql_parse_not_supported(p, line, "INSERT into a table variable of anything but EXEC",
						"Use SELECT.");
	return tsql_parse_exec_into(p, into);
}
