/* primary.c — literals, variables, names, parentheses, subqueries. */
#include "tsql/parse/parser.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"
#include "tsql/eval/functions.h"

static int out_of_range(struct parser *p, int number, const char *text)
{
	char shown[60];

	str_copy(shown, sizeof(shown), p->tok.text);
	err_raise(p->err, number, 15, 1, text, shown);
	return tsql_parse_fail(p, p->tok.line);
}

/* Digits with at most one point: a decimal, or an int if it fits one. */
static int exact_number(struct parser *p, struct str s, struct value *ret)
{
	unsigned __int128 m = 0;
	int digits = 0, scale = 0;
	bool point = false;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '.') {
			point = true;
			continue;
		}
		if (m > 0 || s.p[i] != '0')
			digits++;
		if (point)
			scale++;
		if (digits > 38 || scale > 38)
			return out_of_range(p, 1007,
					    "The number '%s' is out of the range for numeric representation "
					    "(maximum precision 38).");
		m = m * 10 + (unsigned)(s.p[i] - '0');
	}
	if (!point && m <= INT32_MAX) {
		*ret = value_int(TYPE_INT, (int64_t)m);
		return 0;
	}
	if (digits < scale)
		digits = scale;
	*ret = (struct value){ .type = TYPE_NUM(TYPE_NUMERIC, (uint8_t)(digits == 0 ? 1 : digits),
						(uint8_t)scale) };
	ret->u.dec.magnitude = m;
	return 0;
}

static int float_number(struct parser *p, struct value *ret)
{
	char text[512];
	size_t n = p->tok.text.n;

	*ret = (struct value){ .type = TYPE_OF(TYPE_FLOAT) };
	if (n >= sizeof(text))
		return out_of_range(p, 168,
				    "The floating point value '%s' is out of the range of computer "
				    "representation (8 bytes).");
	memcpy(text, p->tok.text.p, n);
	text[n] = '\0';
	ret->u.f = strtod(text, NULL); /* "1e" alone is 1: strtod stops before the e */
	if (!isfinite(ret->u.f))
		return out_of_range(p, 168,
				    "The floating point value '%s' is out of the range of computer "
				    "representation (8 bytes).");
	return 0;
}

/* $12.34567: four digits count, the fifth rounds. */
static int money(struct parser *p, struct value *ret)
{
	struct str s = p->tok.text;
	bool negative = false;
	int64_t v = 0;
	int scale = -1;

	for (size_t i = 1; i < s.n; i++) {
		char c = s.p[i];

		if (c == '-' || c == '+')
			negative = c == '-';
		else if (c == '.')
			scale = 0;
		else if (scale < 4) {
			if (v > (INT64_MAX - 9) / 10)
				return out_of_range(p, 293,
						    "Cannot convert the value '%s' to money. The value has "
						    "incorrect syntax or is too large.");
			v = v * 10 + (c - '0');
			scale += scale >= 0;
		} else if (scale == 4) {
			v += c >= '5';
			scale++;
		}
	}
	for (int i = scale < 0 ? 0 : scale; i < 4; i++) {
		if (v > INT64_MAX / 10)
			return out_of_range(p, 293,
					    "Cannot convert the value '%s' to money. The value has incorrect "
					    "syntax or is too large.");
		v *= 10;
	}
	*ret = value_int(TYPE_MONEY, negative ? -v : v);
	return 0;
}

