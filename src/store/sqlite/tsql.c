/* tsql.c — functions of text as T-SQL means them, for clients' SELECT over views (tsql/query/function.c): SQLite's own end a text at U+0000, count characters instead of
 * UTF-16 code units, know the case of ASCII only, and take lengths that T-SQL refuses. The evaluator computes the same with the same code (value/text.h, value/pattern.h). */
#include <string.h>

#include "base/utf.h"
#include "store/sqlite/function.h"
#include "value/text.h"

static void return_part(sqlite3_context *ctx, struct str s)
{
	sqlite3_result_text64(ctx, s.p, s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* Error 537: sqlite_error() tells it. */
static void bad_length(sqlite3_context *ctx, const char *function)
{
	struct sqlite_conn *c = sqlite3_user_data(ctx);

	c->bad_length = function;
	sqlite3_result_error(ctx, "a length is negative", -1);
}

static void fn_len(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	if (!function_any_null(n, v))
		sqlite3_result_int64(ctx, (sqlite3_int64)text_length(function_text(v[0])));
}

static void change_case(sqlite3_context *ctx, bool upper, sqlite3_value *v)
{
	struct str s = function_text(v);
	char *dst = function_any_null(1, &v) ? NULL : function_room(ctx, s.n);

	if (dst == NULL)
		return;
	text_change_case(s, upper, dst);
	function_return(ctx, dst, s.n);
}

static void fn_upper(sqlite3_context *ctx, int n, sqlite3_value **v) { (void)n; change_case(ctx, true, v[0]); }

static void fn_lower(sqlite3_context *ctx, int n, sqlite3_value **v) { (void)n; change_case(ctx, false, v[0]); }

static void fn_substring(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	if (function_any_null(n, v))
		return;
	if (sqlite3_value_int64(v[2]) < 0)
		bad_length(ctx, "LEFT or SUBSTRING");
	else
		return_part(ctx, text_part(function_text(v[0]), sqlite3_value_int64(v[1]), sqlite3_value_int64(v[2])));
}

static void fn_left(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	if (function_any_null(n, v))
		return;
	if (sqlite3_value_int64(v[1]) < 0)
		bad_length(ctx, "LEFT or SUBSTRING");
	else
		return_part(ctx, text_part(function_text(v[0]), 1, sqlite3_value_int64(v[1])));
}

static void fn_right(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	if (function_any_null(n, v))
		return;
	if (sqlite3_value_int64(v[1]) < 0)
		bad_length(ctx, "RIGHT");
	else
		return_part(ctx, text_right(function_text(v[0]), sqlite3_value_int64(v[1])));
}

/* CAST to char(n): as long as that, with blanks. n is a type's length. */
static void fn_char(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	size_t units = (size_t)sqlite3_value_int64(v[1]), blanks;
	struct str s;
	char *dst;

	if (function_any_null(n, v))
		return;
	s = text_part(function_text(v[0]), 1, (int64_t)units);
	blanks = units - utf16_units(s.p, s.n);
	dst = function_room(ctx, s.n + blanks);
	if (dst == NULL)
		return;
	memcpy(dst, s.p, s.n);
	memset(dst + s.n, ' ', blanks);
	function_return(ctx, dst, s.n + blanks);
}

/* A copy in lower case, owned by the caller; p NULL: SQLite has been told why not. */
static struct str folded(sqlite3_context *ctx, struct str s)
{
	char *dst = function_room(ctx, s.n);

	if (dst != NULL)
		text_fold(s, dst);
	return (struct str){ dst, s.n };
}

static void freed(struct str a, struct str b)
{
	sqlite3_free((char *)a.p);
	sqlite3_free((char *)b.p);
}

/* CHARINDEX(what, where) */
static void fn_charindex(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct meter m = function_meter(ctx);
	struct str what, where;
	size_t at = 0;
	int rc;

	if (function_any_null(n, v))
		return;
	what = folded(ctx, function_text(v[0]));
	where = folded(ctx, function_text(v[1]));
	if (what.p != NULL && where.p != NULL) {
		rc = what.n == 0 ? 0 : text_find(where, 0, what, &m, &at);
		if (rc < 0)
			sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
		else
			sqlite3_result_int64(ctx, rc == 0 ? 0 : (sqlite3_int64)utf16_units(where.p, at) + 1);
	}
	freed(what, where);
}

static void fn_replace(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct str s, searched, what;

	if (function_any_null(n, v))
		return;
	s = function_text(v[0]);
	if (function_text(v[1]).n == 0) {
		return_part(ctx, s);
		return;
	}
	searched = folded(ctx, s);
	what = folded(ctx, function_text(v[1]));
	if (searched.p != NULL && what.p != NULL)
		function_replace(ctx, s, searched, what, function_text(v[2]));
	freed(searched, what);
}

/* tsql_like(text, pattern [, escape]); the translation has made sure that ESCAPE has one character. */
static void fn_like(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct pattern k;

	if (function_any_null(n, v))
		return;
	k = pattern_of_tsql(function_text(v[1]), n > 2 ? function_text(v[2]) : STR(""));
	function_match(ctx, &k, function_text(v[0]));
}

int sqlite_tsql_functions(struct sqlite_conn *c)
{
	static const struct function_entry table[] = {
		{ "tsql_len", 1, fn_len }, { "tsql_upper", 1, fn_upper }, { "tsql_lower", 1, fn_lower }, { "tsql_substring", 3, fn_substring }, { "tsql_left", 2, fn_left },
		{ "tsql_right", 2, fn_right }, { "tsql_char", 2, fn_char }, { "tsql_charindex", 2, fn_charindex }, { "tsql_replace", 3, fn_replace },
		{ "tsql_like", 2, fn_like }, { "tsql_like", 3, fn_like },
	};

	return function_register(c, table, ARRAY_LEN(table));
}
