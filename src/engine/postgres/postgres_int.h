/* postgres_int.h — private to the files of the PostgreSQL engine. */
#ifndef ENGINE_POSTGRES_POSTGRES_INT_H
#define ENGINE_POSTGRES_POSTGRES_INT_H

#include <assert.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/lock.h"
#include "catalogue/postgres.h"
#include "engine/implement.h"
#include "engine/postgres/postgres.h"

#define PG_GROUP_MAX 64     /* calls of one transaction */
#define PG_SETS_MAX 4       /* procedures whose calls go together in one */
#define PG_WORKERS_MAX 80   /* threads of a database */
#define PG_READERS_EXTRA 14 /* of these, readers beside those that the setting allows */
#define PG_SCHEMA 64        /* of names of schemas, with the NUL */
#define PG_SLOT 48          /* "<32 digits of the server>/<number>" and a NUL */
#define PG_ADVISORY 7234017
#define PG_ADVISORY_CLEAN 7234018

#define PG_HOSTS_MAX 16
/* What every session is set to, whatever the cluster's own settings say. PostgreSQL notices within
 * some ten seconds that this machine is gone: until then the session keeps what it has locked, and
 * whoever writes waits for it. Commits are where they must be before they are answered. */
#define PG_SESSION_SQL \
	"SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3; " \
	"SET tcp_user_timeout = '10s'; SELECT set_config('synchronous_commit', 'on', false) WHERE " \
	"current_setting('synchronous_commit') IN ('off', 'local')"
/* The timeline of a primary; -1: a standby. */
#define PG_TIMELINE_SQL \
	"SELECT CASE WHEN pg_is_in_recovery() THEN -1 ELSE ('x' || substr(pg_walfile_name(" \
	"pg_current_wal_lsn()), 1, 8))::bit(32)::int END"

/* What is known of a session that says nothing: ask.c. */
struct pg_doubt {
	int64_t alive_ms; /* when it was seen at PostgreSQL, or its silence began; monotonic */
	bool waits;       /* there it waited for us, as we do for it */
};

/* What is known of the primary, and the thread that sees to it: primary.c. */
struct pg_primary {
	struct lock lock;
	pthread_cond_t wake; /* the thread */
	pthread_cond_t told; /* those who wait for a search, or a proof */
	pthread_t thread;
	bool has_thread;
	atomic_bool stopping;
	int host;                               /* under the lock: which of the hosts; -1: not known yet */
	bool search_wanted;                     /* under the lock */
	unsigned searches_begun, searches_done; /* under the lock */
	char why[400];                          /* under the lock: why the last search found nobody */
	atomic_bool proof_wanted;
	atomic_uint changes;    /* of the host or its timeline */
	atomic_llong proved_ms; /* clock_boot_ms() before the last proof was sent; 0: none */
	atomic_llong usable_ms; /* the same clock: before that the new primary is not used */
	PGconn *h;              /* the thread's own session; owned */
	bool unconfirmed;       /* the thread's: its commit is not on the standby */
	bool asking;            /* the thread's: a proof is under way */
	struct pg_doubt doubt;  /* of its session; the thread's */
	int64_t searched_ms;    /* the thread's */
};

/* A bare session for schemas and locks. */
struct pg_plain {
	struct pg_engine *engine;
	PGconn *session; /* owned */
};

struct pg_engine {
	struct engine base;
	char *conninfo; /* owned */
	struct pg_host {
		char *host, *hostaddr, *port; /* owned; NULL: as libpq finds it */
	} * hosts;                            /* owned */
	int nhosts, connect_ms;
	struct pg_primary primary;
	char name[129];
	unsigned connections, readers;
	int failover_ms;
	bool (*gives_up)(void);     /* NULL: a start waits for a primary as long as it may */
	char server[33];            /* which server this is: made anew at every start */
	atomic_uint next_mark;      /* numbers of marks */
	atomic_int timeline;        /* the latest that any connection has seen */
	struct pg_plain start_lock; /* held while this server starts */
	struct lock lock;
	struct list databases; /* under the lock: struct pg_database.link */
	pthread_cond_t wake;   /* of the keeper */
	pthread_t keeper;
	pthread_t share, counter;
	bool has_keeper, has_share, has_counter;
	atomic_bool stopping;               /* set under the lock */
	struct engine_postgres_watch watch; /* under the lock; arg is NULL: nobody is told */
	bool telling;                       /* under the lock: one of its functions runs */
	pthread_cond_t told;                /* none does any more */
	uint8_t key[32];                    /* of the installation */
	atomic_bool cleans;                 /* it is this server's turn */
	atomic_ullong kicks;                /* how often something was left here to clean up */
	atomic_bool kicked;                 /* and nobody has been told of it yet */
	atomic_bool alone;                  /* no other server has been heard of lately */
	struct lock ask_lock;               /* the two below */
	PGconn *asker;                      /* for people who look; owned */
	int64_t ask_after_ms;               /* before that it is not tried */
};

