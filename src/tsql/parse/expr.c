/* expr.c — operators, from OR down to the unary ones. Values and predicates are told apart after
 * parsing, because a parenthesis may hold either. */
#include "tsql/parse/parser.h"

static int require_value(struct parser *p, const struct expr *e)
{
	return tsql_expr_is_predicate(e) ? tsql_parse_syntax(p) : 0;
}

static int require_predicate(struct parser *p, const struct expr *e)
{
	char near[129];

	if (tsql_expr_is_predicate(e))
		return 0;
	str_copy(near, sizeof(near), p->tok.text);
	err_raise(p->err, 4145, 15, 1,
		  "An expression of non-boolean type specified in a context where a condition is expected, "
		  "near '%s'.",
		  near);
	return tsql_parse_fail(p, p->tok.line);
}

static int unary(struct parser *p, const struct expr **ret);

/* -5 is one literal: also -2147483648, whose digits alone would not be an int. */
static int negated_literal(struct parser *p, int line, const struct expr *operand, const struct expr **ret)
{
	struct value v = operand->literal;

	if (v.type.id == TYPE_NUMERIC && v.type.scale == 0 &&
	    v.u.dec.magnitude == (unsigned __int128)INT32_MAX + 1) {
		v = value_int(TYPE_INT, INT32_MIN);
	} else if (value_negate(&v, &v, p->err) < 0) {
		return tsql_parse_fail(p, line);
	}
	return tsql_parse_literal(p, &v, line, ret);
}

static bool is_plain_number(const struct expr *e)
{
	return e->kind == E_LITERAL && !e->literal.null &&
	       (e->type.id == TYPE_INT || e->type.id == TYPE_NUMERIC || e->type.id == TYPE_FLOAT ||
		e->type.id == TYPE_MONEY);
}

static int prefix(struct parser *p, const struct expr **ret)
{
	int line = p->tok.line, op = p->tok.op;
	const struct expr *operand;
	struct expr *e;

	if (tsql_parse_enter(p) < 0 || tsql_parse_next(p) < 0 || unary(p, &operand) < 0 ||
	    require_value(p, operand) < 0)
		return -1;
	tsql_parse_leave(p);
	if (op == '-' && is_plain_number(operand))
		return negated_literal(p, line, operand, ret);
	if (op == '+' && is_plain_number(operand)) {
		*ret = operand;
		return 0;
	}
	if (tsql_parse_node1(p, E_UNARY, line, operand, &e) < 0)
		return -1;
	e->op = (uint8_t)op;
	*ret = e;
	return tsql_parse_finish_node(p, e);
}

static int unary(struct parser *p, const struct expr **ret)
{
	int rc;

	if (tsql_parse_is_op(p, '-') || tsql_parse_is_op(p, '+') || tsql_parse_is_op(p, '~'))
		return prefix(p, ret);
	if (tsql_parse_primary(p, ret) < 0)
		return -1;
	while ((rc = tsql_parse_accept(p, "COLLATE")) > 0) {
		struct str name;

		if (tsql_parse_name(p, &name) < 0)
			return -1;
	}
	return rc;
}

static bool is_decimal(const struct expr *e)
{
	return e->type.id == TYPE_DECIMAL || e->type.id == TYPE_NUMERIC;
}

/* An integer literal beside a decimal counts with the digits it has, not with the ten of an int:
 * 1.0 / 3 has six decimals. */
static int as_decimal(struct parser *p, const struct expr **e)
{
	struct value v = (*e)->literal, d = { .type = TYPE_NUM(TYPE_NUMERIC, 1, 0) };

	if ((*e)->kind != E_LITERAL || v.null || v.type.id != TYPE_INT)
		return 0;
	d.u.dec.negative = v.u.i < 0;
	d.u.dec.magnitude = (unsigned __int128)(v.u.i < 0 ? -v.u.i : v.u.i);
	for (unsigned __int128 m = d.u.dec.magnitude; m >= 10; m /= 10)
		d.type.precision++;
	return tsql_parse_literal(p, &d, (*e)->line, e);
}

static int binary(struct parser *p, enum value_op op, int line, const struct expr *right,
		  const struct expr **left)
{
	struct expr *e;

	if (require_value(p, *left) < 0 || require_value(p, right) < 0 ||
	    (is_decimal(*left) && as_decimal(p, &right) < 0) ||
	    (is_decimal(right) && as_decimal(p, left) < 0) ||
	    tsql_parse_node2(p, E_BINARY, line, *left, right, &e) < 0)
		return -1;
	e->op = op;
	*left = e;
	return tsql_parse_finish_node(p, e);
}

static int multiplicative(struct parser *p, const struct expr **ret)
{
	if (unary(p, ret) < 0)
		return -1;
	while (tsql_parse_is_op(p, '*') || tsql_parse_is_op(p, '/') || tsql_parse_is_op(p, '%')) {
		int line = p->tok.line;
		enum value_op op = p->tok.op == '*' ? OP_MUL : p->tok.op == '/' ? OP_DIV : OP_MOD;
		const struct expr *right;

		if (tsql_parse_next(p) < 0 || unary(p, &right) < 0 || binary(p, op, line, right, ret) < 0)
			return -1;
	}
	return 0;
}

