/* executor_int.h — what the files of this folder share.
 *
 * Threads: whoever submits; one writer, whose work somebody else may do while it sleeps (inline.c); readers. `lock` guards the queues, the pinned transaction and the flags; it is never held while a call runs,
 * a sink is filled or complete() is called. A runner is touched by its own thread only. */
#ifndef EXECUTOR_EXECUTOR_INT_H
#define EXECUTOR_EXECUTOR_INT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "executor/executor.h"

#define GROUP_MAX 512 /* calls in one commit */
#define READERS_MAX 64
#define READERS_EXTRA 16 /* beside the setting: for those that wait behind slow ones */
#define FETCH_THREADS 2
#define FETCHERS 16      /* large values on their way at once; the writer reads further ones itself */
#define INLINE_READERS 8 /* threads that read by themselves at once */
#define NEVER INT64_MAX  /* a time, in ms of the monotonic clock */

/* A place for a reader: nobody's, a thread's, or of a thread that has left and is to be joined. */
enum reader_state { READER_NONE, READER_RUNS, READER_LEFT };
/* Readers take the first before the second, so that short work does not wait behind long SELECTs. */
enum lane { LANE_PROC, LANE_QUERY, LANES };

/* A thread with its connection, and the limits of the call that it runs now. */
struct runner {
	struct executor *ex;
	struct store_conn *conn; /* owned; a reader's may be NULL until it could connect */
	struct call *call;       /* running now, or NULL */
	int64_t deadline_ms;     /* end of its time; 0: the clock has not been read yet */
	bool timed_out;
	enum err_id
		ended; /* why it must stop, other than for its time or by its owner; ERR_NONE: it need not */
	uint64_t questions; /* asked by the store while it runs: its cost */
	bool writer;
	/* a reader's; under the lock */
	enum reader_state state;
	int64_t began_ms;   /* its call did; 0: it has none */
	int64_t stalled_ms; /* since when its client has not read; 0: it does */
	bool goes;          /* its call was told to end */
	bool slow;          /* its call has given up its place: another reader may run beside it */
	int64_t looked_ms;  /* its own: when it last asked whether it must go */
	uint64_t count;     /* rows that the last RUN changed or ROWS sent */
};

enum txn_state {
	TXN_NEW,     /* no call has run yet; or ended */
	TXN_READING, /* a snapshot: has read, not written; see snapshot.c */
	TXN_OPEN,    /* has the writer */
	TXN_LOST,    /* undone by us; its owner is told by the next call */
};

struct savepoint {
	char *name; /* owned */
};

struct txn {
	struct executor *ex;
	enum txn_state state; /* under the lock */
	bool snapshot;        /* isolation level SNAPSHOT: constant */
	struct call *pending; /* under the lock: its next call, not yet begun */
	uint32_t session;     /* under the lock: whose it is, once it has the writer */
	int64_t idle_at_ms; /* writer, or under the lock while TXN_READING: when it has been silent for too long */
	int64_t age_at_ms; /* the same: when it has been open for too long; 0: it has not begun */
	struct list
		link; /* under the lock: in ex->snapshots, from its first read to its first write or its end */
	bool running; /* under the lock: a reader thread runs a call on reader.conn */
	struct runner
		reader; /* of the snapshot; conn owned, NULL unless TXN_READING or about to have the writer */
	struct savepoint *savepoints; /* writer: owned; number i + 1 in the store */
	size_t nsavepoints;
	struct err lost; /* why, when TXN_LOST */
};

struct slot {
	struct call *call;
	size_t mark; /* of its sink, before it ran */
	bool dead;   /* failed for good: not to be run again */
};

/* Renewals in a transaction that stays open. */
struct deferred {
	bool open;                  /* under the lock when others look or the writer changes it */
	bool lost;                  /* writer: some were, and the promise is not called in yet */
	unsigned calls, limit;      /* writer: in it, and how many there may be */
	int64_t until_ms, again_ms; /* writer: when it must end; when more may be tried again */
	atomic_bool wanted;         /* a reader waits for its end */
	unsigned times;             /* under the lock: how many have ended */
	pthread_cond_t over;
};

/* What the writer asks of the checkpointer: NONE → RUNS by the writer, RUNS → DONE by the checkpointer, DONE → NONE or RUNS by the writer. */
enum checkpoint_state {
	CHECKPOINT_NONE,
	CHECKPOINT_RUNS, /* or is about to */
	CHECKPOINT_DONE, /* what came meanwhile is left: the writer does the rest, or asks again */
};

