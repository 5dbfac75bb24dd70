/* implement.h — for those who write an engine: the table of functions that it offers, and what all
 * engines have in common. An engine embeds struct engine, struct engine_database and struct txn as
 * the first members of its own. Nobody but the folders of engines includes this. */
#ifndef ENGINE_IMPLEMENT_H
#define ENGINE_IMPLEMENT_H

#include "base/lock.h"
#include "catalogue/native.h"
#include "catalogue/query.h"
#include "engine/copy.h"
#include "engine/engine.h"
#include "metrics/metrics.h"

struct engine_ops {
	int (*open)(struct engine *e, const struct engine_open *o, struct engine_database **ret,
		    struct err *reterr);
	void (*close)(struct engine_database *db);
	int (*retire)(struct engine *e, struct engine_database *db, const char *place, struct err *reterr);
	void (*discard)(struct engine *e, const char *place, bool (*known)(void *arg, const char *place),
			void *arg);
	void (*free)(struct engine *e);
	const char *(*place)(const struct engine_database *db);
	const char *(*identity)(const struct engine_database *db);
	int (*identity_renew)(struct engine_database *db, struct err *reterr);
	void (*set)(struct engine_database *db, const struct engine_settings *s);

	bool (*submit)(struct engine_database *db, struct call *c);
	void (*wake)(struct engine_database *db, bool alone);
	void (*cancel)(struct engine_database *db, struct call *c);

	struct txn *(*begin)(struct engine_database *db, bool snapshot);
	bool (*txn_is_lost)(struct txn *t, struct err *ret);
	void (*txn_free)(struct txn *t);

	void (*statistics)(struct engine_database *db, struct engine_statistics *ret);
	size_t (*waits)(struct engine_database *db, struct engine_wait *dst, size_t max);
	const char *(*damage)(const struct engine_database *db);
	int (*check)(struct engine_database *db, char **ret_report, struct err *reterr);
	/* NULL, with the two behind it: the engine has better means */
	int (*hold)(struct engine_database *const *dbs, size_t n, struct engine_held **ret,
		    struct err *reterr);
	int (*backup)(struct engine_held *h, const char *file, bool (*goes_on)(void *arg), void *arg,
		      struct err *reterr);
	void (*release)(struct engine_held *h);
	unsigned (*descriptors)(struct engine *e, unsigned threads);

	/* a database as rows: copy.h */
	int (*copy_place)(struct engine *e, const char *name, char ret[ENGINE_PLACE], struct err *reterr);
	int (*copy_from)(struct engine_database *db, const struct copy_watch *w, struct copy_side **ret,
			 struct err *reterr);
	int (*copy_to)(struct engine *e, const struct engine_open *o, const struct copy_watch *w,
		       struct copy_side **ret, struct err *reterr);
};

struct engine {
	const struct engine_ops *ops;
	struct engine_limits limits;
	const struct catalogue_natives *natives; /* borrowed; NULL: none */
	struct metrics *metrics;                 /* borrowed; NULL: nothing is counted */
	enum query_sql sql;                      /* in which it wants its queries */
};

struct engine_held {
	const struct engine_ops *ops;
};

/* ---- gate.c: the way in, which a move shuts for a moment (gate.h) ---- */

enum gate_state {
	GATE_OPEN,
	GATE_NARROW, /* transactions that have not begun wait */
	GATE_SHUT,   /* all that comes waits, but for transactions that have begun */
	GATE_LEADS   /* into the successor, for ever */
};
struct engine_gate {
	_Atomic(enum gate_state) state; /* changed under the lock */
	atomic_uint inside;             /* calls that the engine has */
	_Atomic(struct engine_database *) successor;
	struct lock passing; /* before the lock: a call that waited is being submitted */
	struct lock lock;
	struct list held; /* under the lock: calls that wait */
	struct list txns; /* under the lock: explicit transactions that have begun */
};

