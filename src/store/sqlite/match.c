/* match.c — LIKE, GLOB, instr and replace in the place of SQLite's own, which take time that doubles with every '%' or grows with text × pattern, and cannot be
 * interrupted meanwhile. These go back to the last '%' only, find texts in linear time, and look at the connection's interrupt as they go. The meaning is SQLite's:
 * letters of ASCII without case in LIKE, GLOB's sets, positions in characters. */
#define _GNU_SOURCE         /* memmem */
#include <string.h>

#include "base/meter.h"
#include "store/sqlite/sqlite_int.h"

#define STEPS_AT_ONCE 4096u
#define FIND_FIRST 1024u        /* bytes that are searched at once, at first … */
#define FIND_WINDOW ((size_t)1 << 20)   /* … and at last */

/* ---- counting ---- */

static bool stop_now(void *arg)
{
	struct sqlite_conn *c = arg;

	return c->stop != NULL && c->stop(c->stop_arg);
}

/* Short calls ask nothing: the virtual machine does between them. */
static struct meter meter_of(sqlite3_context *ctx)
{
	return (struct meter){ .left = 262144, .stop = stop_now, .arg = sqlite3_user_data(ctx) };
}

static struct str text_of(sqlite3_value *v)
{
	const char *p = (const char *)sqlite3_value_text(v);

	return (struct str){ p == NULL ? "" : p, p == NULL ? 0 : (size_t)sqlite3_value_bytes(v) };
}

static bool any_null(int n, sqlite3_value **v)
{
	for (int i = 0; i < n; i++) {
		if (sqlite3_value_type(v[i]) == SQLITE_NULL)
			return true;
	}
	return false;
}

/* ---- patterns ---- */

struct pattern {
	struct str p;
	char many, one;             /* % _ or * ? */
	bool sets, fold;
	struct str escape;          /* one character, or empty */
};

static size_t char_length(struct str s, size_t at)
{
	unsigned char c = (unsigned char)s.p[at];
	size_t n = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;

	return n > s.n - at ? s.n - at : n;
}

