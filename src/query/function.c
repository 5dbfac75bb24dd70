/* function.c — functions, CAST and aggregates of columns: which there are, and what they take. */
#include "query/check.h"

#include <stdio.h>
#include <string.h>

#include "tsql/eval/functions.h"

static const struct {
	const char *name, *kinds;
	bool system;
} functions[FUNCTION_COUNT] = {
#define QUERY_FUNCTION(name, kinds, system) [FUNCTION_##name] = { #name, kinds, system },
#include "query/functions.def"
#undef QUERY_FUNCTION
};

static int unsupported(struct query_check *c, const struct expr *e)
{
	char shown[80];

	snprintf(shown, sizeof(shown), "%s of a column", e->fn->name);
	return query_refuse(c, e->line, shown);
}

static bool may_be(const struct query_node *n, char kind)
{
	switch (kind) {
	case 'e':
	case 'q':
	case 't': return n->kind == NODE_VALUE || query_is_text(n) || query_is_whole(n);
	case 'n': return n->kind == NODE_VALUE || query_is_whole(n);
	case 'f': return n->kind == NODE_VALUE || query_is_whole(n) || n->type.id == TYPE_FLOAT;
	case 'x':
		return n->kind == NODE_VALUE || query_is_text(n) || query_is_whole(n) ||
		       type_info(n->type.id)->is_binary;
	default: return true;
	}
}

static int use_as(struct query_check *c, const struct query_node *n, char kind, const struct type *result,
		  const struct query_node **ret)
{
	const struct type number = TYPE_OF(TYPE_BIGINT);

	switch (kind) {
	case 'e':
	case 'q':
	case 't': return query_as_text(c, n, ret);
	case 'n': return query_meet(c, n, &number, ret);
	case '=': return query_settle(c, n, result, ret);
	default: return query_meet(c, n, NULL, ret);
	}
}

/* The kind of the i-th argument; '\0': there is none. "=*" and "*" go on for ever. */
static char kind_of(const char *kinds, size_t i)
{
	if (strcmp(kinds, "*") == 0)
		return 't';
	if (strcmp(kinds, "=*") == 0)
		return '=';
	return i < strlen(kinds) ? kinds[i] : '\0';
}

/* What a function is given besides its arguments: where it is asked, and by whom; or what stands
 * for an argument that was left out. */
static int added(struct query_check *c, char kind, const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_VALUE, 0);

	if (n == NULL)
		return -1;
	n->type = TYPE_LEN(TYPE_NVARCHAR, 128);
	switch (kind) {
	case 'D': n->value = value_text(n->type, query_current_database(c)); break;
	case 'L': n->value = query_login(c); break;
	case 'A': n->value = value_int(TYPE_INT, query_is_administrator(c)); break;
	case 'e': n->value = value_text(n->type, STR("")); break;
	default: n->value = value_text(n->type, STR("[")); break; /* of QUOTENAME */
	}
	*ret = n;
	return 0;
}

/* Where what is added begins. */
static size_t added_from(const char *kinds, size_t given)
{
	size_t n = strcspn(kinds, "DLA");

	return given + 1 == n && (kinds[given] == 'q' || kinds[given] == 'e') ? given : n;
}

/* sql_variant is for the evaluator: a column has one type, text. */
static struct type system_type(const struct type *t)
{
	return t->id == TYPE_VARIANT ? TYPE_LEN(TYPE_NVARCHAR, 128) : *t;
}

static int arguments(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		     const char *kinds, struct query_node *n, struct type *types)
{
	for (size_t i = 0; i < e->nargs; i++) {
		if (query_expr(c, sc, e->args[i], &n->args[i]) < 0)
			return -1;
		types[i] = n->args[i]->type;
		if (!may_be(n->args[i], kind_of(kinds, i)))
			return unsupported(c, e);
		/* COALESCE and CONCAT compare as any of their parts, the others as the
		 * first */
		if (n->args[i]->order > n->order && (i == 0 || strchr(kinds, '*') != NULL || kinds[0] == '='))
			n->order = n->args[i]->order;
	}
	return 0;
}

