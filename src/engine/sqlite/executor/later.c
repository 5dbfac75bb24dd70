/* later.c — large values that a writing call returns are read after its commit, by threads that
 * nobody waits for. The writer only looks how long the value is and takes the memory for it, so
 * that the call still fails as a whole where there is none; then the others have their turn,
 * while the value comes from the disk.
 *
 * The bytes must be those of the moment of the call. So the group ends with such a call:
 * whatever waits behind it has the next. And right after the commit, before the writer does
 * anything else, a connection that only reads begins a transaction: it sees this state, however
 * long the reading takes. Renewals that are held are not committed then; but they change no
 * value. Where no such connection can be had, the writer reads the value itself. */
#include <assert.h>

#include "base/thread.h"
#include "engine/sqlite/executor/executor_int.h"

#define LATER_FROM ((size_t)1 << 20) /* a smaller value is read faster than handed over */
#define CONNS_KEPT 4                 /* open while nobody reads */

struct later {
	struct list link;
	struct call *call;
	const struct step *step;
	int64_t row;
	uint8_t *dst; /* n bytes in the call's arena */
	size_t n;
	struct fetcher *from; /* has the state of the commit; NULL: not yet */
};

/* Only what looks at the value may follow: that is done when it has been read, on the same
 * connection. */
bool executor_later_may(const struct runner *r, const struct call *c, const struct step *s)
{
	if (!r->writer || c->txn != NULL)
		return false;
	for (const struct step *next = s + 1; next < c->proc->steps + c->proc->nsteps; next++) {
		if (next->kind != STEP_CHECK)
			return false;
	}
	return true;
}

int executor_later_fetch(struct runner *r, struct call *c, const struct step *s, int64_t row,
			 struct err *reterr)
{
	struct later *l;
	size_t n;

	if (store_fetch_size(r->conn, s->table, s->column, row, &n, reterr) < 0)
		return -1;
	if (n < LATER_FROM)
		return store_fetch(r->conn, s->table, s->column, row, c->arena, &c->values[s->targets[0]],
				   reterr);
	l = arena_alloc(c->arena, sizeof(*l));
	if (l == NULL)
		return err_nomem(reterr);
	*l = (struct later){ .call = c, .step = s, .row = row, .n = n, .dst = arena_alloc_raw(c->arena, n) };
	if (l->dst == NULL)
		return err_nomem(reterr);
	executor_notes(c)->later = l;
	return 0;
}

static int read_value(struct executor *ex, struct store_conn *conn, struct later *l)
{
	struct call *c = l->call;
	struct runner r = { .ex = ex, .conn = conn, .run = { .db = ex->db, .call = c } };

	if (store_fetch_into(conn, l->step->table, l->step->column, l->row, l->dst, l->n, &c->err) < 0)
		return -1;
	c->values[l->step->targets[0]] = value_bytes(TYPE_LEN(TYPE_VARBINARY, TYPE_MAX), l->dst, l->n);
	return executor_steps_run_from(&r, c, (unsigned)(l->step - c->proc->steps) + 1, &c->err);
}

/* ---- connections ---- */

static struct fetcher *fetcher_take(struct executor *ex)
{
	struct fetcher *f = NULL;

	lock_take(&ex->lock);
	for (unsigned i = 0; i < FETCHERS && f == NULL; i++) {
		if (!ex->fetching.fetchers[i].taken)
			f = &ex->fetching.fetchers[i];
	}
	if (f != NULL)
		f->taken = true;
	lock_give(&ex->lock);
	return f;
}

static void fetcher_give(struct executor *ex, struct fetcher *f)
{
	if (f->conn != NULL) {
		store_set_interrupt(f->conn, NULL, NULL);
		store_rollback(f->conn);
	}
	if (f - ex->fetching.fetchers >= CONNS_KEPT) {
		store_disconnect(f->conn);
		f->conn = NULL;
	}
	lock_take(&ex->lock);
	f->taken = false;
	lock_give(&ex->lock);
}

