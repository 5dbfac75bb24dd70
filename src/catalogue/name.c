/* name.c — a procedure's name as clients write it: up to four parts between dots, each bare,
 * [bracketed] or "quoted", and ";1" behind. [E-COM-09]: "Database.dbo.proc_X" and
 * "Database..proc_X" are the same. The fourth part from the right would be another server: there
 * is none. */
#include "catalogue/catalogue.h"

#include <assert.h>

#define NAME_PARTS 4
#define NAME_UNITS 128 /* sysname */

struct name_reader {
	const char *p, *end;
	struct arena *arena;
	struct str whole;
	struct err *err;
};

/* The name itself is the best explanation, cut to what a message can hold. */
static int bad_name(struct name_reader *r)
{
	char shown[200];

	str_copy(shown, sizeof(shown), r->whole);
	return r->whole.n == 0 ? err_set(r->err, ERR_RPC_NAME) : err_set(r->err, ERR_NO_PROC, shown);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void skip_blanks(struct name_reader *r)
{
	while (r->p < r->end && is_blank(*r->p))
		r->p++;
}

/* [a]]b] and "a""b": the closing mark doubled stands for itself. */
static int get_delimited(struct name_reader *r, char close, struct str *ret)
{
	char *dst = arena_alloc(r->arena, (size_t)(r->end - r->p) + 1);
	size_t n = 0;

	if (dst == NULL)
		return err_nomem(r->err);
	for (r->p++; r->p < r->end; r->p++) {
		if (*r->p == close) {
			if (r->p + 1 >= r->end || r->p[1] != close)
				break;
			r->p++;
		}
		dst[n++] = *r->p;
	}
	if (r->p >= r->end || n == 0)
		return bad_name(r);
	r->p++;
	*ret = (struct str){ dst, n };
	return 0;
}

/* Every call of a procedure comes this way: what ends a bare part, or may not be in it, is
 * looked up. */
enum { IN_PART, ENDS_PART, BAD_IN_PART };
static const uint8_t bare[256] = {
	['.'] = ENDS_PART,   [';'] = ENDS_PART,    [' '] = ENDS_PART,    ['\t'] = ENDS_PART,
	['\r'] = ENDS_PART,  ['\n'] = ENDS_PART,   ['['] = BAD_IN_PART,  [']'] = BAD_IN_PART,
	['"'] = BAD_IN_PART, ['\''] = BAD_IN_PART, ['\0'] = BAD_IN_PART,
};

static int get_bare(struct name_reader *r, struct str *ret)
{
	const char *start = r->p;

	while (r->p < r->end && bare[(uint8_t)*r->p] == IN_PART)
		r->p++;
	if (r->p < r->end && bare[(uint8_t)*r->p] == BAD_IN_PART)
		return bad_name(r);
	*ret = (struct str){ start, (size_t)(r->p - start) };
	return 0;
}

static int get_part(struct name_reader *r, struct str *ret)
{
	int rc;

	skip_blanks(r);
	if (r->p < r->end && *r->p == '[')
		rc = get_delimited(r, ']', ret);
	else if (r->p < r->end && *r->p == '"')
		rc = get_delimited(r, '"', ret);
	else
		rc = get_bare(r, ret);
	if (rc == 0)
		skip_blanks(r);
	if (rc == 0 && ret->n > NAME_UNITS * 3)
		return bad_name(r);
	return rc;
}

/* ";1" is the only group number there is; "proc;2" names nothing. */
static int get_group_number(struct name_reader *r)
{
	r->p++;
	skip_blanks(r);
	if (r->p >= r->end || *r->p != '1')
		return bad_name(r);
	r->p++;
	skip_blanks(r);
	return r->p == r->end ? 0 : bad_name(r);
}

static int parse_parts(struct str text, struct arena *a, struct proc_name *ret, struct err *reterr)
{
	struct name_reader r = { text.p, text.p + text.n, a, str_trim(text), reterr };
	struct str parts[NAME_PARTS];
	size_t n = 0;

	for (;;) {
		int rc;

		if (n == NAME_PARTS)
			return bad_name(&r);
		rc = get_part(&r, &parts[n]);
		if (rc < 0)
			return rc;
		n++;
		if (r.p < r.end && *r.p == '.') {
			r.p++;
			continue;
		}
		break;
	}
	if (r.p < r.end && *r.p == ';') {
		int rc = get_group_number(&r);
		if (rc < 0)
			return rc;
	}
	if (r.p != r.end || parts[n - 1].n == 0 || (n == NAME_PARTS && parts[0].n != 0))
		return bad_name(&r);
	assert(n >= 1 && n <= NAME_PARTS && r.p == r.end); /* the whole text was read */
	ret->name = parts[n - 1];
	ret->schema = n > 1 ? parts[n - 2] : (struct str){ "", 0 };
	ret->database = n > 2 ? parts[n - 3] : (struct str){ "", 0 };
	return 0;
}

/* One bare part and nothing else, as nearly all are. */
static bool is_plain(struct str text)
{
	size_t i = 0;

	while (i < text.n && bare[(uint8_t)text.p[i]] == IN_PART)
		i++;
	return i == text.n && i > 0 && i <= NAME_UNITS;
}

int catalogue_name_parse(struct str text, struct arena *a, struct proc_name *ret, struct err *reterr)
{
	if (!is_plain(text))
		return parse_parts(text, a, ret, reterr);
	*ret = (struct proc_name){ .database = STR(""), .schema = STR(""), .name = text };
	return 0;
}
