/* fn_text.c — functions of text. Positions count UTF-16 code units, as T-SQL's do; the text
 * itself is UTF-8. */
#include "tsql/eval/functions.h"

#include <stdio.h>
#include <string.h>

#include "base/utf.h"
#include "value/pattern.h"
#include "value/text.h"

/* Never longer than the declared result. */
int tsql_fn_return_text(const struct fn_args *f, struct str s, struct value *ret)
{
	struct type t = f->expr->type;

	if (!type_is_max(&t) && t.length > 0)
		s.n = utf8_prefix(s.p, s.n, (size_t)t.length);
	*ret = value_text(t, s);
	return 0;
}

static int return_int(int64_t i, struct value *ret)
{
	*ret = value_int(TYPE_INT, i);
	return 0;
}

int tsql_fn_len(const struct fn_args *f, struct value *ret)
{
	struct str s;

	if (type_info(f->v[0].type.id)->is_binary)
		return return_int((int64_t)f->v[0].u.s.n, ret);
	if (tsql_fn_text(f, 0, &s) < 0)
		return -1;
	return return_int((int64_t)text_length(s), ret);
}

int tsql_fn_datalength(const struct fn_args *f, struct value *ret)
{
	const struct value *v = f->v[0].type.id == TYPE_VARIANT ? f->v[0].u.variant : &f->v[0];
	const struct type_info *info = type_info(v->type.id);
	int64_t n = info->size;

	if (info->is_binary)
		n = (int64_t)v->u.s.n;
	else if (info->is_text)
		n = (int64_t)utf16_units(v->u.s.p, v->u.s.n) * (info->is_unicode ? 2 : 1);
	else if (v->type.id == TYPE_DECIMAL || v->type.id == TYPE_NUMERIC)
		n = v->type.precision <= 9    ? 5
		    : v->type.precision <= 19 ? 9
		    : v->type.precision <= 28 ? 13
					      : 17;
	else if (n == 0)
		n = type_max_bytes(&v->type);
	return return_int(n, ret);
}

static int change_case(const struct fn_args *f, bool upper, struct value *ret)
{
	struct str s;
	char *dst;

	if (tsql_fn_text(f, 0, &s) < 0)
		return -1;
	dst = arena_alloc_raw(f->ev->arena, s.n);
	if (dst == NULL)
		return err_nomem(f->ev->err);
	text_change_case(s, upper, dst);
	return tsql_fn_return_text(f, (struct str){ dst, s.n }, ret);
}

int tsql_fn_upper(const struct fn_args *f, struct value *ret)
{
	return change_case(f, true, ret);
}

int tsql_fn_lower(const struct fn_args *f, struct value *ret)
{
	return change_case(f, false, ret);
}

static int trim(const struct fn_args *f, bool left, bool right, struct value *ret)
{
	struct str s;

	return tsql_fn_text(f, 0, &s) < 0 ? -1 : tsql_fn_return_text(f, text_trim(s, left, right), ret);
}

int tsql_fn_ltrim(const struct fn_args *f, struct value *ret)
{
	return trim(f, true, false, ret);
}

int tsql_fn_rtrim(const struct fn_args *f, struct value *ret)
{
	return trim(f, false, true, ret);
}

int tsql_fn_trim(const struct fn_args *f, struct value *ret)
{
	return trim(f, true, true, ret);
}

static int bad_length(const struct fn_args *f, const char *name)
{
	return err_set(f->ev->err, ERR_BAD_LENGTH, name);
}

static struct str part_of_bytes(struct str s, int64_t start, int64_t n)
{
	if (start < 1) { /* what lies before the bytes counts, but is nothing */
		n = start + n > 1 ? start + n - 1 : 0;
		start = 1;
	}
	start = start - 1 > (int64_t)s.n ? (int64_t)s.n : start - 1;
	n = n > (int64_t)s.n - start ? (int64_t)s.n - start : n;
	return (struct str){ s.p + start, (size_t)n };
}

