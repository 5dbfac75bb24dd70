/* stmt.c — statements and the flow between them: blocks, IF, WHILE. Jumps are patched once their
 * target is known. */
#include "tsql/parse/parser.h"

#include <assert.h>
#include <string.h>

static int patched_jump(struct parser *p, enum insn_op op, int line, const struct expr *e, uint32_t *ret)
{
	struct insn *in;

	if (tsql_parse_emit(p, op, line, &in) < 0)
		return -1;
	in->expr = e;
	*ret = (uint32_t)p->prog->ninsns - 1;
	return 0;
}

static void patch(struct parser *p, uint32_t at)
{
	assert(at < p->prog->ninsns);
	assert(p->prog->insns[at].op == I_IF || p->prog->insns[at].op == I_JUMP);
	p->prog->insns[at].target = (uint32_t)p->prog->ninsns;
}

int tsql_parse_value_only(struct parser *p, const struct expr *e)
{
	char shown[129];

	if (!e->in_query)
		return 0;
	while (e->kind != E_COLUMN && e->nargs > 0) {
		size_t i = 0;

		while (i + 1 < e->nargs && !e->args[i]->in_query)
			i++;
		e = e->args[i];
	}
	str_copy(shown, sizeof(shown), e->name);
	err_set(p->err, ERR_NO_COLUMN, shown);
	return tsql_parse_fail(p, e->line);
}

static int if_statement(struct parser *p)
{
	int line = p->tok.line;
	uint32_t over, end;
	const struct expr *e;

	if (tsql_parse_next(p) < 0 || tsql_parse_condition(p, &e) < 0 || tsql_parse_value_only(p, e) < 0 ||
	    patched_jump(p, I_IF, line, e, &over) < 0 || tsql_parse_statement(p, false) < 0)
		return -1;
	/* IF a b; ELSE c: the semicolon belongs to b. */
	if (tsql_parse_is_op(p, ';')) {
		struct token after = tsql_parse_peek(p);

		if (tsql_token_is(&after, "ELSE") && tsql_parse_next(p) < 0)
			return -1;
	}
	if (!tsql_parse_is(p, "ELSE")) {
		patch(p, over);
		return 0;
	}
	if (tsql_parse_next(p) < 0 || patched_jump(p, I_JUMP, line, NULL, &end) < 0)
		return -1;
	patch(p, over);
	if (tsql_parse_statement(p, false) < 0)
		return -1;
	patch(p, end);
	return 0;
}

static int while_statement(struct parser *p)
{
	int line = p->tok.line;
	struct loop *loop = arena_alloc(p->arena, sizeof(*loop));
	const struct expr *e;
	uint32_t out;

	if (loop == NULL)
		return tsql_parse_nomem(p);
	*loop = (struct loop){ .outer = p->loop, .start = (uint32_t)p->prog->ninsns, .breaks = -1 };
	if (tsql_parse_next(p) < 0 || tsql_parse_condition(p, &e) < 0 || tsql_parse_value_only(p, e) < 0 ||
	    patched_jump(p, I_IF, line, e, &out) < 0)
		return -1;
	p->loop = loop;
	if (tsql_parse_statement(p, false) < 0)
		return -1;
	assert(p->loop == loop); /* each loop within has ended */
	p->loop = loop->outer;
	if (tsql_parse_emit(p, I_JUMP, line, NULL) < 0)
		return -1;
	p->prog->insns[p->prog->ninsns - 1].target = loop->start;
	patch(p, out);
	while (loop->breaks >= 0) {
		uint32_t at = (uint32_t)loop->breaks;

		loop->breaks = (int64_t)(int32_t)p->prog->insns[at].target;
		patch(p, at);
	}
	return 0;
}

static int break_statement(struct parser *p, bool again)
{
	struct insn *in;

	if (p->loop == NULL) {
		err_raise(p->err, again ? 136 : 135, 15, 1,
			  "Cannot use a %s statement outside the scope of a WHILE statement.",
			  again ? "CONTINUE" : "BREAK");
		return tsql_parse_fail(p, p->tok.line);
	}
	if (tsql_parse_emit(p, I_JUMP, p->tok.line, &in) < 0)
		return -1;
	if (again) {
		assert(p->loop->start < p->prog->ninsns);
		in->target = p->loop->start;
	} else {
		in->target = (uint32_t)(int32_t)p->loop->breaks;
		p->loop->breaks = (int64_t)p->prog->ninsns - 1;
	}
	return tsql_parse_next(p);
}

static int skip_semicolons(struct parser *p)
{
	while (tsql_parse_is_op(p, ';')) {
		if (tsql_parse_next(p) < 0)
			return -1;
	}
	return 0;
}

static int block(struct parser *p)
{
	int n = 0;

	for (;;) {
		if (skip_semicolons(p) < 0)
			return -1;
		if (tsql_parse_is(p, "END"))
			break;
		if (p->tok.kind == T_END)
			return tsql_parse_syntax(p);
		if (tsql_parse_statement(p, false) < 0)
			return -1;
		n++;
	}
	return n == 0 ? tsql_parse_syntax(p) : tsql_parse_next(p);
}