/* The bytes of a character as a number: they sort as the characters do. */
static uint32_t character(struct str s, size_t at, size_t len, bool fold)
{
	uint32_t c = 0;

	for (size_t i = 0; i < len; i++)
		c = c << 8 | (unsigned char)s.p[at + i];
	return fold && c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* [a-cx] at p.p[at]. Where it ends, or 0: it is never closed, and matches nothing. */
static size_t in_set(struct str p, size_t at, uint32_t c, bool *ret_match)
{
	bool negated = at + 1 < p.n && p.p[at + 1] == '^', found = false;
	size_t i = at + 1 + negated;

	for (bool first = true; i < p.n && (first || p.p[i] != ']'); first = false) {
		size_t len = char_length(p, i);
		uint32_t low = character(p, i, len, false), high = low;

		i += len;
		/* SQLite has no range that begins with ']' */
		if (!(first && low == ']') && i + 1 < p.n && p.p[i] == '-' && p.p[i + 1] != ']') {
			len = char_length(p, i + 1);
			high = character(p, i + 1, len, false);
			i += 1 + len;
		}
		found = found || (c >= low && c <= high);
	}
	*ret_match = found != negated;
	return i < p.n ? i + 1 : 0;
}

/* Does the pattern's element at *at match the character? Advances *at. */
static bool element(const struct pattern *k, size_t *at, uint32_t c)
{
	size_t len = char_length(k->p, *at), end;
	bool match = false;

	if (k->escape.n > 0 && len == k->escape.n && memcmp(k->p.p + *at, k->escape.p, len) == 0) {
		*at += len;
		if (*at >= k->p.n)
			return false;
		len = char_length(k->p, *at);
	} else if (k->sets && k->p.p[*at] == '[') {
		end = in_set(k->p, *at, c, &match);
		*at = end == 0 ? k->p.n : end;
		return match && end != 0;
	} else if (k->p.p[*at] == k->one) {
		*at += 1;
		return true;
	}
	match = character(k->p, *at, len, k->fold) == c;
	*at += len;
	return match;
}

static bool is_many(const struct pattern *k, size_t at)
{
	return at < k->p.n && k->p.p[at] == k->many && !(k->escape.n == 1 && k->escape.p[0] == k->many);
}

/* 1, 0, or -1: interrupted. Only the last '%' is ever gone back to: what an earlier one could take more, the last one can take as well. */
static int matches(const struct pattern *k, struct str text, struct meter *m)
{
	size_t t = 0, p = 0, back_t = 0, back_p = 0, steps = 0;
	bool passed = false;

	while (t < text.n || p < k->p.n) {
		if (is_many(k, p)) {
			passed = true;
			back_p = ++p;
			back_t = t;
			continue;
		}
		if (p < k->p.n && t < text.n) {
			size_t len = char_length(text, t), before = p;
			bool match = element(k, &p, character(text, t, len, k->fold));

			steps += p - before;
			if (steps >= STEPS_AT_ONCE) {
				if (!meter_spend(m, steps))
					return -1;
				steps = 0;
			}
			if (match) {
				t += len;
				continue;
			}
		}
		if (!passed || back_t >= text.n)
			return 0;
		back_t += char_length(text, back_t);
		t = back_t;
		p = back_p;
		steps++;
	}
	return 1;
}

static void answer(sqlite3_context *ctx, const struct pattern *k, struct str text)
{
	struct meter m = meter_of(ctx);
	struct sqlite_conn *c = sqlite3_user_data(ctx);
	int rc;

	if (k->p.n > (size_t)sqlite3_limit(c->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1)) {
		sqlite3_result_error(ctx, "LIKE or GLOB pattern too complex", -1);
		return;
	}
	rc = matches(k, text, &m);
	if (rc < 0)
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	else
		sqlite3_result_int(ctx, rc);
}

/* text LIKE pattern [ESCAPE e] is like(pattern, text [, e]). */
static void fn_like(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct pattern k = { .many = '%', .one = '_', .fold = true, .escape = { "", 0 } };

	if (any_null(n, v))
		return;
	k.p = text_of(v[0]);
	if (n > 2) {
		k.escape = text_of(v[2]);
		if (k.escape.n == 0 || char_length(k.escape, 0) != k.escape.n) {
			sqlite3_result_error(ctx, "ESCAPE expression must be a single character", -1);
			return;
		}
	}
	answer(ctx, &k, text_of(v[1]));
}

static void fn_glob(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct pattern k = { .many = '*', .one = '?', .sets = true, .escape = { "", 0 } };

	if (any_null(n, v))
		return;
	k.p = text_of(v[0]);
	answer(ctx, &k, text_of(v[1]));
}

/* ---- finding a text ---- */

/* Window by window: memmem is linear, but sees no interrupt. 1 and *ret_at, 0: not there, -1: interrupted. */
static int find(struct str where, size_t from, struct str what, struct meter *m, size_t *ret_at)
{
	size_t window = 4 * what.n + FIND_FIRST;

	while (what.n <= where.n && from <= where.n - what.n) {
		size_t left = where.n - from, n = left > window ? window : left;
		const char *at = memmem(where.p + from, n, what.p, what.n);

		if (!meter_spend(m, at == NULL ? n : (size_t)(at - where.p) - from + what.n))
			return -1;
		if (at != NULL) {
			*ret_at = (size_t)(at - where.p);
			return 1;
		}
		from += n - what.n + 1;
		if (window < FIND_WINDOW)
			window *= 2;
	}
	return 0;
}

static sqlite3_int64 characters(struct str s)
{
	sqlite3_int64 n = 0;

	for (size_t i = 0; i < s.n; i++)
		n += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return n;
}

/* instr(where, what): from 1, in characters, or in bytes if both are blobs. */
static void fn_instr(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	bool blobs = sqlite3_value_type(v[0]) == SQLITE_BLOB && sqlite3_value_type(v[1]) == SQLITE_BLOB;
	struct meter m = meter_of(ctx);
	struct str where, what;
	size_t at = 0;
	int rc;

	if (any_null(n, v))
		return;
	if (blobs) {
		where = (struct str){ sqlite3_value_blob(v[0]), (size_t)sqlite3_value_bytes(v[0]) };
		what = (struct str){ sqlite3_value_blob(v[1]), (size_t)sqlite3_value_bytes(v[1]) };
	} else {
		where = text_of(v[0]);
		what = text_of(v[1]);
	}
	rc = what.n == 0 ? 1 : find(where, 0, what, &m, &at);
	if (rc < 0)
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	else
		sqlite3_result_int64(ctx, rc == 0 ? 0 : blobs ? (sqlite3_int64)at + 1 : characters((struct str){ where.p, at }) + 1);
}

/* Copies with every what replaced; dst NULL: only how long it becomes. -1: interrupted. */
static int replaced(struct str s, struct str what, struct str with, struct meter *m, char *dst, size_t *ret_n)
{
	size_t from = 0, at, n = 0;
	int rc;

	while ((rc = find(s, from, what, m, &at)) > 0) {
		if (dst != NULL) {
			memcpy(dst + n, s.p + from, at - from);
			memcpy(dst + n + (at - from), with.p, with.n);
		}
		n += at - from + with.n;
		from = at + what.n;
	}
	if (dst != NULL)
		memcpy(dst + n, s.p + from, s.n - from);
	*ret_n = n + s.n - from;
	return rc;
}

static void fn_replace(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct sqlite_conn *c = sqlite3_user_data(ctx);
	struct meter m = meter_of(ctx);
	struct str s, what, with;
	size_t length;
	char *dst;

	if (any_null(n, v))
		return;
	s = text_of(v[0]);
	what = text_of(v[1]);
	with = text_of(v[2]);
	if (what.n == 0) {
		sqlite3_result_value(ctx, v[0]);
		return;
	}
	if (replaced(s, what, with, &m, NULL, &length) < 0) {
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
		return;
	}
	if (length > (size_t)sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, -1)) {
		sqlite3_result_error_toobig(ctx);
		return;
	}
	dst = sqlite3_malloc64(length + 1);
	if (dst == NULL) {
		sqlite3_result_error_nomem(ctx);
	} else if (replaced(s, what, with, &m, dst, &length) < 0) {
		sqlite3_free(dst);
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	} else {
		dst[length] = '\0';
		sqlite3_result_text64(ctx, dst, length, sqlite3_free, SQLITE_UTF8);
	}
}

int sqlite_match_functions(struct sqlite_conn *c)
{
	static const struct { const char *name; int n; void (*fn)(sqlite3_context *, int, sqlite3_value **); } table[] = {
		{ "like", 2, fn_like }, { "like", 3, fn_like }, { "glob", 2, fn_glob }, { "instr", 2, fn_instr }, { "replace", 3, fn_replace },
	};
	int rc = SQLITE_OK;

	for (size_t i = 0; i < ARRAY_LEN(table) && rc == SQLITE_OK; i++)
		rc = sqlite3_create_function_v2(c->db, table[i].name, table[i].n, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, c, table[i].fn, NULL, NULL, NULL);
	return rc;
}
