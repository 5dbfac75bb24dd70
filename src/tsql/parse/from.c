/* from.c — FROM: views, derived tables, joins, hints. */
#include "tsql/parse/parser.h"

/* WITH (NOLOCK) and the like: the store reads committed rows without locks anyway. */
static int hints(struct parser *p)
{
	struct token after = p_peek(p);
	int rc;

	if (p_is(p, "WITH") && after.kind == T_OP && after.op == '(') {
		if (p_next(p) < 0)
			return -1;
	} else if (!p_is_op(p, '(')) {
		return 0;
	}
	if (p_expect_op(p, '(') < 0)
		return -1;
	do {
		if (p->tok.kind != T_NAME)
			return p_syntax(p);
		if (p_next(p) < 0 || (rc = p_accept_op(p, ',')) < 0)
			return -1;
	} while (rc > 0 || p->tok.kind == T_NAME);
	return p_expect_op(p, ')');
}

static int alias(struct parser *p, struct from_item *f)
{
	int rc = p_accept(p, "AS");

	if (rc < 0 || (rc > 0 && !p_is_name(p)))
		return rc < 0 ? -1 : p_syntax(p);
	return p_is_name(p) ? p_name(p, &f->alias) : 0;
}

static int derived(struct parser *p, struct from_item *f)
{
	struct select *s;

	if (p_next(p) < 0)
		return -1;
	if (!p_is(p, "SELECT"))
		return p_not_supported(p, f->line, "A parenthesis in FROM that is not a SELECT",
				       "Write the joins one after another.");
	if (p_select(p, true, &s) < 0 || p_expect_op(p, ')') < 0 || alias(p, f) < 0)
		return -1;
	if (f->alias.n == 0)
		return p_syntax(p);
	f->derived = s;
	return 0;
}

static int source(struct parser *p, struct from_item *f)
{
	struct str parts[4], written;
	size_t n;

	f->line = p->tok.line;
	if (p_is_op(p, '('))
		return derived(p, f);
	if (p->tok.kind == T_VARIABLE)
		return p_not_supported(p, f->line, "A table variable", "Call the stored procedures instead.");
	if (p_dotted_name(p, &written, parts, &n) < 0)
		return -1;
	if (n == 4)
		return p_not_supported(p, f->line, "A linked server", "Connect to that server directly.");
	if (p_is_op(p, '(')) {
		struct token after = p_peek(p);

		if (after.kind != T_NAME)
			return p_not_supported(p, f->line, "A table-valued function",
					       "Read the views that sys.objects lists.");
	}
	f->database = parts[1];
	f->schema = parts[2];
	f->name = parts[3];
	return hints(p) < 0 || alias(p, f) < 0 ? -1 : hints(p);
}

/* The kind of the next join: 1, 0: no more, or -1. */
static int join(struct parser *p, enum join_kind *ret)
{
	int rc;

	if (p_is_op(p, ',')) {
		*ret = JOIN_COMMA;
		return p_next(p) < 0 ? -1 : 1;
	}
	if (p_is(p, "INNER")) {
		*ret = JOIN_INNER;
		return p_next(p) < 0 || p_expect(p, "JOIN") < 0 ? -1 : 1;
	}
	if (p_is(p, "LEFT") || p_is(p, "RIGHT") || p_is(p, "FULL")) {
		*ret = p_is(p, "LEFT") ? JOIN_LEFT : p_is(p, "RIGHT") ? JOIN_RIGHT : JOIN_FULL;
		return p_next(p) < 0 || p_accept(p, "OUTER") < 0 || p_expect(p, "JOIN") < 0 ? -1 : 1;
	}
	if (p_is(p, "CROSS")) {
		*ret = JOIN_CROSS;
		if (p_next(p) < 0)
			return -1;
		if (p_is(p, "APPLY"))
			return p_not_supported(p, p->tok.line, "CROSS APPLY", "Use JOIN instead.");
		return p_expect(p, "JOIN") < 0 ? -1 : 1;
	}
	*ret = JOIN_INNER;
	rc = p_accept(p, "JOIN");
	return rc;
}

int p_from(struct parser *p, struct select *s)
{
	enum join_kind kind = JOIN_FIRST;
	size_t cap = 0;
	int rc = 1;

	if (p_next(p) < 0)
		return -1;
	while (rc > 0) {
		struct from_item *f;

		if (s->nfrom == 60)
			return p_not_supported(p, s->line, "A FROM of more than 60 sources",
					       "Split the query.");
		if (p_grow(p, (void **)&s->from, s->nfrom, &cap, sizeof(*s->from)) < 0)
			return -1;
		f = &s->from[s->nfrom++];
		f->join = kind;
		if (source(p, f) < 0)
			return -1;
		if (kind != JOIN_FIRST && kind != JOIN_COMMA && kind != JOIN_CROSS &&
		    (p_expect(p, "ON") < 0 || p_condition(p, &f->on) < 0))
			return -1;
		rc = join(p, &kind);
	}
	return rc;
}