static int hex_digit(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static int binary(struct parser *p, struct value *ret)
{
	struct str s = { p->tok.text.p + 2, p->tok.text.n - 2 };
	size_t n = (s.n + 1) / 2, at = 0;
	uint8_t *bytes = arena_alloc_raw(p->arena, n + 1);

	if (bytes == NULL)
		return tsql_parse_nomem(p);
	if (s.n % 2 == 1) /* 0x1 is 0x01 */
		bytes[at++] = (uint8_t)hex_digit(s.p[0]);
	for (size_t i = at; i < s.n; i += 2)
		bytes[at++] = (uint8_t)(hex_digit(s.p[i]) << 4 | hex_digit(s.p[i + 1]));
	*ret = value_bytes(TYPE_LEN(TYPE_VARBINARY, n > 8000 ? TYPE_MAX : n == 0 ? 1 : (int32_t)n), bytes, n);
	return 0;
}

static int string(struct parser *p, struct value *ret)
{
	bool unicode = p->tok.kind == T_NSTRING;
	size_t most = unicode ? 4000 : 8000, units;
	struct str s;

	if (tsql_token_content(&p->tok, p->arena, &s, p->err) < 0)
		return tsql_parse_fail(p, p->tok.line);
	units = utf16_units(s.p, s.n);
	*ret = value_text(TYPE_LEN(unicode ? TYPE_NVARCHAR : TYPE_VARCHAR, units > most ? TYPE_MAX
									   : units == 0 ? 1
											: (int32_t)units),
			  s);
	return 0;
}

int tsql_parse_constant(struct parser *p, bool *ret_found, const struct expr **ret)
{
	struct value v;
	int rc;

	*ret_found = true;
	switch (p->tok.kind) {
	case T_INT:
	case T_DECIMAL: rc = exact_number(p, p->tok.text, &v); break;
	case T_FLOAT: rc = float_number(p, &v); break;
	case T_MONEY: rc = money(p, &v); break;
	case T_BINARY: rc = binary(p, &v); break;
	case T_STRING:
	case T_NSTRING: rc = string(p, &v); break;
	default:
		if (!tsql_parse_is(p, "NULL")) {
			*ret_found = false;
			return 0;
		}
		value_set_null(&v, TYPE_OF(TYPE_NULL));
		rc = 0;
	}
	if (rc < 0 || tsql_parse_literal(p, &v, p->tok.line, ret) < 0)
		return -1;
	return tsql_parse_next(p);
}

static int variable(struct parser *p, const struct expr **ret)
{
	struct expr *e;

	if (tsql_parse_node(p, E_VARIABLE, p->tok.line, NULL, 0, &e) < 0 ||
	    tsql_parse_variable(p, &e->var) < 0)
		return -1;
	e->type = p->prog->vars[e->var].type;
	*ret = e;
	return 0;
}

/* A subquery outside any SELECT runs before its statement; its result waits in a variable that
 * has no name. */
int tsql_parse_hoist(struct parser *p, struct select *s, bool exists, int line, const struct expr **ret)
{
	struct insn *in;
	struct expr *e;
	int var;

	assert(!p->in_store_query); /* there it stays where it is */
	if (!exists && !s->in_query && s->nitems == 1 && s->where == NULL && s->top == NULL &&
	    s->next == NULL) {
		*ret = s->items[0].expr;
		return 0;
	}
	if (tsql_parse_add_variable(p, (struct str){ "", 0 }, TYPE_OF(exists ? TYPE_INT : TYPE_NULL), &var) <
		    0 ||
	    tsql_parse_emit(p, I_SUBQUERY, line, &in) < 0)
		return -1;
	in->u.select = s;
	in->exists = exists;
	in->var = var;
	if (tsql_parse_node(p, E_VARIABLE, line, NULL, 0, &e) < 0)
		return -1;
	e->var = var;
	e->type = p->prog->vars[var].type;
	*ret = e;
	if (exists) { /* a predicate: the variable is 1 */
		struct value one = value_int(TYPE_INT, 1);
		const struct expr *right;
		struct expr *cmp;

		if (tsql_parse_literal(p, &one, line, &right) < 0 ||
		    tsql_parse_node2(p, E_COMPARE, line, e, right, &cmp) < 0)
			return -1;
		cmp->op = CMP_EQ;
		*ret = cmp;
	}
	return 0;
}

static int parenthesis(struct parser *p, const struct expr **ret)
{
	int line = p->tok.line;
	struct select *s;
	struct expr *e;

	if (tsql_parse_next(p) < 0)
		return -1;
	if (!tsql_parse_is(p, "SELECT"))
		return tsql_parse_any(p, ret) < 0 ? -1 : tsql_parse_expect_op(p, ')');
	if (tsql_parse_select(p, true, &s) < 0 || tsql_parse_expect_op(p, ')') < 0)
		return -1;
	if (s->nitems != 1 || s->items[0].expr == NULL) {
		err_raise(p->err, 116, 16, 1,
			  "Only one expression can be specified in the select list when the subquery is not "
			  "introduced with EXISTS.");
		return tsql_parse_fail(p, line);
	}
	if (!p->in_store_query)
		return tsql_parse_hoist(p, s, false, line, ret);
	if (tsql_parse_node(p, E_SUBQUERY, line, NULL, 0, &e) < 0)
		return -1;
	e->query = s;
	*ret = e;
	return 0;
}

/* {d '…'}, {t '…'}, {ts '…'}, {fn f(…)}: ODBC's escapes, which some programs leave in the text. */
static int odbc_escape(struct parser *p, const struct expr **ret)
{
	int line = p->tok.line;
	const struct expr *text;
	struct expr *e;
	bool found;

	if (tsql_parse_next(p) < 0)
		return -1;
	if (tsql_parse_is(p, "fn")) {
		if (tsql_parse_next(p) < 0 || tsql_parse_primary(p, ret) < 0)
			return -1;
		return tsql_parse_expect_op(p, '}');
	}
	if (!tsql_parse_is(p, "d") && !tsql_parse_is(p, "t") && !tsql_parse_is(p, "ts"))
		return tsql_parse_syntax(p);
	if (tsql_parse_next(p) < 0 || tsql_parse_constant(p, &found, &text) < 0)
		return -1;
	if (!found || tsql_parse_node1(p, E_CAST, line, text, &e) < 0)
		return tsql_parse_syntax(p);
	e->cast = TYPE_OF(TYPE_DATETIME);
	*ret = e;
	return tsql_parse_finish_node(p, e) < 0 ? -1 : tsql_parse_expect_op(p, '}');
}

static int column(struct parser *p, const struct expr **ret)
{
	int line = p->tok.line;
	struct str parts[4], written;
	struct expr *e;
	size_t n;

	if (tsql_parse_dotted_name(p, &written, parts, &n) < 0)
		return -1;
	if (tsql_parse_is_op(p, '(')) {
		char shown[129];

		if (n == 1)
			return tsql_parse_call(p, parts[3], line, ret);
		str_copy(shown, sizeof(shown), written);
		err_raise(p->err, 4121, 16, 1,
			  "Cannot find the user-defined function or aggregate \"%s\", or the name is "
			  "ambiguous.",
			  shown);
		return tsql_parse_fail(p, line);
	}
	if (tsql_parse_node(p, E_COLUMN, line, NULL, 0, &e) < 0)
		return -1;
	e->name = parts[3];
	e->table = parts[2];
	*ret = e;
	return 0;
}

/* Reserved words that are functions. */
static bool is_function_word(const struct parser *p)
{
	static const char *const words[] = { "LEFT",
					     "RIGHT",
					     "COALESCE",
					     "NULLIF",
					     "CONVERT",
					     "TRY_CONVERT",
					     "CURRENT_TIMESTAMP",
					     "CURRENT_USER",
					     "SESSION_USER",
					     "SYSTEM_USER",
					     "USER" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (tsql_parse_is(p, words[i]))
			return true;
	}
	return false;
}

int tsql_parse_primary(struct parser *p, const struct expr **ret)
{
	bool found;

	if (tsql_parse_constant(p, &found, ret) < 0)
		return -1;
	if (found)
		return 0;
	if (p->tok.kind == T_VARIABLE)
		return variable(p, ret);
	if (p->tok.kind == T_GLOBAL)
		return tsql_parse_global(p, ret);
	if (tsql_parse_is_op(p, '('))
		return parenthesis(p, ret);
	if (tsql_parse_is_op(p, '{'))
		return odbc_escape(p, ret);
	if (tsql_parse_is(p, "CASE"))
		return tsql_parse_case(p, ret);
	if (is_function_word(p)) {
		struct str name = p->tok.text;
		int line = p->tok.line;

		return tsql_parse_next(p) < 0 ? -1 : tsql_parse_call(p, name, line, ret);
	}
	if (tsql_parse_is_name(p))
		return column(p, ret);
	return tsql_parse_syntax(p);
}
