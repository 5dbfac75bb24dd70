/* engine.c — the way into an engine: what is to be refused whatever the engine is, and its own
 * table of functions behind that. */
#include "engine/engine.h"

#include <assert.h>

#include "base/clock.h"
#include "engine/implement.h"

/* The procedures of its service by their place in the table, then the other kinds of calls. */
static const char *counted_name(const void *arg, size_t i)
{
	static const char *const others[] = { [CALL_QUERY] = "SELECT",
					      [CALL_COMMIT] = "COMMIT",
					      [CALL_ROLLBACK] = "ROLLBACK",
					      [CALL_SAVE] = "SAVE",
					      [CALL_ROLLBACK_TO] = "ROLLBACK TO" };
	const struct service_procs *s = arg;

	return i < s->nprocs ? s->procs[i].name : others[i - s->nprocs + CALL_QUERY];
}

static void count_calls(struct engine_database *db, struct metrics *m)
{
	const struct service_procs *s = &catalogue_service_procs[db->service];
	const struct metrics_database_options o = { .name = db->name,
						    .service = s->name,
						    .n = (size_t)s->nprocs + CALL_ROLLBACK_TO,
						    .call_name = counted_name,
						    .arg = s };

	db->metrics = metrics_database_add(m, &o);
}

enum query_sql engine_sql(const struct engine_database *db)
{
	return db->sql;
}

void engine_database_init(struct engine_database *db, const struct engine *e, const char *name,
			  enum service service, bool literal)
{
	db->ops = e->ops;
	db->limits = e->limits;
	db->natives = e->natives;
	db->service = service;
	db->sql = e->sql;
	engine_gate_init(&db->gate);
	str_copy(db->name, sizeof(db->name), str_of(name));
	atomic_init(&db->literal, literal);
	atomic_init(&db->slack_s, 0);
	count_calls(db, e->metrics);
}

void engine_database_fini(struct engine_database *db)
{
	metrics_database_remove(db->metrics);
	db->metrics = NULL;
	engine_gate_fini(&db->gate);
}

int engine_open(struct engine *e, const struct engine_open *o, struct engine_database **ret,
		struct err *reterr)
{
	int rc;

	assert(o->place != NULL && o->identity != NULL && o->service < SERVICE_COUNT);
	rc = e->ops->open(e, o, ret, reterr);
	assert(rc < 0 || ((*ret)->ops == e->ops && (*ret)->service == o->service));
	if (rc == 0)
		atomic_store(&(*ret)->slack_s, o->settings.renewal_slack_s);
	return rc;
}

void engine_close(struct engine_database *db)
{
	if (db != NULL)
		db->ops->close(db);
}

int engine_retire(struct engine *e, struct engine_database *db, const char *place, struct err *reterr)
{
	assert(db == NULL || (db->ops == e->ops && db->service != SERVICE_SYSTEM));
	if (db != NULL)
		metrics_database_hide(db->metrics);
	return e->ops->retire(e, db, place, reterr);
}

void engine_discard(struct engine *e, const char *place, bool (*known)(void *arg, const char *place),
		    void *arg)
{
	assert(place != NULL || known != NULL);
	e->ops->discard(e, place, known, arg);
}

void engine_free(struct engine *e)
{
	if (e != NULL)
		e->ops->free(e);
}

const char *engine_name(const struct engine_database *db)
{
	return db->name;
}

enum service engine_service(const struct engine_database *db)
{
	return db->service;
}

const char *engine_place(const struct engine_database *db)
{
	return db->ops->place(db);
}

const char *engine_identity(const struct engine_database *db)
{
	return db->ops->identity(db);
}

int engine_identity_renew(struct engine_database *db, struct err *reterr)
{
	return db->ops->identity_renew(db, reterr);
}

void engine_set(struct engine_database *db, const struct engine_settings *s)
{
	atomic_store(&db->literal, s->errata_literal);
	atomic_store(&db->slack_s, s->renewal_slack_s);
	db->ops->set(db, s);
}

/* ---- calls ---- */

/* What no queue can help with: a call of a transaction that is another database's, and the steps of
 * a transaction without one. */
static bool is_misplaced(struct engine_database *db, struct call *c)
{
	if (c->txn != NULL && c->txn->database != db) {
		err_set(&c->err, ERR_TXN_DATABASES, c->txn->database->name, db->name);
		engine_call_fail(c, &c->err);
		c->txn_lost = false;
		engine_call_complete(c);
		return true;
	}
	if (c->txn != NULL || c->kind == CALL_PROC || c->kind == CALL_QUERY)
		return false;
	engine_call_refuse(c,
			   c->kind == CALL_COMMIT ? ERR_COMMIT_NO_TRAN
			   : c->kind == CALL_SAVE ? ERR_SAVE_NO_TRAN
						  : ERR_ROLLBACK_NO_TRAN,
			   NULL);
	return true;
}

