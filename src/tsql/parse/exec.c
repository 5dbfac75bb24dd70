/* exec.c — EXEC of procedures and texts, DECLARE, and the declarations of sp_executesql. */
#include "tsql/parse/parser.h"

#include <string.h>

/* Arguments are constants, variables, DEFAULT or bare words; expressions are not allowed in
 * T-SQL either. */
static int signed_constant(struct parser *p, const struct expr **ret)
{
	struct token after = tsql_parse_peek(p);

	if ((tsql_parse_is_op(p, '-') || tsql_parse_is_op(p, '+')) && after.kind != T_INT &&
	    after.kind != T_DECIMAL && after.kind != T_FLOAT && after.kind != T_MONEY)
		return tsql_parse_syntax(p);
	if (!tsql_parse_is_op(p, '-'))
		return tsql_parse_is_op(p, '+') && tsql_parse_next(p) < 0 ? -1 : tsql_parse_primary(p, ret);
	/* tsql_parse_expr would also read what follows the number */
	{
		const struct expr *operand;
		struct value v;
		int line = p->tok.line;

		if (tsql_parse_next(p) < 0 || tsql_parse_primary(p, &operand) < 0)
			return -1;
		v = operand->literal;
		if (v.type.id == TYPE_NUMERIC && v.type.scale == 0 &&
		    v.u.dec.magnitude == (unsigned __int128)INT32_MAX + 1)
			v = value_int(TYPE_INT, INT32_MIN);
		else if (value_negate(&v, &v, p->err) < 0)
			return tsql_parse_fail(p, line);
		return tsql_parse_literal(p, &v, line, ret);
	}
}

static int bare_word(struct parser *p, const struct expr **ret)
{
	int line = p->tok.line;
	struct value v;
	struct str s;

	if (tsql_parse_name(p, &s) < 0)
		return -1;
	v = value_text(TYPE_LEN(TYPE_NVARCHAR, s.n == 0 ? 1 : (int32_t)s.n), s);
	return tsql_parse_literal(p, &v, line, ret);
}

static int argument_value(struct parser *p, struct exec_arg *arg)
{
	int rc;

	if (tsql_parse_is(p, "DEFAULT"))
		return tsql_parse_next(p);
	if (p->tok.kind == T_VARIABLE) {
		if (tsql_parse_primary(p, &arg->expr) < 0)
			return -1;
		rc = tsql_parse_is(p, "OUT") ? tsql_parse_accept(p, "OUT") : tsql_parse_accept(p, "OUTPUT");
		arg->output = rc > 0;
		arg->var = arg->expr->var;
		return rc < 0 ? -1 : 0;
	}
	if (p->tok.kind == T_GLOBAL)
		return tsql_parse_primary(p, &arg->expr);
	if (tsql_parse_is_name(p))
		return bare_word(p, &arg->expr);
	if (p->tok.kind == T_OP ? !tsql_parse_is_op(p, '-') && !tsql_parse_is_op(p, '+')
				: p->tok.kind == T_NAME && !tsql_parse_is(p, "NULL"))
		return tsql_parse_syntax(p);
	return signed_constant(p, &arg->expr);
}

static int argument(struct parser *p, struct exec_arg *arg, bool *named, size_t n)
{
	struct token after = tsql_parse_peek(p);
	int line = p->tok.line;

	arg->var = -1;
	if (p->tok.kind == T_VARIABLE && after.kind == T_OP && after.op == '=') {
		arg->name = p->tok.text;
		*named = true;
		if (tsql_parse_next(p) < 0 || tsql_parse_next(p) < 0)
			return -1;
	} else if (*named) {
		err_set(p->err, ERR_NAMED_THEN_POS, (int)n + 1);
		return tsql_parse_fail(p, line);
	}
	return argument_value(p, arg);
}

static int arguments(struct parser *p, struct exec_call *c)
{
	size_t cap = 0;
	bool named = false;
	int more = !tsql_parse_at_end_of_statement(p);

	while (more > 0) {
		if (c->nargs == PARAMS_MAX) {
			err_raise(p->err, 180, 15, 1,
				  "There are too many parameters in this EXECUTE statement. The maximum "
				  "number is %d.",
				  PARAMS_MAX);
			return tsql_parse_fail(p, p->tok.line);
		}
		if (tsql_parse_grow(p, (void **)&c->args, c->nargs, &cap, sizeof(*c->args)) < 0 ||
		    argument(p, &c->args[c->nargs], &named, c->nargs) < 0)
			return -1;
		c->nargs++;
		more = tsql_parse_accept_op(p, ',');
	}
	return more;
}