/* What is noted about a call while it is here. */
struct pg_notes {
	int64_t deadline_ms;      /* when waiting for others ends; 0: it has not begun */
	struct pg_worker *worker; /* that took it; under the lock */
};
_Static_assert(sizeof(struct pg_notes) <= sizeof(union call_room), "the room of a call is too small");

static inline struct pg_notes *postgres_notes(const struct call *c)
{
	return (struct pg_notes *)(void *)&((struct call *)c)->room;
}

enum pg_worker_kind { PG_WRITER, PG_READER };

/* A row of the table `mark`, which belongs to one connection at a time. */
struct pg_mark {
	unsigned number; /* behind the server's name */
	int64_t seq;     /* of the last mark */
	bool made;       /* the row is there */
};

#define PG_ITEMS 1024 /* numbers of items */

struct pg_database {
	struct engine_database base;
	struct pg_engine *engine;
	struct list link; /* of the engine's */
	const struct pg_service *sql;
	const struct service_procs *procs;
	char schema[PG_SCHEMA], code[PG_SCHEMA]; /* of the tables; of functions and views */
	char identity[ENGINE_IDENTITY];
	int64_t count_at_ms;         /* under the engine's lock: when it is counted again; 0: not known */
	atomic_llong clock;          /* the latest reading that any call here has had, in ticks */
	atomic_bool relaxed;         /* commits are answered before they are durable */
	const struct proc *promise;  /* procession_promise of the service, or NULL */
	atomic_llong promised_until; /* renewals up to this time may be lost, in ticks */

	struct lock lock;
	struct list queue[2];      /* of calls that wait; by enum pg_worker_kind */
	unsigned waiting[2];       /* calls in these */
	unsigned waiting_alone[2]; /* of these, those that go without a group */
	unsigned idle[2];          /* workers that wait for a call */
	unsigned woken[2];         /* of these, those that have been told */
	struct list asleep[2];     /* the others, in the order in which they fell asleep */
	bool watched[2];           /* one of these looks again soon, by the clock */
	unsigned running[2];       /* groups under way */
	int64_t latest_ms[2];      /* when the latest of these began */
	bool takes_turns;          /* one group writes at a time, on all servers: constant */
	uint16_t busy[PG_ITEMS];   /* calls of groups under way, by the number of their item: items.c */
	atomic_bool gate_taken;    /* a transaction of another server has kept a group waiting */
	atomic_bool stopping;
	struct pg_txn *pinned; /* the transaction that has the gate, or wants it; others wait */
	struct list txns;      /* explicit transactions with a connection: struct pg_txn.link */
	struct pg_conn *spare; /* a connection for the next transaction; owned */
	unsigned slow_readers; /* that have given up their place */
	struct pg_worker *workers[PG_WORKERS_MAX];
	unsigned nworkers, nworkers_of[2];
	struct lock marks_lock; /* the three below; nothing is waited for under it */
	struct pg_mark *marks;  /* of connections that are closed, for the next ones; owned */
	size_t nmarks, marks_cap;
	atomic_ullong conflicts, reconnects; /* groups that were run again, and why */
	/* what it holds, as one server has counted it not long ago: counter.c */
	bool counted;
	uint64_t bytes; /* 0: not known */
	int64_t numbers[SERVICE_NUMBERS_MAX];
};

/* ---- which host: hosts.c, search.c, primary.c ---- */

MUST_CHECK int postgres_hosts_init(struct pg_engine *e, struct err *reterr);
void postgres_hosts_fini(struct pg_engine *e);
/* Begins a connection, which PQconnectPoll() takes on. */
PGconn *postgres_host_begin(const struct pg_engine *e, int which, const char *application);
/* NULL: it did not answer in time, it is time to stop, or another host is the primary. */
PGconn *postgres_host_connect(const struct pg_engine *e, int which, const char *application,
			      const atomic_bool *stop, unsigned changes);
