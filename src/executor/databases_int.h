/* databases_int.h — shared by databases.c (the list) and databases_open.c (filling it at the start). */
#ifndef EXECUTOR_DATABASES_INT_H
#define EXECUTOR_DATABASES_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "executor/databases.h"

#define DATABASES_MAX 1024
#define DATABASES_PATH 4096
#define COMMIT_INTERVAL_MS 1000     /* as the table's default */

struct database_entry {
	struct database db;
	struct store *store;                /* owned */
	struct database_settings settings;  /* it starts with */
};

struct databases {
	char *dir;                          /* owned */
	struct executor_options options;
	unsigned cache_mib;
	pthread_mutex_t adding;             /* one at a time */
	atomic_size_t count;
	struct database_entry *entries[DATABASES_MAX];      /* [0]: the system's */
};

/* A row of the table "database". */
struct database_row {
	char name[129], file[261];
	int id;
	enum service service;
	struct database_settings settings;
};

/* dst has DATABASES_PATH bytes. */
MUST_CHECK int databases_path(const struct databases *d, const char *file, char *dst, struct err *reterr);
/* Opens the store, starts the executor, publishes; the three together, and one by one for the system's. */
MUST_CHECK int databases_add(struct databases *d, const struct database_row *r, struct err *reterr);
MUST_CHECK int databases_entry_open(struct databases *d, const struct database_row *r, struct database_entry **ret, struct err *reterr);
MUST_CHECK int databases_entry_start(struct databases *d, struct database_entry *e, struct err *reterr);
MUST_CHECK int databases_publish(struct databases *d, struct database_entry *e, struct err *reterr);

#endif
