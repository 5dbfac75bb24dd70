/* vfs.c — SQLite's way to the disk: the system's VFS with one addition, the write-ahead log of
 * walfile.c. Every method forwards to the system's.
 *
 * The database file is wrapped for two things. It tells the WAL when a transaction ends, however
 * it ends: SQLite holds the exclusive lock WAL_WRITE_LOCK of the shared index (number 0 in its
 * file format) from the first write to the commit or rollback, and whoever lets go of it has
 * nothing more to write. And it takes our file controls. Journals and temporary files are the
 * system's own. */
#include "engine/sqlite/store/vfs.h"

#define WAL_WRITE_LOCK 0

static struct mainfile *of(sqlite3_file *f)
{
	return (struct mainfile *)f;
}

/* Declares the system's file object behind ours. */
#define REAL(f) sqlite3_file *real = of(f)->real

static int main_close(sqlite3_file *f)
{
	REAL(f);

	return real->pMethods->xClose(real);
}

static int main_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	REAL(f);

	return real->pMethods->xRead(real, p, n, at);
}

static int main_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	REAL(f);

	return real->pMethods->xWrite(real, p, n, at);
}

static int main_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	REAL(f);

	return real->pMethods->xTruncate(real, size);
}

static int main_sync(sqlite3_file *f, int flags)
{
	REAL(f);

	return real->pMethods->xSync(real, flags);
}

static int main_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	REAL(f);

	return real->pMethods->xFileSize(real, ret);
}

static int main_lock(sqlite3_file *f, int level)
{
	REAL(f);

	return real->pMethods->xLock(real, level);
}

static int main_unlock(sqlite3_file *f, int level)
{
	REAL(f);

	return real->pMethods->xUnlock(real, level);
}

static int main_check_lock(sqlite3_file *f, int *ret)
{
	REAL(f);

	return real->pMethods->xCheckReservedLock(real, ret);
}

static int main_control(sqlite3_file *f, int op, void *arg)
{
	REAL(f);

	switch (op) {
	case STORE_CONTROL_WAL: *(struct walfile **)arg = of(f)->wal; return SQLITE_OK;
	default: return real->pMethods->xFileControl(real, op, arg);
	}
}

static int main_sector(sqlite3_file *f)
{
	REAL(f);

	return real->pMethods->xSectorSize(real);
}

static int main_device(sqlite3_file *f)
{
	REAL(f);

	return real->pMethods->xDeviceCharacteristics(real);
}

static int main_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **ret)
{
	REAL(f);

	return real->pMethods->xShmMap(real, page, size, extend, ret);
}

/* Forgotten while the lock is still, or not yet, ours: the place in the WAL may be another's
 * right afterwards. */
static int main_shm_lock(sqlite3_file *f, int first, int n, int flags)
{
	REAL(f);

	if (first == WAL_WRITE_LOCK && (flags & SQLITE_SHM_EXCLUSIVE) != 0 && of(f)->wal != NULL)
		store_walfile_forget(of(f)->wal);
	return real->pMethods->xShmLock(real, first, n, flags);
}

static void main_shm_barrier(sqlite3_file *f)
{
	REAL(f);

	real->pMethods->xShmBarrier(real);
}

static int main_shm_unmap(sqlite3_file *f, int delete)
{
	REAL(f);

	return real->pMethods->xShmUnmap(real, delete);
}

/* Version 2: with shared memory, without mappings of the file, which mmap_size=0 turns off
 * anyway. */
static const sqlite3_io_methods main_methods = {
	.iVersion = 2,
	.xClose = main_close,
	.xRead = main_read,
	.xWrite = main_write,
	.xTruncate = main_truncate,
	.xSync = main_sync,
	.xFileSize = main_size,
	.xLock = main_lock,
	.xUnlock = main_unlock,
	.xCheckReservedLock = main_check_lock,
	.xFileControl = main_control,
	.xSectorSize = main_sector,
	.xDeviceCharacteristics = main_device,
	.xShmMap = main_shm_map,
	.xShmLock = main_shm_lock,
	.xShmBarrier = main_shm_barrier,
	.xShmUnmap = main_shm_unmap,
};

static sqlite3_vfs *real_vfs(sqlite3_vfs *vfs)
{
	return vfs->pAppData;
}

static sqlite3_file *behind(void *own)
{
	return (sqlite3_file *)((uint8_t *)own + ((VFS_OWN + 15) & ~(size_t)15));
}

/* A WAL whose database is not one of ours (there is none) would not learn of the end of its
 * transactions. */
static struct mainfile *database_of(const char *wal_name)
{
	sqlite3_file *f = sqlite3_database_file_object(wal_name);

	return f != NULL && f->pMethods == &main_methods ? of(f) : NULL;
}

static int open_main(sqlite3_vfs *real, const char *name, struct mainfile *m, int flags, int *ret_flags)
{
	int rc;

	*m = (struct mainfile){ .real = behind(m) };
	rc = real->xOpen(real, name, m->real, flags, ret_flags);
	if (m->real->pMethods == NULL)
		return rc;
	if (m->real->pMethods->iVersion < main_methods.iVersion) {
		m->real->pMethods->xClose(m->real);
		return SQLITE_CANTOPEN; /* without shared memory there is no write-ahead log */
	}
	m->base.pMethods = &main_methods;
	return rc;
}

