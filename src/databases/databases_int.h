/* databases_int.h — shared by databases.c (the list), open.c (filling it at the start) and damage.c
 * (those that cannot be served). */
#ifndef DATABASES_DATABASES_INT_H
#define DATABASES_DATABASES_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "databases/databases.h"

#define DATABASES_MAX 1024
#define DATABASES_COMMIT_INTERVAL_MS 1000 /* as the table's default */

struct database_entry {
	struct database db;
	char *damage;                   /* owned: why it is not served; NULL: it is */
	char identity[ENGINE_IDENTITY]; /* that it has, or what is expected of it */
	char place[ENGINE_PLACE];       /* where the engine keeps it */
	bool other;                     /* it is in the other engine */
	bool elsewhere;                 /* it is at another server; damage says where */
	/* under `adding`: its place in the engine in which it is not: of a move that was cut short,
	 * or before the move; to be discarded. "": nothing */
	char rest[ENGINE_PLACE];
	bool moving; /* under `adding`: move.c has it */
	/* owned, as many: where it was before. They lead to where it is (engine/gate.h), for those
	 * who knew them */
	struct engine_database **old;
	size_t nold;
	bool listed;   /* its row has been seen, by the start or a refresh, */
	unsigned seen; /* the last time by this one */
	/* it is being dropped, or was: nobody finds it. Settled: for good, or it is back */
	atomic_bool dropped;
	bool settled;
};

struct databases {
	struct engine *engine, *other; /* borrowed; the other may be NULL */
	const char *engine_name, *other_name, *server;
	void (*other_opened)(void *arg);
	struct lock opening;                  /* the other system */
	struct engine_database *other_system; /* owned; under `opening`: NULL: not opened yet */
	char *set_aside, *accept;             /* owned: names of databases, separated by commas */
	void (*tell_dropped)(void *arg, const char *name);
	void *arg;
	struct lock adding; /* one at a time */
	struct lock refreshing;
	unsigned looks; /* under `adding`: how often the list was refreshed */
	atomic_size_t count;
	struct database_entry *entries[DATABASES_MAX]; /* [0]: the system's */
};

/* A row of the table "database". */
struct database_row {
	char name[129], place[ENGINE_PLACE];
	char identity[ENGINE_IDENTITY]; /* expected; "": whichever it has */
	bool known;                     /* it was there before: it is not made anew */
	int id;
	enum service service;
	struct engine_settings settings;
	char engine[16];         /* that it is in; "": the one of the system database */
	char server[129];        /* whose data folder place or rest is in */
	char rest[ENGINE_PLACE]; /* see the entry */
};

/* Which engine a row says; NULL: none that this server has, and why. */
struct engine *databases_engine_of(struct databases *d, const struct database_row *r, struct err *reterr);
bool databases_row_is_other(const struct databases *d, const struct database_row *r);
bool databases_row_is_elsewhere(const struct databases *d, const struct database_row *r);
/* The system database of the other engine, opened now if it was not. */
MUST_CHECK int databases_other_system(struct databases *d, struct engine_database **ret, struct err *reterr);
/* known.c. What the system databases have to know of a database. */
struct engine_database *databases_system_engine(struct databases *d);
const char *databases_which_engine(const struct databases *d, bool other);
/* Its settings, as its row has them. */
MUST_CHECK int databases_settings_of(struct databases *d, const struct database_entry *e,
				     struct engine_settings *ret, struct err *reterr);
MUST_CHECK int databases_tell_rest(struct databases *d, const struct database_entry *e, const char *rest,
				   struct err *reterr);
/* Where it is, as its row in a system database has to say; of is that one's engine. */
MUST_CHECK int databases_tell_place(struct databases *d, struct engine_database *system, const char *of,
				    const struct database_entry *e, const char *engine, const char *place,
				    const char *rest, struct err *reterr);
/* *ret: 0, nobody there knows the name; 1, it is this one; 2, another. */
MUST_CHECK int databases_known_there(struct engine_database *system, const struct database_entry *e, int *ret,
				     struct err *reterr);
/* The other engine's servers find it there, or learn where it went. m may be NULL; its note says
 * which logins were there already. */
MUST_CHECK int databases_make_known(struct databases *d, const struct database_entry *e,
				    struct databases_move *m, struct err *reterr);

/* rest.c. One at a time: a move, or somebody who cleans up behind one. */
MUST_CHECK bool databases_take_entry(struct databases *d, struct database_entry *e);
void databases_give_entry(struct databases *d, struct database_entry *e);
/* The place is free again, and its row says so before anybody else has it. */
MUST_CHECK int databases_clear_rest(struct databases *d, struct database_entry *e, struct err *reterr);
void databases_log_rest(const struct database_entry *e, const struct err *why);
/* What a move has left behind; and what the other engine's system database is to know. On a thread
 * that may wait. */
void databases_settle_rest(struct databases *d, struct database_entry *e);
void databases_forget_elsewhere(struct databases *d, const struct database_entry *e);
/* open.c. Of a row of procession_database_known, if it is that of this database. */
struct engine_row;
void databases_read_settings(const struct engine_row *row, const char *name, struct engine_settings *ret);
/* One call of the server's own. */
MUST_CHECK int databases_tell(struct engine_database *system, const char *proc, const struct argument *args,
			      size_t nargs, int *ret_status, struct err *reterr);

/* Opens a database; the entry is not published yet. */
MUST_CHECK int databases_entry_open(struct databases *d, const struct database_row *r,
				    struct database_entry **ret, struct err *reterr);
/* The entry is whole: from now on others find it. Under `adding`, or before there are others. */
MUST_CHECK int databases_publish(struct databases *d, struct database_entry *e, struct err *reterr);
/* A new database: opened, told from all others, published. */
MUST_CHECK int databases_add(struct databases *d, const struct database_row *r, struct err *reterr);
struct database_entry *databases_entry_new(const struct database_row *r); /* NULL: no memory */
void databases_entry_free(struct database_entry *e);

/* drop.c. Under `adding`: it is not served any more. elsewhere: another server has dropped it, and
 * sees to what it held. */
MUST_CHECK int databases_retire(struct databases *d, struct database_entry *e, bool elsewhere,
				struct err *reterr);
/* At the start: what a server that was ended while it dropped a database has left. */
void databases_discard_rest(struct databases *d);

/* damage.c. Whether a list of names, separated by commas, has this one. */
bool databases_listed(const char *list, const char *name);
/* Says in the log which names of the list are no database's: a slip there would go unnoticed. */
void databases_warn_unknown(struct databases *d, const char *setting, const char *list);
MUST_CHECK int databases_add_damaged(struct databases *d, const struct database_row *r, const struct err *why,
				     struct err *reterr);

#endif
