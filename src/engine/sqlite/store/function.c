/* function.c — see function.h. */
#include "engine/sqlite/store/function.h"

#include "value/text.h"

#define STEPS_UNASKED 262144

static bool stop_now(void *arg)
{
	struct store_conn *c = arg;

	return c->stop != NULL && c->stop(c->stop_arg);
}

struct meter store_function_meter(sqlite3_context *ctx)
{
	return (struct meter){ .left = STEPS_UNASKED, .stop = stop_now, .arg = sqlite3_user_data(ctx) };
}

struct str store_function_text(sqlite3_value *v)
{
	const char *p = (const char *)sqlite3_value_text(v);

	return (struct str){ p == NULL ? "" : p, p == NULL ? 0 : (size_t)sqlite3_value_bytes(v) };
}

bool store_function_any_null(int n, sqlite3_value **v)
{
	for (int i = 0; i < n; i++) {
		if (sqlite3_value_type(v[i]) == SQLITE_NULL)
			return true;
	}
	return false;
}

char *store_function_room(sqlite3_context *ctx, size_t n)
{
	struct store_conn *c = sqlite3_user_data(ctx);
	char *dst;

	if (n > (size_t)sqlite3_limit(c->db, SQLITE_LIMIT_LENGTH, -1)) {
		sqlite3_result_error_toobig(ctx);
		return NULL;
	}
	dst = sqlite3_malloc64(n + 1);
	if (dst == NULL)
		sqlite3_result_error_nomem(ctx);
	return dst;
}

void store_function_return(sqlite3_context *ctx, char *dst, size_t n)
{
	dst[n] = '\0';
	sqlite3_result_text64(ctx, dst, n, sqlite3_free, SQLITE_UTF8);
}

void store_function_match(sqlite3_context *ctx, const struct pattern *k, struct str text)
{
	struct meter m = store_function_meter(ctx);
	int rc = pattern_match(k, text, &m);

	if (rc < 0)
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	else
		sqlite3_result_int(ctx, rc);
}

/* Twice over the text: how long it becomes, then the copy. */
void store_function_replace(sqlite3_context *ctx, struct str s, struct str searched, struct str what,
			    struct str with)
{
	struct meter m = store_function_meter(ctx);
	size_t n;
	char *dst;

	if (text_replace(s, searched, what, with, &m, NULL, &n) < 0) {
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
		return;
	}
	dst = store_function_room(ctx, n);
	if (dst == NULL)
		return;
	if (text_replace(s, searched, what, with, &m, dst, &n) < 0) {
		sqlite3_free(dst);
		sqlite3_result_error_code(ctx, SQLITE_INTERRUPT);
	} else {
		store_function_return(ctx, dst, n);
	}
}

int store_function_register(struct store_conn *c, const struct function_entry *table, size_t n)
{
	const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = SQLITE_OK;

	for (size_t i = 0; i < n && rc == SQLITE_OK; i++)
		rc = sqlite3_create_function_v2(c->db, table[i].name, table[i].n, flags, c, table[i].fn, NULL,
						NULL, NULL);
	return rc;
}
