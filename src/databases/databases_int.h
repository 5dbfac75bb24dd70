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
	bool listed;                    /* its row has been seen, by the start or a refresh, */
	unsigned seen;                  /* the last time by this one */
	/* it is being dropped, or was: nobody finds it. Settled: for good, or it is back */
	atomic_bool dropped;
	bool settled;
};

struct databases {
	struct engine *engine;    /* borrowed */
	char *set_aside, *accept; /* owned: names of databases, separated by commas */
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
};

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