struct engine_database {
	const struct engine_ops *ops;
	char name[129];
	enum service service;
	enum query_sql sql; /* in which it wants its queries */
	struct engine_gate gate;
	struct engine_limits limits;             /* constant */
	const struct catalogue_natives *natives; /* borrowed, constant */
	struct metrics_database *metrics;        /* owned; NULL: nothing is counted */
	atomic_bool literal;                     /* errata = literal */
	atomic_int slack_s;                      /* renewal_slack */
};
void engine_database_init(struct engine_database *db, const struct engine *e, const char *name,
			  enum service service, bool literal);
/* When nothing runs in it any more. */
void engine_database_fini(struct engine_database *db);

struct txn {
	struct engine_database *database;
	bool snapshot; /* isolation level SNAPSHOT: constant */
	/* gate.c's */
	bool begun;            /* a call of it has been submitted */
	struct list link;      /* of the database's gate */
	struct txn *successor; /* owned: what it is since its database moved; NULL: itself */
};

/* The database that has what this one had. */
struct engine_database *engine_follow(struct engine_database *db);
struct txn *engine_txn_current(struct txn *t);
void engine_gate_init(struct engine_gate *g);
void engine_gate_fini(struct engine_gate *g);
void engine_gate_txn_init(struct txn *t);
void engine_gate_txn_fini(struct txn *t);
enum gate_answer { GATE_ENTER, GATE_HELD, GATE_ELSEWHERE };
/* The database whose engine gets the call, with its transaction there. NULL: it waits here, or has
 * been refused. */
struct engine_database *engine_gate_enter(struct engine_database *db, struct call *c);
void engine_gate_left(struct engine_database *db);
/* True: it waited here, and does not any more. Else *ret is where it was submitted. */
bool engine_gate_cancel(struct engine_database *db, struct call *c, struct engine_database **ret);

/* ---- result.c: what comes of a call ---- */

/* Before it runs: its clock reading [E-COM-05], and no result yet. */
void engine_call_begin(struct call *c);
/* It begins to run, for the first time: what it does until its end is counted as running.
 * engine_call_begin() says so, too. */
void engine_call_started(struct call *c);
/* It failed. e may be &c->err. */
void engine_call_fail(struct call *c, const struct err *e);
/* Before it runs a second time: outputs and locals are NULL again. */
void engine_call_reset(struct call *c);
/* It is over: counts it and calls complete(). The one way in which an engine ends a call. */
void engine_call_complete(struct call *c);
/* Answers a call that has not run: with an error; with that which ended its transaction; a step
 * of a transaction that had nothing to do. */
void engine_call_refuse(struct call *c, enum err_id id, const char *arg);
void engine_call_refuse_lost(struct call *c, const struct err *e);
void engine_call_succeed(struct call *c);
bool engine_call_only_reads(const struct call *c);
bool engine_call_ends_txn(const struct call *c);
/* How much the sink has; and back to that: false when some of it has left already. */
size_t engine_call_mark(struct call *c);
bool engine_call_rewind(struct call *c, size_t mark);

/* ---- txn.c: what explicit transactions share ---- */

/* A client's savepoints, in their order; an engine knows them by number, from 1. Zeroed: none. */
struct engine_savepoints {
	char **names; /* owned, and so is each */
	size_t n;
};
MUST_CHECK int engine_savepoints_push(struct engine_savepoints *s, const char *name, struct err *reterr);
/* The number of the latest of that name; without one the client's error. */
MUST_CHECK int engine_savepoints_find(const struct engine_savepoints *s, const char *name, size_t *ret,
				      struct err *reterr);
/* Forgets those above the first n. */
void engine_savepoints_cut(struct engine_savepoints *s, size_t n);
void engine_savepoints_fini(struct engine_savepoints *s);

/* Answers a call of a transaction, without completing it, if it need not run: lost is not NULL when
 * the transaction has been undone, is_new when nothing has run in it. False: it must run. */
bool engine_txn_answers(struct call *c, bool is_new, const struct err *lost);

