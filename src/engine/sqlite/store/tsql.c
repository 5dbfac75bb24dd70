/* tsql.c — functions of text and CAST as T-SQL means them, for clients' SELECT over views
 * (query/sqlite_expr.c): SQLite's own end a text at U+0000, count characters instead of UTF-16
 * code units, know the case of ASCII only, and take lengths and numbers that T-SQL refuses. The
 * evaluator computes the same with the same code (value/text.h, value/pattern.h). */
#include "base/arena.h"
#include "base/utf.h"
#include "engine/sqlite/store/function.h"
#include "value/compare.h"
#include "value/convert.h"
#include "value/text.h"

#define CAST_ROOM 65536 /* char(8000) filled with blanks, a number as text */

static void return_part(sqlite3_context *ctx, struct str s)
{
	sqlite3_result_text64(ctx, s.p, s.n, SQLITE_TRANSIENT, SQLITE_UTF8);
}

/* store_error() tells it. */
static void fail(sqlite3_context *ctx, const struct err *why)
{
	struct store_conn *c = sqlite3_user_data(ctx);

	c->failed = true;
	c->failure = *why;
	sqlite3_result_error(ctx, why->text, -1);
}

static void bad_length(sqlite3_context *ctx, const char *function)
{
	struct err e;

	err_set(&e, ERR_BAD_LENGTH, function);
	fail(ctx, &e);
}

static void fn_len(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	if (!store_function_any_null(n, v))
		sqlite3_result_int64(ctx, (sqlite3_int64)text_length(store_function_text(v[0])));
}

static void change_case(sqlite3_context *ctx, bool upper, sqlite3_value *v)
{
	struct str s = store_function_text(v);
	char *dst = store_function_any_null(1, &v) ? NULL : store_function_room(ctx, s.n);

	if (dst == NULL)
		return;
	text_change_case(s, upper, dst);
	store_function_return(ctx, dst, s.n);
}

static void fn_upper(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	(void)n;
	change_case(ctx, true, v[0]);
}

static void fn_lower(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	(void)n;
	change_case(ctx, false, v[0]);
}

static void fn_substring(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	if (store_function_any_null(n, v))
		return;
	if (sqlite3_value_int64(v[2]) < 0)
		bad_length(ctx, "LEFT or SUBSTRING");
	else
		return_part(ctx, text_part(store_function_text(v[0]), sqlite3_value_int64(v[1]),
					   sqlite3_value_int64(v[2])));
}

static void fn_left(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	if (store_function_any_null(n, v))
		return;
	if (sqlite3_value_int64(v[1]) < 0)
		bad_length(ctx, "LEFT or SUBSTRING");
	else
		return_part(ctx, text_part(store_function_text(v[0]), 1, sqlite3_value_int64(v[1])));
}

static void fn_right(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	if (store_function_any_null(n, v))
		return;
	if (sqlite3_value_int64(v[1]) < 0)
		bad_length(ctx, "RIGHT");
	else
		return_part(ctx, text_right(store_function_text(v[0]), sqlite3_value_int64(v[1])));
}

/* What lies in a column of this type: text, a whole number or a float, which is all that the
 * translation lets through. */
static struct value value_of(sqlite3_value *v, enum type_id id)
{
	struct value ret = value_int(id, 0);

	if (type_info(id)->is_text)
		return value_text(TYPE_LEN(id, TYPE_MAX), store_function_text(v));
	if (id == TYPE_FLOAT || id == TYPE_REAL)
		ret.u.f = sqlite3_value_double(v);
	else
		ret.u.i = sqlite3_value_int64(v);
	return ret;
}

/* tsql_cast(value, its type, the type that it becomes, its length): the types as numbers of enum
 * type_id, which only the translation writes. */