static int open_wal(sqlite3_vfs *real, const char *name, struct walfile *l, int flags, int *ret_flags)
{
	sqlite3_file *f = behind(l);
	struct mainfile *database = database_of(name);
	int rc;

	if (database == NULL)
		return real->xOpen(real, name, &l->base, flags, ret_flags);
	l->base.pMethods = NULL;
	rc = real->xOpen(real, name, f, flags, ret_flags);
	if (f->pMethods != NULL)
		store_walfile_init(l, f, database, name);
	return rc;
}

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret_flags)
{
	sqlite3_vfs *real = real_vfs(vfs);

	if ((flags & SQLITE_OPEN_MAIN_DB) != 0)
		return open_main(real, name, (struct mainfile *)f, flags, ret_flags);
	if ((flags & SQLITE_OPEN_WAL) != 0)
		return open_wal(real, name, (struct walfile *)f, flags, ret_flags);
	return real->xOpen(real, name, f, flags, ret_flags);
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync_folder)
{
	return real_vfs(vfs)->xDelete(real_vfs(vfs), name, sync_folder);
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *ret)
{
	return real_vfs(vfs)->xAccess(real_vfs(vfs), name, flags, ret);
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int n, char *ret)
{
	return real_vfs(vfs)->xFullPathname(real_vfs(vfs), name, n, ret);
}

static void *vfs_dl_open(sqlite3_vfs *vfs, const char *name)
{
	return real_vfs(vfs)->xDlOpen(real_vfs(vfs), name);
}

static void vfs_dl_error(sqlite3_vfs *vfs, int n, char *ret)
{
	real_vfs(vfs)->xDlError(real_vfs(vfs), n, ret);
}

static void (*vfs_dl_symbol(sqlite3_vfs *vfs, void *library, const char *name))(void)
{
	return real_vfs(vfs)->xDlSym(real_vfs(vfs), library, name);
}

static void vfs_dl_close(sqlite3_vfs *vfs, void *library)
{
	real_vfs(vfs)->xDlClose(real_vfs(vfs), library);
}

static int vfs_randomness(sqlite3_vfs *vfs, int n, char *ret)
{
	return real_vfs(vfs)->xRandomness(real_vfs(vfs), n, ret);
}

static int vfs_sleep(sqlite3_vfs *vfs, int microseconds)
{
	return real_vfs(vfs)->xSleep(real_vfs(vfs), microseconds);
}

static int vfs_time(sqlite3_vfs *vfs, double *ret)
{
	return real_vfs(vfs)->xCurrentTime(real_vfs(vfs), ret);
}

static int vfs_last_error(sqlite3_vfs *vfs, int n, char *ret)
{
	return real_vfs(vfs)->xGetLastError(real_vfs(vfs), n, ret);
}

static int vfs_time_64(sqlite3_vfs *vfs, sqlite3_int64 *ret)
{
	return real_vfs(vfs)->xCurrentTimeInt64(real_vfs(vfs), ret);
}

static int vfs_set_call(sqlite3_vfs *vfs, const char *name, sqlite3_syscall_ptr call)
{
	return real_vfs(vfs)->xSetSystemCall(real_vfs(vfs), name, call);
}

static sqlite3_syscall_ptr vfs_get_call(sqlite3_vfs *vfs, const char *name)
{
	return real_vfs(vfs)->xGetSystemCall(real_vfs(vfs), name);
}

static const char *vfs_next_call(sqlite3_vfs *vfs, const char *name)
{
	return real_vfs(vfs)->xNextSystemCall(real_vfs(vfs), name);
}

void store_register_vfs(void)
{
	/* global: SQLite keeps it in its list, and links it there */
	static sqlite3_vfs vfs = {
		.zName = STORE_VFS_NAME,
		.xOpen = vfs_open,
		.xDelete = vfs_delete,
		.xAccess = vfs_access,
		.xFullPathname = vfs_full_name,
		.xDlOpen = vfs_dl_open,
		.xDlError = vfs_dl_error,
		.xDlSym = vfs_dl_symbol,
		.xDlClose = vfs_dl_close,
		.xRandomness = vfs_randomness,
		.xSleep = vfs_sleep,
		.xCurrentTime = vfs_time,
		.xGetLastError = vfs_last_error,
		.xCurrentTimeInt64 = vfs_time_64,
		.xSetSystemCall = vfs_set_call,
		.xGetSystemCall = vfs_get_call,
		.xNextSystemCall = vfs_next_call,
	};
	sqlite3_vfs *real = sqlite3_vfs_find(NULL);

	if (real == NULL || sqlite3_vfs_find(STORE_VFS_NAME) != NULL)
		return;
	vfs.iVersion = real->iVersion < 3 ? real->iVersion : 3;
	vfs.szOsFile = (int)((VFS_OWN + 15) & ~(size_t)15) + real->szOsFile;
	vfs.mxPathname = real->mxPathname;
	vfs.pAppData = real;
	sqlite3_vfs_register(&vfs, 0);
}
