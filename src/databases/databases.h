/* databases.h — the databases of this server by name, each with its store and executor. The list itself is kept in the system store (DIR/system.db, table
 * "database"); a database, once there, stays until the server stops, so pointers remain valid. */
#ifndef DATABASES_DATABASES_H
#define DATABASES_DATABASES_H

#include <stdatomic.h>

#include "executor/executor.h"

struct database {
	char name[129];
	atomic_int id; /* as sys.databases shows it */
	enum service service;
	struct executor *executor; /* NULL: it is damaged and not served */
};
struct databases;

/* What procession_database_set can change. */
struct database_settings {
	bool errata_literal;
	bool relaxed;           /* commits are flushed later … */
	int commit_interval_ms; /* … within this time */
};

struct databases_options {
	const char *dir;    /* data folder; exists */
	unsigned cache_mib; /* of each store */
	struct executor_options
		executor; /* limits for every executor; name, store and settings are filled per database */
	const char *
		set_aside; /* names, separated by commas: a file that cannot be served is renamed and begun anew. NULL: none */
	const char *accept; /* the same: a file of another identity, or with a damaged log, is taken */
};

/* Opens DIR/system.db (created with the four default databases when new: WordAutomation, Translation, ScheduledJobs, StateService), loads the catalogue's own
 * tables into it when they changed, opens every database in it and starts the executors. ret_new: there is no login yet: a new system
 * store, or one whose first start was cut short. A known database whose file cannot be served (missing, empty, of another database, broken) is in the list with its
 * damage and without an executor; the others serve. A system store that cannot be served, or that is missing beside other databases, is an error. */
MUST_CHECK int databases_open(const struct databases_options *o, struct databases **ret, bool *ret_new,
			      struct err *reterr);
void databases_close(struct databases *d);
/* By name without ASCII case; "master" and "" are the system database. NULL: none. Thread-safe. */
struct database *databases_find(struct databases *d, struct str name);
struct database *databases_system(struct databases *d);
struct database *databases_by_id(struct databases *d, int64_t id); /* NULL: none. Thread-safe */
/* Creates file, schema and executor and makes the database known at once, under this number. The row in the system store is the caller's matter: the procedure
 * inserts it after this native step, in its own transaction, with the same number, the identity and the file name of databases_file. Should that fail, the database serves until the server stops and
 * is forgotten then; creating it again with the same service meanwhile succeeds (and so does a second run of the same call).
 * Names: 1 to 128 of letters, digits, _ - and blank (not first or last), not master, tempdb, model, msdb or system. Never submits to an executor, so that it may
 * be called on the system executor's own thread: the native step of procession_database_create. */
MUST_CHECK int databases_file(struct str name, char *dst, size_t size,
			      struct err *reterr); /* "Name.db", or why the name will not do */
MUST_CHECK int databases_create(struct databases *d, struct str name, enum service service, bool literal,
				int id, const char **ret_identity, struct err *reterr);
/* At once. The row in the system store is the caller's matter, as above. */
MUST_CHECK int databases_set(struct databases *d, struct str name, const struct database_settings *s,
			     struct err *reterr);
/* store_check of one database; ret_report from malloc. */
MUST_CHECK int databases_check(struct databases *d, struct str name, char **ret_report, struct err *reterr);
void databases_each(struct databases *d, void (*fn)(struct database *db, void *arg), void *arg);
/* Why it is not served, or what was found in it while it is: with the remedy, for administrators. NULL: nothing. Thread-safe. */
const char *databases_damage(const struct database *db);
/* How many have such a damage: 0 when all is well. Thread-safe. */
size_t databases_damaged(struct databases *d);

#endif