/* Asks all of them. NULL: none is the primary, and why. */
PGconn *postgres_search(struct pg_engine *e, int *ret_host, int *ret_timeline, char *why, size_t size);

MUST_CHECK int postgres_primary_start(struct pg_engine *e, struct err *reterr);
void postgres_primary_stop(struct pg_engine *e);
/* A connection to the primary; NULL: and why. */
PGconn *postgres_connect(struct pg_engine *e, const char *application, const atomic_bool *stop, char *why,
			 size_t size);
/* Somebody has seen this timeline; host -1: wherever it was. */
void postgres_adopt(struct pg_engine *e, int host, int timeline);
/* Something is wrong with the primary: the thread looks for another one. */
void postgres_suspect(struct pg_engine *e);
/* Until a new primary may be used. False: it is time to stop before. */
MUST_CHECK bool postgres_await_grace(struct pg_engine *e, const atomic_bool *stop);
/* A commit that was sent then (clock_boot_ms()) has been confirmed. */
void postgres_proved(struct pg_engine *e, int timeline, int64_t sent_ms);
/* Whoever answers without a commit asks this first. PG_OK: nobody has been told anything by another
 * primary yet. PG_BROKEN: another one has taken over. PG_FAILED: nobody knows in time, or a call is
 * called off; reterr says why. */
enum pg_state postgres_lease(struct pg_conn *c, int64_t until_ms, struct err *reterr);

/* ---- questions to a bare session: ask.c, plain.c ---- */

/* A text, waited for a few seconds, or until *stop (NULL: nothing else ends it). NULL: the session
 * is of no use any more. */
PGresult *postgres_exec(struct pg_engine *e, PGconn *h, const char *sql, const atomic_bool *stop);
/* The same, waited for as long as PostgreSQL works at it. NULL, or an error that says that the
 * session ends: PQstatus() says so, too. */
PGresult *postgres_exec_long(struct pg_engine *e, PGconn *h, const char *sql);
/* The same, and *stop ends it. */
PGresult *postgres_exec_until(struct pg_engine *e, PGconn *h, const char *sql, const atomic_bool *stop);
/* One statement with values as PQexecParams takes them, waited for a few seconds. NULL: it failed,
 * and the session is to be closed. */
PGresult *postgres_ask(struct pg_engine *e, PGconn *h, const char *sql, int n, const char *const *values,
		       const int *lengths, const int *formats);
/* Of a session that has not answered for a while, asked on another one (NULL: on one that is made
 * for it). False: nobody will answer, or it was time to stop before that was known. */
bool postgres_lives(struct pg_engine *e, PGconn *other, PGconn *h, struct pg_doubt *d,
		    const atomic_bool *stop);

/* A primary that is gone is waited for as calls wait for it. */
MUST_CHECK int postgres_plain_open(struct pg_engine *e, struct pg_plain *ret, struct err *reterr);
void postgres_plain_close(struct pg_plain *h);
/* Waited for as long as PostgreSQL works at it. */
MUST_CHECK int postgres_plain_script(const struct pg_plain *h, const char *sql, struct err *reterr);
/* Of a thread that does without PostgreSQL meanwhile: its session, with these settings, is there,
 * or is made now. False: it could not be; *h is NULL. */
bool postgres_plain_keep(struct pg_engine *e, PGconn **h, const char *settings);

/* ---- connections: conn.c, pipeline.c, cancel.c ---- */

/* Statements that every session uses, prepared like the others. */
enum pg_fixed {
	PG_BEGIN_WRITE,
	PG_BEGIN_READ,
	PG_BEGIN_LOOK,
	PG_BEGIN_QUERY,
	PG_BEGIN_TXN,
	PG_BEGIN_SNAPSHOT,
	PG_GATE,       /* held by everybody who writes, together */
	PG_GATE_TURN,  /* the same, one at a time */
	PG_GATE_ALONE, /* nobody else writes meanwhile */
	PG_LAZY,       /* this commit need not be on a disk when it is answered */
	PG_COMMIT,
	PG_MARK,
	PG_SAVE,
	PG_RELEASE,
	PG_BACK,
	PG_CLOCK,
	PG_BE_READER,  /* from here on this transaction can read views, and nothing else */
	PG_BE_ONESELF, /* the end of it */
	PG_FIXED_COUNT
};

