/* executor_int.h — what the files of this folder share.
 *
 * Threads: whoever submits; one writer, whose work somebody else may do while it sleeps
 * (inline.c); readers. `lock` guards the queues, the pinned transaction and the flags; it is
 * never held while a call runs, a sink is filled or complete() is called. A runner is touched by
 * its own thread only. Where a comment says "under the lock", lock_is_mine() asserts it;
 * where it says "writer", executor_is_writer() does. */
#ifndef EXECUTOR_EXECUTOR_INT_H
#define EXECUTOR_EXECUTOR_INT_H

#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "engine/implement.h"
#include "engine/sqlite/executor/executor.h"

#define GROUP_MAX 512 /* calls in one commit */
#define READERS_MAX 64
#define READERS_EXTRA 16 /* beside the setting: for those that wait behind slow ones */
#define FETCH_THREADS 2
/* large values on their way at once; the writer reads further ones itself */
#define FETCHERS 16
#define INLINE_READERS 8 /* threads that read by themselves at once */

/* A place for a reader: nobody's, a thread's, or of a thread that has left and is to be joined. */
enum reader_state { READER_NONE, READER_RUNS, READER_LEFT };
/* Readers take the first before the second, so that short work does not wait behind long
 * SELECTs. */
enum lane { LANE_PROC, LANE_QUERY, LANES };

/* A thread with its connection, and the limits of the call that it runs now. */
struct runner {
	struct executor *ex;
	struct store_conn *conn; /* owned; a reader's may be NULL until it could connect */
	struct engine_run run;   /* the call that runs now */
	bool writer;
	/* a reader's; under the lock */
	enum reader_state state;
	int64_t began_ms;   /* its call did; 0: it has none */
	int64_t stalled_ms; /* since when its client has not read; 0: it does */
	bool goes;          /* its call was told to end */
	/* its call has given up its place: another reader may run beside it */
	bool slow;
	int64_t looked_ms; /* its own: when it last asked whether it must go */
	uint64_t count;    /* rows that the last RUN changed or ROWS sent */
};

/* What the executor notes about a call between submit and complete(): in the call's own room, so
 * that it needs no memory. */
struct notes {
	int64_t deadline_ms;   /* under the lock: when waiting in the queue ends; 0: not set */
	bool waits_for_reader; /* under the lock: in which queue it is */
	struct runner *runner; /* the reader thread that runs it, for call->waits() */
	struct later *later;   /* a large value that is still to be read; in the arena. NULL: none */
};

_Static_assert(sizeof(struct notes) <= sizeof(union call_room), "the room of a call is too small");

static inline struct notes *executor_notes(const struct call *c)
{
	return (struct notes *)(void *)&((struct call *)c)->room;
}

enum txn_state {
	TXN_NEW,     /* no call has run yet; or ended */
	TXN_READING, /* a snapshot: has read, not written; see snapshot.c */
	TXN_OPEN,    /* has the writer */
	TXN_LOST,    /* undone by us; its owner is told by the next call */
};

struct executor_txn {
	struct txn base;
	struct executor *ex;
	enum txn_state state; /* under the lock; changed by executor_txn_move() */
	struct call *pending; /* under the lock: its next call, not yet begun */
	uint32_t session;     /* under the lock: whose it is, once it has the writer */
	/* writer, or under the lock while TXN_READING: when it has been silent for too long */
	int64_t idle_at_ms;
	/* the same: when it has been open for too long; 0: it has not begun */
	int64_t age_at_ms;
	/* under the lock: in ex->snapshots, from its first read to its first write or its end */
	struct list link;
	bool running; /* under the lock: a reader thread runs a call on reader.conn */
	/* of the snapshot; conn owned, NULL unless TXN_READING or about to have the writer */
	struct runner reader;
	struct engine_savepoints savepoints; /* writer; numbered as in the store */
	struct err lost;                     /* why, when TXN_LOST */
};

struct slot {
	struct call *call;
	size_t mark; /* of its sink, before it ran */
	bool dead;   /* failed for good: not to be run again */
};

