/* databases.h — the databases of this server by name, each opened by the engine. The list itself is
 * kept in the system database (table "database"); an entry, once there, stays until the server
 * stops, so pointers remain valid. */
#ifndef DATABASES_DATABASES_H
#define DATABASES_DATABASES_H

#include <stdatomic.h>

#include "engine/engine.h"

struct database {
	char name[129];
	atomic_int id; /* as sys.databases shows it */
	enum service service;
	/* NULL: it is damaged, or elsewhere, and not served. Another one once it has been moved
	 * (move.c): what was submitted to the former one goes on there */
	_Atomic(struct engine_database *) engine;
	uint32_t announced; /* how often work was brought to it; the bell's (session/bell.h) */
};
struct databases;

struct databases_options {
	struct engine *engine;   /* that has the system database. Borrowed: outlives the databases */
	const char *engine_name; /* "sqlite" or "postgres": as rows say it; constant */
	/* the other one, in which single databases may be: opened when it is first needed. NULL:
	 * the server has none. Borrowed */
	struct engine *other;
	const char *other_name;
	/* the system database of the other engine has been opened. NULL: nobody asks */
	void (*other_opened)(void *arg);
	const char *server; /* this server's name: databases in SQLite belong to one. Borrowed */
	/* names, separated by commas: one that cannot be served is put aside and begun anew.
	 * NULL: none */
	const char *set_aside;
	/* the same: one of another identity, or that has lost something, is taken */
	const char *accept;
	/* another server has dropped this one: its sessions are to end. Must not wait. NULL: nobody
	 * asks */
	void (*dropped)(void *arg, const char *name);
	void *arg;
};

/* Opens the system database (created with the four default databases when new: WordAutomation,
 * Translation, ScheduledJobs, StateService) and every database in it. A known database that
 * cannot be served (missing, empty, another one, broken) is in the list with its damage; the
 * others serve. A system database that cannot be served, or that is missing beside others, is an
 * error. */
MUST_CHECK int databases_open(const struct databases_options *o, struct databases **ret, struct err *reterr);
void databases_close(struct databases *d); /* NULL is welcome */
/* By name without ASCII case; "master" and "" are the system database. NULL: none. Thread-safe. */
struct database *databases_find(struct databases *d, struct str name);
struct database *databases_system(struct databases *d);
struct database *databases_by_id(struct databases *d, int64_t id); /* NULL: none. Thread-safe */

/* What a new database is, for its row. */
struct databases_created {
	const char *identity, *place;
};
/* Creates the database and makes it known at once, under this number. The row in the system
 * database is the caller's matter: the procedure inserts it after this native step, in its own
 * transaction, with the same number and what is in *ret. Should that fail, the database serves
 * until the server stops and is forgotten then; creating it again with the same service
 * meanwhile succeeds (and so does a second run of the same call). Names: 1 to 128 of letters,
 * digits, _ - and blank (not first or last), not master, tempdb, model, msdb or system. Never
 * submits a call, so that it may be called on a thread of the engine: the native step of
 * procession_database_create. */
MUST_CHECK int databases_create(struct databases *d, struct str name, enum service service, bool literal,
				int id, struct databases_created *ret, struct err *reterr);
/* At once. The row in the system database is the caller's matter, as above. */
MUST_CHECK int databases_set(struct databases *d, struct str name, const struct engine_settings *s,
			     struct err *reterr);
/* What another server has done to the list: databases that it created are opened here, settings
 * that it changed count, those that it dropped are not served any more. Asks the system database,
 * and waits: never on a thread of an engine. */
MUST_CHECK int databases_refresh(struct databases *d, struct err *reterr);
/* Nobody finds the database any more, and it is not served; its sessions are the caller's
 * matter, and so is its row, which is deleted after this in a transaction. May be called on a
 * thread of the engine, but not one of this database: the native step of
 * procession_database_drop. Then, on a thread that may wait, databases_settle: where the row is
 * gone, what the database held is deleted; where it is not, it is served again. The same after
 * databases_create: from then on it is noticed when another server drops it. */
MUST_CHECK int databases_drop(struct databases *d, struct str name, struct err *reterr);
void databases_settle(struct databases *d);
/* engine_check of one database; ret_report from malloc. */
MUST_CHECK int databases_check(struct databases *d, struct str name, char **ret_report, struct err *reterr);
void databases_each(struct databases *d, void (*fn)(struct database *db, void *arg), void *arg);
/* Why it is not served, or what was found in it while it is: with the remedy, for administrators.
 * NULL: nothing. Thread-safe. */
const char *databases_damage(const struct database *db);
/* How many have such a damage: 0 when all is well. Thread-safe. */
size_t databases_damaged(struct databases *d);
/* It has been moved to SQLite at another server of the installation, and that one serves it. */
bool databases_is_elsewhere(const struct database *db);
/* The engine that it is in, as rows say it; enum query_sql of that. */
const char *databases_engine_name(struct databases *d, const struct database *db);
uint8_t databases_sql(const struct database *db);

/* ---- move.c: from one engine to the other, while it is used ---- */

enum databases_moving {
	MOVE_COPIES,   /* all of it */
	MOVE_FOLLOWS,  /* what has changed meanwhile */
	MOVE_VERIFIES, /* all rows of both */
	MOVE_SWITCHES, /* waits for transactions, then holds calls for a moment */
	MOVE_CLEANS    /* it is moved; what it left behind is removed */
};
struct databases_move {
	struct str name, to; /* "sqlite" or "postgres" */
	/* asked again and again: true ends it, before the switch. Thread-safe */
	bool (*stop)(void *arg);
	/* how far it has come: rows of how many, bytes, rows copied again; on the mover's thread */
	void (*tell)(void *arg, enum databases_moving phase, uint64_t rows, uint64_t total, uint64_t bytes,
		     uint64_t again);
	void *arg;
	/* results */
	int64_t pause_ms; /* for so long calls were held */
	char note[600];   /* what the administrator should know; "": nothing */
};
/* Copies it, follows, verifies, switches over. When it fails the database is where it was, and
 * nothing is left. Waits: never on a thread of an engine; one at a time. */
MUST_CHECK int databases_move(struct databases *d, struct databases_move *m, struct err *reterr);

#endif