/* One session of PostgreSQL, always in pipeline mode, with what has been prepared in it. Used by
 * one thread at a time. */
struct pg_conn {
	struct pg_database *db;
	PGconn *h;                               /* NULL: not connected */
	bool *functions, *together, *statements; /* which have been prepared; owned */
	bool fixed[PG_FIXED_COUNT];
	int timeline;
	long version;             /* of the tables, when it was made; 0: not known */
	int64_t since_ms;         /* clock_boot_ms() when it had been made */
	char slot[PG_SLOT];       /* of its marks: stays when it connects anew */
	struct pg_mark mark;      /* its row of marks: taken by postgres_conn_new() */
	bool in_doubt;            /* nobody could tell whether its last commit happened */
	int64_t answer_by_ms;     /* after that nobody is waited for any more; 0: no limit */
	bool marked, lazy;        /* its transaction has its mark; waits for no disk */
	bool given_up;            /* nobody answers, or it is gone: for nothing but to be dropped */
	bool may_be_lost;         /* PostgreSQL said that a commit is not on its standby */
	bool commits;             /* COMMIT was sent, and what came of it is not known yet */
	struct engine_run *run;   /* of the call that is waited for; NULL: of none */
	bool cancelled;           /* PostgreSQL was asked to end what runs */
	struct pg_worker *worker; /* on whose thread it is waited for: its own, or its transaction's */
	size_t unsent;            /* at most so many bytes of arguments are in libpq's buffer */
	bool bulky;               /* its buffers have become large: postgres_conn_slim() */
	struct arena arena;       /* for values on their way out */
	/* what has been sent and not been answered yet, in order */
	struct pg_expected {
		bool *prepares; /* set when it succeeded; NULL: it is no preparation */
	} * expected;
	size_t nexpected, expected_at, expected_cap;
};

enum pg_state {
	PG_OK,
	PG_FAILED, /* PostgreSQL refused it; the error says why; the pipeline is to be mended */
	PG_BROKEN, /* the connection is gone, or nobody answers */
};

MUST_CHECK int postgres_conn_new(struct pg_database *db, struct pg_conn **ret, struct err *reterr);
void postgres_conn_free(struct pg_conn *c); /* NULL is welcome */
/* Connects if it is not connected, trying again until then (ms of the monotonic clock), or until a
 * call is called off. */
MUST_CHECK int postgres_conn_ready(struct pg_conn *c, int64_t until_ms, struct err *reterr);
void postgres_conn_drop(struct pg_conn *c);
/* Between two uses. libpq's buffers never become smaller: a session that had a large value in them
 * is given up. */
void postgres_conn_slim(struct pg_conn *c);
/* What libpq says of a failed connection, in one line. */
void postgres_conn_why(PGconn *h, char *dst, size_t size);
/* A bare session, of no database. NULL: there is no primary now, or it is time to stop. */
MUST_CHECK PGconn *postgres_conn_plain(struct pg_engine *e, const atomic_bool *stop, struct err *reterr);

struct pg_params {
	int n, cap;
	const char **values;
	int *lengths, *formats;
	Oid *types;
	size_t bytes; /* of all values */
};
/* All of these send without waiting. false: the connection is gone. */
bool postgres_send_text(struct pg_conn *c, const char *sql);
bool postgres_send_params(struct pg_conn *c, const char *sql, const struct pg_params *p);
/* name is prepared first, once. */
bool postgres_send_prepared(struct pg_conn *c, const char *name, bool *prepared, const char *sql,
			    const struct pg_params *p);
bool postgres_send_fixed(struct pg_conn *c, enum pg_fixed which);
bool postgres_send_fixed_with(struct pg_conn *c, enum pg_fixed which, const struct pg_params *p);
bool postgres_send_flush(struct pg_conn *c); /* all results so far are wanted now */
bool postgres_send_sync(struct pg_conn *c);
/* The next result. *ret is to be cleared by the caller, also after PG_FAILED. */
enum pg_state postgres_next(struct pg_conn *c, PGresult **ret);
/* The same, of something whose result is of no interest. */
enum pg_state postgres_skip(struct pg_conn *c, struct err *reterr);
/* Waits for the answer to postgres_send_sync(), dropping what comes before. */
enum pg_state postgres_synced(struct pg_conn *c);
/* The rows of the statement that is answered next come one by one, by postgres_part(), which gives
 * NULL at their end. */