static void fn_cast(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct type to = TYPE_LEN((uint8_t)sqlite3_value_int(v[2]), sqlite3_value_int(v[3]));
	struct value value;
	struct arena arena;
	struct err e;

	if (store_function_any_null(n, v))
		return;
	value = value_of(v[0], (enum type_id)sqlite3_value_int(v[1]));
	arena_init(&arena, CAST_ROOM + (type_info(value.type.id)->is_text ? 3 * value.u.s.n : 0));
	if (value_convert(&value, &to, CONVERT_CAST, NULL, &arena, &value, &e) < 0)
		fail(ctx, &e);
	else if (type_info(to.id)->is_text)
		return_part(ctx, value.u.s);
	else if (to.id == TYPE_FLOAT || to.id == TYPE_REAL)
		sqlite3_result_double(ctx, value.u.f);
	else
		sqlite3_result_int64(ctx, value.u.i);
	arena_fini(&arena);
}

/* A copy in lower case, owned by the caller; p NULL: SQLite has been told why not. */
static struct str folded(sqlite3_context *ctx, struct str s)
{
	char *dst = store_function_room(ctx, s.n);

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
	struct meter m = store_function_meter(ctx);
	struct str what, where;
	size_t at = 0;
	int rc;

	if (store_function_any_null(n, v))
		return;
	what = folded(ctx, store_function_text(v[0]));
	where = folded(ctx, store_function_text(v[1]));
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

	if (store_function_any_null(n, v))
		return;
	s = store_function_text(v[0]);
	if (store_function_text(v[1]).n == 0) {
		return_part(ctx, s);
		return;
	}
	searched = folded(ctx, s);
	what = folded(ctx, store_function_text(v[1]));
	if (searched.p != NULL && what.p != NULL)
		store_function_replace(ctx, s, searched, what, store_function_text(v[2]));
	freed(searched, what);
}

/* tsql_like(text, pattern [, escape]); the translation has made sure that ESCAPE has one
 * character. */
static void fn_like(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct pattern k;

	if (store_function_any_null(n, v))
		return;
	k = pattern_of_tsql(store_function_text(v[1]), n > 2 ? store_function_text(v[2]) : STR(""), false);
	store_function_match(ctx, &k, store_function_text(v[0]));
}

/* The same where one of them is nvarchar. */
static void fn_nlike(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct pattern k;

	if (store_function_any_null(n, v))
		return;
	k = pattern_of_tsql(store_function_text(v[1]), n > 2 ? store_function_text(v[2]) : STR(""), true);
	store_function_match(ctx, &k, store_function_text(v[0]));
}

static int compare_exact(void *arg, int na, const void *a, int nb, const void *b)
{
	(void)arg;
	return text_compare_exact((struct str){ a, (size_t)na }, (struct str){ b, (size_t)nb });
}

static int compare_names(void *arg, int na, const void *a, int nb, const void *b)
{
	(void)arg;
	return text_compare((struct str){ a, (size_t)na }, (struct str){ b, (size_t)nb });
}

/* How texts compare in a client's SELECT (query/sqlite.c). No schema uses them: a file can be read
 * without them. */
static int collations(struct store_conn *c)
{
	int rc = sqlite3_create_collation_v2(c->db, "tsql_exact", SQLITE_UTF8, NULL, compare_exact, NULL);

	return rc != SQLITE_OK ? rc
			       : sqlite3_create_collation_v2(c->db, "tsql_names", SQLITE_UTF8, NULL,
							     compare_names, NULL);
}

int store_tsql_functions(struct store_conn *c)
{
	static const struct function_entry table[] = {
		{ "tsql_len", 1, fn_len },         { "tsql_upper", 1, fn_upper },
		{ "tsql_lower", 1, fn_lower },     { "tsql_substring", 3, fn_substring },
		{ "tsql_left", 2, fn_left },       { "tsql_right", 2, fn_right },
		{ "tsql_cast", 4, fn_cast },       { "tsql_charindex", 2, fn_charindex },
		{ "tsql_replace", 3, fn_replace }, { "tsql_like", 2, fn_like },
		{ "tsql_like", 3, fn_like },       { "tsql_nlike", 2, fn_nlike },
		{ "tsql_nlike", 3, fn_nlike },
	};
	int rc = store_function_register(c, table, ARRAY_LEN(table));

	return rc == SQLITE_OK ? collations(c) : rc;
}
