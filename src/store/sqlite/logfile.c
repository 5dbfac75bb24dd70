/* logfile.c — SQLite's write-ahead log in few system calls. SQLite writes every page of a commit with two writes, header and page, each to where the last one ended. Here
 * they are gathered and written as one before anything could miss them: before the log is synced, truncated or closed, or read at that place.
 *
 * Safe because other connections look at the log only up to what the shared index tells them, and with synchronous=FULL the index is changed after the sync of a commit.
 *
 * The log grows in steps: behind the first commit that makes it longer come zeros up to the next MiB, so that the next commits write where the file has bytes already and their
 * flushes need not also write how long it is. SQLite takes the zeros for what they are, the end of the log.
 *
 * A commit that may wait for its flush is the same but for the flush: the sync only writes what was gathered. The sync behind a new header stays what it is: frames of the
 * new log must never reach the disk before it. */
#include <stdlib.h>
#include <string.h>

#include "store/sqlite/sqlite_int.h"

#define GATHER_MAX (64u << 10)      /* SQLite's own write takes less than 128 KiB at a time */
#define STEP ((sqlite3_int64)1 << 20)

struct logfile {
	sqlite3_file base;
	sqlite3_file *real;             /* in the same allocation, behind us */
	uint8_t *data;                  /* gathered, not written yet; owned */
	size_t len;
	sqlite3_int64 offset;           /* of data in the file */
	sqlite3_int64 end;              /* of what has been written since it was last this long … */
	sqlite3_int64 size;             /* … and what the file had at least then */
	struct sqlite_window *window;   /* the connection's; NULL: every read is made */
	struct sqlite_writeout writeout;
	bool lazy;                      /* a sync need not reach the disk … */
	bool headed;                    /* … unless a header has been written since the last one */
};

static struct logfile *of(sqlite3_file *f)
{
	return (struct logfile *)f;
}

static int write_through(struct logfile *l, const void *p, int n, sqlite3_int64 at)
{
	int rc;

	if (at + n > l->end)
		l->end = at + n;
	sqlite_window_written(l->window, n, at);
	rc = l->real->pMethods->xWrite(l->real, p, n, at);
	sqlite_writeout_wrote(&l->writeout, n, at);
	return rc;
}

static int flush(struct logfile *l)
{
	size_t n = l->len;

	if (n == 0)
		return SQLITE_OK;
	l->len = 0;
	return write_through(l, l->data, (int)n, l->offset);
}

/* Only a wish: where there is no room for the zeros, there is for the commit, or its own write would have failed. */
static void lengthen(struct logfile *l)
{
	static const uint8_t zeros[GATHER_MAX];
	sqlite3_int64 at = l->end, to = (at + STEP) / STEP * STEP;
	sqlite3_file *f = l->real;

	if (at <= l->size || (f->pMethods->xFileSize(f, &l->size) == SQLITE_OK && at < l->size))
		return;
	l->size = to;
	while (at < to) {
		sqlite3_int64 n = to - at < (sqlite3_int64)sizeof(zeros) ? to - at : (sqlite3_int64)sizeof(zeros);

		if (f->pMethods->xWrite(f, zeros, (int)n, at) != SQLITE_OK)
			return;
		at += n;
	}
}

static int log_close(sqlite3_file *f)
{
	int rc = flush(of(f)), closed = of(f)->real->pMethods->xClose(of(f)->real);

	sqlite_writeout_fini(&of(f)->writeout);
	free(of(f)->data);
	return rc != SQLITE_OK ? rc : closed;
}

/* A page of an earlier commit is read from the file while later ones are gathered: a large value is replaced page by page. */
static int log_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	struct logfile *l = of(f);
	bool elsewhere = at + n <= l->offset || at >= l->offset + (sqlite3_int64)l->len;
	int rc = elsewhere ? SQLITE_OK : flush(l);

	return rc != SQLITE_OK ? rc : sqlite_window_read(l->window, l->real, l->real->pMethods, p, n, at);
}

static int log_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	struct logfile *l = of(f);
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

static int log_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	int rc = flush(of(f));

	of(f)->end = of(f)->size = size;
	return rc != SQLITE_OK ? rc : of(f)->real->pMethods->xTruncate(of(f)->real, size);
}