void postgres_row_by_row(struct pg_conn *c);
/* Whatever runs there is to end: it fails, now or later, or is done first. False: PostgreSQL does
 * not take that; the connection is as good as lost. */
MUST_CHECK bool postgres_ask_to_end(struct pg_conn *c);
/* What was asked to end is over: what follows has its own limits. */
void postgres_asked_is_over(struct pg_conn *c);
enum pg_state postgres_part(struct pg_conn *c, PGresult **ret);
/* After PG_FAILED: rolls back, and the pipeline is usable again. false: the connection is gone. */
bool postgres_rollback(struct pg_conn *c);
/* One statement, waited for. */
enum pg_state postgres_do(struct pg_conn *c, const char *sql, struct err *reterr);
enum pg_state postgres_do_fixed(struct pg_conn *c, enum pg_fixed which, struct err *reterr);

/* ---- error.c ---- */

/* What a failed result means, in the client's words. */
void postgres_error(struct pg_conn *c, const PGresult *r, struct err *reterr);
bool postgres_is_conflict(const PGresult *r);     /* 40001, 40P01: run it again */
bool postgres_is_lock_timeout(const PGresult *r); /* 55P03 */
bool postgres_is_gone(const PGresult *r);         /* the session ends: as a lost connection */
bool postgres_has_state(const PGresult *r, const char *sqlstate);
bool postgres_is_unconfirmed(const PGresult *r); /* a notice: no standby has this commit, maybe */
int postgres_unconfirmed(struct err *reterr);    /* what is told of such a commit; -1 */

/* ---- text.c: texts that PostgreSQL would not take ---- */

/* The text as PostgreSQL keeps it; it stays where it is, or is made in the arena. */
MUST_CHECK int postgres_text_out(struct str s, struct arena *a, struct str *ret, struct err *reterr);
MUST_CHECK int postgres_text_in(struct str s, struct arena *a, struct str *ret, struct err *reterr);

/* ---- values.c ---- */

MUST_CHECK int postgres_params_init(struct pg_params *p, struct arena *a, unsigned cap, struct err *reterr);
MUST_CHECK int postgres_param(struct pg_params *p, struct arena *a, const struct value *v, uint8_t kind,
			      struct err *reterr);
MUST_CHECK int postgres_param_int(struct pg_params *p, struct arena *a, int64_t i, struct err *reterr);
MUST_CHECK int postgres_param_text(struct pg_params *p, const char *s, struct err *reterr);
/* An array of kind; values of all rows are at values[0], values[stride] … */
MUST_CHECK int postgres_param_array(struct pg_params *p, struct arena *a, const struct value *values,
				    size_t stride, size_t n, uint8_t kind, struct err *reterr);
/* The natural kind of a type. */
uint8_t postgres_kind(const struct type *t);
/* A column of a result as a value of this type; text and bytes stay in the result, or are made in
 * the arena. */
MUST_CHECK int postgres_column(const PGresult *r, int row, int column, const struct type *as, struct arena *a,
			       struct value *ret, struct err *reterr);
int64_t postgres_column_int(const PGresult *r, int row, int column);

/* ---- call.c: calls as functions; steps.c: step by step ---- */

const struct pg_function *postgres_function(const struct pg_database *db, const struct call *c);
/* Natives that run before the function, then it is sent. -1: the call failed, *ret_broken: because
 * the connection is gone. */
MUST_CHECK int postgres_call_send(struct pg_conn *c, struct call *call, bool *ret_broken, struct err *reterr);
/* Its answer: rows to the sink, outputs, status. -1: the call failed by a rule of its own, having
 * changed nothing. PG_UNTAKEN: it was done, but there is no room for its answer, or nobody who
 * takes it: whatever it changed is to be undone. */
#define PG_UNTAKEN -2
MUST_CHECK int postgres_call_take(struct pg_conn *c, struct call *call, const PGresult *r,
				  struct err *reterr);
/* One row of an answer that has those of several calls. */
MUST_CHECK int postgres_call_take_row(struct pg_conn *c, struct call *call, const PGresult *r, int row,
				      struct err *reterr);
/* An argument that is no array. */
MUST_CHECK int postgres_bind(struct pg_conn *c, struct call *call, const struct pg_arg *arg,
			     struct pg_params *p, struct err *reterr);
