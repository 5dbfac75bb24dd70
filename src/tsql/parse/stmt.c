/* stmt.c — statements and the flow between them: blocks, IF, WHILE. Jumps are patched once their target is known. */
#include "tsql/parse/parser.h"

#include <string.h>

static int patched_jump(struct parser *p, enum insn_op op, int line, const struct expr *e, uint32_t *ret)
{
	struct insn *in;

	if (p_emit(p, op, line, &in) < 0)
		return -1;
	in->expr = e;
	*ret = (uint32_t)p->prog->ninsns - 1;
	return 0;
}

static void patch(struct parser *p, uint32_t at)
{
	p->prog->insns[at].target = (uint32_t)p->prog->ninsns;
}

int p_value_only(struct parser *p, const struct expr *e)
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
	return p_fail(p, e->line);
}

static int if_statement(struct parser *p)
{
	int line = p->tok.line;
	uint32_t over, end;
	const struct expr *e;

	if (p_next(p) < 0 || p_condition(p, &e) < 0 || p_value_only(p, e) < 0 ||
	    patched_jump(p, I_IF, line, e, &over) < 0 || p_statement(p, false) < 0)
		return -1;
	/* IF a b; ELSE c: the semicolon belongs to b. */
	if (p_is_op(p, ';')) {
		struct token after = p_peek(p);

		if (token_is(&after, "ELSE") && p_next(p) < 0)
			return -1;
	}
	if (!p_is(p, "ELSE")) {
		patch(p, over);
		return 0;
	}
	if (p_next(p) < 0 || patched_jump(p, I_JUMP, line, NULL, &end) < 0)
		return -1;
	patch(p, over);
	if (p_statement(p, false) < 0)
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
		return p_nomem(p);
	*loop = (struct loop){ .outer = p->loop, .start = (uint32_t)p->prog->ninsns, .breaks = -1 };
	if (p_next(p) < 0 || p_condition(p, &e) < 0 || p_value_only(p, e) < 0 ||
	    patched_jump(p, I_IF, line, e, &out) < 0)
		return -1;
	p->loop = loop;
	if (p_statement(p, false) < 0)
		return -1;
	p->loop = loop->outer;
	if (p_emit(p, I_JUMP, line, NULL) < 0)
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
		return p_fail(p, p->tok.line);
	}
	if (p_emit(p, I_JUMP, p->tok.line, &in) < 0)
		return -1;
	if (again) {
		in->target = p->loop->start;
	} else {
		in->target = (uint32_t)(int32_t)p->loop->breaks;
		p->loop->breaks = (int64_t)p->prog->ninsns - 1;
	}
	return p_next(p);
}

static int skip_semicolons(struct parser *p)
{
	while (p_is_op(p, ';')) {
		if (p_next(p) < 0)
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
		if (p_is(p, "END"))
			break;
		if (p->tok.kind == T_END)
			return p_syntax(p);
		if (p_statement(p, false) < 0)
			return -1;
		n++;
	}
	return n == 0 ? p_syntax(p) : p_next(p);
}

static int begin(struct parser *p)
{
	int line = p->tok.line;

	if (p_next(p) < 0)
		return -1;
	if (p_is(p, "TRAN") || p_is(p, "TRANSACTION"))
		return p_tran(p, TRAN_BEGIN, line);
	if (p_is(p, "DISTRIBUTED"))
		return p_not_supported(p, line, "A distributed transaction",
				       "Use BEGIN TRANSACTION in one database.");
	if (p_is(p, "TRY") || p_is(p, "CATCH"))
		return p_not_supported(
			p, line, "BEGIN TRY … END CATCH",
			"Test @@ERROR after each statement, or handle the error in the client.");
	if (p_is(p, "DIALOG") || p_is(p, "CONVERSATION"))
		return p_not_supported(p, line, "Service Broker", "Call the stored procedures instead.");
	return block(p);
}

static const struct {
	const char *word;
	int (*parse)(struct parser *p);
} statements[] = {
	{ "SELECT", p_select_statement },
	{ "EXEC", p_exec },
	{ "EXECUTE", p_exec },
	{ "DECLARE", p_declare },
	{ "SET", p_set },
	{ "IF", if_statement },
	{ "WHILE", while_statement },
	{ "BEGIN", begin },
	{ "PRINT", p_print },
	{ "RAISERROR", p_raiserror },
	{ "THROW", p_throw },
	{ "WAITFOR", p_waitfor },
	{ "USE", p_use },
	{ "RETURN", p_return },
	{ "KILL", p_kill },
};

static int tran_statement(struct parser *p, bool *ret_known)
{
	static const struct {
		const char *word;
		int kind;
	} words[] = { { "COMMIT", TRAN_COMMIT }, { "ROLLBACK", TRAN_ROLLBACK }, { "SAVE", TRAN_SAVE } };
	int line = p->tok.line;

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (p_is(p, words[i].word)) {
			*ret_known = true;
			return p_next(p) < 0 ? -1 : p_tran(p, words[i].kind, line);
		}
	}
	return 0;
}

static int one_statement(struct parser *p, bool first)
{
	bool known = false;

	for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
		if (p_is(p, statements[i].word))
			return statements[i].parse(p);
	}
	if (p_is(p, "BREAK") || p_is(p, "CONTINUE"))
		return break_statement(p, p_is(p, "CONTINUE"));
	if (tran_statement(p, &known) < 0)
		return -1;
	if (!known && p_refused(p, &known) < 0)
		return -1;
	if (known)
		return 0;
	if (first && (p_is_name(p) || p_is_op(p, '.')))
		return p_bare_exec(p);
	return p_syntax(p);
}

int p_statement(struct parser *p, bool first)
{
	if (p_enter(p) < 0 || one_statement(p, first) < 0)
		return -1;
	p_leave(p);
	return 0;
}

static int batch(struct parser *p)
{
	bool first = true;

	if (p_next(p) < 0)
		return -1;
	for (;;) {
		if (skip_semicolons(p) < 0)
			return -1;
		if (p->tok.kind == T_END)
			return 0;
		if (p_statement(p, first) < 0)
			return -1;
		first = false;
	}
}

int tsql_compile(struct str text, const struct tsql_session *vars, const struct tsql_declared *params,
		 size_t nparams, struct meter *meter, struct arena *a, struct tsql_program **ret,
		 struct err *reterr)
{
	struct parser p = { .arena = a, .err = reterr, .meter = meter };
	char *copy = arena_alloc_raw(a, text.n);
	int index;

	p.prog = arena_alloc(a, sizeof(*p.prog));
	if (copy == NULL || p.prog == NULL)
		return err_nomem(reterr);
	if (text.n > 0)
		memcpy(copy, text.p, text.n); /* names and literals point into it */
	lexer_init(&p.lx, (struct str){ copy, text.n }, vars->quoted_identifier);
	for (size_t i = 0; i < nparams; i++) {
		char *name = arena_strndup(a, params[i].name.p, params[i].name.n);

		if (name == NULL ||
		    p_add_variable(&p, (struct str){ name, params[i].name.n }, params[i].type, &index) < 0)
			return err_nomem(reterr);
		p.prog->vars[index].output = params[i].output;
	}
	p.prog->nparams = nparams;
	if (batch(&p) < 0)
		return -1;
	*ret = p.prog;
	return 0;
}
