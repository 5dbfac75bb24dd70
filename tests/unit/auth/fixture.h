/* fixture.h — a system database of its own in a temporary folder, served by the engine; and the
 * administrator's connection to its file, beside it. */
#ifndef TESTS_AUTH_FIXTURE_H
#define TESTS_AUTH_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <sqlite3.h>

#include "auth/auth_int.h"
#include "engine/sqlite/sqlite.h"

struct fixture {
	char dir[64];
	struct engine *engine;
	struct engine_database *system;
	sqlite3 *db; /* the administrator's connection */
	struct auth *a;
};

static inline void run_sql(struct fixture *f, const char *sql)
{
	char *message = NULL;

	if (sqlite3_exec(f->db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
}

static inline struct fixture *fixture_new(void)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct engine_open o = {
		.name = "master", .service = SERVICE_SYSTEM, .place = "", .identity = ""
	};
	struct err e;
	char file[96];

	snprintf(f->dir, sizeof(f->dir), "/tmp/procession-auth-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->engine = engine_sqlite_new(&(struct engine_sqlite_options){
		.dir = f->dir, .readers = 2, .limits = { .lock_timeout_ms = 10000, .max_queue = 1000 } });
	assert_non_null(f->engine);
	if (engine_open(f->engine, &o, &f->system, &e) < 0)
		fail_msg("%s", e.text);
	snprintf(file, sizeof(file), "%s/system.db", f->dir);
	assert_int_equal(sqlite3_open(file, &f->db), SQLITE_OK);
	sqlite3_busy_timeout(f->db, 10000);
	return f;
}

static inline void fixture_free(struct fixture *f)
{
	static const char *const names[] = { "system.db", "system.db-wal", "system.db-shm",
					     "system.db-mark" };
	char path[128];

	auth_close(f->a);
	sqlite3_close(f->db);
	engine_close(f->system);
	engine_free(f->engine);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, names[i]);
		unlink(path);
	}
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
}

#endif