static int log_sync(sqlite3_file *f, int flags)
{
	struct logfile *l = of(f);
	int rc = flush(l);

	if (rc == SQLITE_OK)
		lengthen(l);
	if (rc != SQLITE_OK || (l->lazy && !l->headed))
		return rc;
	l->headed = false;
	sqlite_writeout_flushed(&l->writeout);
	return l->real->pMethods->xSync(l->real, flags);
}

static int log_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	int rc = flush(of(f));

	return rc != SQLITE_OK ? rc : of(f)->real->pMethods->xFileSize(of(f)->real, ret);
}

static int log_lock(sqlite3_file *f, int level)
{
	return of(f)->real->pMethods->xLock(of(f)->real, level);
}

static int log_unlock(sqlite3_file *f, int level)
{
	return of(f)->real->pMethods->xUnlock(of(f)->real, level);
}

static int log_check_lock(sqlite3_file *f, int *ret)
{
	return of(f)->real->pMethods->xCheckReservedLock(of(f)->real, ret);
}

static int log_control(sqlite3_file *f, int op, void *arg)
{
	return of(f)->real->pMethods->xFileControl(of(f)->real, op, arg);
}

static int log_sector(sqlite3_file *f)
{
	return of(f)->real->pMethods->xSectorSize(of(f)->real);
}

static int log_device(sqlite3_file *f)
{
	return of(f)->real->pMethods->xDeviceCharacteristics(of(f)->real);
}

static const sqlite3_io_methods log_methods = {
	.iVersion = 1,
	.xClose = log_close,
	.xRead = log_read,
	.xWrite = log_write,
	.xTruncate = log_truncate,
	.xSync = log_sync,
	.xFileSize = log_size,
	.xLock = log_lock,
	.xUnlock = log_unlock,
	.xCheckReservedLock = log_check_lock,
	.xFileControl = log_control,
	.xSectorSize = log_sector,
	.xDeviceCharacteristics = log_device,
};

static sqlite3_vfs *real_vfs(sqlite3_vfs *vfs)
{
	return vfs->pAppData;
}

static size_t real_size(const sqlite3_vfs *real)
{
	return ((size_t)real->szOsFile + 7) & ~(size_t)7;
}

/* Everything but the log is opened as ever, by the system's own methods; of the main file's, one is ours. */
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
	struct logfile *l = of(f);
	int rc;

	if ((flags & SQLITE_OPEN_WAL) == 0) {
		rc = real_vfs(vfs)->xOpen(real_vfs(vfs), name, f, flags, ret_flags);
		if (rc == SQLITE_OK && (flags & SQLITE_OPEN_MAIN_DB) != 0)
			sqlite_mainfile_init(f, (uint8_t *)f + real_size(real_vfs(vfs)));
		return rc;
	}
	*l = (struct logfile){ .real = (sqlite3_file *)(l + 1) };
	sqlite_writeout_init(&l->writeout, name);
	rc = real_vfs(vfs)->xOpen(real_vfs(vfs), name, l->real, flags, ret_flags);
	if (l->real->pMethods != NULL)
		l->base.pMethods = &log_methods;
	return rc;
}

/* NULL: there is no log yet. */
static struct logfile *log_of(sqlite3 *db)
{
	sqlite3_file *f = NULL;

	if (sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &f) != SQLITE_OK || f == NULL || f->pMethods != &log_methods)
		return NULL;
	return of(f);
}

void sqlite_log_set_lazy(sqlite3 *db, bool lazy)
{
	struct logfile *l = log_of(db);

	if (l != NULL)
		l->lazy = lazy;
}

void sqlite_log_set_window(sqlite3 *db, struct sqlite_window *w)
{
	struct logfile *l = log_of(db);

	if (l != NULL)
		l->window = w;
}

/* The rest is the system's: its functions look at the vfs they are given only for what it shares with the real one. */
void sqlite_register_vfs(void)
{
	static sqlite3_vfs vfs;
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);

	if (real == NULL || sqlite3_vfs_find(SQLITE_VFS_NAME) != NULL)
		return;
	vfs = *real;
	vfs.zName = SQLITE_VFS_NAME;
	vfs.szOsFile = (int)(real_size(real) + (sizeof(struct logfile) > sqlite_mainfile_size() ? sizeof(struct logfile) : sqlite_mainfile_size()));
	vfs.xOpen = vfs_open;
	/* unix's own functions expect their finder of methods here; open() above gives it back to them */
	vfs.pAppData = real;
	sqlite3_vfs_register(&vfs, 0);
}