/* Step by step, inside the transaction of the connection. PG_FAILED: the pipeline is to be mended
 * if *ret_state says so. */
struct pg_outcome {
	int rc;        /* 0, or -1: reterr says why */
	bool broken;   /* the connection is gone */
	bool conflict; /* 40001, 40P01 */
	bool failed;   /* PostgreSQL refused a statement: its transaction can only be rolled back */
};
struct pg_outcome postgres_steps_run(struct pg_conn *c, struct call *call, struct err *reterr);
struct pg_outcome postgres_query_run(struct pg_conn *c, struct call *call, struct err *reterr);
/* One call of whatever kind, by function, steps or query, waited for. */
struct pg_outcome postgres_run_call(struct pg_conn *c, struct call *call, struct engine_run *run);
/* Of one that has not succeeded: whether its client, its time or somebody who waits has ended it.
 * Then it has its error, and does not run again, whatever became of the connection. */
bool postgres_is_ended(const struct engine_run *run, struct call *call);

/* ---- clock ---- */

void postgres_clock_seen(struct pg_database *db, int64_t ticks);
/* clocks.c: those of all databases, for the others, as text; and what the others have told. */
void postgres_clocks_write(struct pg_engine *e, struct buf *ret);
bool postgres_clocks_hear(struct pg_engine *e, PGconn *h);

/* ---- mark.c: whether a commit happened ---- */

/* One for a new connection: that of a closed one, if there is any, so that there are never more of
 * them than there were connections at one time. */
void postgres_mark_take(struct pg_conn *c);
void postgres_mark_give_back(struct pg_conn *c);
/* The row of this connection, before its first use. */
MUST_CHECK enum pg_state postgres_mark_make(struct pg_conn *c, struct err *reterr);
/* Part of a transaction: it will have been committed when this mark is found. */
bool postgres_mark_send(struct pg_conn *c);
/* The answer to it. PG_FAILED: not this time, but maybe when the transaction is run again. */
enum pg_state postgres_mark_answer(struct pg_conn *c);
/* Sends the commit and waits. PG_BROKEN: in doubt. One that waits for no disk is confirmed by
 * nobody: whether that was still the primary is asked until then. */
enum pg_state postgres_commit(struct pg_conn *c, int64_t until_ms, struct err *reterr);
/* After PG_BROKEN: connects anew and looks. 1: it happened, 0: it did not, -1: nobody knows. */
int postgres_mark_look(struct pg_conn *c, int64_t until_ms, struct err *reterr);

/* ---- pool.c, group.c, reader.c, txn.c ---- */

/* A group that may be lost with the machine of PostgreSQL: promise.c. */
enum pg_later {
	PG_NOT_LATER,
	PG_LATER,         /* its commit waits for no disk */
	PG_LATER_PROMISE, /* it does, since it brings a new promise */
};
struct pg_worker {
	struct pg_database *db;
	enum pg_worker_kind kind;
	pthread_t thread;
	struct pg_conn *conn; /* owned */
	struct engine_run run;
	struct pg_slot {
		struct call *call;
		size_t mark; /* of its sink */
		bool dead;   /* it has its result, whatever comes of the others */
		enum { PG_BY_ITSELF, PG_IN_SET, PG_ANSWERED } way;
		uint64_t subject; /* of a call that may be in a set: which item it is about */
	} group[PG_GROUP_MAX];
	size_t ngroup;
	uint16_t items[PG_GROUP_MAX]; /* under the lock: what its group is about, while that is counted */
	unsigned nitems;
	struct pg_set {
		const struct proc *proc;
		uint8_t slots[PG_GROUP_MAX], n; /* in the order of the arrays */
	} sets[PG_SETS_MAX];
	unsigned nsets;
	enum pg_later later; /* how the group is committed */
	struct call promise; /* of PG_LATER_PROMISE */
	struct value promise_value;
	bool counted;            /* under the lock: its group is one of those that run */
	atomic_bool interrupted; /* set under the lock: one of its calls is cancelled, or the database ends */
	int wake_fd;             /* eventfd: the same for whoever polls */
	struct list link;        /* under the lock: of those that sleep */
	pthread_cond_t wake;
	bool told; /* under the lock: to wake up */
	/* of a reader with a call that may take long: when it began, since when its client does not
	 * read; 0: it has none, it reads */
	int64_t began_ms, stalled_ms;
	bool slow, goes; /* under the lock: it has given up its place; it was told to end */
};