static bool additive_op(const struct parser *p, enum value_op *ret)
{
	if (p->tok.kind != T_OP)
		return false;
	switch (p->tok.op) {
	case '+': *ret = OP_ADD; return true;
	case '-': *ret = OP_SUB; return true;
	case '&': *ret = OP_AND; return true;
	case '|': *ret = OP_OR; return true;
	case '^': *ret = OP_XOR; return true;
	default: return false;
	}
}

int tsql_parse_additive(struct parser *p, const struct expr **ret)
{
	enum value_op op;

	if (multiplicative(p, ret) < 0)
		return -1;
	while (additive_op(p, &op)) {
		int line = p->tok.line;
		const struct expr *right;

		if (tsql_parse_next(p) < 0 || multiplicative(p, &right) < 0 ||
		    binary(p, op, line, right, ret) < 0)
			return -1;
	}
	return 0;
}

static bool comparison_op(const struct parser *p, enum comparison *ret)
{
	if (p->tok.kind != T_OP)
		return false;
	switch (p->tok.op) {
	case '=': *ret = CMP_EQ; return true;
	case TSQL_OP2('<', '>'):
	case TSQL_OP2('!', '='): *ret = CMP_NE; return true;
	case '<': *ret = CMP_LT; return true;
	case TSQL_OP2('<', '='):
	case TSQL_OP2('!', '>'): *ret = CMP_LE; return true;
	case '>': *ret = CMP_GT; return true;
	case TSQL_OP2('>', '='):
	case TSQL_OP2('!', '<'): *ret = CMP_GE; return true;
	default: return false;
	}
}

static int is_null(struct parser *p, const struct expr *left, struct expr **ret)
{
	int line = p->tok.line, negated;

	if (tsql_parse_next(p) < 0 || (negated = tsql_parse_accept(p, "NOT")) < 0 ||
	    tsql_parse_expect(p, "NULL") < 0 || tsql_parse_node1(p, E_IS_NULL, line, left, ret) < 0)
		return -1;
	(*ret)->negated = negated > 0;
	return 0;
}

static int between(struct parser *p, const struct expr *left, struct expr **ret)
{
	const struct expr **args = arena_array(p->arena, 3, EXPR_POINTER);
	int line = p->tok.line;

	if (args == NULL)
		return tsql_parse_nomem(p);
	args[0] = left;
	if (tsql_parse_next(p) < 0 || tsql_parse_expr(p, &args[1]) < 0 || tsql_parse_expect(p, "AND") < 0 ||
	    tsql_parse_expr(p, &args[2]) < 0)
		return -1;
	return tsql_parse_node(p, E_BETWEEN, line, args, 3, ret);
}

static int like(struct parser *p, const struct expr *left, struct expr **ret)
{
	const struct expr **args = arena_array(p->arena, 3, EXPR_POINTER);
	int line = p->tok.line, escape;

	if (args == NULL)
		return tsql_parse_nomem(p);
	args[0] = left;
	if (tsql_parse_next(p) < 0 || tsql_parse_expr(p, &args[1]) < 0 ||
	    (escape = tsql_parse_accept(p, "ESCAPE")) < 0 || (escape > 0 && tsql_parse_expr(p, &args[2]) < 0))
		return -1;
	return tsql_parse_node(p, E_LIKE, line, args, escape > 0 ? 3 : 2, ret);
}

static int in_query(struct parser *p, int line, const struct expr *left, struct expr **ret)
{
	struct select *s;

	if (!p->in_store_query)
		return tsql_parse_not_supported(p, line, "IN (SELECT …) outside a SELECT",
						"Use IF EXISTS (SELECT …) instead.");
	if (tsql_parse_select(p, true, &s) < 0 || tsql_parse_expect_op(p, ')') < 0 ||
	    tsql_parse_node1(p, E_IN_QUERY, line, left, ret) < 0)
		return -1;
	(*ret)->query = s;
	return 0;
}

static int in_list(struct parser *p, const struct expr *left, struct expr **ret)
{
	int line = p->tok.line;
	const struct expr **list, **args;
	size_t n;

	if (tsql_parse_next(p) < 0 || tsql_parse_expect_op(p, '(') < 0)
		return -1;
	if (tsql_parse_is(p, "SELECT"))
		return in_query(p, line, left, ret);
	if (tsql_parse_expr_list(p, &list, &n) < 0)
		return -1;
	if (n == 0)
		return tsql_parse_syntax(p);
	args = arena_array(p->arena, n + 1, EXPR_POINTER);
	if (args == NULL)
		return tsql_parse_nomem(p);
	args[0] = left;
	for (size_t i = 0; i < n; i++)
		args[i + 1] = list[i];
	return tsql_parse_node(p, E_IN, line, args, n + 1, ret);
}

