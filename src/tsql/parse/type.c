/* type.c — the name of a type with its length or precision, as in DECLARE, CAST and parameter
 * declarations. */
#include "tsql/parse/parser.h"

#include <stdlib.h>

/* The names of more than one word that T-SQL takes: first word, second, third, type. */
static const struct {
	const char *word[3];
	const char *type;
} long_names[] = {
	{ { "national", "character", "varying" }, "nvarchar" },
	{ { "national", "char", "varying" }, "nvarchar" },
	{ { "national", "character", NULL }, "nchar" },
	{ { "national", "char", NULL }, "nchar" },
	{ { "national", "text", NULL }, "ntext" },
	{ { "character", "varying", NULL }, "varchar" },
	{ { "char", "varying", NULL }, "varchar" },
	{ { "binary", "varying", NULL }, "varbinary" },
	{ { "double", "precision", NULL }, "float" },
	{ { "character", NULL, NULL }, "char" },
};

static int long_name(struct parser *p, const char **ret)
{
	for (size_t i = 0; i < ARRAY_LEN(long_names); i++) {
		struct parser q = *p;
		size_t n = 0;

		while (n < 3 && long_names[i].word[n] != NULL &&
		       tsql_token_is(&q.tok, long_names[i].word[n])) {
			if (tsql_parse_next(&q) < 0)
				return -1;
			n++;
		}
		if (n == 3 || long_names[i].word[n] == NULL) {
			*ret = long_names[i].type;
			p->lx = q.lx;
			p->tok = q.tok;
			return 1;
		}
	}
	return 0;
}

static int unknown_type(struct parser *p, struct str name, int index, int line)
{
	char shown[129];

	str_copy(shown, sizeof(shown), name);
	err_set(p->err, ERR_NO_TYPE, index, shown);
	return tsql_parse_fail(p, line);
}

/* A number between the parentheses. */
static int number(struct parser *p, int *ret)
{
	long v = 0;

	if (p->tok.kind != T_INT)
		return tsql_parse_syntax(p);
	for (size_t i = 0; i < p->tok.text.n && v < 1000000; i++)
		v = v * 10 + (p->tok.text.p[i] - '0');
	*ret = (int)v;
	return tsql_parse_next(p);
}

static int bad_length(struct parser *p, int line, int n)
{
	err_raise(p->err, 1001, 15, 1, "Line %d: Length or precision specification %d is invalid.", line, n);
	return tsql_parse_fail(p, line);
}

static int too_wide(struct parser *p, int line, const struct type_info *info, int n, int most)
{
	err_raise(p->err, 131, 15, 3,
		  "The size (%d) given to the type '%s' exceeds the maximum allowed (%d).", n, info->name,
		  most);
	return tsql_parse_fail(p, line);
}

static int set_length(struct parser *p, const struct type_info *info, int line, int n, struct type *t)
{
	int most = info->is_unicode ? 4000 : 8000;

	if (n < 1)
		return bad_length(p, line, n);
	if (n > most)
		return too_wide(p, line, info, n, most);
	t->length = n;
	return 0;
}

static int set_precision(struct parser *p, const struct type_info *info, int line, int a, int b,
			 struct type *t)
{
	if (t->id == TYPE_FLOAT || t->id == TYPE_REAL) {
		if (a < 1 || a > 53)
			return bad_length(p, line, a);
		*t = TYPE_OF(a <= 24 ? TYPE_REAL : TYPE_FLOAT);
		return 0;
	}
	if (a < 1)
		return bad_length(p, line, a);
	if (a > 38)
		return too_wide(p, line, info, a, 38);
	if (b > a) {
		err_raise(p->err, 192, 15, 1, "The scale must be less than or equal to the precision.");
		return tsql_parse_fail(p, line);
	}
	t->precision = (uint8_t)a;
	t->scale = (uint8_t)b;
	return 0;
}

static int sizes(struct parser *p, int line, int index, struct type *t)
{
	const struct type_info *info = type_info(t->id);
	int a = 0, b = -1, rc;

	if (tsql_parse_expect_op(p, '(') < 0)
		return -1;
	if (tsql_parse_is(p, "max") && info->has_length &&
	    (t->id == TYPE_VARCHAR || t->id == TYPE_NVARCHAR || t->id == TYPE_VARBINARY)) {
		t->length = TYPE_MAX;
		return tsql_parse_next(p) < 0 ? -1 : tsql_parse_expect_op(p, ')');
	}
	if (number(p, &a) < 0)
		return -1;
	rc = tsql_parse_accept_op(p, ',');
	if (rc < 0 || (rc > 0 && number(p, &b) < 0) || tsql_parse_expect_op(p, ')') < 0)
		return -1;
	if (b < 0 && info->has_length && !type_is_max(t))
		return set_length(p, info, line, a, t);
	if (info->has_precision || (b < 0 && (t->id == TYPE_FLOAT || t->id == TYPE_REAL)))
		return set_precision(p, info, line, a, b < 0 ? 0 : b, t);
	if (b < 0 && info->has_scale) {
		if (a > 7) {
			err_raise(p->err, 1002, 15, 1, "Line %d: Specified scale %d is invalid.", line, a);
			return tsql_parse_fail(p, line);
		}
		t->scale = (uint8_t)a;
		return 0;
	}
	err_raise(p->err, 2716, 16, 1,
		  "Column, parameter, or variable #%d: Cannot specify a column width on data type %s.", index,
		  info->name);
	return tsql_parse_fail(p, line);
}

int tsql_parse_type(struct parser *p, bool in_cast, int index, struct type *ret)
{
	int line = p->tok.line, rc;
	const char *joined = NULL;
	struct str parts[4];
	struct type t;

	rc = long_name(p, &joined);
	if (rc < 0)
		return -1;
	if (rc > 0) {
		parts[3] = str_of(joined);
	} else {
		if (tsql_parse_is(p, "TABLE"))
			return tsql_parse_not_supported(p, line, "A table variable",
							"Call the stored procedures instead.");
		if (tsql_parse_is(p, "CURSOR"))
			return tsql_parse_not_supported(
				p, line, "A cursor", "Use SELECT and let the client walk through the rows.");
		if (tsql_parse_dotted_name(p, NULL, parts, NULL) < 0)
			return -1;
	}
	if (!type_by_name(parts[3], &t))
		return unknown_type(p, parts[3], index, line);
	if (in_cast && !str_eq_nocase(parts[3], STR("sysname")) && type_info(t.id)->has_length &&
	    t.length == 1)
		t.length = 30;
	if (tsql_parse_is_op(p, '(') && sizes(p, line, index, &t) < 0)
		return -1;
	*ret = t;
	return 0;
}