static int plain_call(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		      enum query_function f, const struct query_node **ret)
{
	const char *kinds = functions[f].kinds;
	size_t wanted = added_from(kinds, e->nargs), more = strlen(kinds + wanted);
	bool many = strchr(kinds, '*') != NULL;
	struct query_node *n = query_node_new(c, NODE_CALL, e->nargs + (many ? 0 : more));
	struct type *types = arena_array(c->ev->arena, e->nargs, sizeof(*types));

	if (n == NULL || types == NULL)
		return err_nomem(c->ev->err);
	if (!many && e->nargs != wanted) /* CHARINDEX has a third one */
		return unsupported(c, e);
	if (arguments(c, sc, e, kinds, n, types) < 0)
		return -1;
	n->op = (uint8_t)f;
	n->type = functions[f].system ? system_type(&e->fn->type) : tsql_infer_type(e, types);
	n->nullable = f != FUNCTION_CONCAT;
	for (size_t i = 0; i < e->nargs; i++) {
		if (use_as(c, n->args[i], kind_of(kinds, i), &n->type, &n->args[i]) < 0)
			return -1;
	}
	for (size_t i = 0; !many && i < more; i++) {
		if (added(c, kinds[wanted + i], &n->args[e->nargs + i]) < 0)
			return -1;
	}
	if (functions[f].system) {
		c->any_system = true;
		n->order = ORDER_NAMES;
	}
	if (!query_is_text(n))
		n->order = ORDER_PLAIN;
	*ret = n;
	return 0;
}

static bool has_fixed_length(enum datepart part)
{
	return part == PART_WEEK || part == PART_DAY || part == PART_DAYOFYEAR || part == PART_WEEKDAY ||
	       part == PART_HOUR || part == PART_MINUTE || part == PART_SECOND;
}

/* DATEADD and DATEDIFF of parts that are all of one length. */
static int dates(struct query_check *c, const struct query_scope *sc, const struct expr *e, bool add,
		 const struct query_node **ret)
{
	enum datepart part = (enum datepart)e->args[0]->literal.u.i;
	struct query_node *n = query_node_new(c, NODE_CALL, 2);
	struct type dt = TYPE_OF(TYPE_DATETIME);
	const struct query_node *a, *b;

	if (!has_fixed_length(part))
		return unsupported(c, e);
	if (n == NULL || query_expr(c, sc, e->args[1], &a) < 0 || query_expr(c, sc, e->args[2], &b) < 0)
		return -1;
	if ((b->kind != NODE_VALUE && b->type.id != TYPE_DATETIME) ||
	    (a->kind != NODE_VALUE && (add ? !query_is_whole(a) : a->type.id != TYPE_DATETIME)) ||
	    (!add && part == PART_WEEK))
		return unsupported(c, e);
	n->op = add ? FUNCTION_DATEADD : FUNCTION_DATEDIFF;
	n->part = (uint8_t)part;
	n->type = add ? dt : e->fn->type;
	*ret = n;
	return query_meet(c, a, add ? NULL : &dt, &n->args[0]) < 0 ? -1 : query_meet(c, b, &dt, &n->args[1]);
}

int query_call(struct query_check *c, const struct query_scope *sc, const struct expr *e,
	       const struct query_node **ret)
{
	if (e->fn->call == tsql_fn_iif)
		return query_iif(c, sc, e, ret);
	if (strcmp(e->fn->name, "NULLIF") == 0)
		return query_nullif(c, sc, e, ret);
	for (size_t i = 0; i < FUNCTION_COUNT; i++) {
		if (strcmp(functions[i].name, e->fn->name) != 0)
			continue;
		if (i == FUNCTION_DATEADD || i == FUNCTION_DATEDIFF)
			return dates(c, sc, e, i == FUNCTION_DATEADD, ret);
		return plain_call(c, sc, e, (enum query_function)i, ret);
	}
	return unsupported(c, e);
}

