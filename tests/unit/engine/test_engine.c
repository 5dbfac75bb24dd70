/* test_engine.c — the seam, with the SQLite engine behind it: what is refused before any engine
 * sees it, calls of the server itself, transactions, statistics, copies. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "catalogue/catalogue.h"
#include "engine/ask.h"
#include "engine/sqlite/sqlite.h"

struct fixture {
	char dir[64];
	struct engine *engine;
	struct engine_database *db, *other; /* both of the state service */
	struct err err;
};

static struct engine_database *open_one(struct fixture *f, const char *name)
{
	const struct engine_open o = { .name = name, .service = SERVICE_STATE, .place = "", .identity = "" };
	struct engine_database *db;

	if (engine_open(f->engine, &o, &db, &f->err) < 0)
		fail_msg("%s", f->err.text);
	return db;
}

static int up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/procession-engine-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->engine = engine_sqlite_new(&(struct engine_sqlite_options){
		.dir = f->dir,
		.readers = 2,
		.limits = { .lock_timeout_ms = 10000, .max_queue = 100, .transaction_idle_s = 60 } });
	assert_non_null(f->engine);
	f->db = open_one(f, "One");
	f->other = open_one(f, "Two");
	*state = f;
	return 0;
}

static int down(void **state)
{
	struct fixture *f = *state;
	struct dirent *e;
	char path[400];
	DIR *d;

	engine_close(f->db);
	engine_close(f->other);
	engine_free(f->engine);
	d = opendir(f->dir);
	while ((e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", f->dir, e->d_name);
		if (e->d_name[0] != '.')
			unlink(path);
	}
	closedir(d);
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
	return 0;
}

static void remove_file(const struct fixture *f, const char *name)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	assert_int_equal(unlink(path), 0);
}

/* proc_AddItem. 0, or the error's number. */
static int add(struct fixture *f, struct engine_database *db, struct txn *t, const char *id)
{
	const struct argument args[] = {
		{ .name = STR("@id"), .value = value_varchar(id) },
		{ .name = STR("@item"), .value = value_bytes(TYPE_LEN(TYPE_VARBINARY, TYPE_MAX), "x", 1) },
		{ .name = STR("@timeout"), .value = value_int(TYPE_INT, 20) },
	};
	struct engine_answer a;

	if (engine_ask(db, "proc_AddItem", args, ARRAY_LEN(args), t, &a, &f->err) < 0)
		return f->err.number;
	engine_answer_fini(&a);
	return 0;
}

/* Adding it would fail; it is not left there. */
static bool has(struct fixture *f, struct engine_database *db, const char *id)
{
	struct txn *t = engine_begin(db, false);
	int number = add(f, db, t, id);

	engine_ask_rollback(t);
	assert_true(number == 0 || number == 2627);
	return number == 2627;
}

static void a_transaction_is_seen_when_it_is_committed(void **state)
{
	struct fixture *f = *state;
	struct engine_statistics s;
	struct txn *t = engine_begin(f->db, false);

	assert_int_equal(add(f, f->db, t, "a"), 0);
	assert_false(engine_txn_is_lost(t, &f->err));
	assert_ptr_equal(engine_txn_database(t), f->db);
	engine_statistics(f->db, &s);
	assert_int_equal(s.transactions, 1);
	assert_int_equal(engine_ask_commit(t, &f->err), 0);
	engine_statistics(f->db, &s);
	assert_int_equal(s.transactions, 0);
	assert_int_equal(s.waiting, 0);
	assert_int_equal(add(f, f->db, NULL, "a"), 2627);
	t = engine_begin(f->db, false);
	assert_int_equal(add(f, f->db, t, "b"), 0);
	engine_ask_rollback(t);
	assert_false(has(f, f->db, "b"));
	assert_true(has(f, f->db, "a"));
}

static void a_transaction_belongs_to_one_database(void **state)
{
	struct fixture *f = *state;
	struct txn *t = engine_begin(f->db, false);

	assert_int_equal(add(f, f->other, t, "a"), 50007);
	assert_non_null(strstr(f->err.text, "One"));
	assert_int_equal(add(f, f->db, t, "a"), 0); /* and is not harmed by that */
	assert_int_equal(engine_ask_commit(t, &f->err), 0);
	assert_true(has(f, f->db, "a"));
	assert_false(has(f, f->other, "a"));
}

static void completed(struct call *c)
{
	++*(int *)c->owner;
}

static void steps_of_a_transaction_need_one(void **state)
{
	static const struct {
		enum call_kind kind;
		int number;
	} steps[] = {
		{ CALL_COMMIT, 3902 }, { CALL_ROLLBACK, 3903 }, { CALL_SAVE, 628 }, { CALL_ROLLBACK_TO, 3903 }
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		int completions = 0;
		struct call c;

		memset(&c, 0, sizeof(c));
		call_begin(&c, steps[i].kind);
		c.complete = completed;
		c.owner = &completions;
		engine_submit(f->db, &c);
		assert_int_equal(completions, 1);
		assert_int_equal(c.rc, -1);
		assert_int_equal(c.err.number, steps[i].number);
	}
}

