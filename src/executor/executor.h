/* executor.h — one per database: a queue, a writer thread that commits calls in groups, readers beside it, explicit transactions, time limits.
 * Promise: complete() of a call is called once, after its changes are durable (relaxed: committed) or undone. */
#ifndef EXECUTOR_EXECUTOR_H
#define EXECUTOR_EXECUTOR_H

#include "base/meter.h"
#include "call/call.h"
#include "catalogue/proc.h"
#include "store/store.h"

struct executor;

struct executor_options {
	const char *name;    /* database name; copied */
	struct store *store; /* borrowed: outlives the executor */
	bool errata_literal;
	bool relaxed; /* answers before the flush, which follows within commit_interval_ms */
	int commit_interval_ms;
	const struct proc *
		promise; /* procession_promise of the service: lets calls that say FLUSH LATER be answered before a flush. NULL: none */
	int execution_timeout_s;   /* [E-COM-16]; 0: none */
	int lock_timeout_ms;       /* default of calls with -1 */
	int transaction_idle_s;    /* 0: none */
	int transaction_s;         /* how old an explicit transaction may become; 0: any age */
	unsigned max_queue;        /* calls that may wait: 50012 beyond */
	unsigned readers;          /* reader threads, started when first needed; more where some are slow */
	unsigned query_cost_limit; /* of a query, in millions of the store's steps: 8649 beyond; 0: none */
	unsigned max_wal_mib; /* the longest-running reader is ended when the log is longer: 3966; 0: none */
};

MUST_CHECK int executor_start(const struct executor_options *o, struct executor **ret, struct err *reterr);
/* Finishes what runs, answers the rest with 50009, joins the threads. Nobody submits or wakes any more. */
void executor_stop(struct executor *ex);
const char *executor_name(const struct executor *ex);
/* Whether the procedure begins with something that needs no database and may take long: reading a document. */
bool executor_has_ahead(const struct proc *p);
/* Does it, on any thread, before the call is submitted; m may be NULL. -1: the call has failed, and its result says how; it is not to be submitted. */
MUST_CHECK int executor_run_ahead(struct executor *ex, struct call *c, struct meter *m);

/* Thread-safe. complete() may be called before this returns. Calls of one session are submitted one after another. */
void executor_submit(struct executor *ex, struct call *c);
/* The same, but threads that sleep are left asleep: true: call executor_wake() once the other calls at hand have been submitted, too. They share a commit then, and a wake-up. */
MUST_CHECK bool executor_submit_quietly(struct executor *ex, struct call *c);
/* May run short calls itself, and be back when they are completed: those that wait for no flush; and, alone, when this thread has nobody else to serve, a single one that does. */
void executor_wake(struct executor *ex, bool alone);
/* Sets c->cancelled and sees to it that the call is answered soon even where it waits for a transaction. Thread-safe; c must not have been freed. */
void executor_cancel(struct executor *ex, struct call *c);
/* Settings that may change while it runs (SIGHUP, ALTER of a database). Thread-safe. */
void executor_set_errata(struct executor *ex, bool literal);
void executor_set_commit(struct executor *ex, bool relaxed, int interval_ms);

/* An explicit transaction of one session in one database. It takes the writer with its first call and keeps it until CALL_COMMIT, CALL_ROLLBACK,
 * a lost connection (submit CALL_ROLLBACK) or the idle limit. Others that write wait, at most their lock time-out (1222). */
struct txn;
/* snapshot: its reads all see the state of the first one and take no writer; its first write does, if nobody has committed since (3960). NULL: no memory. */
struct txn *txn_new(struct executor *ex, bool snapshot);
bool txn_is_snapshot(const struct txn *t);
struct executor *txn_executor(const struct txn *t);
/* True when it was rolled back without its owner's wish (idle limit, time-out, store, shutdown); *ret says why. Thread-safe: for requests that make no call. */
bool txn_is_lost(struct txn *t, struct err *ret);
/* Which sessions wait for the transaction that has the writer: fills at most max of dst, gives their number. Thread-safe. */
struct executor_wait {
	uint32_t waits, holds; /* call->session of both */
};
size_t executor_waits(struct executor *ex, struct executor_wait *dst, size_t max);
/* After its CALL_COMMIT or CALL_ROLLBACK completed, after a call that said txn_lost, or when no call was ever submitted with it. */
void txn_free(struct txn *t);

#endif