/* It was translated before the database was moved. */
static bool is_foreign(const struct engine_database *db, struct call *c)
{
	if (c->kind != CALL_QUERY || c->query->dialect == db->sql)
		return false;
	engine_call_refuse(c, ERR_MOVED, db->name);
	return true;
}

bool engine_submit_quietly(struct engine_database *db, struct call *c)
{
	assert(c->complete != NULL);
	assert(c->kind != CALL_PROC || (c->proc != NULL && c->proc->service == db->service));
	assert(c->kind != CALL_QUERY || c->query != NULL);
	list_init(&c->link); /* before all else: engine_cancel() looks at it */
	c->submitted_us = clock_mono_us();
	c->began_us = 0;
	db = engine_gate_enter(db, c);
	return db != NULL && !is_misplaced(db, c) && !is_foreign(db, c) && db->ops->submit(db, c);
}

void engine_wake(struct engine_database *db, bool alone)
{
	db = engine_follow(db);
	db->ops->wake(db, alone);
}

void engine_submit(struct engine_database *db, struct call *c)
{
	if (engine_submit_quietly(db, c))
		engine_wake(db, false);
}

void engine_cancel(struct engine_database *db, struct call *c)
{
	atomic_store(&c->cancelled, true);
	if (engine_gate_cancel(db, c, &db))
		engine_call_refuse(c, ERR_CANCELLED, NULL);
	else
		db->ops->cancel(db, c);
}

/* ---- transactions ---- */

struct txn *engine_begin(struct engine_database *db, bool snapshot)
{
	struct txn *t;

	db = engine_follow(db);
	t = db->ops->begin(db, snapshot);
	assert(t == NULL || (t->database == db && t->snapshot == snapshot));
	if (t != NULL)
		engine_gate_txn_init(t);
	return t;
}

bool engine_txn_is_snapshot(const struct txn *t)
{
	return t->snapshot;
}

struct engine_database *engine_txn_database(struct txn *t)
{
	return engine_txn_current(t)->database;
}

bool engine_txn_is_lost(struct txn *t, struct err *ret)
{
	t = engine_txn_current(t);
	return t->database->ops->txn_is_lost(t, ret);
}

void engine_txn_free(struct txn *t)
{
	while (t != NULL) {
		struct txn *next = t->successor;

		engine_gate_txn_fini(t);
		t->database->ops->txn_free(t);
		t = next;
	}
}

/* ---- looking at it ---- */

void engine_statistics(struct engine_database *db, struct engine_statistics *ret)
{
	db->ops->statistics(db, ret);
}

void engine_hide(struct engine_database *db)
{
	metrics_database_hide(db->metrics);
}

struct metrics_database *engine_metrics(const struct engine_database *db)
{
	return db->metrics;
}

size_t engine_waits(struct engine_database *db, struct engine_wait *dst, size_t max)
{
	size_t n = db->ops->waits(db, dst, max);

	assert(n <= max);
	return n;
}

const char *engine_damage(const struct engine_database *db)
{
	return db->ops->damage(db);
}

int engine_check(struct engine_database *db, char **ret_report, struct err *reterr)
{
	return db->ops->check(db, ret_report, reterr);
}

int engine_hold(struct engine_database *const *dbs, size_t n, struct engine_held **ret, struct err *reterr)
{
	assert(n > 0);
	for (size_t i = 1; i < n; i++)
		assert(dbs[i]->ops == dbs[0]->ops);
	if (dbs[0]->ops->hold == NULL)
		return err_set(reterr, ERR_KEPT_ELSEWHERE);
	return dbs[0]->ops->hold(dbs, n, ret, reterr);
}

int engine_backup(struct engine_held *h, const char *file, bool (*goes_on)(void *arg), void *arg,
		  struct err *reterr)
{
	return h->ops->backup(h, file, goes_on, arg, reterr);
}

void engine_release(struct engine_held *h)
{
	if (h != NULL)
		h->ops->release(h);
}

unsigned engine_descriptors(struct engine *e, unsigned threads)
{
	return e->ops->descriptors(e, threads);
}

/* ---- as rows: copy.h ---- */

int engine_copy_place(struct engine *e, const char *name, char ret[ENGINE_PLACE], struct err *reterr)
{
	return e->ops->copy_place(e, name, ret, reterr);
}

int engine_copy_from(struct engine_database *db, const struct copy_watch *w, struct copy_side **ret,
		     struct err *reterr)
{
	assert(db->service != SERVICE_SYSTEM);
	return db->ops->copy_from(db, w, ret, reterr);
}

int engine_copy_to(struct engine *e, const struct engine_open *o, const struct copy_watch *w,
		   struct copy_side **ret, struct err *reterr)
{
	assert(o->service != SERVICE_SYSTEM && o->place[0] != '\0' && o->identity[0] != '\0');
	return e->ops->copy_to(e, o, w, ret, reterr);
}
