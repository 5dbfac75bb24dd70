/* sqlite_int.h — what the files of this folder share: the engine, and one of its databases. */
#ifndef ENGINE_SQLITE_SQLITE_INT_H
#define ENGINE_SQLITE_SQLITE_INT_H

#include <pthread.h>
#include <sys/types.h>

#include "base/lock.h"
#include "engine/implement.h"
#include "engine/sqlite/executor/executor.h"
#include "engine/sqlite/sqlite.h"
#include "engine/sqlite/store/store.h"

#define SQLITE_PATH 4096
#define SQLITE_SYSTEM_PLACE "system.db"

struct sqlite_engine {
	struct engine base;
	char *dir; /* owned */
	unsigned cache_mib, readers, max_wal_mib;
	struct lock lock;
	/* shared by every commit; taken alone, nobody commits in any database: copies of one
	 * moment */
	pthread_rwlock_t commits;
	struct list databases; /* under the lock: those that are open */
	unsigned ndatabases;   /* under the lock */
};

struct sqlite_database {
	struct engine_database base;
	struct sqlite_engine *engine;
	struct list link;
	struct store *store;       /* owned */
	struct executor *executor; /* owned */
	char place[ENGINE_PLACE];  /* name of the file in the data folder */
	dev_t device;              /* that the file is on, with its number there: */
	ino_t inode;               /* no other database may have both */
};

/* place.c: files in the data folder. dst has SQLITE_PATH bytes. */
MUST_CHECK int sqlite_place_path(const struct sqlite_engine *e, const char *place, char *dst,
				 struct err *reterr);
/* Whether there was a system database before: other files tell. */
bool sqlite_place_is_used(const struct sqlite_engine *e);
/* Refuses a file that an open database has already, under another name. */
MUST_CHECK int sqlite_place_is_own(struct sqlite_engine *e, const char *path, const char *name,
				   struct err *reterr);
/* Whether a file that cannot be opened for this reason may be put aside; and doing it, by a new
 * name. */
bool sqlite_place_may_set_aside(const struct err *why);
MUST_CHECK int sqlite_place_set_aside(const char *path, const char *name, const struct err *why,
				      struct err *reterr);

/* dropped.c: files of a database that is being dropped, under another name; back to where they
 * were; and removed, of one place, or (place NULL) all that nobody needs any more. */
MUST_CHECK int sqlite_place_put_away(const char *path, struct err *reterr);
MUST_CHECK int sqlite_place_take_back(const char *path, struct err *reterr);
void sqlite_place_discard(struct engine *base, const char *place, bool (*known)(void *arg, const char *place),
			  void *arg);

/* copy.c: the functions of copy.h. */
MUST_CHECK int sqlite_copy_place(struct engine *base, const char *name, char ret[ENGINE_PLACE],
				 struct err *reterr);
MUST_CHECK int sqlite_copy_from(struct engine_database *db, const struct copy_watch *w,
				struct copy_side **ret, struct err *reterr);
MUST_CHECK int sqlite_copy_to(struct engine *base, const struct engine_open *o, const struct copy_watch *w,
			      struct copy_side **ret, struct err *reterr);

/* metadata.c: the tables of the system database that describe the catalogue follow the program. */
MUST_CHECK int sqlite_metadata_load(struct store *st, struct err *reterr);

#endif
