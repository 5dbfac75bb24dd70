/* function.c — functions, CAST, CASE and aggregates of a SELECT over views: the few that SQLite can compute with T-SQL's meaning. */
#include "tsql/query/translate.h"

#include <string.h>

#include "tsql/eval/dateparts.h"
#include "tsql/eval/functions.h"
#include "value/convert.h"

static bool is_text(const struct piece *p)
{
	return type_info(p->type.id)->is_text;
}

static bool is_integer(const struct piece *p)
{
	return type_info(p->type.id)->is_integer || p->type.id == TYPE_BIT;
}

/* $1 … $3 are the arguments; kinds says what each is: t text, n a whole number, f a number, = anything, but all of one type.
 * The store's functions tsql_… have T-SQL's meaning. */
static const struct {
	const char *name, *kinds, *sql;
} templates[] = {
	{ "UPPER", "t", "tsql_upper($1)" },
	{ "LOWER", "t", "tsql_lower($1)" },
	{ "LTRIM", "t", "ltrim($1, ' ')" },
	{ "RTRIM", "t", "rtrim($1, ' ')" },
	{ "TRIM", "t", "trim($1, ' ')" },
	{ "LEN", "t", "tsql_len($1)" },
	{ "SUBSTRING", "tnn", "tsql_substring($1, $2, $3)" },
	{ "LEFT", "tn", "tsql_left($1, $2)" },
	{ "RIGHT", "tn", "tsql_right($1, $2)" },
	{ "REPLACE", "ttt", "tsql_replace($1, $2, $3)" },
	{ "CHARINDEX", "tt", "tsql_charindex($1, $2)" },
	{ "ABS", "f", "abs($1)" },
	{ "ISNULL", "==", "coalesce($1, $2)" },
	{ "NULLIF", "==", "nullif($1, $2)" },
};

static int expand(struct query_translation *t, const char *sql, const struct str *args, struct str *ret)
{
	struct text all = { 0 };

	while (*sql != '\0') {
		const char *mark = strchr(sql, '$');
		size_t n = mark == NULL ? strlen(sql) : (size_t)(mark - sql);

		if (query_append(t, &all, (struct str){ sql, n }) < 0)
			return -1;
		sql += n;
		if (mark != NULL) {
			if (query_append(t, &all, args[sql[1] - '1']) < 0)
				return -1;
			sql += 2;
		}
	}
	*ret = text_str(&all);
	return 0;
}

static int unsupported(struct query_translation *t, const struct expr *e)
{
	struct str what = query_sql(t, "%s of a column", e->fn->name);
	char shown[80];

	str_copy(shown, sizeof(shown), what);
	return query_refuse(t, e->line, shown);
}

static bool may_be(const struct piece *p, char kind)
{
	switch (kind) {
	case 't': return p->constant || is_text(p) || is_integer(p);
	case 'n': return p->constant || is_integer(p);
	case 'f': return p->constant || is_integer(p) || p->type.id == TYPE_FLOAT;
	default: return true;
	}
}

static int use_as(struct query_translation *t, const struct piece *p, char kind, const struct type *result,
		  struct str *ret)
{
	const struct type number = TYPE_OF(TYPE_BIGINT);

	switch (kind) {
	case 't': return query_piece_text(t, p, ret);
	case 'n': return query_piece_sql(t, p, &number, ret);
	case '=': return query_piece_sql(t, p, result, ret);
	default: return query_piece_sql(t, p, NULL, ret);
	}
}

static int templated(struct query_translation *t, const struct scope *sc, const struct expr *e, size_t which,
		     struct piece *ret)
{
	const char *kinds = templates[which].kinds;
	struct piece p[3];
	struct type types[3];
	struct str args[3];

	if (e->nargs != strlen(kinds)) /* CHARINDEX has a third one */
		return unsupported(t, e);
	for (size_t i = 0; i < e->nargs; i++) {
		if (query_expr(t, sc, e->args[i], &p[i]) < 0)
			return -1;
		types[i] = p[i].type;
		if (!may_be(&p[i], kinds[i]))
			return unsupported(t, e);
	}
	*ret = (struct piece){ .type = infer_type(e, types), .nullable = true, .nocase = p[0].nocase };
	for (size_t i = 0; i < e->nargs; i++) {
		if (use_as(t, &p[i], kinds[i], &ret->type, &args[i]) < 0)
			return -1;
	}
	return expand(t, templates[which].sql, args, &ret->sql);
}

