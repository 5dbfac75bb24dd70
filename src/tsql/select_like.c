/* select_like.c — LIKE over a column. SQLite's LIKE knows no sets of characters, its GLOB knows nothing else: a pattern with a set becomes GLOB over
 * lower case, any other becomes LIKE. Both fold the letters of ASCII, as value/pattern.c does. */
#include "tsql/select.h"

#include <string.h>

#include "tsql/functions.h"
#include "value/convert.h"

struct pattern {
	struct str from, escape;        /* escape: one character, or empty */
	size_t at;
	char *to;
	size_t n;
};

static bool is_escape(const struct pattern *p)
{
	size_t left = p->from.n - p->at;

	return p->escape.n > 0 && left > p->escape.n && memcmp(p->from.p + p->at, p->escape.p, p->escape.n) == 0;
}

/* Where the set that begins here ends: just behind its ']', which may also stand first in it. 0: nowhere. */
static size_t set_end(const struct pattern *p)
{
	size_t i = p->at + 1;
	const char *close;

	if (i < p->from.n && p->from.p[i] == '^')
		i++;
	if (i + 1 >= p->from.n)
		return 0;
	close = memchr(p->from.p + i + 1, ']', p->from.n - i - 1);
	return close == NULL ? 0 : (size_t)(close - p->from.p) + 1;
}

static bool has_set(struct pattern p)
{
	for (; p.at < p.from.n; p.at++) {
		if (is_escape(&p))
			p.at += p.escape.n;
		else if (p.from.p[p.at] == '[')
			return true;
	}
	return false;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* A character that means itself. */
static void glob_literal(struct pattern *p, char c)
{
	bool special = c == '*' || c == '?' || c == '[';

	if (special)
		p->to[p->n++] = '[';
	p->to[p->n++] = lower(c);
	if (special)
		p->to[p->n++] = ']';
}

/* A set means the same to both. One that is never closed matches nothing: neither does GLOB's. */
static void glob_set(struct pattern *p)
{
	size_t end = set_end(p);

	if (end == 0)
		end = p->from.n;
	while (p->at < end)
		p->to[p->n++] = lower(p->from.p[p->at++]);
}

static void to_glob(struct pattern *p)
{
	while (p->at < p->from.n) {
		if (is_escape(p)) {
			p->at += p->escape.n;
			glob_literal(p, p->from.p[p->at++]);
		} else if (p->from.p[p->at] == '[') {
			glob_set(p);
		} else if (p->from.p[p->at] == '%' || p->from.p[p->at] == '_') {
			p->to[p->n++] = p->from.p[p->at++] == '%' ? '*' : '?';
		} else {
			glob_literal(p, p->from.p[p->at++]);
		}
	}
}

/* The escape character of the result is '\\'. */
static void to_like(struct pattern *p)
{
	while (p->at < p->from.n) {
		bool literal = p->from.p[p->at] == '\\';

		if (is_escape(p)) {
			p->at += p->escape.n;
			literal = true;
		}
		if (literal && strchr("%_\\", p->from.p[p->at]) != NULL && p->from.p[p->at] != '\0')
			p->to[p->n++] = '\\';
		p->to[p->n++] = p->from.p[p->at++];
	}
}

/* The store's form of a pattern; ret_glob says which. */
static int translate(struct trans *t, const struct value *pattern, const struct value *escape, struct value *ret, bool *ret_glob)
{
	struct pattern p = { .escape = { "", 0 } };

	if (value_to_text(pattern, t->ev->arena, &p.from, t->ev->err) < 0 || (!escape->null && value_to_text(escape, t->ev->arena, &p.escape, t->ev->err) < 0))
		return -1;
	if (!escape->null && like_escape(p.escape, t->ev->err) < 0)
		return -1;
	if (p.from.n > SIZE_MAX / 4)
		return err_nomem(t->ev->err);
	p.to = arena_alloc_raw(t->ev->arena, 3 * p.from.n + 1);
	if (p.to == NULL)
		return err_nomem(t->ev->err);
	*ret_glob = has_set(p);
	if (*ret_glob)
		to_glob(&p);
	else
		to_like(&p);
	*ret = value_text(TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX), (struct str){ p.to, p.n });
	return 0;
}

static bool can_be_text(const struct piece *p)
{
	const struct type_info *info = type_info(p->type.id);

	return p->constant || info->is_text || info->is_integer || p->type.id == TYPE_BIT;
}

int t_like(struct trans *t, const struct scope *sc, const struct expr *e, struct str *ret)
{
	struct piece text, pat, esc = { .constant = true, .value = { .null = true } };
	struct str a, b;
	bool glob = false;

	if (t_expr(t, sc, e->args[0], &text) < 0 || t_expr(t, sc, e->args[1], &pat) < 0 || (e->nargs > 2 && t_expr(t, sc, e->args[2], &esc) < 0))
		return -1;
	if (!pat.constant || !esc.constant)
		return t_refuse(t, e->line, "LIKE with a pattern that is not constant");
	if (!can_be_text(&text))
		return t_refuse(t, e->line, "LIKE on this type of column");
	if (!pat.value.null) {
		const struct value written = pat.value;

		if (translate(t, &written, &esc.value, &pat.value, &glob) < 0)
			return t_fail(t, e->line);
	}
	if (t_use(t, &text, NULL, &a) < 0 || t_use(t, &pat, NULL, &b) < 0)
		return -1;
	*ret = t_sql(t, glob ? "(lower(%.*s) GLOB %.*s)" : "(%.*s LIKE %.*s ESCAPE '\\')", STR_ARG(a), STR_ARG(b));
	return ret->n == 0 ? -1 : 0;
}
