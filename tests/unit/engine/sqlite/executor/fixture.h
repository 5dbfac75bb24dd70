/* fixture.h — a small service with procedures made by hand, an executor on a store that goes
 * away, and calls that a test can wait for. */
#ifndef TESTS_EXECUTOR_FIXTURE_H
#define TESTS_EXECUTOR_FIXTURE_H

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "catalogue/native.h"
#include "catalogue/query.h"
#include "engine/implement.h"
#include "engine/sqlite/executor/executor.h"

#define ENDLESS "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT "
#define ONE_STEP(...) \
	.steps = (const struct step[]){ __VA_ARGS__ }, \
	.nsteps = sizeof((const struct step[]){ __VA_ARGS__ }) / sizeof(struct step)
#define INT_PARAM(n) \
	{ \
		.name = n, .type = { TYPE_INT, 0, 0, 0 } \
	}

static const struct bind bind_two[] = { { BIND_PARAM, 0 }, { BIND_PARAM, 1 } };
static const struct bind bind_fields[] = { { BIND_PARAM, 0 }, { BIND_FIELD, 0 } };
static const struct bind bind_around[] = {
	{ BIND_NOW, 0 }, { BIND_LITERAL, 0 }, { BIND_LOGIN, 0 }, { BIND_DATABASE, 0 }
};
static const struct param fixture_params[] = {
	INT_PARAM("@id"), INT_PARAM("@n"), { .name = "@out", .type = { TYPE_INT, 0, 0, 0 }, .output = true }
};
static const struct param fixture_locals[] = { INT_PARAM("@local") };
static const uint16_t target_out[] = { 2 }, target_local[] = { 3 };
static const struct column fixture_columns[] = { { "id", { TYPE_INT, 0, 0, 0 }, false },
						 { "n", { TYPE_INT, 0, 0, 0 }, false } };

enum fixture_statement {
	S_PUT,
	S_FALSE,
	S_COUNT,
	S_SPIN,
	S_SPIN_WRITE,
	S_BUMP,
	S_ALL,
	S_EQUAL,
	S_RETURN,
	S_EACH,
	S_TRUE,
	S_SET,
	S_AROUND,
	S_N,
	S_LIMIT,
	S_FILL,
	S_ORPHAN,
	S_RENEW,
	S_PROMISE,
	S_TWO_MINUTES,
	S_PROMISES,
	S_LONG,
	S_LARGEST,
	S_ABOVE,
	S_LOSE,
	S_STATEMENTS
};
static const struct statement st[S_STATEMENTS] = {
	[S_PUT] = { "INSERT INTO item VALUES (?1, ?2)", bind_two, 2, S_PUT, true },
	[S_FALSE] = { "SELECT 0", NULL, 0, S_FALSE, false },
	[S_COUNT] = { "SELECT count(*), 0 FROM item", NULL, 0, S_COUNT, false },
	[S_SPIN] = { ENDLESS "count(*) FROM c", NULL, 0, S_SPIN, false },
	[S_SPIN_WRITE] = { "INSERT INTO other " ENDLESS "i FROM c", NULL, 0, S_SPIN_WRITE, true },
	[S_BUMP] = { "UPDATE item SET n = n + ?2 WHERE id = ?1 RETURNING n", bind_two, 2, S_BUMP, true },
	[S_ALL] = { "SELECT id, n FROM item ORDER BY id", NULL, 0, S_ALL, false },
	[S_EQUAL] = { "SELECT ?1 = ?2", bind_two, 2, S_EQUAL, false },
	[S_RETURN] = { "SELECT ?1 + 40", bind_two, 1, S_RETURN, false },
	[S_EACH] = { "INSERT INTO item VALUES (?1 + ?2, 0)", bind_fields, 2, S_EACH, true },
	[S_TRUE] = { "SELECT 1", NULL, 0, S_TRUE, false },
	[S_SET] = { "SELECT ?1 * 2", bind_two, 1, S_SET, false },
	[S_AROUND] = { "SELECT ?1 > 0 AND ?2 = 1 AND ?3 = 'me' AND ?4 = 'here'", bind_around, 4, S_AROUND,
		       false },
	[S_N] = { "SELECT ?4",
		  (const struct bind[]){
			  { BIND_PARAM, 0 }, { BIND_PARAM, 1 }, { BIND_PARAM, 2 }, { BIND_PARAM, 3 } },
		  4, S_N, false },
	/* not one page more than now: the disk is full */
	[S_LIMIT] = { "PRAGMA max_page_count = 1", NULL, 0, S_LIMIT, true },
	[S_FILL] = { "INSERT INTO other VALUES (zeroblob(100000))", NULL, 0, S_FILL, true },
	[S_ORPHAN] = { "INSERT INTO child VALUES (4711)", NULL, 0, S_ORPHAN, true },
	[S_RENEW] = { "UPDATE item SET n = ?2 WHERE id = ?1", bind_two, 2, S_RENEW, true },
	[S_PROMISE] = { "INSERT INTO promise VALUES (?1)", bind_two, 1, S_PROMISE, true },
	[S_TWO_MINUTES] = { "SELECT 120", NULL, 0, S_TWO_MINUTES, false },
	[S_LONG] = { "INSERT INTO other WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE "
		     "i < 1000000) SELECT max(i) FROM c",
		     NULL, 0, S_LONG, true },
	[S_ABOVE] = { "SELECT id, n FROM item WHERE n > ?1 ORDER BY id", bind_two, 1, S_ABOVE, false },
	/* the engine gives the whole transaction up */
	[S_LOSE] = { "INSERT OR ROLLBACK INTO item VALUES (?1, ?2)", bind_two, 2, S_LOSE, true },
	[S_LARGEST] = { "SELECT max(n) FROM item", NULL, 0, S_LARGEST, false },
	[S_PROMISES] = { "SELECT coalesce(sum(CASE phase WHEN 0 THEN 1 WHEN 1 THEN 100 ELSE 10000 END), 0) "
			 "FROM promise",
			 NULL, 0, S_PROMISES, false },
};