static int close_text(struct query_translation *t, struct text *all, struct str end, struct piece *ret)
{
	if (query_append(t, all, end) < 0)
		return -1;
	ret->sql = text_str(all);
	return 0;
}

/* COALESCE and IIF: results of one type, constants brought to it. */
static int chosen(struct query_translation *t, const struct scope *sc, const struct expr *e,
		  struct piece *ret)
{
	struct piece *p = arena_array(t->ev->arena, e->nargs, sizeof(*p));
	struct type *types = arena_array(t->ev->arena, e->nargs, sizeof(*types));
	size_t first = e->fn->call == fn_iif ? 1 : 0;
	struct text all = { 0 };
	struct str one;

	if (p == NULL || types == NULL)
		return err_nomem(t->ev->err);
	*ret = (struct piece){ .nullable = true };
	for (size_t i = first; i < e->nargs; i++) {
		if (query_expr(t, sc, e->args[i], &p[i]) < 0)
			return -1;
		types[i] = p[i].type;
		ret->nocase = ret->nocase || p[i].nocase;
	}
	ret->type = infer_type(e, types);
	if (query_append(t, &all, first == 1 ? STR("iif(") : STR("coalesce(")) < 0)
		return -1;
	if (first == 1 && (query_condition(t, sc, e->args[0], &one) < 0 || query_append(t, &all, one) < 0))
		return -1;
	for (size_t i = first; i < e->nargs; i++) {
		if ((i > 0 && query_append(t, &all, STR(", ")) < 0) ||
		    query_piece_sql(t, &p[i], &ret->type, &one) < 0 || query_append(t, &all, one) < 0)
			return -1;
	}
	return close_text(t, &all, STR(")"), ret);
}

static int concat(struct query_translation *t, const struct scope *sc, const struct expr *e,
		  struct piece *ret)
{
	struct text all = { 0 };
	struct str one;

	*ret = (struct piece){ .type = TYPE_LEN(TYPE_NVARCHAR, 4000) };
	for (size_t i = 0; i < e->nargs; i++) {
		struct piece p;

		if (query_expr(t, sc, e->args[i], &p) < 0)
			return -1;
		if (!p.constant && !is_text(&p) && !is_integer(&p))
			return unsupported(t, e);
		ret->nocase = ret->nocase || p.nocase;
		if (query_piece_text(t, &p, &one) < 0)
			return -1;
		one = query_sql(t, "%scoalesce(%.*s, '')", i > 0 ? " || " : "(", STR_ARG(one));
		if (one.n == 0 || query_append(t, &all, one) < 0)
			return -1;
	}
	return close_text(t, &all, STR(")"), ret);
}

/* What the catalogue says about a number or name in a column. $2 is the current database. */
static const struct {
	const char *name, *sql;
} lookups[] = {
	{ "DB_NAME", "(SELECT name FROM sys_databases WHERE database_id = $1)" },
	{ "DB_ID", "(SELECT database_id FROM sys_databases WHERE name = $1 COLLATE NOCASE)" },
	{ "SCHEMA_NAME",
	  "(SELECT name FROM sys_schemas WHERE schema_id = $1 AND database_name = $2 COLLATE NOCASE)" },
	{ "SCHEMA_ID", "(SELECT schema_id FROM sys_schemas WHERE name = $1 COLLATE NOCASE AND database_name "
		       "= $2 COLLATE NOCASE)" },
	{ "OBJECT_NAME",
	  "(SELECT name FROM sys_all_objects WHERE object_id = $1 AND database_name = $2 COLLATE NOCASE)" },
	{ "OBJECT_SCHEMA_NAME", "(SELECT s.name FROM sys_all_objects o JOIN sys_schemas s ON s.schema_id = "
				"o.schema_id AND s.database_name = o.database_name"
				" WHERE o.object_id = $1 AND o.database_name = $2 COLLATE NOCASE)" },
};