static void rows_of_an_answer_are_kept(void **state)
{
	struct fixture *f = *state;
	const struct engine_open o = {
		.name = "master", .service = SERVICE_SYSTEM, .place = "", .identity = ""
	};
	struct engine_database *master;
	struct engine_answer a;
	uint64_t n = 0;

	/* beside other databases a system database that is missing is not made anew */
	assert_int_equal(engine_open(f->engine, &o, &master, &f->err), -1);
	engine_close(f->db);
	engine_close(f->other);
	f->db = f->other = NULL;
	remove_file(f, "One.db");
	remove_file(f, "Two.db");
	if (engine_open(f->engine, &o, &master, &f->err) < 0)
		fail_msg("%s", f->err.text);
	assert_int_equal(engine_ask(master, "sp_datatype_info", NULL, 0, NULL, &a, &f->err), 0);
	for (const struct engine_row *r = a.rows.first; r != NULL; r = r->next)
		n += r->n == a.rows.first->n && !r->values[0].null;
	assert_true(n > 10);
	assert_int_equal(n, a.rows.n);
	engine_answer_fini(&a);
	assert_int_equal(engine_ask(master, "no_such_procedure", NULL, 0, NULL, &a, &f->err), -1);
	assert_int_equal(f->err.number, 2812);
	engine_close(master);
}

static bool stop_at_once(void *arg)
{
	++*(int *)arg;
	return false;
}

/* As it is now. */
static int copy_of(struct fixture *f, struct engine_database *db, const char *path,
		   bool (*goes_on)(void *arg), void *arg, struct err *reterr)
{
	struct engine_held *h = NULL;
	int rc;

	assert_int_equal(engine_hold(&db, 1, &h, &f->err), 0);
	rc = engine_backup(h, path, goes_on, arg, reterr);
	engine_release(h);
	return rc;
}

static void a_copy_is_of_one_moment(void **state)
{
	struct fixture *f = *state;
	struct engine_open o = {
		.name = "Copy", .service = SERVICE_STATE, .place = "Copy.db", .identity = ""
	};
	struct engine_database *copy;
	char path[200], *report, identity[ENGINE_IDENTITY];
	int asked = 0;

	snprintf(path, sizeof(path), "%s/Copy.db", f->dir);
	assert_int_equal(add(f, f->db, NULL, "a"), 0);
	assert_int_equal(copy_of(f, f->db, path, NULL, NULL, &f->err), 0);
	assert_int_equal(add(f, f->db, NULL, "b"), 0);
	assert_int_equal(copy_of(f, f->db, path, NULL, NULL, &f->err), -1); /* it exists */
	assert_non_null(strstr(f->err.text, "exist"));
	assert_int_equal(engine_open(f->engine, &o, &copy, &f->err), 0);
	assert_true(has(f, copy, "a"));
	assert_false(has(f, copy, "b"));
	assert_int_equal(engine_check(copy, &report, &f->err), 0);
	assert_string_equal(report, "ok");
	free(report);
	assert_string_equal(engine_place(copy), "Copy.db");
	assert_string_equal(engine_identity(copy), engine_identity(f->db));
	snprintf(identity, sizeof(identity), "%s", engine_identity(copy));
	assert_int_equal(engine_identity_renew(copy, &f->err), 0);
	assert_string_not_equal(engine_identity(copy), identity);
	engine_close(copy);
	unlink(path);
	/* 2 MiB more: whether to go on is asked between the pieces */
	for (int i = 0; i < 3000; i++) {
		char id[512];

		snprintf(id, sizeof(id), "%0500d", i);
		assert_int_equal(add(f, f->other, NULL, id), 0);
	}
	assert_int_equal(copy_of(f, f->other, path, stop_at_once, &asked, &f->err), -1);
	assert_int_equal(asked, 1);
	assert_int_equal(access(path, F_OK), -1); /* nothing half-made is left */
}

static void one_file_is_not_two_databases(void **state)
{
	struct fixture *f = *state;
	struct engine_open o = {
		.name = "Link", .service = SERVICE_STATE, .place = "Link.db", .identity = ""
	};
	struct engine_database *db;
	char from[200], to[200];

	snprintf(from, sizeof(from), "%s/One.db", f->dir);
	snprintf(to, sizeof(to), "%s/Link.db", f->dir);
	assert_int_equal(link(from, to), 0);
	assert_int_equal(engine_open(f->engine, &o, &db, &f->err), -1);
	assert_non_null(strstr(f->err.text, "'One', too"));
	o.place = "../x.db";
	assert_int_equal(engine_open(f->engine, &o, &db, &f->err), -1);
	assert_int_equal(f->err.number, 50021);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_transaction_is_seen_when_it_is_committed, up, down),
		cmocka_unit_test_setup_teardown(a_transaction_belongs_to_one_database, up, down),
		cmocka_unit_test_setup_teardown(steps_of_a_transaction_need_one, up, down),
		cmocka_unit_test_setup_teardown(rows_of_an_answer_are_kept, up, down),
		cmocka_unit_test_setup_teardown(a_copy_is_of_one_moment, up, down),
		cmocka_unit_test_setup_teardown(one_file_is_not_two_databases, up, down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