enum fixture_proc {
	P_PUT,
	P_PUT_FAIL,
	P_ALL,
	P_SPIN,
	P_SPIN_WRITE,
	P_BUMP,
	P_COUNT,
	P_BRANCH,
	P_EACH,
	P_NATIVE,
	P_AROUND,
	P_LIMIT,
	P_FILL,
	P_ORPHAN,
	P_RENEW,
	P_PROMISE,
	P_PROMISES,
	P_LONG,
	P_LARGEST,
	P_LOOK,
	P_COUNTED,
	P_LOSE,
	P_PROCS
};
#define COMMON \
	.service = SERVICE_STATE, .params = fixture_params, .nparams = 3, .locals = fixture_locals, \
	.nlocals = 1
static const struct proc procs[P_PROCS] = {
	[P_PUT] = { .name = "put",
		    .is_short = true,
		    COMMON,
		    ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_PUT] }) },
	[P_PUT_FAIL] = { .name = "put_fail",
			 .fails_with_status = true,
			 COMMON,
			 ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_PUT] },
				  { .kind = STEP_ROWS,
				    .stmt = &st[S_ALL],
				    .columns = fixture_columns,
				    .ncolumns = 2 },
				  { .kind = STEP_CHECK,
				    .stmt = &st[S_FALSE],
				    .number = 50003,
				    .severity = 16,
				    .text = "No {@id} and {@nothing}, {@out}." }) },
	[P_ALL] = { .name = "all",
		    .read_only = true,
		    COMMON,
		    ONE_STEP({ .kind = STEP_ROWS,
			       .stmt = &st[S_ALL],
			       .columns = fixture_columns,
			       .ncolumns = 2 }) },
	[P_SPIN] = { .name = "spin",
		     .read_only = true,
		     COMMON,
		     ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_SPIN] }) },
	[P_SPIN_WRITE] = { .name = "spin_write",
			   COMMON,
			   ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_SPIN_WRITE] }) },
	[P_BUMP] = { .name = "bump",
		     COMMON,
		     ONE_STEP({ .kind = STEP_SET,
				.stmt = &st[S_BUMP],
				.targets = target_out,
				.ntargets = 1 }) },
	[P_COUNT] = { .name = "count",
		      .read_only = true,
		      COMMON,
		      ONE_STEP({ .kind = STEP_SET,
				 .stmt = &st[S_COUNT],
				 .targets = target_out,
				 .ntargets = 1 },
			       { .kind = STEP_RUN, .stmt = &st[S_TRUE] }) },
	[P_BRANCH] = { .name = "branch",
		       COMMON,
		       ONE_STEP({ .kind = STEP_SET,
				  .stmt = &st[S_SET],
				  .targets = target_local,
				  .ntargets = 1 },
				{ .kind = STEP_IF, .stmt = &st[S_EQUAL], .jump = 4 },
				{ .kind = STEP_MESSAGE,
				  .stmt = &st[S_TRUE],
				  .number = 50002,
				  .severity = 10,
				  .text = "equal: {@id}" },
				{ .kind = STEP_RETURN, .stmt = &st[S_RETURN] },
				{ .kind = STEP_SET,
				  .stmt = &st[S_N],
				  .targets = target_out,
				  .ntargets = 1 }) },
	[P_EACH] = { .name = "each",
		     COMMON,
		     ONE_STEP({ .kind = STEP_EACH,
				.stmt = &st[S_EACH],
				.native = "test_count",
				.args = bind_two,
				.nargs = 2 }) },
	[P_NATIVE] = { .name = "native",
		       COMMON,
		       ONE_STEP({ .kind = STEP_NATIVE,
				  .native = "test_double",
				  .args = bind_two,
				  .nargs = 1,
				  .targets = target_out,
				  .ntargets = 1 }) },
	[P_LIMIT] = { .name = "limit", COMMON, ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_LIMIT] }) },
	[P_FILL] = { .name = "fill",
		     .is_short = true,
		     COMMON,
		     ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_FILL] }) },
	[P_LOSE] = { .name = "lose",
		     .flush_later = true,
		     .is_short = true,
		     COMMON,
		     ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_LOSE] }) },
	[P_ORPHAN] = { .name = "orphan", COMMON, ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_ORPHAN] }) },
	[P_RENEW] = { .name = "renew",
		      .flush_later = true,
		      .is_short = true,
		      COMMON,
		      ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_RENEW] }) },
	[P_LONG] = { .name = "long",
		     .flush_later = true,
		     .is_short = true,
		     COMMON,
		     ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_LONG] }) },
	[P_LARGEST] = { .name = "largest",
			.read_only = true,
			COMMON,
			ONE_STEP({ .kind = STEP_SET,
				   .stmt = &st[S_LARGEST],
				   .targets = target_out,
				   .ntargets = 1 }) },
	[P_LOOK] = { .name = "look",
		     .read_only = true,
		     .is_short = true,
		     COMMON,
		     ONE_STEP({ .kind = STEP_SET,
				.stmt = &st[S_LARGEST],
				.targets = target_out,
				.ntargets = 1 }) },
	[P_COUNTED] = { .name = "counted",
			COMMON,
			ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_RENEW] },
				 { .kind = STEP_IF, .test = TEST_NOTHING, .jump = 3 },
				 { .kind = STEP_RETURN, .number = 7 },
				 { .kind = STEP_ROWS,
				   .stmt = &st[S_ABOVE],
				   .columns = fixture_columns,
				   .ncolumns = 2 },
				 { .kind = STEP_IF, .test = TEST_NOTHING, .jump = 6 },
				 { .kind = STEP_RETURN, .number = 8 }) },
	[P_PROMISE] = { .name = "promise",
			.service = SERVICE_STATE,
			.params = fixture_params,
			.nparams = 1,
			ONE_STEP({ .kind = STEP_RUN, .stmt = &st[S_PROMISE] },
				 { .kind = STEP_RETURN, .stmt = &st[S_TWO_MINUTES] }) },
	/* how many of each phase, two digits each */
	[P_PROMISES] = { .name = "promises",
			 .read_only = true,
			 COMMON,
			 ONE_STEP({ .kind = STEP_SET,
				    .stmt = &st[S_PROMISES],
				    .targets = target_out,
				    .ntargets = 1 }) },
	[P_AROUND] = { .name = "around",
		       COMMON,
		       ONE_STEP({ .kind = STEP_CHECK,
				  .stmt = &st[S_AROUND],
				  .number = 50003,
				  .severity = 16,
				  .text = "no" }) },
};
static const char *const fixture_migrations[] = {
	"CREATE TABLE item (id INTEGER PRIMARY KEY, n INTEGER NOT NULL);"
	"CREATE TABLE other (i INTEGER);"
	"CREATE TABLE promise (phase INTEGER);"
	/* looked at by COMMIT */
	"CREATE TABLE child (item INTEGER REFERENCES item (id) DEFERRABLE INITIALLY DEFERRED);"
};
static const struct view fixture_views[] = { { .schema = "dbo",
					       .name = "Items",
					       .store_name = "view_items",
					       .columns = fixture_columns,
					       .ncolumns = 2 } };