/* A transaction sees what is committed when it first looks. */
static bool see(struct executor *ex, struct fetcher *f, const struct later *l)
{
	struct err err;
	size_t n;

	if (f->conn == NULL && store_connect_now(ex->store, &f->conn, &err) < 0)
		return false;
	return store_begin(f->conn, &err) == 0 &&
	       store_fetch_size(f->conn, l->step->table, l->step->column, l->row, &n, &err) == 0 && n == l->n;
}

/* ---- threads ---- */

static bool was_cancelled(void *arg)
{
	struct call *c = arg;

	return atomic_load_explicit(&c->cancelled, memory_order_relaxed);
}

static void fetch(struct executor *ex, struct later *l)
{
	struct call *c = l->call;

	store_set_interrupt(l->from->conn, was_cancelled, c);
	if (read_value(ex, l->from->conn, l) < 0)
		engine_call_fail(c, &c->err);
	fetcher_give(ex, l->from);
	engine_call_complete(c);
}

static void *fetch_main(void *arg)
{
	struct executor *ex = arg;

	executor_thread_name(ex, 'f');
	lock_take(&ex->lock);
	for (;;) {
		struct list *item = list_pop(&ex->fetching.queue);

		if (item != NULL) {
			lock_give(&ex->lock);
			fetch(ex, CONTAINER_OF(item, struct later, link));
			lock_take(&ex->lock);
		} else if (ex->fetching.leaves) {
			break;
		} else {
			ex->fetching.idle++;
			lock_wait(&ex->lock, &ex->fetching.wake);
			ex->fetching.idle--;
		}
	}
	lock_give(&ex->lock);
	return NULL;
}

/* Under the lock. False: there is none, and none can be made. */
static bool fetch_thread(struct executor *ex)
{
	assert(lock_is_mine(&ex->lock));
	if (ex->fetching.idle > 0)
		pthread_cond_signal(&ex->fetching.wake);
	else if (ex->fetching.nthreads < FETCH_THREADS &&
		 thread_start(&ex->fetching.threads[ex->fetching.nthreads], fetch_main, ex) == 0)
		ex->fetching.nthreads++;
	return ex->fetching.nthreads > 0;
}

/* ---- the writer's part ---- */

void executor_later_committed(struct executor *ex, struct call *c)
{
	struct later *l = executor_notes(c)->later;
	struct fetcher *f = fetcher_take(ex);

	assert(executor_is_writer(ex) && l != NULL && l->from == NULL);
	if (f != NULL && see(ex, f, l)) {
		l->from = f;
		return;
	}
	if (f != NULL)
		fetcher_give(ex, f);
	executor_notes(c)->later = NULL;
	if (read_value(ex, ex->writer.runner.conn, l) < 0)
		engine_call_fail(c, &c->err);
}

void executor_later_complete(struct executor *ex, struct call *c)
{
	struct later *l = executor_notes(c)->later;
	bool taken;

	assert(l->from != NULL);
	lock_take(&ex->lock);
	taken = fetch_thread(ex);
	if (taken)
		list_append(&ex->fetching.queue, &l->link);
	lock_give(&ex->lock);
	if (!taken)
		fetch(ex, l);
}

void executor_later_init(struct executor *ex)
{
	list_init(&ex->fetching.queue);
}

void executor_later_stop(struct executor *ex)
{
	lock_take(&ex->lock);
	ex->fetching.leaves = true;
	pthread_cond_broadcast(&ex->fetching.wake);
	lock_give(&ex->lock);
	for (unsigned i = 0; i < ex->fetching.nthreads; i++)
		pthread_join(ex->fetching.threads[i], NULL);
	for (unsigned i = 0; i < FETCHERS; i++) {
		store_disconnect(ex->fetching.fetchers[i].conn);
		ex->fetching.fetchers[i].conn = NULL;
	}
}