/* Renewals in a transaction that stays open. */
enum deferred_state {
	DEFERRED_NONE, /* there is no such transaction */
	DEFERRED_OPEN, /* there is; its calls have been answered */
	DEFERRED_LOST, /* it was undone, and the promise is not called in yet */
};
struct deferred {
	/* changed by the writer under the lock, by executor_deferred_move(); others look under
	 * it */
	enum deferred_state state;
	unsigned calls, limit;      /* writer: in it, and how many there may be */
	int64_t until_ms, again_ms; /* writer: when it must end; when more may be tried again */
	atomic_bool wanted;         /* a reader waits for its end */
	unsigned times;             /* under the lock: how many have ended */
	pthread_cond_t over;
};

/* What the writer asks of the checkpointer. */
enum checkpoint_state {
	CHECKPOINT_NONE,
	CHECKPOINT_RUNS, /* or is about to: asked by the writer */
	/* what came meanwhile is left: the writer does the rest, or asks again */
	CHECKPOINT_DONE,
};

/* Who has the writing connection. Inline execution is two of these states. */
enum writer_state {
	WRITER_RUNS,  /* the writer's thread does */
	WRITER_DOZES, /* nobody; the writer waits for `wake` */
	/* a thread that brought a call; the writer waits for `wake` */
	WRITER_INLINE,
	/* the same, and the writer, which has woken, waits for the end of that */
	WRITER_WAITS,
	WRITER_LEFT, /* whoever stops the executor: the writer's thread has ended */
};

struct checkpointer {
	atomic_int state; /* enum checkpoint_state; changed by executor_checkpoint_move() */
	atomic_bool leaves;
	sem_t wake;
	pthread_t thread; /* writer: valid once started */
	bool started;
	struct store_conn *conn; /* owned; its own */
};

/* Counts what there is at the start: counter.c. */
struct counter {
	pthread_t thread;
	bool started;
	atomic_bool leaves;
	struct store_conn *conn; /* owned; the thread's, once started */
};

/* The thread that changes the database, and who does its work while it sleeps. */
struct writer {
	pthread_t thread;
	pthread_cond_t wake;
	struct runner runner;
	enum writer_state state; /* under the lock; changed by executor_writer_move() */
	bool asleep;             /* under the lock: it waits, and nobody has woken it yet */
	int64_t doze_until_ms;   /* under the lock: when it wakes by itself */
	bool wake_due;           /* under the lock: somebody will call executor_wake() */
	bool wake_wanted;        /* under the lock: that call is to wake the writer, too */
	pthread_t worker;        /* the thread that has the writing connection, if anybody does */
	bool worker_is_inline;   /* worker: that is not the writer's own thread */
	int64_t inline_ms;       /* under the lock: when the last inline execution ended */
	int64_t inline_again_ms; /* under the lock: none before that, since one took long */
	/* earliest end of waiting in the queue while pinned; may be too early, never too late */
	atomic_llong next_deadline_ms;
};

/* The calls of the commit that is being made: the writer's. */
struct group {
	struct slot slots[GROUP_MAX];
	size_t n;
	unsigned careful; /* groups to run with savepoints, after one had to be run twice */
};

/* Until when no renewal makes an item expire too early, whatever is lost. */
struct promise {
	const struct proc *proc; /* of the service, or NULL */
	int64_t until;           /* writer: in ticks; 0: never */
};

/* After a failed flush, when the store is mended, or tried to be, next: the writer's. */
struct mending {
	int64_t at_ms, wait_ms;
};

/* Flushes commits that were answered before; everything under the lock. */
struct flusher {
	pthread_t thread;
	pthread_cond_t wake, flushed;
	bool started, leaves;
	bool relaxed;         /* commits are answered before they are flushed */
	int interval_ms;      /* and then flushed within this time */
	int64_t unflushed_ms; /* when the oldest commit was made that no flush covers; 0: none */
	int64_t flushing_ms;  /* the same of the flush that is under way */
};

/* Reads large values after the commit: later.c. Under the lock, but for what a fetcher's owner
 * does with its connection. */
struct fetching {
	pthread_t threads[FETCH_THREADS];
	unsigned nthreads, idle;
	bool leaves;
	pthread_cond_t wake;
	struct list queue; /* to be read; answered before the executor stops */
	struct fetcher {
		struct store_conn *conn; /* owned; whoever has taken it */
		bool taken;
	} fetchers[FETCHERS];
};