static const struct service_procs fixture_service = {
	.name = "state",
	.procs = procs,
	.nprocs = P_PROCS,
	.nstatements = S_STATEMENTS,
	.migrations = fixture_migrations,
	.nmigrations = 1,
	.views = fixture_views,
	.nviews = 1,
	.views_sql = "DROP VIEW IF EXISTS view_items; CREATE VIEW view_items AS SELECT id, n FROM item",
};

/* A call with everything it needs; collects what comes. */
struct test_call {
	struct call call;
	struct sink sink;
	struct arena arena;
	struct value values[4];
	int events, rows, messages; /* in the sink */
	int refuse_row;             /* the sink is gone at this row; 0: never */
	int64_t last_row;           /* second column of the last row */
	char message[200];
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool done;
	int completions;
	pthread_t completed_by;
};

static inline struct test_call *of_sink(struct sink *s)
{
	return CONTAINER_OF(s, struct test_call, sink);
}
static inline int on_columns(struct sink *s, const struct column *c, size_t n)
{
	(void)c;
	(void)n;
	of_sink(s)->events++;
	return 0;
}
static inline int on_row(struct sink *s, const struct value *v, size_t n)
{
	struct test_call *t = of_sink(s);

	t->events++;
	t->last_row = v[n - 1].u.i;
	return ++t->rows == t->refuse_row ? -1 : 0;
}
static inline int on_rows_done(struct sink *s, uint64_t rows)
{
	(void)rows;
	of_sink(s)->events++;
	return 0;
}
static inline int on_message(struct sink *s, const struct err *e)
{
	struct test_call *t = of_sink(s);

	t->events++;
	t->messages++;
	snprintf(t->message, sizeof(t->message), "%d %s", e->number, e->text);
	return 0;
}
static inline size_t on_mark(struct sink *s)
{
	return (size_t)of_sink(s)->events;
}
static inline bool on_rewind(struct sink *s, size_t mark)
{
	of_sink(s)->events = (int)mark;
	of_sink(s)->rows = 0;
	return true;
}
static const struct sink_ops test_sink_ops = { on_columns, on_row,  on_rows_done,
					       on_message, on_mark, on_rewind };