int tsql_fn_substring(const struct fn_args *f, struct value *ret)
{
	int64_t start, n;
	struct str s;

	if (tsql_fn_int(f, 1, &start) < 0 || tsql_fn_int(f, 2, &n) < 0)
		return -1;
	if (n < 0)
		return bad_length(f, "LEFT or SUBSTRING");
	if (type_info(f->v[0].type.id)->is_binary) {
		s = part_of_bytes(f->v[0].u.s, start, n);
		*ret = value_bytes(f->expr->type, s.p, s.n);
		return 0;
	}
	return tsql_fn_text(f, 0, &s) < 0 ? -1 : tsql_fn_return_text(f, text_part(s, start, n), ret);
}

int tsql_fn_left(const struct fn_args *f, struct value *ret)
{
	struct str s;
	int64_t n;

	if (tsql_fn_text(f, 0, &s) < 0 || tsql_fn_int(f, 1, &n) < 0)
		return -1;
	return n < 0 ? bad_length(f, "LEFT or SUBSTRING") : tsql_fn_return_text(f, text_part(s, 1, n), ret);
}

int tsql_fn_right(const struct fn_args *f, struct value *ret)
{
	struct str s;
	int64_t n;

	if (tsql_fn_text(f, 0, &s) < 0 || tsql_fn_int(f, 1, &n) < 0)
		return -1;
	return n < 0 ? bad_length(f, "RIGHT") : tsql_fn_return_text(f, text_right(s, n), ret);
}

static int folded(const struct fn_args *f, struct str s, struct str *ret)
{
	char *dst = arena_alloc_raw(f->ev->arena, s.n);

	if (dst == NULL)
		return err_nomem(f->ev->err);
	text_fold(s, dst);
	*ret = (struct str){ dst, s.n };
	return 0;
}

static int given_up(const struct fn_args *f)
{
	return err_set(f->ev->err, ERR_CANCELLED);
}

/* What a search found, as a number of code units from 1. */
static int return_place(const struct fn_args *f, int found, struct str where, size_t at, struct value *ret)
{
	if (found < 0)
		return given_up(f);
	return return_int(found == 0 ? 0 : (int64_t)utf16_units(where.p, at) + 1, ret);
}

int tsql_fn_charindex(const struct fn_args *f, struct value *ret)
{
	struct str what, where;
	int64_t start = 1;
	size_t from, at = 0;
	int rc;

	if (tsql_fn_text(f, 0, &what) < 0 || tsql_fn_text(f, 1, &where) < 0 || folded(f, what, &what) < 0 ||
	    folded(f, where, &where) < 0 || (f->n > 2 && tsql_fn_int(f, 2, &start) < 0))
		return -1;
	if (what.n == 0)
		return return_int(0, ret);
	from = start < 1 ? 0 : utf8_prefix(where.p, where.n, (size_t)(start - 1));
	rc = text_find(where, from, what, f->ev->meter, &at);
	return return_place(f, rc, where, at, ret);
}

int tsql_fn_patindex(const struct fn_args *f, struct value *ret)
{
	struct str text, where;
	struct pattern pattern;
	size_t at = 0;
	int rc;

	if (tsql_fn_text(f, 0, &text) < 0 || tsql_fn_text(f, 1, &where) < 0)
		return -1;
	pattern = pattern_of_tsql(text, STR(""), false);
	rc = pattern_find(&pattern, where, f->ev->meter, &at);
	return return_place(f, rc, where, at, ret);
}

/* Twice over the text: how long it becomes, then the copy. */
int tsql_fn_replace(const struct fn_args *f, struct value *ret)
{
	struct str s, what, with, low;
	size_t n;
	char *dst;

	if (tsql_fn_text(f, 0, &s) < 0 || tsql_fn_text(f, 1, &what) < 0 || tsql_fn_text(f, 2, &with) < 0 ||
	    folded(f, s, &low) < 0 || folded(f, what, &what) < 0)
		return -1;
	if (what.n == 0)
		return tsql_fn_return_text(f, s, ret);
	if (text_replace(s, low, what, with, f->ev->meter, NULL, &n) < 0)
		return given_up(f);
	if (tsql_eval_room(f->ev, "The result of REPLACE", n) < 0)
		return -1;
	dst = arena_alloc_raw(f->ev->arena, n);
	if (dst == NULL)
		return err_nomem(f->ev->err);
	if (text_replace(s, low, what, with, f->ev->meter, dst, &n) < 0)
		return given_up(f);
	return tsql_fn_return_text(f, (struct str){ dst, n }, ret);
}