/* Who reads: pool.c. All is under the lock, but for what a runner's own thread does with it. */
struct pool {
	pthread_cond_t wake;
	struct list queue[LANES];
	unsigned max;        /* the setting */
	unsigned n, idle;    /* threads; of these, those that wait for a call */
	unsigned busy, slow; /* those that have a call; of these, the slow ones */
	unsigned waiting;    /* calls in the queues */
	/* how long the WAL was when a reader was last ended for it; 0: it has been short since */
	unsigned wal_at_end;
	pthread_t threads[READERS_MAX];
	struct runner readers[READERS_MAX];
	/* for whoever brings a short call that only reads, and whether somebody runs one on it */
	struct runner inline_readers[INLINE_READERS];
	bool inline_taken[INLINE_READERS];
};

struct executor {
	struct engine_database *db; /* borrowed: name, limits */
	struct store *store;        /* borrowed */
	uint64_t query_cost_limit;  /* questions of the store; 0: no limit */
	unsigned max_wal_pages;     /* 0: no limit */

	struct lock lock;
	bool stopping;
	bool stopped;     /* whoever stops it: it has been */
	unsigned waiting; /* calls in the queues of writer and readers */

	struct list queue;           /* of the writer */
	struct executor_txn *pinned; /* the transaction that has the writer, or NULL */
	struct list snapshots;       /* transactions that only read so far, of level SNAPSHOT */

	struct writer writer;
	struct group group;
	struct deferred deferred;
	struct promise promise;
	struct mending mending;
	struct flusher flusher;
	struct checkpointer checkpointer;
	struct counter counter;
	struct fetching fetching;
	struct pool pool;

	/* under the lock: what is to be noted from now on; the writer sees to it when it can, and
	 * says how that ended */
	struct {
		bool wanted, turning;          /* the writer is at it */
		struct store_noted *noted;     /* what is wanted; NULL: nothing */
		struct store_noted *installed; /* owned: what the writing connection has */
		int rc;
		struct err err;
		pthread_cond_t done;
	} note;
};

/* ---- state.c: the states, as tables of allowed moves, and the functions that make them ---- */

/* Under the lock. */
void executor_writer_move(struct executor *ex, enum writer_state to);
void executor_deferred_move(struct executor *ex, enum deferred_state to);
void executor_txn_move(struct executor_txn *t, enum txn_state to);
void executor_checkpoint_move(struct checkpointer *k, enum checkpoint_state to);
/* Under the lock: this thread has the writing connection from now on. */
void executor_writer_take(struct executor *ex, bool is_inline);
/* This thread has the writing connection. */
static inline bool executor_is_writer(const struct executor *ex)
{
	return pthread_equal(ex->writer.worker, pthread_self());
}

/* executor.c */
/* Answers the calls that have waited too long for the pinned transaction. Writer; takes the lock
 * itself. */
void executor_queue_sweep(struct executor *ex);
/* Under the lock: how long a call may wait from now on. */
int64_t executor_queue_deadline(const struct executor *ex, const struct call *c, int64_t now_ms);
/* For those who look at the server from outside: "w-StateService". Called by the thread itself. */
void executor_thread_name(const struct executor *ex, char kind);

/* writer.c, under the lock: adds waiting calls to ex->group, up to the first one that begins a
 * transaction. */
void executor_group_take(struct executor *ex);
/* writer.c, under the lock: it has something to do, or to do sooner than it would wake by
 * itself. */
bool executor_writer_is_wanted(struct executor *ex);
/* inline.c, under the lock: whether what waits may be run by this thread (alone: which has
 * nobody else to serve); runs it, giving up the lock meanwhile. False: it would have to wait, and
 * nothing has been done. */
bool executor_inline_may(const struct executor *ex, bool alone);
MUST_CHECK bool executor_inline_run(struct executor *ex);
/* inline.c, under the lock: nothing that waits asks for a flush, or is long. */
bool executor_inline_goes_on(const struct executor *ex);
/* inline.c, without the lock: runs a call that only reads, if it is short and need not wait.
 * False: it is still to be run. */
bool executor_inline_read(struct executor *ex, struct call *c);
/* group.c: runs the calls in ex->group and commits; completes them. Writer, without the lock. */
void executor_group_run(struct executor *ex);
void executor_group_answer(struct executor *ex);

