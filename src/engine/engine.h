/* engine.h — where calls are run: a call in, a completion out. An engine keeps databases and runs
 * the calls that are submitted to them; nobody above knows how. There are engine/sqlite and
 * engine/postgres; the daemon chooses once, and everything else uses what stands here.
 *
 * A call is finished before it is submitted: admitted by the catalogue, with its database, arena,
 * sink and arguments. From engine_submit() until complete() is called the call and everything it
 * points to belong to the engine; only call->cancelled may be set meanwhile. complete() is called
 * once, on any thread, after the call's change is durable (or as durable as the database's settings
 * ask for) or undone as a whole. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/meter.h"
#include "call/call.h"
#include "catalogue/proc.h"
#include "catalogue/query.h"

struct engine;           /* all databases of a server */
struct engine_database;  /* one of them, open */
struct metrics_database; /* metrics/metrics.h */
struct txn;              /* an explicit transaction of one session in one database */

/* What bounds every call, whatever the engine. */
struct engine_limits {
	int execution_timeout_s;   /* [E-COM-16]; 0: none */
	int lock_timeout_ms;       /* of calls that say -1 */
	int transaction_idle_s;    /* how long an explicit transaction may be silent; 0: for ever */
	int transaction_s;         /* how old it may become; 0: any age */
	unsigned max_queue;        /* calls that may wait in one database: 50012 beyond */
	unsigned query_cost_limit; /* of a SELECT, in millions of the engine's steps: 8649; 0: none */
	/* a call that takes as long is logged; borrowed, may change any time; NULL or 0: none is */
	const atomic_uint *slow_call_ms;
};

/* What procession_database_set can change while a database is used. */
struct engine_settings {
	bool errata_literal;
	bool relaxed;           /* calls are answered before their change is durable */
	int commit_interval_ms; /* of a relaxed one: the change is durable within this time */
	int renewal_slack_s;    /* so much ahead renewals of expirations are stored */
};

/* ---- databases ---- */

#define ENGINE_IDENTITY 33 /* 32 hexadecimal digits and a NUL */
#define ENGINE_PLACE 261

struct engine_open {
	const char *name; /* copied */
	enum service service;
	struct engine_settings settings;
	/* where the engine keeps it, as engine_place() told when it was made; "": a new place */
	const char *place;
	const char *identity; /* that it must have; "": whichever it has */
	bool known;           /* it was there before: it is refused when it is gone, not made anew */
	bool accept;          /* it is taken whatever its identity, without what it may have lost */
	bool set_aside;       /* one that cannot be served is put aside, and begun anew */
};

/* Makes the database, or opens it and brings its tables up to date. An error says why it cannot be
 * served, with the remedy. SERVICE_SYSTEM is the first one opened: it gets the tables that describe
 * the catalogue, and is known by itself when the engine has kept databases before. */
MUST_CHECK int engine_open(struct engine *e, const struct engine_open *o, struct engine_database **ret,
			   struct err *reterr);
/* Finishes what runs, answers what waits with 50009. Nobody submits or wakes any more. NULL is
 * welcome. */
void engine_close(struct engine_database *db);
/* Dropping a database, in two steps, between which it is struck off the list. retire: it is not
 * served any more (what runs is finished, what waits and still comes is answered with 50009),
 * and what it holds is put where only an open that says `known` finds it again. db: NULL if it
 * could not be opened; else it stays until engine_close(), since others may still look at it.
 * place: NULL if another server sees to what it holds. Not on a thread of its own. discard: what
 * was retired at this place is deleted for good; place NULL: all that was, but for places that
 * are known. */
MUST_CHECK int engine_retire(struct engine *e, struct engine_database *db, const char *place,
			     struct err *reterr);
void engine_discard(struct engine *e, const char *place, bool (*known)(void *arg, const char *place),
		    void *arg);
/* After all databases are closed. NULL is welcome. */
void engine_free(struct engine *e);

const char *engine_name(const struct engine_database *db);
enum service engine_service(const struct engine_database *db);
/* In which SQL it wants its queries. */
enum query_sql engine_sql(const struct engine_database *db);
const char *engine_place(const struct engine_database *db);
/* Which database it is: made with it, kept by every copy of it. renew gives a copy one of its own;
 * only before the first call. */
const char *engine_identity(const struct engine_database *db);
MUST_CHECK int engine_identity_renew(struct engine_database *db, struct err *reterr);
/* At once. Thread-safe. */
void engine_set(struct engine_database *db, const struct engine_settings *s);

/* ---- calls ---- */

/* Thread-safe. complete() may be called before this returns. Calls of one session are submitted one
 * after another. */
