/* fixture.h — a small service of its own, with a store that goes away after each test. */
#ifndef TESTS_STORE_FIXTURE_H
#define TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "catalogue/query.h"
#include "engine/sqlite/store/store.h"

static const char *const fixture_migrations[] = {
	"CREATE TABLE item (id TEXT NOT NULL PRIMARY KEY, n INTEGER NOT NULL CHECK (n < 1000), code INTEGER "
	"UNIQUE) WITHOUT ROWID;"
	"CREATE TABLE part (id INTEGER PRIMARY KEY, item TEXT REFERENCES item (id));"
	"CREATE TABLE pair (a INTEGER, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;"
	"CREATE TABLE secret (word TEXT);"
	"INSERT INTO secret VALUES ('sesame');",
	"ALTER TABLE part ADD COLUMN size INTEGER",
};
static const struct column fixture_view_columns[] = { { "id", { TYPE_NVARCHAR, 0, 0, 100 }, false } };
static const struct view fixture_views[] = {
	{ .schema = "dbo",
	  .name = "Items",
	  .store_name = "view_items",
	  .columns = fixture_view_columns,
	  .ncolumns = 1 },
};
static const struct constraint_text fixture_constraints[] = {
	{ 2627, "item.code", "The code is taken." },
	{ 2627, "pair.a, pair.b", "The two are there." },
};
static const struct proc fixture_procs[] = { { .name = "p", .service = SERVICE_STATE } };
static const struct service_procs fixture_service = {
	.name = "state",
	.procs = fixture_procs,
	.nprocs = 1,
	.nstatements = 8,
	.migrations = fixture_migrations,
	.nmigrations = 2,
	.views = fixture_views,
	.nviews = 1,
	.views_sql = "DROP VIEW IF EXISTS view_items; CREATE VIEW view_items AS SELECT id, n, printf('%d', "
		     "n) AS shown FROM item;",
	.constraints = fixture_constraints,
	.nconstraints = 2,
};

struct fixture {
	struct store *store;
	struct store_conn *conn;
	struct err err;
};

static inline int fixture_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct store_options o = { .path = ":memory:", .name = "Test", .service = &fixture_service };

	if (store_open(&o, &f->store, &f->err) < 0 || store_connect(f->store, false, &f->conn, &f->err) < 0)
		fail_msg("%s", f->err.text);
	*state = f;
	return 0;
}

static inline int fixture_down(void **state)
{
	struct fixture *f = *state;

	store_disconnect(f->conn);
	store_close(f->store);
	free(f);
	return 0;
}

static inline int fixture_run(struct fixture *f, const char *sql)
{
	const struct statement s = { .sql = sql, .id = STATEMENT_ONCE, .writes = true };
	struct store_stmt *st;
	int rc;

	if (store_statement(f->conn, &s, &st, &f->err) < 0)
		return -1;
	while ((rc = store_step(st, &f->err)) > 0)
		;
	store_finish(st);
	return rc;
}

static inline int64_t fixture_number(struct fixture *f, const char *sql)
{
	const struct statement s = { .sql = sql, .id = STATEMENT_ONCE };
	const struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct store_stmt *st;
	struct value v;

	assert_int_equal(store_statement(f->conn, &s, &st, &f->err), 0);
	assert_int_equal(store_step(st, &f->err), 1);
	assert_int_equal(store_column(st, 0, &bigint, &v, &f->err), 0);
	store_finish(st);
	return v.null ? -1 : v.u.i;
}

#endif