/* later.c. Whether this step may be put off until after the commit; and then its beginning,
 * which puts it off if the value is large. */
bool executor_later_may(const struct runner *r, const struct call *c, const struct step *s);
MUST_CHECK int executor_later_fetch(struct runner *r, struct call *c, const struct step *s, int64_t row,
				    struct err *reterr);
/* Writer, without the lock: right after the commit of a call that has something for later. */
void executor_later_committed(struct executor *ex, struct call *c);
/* Reads what is left for later, and completes the call: another thread does. */
void executor_later_complete(struct executor *ex, struct call *c);
void executor_later_init(struct executor *ex);
/* After the writer: what is under way is still read and answered. */
void executor_later_stop(struct executor *ex);

/* checkpointer.c. Writer: checkpoints beside it, soon; not while one runs. False: there is no
 * thread for it. */
MUST_CHECK int executor_checkpointer_init(struct checkpointer *k);
void executor_checkpointer_fini(struct checkpointer *k);
bool executor_checkpointer_start(struct executor *ex);
void executor_checkpointer_stop(struct executor *ex);
/* counter.c. Before the writer's thread: what the database has is counted from now on. */
MUST_CHECK int executor_counter_start(struct executor *ex, struct err *reterr);
void executor_counter_stop(struct executor *ex);
/* flusher.c. Writer, without the lock: there was a commit that is not flushed. While too much
 * could be lost it waits for the flusher, or flushes, during inline execution. */
void executor_flusher_committed(struct executor *ex);
/* When the other threads are gone: flushes the rest. */
void executor_flusher_stop(struct executor *ex);

/* commit.c. Writer, without the lock: commits as the database and the calls ask for. later: all
 * calls in it may be flushed later. */
MUST_CHECK int executor_commit_all(struct executor *ex, bool later, struct err *reterr);
/* Writer, without the lock: renewals were lost; no item expires as if they had not been. */
MUST_CHECK int executor_commit_call_in(struct executor *ex, struct err *reterr);
/* After a flush that failed: tries to make the store sound again, when it is time. Writer,
 * without the lock. */
void executor_commit_mend(struct executor *ex);
/* Before the writer starts, and after it has ended. */
MUST_CHECK int executor_commit_start(struct executor *ex, struct err *reterr);
void executor_commit_end(struct executor *ex);

/* deferred.c. Writer, without the lock, but for executor_deferred_wait(). */
void executor_deferred_init(struct deferred *h);
/* The transaction of a group: a new one, or, not alone, that which is held. */
MUST_CHECK int executor_deferred_begin(struct executor *ex, bool alone, struct err *reterr);
/* Instead of a commit, when so many calls more may wait for theirs: it comes when it is time. */
MUST_CHECK int executor_deferred_add(struct executor *ex, size_t calls, struct err *reterr);
/* Commits what is held, if anything is. After a failure it is lost, which the next
 * executor_deferred_begin() sets right. */
int executor_deferred_commit(struct executor *ex, struct err *reterr);
bool executor_deferred_is_due(const struct executor *ex);
/* The writer's transaction was committed; or is to be undone. */
void executor_deferred_committed(struct executor *ex);
void executor_deferred_rollback(struct executor *ex);
/* Reader, under the lock, which is given up meanwhile: until all that was answered before is
 * committed. */
void executor_deferred_wait(struct executor *ex);

/* pool.c: who reads, and when one is too slow. */
/* Under the lock: the queue that the call goes to. Returns why not, or ERR_NONE. */
enum err_id executor_pool_submit(struct executor *ex, struct call *c);
/* Under the lock: the next call for a reader that is free; NULL: none may begin now. */
struct call *executor_pool_take(struct executor *ex, struct runner *r);
/* Under the lock: that call is over. */
void executor_pool_over(struct executor *ex, struct runner *r);
/* Under the lock: there are more readers than needed, and this one has nothing to do. */
bool executor_pool_is_surplus(const struct executor *ex);
/* By the reader's own thread, without the lock, while its call runs (stalled: waits for its
 * client). True: the call must stop, ended of its reader says why. */
bool executor_pool_must_go(struct call *c, bool stalled, int64_t now_ms);