/* items.c: where groups run side by side, they are about different items */
#define PG_ITEM_NONE 0
/* The text that names the one item that a call is about; NULL: it is about others, or many. */
const struct str *postgres_item_name(const struct call *c);
/* Under the lock: whether it is about an item of a group under way. */
bool postgres_item_is_busy(const struct pg_database *db, const struct call *c);
/* Under the lock: the group begins, and has ended. */
void postgres_items_hold(struct pg_worker *w);
void postgres_items_release(struct pg_worker *w);
/* Whether statements of a group may lock rows in any order: nobody beside it writes these. */
bool postgres_items_are_ours(const struct pg_database *db);

/* slow.c: how many readers there may be now; under the lock */
unsigned postgres_slow_readers_most(const struct pg_database *db);
/* A call that may take long begins on a reader, and has ended; the latter under the lock. */
void postgres_slow_begin(struct pg_worker *w, struct call *c);
void postgres_slow_end(struct pg_worker *w);
/* Asked now and then while it runs, and while it waits for its client. True: it is to end. */
bool postgres_slow_must_go(struct pg_worker *w, bool stalled, int64_t now_ms);
/* Under the lock: somebody takes what waits. */
void postgres_rouse(struct pg_database *db, enum pg_worker_kind kind);

bool postgres_submit(struct pg_database *db, struct call *c);
void postgres_wake(struct pg_database *db);
void postgres_cancel(struct pg_database *db, struct call *c);
MUST_CHECK int postgres_pool_start(struct pg_database *db, struct err *reterr);
void postgres_pool_stop(struct pg_database *db);
/* The keeper: ends what has waited or been open for too long. */
void postgres_pool_sweep(struct pg_database *db, int64_t now_ms);

/* ---- interrupt.c: calls that are cancelled while a worker has them ---- */

/* Under the lock: it looks at its calls, and whether the database ends. */
void postgres_interrupt(struct pg_worker *w);
/* What ends waiting on this connection: a flag for those who wait by themselves. */
const atomic_bool *postgres_stop_of(const struct pg_conn *c);
/* Whether a call of its worker's is cancelled, and may be answered: nobody waits any more. */
bool postgres_is_called_off(struct pg_conn *c);
/* Nothing is under way: those that are cancelled are answered, and the group goes on without. */
void postgres_dismiss(struct pg_worker *w);

/* On the worker's thread, without the lock; completes the calls. */
void postgres_group_run(struct pg_worker *w);
void postgres_reader_run(struct pg_worker *w);
void postgres_txn_run(struct pg_worker *w, struct call *c);

/* ---- together.c: calls of one procedure as one statement ---- */

bool postgres_together_is_for(const struct pg_database *db, const struct call *c);
/* Which calls of the group go in sets; these are sent. False: the connection is gone. */
void postgres_sets_choose(struct pg_worker *w);
bool postgres_sets_send(struct pg_worker *w);
/* Its answer. Calls that are still PG_IN_SET after that were not done. False: PG_UNTAKEN of one. */
MUST_CHECK bool postgres_set_take(struct pg_worker *w, const struct pg_set *set, const PGresult *r);

/* ---- promise.c: renewals that are answered before they are durable ---- */

void postgres_promise_init(struct pg_database *db);
/* Of a new session: if PostgreSQL may have lost something, before anything else. -1: again. */
MUST_CHECK int postgres_promise_call_in(struct pg_conn *c);
/* Before the group is sent. */
void postgres_promise_choose(struct pg_worker *w);
/* The new promise, if there is one: sent behind the calls, its answer taken behind theirs. */
bool postgres_promise_send(struct pg_worker *w);
MUST_CHECK enum pg_state postgres_promise_take(struct pg_worker *w);
/* All answers are there: whether the promise covers them. False: again, with a new one. */
bool postgres_promise_holds(const struct pg_worker *w);
/* The group is committed, and with it the new promise. */
void postgres_promise_kept(struct pg_worker *w);

