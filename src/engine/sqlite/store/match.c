/* match.c — LIKE, GLOB, instr and replace in the place of SQLite's own, which take time that
 * doubles with every '%' or grows with text × pattern, and cannot be interrupted meanwhile.
 * These (value/pattern.h, value/text.h) do not, and look at the connection's interrupt as they
 * go. The meaning is SQLite's: letters of ASCII without case in LIKE, GLOB's sets, positions in
 * characters. */
#include "engine/sqlite/store/function.h"
#include "value/text.h"

static void answer(sqlite3_context *ctx, const struct pattern *k, struct str text)
{
	struct store_conn *c = sqlite3_user_data(ctx);

	if (k->text.n > (size_t)sqlite3_limit(c->db, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, -1))
		sqlite3_result_error(ctx, "LIKE or GLOB pattern too complex", -1);
	else
		store_function_match(ctx, k, text);
}

/* text LIKE pattern [ESCAPE e] is like(pattern, text [, e]). */
static void fn_like(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct pattern k = { .many = '%', .one = '_', .fold = true, .escape = { "", 0 } };

	if (store_function_any_null(n, v))
		return;
	k.text = store_function_text(v[0]);
	if (n > 2) {
		k.escape = store_function_text(v[2]);
		if (!pattern_is_escape(k.escape)) {
			sqlite3_result_error(ctx, "ESCAPE expression must be a single character", -1);
			return;
		}
	}
	answer(ctx, &k, store_function_text(v[1]));
}

static void fn_glob(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct pattern k = { .many = '*', .one = '?', .sets = true, .escape = { "", 0 } };

	if (store_function_any_null(n, v))
		return;
	k.text = store_function_text(v[0]);
	answer(ctx, &k, store_function_text(v[1]));
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
	struct meter m = store_function_meter(ctx);
	struct str where, what;
	size_t at = 0;
	int rc;

	if (store_function_any_null(n, v))
		return;
	if (blobs) {
		where = (struct str){ sqlite3_value_blob(v[0]), (size_t)sqlite3_value_bytes(v[0]) };
		what = (struct str){ sqlite3_value_blob(v[1]), (size_t)sqlite3_value_bytes(v[1]) };
	} else {
		where = store_function_text(v[0]);
		what = store_function_text(v[1]);
	}
	rc = what.n == 0 ? 1 : text_find(where, 0, what, &m, &at);
	if (rc < 0)
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	else
		sqlite3_result_int64(ctx, rc == 0 ? 0
					  : blobs ? (sqlite3_int64)at + 1
						  : characters((struct str){ where.p, at }) + 1);
}

static void fn_replace(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct str s, what;

	if (store_function_any_null(n, v))
		return;
	s = store_function_text(v[0]);
	what = store_function_text(v[1]);
	if (what.n == 0)
		sqlite3_result_value(ctx, v[0]);
	else
		store_function_replace(ctx, s, s, what, store_function_text(v[2]));
}

int store_match_functions(struct store_conn *c)
{
	static const struct function_entry table[] = {
		{ "like", 2, fn_like },   { "like", 3, fn_like },       { "glob", 2, fn_glob },
		{ "instr", 2, fn_instr }, { "replace", 3, fn_replace },
	};

	return store_function_register(c, table, ARRAY_LEN(table));
}
