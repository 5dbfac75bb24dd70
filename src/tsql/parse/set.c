/* set.c — SET of variables and of options. */
#include "tsql/parse/parser.h"

#include "tsql/set_options.h"

static int set_variable(struct parser *p, int line)
{
	struct insn *in;
	const struct expr *e;
	int var, op;

	if (tsql_parse_variable(p, &var) < 0)
		return -1;
	if (tsql_parse_is_op(p, '.'))
		return tsql_parse_not_supported(p, line, "A method of a variable",
						"Send the finished value instead.");
	switch (p->tok.kind == T_OP ? p->tok.op : 0) {
	case '=': op = -1; break;
	case TSQL_OP2('+', '='): op = OP_ADD; break;
	case TSQL_OP2('-', '='): op = OP_SUB; break;
	case TSQL_OP2('*', '='): op = OP_MUL; break;
	case TSQL_OP2('/', '='): op = OP_DIV; break;
	case TSQL_OP2('%', '='): op = OP_MOD; break;
	case TSQL_OP2('&', '='): op = OP_AND; break;
	case TSQL_OP2('|', '='): op = OP_OR; break;
	case TSQL_OP2('^', '='): op = OP_XOR; break;
	default: return tsql_parse_syntax(p);
	}
	if (tsql_parse_next(p) < 0 || tsql_parse_expr(p, &e) < 0 || tsql_parse_value_only(p, e) < 0 ||
	    tsql_parse_emit(p, I_ASSIGN, line, &in) < 0)
		return -1;
	in->var = var;
	in->assign_op = (int8_t)op;
	in->expr = e;
	return 0;
}

static int emit_set(struct parser *p, const struct set_option *o, int line, struct set_insn **ret)
{
	struct set_insn *s = arena_alloc(p->arena, sizeof(*s));
	struct insn *in;

	if (s == NULL)
		return tsql_parse_nomem(p);
	if (tsql_parse_emit(p, I_SET, line, &in) < 0)
		return -1;
	s->option = o;
	in->u.set = s;
	*ret = s;
	return 0;
}

static int on_off(struct parser *p, int *ret)
{
	if (!tsql_parse_is(p, "ON") && !tsql_parse_is(p, "OFF"))
		return tsql_parse_syntax(p);
	*ret = tsql_parse_is(p, "ON");
	return tsql_parse_next(p);
}

static int unknown_option(struct parser *p)
{
	char shown[129];

	str_copy(shown, sizeof(shown), p->tok.text);
	err_set(p->err, ERR_NOT_RECOGNIZED, shown, "SET option");
	return tsql_parse_fail(p, p->tok.line);
}

/* SET ANSI_NULLS, QUOTED_IDENTIFIER ON: several at once. */
static int bool_options(struct parser *p, const struct set_option *first, int line)
{
	const struct set_option *list[32];
	size_t n = 0;
	int on, more = 1;

	for (list[n++] = first; (more = tsql_parse_accept_op(p, ',')) > 0;) {
		const struct set_option *o = tsql_set_option_find(p->tok.text);

		if (o == NULL)
			return unknown_option(p);
		if ((o->kind != SET_BOOL && o->kind != SET_SILENT) || n == ARRAY_LEN(list))
			return tsql_parse_syntax(p);
		list[n++] = o;
		if (tsql_parse_next(p) < 0)
			return -1;
	}
	if (more < 0 || on_off(p, &on) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		struct set_insn *s;

		if (emit_set(p, list[i], line, &s) < 0)
			return -1;
		s->which = on;
		if (list[i]->kind == SET_SILENT)
			/* the rest of the text is read with it, as SQL Server does */
			p->lx.quoted_identifier = on;
	}
	return 0;
}

static int isolation(struct parser *p, const struct set_option *o, int line)
{
	static const struct {
		const char *a, *b;
		int level;
	} levels[] = {
		{ "READ", "UNCOMMITTED", TSQL_READ_UNCOMMITTED },
		{ "READ", "COMMITTED", TSQL_READ_COMMITTED },
		{ "REPEATABLE", "READ", TSQL_REPEATABLE_READ },
		{ "SERIALIZABLE", NULL, TSQL_SERIALIZABLE },
		{ "SNAPSHOT", NULL, TSQL_SNAPSHOT },
	};
	struct token after;
	struct set_insn *s;

	if (tsql_parse_expect(p, "ISOLATION") < 0 || tsql_parse_expect(p, "LEVEL") < 0)
		return -1;
	after = tsql_parse_peek(p);
	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		if (!tsql_parse_is(p, levels[i].a) ||
		    (levels[i].b != NULL && !tsql_token_is(&after, levels[i].b)))
			continue;
		if (tsql_parse_next(p) < 0 || (levels[i].b != NULL && tsql_parse_next(p) < 0) ||
		    emit_set(p, o, line, &s) < 0)
			return -1;
		s->which = levels[i].level;
		return 0;
	}
	return tsql_parse_syntax(p);
}

static int statistics(struct parser *p, const struct set_option *o, int line)
{
	struct set_insn *s;
	int more = 1, on;

	while (more > 0) {
		if (!tsql_parse_is(p, "IO") && !tsql_parse_is(p, "TIME") && !tsql_parse_is(p, "XML") &&
		    !tsql_parse_is(p, "PROFILE"))
			return tsql_parse_syntax(p);
		if (tsql_parse_next(p) < 0)
			return -1;
		more = tsql_parse_accept_op(p, ',');
	}
	if (more < 0 || on_off(p, &on) < 0 || emit_set(p, o, line, &s) < 0)
		return -1;
	s->which = on;
	return 0;
}

/* A number, word, string or variable. */
static int value_option(struct parser *p, const struct set_option *o, int line)
{
	struct set_insn *s;
	const struct expr *e = NULL;
	struct str word = { "", 0 };

	if (o->kind == SET_WORD && p->tok.kind == T_NAME) {
		word = p->tok.text;
		if (tsql_parse_next(p) < 0)
			return -1;
	} else if (o->kind == SET_WORD && p->tok.kind == T_QUOTED) {
		if (tsql_parse_name(p, &word) < 0)
			return -1;
	} else if (tsql_parse_expr(p, &e) < 0 || tsql_parse_value_only(p, e) < 0) {
		return -1;
	}
	if (emit_set(p, o, line, &s) < 0)
		return -1;
	s->expr = e;
	s->word = word;
	return 0;
}

int tsql_parse_set(struct parser *p)
{
	int line = p->tok.line;
	const struct set_option *o;
	char what[80] = "SET ";

	if (tsql_parse_next(p) < 0)
		return -1;
	if (p->tok.kind == T_VARIABLE)
		return set_variable(p, line);
	if (p->tok.kind != T_NAME)
		return tsql_parse_syntax(p);
	o = tsql_set_option_find(p->tok.text);
	if (o == NULL)
		return unknown_option(p);
	if (tsql_parse_next(p) < 0)
		return -1;
	switch (o->kind) {
	case SET_BOOL:
	case SET_SILENT: return bool_options(p, o, line);
	case SET_ISOLATION: return isolation(p, o, line);
	case SET_STATISTICS: return statistics(p, o, line);
	case SET_REFUSED:
		if (tsql_parse_is(p, "OFF")) /* what tools say before a batch: it is off anyway */
			return bool_options(p, o, line);
		str_copy(what + 4, sizeof(what) - 4, str_of(o->name));
		return tsql_parse_not_supported(p, line, what, o->advice);
	default: return value_option(p, o, line);
	}
}
