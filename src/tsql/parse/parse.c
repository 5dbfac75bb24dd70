/* parse.c — what all parts of the parser share: looking at tokens, names, errors with their
 * line, growing arrays. */
#include "tsql/parse/parser.h"

#include <assert.h>
#include <string.h>

void tsql_parse_set_line(struct parser *p, int line)
{
	if (p->err != NULL)
		p->err->line = line;
}

void tsql_parse_set_syntax(struct parser *p)
{
	char near[129];

	str_copy(near, sizeof(near), p->tok.text);
	if (p->tok.kind == T_NAME && tsql_keyword_reserved(p->tok.text))
		err_set(p->err, ERR_SYNTAX_KEYWORD, near);
	else
		err_set(p->err, ERR_SYNTAX, near);
	tsql_parse_set_line(p, p->tok.line);
}

/* A step for every byte, and some for what the parser does with the token. */
int tsql_parse_next(struct parser *p)
{
	const char *before = p->lx.p;

	if (tsql_lexer_next(&p->lx, &p->tok, p->err) < 0)
		return -1;
	assert(p->lx.p > before || p->tok.kind == T_END); /* each token takes the parser on */
	return meter_spend(p->meter, (uint64_t)(p->lx.p - before) + 16) ? 0 : err_set(p->err, ERR_CANCELLED);
}

struct token tsql_parse_peek(const struct parser *p)
{
	struct lexer copy = p->lx;
	struct token t;

	if (tsql_lexer_next(&copy, &t, NULL) < 0)
		t = (struct token){ .kind = T_END };
	return t;
}

bool tsql_parse_is_op(const struct parser *p, int op)
{
	return p->tok.kind == T_OP && p->tok.op == op;
}

bool tsql_parse_is(const struct parser *p, const char *keyword)
{
	return tsql_token_is(&p->tok, keyword);
}

int tsql_parse_accept(struct parser *p, const char *keyword)
{
	if (!tsql_parse_is(p, keyword))
		return 0;
	return tsql_parse_next(p) < 0 ? -1 : 1;
}

int tsql_parse_accept_op(struct parser *p, int op)
{
	if (!tsql_parse_is_op(p, op))
		return 0;
	return tsql_parse_next(p) < 0 ? -1 : 1;
}

int tsql_parse_expect(struct parser *p, const char *keyword)
{
	return tsql_parse_is(p, keyword) ? tsql_parse_next(p) : tsql_parse_syntax(p);
}

int tsql_parse_expect_op(struct parser *p, int op)
{
	return tsql_parse_is_op(p, op) ? tsql_parse_next(p) : tsql_parse_syntax(p);
}

bool tsql_parse_is_name(const struct parser *p)
{
	return p->tok.kind == T_QUOTED || (p->tok.kind == T_NAME && !tsql_keyword_reserved(p->tok.text));
}

int tsql_parse_name(struct parser *p, struct str *ret)
{
	if (!tsql_parse_is_name(p))
		return tsql_parse_syntax(p);
	if (tsql_token_content(&p->tok, p->arena, ret, p->err) < 0)
		return tsql_parse_fail(p, p->tok.line);
	return tsql_parse_next(p);
}

/* Joins what was written, without the blanks between. */
static int append(struct parser *p, struct str *s, struct str more)
{
	char *joined;

	if (s->n == 0) {
		*s = more;
		return 0;
	}
	joined = arena_alloc_raw(p->arena, s->n + more.n);
	if (joined == NULL)
		return tsql_parse_nomem(p);
	memcpy(joined, s->p, s->n);
	memcpy(joined + s->n, more.p, more.n);
	*s = (struct str){ joined, s->n + more.n };
	return 0;
}

int tsql_parse_dotted_name(struct parser *p, struct str *ret, struct str parts[4], size_t *ret_n)
{
	struct str written = { "", 0 }, part[4] = { { "", 0 } };
	size_t n = 0;

	for (;;) {
		struct str name = { "", 0 };

		if (n == 4)
			return tsql_parse_syntax(p);
		if (!tsql_parse_is_op(p, '.')) {
			if (append(p, &written, p->tok.text) < 0 || tsql_parse_name(p, &name) < 0)
				return -1;
		}
		part[n++] = name;
		if (!tsql_parse_is_op(p, '.'))
			break;
		if (append(p, &written, STR(".")) < 0 || tsql_parse_next(p) < 0)
			return -1;
	}
	if (part[n - 1].n == 0)
		return tsql_parse_syntax(p);
	if (ret != NULL)
		*ret = written;
	if (parts != NULL) {
		for (size_t i = 0; i < 4; i++)
			parts[i] = i + n >= 4 ? part[i + n - 4] : (struct str){ "", 0 };
	}
	if (ret_n != NULL)
		*ret_n = n;
	return 0;
}

int tsql_parse_enter(struct parser *p)
{
	if (++p->depth > PARSE_DEPTH) {
		err_raise(p->err, 191, 15, 1,
			  "Some part of your SQL statement is nested too deeply. Rewrite the query or break "
			  "it up into smaller queries.");
		return tsql_parse_fail(p, p->tok.line);
	}
	return 0;
}

void tsql_parse_leave(struct parser *p)
{
	assert(p->depth > 0 && p->depth <= PARSE_DEPTH);
	p->depth--;
}

