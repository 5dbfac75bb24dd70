/* state.c — who has the writing connection, whether renewals are held, how far a transaction is,
 * what the checkpointer does: each as a table of its states with the moves that are allowed, and
 * one function that makes them. A move that is not in the table is a mistake of ours. */
#include <errno.h>
#include <time.h>

#include "engine/sqlite/executor/executor_int.h"

#define TO(state) (1u << (state))

struct state {
	const char *name; /* for whoever looks at it in a debugger */
	unsigned next;
};

static const struct state writer_states[] = {
	[WRITER_RUNS] = { "runs", TO(WRITER_DOZES) | TO(WRITER_LEFT) },
	[WRITER_DOZES] = { "dozes", TO(WRITER_RUNS) | TO(WRITER_INLINE) },
	[WRITER_INLINE] = { "inline", TO(WRITER_DOZES) | TO(WRITER_WAITS) },
	[WRITER_WAITS] = { "waits", TO(WRITER_RUNS) },
	[WRITER_LEFT] = { "left", 0 },
};

static const struct state deferred_states[] = {
	[DEFERRED_NONE] = { "none", TO(DEFERRED_OPEN) },
	[DEFERRED_OPEN] = { "open", TO(DEFERRED_NONE) | TO(DEFERRED_LOST) },
	[DEFERRED_LOST] = { "lost", TO(DEFERRED_NONE) },
};

static const struct state txn_states[] = {
	[TXN_NEW] = { "new", TO(TXN_READING) | TO(TXN_OPEN) },
	[TXN_READING] = { "reading", TO(TXN_NEW) | TO(TXN_OPEN) | TO(TXN_LOST) },
	[TXN_OPEN] = { "open", TO(TXN_NEW) | TO(TXN_LOST) },
	[TXN_LOST] = { "lost", TO(TXN_NEW) },
};

static const struct state checkpoint_states[] = {
	[CHECKPOINT_NONE] = { "none", TO(CHECKPOINT_RUNS) },
	[CHECKPOINT_RUNS] = { "runs", TO(CHECKPOINT_DONE) },
	[CHECKPOINT_DONE] = { "done", TO(CHECKPOINT_NONE) | TO(CHECKPOINT_RUNS) },
};

static bool may(const struct state *from, unsigned to)
{
	return (from->next & TO(to)) != 0;
}

void executor_writer_move(struct executor *ex, enum writer_state to)
{
	assert(lock_is_mine(&ex->lock));
	assert(may(&writer_states[ex->writer.state], to));
	/* a transaction that has the writer keeps others from its connection */
	assert(to != WRITER_INLINE || ex->pinned == NULL);
	ex->writer.state = to;
}

void executor_writer_take(struct executor *ex, bool is_inline)
{
	assert(lock_is_mine(&ex->lock));
	assert((ex->writer.state == WRITER_INLINE) == is_inline && ex->writer.state != WRITER_DOZES);
	ex->writer.worker = pthread_self();
	ex->writer.worker_is_inline = is_inline;
}

void executor_deferred_move(struct executor *ex, enum deferred_state to)
{
	assert(lock_is_mine(&ex->lock) && executor_is_writer(ex));
	assert(may(&deferred_states[ex->deferred.state], to));
	/* what is held is a transaction of the writing connection */
	assert(to != DEFERRED_OPEN || store_in_transaction(ex->writer.runner.conn));
	ex->deferred.state = to;
}

void executor_txn_move(struct executor_txn *t, enum txn_state to)
{
	assert(lock_is_mine(&t->ex->lock));
	assert(may(&txn_states[t->state], to));
	t->state = to;
}

void executor_checkpoint_move(struct checkpointer *k, enum checkpoint_state to)
{
	assert(may(&checkpoint_states[atomic_load(&k->state)], to));
	atomic_store(&k->state, (int)to);
}