static int repeated(const struct fn_args *f, struct str s, int64_t n, struct value *ret)
{
	struct type t = f->expr->type;
	size_t bytes;
	char *dst;

	if (n < 0) {
		value_set_null(ret, t);
		return 0;
	}
	if (!type_is_max(&t) && n > 8000)
		n = 8000;
	if (s.n == 0 || n == 0)
		return tsql_fn_return_text(f, STR(""), ret);
	if (__builtin_mul_overflow((uint64_t)n, s.n, &bytes))
		bytes = SIZE_MAX;
	if (tsql_eval_room(f->ev, "The result of REPLICATE", bytes) < 0)
		return -1;
	dst = arena_alloc_raw(f->ev->arena, bytes);
	if (dst == NULL)
		return err_nomem(f->ev->err);
	memcpy(dst, s.p, s.n);
	for (size_t have = s.n; have < bytes; have *= 2) /* each copy doubles what is there */
		memcpy(dst + have, dst, have < bytes - have ? have : bytes - have);
	return tsql_fn_return_text(f, (struct str){ dst, bytes }, ret);
}

int tsql_fn_replicate(const struct fn_args *f, struct value *ret)
{
	struct str s;
	int64_t n;

	return tsql_fn_text(f, 0, &s) < 0 || tsql_fn_int(f, 1, &n) < 0 ? -1 : repeated(f, s, n, ret);
}

int tsql_fn_space(const struct fn_args *f, struct value *ret)
{
	int64_t n;

	return tsql_fn_int(f, 0, &n) < 0 ? -1 : repeated(f, STR(" "), n, ret);
}

int tsql_fn_stuff(const struct fn_args *f, struct value *ret)
{
	struct str s, with = { "", 0 }, head, tail;
	int64_t start, n, all;
	char *dst;

	value_set_null(ret, f->expr->type);
	if (f->v[0].null || f->v[1].null || f->v[2].null)
		return 0;
	if (tsql_fn_text(f, 0, &s) < 0 || tsql_fn_int(f, 1, &start) < 0 || tsql_fn_int(f, 2, &n) < 0 ||
	    (!f->v[3].null && tsql_fn_text(f, 3, &with) < 0))
		return -1;
	all = (int64_t)utf16_units(s.p, s.n);
	if (start < 1 || start > all || n < 0)
		return 0;
	head = text_part(s, 1, start - 1);
	tail = n > all - start + 1 ? STR("") : text_part(s, start + n, all);
	if (tsql_eval_room(f->ev, "The result of STUFF", head.n + with.n + tail.n) < 0)
		return -1;
	dst = arena_alloc_raw(f->ev->arena, head.n + with.n + tail.n);
	if (dst == NULL)
		return err_nomem(f->ev->err);
	memcpy(dst, head.p, head.n);
	memcpy(dst + head.n, with.p, with.n);
	memcpy(dst + head.n + with.n, tail.p, tail.n);
	return tsql_fn_return_text(f, (struct str){ dst, head.n + with.n + tail.n }, ret);
}

/* Character by character, so that no UTF-8 form is torn. */
int tsql_fn_reverse(const struct fn_args *f, struct value *ret)
{
	struct str s;
	char *dst;

	if (tsql_fn_text(f, 0, &s) < 0)
		return -1;
	dst = arena_alloc_raw(f->ev->arena, s.n);
	if (dst == NULL)
		return err_nomem(f->ev->err);
	for (size_t i = 0; i < s.n;) {
		size_t len = 1;

		while (i + len < s.n && ((unsigned char)s.p[i + len] & 0xC0) == 0x80)
			len++;
		memcpy(dst + s.n - i - len, s.p + i, len);
		i += len;
	}
	return tsql_fn_return_text(f, (struct str){ dst, s.n }, ret);
}