int tsql_parse_grow(struct parser *p, void **array, size_t n, size_t *cap, size_t size)
{
	size_t more = n < 4 ? 8 : n * 2;
	void *grown;

	assert(size > 0);
	if (n < *cap)
		return 0;
	grown = arena_array(p->arena, more, size);
	if (grown == NULL)
		return tsql_parse_nomem(p);
	if (*cap > 0)
		memcpy(grown, *array, *cap * size);
	*array = grown;
	*cap = more;
	assert(n < *cap); /* n may lie behind the end: some make room for several at once */
	return 0;
}

int tsql_parse_emit(struct parser *p, enum insn_op op, int line, struct insn **ret)
{
	struct tsql_program *g = p->prog;
	struct insn *in;

	if (tsql_parse_grow(p, (void **)&g->insns, g->ninsns, &g->cap_insns, sizeof(*g->insns)) < 0)
		return -1;
	assert(g->ninsns < g->cap_insns);
	in = &g->insns[g->ninsns++];
	*in = (struct insn){ .op = op, .line = line, .var = -1, .assign_op = -1 };
	if (ret != NULL)
		*ret = in;
	return 0;
}

/* Where the name is in the table, or the empty place where it belongs. */
static uint32_t *name_place(const struct parser *p, struct str name)
{
	size_t i = str_hash_nocase(name) & (p->cap_names - 1);

	assert((p->cap_names & (p->cap_names - 1)) == 0 && p->prog->nvars < p->cap_names);
	while (p->names[i] != 0 && !str_eq_nocase(p->prog->vars[p->names[i] - 1].name, name)) {
		i = (i + 1) & (p->cap_names - 1);
		/* names may be chosen to collide; tsql_parse_next says when it is enough */
		(void)meter_spend(p->meter, 8);
	}
	return &p->names[i];
}

int tsql_parse_find_variable(struct parser *p, struct str name)
{
	return p->cap_names == 0 ? -1 : (int)*name_place(p, name) - 1;
}

/* Makes room for one more name. Texts with a hundred thousand variables take no longer for each
 * than those with one. */
static int grow_names(struct parser *p)
{
	const struct tsql_program *g = p->prog;

	if (g->nvars < p->cap_names / 2)
		return 0;
	p->cap_names = p->cap_names == 0 ? 16 : p->cap_names * 2;
	p->names = arena_array(p->arena, p->cap_names, sizeof(*p->names));
	if (p->names == NULL)
		return tsql_parse_nomem(p);
	for (size_t i = 0; i < g->nvars; i++) {
		if (g->vars[i].name.n > 0)
			*name_place(p, g->vars[i].name) = (uint32_t)i + 1;
	}
	return 0;
}

/* The type is to be found out from the one place where it is used. */
static int undeclared_variable(struct parser *p, int *ret)
{
	if (tsql_parse_add_variable(p, p->tok.text, TYPE_OF(TYPE_NULL), ret) < 0)
		return -1;
	p->prog->vars[*ret].undeclared = true;
	return 0;
}

int tsql_parse_variable(struct parser *p, int *ret)
{
	int var;

	if (p->tok.kind != T_VARIABLE)
		return tsql_parse_syntax(p);
	var = tsql_parse_find_variable(p, p->tok.text);
	if (var < 0 && p->undeclared_allowed) {
		if (undeclared_variable(p, &var) < 0)
			return -1;
	} else if (var < 0 || p->prog->vars[var].undeclared || p->prog->vars[var].table != NULL) {
		bool twice = var >= 0 && p->prog->vars[var].undeclared;
		char name[129];

		str_copy(name, sizeof(name), p->tok.text);
		err_set(p->err, twice ? ERR_UNDECLARED_TWICE : ERR_NO_VARIABLE, name);
		return tsql_parse_fail(p, p->tok.line);
	}
	assert((size_t)var < p->prog->nvars);
	*ret = var;
	return tsql_parse_next(p);
}

int tsql_parse_add_variable(struct parser *p, struct str name, struct type type, int *ret)
{
	struct tsql_program *g = p->prog;

	if (tsql_parse_grow(p, (void **)&g->vars, g->nvars, &g->cap_vars, sizeof(*g->vars)) < 0 ||
	    grow_names(p) < 0)
		return -1;
	g->vars[g->nvars] = (struct variable){ .name = name, .type = type };
	*ret = (int)g->nvars++;
	if (name.n > 0) /* of two parameters with one name the first is meant */
		if (*name_place(p, name) == 0)
			*name_place(p, name) = (uint32_t)g->nvars;
	assert(g->nvars <= p->cap_names / 2); /* or finding a name would not be a step or two */
	return 0;
}

bool tsql_parse_at_end_of_statement(const struct parser *p)
{
	static const char *const words[] = {
		"SELECT", "SET",    "DECLARE",  "EXEC",     "EXECUTE", "IF",         "ELSE",      "WHILE",
		"BEGIN",  "END",    "BREAK",    "CONTINUE", "RETURN",  "PRINT",      "RAISERROR", "WAITFOR",
		"USE",    "COMMIT", "ROLLBACK", "SAVE",     "INSERT",  "UPDATE",     "DELETE",    "MERGE",
		"CREATE", "ALTER",  "DROP",     "TRUNCATE", "GRANT",   "REVOKE",     "DENY",      "GOTO",
		"THROW",  "WITH",   "BACKUP",   "RESTORE",  "KILL",    "CHECKPOINT", "DBCC"
	};

	if (p->tok.kind == T_END || tsql_parse_is_op(p, ';'))
		return true;
	if (p->tok.kind != T_NAME)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (tsql_token_is(&p->tok, words[i]))
			return true;
	}
	return false;
}