void engine_submit(struct engine_database *db, struct call *c);
/* The same, but the call may be left lying until engine_wake() is called, if this returns true. So
 * calls that came together are submitted together, and share a commit. */
MUST_CHECK bool engine_submit_quietly(struct engine_database *db, struct call *c);
/* Short calls may be run on this thread, and be completed when it returns. alone: this thread has
 * nobody else to serve meanwhile. */
void engine_wake(struct engine_database *db, bool alone);
/* Sets c->cancelled, and sees to it that the call is completed soon, also where it waits.
 * Thread-safe; c must not have been freed. */
void engine_cancel(struct engine_database *db, struct call *c);

/* Whether the procedure begins with something that needs no database and may take long, such as
 * reading a document. */
bool engine_has_ahead(const struct engine_database *db, const struct proc *p);
/* Does it, on any thread, before the call is submitted; m may be NULL. -1: the call has failed, and
 * its result says how; it is not to be submitted. */
MUST_CHECK int engine_run_ahead(struct engine_database *db, struct call *c, struct meter *m);

/* ---- transactions ---- */

/* Calls that carry it belong to it, until CALL_COMMIT or CALL_ROLLBACK, which a lost connection
 * must submit, too. snapshot: its reads all see the state of the first one and make nobody wait;
 * its first write succeeds if nobody has committed since (3960). NULL: no memory. */
struct txn *engine_begin(struct engine_database *db, bool snapshot);
bool engine_txn_is_snapshot(const struct txn *t);
struct engine_database *engine_txn_database(struct txn *t);
/* True when it was rolled back without its owner's wish (a limit, trouble, shutdown); *ret says
 * why. Thread-safe: for requests that make no call. */
bool engine_txn_is_lost(struct txn *t, struct err *ret);
/* After its CALL_COMMIT or CALL_ROLLBACK completed, after a call that said txn_lost, or when no
 * call was ever submitted with it. NULL is welcome. */
void engine_txn_free(struct txn *t);

/* ---- looking at it ---- */

struct engine_statistics {
	uint64_t waiting;      /* calls that have been submitted and do not run yet */
	uint64_t transactions; /* explicit ones that are open */
	/* how often a group was run again: others were in its way, or its connection was lost */
	uint64_t conflicts, reconnects;
	/* what it takes on the disk: its file, 0 while that is not known; its WAL, if it has one,
	 * and the part of that which is not in the file yet */
	uint64_t file_bytes, wal_bytes, wal_waiting_bytes;
	bool has_wal;
	/* the numbers of its service (catalogue/proc.h), once they have been counted */
	bool counted;
	int64_t numbers[SERVICE_NUMBERS_MAX];
};
void engine_statistics(struct engine_database *db, struct engine_statistics *ret); /* thread-safe */
/* Its numbers are not told any more. */
void engine_hide(struct engine_database *db);
/* Where it is counted; NULL: nowhere. */
struct metrics_database *engine_metrics(const struct engine_database *db);

/* Which sessions wait for another one's transaction: fills at most max of dst, gives their number.
 * Thread-safe. */
struct engine_wait {
	uint32_t waits, holds; /* call->session of both */
};
size_t engine_waits(struct engine_database *db, struct engine_wait *dst, size_t max);

/* What was found to be wrong with it while it is served, with the remedy, for administrators. NULL:
 * nothing. Thread-safe. */
const char *engine_damage(const struct engine_database *db);
/* Looks at all of it: 0 when it is sound. ret_report is from malloc, whatever the result.
 * Thread-safe; takes long. */
MUST_CHECK int engine_check(struct engine_database *db, char **ret_report, struct err *reterr);
/* Several databases of one engine as all of them are at one moment, while calls go on: what was
 * answered before is in it, what is committed later is not. ret[i] is dbs[i]; engine_release()
 * each, before its database closes. An engine that has better means refuses, and says which. */
struct engine_held;
MUST_CHECK int engine_hold(struct engine_database *const *dbs, size_t n, struct engine_held **ret,
			   struct err *reterr);
/* Writes a copy of it to a file that does not exist yet. goes_on is asked now and then and may
 * take its time; false ends it. Thread-safe, one thread a held database. */
MUST_CHECK int engine_backup(struct engine_held *h, const char *file, bool (*goes_on)(void *arg), void *arg,
			     struct err *reterr);
void engine_release(struct engine_held *h); /* NULL is welcome */
/* File descriptors that the engine may come to need beside those that are open now, when calls come
 * from so many threads. */
unsigned engine_descriptors(struct engine *e, unsigned threads);

#endif