static inline void on_complete(struct call *c)
{
	struct test_call *t = CONTAINER_OF(c, struct test_call, call);

	pthread_mutex_lock(&t->lock);
	t->done = true;
	t->completions++;
	t->completed_by = pthread_self();
	pthread_cond_signal(&t->wake);
	pthread_mutex_unlock(&t->lock);
}

static inline void call_init(struct test_call *t, enum fixture_proc p, int id, int n)
{
	memset(t, 0, sizeof(*t));
	arena_init(&t->arena, 1 << 20);
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->wake, NULL);
	t->sink.ops = &test_sink_ops;
	t->values[0] = value_int(TYPE_INT, id);
	t->values[1] = value_int(TYPE_INT, n);
	t->values[2] = t->values[3] = value_null(TYPE_OF(TYPE_INT));
	t->call.kind = CALL_PROC;
	t->call.proc = &procs[p];
	t->call.values = t->values;
	t->call.nvalues = 3;
	t->call.arena = &t->arena;
	t->call.sink = &t->sink;
	t->call.login = "me";
	t->call.database = "here";
	t->call.lock_timeout_ms = -1;
	t->call.complete = on_complete;
}

static inline void call_fini(struct test_call *t)
{
	arena_fini(&t->arena);
	pthread_cond_destroy(&t->wake);
	pthread_mutex_destroy(&t->lock);
}

static inline int call_wait(struct test_call *t)
{
	pthread_mutex_lock(&t->lock);
	while (!t->done)
		pthread_cond_wait(&t->wake, &t->lock);
	pthread_mutex_unlock(&t->lock);
	return t->call.rc;
}

static inline bool call_is_done(struct test_call *t)
{
	bool done;

	pthread_mutex_lock(&t->lock);
	done = t->done;
	pthread_mutex_unlock(&t->lock);
	return done;
}