int query_cast(struct query_check *c, const struct query_scope *sc, const struct expr *e,
	       const struct query_node **ret)
{
	const struct type *to = &e->cast;
	struct query_node *n = query_node_new(c, NODE_CAST, 1);

	if (n == NULL || query_expr(c, sc, e->args[0], &n->args[0]) < 0)
		return -1;
	n->type = *to;
	n->order = type_info(to->id)->is_text ? n->args[0]->order : ORDER_PLAIN;
	if (e->nargs == 1 && query_can_cast(n->args[0], to))
		*ret = n;
	else if (to->id == n->args[0]->type.id && !type_info(to->id)->is_text)
		*ret = n->args[0];
	else
		return query_refuse(c, e->line, "This CAST or CONVERT of a column");
	return 0;
}

/* The separator is a constant, as T-SQL wants it. */
static int string_agg(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		      struct query_node *n)
{
	if (query_expr(c, sc, e->args[1], &n->args[1]) < 0)
		return -1;
	if (n->args[1]->kind != NODE_VALUE || !may_be(n->args[0], 't')) {
		err_raise(c->ev->err, 8733, 16, 1,
			  "Separator parameter for STRING_AGG must be a string literal or variable.");
		return query_fail(c, e->line);
	}
	return query_as_text(c, n->args[0], &n->args[0]) < 0 ? -1 : query_as_text(c, n->args[1], &n->args[1]);
}

int query_aggregate(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		    const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_AGGREGATE, e->nargs);
	struct type type = { 0 };

	if (n == NULL)
		return -1;
	n->op = e->op;
	n->distinct = e->distinct;
	n->nullable = e->op != AGG_COUNT && e->op != AGG_COUNT_BIG;
	if (e->nargs > 0) {
		if (query_expr(c, sc, e->args[0], &n->args[0]) < 0)
			return -1;
		type = n->args[0]->type;
		if ((e->op == AGG_SUM || e->op == AGG_AVG) && !query_is_whole(n->args[0]) &&
		    !query_is_float(&type))
			return query_refuse(c, e->line, "SUM or AVG of a column that is not a number");
		if (e->op == AGG_MIN || e->op == AGG_MAX || e->op == AGG_STRING)
			n->order = n->args[0]->order;
	}
	if (e->op == AGG_STRING && string_agg(c, sc, e, n) < 0)
		return -1;
	n->type = tsql_infer_type(e, e->nargs > 0 ? &type : NULL);
	*ret = n;
	return 0;
}

int query_row_number(struct query_check *c, const struct query_scope *sc, const struct expr *e,
		     const struct query_node **ret)
{
	struct query_node *n = query_node_new(c, NODE_ROW_NUMBER, e->nargs);
	struct query_order_item *over = arena_array(c->ev->arena, e->nover, sizeof(*over));

	if (n == NULL || over == NULL)
		return err_nomem(c->ev->err);
	if (!c->windows_allowed) {
		err_raise(c->ev->err, 4108, 15, 1,
			  "Windowed functions can only appear in the SELECT or ORDER BY clauses.");
		return query_fail(c, e->line);
	}
	for (size_t i = 0; i < e->nargs; i++) {
		if (query_expr(c, sc, e->args[i], &n->args[i]) < 0)
			return -1;
	}
	for (size_t i = 0; i < e->nover; i++) {
		if (query_expr(c, sc, e->over[i].expr, &over[i].expr) < 0)
			return -1;
		over[i].descending = e->over[i].descending;
	}
	n->over = over;
	n->nover = e->nover;
	n->type = TYPE_OF(TYPE_BIGINT);
	n->nullable = true;
	*ret = n;
	return 0;
}