struct checkpointer {
	atomic_int state; /* enum checkpoint_state */
	atomic_bool leaves;
	sem_t wake;
	pthread_t thread; /* writer: valid once started */
	bool started;
	struct store_conn *conn; /* owned; its own */
};

struct executor {
	char name[129];
	struct store *store; /* borrowed */
	atomic_bool literal;
	int execution_timeout_s, lock_timeout_ms, transaction_idle_s, transaction_s;
	uint64_t query_cost_limit; /* questions of the store; 0: no limit */
	unsigned max_wal_pages;    /* 0: no limit */
	unsigned max_queue, max_readers;

	pthread_mutex_t lock;
	bool stopping;
	unsigned waiting;           /* calls in both queues */
	bool wake_due, wake_writer; /* somebody will call executor_wake(); it is to wake the writer, too */

	/* writer */
	pthread_t thread;
	pthread_cond_t wake;
	bool asleep, dozing;   /* the writer waits for wake; it does so also when it has been sent */
	int64_t doze_until_ms; /* … until then */
	bool runs_inline;      /* another thread does the writer's work */
	int64_t inline_ms, inline_again_ms; /* when that was last; not before */
	struct list queue;
	struct txn *pinned;    /* the transaction that has the writer, or NULL */
	struct list snapshots; /* transactions that only read so far, of level SNAPSHOT */
	atomic_llong
		next_deadline_ms; /* earliest end of waiting in the queue while pinned; may be too early, never too late */
	struct runner writer;
	struct slot group[GROUP_MAX]; /* writer: the calls of the current commit */
	size_t ngroup;
	const struct proc *promise; /* of the service, or NULL */
	int64_t promised_until;     /* writer: in ticks; 0: never */
	struct deferred deferred;
	int64_t mend_at_ms,
		mend_wait_ms; /* writer: after a failed flush, when the store is mended, or tried to be, next */
	unsigned careful;     /* writer: groups to run with savepoints, after one had to be run twice */

	/* what commits leave behind: the flusher's; under the lock */
	pthread_t flusher;
	pthread_cond_t flusher_wake, flushed;
	bool has_flusher, flusher_leaves;
	bool relaxed;           /* commits are answered before they are flushed … */
	int commit_interval_ms; /* … and flushed so often */
	int64_t unflushed_ms,
		flushing_ms; /* when the oldest commit was made that no flush covers; that the flush under way covers; 0: none */
	struct checkpointer checkpointer;

	/* large values that are read after the commit: later.c */
	pthread_t fetch_threads[FETCH_THREADS];
	unsigned nfetch_threads, idle_fetchers; /* under the lock */
	bool fetch_leaves;                      /* under the lock */
	pthread_cond_t fetch_wake;
	struct list fetches; /* under the lock: to be read; answered before the executor stops */
	struct fetcher {
		struct store_conn *conn; /* owned; whoever has taken it */
		bool taken;              /* under the lock */
	} fetchers[FETCHERS];

	/* readers */
	pthread_cond_t reader_wake;
	struct list reader_queue[LANES];
	unsigned nreaders, idle_readers;     /* threads; of these, those that wait for a call */
	unsigned busy_readers, slow_readers; /* those that have a call; of these, the slow ones */
	unsigned reader_waiting;             /* calls in their queues */
	unsigned
		log_at_end; /* how long the log was when a reader was last ended for it; 0: it has been short since */
	pthread_t reader_threads[READERS_MAX];
	struct runner readers[READERS_MAX];
	struct runner inline_readers[INLINE_READERS]; /* for whoever brings a short call that only reads … */
	bool inline_taken[INLINE_READERS];            /* … under the lock: somebody has */
};

/* executor.c */
/* Ends a call that did not run. */
void call_refuse(struct call *c, enum err_id id, const char *arg);
/* The same for one whose transaction has ended without its owner's wish. */
void call_refuse_lost(struct call *c, const struct err *e);
/* Answers the calls that have waited too long for the pinned transaction. Writer only; takes the lock itself. */
void queue_sweep(struct executor *ex);
/* Under the lock: how long a call may wait from now on. */
int64_t queue_deadline(const struct executor *ex, const struct call *c, int64_t now_ms);
/* Under the lock, which it gives up meanwhile. NEVER: no limit. False: the time has come. */
bool wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t at_ms);
/* For those who look at the server from outside: "w-StateService". Called by the thread itself. */
void thread_name(const struct executor *ex, char kind);