static int exists(struct parser *p, const struct expr **ret)
{
	int line = p->tok.line;
	struct select *s;
	struct expr *e;

	if (tsql_parse_next(p) < 0 || tsql_parse_expect_op(p, '(') < 0 ||
	    tsql_parse_select(p, true, &s) < 0 || tsql_parse_expect_op(p, ')') < 0)
		return -1;
	if (!p->in_store_query)
		return tsql_parse_hoist(p, s, true, line, ret);
	if (tsql_parse_node(p, E_EXISTS, line, NULL, 0, &e) < 0)
		return -1;
	e->query = s;
	*ret = e;
	return 0;
}

static int predicate(struct parser *p, const struct expr **ret)
{
	const struct expr *left, *right;
	int line, negated;
	enum comparison cmp;
	struct expr *e;

	if (tsql_parse_is(p, "EXISTS"))
		return exists(p, ret);
	if (tsql_parse_additive(p, &left) < 0)
		return -1;
	*ret = left;
	line = p->tok.line;
	if (comparison_op(p, &cmp)) {
		if (require_value(p, left) < 0 || tsql_parse_next(p) < 0)
			return -1;
		if (tsql_parse_is(p, "ANY") || tsql_parse_is(p, "ALL") || tsql_parse_is(p, "SOME"))
			return tsql_parse_not_supported(p, line, "A comparison with ANY, SOME or ALL",
							"Use IN or EXISTS instead.");
		if (tsql_parse_expr(p, &right) < 0 ||
		    tsql_parse_node2(p, E_COMPARE, line, left, right, &e) < 0)
			return -1;
		e->op = cmp;
		*ret = e;
		return 0;
	}
	if (tsql_parse_is(p, "IS"))
		return require_value(p, left) < 0 || is_null(p, left, &e) < 0 ? -1 : (*ret = e, 0);
	if (!tsql_parse_is(p, "NOT") && !tsql_parse_is(p, "BETWEEN") && !tsql_parse_is(p, "IN") &&
	    !tsql_parse_is(p, "LIKE"))
		return 0;
	if (require_value(p, left) < 0 || (negated = tsql_parse_accept(p, "NOT")) < 0)
		return -1;
	if (tsql_parse_is(p, "BETWEEN") ? between(p, left, &e) < 0
	    : tsql_parse_is(p, "IN")    ? in_list(p, left, &e) < 0
	    : tsql_parse_is(p, "LIKE")  ? like(p, left, &e) < 0
					: tsql_parse_syntax(p) < 0)
		return -1;
	e->negated = negated > 0;
	*ret = e;
	return 0;
}

static int negation(struct parser *p, const struct expr **ret)
{
	int line = p->tok.line;
	const struct expr *operand;
	struct expr *e;

	if (!tsql_parse_is(p, "NOT"))
		return predicate(p, ret);
	if (tsql_parse_enter(p) < 0 || tsql_parse_next(p) < 0 || negation(p, &operand) < 0 ||
	    require_predicate(p, operand) < 0 || tsql_parse_node1(p, E_NOT, line, operand, &e) < 0)
		return -1;
	tsql_parse_leave(p);
	*ret = e;
	return 0;
}

/* a AND b AND c is one node, however long. */
static int chain(struct parser *p, const char *word, enum expr_kind kind,
		 int (*part)(struct parser *, const struct expr **), const struct expr **ret)
{
	const struct expr **args = NULL;
	size_t n = 0, cap = 0;
	int line = p->tok.line;
	struct expr *e;

	if (part(p, ret) < 0)
		return -1;
	if (!tsql_parse_is(p, word))
		return 0;
	for (;;) {
		int rc;

		if (require_predicate(p, *ret) < 0 ||
		    tsql_parse_grow(p, (void **)&args, n, &cap, EXPR_POINTER) < 0)
			return -1;
		args[n++] = *ret;
		rc = tsql_parse_accept(p, word);
		if (rc < 0)
			return -1;
		if (rc == 0)
			break;
		if (part(p, ret) < 0)
			return -1;
	}
	if (tsql_parse_node(p, kind, line, args, n, &e) < 0)
		return -1;
	*ret = e;
	return 0;
}

static int conjunction(struct parser *p, const struct expr **ret)
{
	return chain(p, "AND", E_AND, negation, ret);
}

int tsql_parse_any(struct parser *p, const struct expr **ret)
{
	if (tsql_parse_enter(p) < 0 || chain(p, "OR", E_OR, conjunction, ret) < 0)
		return -1;
	tsql_parse_leave(p);
	return 0;
}

int tsql_parse_expr(struct parser *p, const struct expr **ret)
{
	if (tsql_parse_enter(p) < 0 || tsql_parse_additive(p, ret) < 0 || require_value(p, *ret) < 0)
		return -1;
	tsql_parse_leave(p);
	return 0;
}

int tsql_parse_condition(struct parser *p, const struct expr **ret)
{
	return tsql_parse_any(p, ret) < 0 ? -1 : require_predicate(p, *ret);
}
