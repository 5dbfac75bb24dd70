/* ask.c — see ask.h. The rows are kept in an arena until the call is over, since a call may be run
 * twice before it is answered: then its sink is told to go back. */
#include "engine/ask.h"

#include <assert.h>
#include <pthread.h>

#include "base/lock.h"
#include "catalogue/catalogue.h"

#define ANSWER_MOST ((size_t)16 << 20) /* bytes */

struct question {
	struct call call;
	struct sink sink;
	struct engine_answer answer;
	struct lock lock;
	pthread_cond_t wake;
	bool done; /* under the lock */
};

static int keep_columns(struct sink *s, const struct column *c, size_t n)
{
	(void)s, (void)c, (void)n;
	return 0;
}

static int keep_row(struct sink *s, const struct value *v, size_t n)
{
	struct engine_answer *a = &CONTAINER_OF(s, struct question, sink)->answer;

	return engine_rows_add(&a->rows, &a->arena, v, n);
}

static int keep_done(struct sink *s, uint64_t rows)
{
	(void)s, (void)rows;
	return 0;
}

static int keep_message(struct sink *s, const struct err *e)
{
	(void)s, (void)e;
	return 0;
}

static size_t keep_mark(struct sink *s)
{
	return (size_t)CONTAINER_OF(s, struct question, sink)->answer.rows.n;
}

static bool keep_rewind(struct sink *s, size_t mark)
{
	engine_rows_cut(&CONTAINER_OF(s, struct question, sink)->answer.rows, mark);
	return true;
}

static const struct sink_ops keep_ops = {
	.columns = keep_columns,
	.row = keep_row,
	.rows_done = keep_done,
	.message = keep_message,
	.mark = keep_mark,
	.rewind = keep_rewind,
};

static void completed(struct call *c)
{
	struct question *q = c->owner;

	lock_take(&q->lock);
	q->done = true;
	pthread_cond_signal(&q->wake);
	lock_give(&q->lock);
}

static void question_init(struct question *q, struct engine_database *db, enum call_kind kind,
			  struct txn *txn)
{
	call_begin(&q->call, kind);
	q->sink.ops = &keep_ops;
	q->answer = (struct engine_answer){ .status = 0 };
	arena_init(&q->answer.arena, ANSWER_MOST);
	lock_init(&q->lock);
	pthread_cond_init(&q->wake, NULL);
	q->done = false;
	q->call.arena = &q->answer.arena;
	q->call.sink = &q->sink;
	q->call.txn = txn;
	q->call.rights = RIGHT_EXECUTE | RIGHT_SELECT | RIGHT_ADMIN | RIGHT_MONITOR | RIGHT_SERVER;
	q->call.login = "procession";
	q->call.database = engine_name(db);
	q->call.lock_timeout_ms = -1;
	q->call.complete = completed;
	q->call.owner = q;
}

/* The thread that completed it may still hold the lock when done is seen: it is taken once more. */
static int question_run(struct question *q, struct engine_database *db, struct err *reterr)
{
	engine_submit(db, &q->call);
	lock_take(&q->lock);
	while (!q->done)
		lock_wait(&q->lock, &q->wake);
	lock_give(&q->lock);
	if (q->call.rc < 0)
		*reterr = q->call.err;
	return q->call.rc;
}

static void question_fini(struct question *q)
{
	pthread_cond_destroy(&q->wake);
	lock_fini(&q->lock);
}

int engine_ask(struct engine_database *db, const char *proc, const struct argument *args, size_t nargs,
	       struct txn *txn, struct engine_answer *ret, struct err *reterr)
{
	struct question q;
	int *origin, rc;

	question_init(&q, db, CALL_PROC, txn);
	q.call.proc = catalogue_find(engine_service(db), (struct str){ "", 0 }, str_of(proc));
	rc = q.call.proc == NULL ? err_set(reterr, ERR_NO_PROC, proc)
				 : catalogue_admit(&q.call, args, nargs, false, &origin, reterr);
	if (rc == 0)
		rc = question_run(&q, db, reterr);
	question_fini(&q);
	if (rc < 0) {
		arena_fini(&q.answer.arena);
		return -1;
	}
	*ret = q.answer;
	ret->status = q.call.status;
	ret->rows_changed = q.call.rows_changed;
	return 0;
}

void engine_answer_fini(struct engine_answer *a)
{
	arena_fini(&a->arena);
}

static int end(struct txn *txn, enum call_kind kind, struct err *reterr)
{
	struct engine_database *db = engine_txn_database(txn);
	struct question q;
	int rc;

	question_init(&q, db, kind, txn);
	rc = question_run(&q, db, reterr);
	question_fini(&q);
	arena_fini(&q.answer.arena);
	engine_txn_free(txn);
	return rc;
}

int engine_ask_commit(struct txn *txn, struct err *reterr)
{
	return end(txn, CALL_COMMIT, reterr);
}

void engine_ask_rollback(struct txn *txn)
{
	struct err ignored;

	(void)end(txn, CALL_ROLLBACK, &ignored);
}