/* ---- limit.c: the limits of a call while it runs ---- */

struct engine_run {
	const struct engine_database *db;
	struct call *call;   /* running now, or NULL */
	int64_t deadline_ms; /* end of its time; 0: the clock has not been read yet */
	bool timed_out;
	/* why it must stop, other than for its time or by its owner; ERR_NONE: it need not */
	enum err_id ended;
	uint64_t questions; /* that were asked so far: its cost */
};
/* The call begins, or is over. */
void engine_run_begin(struct engine_run *r, struct call *c);
void engine_run_end(struct engine_run *r);
/* Asked again and again while it runs. True: it must stop. cost: so many questions a query may ask;
 * 0: any number. */
bool engine_run_stop(struct engine_run *r, uint64_t cost, int64_t now_ms);
/* A row for the sink; the time that this takes is not the call's [E-COM-16]. 0, or
 * ERR_CANCELLED. */
MUST_CHECK int engine_run_row(struct engine_run *r, const struct value *vals, size_t n, struct err *reterr);
/* What the client is told of a call that its time or its cost has ended; of others e stays as it
 * is. */
void engine_run_explain(const struct engine_run *r, struct err *e);
/* How long a call may wait for another one's transaction, in ms; and answering one that has waited
 * for so long: by 1222, or by the execution time-out, which includes waiting. */
int64_t engine_patience_ms(const struct engine_database *db, const struct call *c);
void engine_call_refuse_late(const struct engine_database *db, struct call *c);
/* What it is told then, in its err. True: its execution time-out came first, which ends its
 * transaction, too. */
bool engine_call_is_late(const struct engine_database *db, struct call *c);
/* When an explicit transaction that is silent, or begins, at this time is given up. */
int64_t engine_idle_limit_ms(const struct engine_database *db, int64_t now_ms);
int64_t engine_age_limit_ms(const struct engine_database *db, int64_t now_ms);
#define ENGINE_NEVER INT64_MAX /* a time, in ms of the monotonic clock */
/* Which of the two limits it has reached, for its owner; logged. */
struct err engine_txn_overdue(const struct engine_database *db, int64_t age_at_ms, int64_t now_ms);
/* Whether this call of it comes after its age has ended. Committing and rolling back never do: its
 * age does not keep a transaction from ending as its owner wishes. */
bool engine_txn_is_too_old(const struct call *c, int64_t age_at_ms, int64_t now_ms);

/* ---- values.c: what a step of a procedure works with ---- */

/* What a bind stands for. fields: of the row that an EACH step is at. */
MUST_CHECK int engine_value(const struct engine_database *db, const struct call *c, const struct bind *b,
			    const struct value *fields, size_t nfields, struct value *ret,
			    struct err *reterr);
/* The declared type of a parameter or local; NULL: there is none of this number. */
const struct type *engine_value_type(const struct proc *p, unsigned index);
/* The text of a CHECK or MESSAGE step, with {@name} replaced by values. */
MUST_CHECK int engine_message(struct call *c, const char *text, char *dst, size_t size, struct err *reterr);
/* STEP_MESSAGE, once its condition holds: to the sink. */
MUST_CHECK int engine_message_send(struct call *c, const struct step *s, struct err *reterr);

/* ---- native.c: steps that are C functions of a service ---- */

/* One use of a native: the caller fills meter, each and owner. */
struct engine_native {
	struct native_ctx ctx;
	struct meter *meter; /* borrowed: when it gives up */
	/* done with each row of fields that it yields (ctx is that above); NULL: it yields none,
	 * but values for the targets of its step */
	int (*each)(struct native_ctx *ctx, const struct value *fields, size_t nfields, struct err *reterr);
	void *owner; /* the caller's, for each() */
	const struct step *step;
};
MUST_CHECK int engine_native_run(struct engine_native *n, const struct engine_database *db, struct call *c,
				 const struct step *s, struct err *reterr);

#endif
