/* call.h — the currency between wire and database: one call of a procedure (or one query, or one
 * transaction step), its arguments, the sink its results go to, and what came of it. Made by
 * session and tsql, admitted by the catalogue, run by the engine. From engine_submit() until
 * complete() is called the call and everything it points to belong to the engine. */
#ifndef CALL_CALL_H
#define CALL_CALL_H

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/list.h"
#include "call/sink.h"
#include "value/value.h"

struct proc;  /* catalogue/proc.h */
struct query; /* catalogue/query.h: a translated SELECT */
struct txn;   /* engine/engine.h: an explicit transaction of a session */
struct engine_database;

enum call_kind {
	CALL_PROC,  /* proc with args */
	CALL_QUERY, /* query with args as its variables */
	CALL_COMMIT,
	CALL_ROLLBACK, /* of call->txn */
	CALL_SAVE,
	CALL_ROLLBACK_TO, /* savepoint: of call->txn */
};

enum call_right {
	RIGHT_EXECUTE = 1,
	RIGHT_SELECT = 2,
	RIGHT_ADMIN = 4,
	RIGHT_SERVER = 8,  /* the server itself */
	RIGHT_MONITOR = 16 /* of the system database: to see the numbers of the server */
};

/* An argument as the client gave it, before binding. */
struct argument {
	struct str name; /* with '@', or empty: positional */
	struct value value;
	bool is_default; /* DEFAULT keyword or the RPC status flag */
	bool is_output;  /* the client wants the value back */
};

/* Room for what an engine notes about a call while it has it. The engine lays a struct of its own
 * over the bytes; nobody else looks inside. */
union call_room {
	unsigned char bytes[48];
	max_align_t align;
};

struct call {
	enum call_kind kind;
	const struct proc *proc;   /* CALL_PROC */
	const struct query *query; /* CALL_QUERY */
	const char *savepoint;     /* CALL_SAVE, CALL_ROLLBACK_TO: index of the savepoint as text */

	/* CALL_PROC: one per parameter, of the declared type, outputs included (NULL before).
	 * After: outputs filled */
	struct value *values;
	bool *wanted; /* one per parameter: the client asked for this output */
	size_t nvalues;

	struct arena *arena; /* for everything the call makes; reset by its owner */
	struct sink *sink;
	struct txn *txn;         /* NULL: autocommit */
	uint8_t rights;          /* enum call_right of the session in this database */
	const char *login;       /* who calls */
	const char *database;    /* in which database the session stands (for the system procedures) */
	uint32_t session;        /* spid, for the log */
	int32_t lock_timeout_ms; /* -1: the server's setting; 0: do not wait; else at most */
	atomic_bool cancelled;   /* set by any thread: stop soon */

	/* Result, valid in complete(): */
	int rc;         /* 0, or -1 with err filled: the call changed nothing */
	int32_t status; /* return status when status_set */
	bool status_set;
	bool txn_lost; /* the explicit transaction is gone (time-out, store gave it up) */
	uint64_t rows_changed;

	/* called once, on the engine's thread, after the commit is durable */
	void (*complete)(struct call *c);
	void *owner; /* for complete() */

	/* engine: where it was submitted, and when, and when it first began to run, in microseconds
	 * of the monotonic clock; 0: it has not */
	_Atomic(struct engine_database *) submitted_to;
	int64_t submitted_us, began_us;
	struct list link; /* the engine's queue */
	/* engine: asked by a sink that waits for its receiver, now and then; true: the call is
	 * to end. NULL: it never is */
	bool (*waits)(struct call *c);
	union call_room room; /* zeroed by call_begin(); from engine_submit() on the engine's */
	void *scratch;        /* what a native step keeps for the next one; in the arena */
	int64_t now;          /* clock reading of this call, in ticks [E-COM-05] */

	struct err err; /* of rc; the last, since it is large and seldom there */
};

/* A new one. An error of the last stays where it is: only rc tells whether there is one. */
static inline void call_begin(struct call *c, enum call_kind kind)
{
	assert(kind >= CALL_PROC && kind <= CALL_ROLLBACK_TO);
	memset(c, 0, offsetof(struct call, err));
	c->kind = kind;
}

#endif