/* WITH RECOMPILE changes nothing; RESULT SETS would change the metadata. */
static int with_options(struct parser *p)
{
	struct token after = tsql_parse_peek(p);

	if (!tsql_parse_is(p, "WITH"))
		return 0;
	if (tsql_token_is(&after, "RECOMPILE"))
		return tsql_parse_next(p) < 0 ? -1 : tsql_parse_next(p);
	if (tsql_token_is(&after, "RESULT"))
		return tsql_parse_not_supported(p, p->tok.line, "EXEC … WITH RESULT SETS",
						"Take the result sets as the procedure sends them.");
	return 0;
}

/* p;1 — the number of a procedure group stays in the name, where the catalogue drops it. */
static int group_number(struct parser *p, struct exec_call *c)
{
	struct token after = tsql_parse_peek(p);
	char *joined;

	if (!tsql_parse_is_op(p, ';') || after.kind != T_INT)
		return 0;
	joined = arena_alloc_raw(p->arena, c->name.n + after.text.n + 1);
	if (joined == NULL)
		return tsql_parse_nomem(p);
	memcpy(joined, c->name.p, c->name.n);
	joined[c->name.n] = ';';
	memcpy(joined + c->name.n + 1, after.text.p, after.text.n);
	c->name = (struct str){ joined, c->name.n + after.text.n + 1 };
	return tsql_parse_next(p) < 0 ? -1 : tsql_parse_next(p);
}

static int call_by_name(struct parser *p, struct exec_call *c, int line)
{
	struct insn *in;

	if (p->tok.kind == T_VARIABLE) {
		if (tsql_parse_primary(p, &c->expr) < 0)
			return -1;
	} else if (tsql_parse_dotted_name(p, &c->name, NULL, NULL) < 0 || group_number(p, c) < 0) {
		return -1;
	}
	if (arguments(p, c) < 0 || with_options(p) < 0 || tsql_parse_emit(p, I_EXEC, line, &in) < 0)
		return -1;
	in->u.exec = c;
	return 0;
}

static int call_text(struct parser *p, struct exec_call *c, int line)
{
	struct insn *in;

	if (tsql_parse_next(p) < 0 || tsql_parse_expr(p, &c->expr) < 0 ||
	    tsql_parse_value_only(p, c->expr) < 0)
		return -1;
	if (tsql_parse_is_op(p, ','))
		return tsql_parse_not_supported(p, line, "EXEC ('…', arguments)",
						"Use sp_executesql instead.");
	if (tsql_parse_expect_op(p, ')') < 0)
		return -1;
	if (tsql_parse_is(p, "AT"))
		return tsql_parse_not_supported(p, line, "A linked server",
						"Connect to that server directly.");
	if (tsql_parse_is(p, "AS"))
		return tsql_parse_not_supported(p, line, "EXECUTE AS", "Log in as the user you want to be.");
	if (tsql_parse_emit(p, I_EXEC_TEXT, line, &in) < 0)
		return -1;
	in->u.exec = c;
	return 0;
}

static int new_call(struct parser *p, int into, struct exec_call **ret)
{
	*ret = arena_alloc(p->arena, sizeof(**ret));
	if (*ret == NULL)
		return tsql_parse_nomem(p);
	(*ret)->status_var = -1;
	(*ret)->into = into;
	return 0;
}

int tsql_parse_exec(struct parser *p)
{
	return tsql_parse_exec_into(p, -1);
}

int tsql_parse_exec_into(struct parser *p, int into)
{
	int line = p->tok.line;
	struct token after;
	struct exec_call *c;

	if (tsql_parse_next(p) < 0 || new_call(p, into, &c) < 0)
		return -1;
	after = tsql_parse_peek(p);
	if (tsql_parse_is(p, "AS"))
		return tsql_parse_not_supported(p, line, "EXECUTE AS", "Log in as the user you want to be.");
	if (tsql_parse_is_op(p, '(') && into >= 0)
		return tsql_parse_not_supported(p, line, "INSERT … EXEC ('…')", "Name a stored procedure.");
	if (tsql_parse_is_op(p, '('))
		return call_text(p, c, line);
	if (p->tok.kind == T_VARIABLE && after.kind == T_OP && after.op == '=') {
		if (tsql_parse_variable(p, &c->status_var) < 0 || tsql_parse_next(p) < 0)
			return -1;
	}
	return call_by_name(p, c, line);
}

int tsql_parse_bare_exec(struct parser *p)
{
	struct exec_call *c;

	return new_call(p, -1, &c) < 0 ? -1 : call_by_name(p, c, p->tok.line);
}