struct fixture {
	pthread_rwlock_t commits;  /* as an engine has it for all its databases */
	struct engine_database db; /* what engine.h sees: its functions are those of the executor */
	struct store *store;
	struct executor *ex;
	struct executor_options options;
	struct err err;
};

static inline struct executor *executor_of(struct engine_database *db)
{
	return CONTAINER_OF(db, struct fixture, db)->ex;
}
static inline bool fixture_submit(struct engine_database *db, struct call *c)
{
	return executor_submit_quietly(executor_of(db), c);
}
static inline void fixture_wake(struct engine_database *db, bool alone)
{
	executor_wake(executor_of(db), alone);
}
static inline void fixture_cancel(struct engine_database *db, struct call *c)
{
	executor_cancel(executor_of(db), c);
}
static inline struct txn *fixture_begin(struct engine_database *db, bool snapshot)
{
	return executor_txn_new(executor_of(db), snapshot);
}
static inline size_t fixture_waits(struct engine_database *db, struct engine_wait *dst, size_t max)
{
	return executor_waits(executor_of(db), dst, max);
}
static const struct engine_ops fixture_ops = { .submit = fixture_submit,
					       .wake = fixture_wake,
					       .cancel = fixture_cancel,
					       .begin = fixture_begin,
					       .txn_is_lost = executor_txn_is_lost,
					       .txn_free = executor_txn_free,
					       .waits = fixture_waits };

static inline int fixture_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct store_options o = {
		.path = ":memory:", .name = "Test", .service = &fixture_service, .commits = &f->commits
	};
	struct engine e = { .ops = &fixture_ops,
			    .limits = { .execution_timeout_s = 60,
					.lock_timeout_ms = 60000,
					.transaction_idle_s = 60,
					.max_queue = 10000 } };

	pthread_rwlock_init(&f->commits, NULL);
	if (store_open(&o, &f->store, &f->err) < 0)
		fail_msg("%s", f->err.text);
	engine_database_init(&f->db, &e, "Test", SERVICE_STATE, true);
	f->options = (struct executor_options){ .database = &f->db, .store = f->store, .readers = 2 };
	*state = f;
	return 0;
}

static inline void fixture_start(struct fixture *f)
{
	if (executor_start(&f->options, &f->ex, &f->err) < 0)
		fail_msg("%s", f->err.text);
}

static inline void fixture_stop(struct fixture *f)
{
	executor_stop(f->ex);
	executor_free(f->ex);
	f->ex = NULL;
}

static inline int fixture_down(void **state)
{
	struct fixture *f = *state;

	fixture_stop(f);
	store_close(f->store);
	pthread_rwlock_destroy(&f->commits);
	free(f);
	return 0;
}

/* Runs one call and waits. Returns 0 or the error's number. */
static inline int32_t run_in(struct fixture *f, struct txn *txn, enum fixture_proc p, int id, int n)
{
	struct test_call t;
	int32_t number;

	call_init(&t, p, id, n);
	t.call.txn = txn;
	engine_submit(&f->db, &t.call);
	number = call_wait(&t) == 0 ? 0 : t.call.err.number;
	assert_int_equal(t.completions, 1);
	call_fini(&t);
	return number;
}

static inline int32_t run(struct fixture *f, enum fixture_proc p, int id, int n)
{
	return run_in(f, NULL, p, id, n);
}

static inline int number_of(struct fixture *f, enum fixture_proc p)
{
	struct test_call t;
	int n;

	call_init(&t, p, 0, 0);
	engine_submit(&f->db, &t.call);
	assert_int_equal(call_wait(&t), 0);
	n = (int)t.values[2].u.i;
	call_fini(&t);
	return n;
}

static inline int count_items(struct fixture *f)
{
	return number_of(f, P_COUNT);
}

/* COMMIT, ROLLBACK, SAVE, ROLLBACK TO. Returns 0 or the error's number. */
static inline int32_t txn_step(struct fixture *f, struct txn *txn, enum call_kind kind, const char *name)
{
	struct test_call t;
	int32_t number;

	call_init(&t, P_PUT, 0, 0);
	t.call.kind = kind;
	t.call.proc = NULL;
	t.call.savepoint = name;
	t.call.txn = txn;
	engine_submit(&f->db, &t.call);
	number = call_wait(&t) == 0 ? 0 : t.call.err.number;
	call_fini(&t);
	return number;
}

#endif
