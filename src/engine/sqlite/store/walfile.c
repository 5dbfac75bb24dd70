/* walfile.c — SQLite's write-ahead log in few system calls. SQLite writes every page of a commit
 * with two writes, header and page, each to where the last one ended. Here they are gathered and
 * written as one before anything could miss them: before the WAL is synced, truncated or closed,
 * or read at that place.
 *
 * Safe because other connections look at the WAL only up to what the shared index tells them,
 * and with synchronous=FULL the index is changed after the sync of a commit. A transaction that
 * ends without one, rolled back for whatever reason after it had grown larger than SQLite's
 * memory, leaves nothing: what is gathered is forgotten with the lock that it wrote under. It
 * must be, since its place in the WAL is the next writer's, who may be another process.
 *
 * The WAL grows in steps: behind the first commit that makes it longer come zeros up to the next
 * MiB, so that the next commits write where the file has bytes already and their flushes need
 * not also write how long it is. (Room from fallocate() does not do: the first write to it
 * changes the file system's notes on it as well.) SQLite takes the zeros for what they are, the
 * end of the WAL.
 *
 * A commit that may wait for its flush is the same but for the flush: the sync only writes what
 * was gathered. The sync behind a new header stays what it is: frames of the new WAL must never
 * reach the disk before it. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "engine/sqlite/store/vfs.h"

#define GATHER_MAX (64u << 10) /* SQLite's own write takes less than 128 KiB at a time */
#define STEP ((sqlite3_int64)1 << 20)

static struct walfile *of(sqlite3_file *f)
{
	return (struct walfile *)f;
}

static int write_through(struct walfile *l, const void *p, int n, sqlite3_int64 at)
{
	int rc = l->real->pMethods->xWrite(l->real, p, n, at);

	if (l->first < 0 || at < l->first)
		l->first = at;
	if (at + n > l->end)
		l->end = at + n;
	store_writeout_wrote(&l->writeout, n, at);
	return rc;
}

static int flush(struct walfile *l)
{
	size_t n = l->len;

	if (n == 0)
		return SQLITE_OK;
	l->len = 0;
	return write_through(l, l->data, (int)n, l->offset);
}

void store_walfile_forget(struct walfile *l)
{
	l->len = 0;
	l->first = -1;
	l->end = 0;
}

/* Only a wish: where there is no room for the zeros, there is for the commit, or its own write
 * would have failed. Under the lock of the transaction that ends there. */
static void lengthen(struct walfile *l)
{
	static const uint8_t zeros[GATHER_MAX];
	sqlite3_int64 at = l->end, to = (at + STEP) / STEP * STEP;
	sqlite3_file *f = l->real;

	if (at <= l->size || f->pMethods->xFileSize(f, &l->size) != SQLITE_OK || l->size != at)
		return;
	while (at < to) {
		sqlite3_int64 n = to - at < (sqlite3_int64)sizeof(zeros) ? to - at
									 : (sqlite3_int64)sizeof(zeros);

		if (f->pMethods->xWrite(f, zeros, (int)n, at) != SQLITE_OK)
			return;
		at += n;
	}
	l->size = to;
}

static int wal_close(sqlite3_file *f)
{
	struct walfile *l = of(f);
	int closed;

	assert(l->len == 0); /* its transaction is over */
	closed = l->real->pMethods->xClose(l->real);
	l->database->wal = NULL;
	store_writeout_fini(&l->writeout);
	free(l->data);
	return closed;
}

/* A page of an earlier commit is read from the file while later ones are gathered: a large value
 * is replaced page by page. */
static int wal_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	struct walfile *l = of(f);
	bool elsewhere = at + n <= l->offset || at >= l->offset + (sqlite3_int64)l->len;
	int rc = elsewhere ? SQLITE_OK : flush(l);

	return rc != SQLITE_OK ? rc : l->real->pMethods->xRead(l->real, p, n, at);
}