/* writer.c, under the lock: adds waiting calls to ex->group, up to the first one that begins a transaction. */
void group_take(struct executor *ex);
/* writer.c, under the lock: it has something to do, or to do sooner than it would wake by itself. */
bool writer_is_wanted(struct executor *ex);
/* inline.c, under the lock: whether what waits may be run by this thread (alone: which has nobody else to serve); runs it, giving up the lock meanwhile. */
bool inline_may(const struct executor *ex, bool alone);
void inline_run(struct executor *ex);
/* inline.c, under the lock: nothing that waits asks for a flush, or is long. */
bool inline_goes_on(const struct executor *ex);
/* inline.c, without the lock: runs a call that only reads, if it is short and need not wait. False: it is still to be run. */
bool inline_read(struct executor *ex, struct call *c);
/* group.c: runs the calls in ex->group, commits, and completes them. Writer, without the lock. */
void group_run(struct executor *ex);

/* later.c. Whether this step may be put off until after the commit; and then its beginning, which puts it off if the value is large. */
bool later_may(const struct runner *r, const struct call *c, const struct step *s);
MUST_CHECK int later_fetch(struct runner *r, struct call *c, const struct step *s, int64_t row,
			   struct err *reterr);
/* Writer, without the lock: right after the commit of a call that has something for later. */
void later_committed(struct executor *ex, struct call *c);
/* Reads what is left for later, and completes the call: another thread does. */
void later_complete(struct executor *ex, struct call *c);
void later_init(struct executor *ex);
/* After the writer: what is under way is still read and answered. */
void later_stop(struct executor *ex);

/* checkpointer.c. Writer: checkpoints beside it, soon; not while one runs. False: there is no thread for it. */
MUST_CHECK int checkpointer_init(struct checkpointer *k);
void checkpointer_fini(struct checkpointer *k);
bool checkpointer_start(struct executor *ex);
void checkpointer_stop(struct executor *ex);
/* flusher.c. Writer, without the lock: there was a commit that is not flushed. Waits while too much could be lost. */
void flusher_committed(struct executor *ex);
/* When the other threads are gone: flushes the rest. */
void flusher_stop(struct executor *ex);

/* commit.c. Writer, without the lock: commits as the database and the calls ask for. later: all calls in it may be flushed later. */
MUST_CHECK int commit_all(struct executor *ex, bool later, struct err *reterr);
/* Writer, without the lock: renewals were lost; no item expires as if they had not been. */
MUST_CHECK int commit_call_in(struct executor *ex, struct err *reterr);
/* After a flush that failed: tries to make the store sound again, when it is time. Writer, without the lock. */
void commit_mend(struct executor *ex);
/* Before the writer starts, and after it has ended. */
MUST_CHECK int commit_start(struct executor *ex, struct err *reterr);
void commit_end(struct executor *ex);

/* deferred.c. Writer, without the lock, but for deferred_wait(). */
void deferred_init(struct deferred *h);
/* The transaction of a group: a new one, or, not alone, that which is held. */
MUST_CHECK int deferred_begin(struct executor *ex, bool alone, struct err *reterr);
/* Instead of a commit, when so many calls more may wait for theirs: it comes when it is time. */
MUST_CHECK int deferred_add(struct executor *ex, size_t calls, struct err *reterr);
/* Commits what is held, if anything is. After a failure it is lost, which the next deferred_begin() sets right. */
int deferred_commit(struct executor *ex, struct err *reterr);
bool deferred_is_due(const struct executor *ex);
/* The writer's transaction was committed; or is to be undone. */
void deferred_committed(struct executor *ex);
void deferred_rollback(struct executor *ex);
/* Reader, under the lock, which is given up meanwhile: until all that was answered before is committed. */
void deferred_wait(struct executor *ex);

/* pool.c: who reads, and when one is too slow. */
/* Under the lock: the queue that the call goes to. Returns why not, or ERR_NONE. */
enum err_id pool_submit(struct executor *ex, struct call *c);
/* Under the lock: the next call for a reader that is free; NULL: none may begin now. */
struct call *pool_take(struct executor *ex, struct runner *r);
/* Under the lock: that call is over. */
void pool_over(struct executor *ex, struct runner *r);
/* Under the lock: there are more readers than needed, and this one has nothing to do. */
bool pool_is_surplus(const struct executor *ex);
/* By the reader's own thread, without the lock, while its call runs (stalled: waits for its client). True: the call must stop, ended of its reader says why. */
bool pool_must_go(struct call *c, bool stalled, int64_t now_ms);

