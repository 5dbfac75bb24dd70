/* backup.h — copies of databases for `procession backup`: taken as of one moment, written beside
 * the databases by a thread of its own, read by the client in pieces, removed. One at a time. */
#ifndef DAEMON_BACKUP_H
#define DAEMON_BACKUP_H

#include "databases/databases.h"

struct backup;

#define BACKUP_ID 33

struct backup_file {
	char name[129]; /* of the database */
	enum service service;
	char file[ENGINE_PLACE]; /* that it has in a data folder */
	uint64_t bytes;          /* 0 until it is whole */
	char sha256[65];         /* empty until it is whole */
};

/* One that is not in it: another engine has it. */
struct backup_left_out {
	char name[129];
	enum service service;
	char engine[17];
};

enum backup_state { BACKUP_NONE, BACKUP_RUNS, BACKUP_READY, BACKUP_FAILED };
const char *daemon_backup_state_name(enum backup_state s);

struct backup_view {
	char id[BACKUP_ID];
	enum backup_state state;
	int64_t taken_us; /* the moment, since 1970 */
	const char *reason;
	const struct backup_file *files;
	size_t n;
	const struct backup_left_out *left_out;
	size_t nleft_out;
};

/* What an earlier process has left in the data folder is removed. */
MUST_CHECK int daemon_backup_new(struct databases *dbs, const char *data, struct backup **ret,
				 struct err *reterr);
/* Ends one that runs. Before the databases close. NULL is welcome. */
void daemon_backup_free(struct backup *b);

/* All of these are thread-safe. The moment is over when begin returns. names: databases, separated
 * by commas; empty: all. */
MUST_CHECK int daemon_backup_begin(struct backup *b, struct str names, char ret_id[BACKUP_ID],
				   struct err *reterr);
/* fn sees what there is, under the lock. */
int daemon_backup_look(struct backup *b, int (*fn)(const struct backup_view *v, void *arg), void *arg);
/* A piece of a file: its length, 0 at the end or when there is no such file. */
MUST_CHECK int daemon_backup_read(struct backup *b, struct str id, struct str file, int64_t offset, void *dst,
				  size_t size, size_t *ret, struct err *reterr);
void daemon_backup_end(struct backup *b, struct str id);

#endif