static int looked_up(struct query_translation *t, const struct scope *sc, const struct expr *e,
		     const char *sql, struct piece *ret)
{
	struct value database = value_text(TYPE_LEN(TYPE_NVARCHAR, 128), query_current_database(t));
	struct str args[2] = { { "", 0 }, { "", 0 } };
	struct piece p;

	if (e->nargs != 1)
		return unsupported(t, e);
	if (query_expr(t, sc, e->args[0], &p) < 0)
		return -1;
	if (!is_text(&p) && !is_integer(&p))
		return unsupported(t, e);
	if (query_piece_sql(t, &p, NULL, &args[0]) < 0 ||
	    (strstr(sql, "$2") != NULL && query_bind(t, &database, &args[1]) < 0))
		return -1;
	t->any_system = true; /* these views are in the system store */
	*ret = (struct piece){ .type = e->fn->type,
			       .nullable = true,
			       .nocase = type_info(e->fn->type.id)->is_text };
	return expand(t, sql, args, &ret->sql);
}

static int64_t ticks_of(enum datepart part)
{
	switch (part) {
	case PART_WEEK: return INT64_C(7) * 86400 * 300;
	case PART_DAY:
	case PART_DAYOFYEAR:
	case PART_WEEKDAY: return INT64_C(86400) * 300;
	case PART_HOUR: return 3600 * 300;
	case PART_MINUTE: return 60 * 300;
	case PART_SECOND: return 300;
	default: return 0;
	}
}

/* Dates are ticks in the store: adding and counting boundaries is whole-number arithmetic. */
static int dates(struct query_translation *t, const struct scope *sc, const struct expr *e, struct piece *ret)
{
	struct type dt = TYPE_OF(TYPE_DATETIME);
	int64_t unit = ticks_of((enum datepart)e->args[0]->literal.u.i);
	bool add = e->fn->call == fn_dateadd;
	struct piece a, b;
	struct str sa, sb;

	if (unit == 0 || query_expr(t, sc, e->args[1], &a) < 0 || query_expr(t, sc, e->args[2], &b) < 0)
		return unit == 0 ? unsupported(t, e) : -1;
	if ((!b.constant && b.type.id != TYPE_DATETIME) ||
	    (!a.constant && (add ? !is_integer(&a) : a.type.id != TYPE_DATETIME)) ||
	    (!add && e->args[0]->literal.u.i == PART_WEEK))
		return unsupported(t, e);
	if (query_piece_sql(t, &a, add ? NULL : &dt, &sa) < 0 || query_piece_sql(t, &b, &dt, &sb) < 0)
		return -1;
	*ret = (struct piece){ .type = add ? dt : e->fn->type, .nullable = true };
	if (add)
		ret->sql = query_sql(t, "(%.*s + CAST(%.*s AS INTEGER) * %lld)", STR_ARG(sb), STR_ARG(sa),
				     (long long)unit);
	else
		ret->sql = query_sql(t, "(%.*s / %lld - %.*s / %lld)", STR_ARG(sb), (long long)unit,
				     STR_ARG(sa), (long long)unit);
	return ret->sql.n == 0 ? -1 : 0;
}

int query_call(struct query_translation *t, const struct scope *sc, const struct expr *e, struct piece *ret)
{
	if (e->fn->call == fn_coalesce && strcmp(e->fn->name, "COALESCE") == 0)
		return chosen(t, sc, e, ret);
	if (e->fn->call == fn_iif)
		return chosen(t, sc, e, ret);
	if (e->fn->call == fn_concat)
		return concat(t, sc, e, ret);
	if (e->fn->call == fn_dateadd || e->fn->call == fn_datediff)
		return dates(t, sc, e, ret);
	for (size_t i = 0; i < ARRAY_LEN(templates); i++) {
		if (strcmp(templates[i].name, e->fn->name) == 0)
			return templated(t, sc, e, i, ret);
	}
	for (size_t i = 0; i < ARRAY_LEN(lookups); i++) {
		if (strcmp(lookups[i].name, e->fn->name) == 0)
			return looked_up(t, sc, e, lookups[i].sql, ret);
	}
	return unsupported(t, e);
}

static bool is_float(const struct type *t)
{
	return t->id == TYPE_FLOAT || t->id == TYPE_REAL;
}

/* Text and numbers lie in a column as they are: the store converts them as the evaluator would. Dates and GUIDs are not for it. */
static bool can_cast(const struct piece *p, const struct type *to)
{
	const struct type_info *info = type_info(to->id);
	bool from = is_text(p) || is_integer(p) || is_float(&p->type);

	return from && (info->is_text || info->is_integer || to->id == TYPE_BIT || is_float(to));
}