enum pg_txn_state {
	PG_TXN_NEW,
	PG_TXN_OPEN,
	PG_TXN_LOST, /* lost says why */
};
struct pg_txn {
	struct txn base;
	struct pg_database *db;
	struct list link;        /* of the database's, while it is open */
	enum pg_txn_state state; /* under the lock */
	struct err lost;         /* under the lock */
	struct pg_conn *conn;    /* owned; whoever runs a call of it */
	bool running;            /* under the lock: a worker runs a call of it */
	bool writes;             /* it has the gate */
	int64_t marks;           /* a snapshot: what others had committed when it began */
	int64_t idle_at_ms, age_at_ms;
	uint32_t session;
	struct engine_savepoints savepoints; /* whoever runs a call of it; number n is client_n */
};
static inline struct pg_txn *postgres_txn_of(const struct call *c)
{
	return CONTAINER_OF(c->txn, struct pg_txn, base);
}
struct txn *postgres_txn_new(struct pg_database *db, bool snapshot);
bool postgres_txn_is_lost(struct txn *t, struct err *ret);
void postgres_txn_free(struct txn *t);
/* Under the lock: whether this call needs no worker: *c has its result then. */
bool postgres_txn_answers(struct pg_txn *t, struct call *c);
/* Under the lock: whether the call must wait for the transaction of another session here. */
bool postgres_txn_blocks(const struct pg_database *db, const struct call *c);
/* Under the lock: a worker takes this call. */
void postgres_txn_take(struct pg_worker *w, struct call *c);
/* The keeper: ends those that are silent, or open, for too long. */
void postgres_txn_sweep(struct pg_database *db, int64_t now_ms);
/* When the workers are gone. */
void postgres_txn_end_all(struct pg_database *db);

/* ---- keeper.c, share.c, schema.c ---- */

/* A pause of a thread of the engine's. False: it is time to stop. */
bool postgres_pause(struct pg_engine *e, int ms);
/* Its thread, which ends when the engine is stopping. */
MUST_CHECK int postgres_share_start(struct pg_engine *e, struct err *reterr);
MUST_CHECK int postgres_counter_start(struct pg_engine *e, struct err *reterr);

MUST_CHECK int postgres_keeper_start(struct pg_engine *e, struct err *reterr);
void postgres_keeper_stop(struct pg_engine *e);
MUST_CHECK int postgres_schema_open(struct pg_database *db, const struct engine_open *o, struct err *reterr);
/* A database that is being dropped has a schema of another name, which an open of a known one takes
 * back; then that is dropped with all that is in it. */
MUST_CHECK int postgres_schema_put_away(struct pg_engine *e, const char *schema, struct err *reterr);
MUST_CHECK int postgres_schema_each_dropped(struct pg_engine *e,
					    void (*one)(struct pg_engine *e, const char *schema, void *arg),
					    void *arg, struct err *reterr);
MUST_CHECK int postgres_schema_drop(struct pg_engine *e, const char *schema, struct err *reterr);
/* A database that is being made by a move: where it would be, refusing what is taken; its tables
 * and functions, which nobody opens before its store says of which service it is. */
MUST_CHECK int postgres_schema_place(struct pg_engine *e, const char *name, char ret[ENGINE_PLACE],
				     struct err *reterr);
MUST_CHECK int postgres_schema_make(struct pg_database *db, const struct engine_open *o, struct err *reterr);
/* What a move that was cut short has left: triggers, and the keys that they noted. Twice the
 * schema. */
#define POSTGRES_NOTE "procession_note"
#define POSTGRES_FORGET_NOTES \
	"DO $$ DECLARE f text; BEGIN FOR f IN SELECT p.oid::regprocedure::text FROM pg_proc p JOIN " \
	"pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = '%s' AND p.proname ~ '^" POSTGRES_NOTE \
	"' LOOP EXECUTE 'DROP FUNCTION ' || f || ' CASCADE'; END LOOP; DROP TABLE IF EXISTS " \
	"\"%s\"." POSTGRES_NOTE "; END $$"
/* copy.c, copy_from.c, copy_to.c */
MUST_CHECK int postgres_copy_place(struct engine *base, const char *name, char ret[ENGINE_PLACE],
				   struct err *reterr);
MUST_CHECK int postgres_copy_from(struct engine_database *base, const struct copy_watch *w,
				  struct copy_side **ret, struct err *reterr);
MUST_CHECK int postgres_copy_to(struct engine *base, const struct engine_open *o, const struct copy_watch *w,
				struct copy_side **ret, struct err *reterr);
MUST_CHECK int postgres_schema_renew(struct pg_database *db, struct err *reterr);
/* -1: its tables are those of a newer program. */
MUST_CHECK int postgres_schema_check(const struct pg_database *db, long version, struct err *reterr);

#endif