static int declared_name(struct parser *p, struct str *ret)
{
	char shown[129];

	if (p->tok.kind != T_VARIABLE)
		return tsql_parse_syntax(p);
	if (tsql_parse_find_variable(p, p->tok.text) >= 0) {
		str_copy(shown, sizeof(shown), p->tok.text);
		err_set(p->err, ERR_DUP_VARIABLE, shown);
		return tsql_parse_fail(p, p->tok.line);
	}
	*ret = p->tok.text;
	return tsql_parse_next(p);
}

static int declare_one(struct parser *p, int index)
{
	const struct expr *e;
	struct type type;
	struct str name;
	struct insn *in;
	int line, var, rc;

	if (p->tok.kind == T_NAME && !tsql_keyword_reserved(p->tok.text))
		return tsql_parse_not_supported(p, p->tok.line, "A cursor",
						"Use SELECT and let the client walk through the rows.");
	line = p->tok.line;
	if (declared_name(p, &name) < 0 || tsql_parse_accept(p, "AS") < 0)
		return -1;
	if (tsql_parse_is(p, "TABLE"))
		return tsql_parse_table(p, name);
	if (tsql_parse_type(p, false, index, &type) < 0)
		return -1;
	if (type.id == TYPE_TEXT || type.id == TYPE_NTEXT || type.id == TYPE_IMAGE) {
		err_raise(p->err, 2739, 16, 1,
			  "The text, ntext, and image data types are invalid for local variables.");
		return tsql_parse_fail(p, line);
	}
	rc = tsql_parse_accept_op(p, '=');
	if (rc < 0 || (rc > 0 && (tsql_parse_expr(p, &e) < 0 || tsql_parse_value_only(p, e) < 0)) ||
	    tsql_parse_add_variable(p, name, type, &var) < 0)
		return -1;
	if (rc == 0)
		return 0;
	if (tsql_parse_emit(p, I_ASSIGN, line, &in) < 0)
		return -1;
	in->var = var;
	in->expr = e;
	return 0;
}

int tsql_parse_declare(struct parser *p)
{
	int more = 1;

	if (tsql_parse_next(p) < 0)
		return -1;
	for (int index = 1; more > 0; index++) {
		if (declare_one(p, index) < 0)
			return -1;
		more = tsql_parse_accept_op(p, ',');
	}
	return more;
}

/* One parameter: "@p1 AS nvarchar(4000) = default OUTPUT". A default is read and not kept:
 * sp_executesql has none. */
static int declaration(struct parser *p, int index, struct tsql_declared *d)
{
	const struct expr *unused;
	int rc;

	if (declared_name(p, &d->name) < 0 || tsql_parse_accept(p, "AS") < 0 ||
	    tsql_parse_type(p, false, index, &d->type) < 0 || (rc = tsql_parse_accept_op(p, '=')) < 0)
		return -1;
	if (rc > 0 && signed_constant(p, &unused) < 0)
		return -1;
	rc = tsql_parse_is(p, "OUT") ? tsql_parse_accept(p, "OUT") : tsql_parse_accept(p, "OUTPUT");
	d->output = rc > 0;
	if (rc < 0 || tsql_parse_accept(p, "READONLY") < 0)
		return -1;
	return 0;
}

int tsql_parse_declarations(struct str text, struct arena *a, struct tsql_declared **ret, size_t *ret_n,
			    struct err *reterr)
{
	struct tsql_program prog = { 0 };
	struct parser p = { .arena = a, .err = reterr, .prog = &prog };
	struct tsql_declared *list = NULL;
	size_t n = 0, cap = 0;
	char *copy = arena_alloc_raw(a, text.n);
	int more, var;

	if (copy == NULL)
		return err_nomem(reterr);
	if (text.n > 0)
		memcpy(copy, text.p, text.n);
	tsql_lexer_init(&p.lx, (struct str){ copy, text.n }, true);
	if (tsql_parse_next(&p) < 0)
		return -1;
	for (more = p.tok.kind != T_END; more > 0; more = tsql_parse_accept_op(&p, ',')) {
		if (n == PARAMS_MAX) {
			err_set(reterr, ERR_RPC_PARAMS, PARAMS_MAX);
			return tsql_parse_fail(&p, p.tok.line);
		}
		if (tsql_parse_grow(&p, (void **)&list, n, &cap, sizeof(*list)) < 0 ||
		    declaration(&p, (int)n + 1, &list[n]) < 0 ||
		    tsql_parse_add_variable(&p, list[n].name, list[n].type, &var) < 0)
			return -1;
		n++;
	}
	if (more < 0)
		return -1;
	if (p.tok.kind != T_END)
		return tsql_parse_syntax(&p);
	*ret = list;
	*ret_n = n;
	return 0;
}