static int wal_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	struct walfile *l = of(f);
	int rc;

	if (at == 0)
		l->headed = true;
	if (l->len > 0 && (at != l->offset + (sqlite3_int64)l->len || l->len + (size_t)n > GATHER_MAX)) {
		rc = flush(l);
		if (rc != SQLITE_OK)
			return rc;
	}
	if (l->data == NULL)
		l->data = malloc(GATHER_MAX);
	if (l->data == NULL || (size_t)n > GATHER_MAX)
		return write_through(l, p, n, at);
	if (l->len == 0)
		l->offset = at;
	memcpy(l->data + l->len, p, (size_t)n);
	l->len += (size_t)n;
	return SQLITE_OK;
}

static int wal_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	int rc = flush(of(f));

	of(f)->size = size;
	return rc != SQLITE_OK ? rc : of(f)->real->pMethods->xTruncate(of(f)->real, size);
}

/* The flush of a commit has failed, and SQLite takes the transaction back. Its frames are in the
 * WAL, complete, and whoever reads the WAL from its beginning after a crash would find a commit
 * that was refused: the first of them is made none. */
static void spoil(struct walfile *l)
{
	static const uint8_t zeros[WAL_FRAME_HEADER];
	sqlite3_int64 at = l->first < (sqlite3_int64)WAL_HEADER ? (sqlite3_int64)WAL_HEADER : l->first;

	if (l->first >= 0 && l->end > at)
		/* the failure itself is told already */
		(void)l->real->pMethods->xWrite(l->real, zeros, sizeof(zeros), at);
}

static int wal_sync(sqlite3_file *f, int flags)
{
	struct walfile *l = of(f);
	int rc = flush(l);

	if (rc == SQLITE_OK)
		lengthen(l);
	if (rc != SQLITE_OK || (l->lazy && !l->headed))
		return rc;
	rc = l->real->pMethods->xSync(l->real, flags);
	if (rc != SQLITE_OK) {
		spoil(l);
		return rc;
	}
	l->headed = false;
	store_writeout_flushed(&l->writeout);
	return SQLITE_OK;
}

static int wal_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	int rc = flush(of(f));

	return rc != SQLITE_OK ? rc : of(f)->real->pMethods->xFileSize(of(f)->real, ret);
}

static int wal_lock(sqlite3_file *f, int level)
{
	return of(f)->real->pMethods->xLock(of(f)->real, level);
}

static int wal_unlock(sqlite3_file *f, int level)
{
	return of(f)->real->pMethods->xUnlock(of(f)->real, level);
}

static int wal_check_lock(sqlite3_file *f, int *ret)
{
	return of(f)->real->pMethods->xCheckReservedLock(of(f)->real, ret);
}

static int wal_control(sqlite3_file *f, int op, void *arg)
{
	return of(f)->real->pMethods->xFileControl(of(f)->real, op, arg);
}

static int wal_sector(sqlite3_file *f)
{
	return of(f)->real->pMethods->xSectorSize(of(f)->real);
}

static int wal_device(sqlite3_file *f)
{
	return of(f)->real->pMethods->xDeviceCharacteristics(of(f)->real);
}

static const sqlite3_io_methods wal_methods = {
	.iVersion = 1,
	.xClose = wal_close,
	.xRead = wal_read,
	.xWrite = wal_write,
	.xTruncate = wal_truncate,
	.xSync = wal_sync,
	.xFileSize = wal_size,
	.xLock = wal_lock,
	.xUnlock = wal_unlock,
	.xCheckReservedLock = wal_check_lock,
	.xFileControl = wal_control,
	.xSectorSize = wal_sector,
	.xDeviceCharacteristics = wal_device,
};

void store_walfile_init(struct walfile *l, sqlite3_file *real, struct mainfile *database, const char *path)
{
	*l = (struct walfile){
		.base.pMethods = &wal_methods, .real = real, .database = database, .first = -1
	};
	store_writeout_init(&l->writeout, path);
	database->wal = l;
}

void store_wal_set_lazy(sqlite3 *db, bool lazy)
{
	struct walfile *l = NULL;

	if (sqlite3_file_control(db, "main", STORE_CONTROL_WAL, &l) == SQLITE_OK && l != NULL)
		l->lazy = lazy; /* NULL: there is no WAL yet */
}
