/* sandbox.c — what a client's SELECT may touch: the readable views of its service, and a list of
 * harmless functions. SQLite asks the authorizer for every table, column and function when it
 * compiles a text. A view reads tables that the client may not read itself; SQLite tells through
 * which view it happens. A common table expression could carry a view's name, though, so being
 * "inside a view" is not enough: only those columns pass that a view really reads. These are
 * collected once, when the store is opened. One thing it cannot tell: count(*) of a view looks
 * like count(*) of the table behind it, so that rows of such tables can be counted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sqlite/store/store_int.h"

#define GRANTS_MAX 10000

static const char *const functions[] = {
	"abs",          "avg",
	"cast",         "ceil",
	"ceiling",      "char",
	"coalesce",     "count",
	"cume_dist",    "date",
	"datetime",     "dense_rank",
	"exp",          "first_value",
	"floor",        "glob",
	"group_concat", "hex",
	"ifnull",       "iif",
	"instr",        "json_each",
	"json_extract", "julianday",
	"lag",          "last_value",
	"lead",         "length",
	"like",         "ln",
	"log",          "log10",
	"lower",        "ltrim",
	"max",          "min",
	"mod",          "nth_value",
	"ntile",        "nullif",
	"percent_rank", "pi",
	"pow",          "power",
	"quote",        "rank",
	"replace",      "round",
	"row_number",   "rtrim",
	"sign",         "sqrt",
	"strftime",     "substr",
	"substring",    "sum",
	"time",         "total",
	"trim",         "trunc",
	"tsql_cast",    "tsql_charindex",
	"tsql_left",    "tsql_len",
	"tsql_like",    "tsql_lower",
	"tsql_nlike",   "tsql_replace",
	"tsql_right",   "tsql_substring",
	"tsql_upper",   "typeof",
	"unhex",        "unicode",
	"unixepoch",    "upper",
};

static bool same(const char *a, const char *b)
{
	return sqlite3_stricmp(a, b) == 0;
}

static bool is_view(const struct store *st, const char *table)
{
	if (same(table, "json_each")) /* of rows that the session made: a value like others */
		return true;
	for (size_t i = 0; i < st->service->nviews; i++) {
		if (st->service->views[i].store_name != NULL && same(st->service->views[i].store_name, table))
			return true;
	}
	return false;
}

static bool is_granted(const struct store *st, const char *table, const char *name)
{
	for (size_t i = 0; i < st->ngrants; i++) {
		const struct store_grant *g = &st->grants[i];

		if ((g->table == NULL) == (table == NULL) && (table == NULL || same(g->table, table)) &&
		    same(g->name, name))
			return true;
	}
	return false;
}

static bool may_call(const struct store *st, const char *function)
{
	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		if (same(functions[i], function))
			return true;
	}
	return is_granted(st, NULL, function);
}

static int deny(struct store_conn *c, const char *what)
{
	snprintf(c->denied, sizeof(c->denied), "%.150s", what == NULL ? "statement" : what);
	return SQLITE_DENY;
}

int store_authorize(void *arg, int action, const char *a, const char *b, const char *schema,
		    const char *inner)
{
	struct store_conn *c = arg;

	(void)schema;
	if (!c->sandbox)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT: return SQLITE_OK;
	case SQLITE_FUNCTION: return may_call(c->store, b) ? SQLITE_OK : deny(c, b);
	case SQLITE_READ:
		if (is_view(c->store, a) || ((inner != NULL || b[0] == '\0') && is_granted(c->store, a, b)))
			return SQLITE_OK;
		return deny(c, a);
	default: return deny(c, a);
	}
}

static bool grant(struct store *st, const char *table, const char *name)
{
	struct store_grant *g;

	if (is_granted(st, table, name))
		return true;
	if (st->ngrants == st->grants_room) {
		size_t room = st->grants_room == 0 ? 64 : st->grants_room * 2;

		if (room > GRANTS_MAX || (g = realloc(st->grants, room * sizeof(*g))) == NULL)
			return false;
		st->grants = g;
		st->grants_room = room;
	}
	g = &st->grants[st->ngrants++];
	g->table = table == NULL ? NULL : strdup(table);
	g->name = strdup(name);
	return g->name != NULL && (table == NULL || g->table != NULL);
}

/* The authorizer while a view is compiled for the first time: remembers instead of judging. */
static int remember(void *arg, int action, const char *a, const char *b, const char *schema,
		    const char *inner)
{
	struct store_conn *c = arg;

	(void)schema;
	if (action == SQLITE_READ && inner != NULL && !(grant(c->store, a, b) && grant(c->store, a, "")))
		c->store->grants_failed = true;
	if (action == SQLITE_FUNCTION && !grant(c->store, NULL, b))
		c->store->grants_failed = true;
	return SQLITE_OK;
}

static int look_at(struct store_conn *c, const struct view *v, struct err *reterr)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", v->store_name);
	sqlite3_stmt *h = NULL;
	int rc;

	if (sql == NULL)
		return err_nomem(reterr);
	rc = sqlite3_prepare_v2(c->db, sql, -1, &h, NULL);
	sqlite3_free(sql);
	sqlite3_finalize(h);
	return rc == SQLITE_OK ? 0 : store_error(c, rc, reterr);
}

int store_grants_collect(struct store_conn *c, struct err *reterr)
{
	const struct service_procs *p = c->store->service;
	int rc = 0;

	if (sqlite3_set_authorizer(c->db, remember, c) != SQLITE_OK)
		return err_nomem(reterr);
	for (size_t i = 0; rc == 0 && i < p->nviews; i++)
		rc = p->views[i].store_name == NULL ? 0 : look_at(c, &p->views[i], reterr);
	if (sqlite3_set_authorizer(c->db, store_authorize, c) != SQLITE_OK || c->store->grants_failed)
		return err_nomem(reterr);
	return rc;
}

void store_grants_fini(struct store *st)
{
	for (size_t i = 0; i < st->ngrants; i++) {
		free(st->grants[i].table);
		free(st->grants[i].name);
	}
	free(st->grants);
}