int query_cast(struct query_translation *t, const struct scope *sc, const struct expr *e, struct piece *ret)
{
	const struct type *to = &e->cast;
	struct piece p;

	if (query_expr(t, sc, e->args[0], &p) < 0)
		return -1;
	*ret = (struct piece){ .type = *to, .nullable = true, .nocase = p.nocase };
	if (e->nargs == 1 && can_cast(&p, to))
		ret->sql = query_sql(t, "tsql_cast(%.*s, %d, %d, %d)", STR_ARG(p.sql), (int)p.type.id,
				     (int)to->id, (int)to->length);
	else if (to->id == p.type.id && !type_info(to->id)->is_text)
		ret->sql = p.sql;
	else
		return query_refuse(t, e->line, "This CAST or CONVERT of a column");
	return ret->sql.n == 0 ? -1 : 0;
}

int query_case(struct query_translation *t, const struct scope *sc, const struct expr *e, struct piece *ret)
{
	size_t first = e->has_operand ? 1 : 0, end = e->nargs - (e->has_else ? 1 : 0);
	struct piece *p = arena_array(t->ev->arena, e->nargs, sizeof(*p));
	struct type *types = arena_array(t->ev->arena, e->nargs, sizeof(*types));
	struct text all = { 0 };
	struct str one, when;

	if (p == NULL || types == NULL)
		return err_nomem(t->ev->err);
	*ret = (struct piece){ .nullable = true };
	if (query_append(t, &all, STR("CASE")) < 0)
		return -1;
	for (size_t i = 0; i < e->nargs; i++) {
		if (expr_is_predicate(e->args[i]))
			continue;
		if (query_expr(t, sc, e->args[i], &p[i]) < 0)
			return -1;
		types[i] = p[i].type;
	}
	ret->type = infer_type(e, types);
	for (size_t i = first; i + 1 < end; i += 2) {
		if (e->has_operand ? query_compare(t, &p[0], "=", &p[i], &when) < 0
				   : query_condition(t, sc, e->args[i], &when) < 0)
			return -1;
		if (query_piece_sql(t, &p[i + 1], &ret->type, &one) < 0)
			return -1;
		one = query_sql(t, " WHEN %.*s THEN %.*s", STR_ARG(when), STR_ARG(one));
		if (one.n == 0 || query_append(t, &all, one) < 0)
			return -1;
	}
	if (e->has_else) {
		if (query_piece_sql(t, &p[e->nargs - 1], &ret->type, &one) < 0 ||
		    query_append(t, &all, STR(" ELSE ")) < 0 || query_append(t, &all, one) < 0)
			return -1;
	}
	return close_text(t, &all, STR(" END"), ret);
}

int query_aggregate(struct query_translation *t, const struct scope *sc, const struct expr *e,
		    struct piece *ret)
{
	static const char *const names[] = {
		[AGG_COUNT] = "count", [AGG_COUNT_BIG] = "count", [AGG_SUM] = "sum",
		[AGG_MIN] = "min",     [AGG_MAX] = "max",         [AGG_AVG] = "avg"
	};
	struct piece p;
	struct type type;
	struct str s;

	*ret = (struct piece){ .nullable = e->op != AGG_COUNT && e->op != AGG_COUNT_BIG };
	if (e->nargs == 0) {
		ret->type = infer_type(e, NULL);
		ret->sql = STR("count(*)");
		return 0;
	}
	if (query_expr(t, sc, e->args[0], &p) < 0 || query_piece_sql(t, &p, NULL, &s) < 0)
		return -1;
	if ((e->op == AGG_SUM || e->op == AGG_AVG) && !is_integer(&p) && p.type.id != TYPE_FLOAT &&
	    p.type.id != TYPE_REAL)
		return query_refuse(t, e->line, "SUM or AVG of a column that is not a number");
	type = p.type;
	ret->type = infer_type(e, &type);
	ret->nocase = p.nocase && (e->op == AGG_MIN || e->op == AGG_MAX);
	ret->sql = query_sql(t, "%s(%s%.*s%s)", names[e->op], e->distinct ? "DISTINCT " : "", STR_ARG(s),
			     p.nocase ? " COLLATE NOCASE" : "");
	if (e->op == AGG_AVG && is_integer(&p)) /* T-SQL's average of integers is one */
		ret->sql = query_sql(t, "CAST(%.*s AS INTEGER)", STR_ARG(ret->sql));
	return ret->sql.n == 0 ? -1 : 0;
}
