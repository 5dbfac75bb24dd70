/* from.c — FROM: views, derived tables, joins, hints. */
#include "tsql/parse/parser.h"

#include <assert.h>

/* WITH (NOLOCK) and the like: the store reads committed rows without locks anyway. */
static int hints(struct parser *p)
{
	struct token after = tsql_parse_peek(p);
	int rc;

	if (tsql_parse_is(p, "WITH") && after.kind == T_OP && after.op == '(') {
		if (tsql_parse_next(p) < 0)
			return -1;
	} else if (!tsql_parse_is_op(p, '(')) {
		return 0;
	}
	if (tsql_parse_expect_op(p, '(') < 0)
		return -1;
	do {
		if (p->tok.kind != T_NAME)
			return tsql_parse_syntax(p);
		if (tsql_parse_next(p) < 0 || (rc = tsql_parse_accept_op(p, ',')) < 0)
			return -1;
	} while (rc > 0 || p->tok.kind == T_NAME);
	return tsql_parse_expect_op(p, ')');
}

static int alias(struct parser *p, struct from_item *f)
{
	int rc = tsql_parse_accept(p, "AS");

	if (rc < 0 || (rc > 0 && !tsql_parse_is_name(p)))
		return rc < 0 ? -1 : tsql_parse_syntax(p);
	return tsql_parse_is_name(p) ? tsql_parse_name(p, &f->alias) : 0;
}

static int derived(struct parser *p, struct from_item *f)
{
	struct select *s;

	if (tsql_parse_next(p) < 0)
		return -1;
	if (!tsql_parse_is(p, "SELECT"))
		return tsql_parse_not_supported(p, f->line, "A parenthesis in FROM that is not a SELECT",
						"Write the joins one after another.");
	if (tsql_parse_select(p, true, &s) < 0 || tsql_parse_expect_op(p, ')') < 0 || alias(p, f) < 0)
		return -1;
	if (f->alias.n == 0)
		return tsql_parse_syntax(p);
	f->derived = s;
	return 0;
}

/* What the parenthesis behind a name begins with when it holds hints in the old form: FROM t
 * (NOLOCK). */
static bool is_hint(struct token t)
{
	static const char *const words[] = { "NOLOCK",      "READUNCOMMITTED", "READCOMMITTED",
					     "UPDLOCK",     "REPEATABLEREAD",  "READCOMMITTEDLOCK",
					     "HOLDLOCK",    "SERIALIZABLE",    "READPAST",
					     "ROWLOCK",     "PAGLOCK",         "TABLOCK",
					     "TABLOCKX",    "XLOCK",           "NOWAIT",
					     "FORCESEEK",   "FORCESCAN",       "NOEXPAND",
					     "INDEX",       "SNAPSHOT",        "FASTFIRSTROW",
					     "KEEPDEFAULTS" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (tsql_token_is(&t, words[i]))
			return true;
	}
	return false;
}

/* Of a function in FROM: read as they must be, and not used. Those that there are tell nothing
 * that depends on them. */
static int arguments(struct parser *p)
{
	const struct expr *ignored;
	int rc = -1;

	if (tsql_parse_next(p) < 0 || (rc = tsql_parse_accept_op(p, ')')) != 0)
		return rc < 0 ? -1 : 0;
	do {
		rc = tsql_parse_accept(p, "DEFAULT");
		if (rc < 0 || (rc == 0 && tsql_parse_expr(p, &ignored) < 0) ||
		    (rc = tsql_parse_accept_op(p, ',')) < 0)
			return -1;
	} while (rc > 0);
	return tsql_parse_expect_op(p, ')');
}

static int table_variable(struct parser *p, struct from_item *f)
{
	f->name = p->tok.text;
	if (tsql_parse_table_name(p, &f->var) < 0 || hints(p) < 0 || alias(p, f) < 0 || hints(p) < 0)
		return -1;
	f->table = p->prog->vars[f->var].table;
	return 0;
}