/* reader.c: on the runner's own connection, which is made if there is none; completes the call. */
void executor_reader_run(struct runner *r, struct call *c);
/* The same without waiting for other processes. True: the call has its result, and is not
 * completed yet; false: it is still to be run. */
bool executor_reader_run_now(struct runner *r, struct call *c);
/* writer.c, reader.c: the threads. */
void *executor_writer_main(void *ex);
void *executor_reader_main(void *runner);

/* txn.c */
static inline struct executor_txn *executor_txn_of(const struct call *c)
{
	return CONTAINER_OF(c->txn, struct executor_txn, base);
}
/* Under the lock: fills the result of a call whose transaction is not open, when there is
 * nothing to run. True: complete it. */
bool executor_txn_answer(struct executor_txn *t, struct call *c);
/* Writer, or under the lock: when this one has been open for too long. */
void executor_txn_limit_age(struct executor_txn *t, int64_t now_ms);
/* Under the lock: gives the writer to the transaction of this call. */
void executor_txn_pin(struct executor *ex, struct executor_txn *t);
/* Writer, without the lock: begins (first) and runs one call of the pinned transaction, and
 * completes it. */
void executor_txn_run(struct executor *ex, struct call *c, bool first);
/* Writer, without the lock: undoes the pinned transaction if it is still open and lets go of the
 * writer. reason: why its owner did not wish it, or NULL. Returns a call of it that has come
 * meanwhile, which is the caller's to refuse: from here on its owner may free the transaction. */
MUST_CHECK struct call *executor_txn_unpin(struct executor *ex, const struct err *reason);

/* snapshot.c. Under the lock: whether the call is to be run by a reader thread, on the
 * connection of its snapshot. */
bool executor_snapshot_takes(const struct call *c);
/* Reader thread, without the lock: runs and completes such a call. */
void executor_snapshot_run(struct call *c);
/* Writer, which has begun: what the transaction has read is still so. 0, or 3960. */
MUST_CHECK int executor_snapshot_upgrade(struct executor_txn *t, struct err *reterr);
void executor_snapshot_close(struct executor_txn *t);
/* Under the lock: when the next one is to be ended (ENGINE_NEVER: none); ends those whose time has
 * come, giving up the lock meanwhile. */
int64_t executor_snapshot_next_due(const struct executor *ex);
void executor_snapshot_sweep(struct executor *ex);
/* Under the lock, when the executor stops: its owner may free it when this call has been
 * answered. */
void executor_snapshot_leave(struct executor_txn *t);
/* When the threads are gone. */
void executor_snapshot_end_all(struct executor *ex);

/* run.c: one call on the runner's connection, inside whatever transaction there is; fills the
 * call's result. */
int executor_run_call(struct runner *r, struct call *c);
bool executor_run_stop(void *runner); /* for store_set_interrupt */
/* Fills the sink. 0, or ERR_CANCELLED. */
int executor_run_row(struct runner *r, const struct value *vals, size_t n, struct err *reterr);

/* steps.c */
int executor_steps_run(struct runner *r, struct call *c, struct err *reterr);
int executor_steps_run_from(struct runner *r, struct call *c, unsigned pc, struct err *reterr);
/* For natives.c: binds the values of a statement (fields: of the current row of EACH). */
int executor_steps_bind(struct runner *r, struct call *c, struct store_stmt *st, const struct statement *s,
			const struct value *fields, size_t nfields, struct err *reterr);
/* natives.c: STEP_NATIVE, STEP_EACH, and STEP_ROWS over the rows of a native. */
int executor_native_run(struct runner *r, struct call *c, const struct step *s, struct err *reterr);
int executor_native_each(struct runner *r, struct call *c, const struct step *s, struct err *reterr);
int executor_native_rows(struct runner *r, struct call *c, const struct step *s, struct err *reterr);

int executor_query_run(struct runner *r, struct call *c, struct err *reterr);
/* rows.c: a whole result set from a bound statement into the sink. */
int executor_rows_send(struct runner *r, struct call *c, struct store_stmt *st, const struct column *cols,
		       size_t n, struct err *reterr);
/* Its rows only, between call_sink_columns and call_sink_rows_done of the caller. */
int executor_rows_send_part(struct runner *r, struct call *c, struct store_stmt *st,
			    const struct column *cols, size_t n, uint64_t *ret_rows, struct err *reterr);
#endif
