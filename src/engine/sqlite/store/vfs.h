/* vfs.h — the two files of a connection as our VFS sees them: the database (vfs.c, which only
 * forwards) and its write-ahead log (walfile.c, which gathers). */
#ifndef STORE_SQLITE_VFS_H
#define STORE_SQLITE_VFS_H

#include "engine/sqlite/store/store_int.h"

struct walfile;

/* The database. In a wrapped file the system's own file object lies behind ours, in the same
 * allocation. */
struct mainfile {
	sqlite3_file base;
	sqlite3_file *real;
	struct walfile *wal; /* of the same connection; NULL while it is not open */
};

struct walfile {
	sqlite3_file base;
	sqlite3_file *real;
	struct mainfile *database;
	uint8_t *data; /* gathered, not written yet; owned */
	size_t len;
	sqlite3_int64 offset;     /* of data in the file */
	sqlite3_int64 first, end; /* of what the transaction has written so far; -1 and 0: nothing */
	sqlite3_int64 size;       /* that the file has at least, unless another process cut it */
	struct store_writeout writeout;
	bool lazy;   /* a sync need not reach the disk, unless headed */
	bool headed; /* a header has been written since the last sync */
};

/* So many bytes of a connection's file object are ours. */
#define VFS_OWN \
	(sizeof(struct walfile) > sizeof(struct mainfile) ? sizeof(struct walfile) : sizeof(struct mainfile))

/* The WAL of this database has been opened: real, which is open, lies behind l. */
void store_walfile_init(struct walfile *l, sqlite3_file *real, struct mainfile *database, const char *path);
/* The connection has taken the lock that a transaction writes under, or is about to let go of
 * it: whatever is gathered belongs to no transaction that counts. */
void store_walfile_forget(struct walfile *l);

#endif