static int source(struct parser *p, struct from_item *f)
{
	struct str parts[4], written;
	const struct with *with;
	size_t n;

	f->line = p->tok.line;
	if (tsql_parse_accept_op(p, TSQL_OP2(':', ':')) <
	    0) /* ::fn_helpcollations(), as it was once written */
		return -1;
	if (tsql_parse_is_op(p, '('))
		return derived(p, f);
	if (p->tok.kind == T_VARIABLE)
		return table_variable(p, f);
	if (tsql_parse_dotted_name(p, &written, parts, &n) < 0)
		return -1;
	if (n == 4)
		return tsql_parse_not_supported(p, f->line, "A linked server",
						"Connect to that server directly.");
	if (tsql_parse_is_op(p, '(')) {
		f->called = !is_hint(tsql_parse_peek(p));
		if (f->called && arguments(p) < 0)
			return -1;
	}
	f->database = parts[1];
	f->schema = parts[2];
	f->name = parts[3];
	if (hints(p) < 0 || alias(p, f) < 0 || hints(p) < 0)
		return -1;
	with = n == 1 ? tsql_parse_find_with(p, f->name) : NULL;
	return with == NULL ? 0 : tsql_parse_use_with(p, with, f);
}

/* The kind of the next join: 1, 0: no more, or -1. */
static int join(struct parser *p, enum join_kind *ret)
{
	int rc;

	if (tsql_parse_is_op(p, ',')) {
		*ret = JOIN_COMMA;
		return tsql_parse_next(p) < 0 ? -1 : 1;
	}
	if (tsql_parse_is(p, "INNER")) {
		*ret = JOIN_INNER;
		return tsql_parse_next(p) < 0 || tsql_parse_expect(p, "JOIN") < 0 ? -1 : 1;
	}
	if (tsql_parse_is(p, "LEFT") || tsql_parse_is(p, "RIGHT") || tsql_parse_is(p, "FULL")) {
		*ret = tsql_parse_is(p, "LEFT")    ? JOIN_LEFT
		       : tsql_parse_is(p, "RIGHT") ? JOIN_RIGHT
						   : JOIN_FULL;
		return tsql_parse_next(p) < 0 || tsql_parse_accept(p, "OUTER") < 0 ||
				       tsql_parse_expect(p, "JOIN") < 0
			       ? -1
			       : 1;
	}
	if (tsql_parse_is(p, "CROSS")) {
		*ret = JOIN_CROSS;
		if (tsql_parse_next(p) < 0)
			return -1;
		if (tsql_parse_is(p, "APPLY"))
			return tsql_parse_not_supported(p, p->tok.line, "CROSS APPLY", "Use JOIN instead.");
		return tsql_parse_expect(p, "JOIN") < 0 ? -1 : 1;
	}
	*ret = JOIN_INNER;
	rc = tsql_parse_accept(p, "JOIN");
	return rc;
}

int tsql_parse_from(struct parser *p, struct select *s)
{
	enum join_kind kind = JOIN_FIRST;
	size_t cap = 0;
	int rc = 1;

	if (tsql_parse_next(p) < 0)
		return -1;
	while (rc > 0) {
		struct from_item *f;

		if (s->nfrom == 60)
			return tsql_parse_not_supported(p, s->line, "A FROM of more than 60 sources",
							"Split the query.");
		if (tsql_parse_grow(p, (void **)&s->from, s->nfrom, &cap, sizeof(*s->from)) < 0)
			return -1;
		f = &s->from[s->nfrom++];
		assert((kind == JOIN_FIRST) == (s->nfrom == 1));
		f->join = kind;
		if (source(p, f) < 0)
			return -1;
		if (kind != JOIN_FIRST && kind != JOIN_COMMA && kind != JOIN_CROSS &&
		    (tsql_parse_expect(p, "ON") < 0 || tsql_parse_condition(p, &f->on) < 0))
			return -1;
		rc = join(p, &kind);
	}
	return rc;
}
