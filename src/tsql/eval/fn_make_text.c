/* fn_make_text.c — functions that make text from other things: CONCAT, CHAR, STR, QUOTENAME,
 * PARSENAME. */
#include "tsql/eval/functions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf.h"

/* All arguments from the first on, NULLs left out, with a separator between. */
static int joined(const struct fn_args *f, size_t first, struct str separator, bool skip_null,
		  struct value *ret)
{
	struct str *parts = arena_array(f->ev->arena, f->n, sizeof(*parts));
	size_t total = 0, n = 0;
	char *dst;

	if (parts == NULL)
		return err_nomem(f->ev->err);
	for (size_t i = first; i < f->n; i++) {
		if (f->v[i].null && skip_null)
			continue;
		if (!f->v[i].null && tsql_fn_text(f, i, &parts[n]) < 0)
			return -1;
		total += parts[n++].n + separator.n;
	}
	if (tsql_eval_room(f->ev, "The result of CONCAT", total) < 0)
		return -1;
	dst = arena_alloc_raw(f->ev->arena, total);
	if (dst == NULL)
		return err_nomem(f->ev->err);
	total = 0;
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && separator.n > 0) {
			memcpy(dst + total, separator.p, separator.n);
			total += separator.n;
		}
		if (parts[i].n > 0)
			memcpy(dst + total, parts[i].p, parts[i].n);
		total += parts[i].n;
	}
	return tsql_fn_return_text(f, (struct str){ dst, total }, ret);
}

int tsql_fn_concat(const struct fn_args *f, struct value *ret)
{
	return joined(f, 0, STR(""), true, ret);
}

int tsql_fn_concat_ws(const struct fn_args *f, struct value *ret)
{
	struct str separator = { "", 0 };

	if (!f->v[0].null && tsql_fn_text(f, 0, &separator) < 0)
		return -1;
	return joined(f, 1, separator, true, ret);
}

static int character(const struct fn_args *f, uint32_t c, struct value *ret)
{
	uint8_t unit[2] = { (uint8_t)c, (uint8_t)(c >> 8) };
	char *dst = arena_alloc_raw(f->ev->arena, 4);

	if (dst == NULL)
		return err_nomem(f->ev->err);
	*ret = value_text(f->expr->type, (struct str){ dst, utf8_from_utf16le(dst, unit, 2) });
	return 0;
}

int tsql_fn_char(const struct fn_args *f, struct value *ret)
{
	uint8_t byte;
	int64_t i;
	char *dst;

	if (tsql_fn_int(f, 0, &i) < 0)
		return -1;
	value_set_null(ret, f->expr->type);
	if (i < 0 || i > 255)
		return 0;
	byte = (uint8_t)i;
	dst = arena_alloc_raw(f->ev->arena, 4);
	if (dst == NULL)
		return err_nomem(f->ev->err);
	*ret = value_text(f->expr->type, (struct str){ dst, utf8_from_cp1252(dst, &byte, 1) });
	return 0;
}

int tsql_fn_nchar(const struct fn_args *f, struct value *ret)
{
	int64_t i;

	if (tsql_fn_int(f, 0, &i) < 0)
		return -1;
	value_set_null(ret, f->expr->type);
	return i < 0 || i > 0xFFFF ? 0 : character(f, (uint32_t)i, ret);
}

int tsql_fn_ascii(const struct fn_args *f, struct value *ret)
{
	uint8_t bytes[8];
	struct str s;

	if (tsql_fn_text(f, 0, &s) < 0)
		return -1;
	value_set_null(ret, f->expr->type);
	if (s.n == 0)
		return 0;
	s.n = utf8_prefix(s.p, s.n, 1);
	if (s.n == 0 || s.n > 4 || cp1252_from_utf8(bytes, s.p, s.n, NULL) == 0)
		bytes[0] = '?';
	*ret = value_int(TYPE_INT, bytes[0]);
	return 0;
}

int tsql_fn_unicode(const struct fn_args *f, struct value *ret)
{
	uint8_t units[16];
	struct str s;

	if (tsql_fn_text(f, 0, &s) < 0)
		return -1;
	value_set_null(ret, f->expr->type);
	if (s.n == 0)
		return 0;
	if (s.n > 4)
		s.n = 4;
	if (utf16le_from_utf8(units, s.p, s.n) >= 2)
		*ret = value_int(TYPE_INT, units[0] | units[1] << 8);
	return 0;
}

