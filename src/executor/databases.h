/* databases.h — the databases of this server by name, each with its store and executor. The list itself is kept in the system store (DIR/system.db, table
 * "database"); a database, once there, stays until the server stops, so pointers remain valid. */
#ifndef EXECUTOR_DATABASES_H
#define EXECUTOR_DATABASES_H

#include "executor/executor.h"

struct database {
	char name[129];
	enum service service;
	struct executor *executor;
	bool errata_literal;
};
struct databases;

struct databases_options {
	const char *dir;                        /* data folder; exists */
	struct executor_options executor;       /* limits for every executor; name, store, errata are filled per database */
};

/* Opens DIR/system.db (created with the four default databases when new: WordAutomation, Translation, ScheduledJobs, StateService), loads the catalogue's own
 * tables into it when they changed, opens every database in it and starts the executors. ret_new: the system store was just created. */
MUST_CHECK int databases_open(const struct databases_options *o, struct databases **ret, bool *ret_new, struct err *reterr);
void databases_close(struct databases *d);
/* By name without ASCII case; "master" and "" are the system database. NULL: none. Thread-safe. */
struct database *databases_find(struct databases *d, struct str name);
struct database *databases_system(struct databases *d);
/* Creates file, schema and executor and adds the row to the system store (through ctx's connection, inside its transaction). Names: 1 to 128 of letters, digits, _ - and
 * blank, not master/tempdb/model/msdb. Used by the native step of procession_database_create. */
MUST_CHECK int databases_create(struct databases *d, struct str name, enum service service, bool literal, struct err *reterr);
void databases_each(struct databases *d, void (*fn)(struct database *db, void *arg), void *arg);

#endif