/* reader.c: on the runner's own connection, which is made if there is none; completes the call. */
void reader_run(struct runner *r, struct call *c);
/* The same without waiting for other processes. True: the call has its result, and is not completed yet; false: it is still to be run. */
bool reader_run_now(struct runner *r, struct call *c);
/* writer.c, reader.c: the threads. */
void *writer_main(void *ex);
void *reader_main(void *runner);

/* txn.c */
/* Under the lock: fills the result of a call whose transaction is not open, when there is nothing to run. True: complete it. */
bool txn_answer(struct txn *t, struct call *c);
/* When a transaction that is silent from now on is given up, and (writer, or under the lock) when this one has been open for too long. */
int64_t txn_idle_limit(const struct executor *ex, int64_t now_ms);
void txn_limit_age(struct txn *t, int64_t now_ms);
/* Which of the two limits it has reached, for its owner; logged. */
struct err txn_overdue(const struct txn *t, int64_t now_ms);
/* Under the lock: gives the writer to the transaction of this call. */
void txn_pin(struct executor *ex, struct txn *t);
/* Writer, without the lock: begins (first) and runs one call of the pinned transaction, and completes it. */
void txn_run(struct executor *ex, struct call *c, bool first);
/* Writer, without the lock: undoes the pinned transaction if it is still open and lets go of the writer. reason: why its owner did not wish it, or NULL. */
void txn_unpin(struct executor *ex, const struct err *reason);

/* snapshot.c. Under the lock: whether the call is to be run by a reader thread, on the connection of its snapshot. */
bool snapshot_takes(const struct call *c);
/* Reader thread, without the lock: runs and completes such a call. */
void snapshot_run(struct call *c);
/* Writer, which has begun: what the transaction has read is still so. 0, or 3960. */
MUST_CHECK int snapshot_upgrade(struct txn *t, struct err *reterr);
void snapshot_close(struct txn *t);
/* Under the lock: when the next one is to be ended (NEVER: none); ends those whose time has come. */
int64_t snapshot_next_due(const struct executor *ex);
void snapshot_sweep(struct executor *ex);
/* When the threads are gone. */
void snapshot_end_all(struct executor *ex);

/* run.c: one call on the runner's connection, inside whatever transaction there is; fills the call's result. */
int run_call(struct runner *r, struct call *c);
void run_fail(struct call *c, const struct err *e);
size_t run_mark(struct call *c);
bool run_rewind(struct call *c, size_t mark);
/* Before a call runs a second time. */
void run_reset(struct call *c);
bool run_stop(void *runner); /* for store_set_interrupt */
/* Fills the sink; the time it takes is not the call's. 0, or ERR_CANCELLED. */
int run_row(struct runner *r, const struct value *vals, size_t n, struct err *reterr);

/* steps.c */
int steps_run(struct runner *r, struct call *c, struct err *reterr);
int steps_run_from(struct runner *r, struct call *c, unsigned pc, struct err *reterr);
/* natives.c: STEP_NATIVE, STEP_EACH, and STEP_ROWS over the rows of a native. */
int native_run(struct runner *r, struct call *c, const struct step *s, struct err *reterr);
int native_each(struct runner *r, struct call *c, const struct step *s, struct err *reterr);
int native_rows(struct runner *r, struct call *c, const struct step *s, struct err *reterr);
/* steps.c, for natives.c: binds (fields: of the current row of EACH), and what a bind stands for. */
int steps_bind(struct runner *r, struct call *c, struct store_stmt *st, const struct statement *s,
	       const struct value *fields, size_t nfields, struct err *reterr);
int steps_value(struct runner *r, struct call *c, const struct bind *b, const struct value *fields,
		size_t nfields, struct value *ret, struct err *reterr);

int query_run(struct runner *r, struct call *c, struct err *reterr);
/* rows.c: a whole result set from a bound statement into the sink. */
int rows_send(struct runner *r, struct call *c, struct store_stmt *st, const struct column *cols, size_t n,
	      struct err *reterr);
/* Its rows only, between sink_columns and sink_rows_done of the caller. */
int rows_send_part(struct runner *r, struct call *c, struct store_stmt *st, const struct column *cols,
		   size_t n, uint64_t *ret_rows, struct err *reterr);
/* message.c: text with {@name} replaced by values. */
int message_format(struct call *c, const char *text, char *dst, size_t size, struct err *reterr);

#endif