static int begin(struct parser *p)
{
	int line = p->tok.line;

	if (tsql_parse_next(p) < 0)
		return -1;
	if (tsql_parse_is(p, "TRAN") || tsql_parse_is(p, "TRANSACTION"))
		return tsql_parse_tran(p, TRAN_BEGIN, line);
	if (tsql_parse_is(p, "DISTRIBUTED"))
		return tsql_parse_not_supported(p, line, "A distributed transaction",
						"Use BEGIN TRANSACTION in one database.");
	if (tsql_parse_is(p, "TRY") || tsql_parse_is(p, "CATCH"))
		return tsql_parse_not_supported(
			p, line, "BEGIN TRY … END CATCH",
			"Test @@ERROR after each statement, or handle the error in the client.");
	if (tsql_parse_is(p, "DIALOG") || tsql_parse_is(p, "CONVERSATION"))
		return tsql_parse_not_supported(p, line, "Service Broker",
						"Call the stored procedures instead.");
	return block(p);
}

static const struct {
	const char *word;
	int (*parse)(struct parser *p);
} statements[] = {
	{ "SELECT", tsql_parse_select_statement },
	{ "WITH", tsql_parse_with },
	{ "EXEC", tsql_parse_exec },
	{ "EXECUTE", tsql_parse_exec },
	{ "DECLARE", tsql_parse_declare },
	{ "SET", tsql_parse_set },
	{ "IF", if_statement },
	{ "WHILE", while_statement },
	{ "BEGIN", begin },
	{ "PRINT", tsql_parse_print },
	{ "RAISERROR", tsql_parse_raiserror },
	{ "THROW", tsql_parse_throw },
	{ "WAITFOR", tsql_parse_waitfor },
	{ "USE", tsql_parse_use },
	{ "RETURN", tsql_parse_return },
	{ "KILL", tsql_parse_kill },
};

static int tran_statement(struct parser *p, bool *ret_known)
{
	static const struct {
		const char *word;
		int kind;
	} words[] = { { "COMMIT", TRAN_COMMIT }, { "ROLLBACK", TRAN_ROLLBACK }, { "SAVE", TRAN_SAVE } };
	int line = p->tok.line;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (tsql_parse_is(p, words[i].word)) {
			*ret_known = true;
			return tsql_parse_next(p) < 0 ? -1 : tsql_parse_tran(p, words[i].kind, line);
		}
	}
	return 0;
}

static int one_statement(struct parser *p, bool first)
{
	bool known = false;

	for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
		if (tsql_parse_is(p, statements[i].word))
			return statements[i].parse(p);
	}
	if (tsql_parse_is(p, "BREAK") || tsql_parse_is(p, "CONTINUE"))
		return break_statement(p, tsql_parse_is(p, "CONTINUE"));
	if (tran_statement(p, &known) < 0)
		return -1;
	if (!known && tsql_parse_refused(p, &known) < 0)
		return -1;
	if (known)
		return 0;
	if (first && (tsql_parse_is_name(p) || tsql_parse_is_op(p, '.')))
		return tsql_parse_bare_exec(p);
	return tsql_parse_syntax(p);
}

int tsql_parse_statement(struct parser *p, bool first)
{
	unsigned depth = p->depth;

	if (tsql_parse_enter(p) < 0 || one_statement(p, first) < 0)
		return -1;
	tsql_parse_leave(p);
	assert(p->depth == depth && p->with == NULL && !p->in_store_query);
	return 0;
}

static int batch(struct parser *p)
{
	bool first = true;

	if (tsql_parse_next(p) < 0)
		return -1;
	for (;;) {
		if (skip_semicolons(p) < 0)
			return -1;
		if (p->tok.kind == T_END)
			return 0;
		if (tsql_parse_statement(p, first) < 0)
			return -1;
		first = false;
	}
}

static int compile(struct parser *p, struct str text, const struct tsql_session *vars,
		   const struct tsql_declared *params, size_t nparams, struct tsql_program **ret)
{
	char *copy = arena_alloc_raw(p->arena, text.n);
	int index;

	p->prog = arena_alloc(p->arena, sizeof(*p->prog));
	if (copy == NULL || p->prog == NULL)
		return err_nomem(p->err);
	if (text.n > 0)
		memcpy(copy, text.p, text.n); /* names and literals point into it */
	tsql_lexer_init(&p->lx, (struct str){ copy, text.n }, vars->quoted_identifier);
	for (size_t i = 0; i < nparams; i++) {
		char *name = arena_strndup(p->arena, params[i].name.p, params[i].name.n);

		if (name == NULL || tsql_parse_add_variable(p, (struct str){ name, params[i].name.n },
							    params[i].type, &index) < 0)
			return err_nomem(p->err);
		p->prog->vars[index].output = params[i].output;
	}
	p->prog->nparams = nparams;
	if (batch(p) < 0)
		return -1;
	assert(p->depth == 0 && p->loop == NULL && p->tok.kind == T_END);
	*ret = p->prog;
	return 0;
}

int tsql_compile(struct str text, const struct tsql_session *vars, const struct tsql_declared *params,
		 size_t nparams, struct meter *meter, struct arena *a, struct tsql_program **ret,
		 struct err *reterr)
{
	struct parser p = { .arena = a, .err = reterr, .meter = meter };

	return compile(&p, text, vars, params, nparams, ret);
}

int tsql_compile_undeclared(struct str text, const struct tsql_session *vars,
			    const struct tsql_declared *params, size_t nparams, struct meter *meter,
			    struct arena *a, struct tsql_program **ret, struct err *reterr)
{
	struct parser p = { .arena = a, .err = reterr, .meter = meter, .undeclared_allowed = true };

	return compile(&p, text, vars, params, nparams, ret);
}
