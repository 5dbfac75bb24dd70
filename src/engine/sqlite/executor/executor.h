/* executor.h — one per database: a queue, a writer thread that commits calls in groups, readers
 * beside it, explicit transactions, time limits. Promise: complete() of a call is called once,
 * after its changes are durable (relaxed: committed) or undone. */
#ifndef EXECUTOR_EXECUTOR_H
#define EXECUTOR_EXECUTOR_H

#include "engine/engine.h"
#include "engine/sqlite/store/store.h"

struct executor;

struct executor_options {
	struct engine_database *database; /* its name, limits and settings; outlives the executor */
	struct store *store;              /* borrowed: outlives the executor */
	/* answers before the flush, which follows within commit_interval_ms */
	bool relaxed;
	int commit_interval_ms;
	/* procession_promise of the service: lets calls that say FLUSH LATER be answered before a
	 * flush. NULL: none */
	const struct proc *promise;
	unsigned readers;     /* threads, started when first needed; more where some are slow */
	unsigned max_wal_mib; /* the longest-running reader is ended when the WAL is longer: 3966 */
};

MUST_CHECK int executor_start(const struct executor_options *o, struct executor **ret, struct err *reterr);
/* Finishes what runs, answers the rest, and all that still comes, with 50009; joins the threads,
 * and lets go of the store. */
void executor_stop(struct executor *ex);
void executor_free(struct executor *ex); /* stopped, and nobody knows it any more. NULL is welcome */

/* The functions of engine.h, for this database. */
MUST_CHECK bool executor_submit_quietly(struct executor *ex, struct call *c);
void executor_wake(struct executor *ex, bool alone);
void executor_cancel(struct executor *ex, struct call *c); /* c->cancelled is set */
void executor_set_commit(struct executor *ex, bool relaxed, int interval_ms);
/* From its return on all rows that change are noted (store_note), and all that was answered is
 * committed; the executor has noted from then on, until a while after executor_note_end(), which
 * waits for nobody. Waits for an open transaction, unless it is told to stop. */
MUST_CHECK int executor_note(struct executor *ex, struct store_noted *noted, bool (*stop)(void *arg),
			     void *arg, struct err *reterr);
void executor_note_end(struct executor *ex);
void executor_statistics(struct executor *ex, struct engine_statistics *ret);
size_t executor_waits(struct executor *ex, struct engine_wait *dst, size_t max);
/* A transaction takes the writer with its first call that writes (any call, unless it is a
 * snapshot) and keeps it until its end: others that write wait, at most their lock time-out
 * (1222). */
struct txn *executor_txn_new(struct executor *ex, bool snapshot);
bool executor_txn_is_lost(struct txn *t, struct err *ret);
void executor_txn_free(struct txn *t);

#endif
