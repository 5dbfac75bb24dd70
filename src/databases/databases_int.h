/* databases_int.h — shared by databases.c (the list) and databases_open.c (filling it at the start). */
#ifndef DATABASES_DATABASES_INT_H
#define DATABASES_DATABASES_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "databases/databases.h"

#define DATABASES_MAX 1024
#define DATABASES_PATH 4096
#define COMMIT_INTERVAL_MS 1000 /* as the table's default */
#define SYSTEM_FILE "system.db"

struct database_entry {
	struct database db;
	struct store *store;               /* owned; NULL: damaged when the server started */
	char *damage;                      /* owned: why it is not served; NULL: it is */
	char identity[STORE_IDENTITY];     /* of the file, or what is expected of it */
	dev_t device;                      /* of the file … */
	ino_t inode;                       /* … which no other database may have */
	struct database_settings settings; /* it starts with */
};

struct databases {
	char *dir;                /* owned */
	char *set_aside, *accept; /* owned: names of databases, separated by commas */
	struct executor_options options;
	unsigned cache_mib;
	pthread_mutex_t adding; /* one at a time */
	atomic_size_t count;
	struct database_entry *entries[DATABASES_MAX]; /* [0]: the system's */
};

/* A row of the table "database". */
struct database_row {
	char name[129], file[261];
	char identity[STORE_IDENTITY]; /* expected; "": whichever the file has */
	bool known;                    /* there is a file: a missing or empty one is not made anew */
	int id;
	enum service service;
	struct database_settings settings;
};

/* dst has DATABASES_PATH bytes. */
MUST_CHECK int databases_path(const struct databases *d, const char *file, char *dst, struct err *reterr);
/* Opens the store, starts the executor, publishes; the three together, and one by one for the system's. */
MUST_CHECK int databases_add(struct databases *d, const struct database_row *r, struct err *reterr);
MUST_CHECK int databases_entry_open(struct databases *d, const struct database_row *r,
				    struct database_entry **ret, struct err *reterr);
MUST_CHECK int databases_entry_start(struct databases *d, struct database_entry *e, struct err *reterr);
MUST_CHECK int databases_publish(struct databases *d, struct database_entry *e, struct err *reterr);
struct database_entry *databases_entry_new(const struct database_row *r); /* NULL: no memory */
void databases_entry_free(struct database_entry *e);

/* databases_damage.c */
bool databases_listed(const char *list, const char *name);
/* Whether there was a system store: other files tell. */
bool databases_folder_is_used(const struct databases *d);
/* Says in the log which names of the list are no database's: a slip there would go unnoticed. */
void databases_warn_unknown(struct databases *d, const char *setting, const char *list);
bool databases_may_set_aside(const struct err *e);
MUST_CHECK int databases_set_aside(const char *path, const char *name, const struct err *why,
				   struct err *reterr);
MUST_CHECK int databases_add_damaged(struct databases *d, const struct database_row *r, const struct err *why,
				     struct err *reterr);

#endif
