/* match.c — LIKE, GLOB, instr and replace in the place of SQLite's own, which take time that doubles with every '%' or grows with text × pattern, and cannot be
 * interrupted meanwhile. These (value/pattern.h, value/text.h) do not, and look at the connection's interrupt as they go. The meaning is SQLite's: letters of ASCII
 * without case in LIKE, GLOB's sets, positions in characters. */
#include "base/meter.h"
#include "store/sqlite/sqlite_int.h"
#include "value/pattern.h"
#include "value/text.h"

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

static void answer(sqlite3_context *ctx, const struct pattern *k, struct str text)
{
	struct meter m = meter_of(ctx);
	struct sqlite_conn *c = sqlite3_user_data(ctx);
	int rc;

	if (k->text.n > (size_t)sqlite3_limit(c->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1)) {
		sqlite3_result_error(ctx, "LIKE or GLOB pattern too complex", -1);
		return;
	}
	rc = pattern_match(k, text, &m);
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
	k.text = text_of(v[0]);
	if (n > 2) {
		k.escape = text_of(v[2]);
		if (!pattern_is_escape(k.escape)) {
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
	k.text = text_of(v[0]);
	answer(ctx, &k, text_of(v[1]));
}

/* ---- finding a text ---- */

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
	rc = what.n == 0 ? 1 : text_find(where, 0, what, &m, &at);
	if (rc < 0)
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	else
		sqlite3_result_int64(ctx, rc == 0 ? 0 : blobs ? (sqlite3_int64)at + 1 : characters((struct str){ where.p, at }) + 1);
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
	if (text_replace(s, s, what, with, &m, NULL, &length) < 0) {
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
	} else if (text_replace(s, s, what, with, &m, dst, &length) < 0) {
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