/* STR(number [, length [, decimals]]): right-aligned, stars when it does not fit. */
int tsql_fn_str(const struct fn_args *f, struct value *ret)
{
	int64_t length = 10, decimals = 0;
	char text[400], *dst;
	double d;
	int n;

	if (tsql_fn_float(f, 0, &d) < 0 || (f->n > 1 && tsql_fn_int(f, 1, &length) < 0) ||
	    (f->n > 2 && tsql_fn_int(f, 2, &decimals) < 0))
		return -1;
	if (length < 1 || length > 8000 || decimals < 0) {
		value_set_null(ret, f->expr->type);
		return 0;
	}
	if (decimals > 16)
		decimals = 16;
	n = snprintf(text, sizeof(text), "%.*f", (int)decimals, d);
	if (n > length && n - decimals <= length) /* fewer decimals make it fit */
		n = snprintf(text, sizeof(text), "%.*f", (int)(length - (n - decimals)), d);
	dst = arena_alloc_raw(f->ev->arena, (size_t)length);
	if (dst == NULL)
		return err_nomem(f->ev->err);
	if (n < 0 || n > length) {
		memset(dst, '*', (size_t)length);
	} else {
		memset(dst, ' ', (size_t)(length - n));
		memcpy(dst + length - n, text, (size_t)n);
	}
	return tsql_fn_return_text(f, (struct str){ dst, (size_t)length }, ret);
}

int tsql_fn_quotename(const struct fn_args *f, struct value *ret)
{
	struct str s, q = { "[", 1 };
	char open = '[', close = ']', *dst;
	size_t n = 0;

	if (tsql_fn_text(f, 0, &s) < 0 || (f->n > 1 && tsql_fn_text(f, 1, &q) < 0))
		return -1;
	value_set_null(ret, f->expr->type);
	if (utf16_units(s.p, s.n) > 128 || q.n == 0)
		return 0;
	switch (q.p[0]) {
	case '[':
	case ']': break;
	case '\'':
	case '"':
	case '`': open = close = q.p[0]; break;
	case '(':
	case ')':
		open = '(';
		close = ')';
		break;
	case '<':
	case '>':
		open = '<';
		close = '>';
		break;
	case '{':
	case '}':
		open = '{';
		close = '}';
		break;
	default: return 0;
	}
	dst = arena_alloc_raw(f->ev->arena, 2 * s.n + 2);
	if (dst == NULL)
		return err_nomem(f->ev->err);
	dst[n++] = open;
	for (size_t i = 0; i < s.n; i++) {
		dst[n++] = s.p[i];
		if (s.p[i] == close)
			dst[n++] = close;
	}
	dst[n++] = close;
	return tsql_fn_return_text(f, (struct str){ dst, n }, ret);
}

/* PARSENAME('a.b.c', 1) is 'c'; brackets and quotes are taken off. */
int tsql_fn_parsename(const struct fn_args *f, struct value *ret)
{
	struct str s, parts[4];
	size_t n = 0, i = 0;
	int64_t which;

	if (tsql_fn_text(f, 0, &s) < 0 || tsql_fn_int(f, 1, &which) < 0)
		return -1;
	value_set_null(ret, f->expr->type);
	while (i <= s.n && n < 4) {
		char close = i < s.n && s.p[i] == '[' ? ']' : i < s.n && s.p[i] == '"' ? '"' : '.';
		size_t from = close == '.' ? i : i + 1;

		for (i = from; i < s.n && s.p[i] != close; i++)
			;
		if (close != '.' && i >= s.n)
			return 0;
		parts[n++] = (struct str){ s.p + from, i - from };
		i += close != '.';
		if (i < s.n && s.p[i] != '.')
			return 0;
		if (i++ >= s.n)
			break;
	}
	if (i <= s.n || which < 1 || which > (int64_t)n || parts[n - (size_t)which].n == 0)
		return 0;
	return tsql_fn_return_text(f, parts[n - (size_t)which], ret);
}
