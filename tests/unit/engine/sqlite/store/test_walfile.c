/* test_walfile.c — the write-ahead log as our VFS writes it: every order of what can happen to
 * it, with a second writer that knows nothing of us, and a disk that fails at each call in turn.
 * What was committed is there, what was not is not, and the file is sound, whoever looks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "engine/sqlite/store/store_int.h"

#define KEYS 5

/* --- a VFS below ours whose k-th call fails */

struct faulty {
	sqlite3_file base;
	sqlite3_file *real;
};

static struct {
	int calls, at;     /* calls so far; the one that fails, 0: none */
	bool once;         /* and none after it */
	int syncs, writes; /* of WALs */
} disk;

static bool fails(void)
{
	disk.calls++;
	return disk.at != 0 && (disk.calls == disk.at || (!disk.once && disk.calls > disk.at));
}

#define BELOW(f) \
	sqlite3_file *r = ((struct faulty *)(f))->real; \
	const sqlite3_io_methods *m = r->pMethods

static int f_close(sqlite3_file *f)
{
	BELOW(f);
	return m->xClose(r);
}
static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	BELOW(f);
	return fails() ? SQLITE_IOERR_READ : m->xRead(r, p, n, at);
}
static int f_trunc(sqlite3_file *f, sqlite3_int64 n)
{
	BELOW(f);
	return fails() ? SQLITE_IOERR_TRUNCATE : m->xTruncate(r, n);
}
static int f_size(sqlite3_file *f, sqlite3_int64 *ret)
{
	BELOW(f);
	return fails() ? SQLITE_IOERR_FSTAT : m->xFileSize(r, ret);
}
static int f_lock(sqlite3_file *f, int l)
{
	BELOW(f);
	return m->xLock(r, l);
}
static int f_unlock(sqlite3_file *f, int l)
{
	BELOW(f);
	return m->xUnlock(r, l);
}
static int f_check(sqlite3_file *f, int *ret)
{
	BELOW(f);
	return m->xCheckReservedLock(r, ret);
}
static int f_control(sqlite3_file *f, int op, void *arg)
{
	BELOW(f);
	return m->xFileControl(r, op, arg);
}
static int f_sector(sqlite3_file *f)
{
	BELOW(f);
	return m->xSectorSize(r);
}
static int f_device(sqlite3_file *f)
{
	BELOW(f);
	return m->xDeviceCharacteristics(r);
}
static int f_map(sqlite3_file *f, int p, int n, int e, void volatile **ret)
{
	BELOW(f);
	return m->xShmMap(r, p, n, e, ret);
}
static int f_shm_lock(sqlite3_file *f, int o, int n, int fl)
{
	BELOW(f);
	return m->xShmLock(r, o, n, fl);
}
static void f_barrier(sqlite3_file *f)
{
	BELOW(f);
	m->xShmBarrier(r);
}
static int f_unmap(sqlite3_file *f, int d)
{
	BELOW(f);
	return m->xShmUnmap(r, d);
}

static int f_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	BELOW(f);

	disk.writes++;
	if (fails()) {
		(void)m->xWrite(r, p, n / 2, at); /* a disk that becomes full has taken some of it */
		return SQLITE_FULL;
	}
	return m->xWrite(r, p, n, at);
}

static int f_sync(sqlite3_file *f, int flags)
{
	BELOW(f);

	disk.syncs++;
	return fails() ? SQLITE_IOERR_FSYNC : m->xSync(r, flags);
}

static const sqlite3_io_methods faulty_methods = {
	2,         f_close,  f_read,   f_write, f_trunc,    f_sync,    f_size,  f_lock, f_unlock, f_check,
	f_control, f_sector, f_device, f_map,   f_shm_lock, f_barrier, f_unmap, NULL,   NULL,
};

static sqlite3_vfs *unix_vfs;
static sqlite3_vfs faulty_vfs;

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *ret)
{
	struct faulty *x = (struct faulty *)f;
	int rc;

	(void)vfs;
	x->base.pMethods = NULL;
	x->real = (sqlite3_file *)(x + 1);
	rc = unix_vfs->xOpen(unix_vfs, name, x->real, flags, ret);
	if (x->real->pMethods != NULL)
		x->base.pMethods = &faulty_methods;
	return rc;
}

static int faulty_delete(sqlite3_vfs *v, const char *name, int sync)
{
	(void)v;
	return unix_vfs->xDelete(unix_vfs, name, sync);
}
static int faulty_access(sqlite3_vfs *v, const char *name, int fl, int *ret)
{
	(void)v;
	return unix_vfs->xAccess(unix_vfs, name, fl, ret);
}
static int faulty_name(sqlite3_vfs *v, const char *name, int n, char *ret)
{
	(void)v;
	return unix_vfs->xFullPathname(unix_vfs, name, n, ret);
}
static int faulty_random(sqlite3_vfs *v, int n, char *ret)
{
	(void)v;
	return unix_vfs->xRandomness(unix_vfs, n, ret);
}
static int faulty_sleep(sqlite3_vfs *v, int us)
{
	(void)v;
	return unix_vfs->xSleep(unix_vfs, us);
}
static int faulty_time(sqlite3_vfs *v, double *ret)
{
	(void)v;
	return unix_vfs->xCurrentTime(unix_vfs, ret);
}
static int faulty_error(sqlite3_vfs *v, int n, char *ret)
{
	(void)v;
	return unix_vfs->xGetLastError(unix_vfs, n, ret);
}

static void register_faulty(void)
{
	unix_vfs = sqlite3_vfs_find("unix");
	faulty_vfs = (sqlite3_vfs){ .iVersion = 1,
				    .szOsFile = (int)sizeof(struct faulty) + unix_vfs->szOsFile,
				    .mxPathname = unix_vfs->mxPathname,
				    .zName = "faulty",
				    .xOpen = faulty_open,
				    .xDelete = faulty_delete,
				    .xAccess = faulty_access,
				    .xFullPathname = faulty_name,
				    .xRandomness = faulty_random,
				    .xSleep = faulty_sleep,
				    .xCurrentTime = faulty_time,
				    .xGetLastError = faulty_error };
	assert_int_equal(sqlite3_vfs_register(&faulty_vfs, 1), SQLITE_OK);
	store_register_vfs();
}

/* --- the database, and what must be in it */

static char folder[64], path[96];
static sqlite3 *ours, *theirs;
static int model[KEYS];   /* the version under each key; 0: none */
static bool unsure[KEYS]; /* or a later one: its commit failed and left its outcome open */
static int version;
static int left; /* callbacks until a statement is interrupted */

static int on_progress(void *arg)
{
	(void)arg;
	return left > 0 && --left == 0;
}

static int exec(sqlite3 *db, const char *form, ...)
{
	va_list args;
	char *sql;
	int rc;

	va_start(args, form);
	sql = sqlite3_vmprintf(form, args);
	va_end(args);
	rc = sqlite3_exec(db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	return rc;
}

static sqlite3 *open_with(const char *vfs)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs),
			 SQLITE_OK);
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, 5000);
	assert_int_equal(exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA "
				  "wal_autocheckpoint=0; PRAGMA cache_size=5; PRAGMA secure_delete=OFF"),
			 SQLITE_OK);
	return db;
}

static void remove_files(void)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	char name[120];

	for (size_t i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s%s", path, tails[i]);
		unlink(name);
	}
}

static void fresh(void)
{
	memset(&disk, 0, sizeof(disk));
	memset(model, 0, sizeof(model));
	memset(unsure, 0, sizeof(unsure));
	version = 0;
	remove_files();
	theirs = open_with("unix");
	assert_int_equal(exec(theirs, "CREATE TABLE t (k INTEGER PRIMARY KEY, v INTEGER, x BLOB)"),
			 SQLITE_OK);
	ours = open_with(STORE_VFS_NAME);
	sqlite3_progress_handler(ours, 100, on_progress, NULL);
}

static void close_both(void)
{
	disk.at = 0;
	assert_int_equal(sqlite3_close(ours), SQLITE_OK);
	assert_int_equal(sqlite3_close(theirs), SQLITE_OK);
}

static void assert_is_the_model(sqlite3 *db)
{
	sqlite3_stmt *h;
	int found[KEYS] = { 0 };

	assert_int_equal(sqlite3_prepare_v2(db, "SELECT k, v FROM t WHERE x IS NOT NULL", -1, &h, NULL),
			 SQLITE_OK);
	while (sqlite3_step(h) == SQLITE_ROW)
		found[sqlite3_column_int(h, 0)] = sqlite3_column_int(h, 1);
	assert_int_equal(sqlite3_finalize(h), SQLITE_OK);
	for (int k = 0; k < KEYS; k++) {
		if (!unsure[k])
			assert_int_equal(found[k], model[k]);
	}
}

static void assert_sound(sqlite3 *db)
{
	sqlite3_stmt *h;

	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &h, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(h), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(h, 0), "ok");
	assert_int_equal(sqlite3_finalize(h), SQLITE_OK);
}

/* --- what can happen */

static int key(void)
{
	return ++version % KEYS;
}

#define PUT "REPLACE INTO t VALUES (%d, %d, randomblob(%d))"
#define SMALL 300
#define LARGE 400000 /* many times what the connection keeps in memory */

static void took(int k, int rc)
{
	if (rc == SQLITE_OK) {
		model[k] = version;
		unsure[k] = false;
	} else if (!disk.once) {
		/* the disk that failed its commit also failed what would have taken it back */
		unsure[k] = true;
	}
	if (!sqlite3_get_autocommit(ours))
		exec(ours, "ROLLBACK");
}

static void op_write(void)
{
	int k = key();
	took(k, exec(ours, PUT, k, version, SMALL));
}
static void op_large(void)
{
	int k = key();
	took(k, exec(ours, PUT, k, version, LARGE));
}

static void op_lazy(void)
{
	int k = key();

	store_wal_set_lazy(ours, true);
	took(k, exec(ours, PUT, k, version, SMALL));
	store_wal_set_lazy(ours, false);
}

static void op_rollback(void)
{
	exec(ours, "BEGIN IMMEDIATE; " PUT "; ROLLBACK", key(), -1, LARGE);
	if (!sqlite3_get_autocommit(ours))
		exec(ours, "ROLLBACK");
}

static void op_savepoint(void)
{
	int k = key();

	took(k, exec(ours, "BEGIN IMMEDIATE; " PUT "; SAVEPOINT s; " PUT "; ROLLBACK TO s; RELEASE s; COMMIT",
		     k, version, SMALL, (k + 1) % KEYS, -1, LARGE));
}

static void op_nothing_kept(void)
{
	exec(ours, "BEGIN IMMEDIATE; SAVEPOINT s; " PUT "; ROLLBACK TO s; RELEASE s; COMMIT", key(), -1,
	     LARGE);
	if (!sqlite3_get_autocommit(ours))
		exec(ours, "ROLLBACK");
}

static void op_interrupted(void)
{
	left = 8;
	exec(ours, "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < "
		   "900) SELECT i, -1, randomblob(3000) FROM n");
	left = 0;
}

static void op_read(void)
{
	if (disk.at == 0)
		assert_is_the_model(ours);
	else
		exec(ours, "SELECT sum(length(x)) FROM t");
}

static void op_copy(void)
{
	sqlite3_wal_checkpoint_v2(ours, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}
static void op_truncate(void)
{
	sqlite3_wal_checkpoint_v2(ours, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}
static void op_their_truncate(void)
{
	sqlite3_wal_checkpoint_v2(theirs, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

static void op_theirs(void)
{
	int k = key();

	assert_int_equal(exec(theirs, PUT, k, version, LARGE / 4), SQLITE_OK);
	model[k] = version;
	unsure[k] = false;
}

static void op_reopen(void)
{
	sqlite3_close(ours);
	if (disk.at == 0) {
		ours = open_with(STORE_VFS_NAME);
	} else {
		ours = NULL;
		if (sqlite3_open_v2(path, &ours, SQLITE_OPEN_READWRITE, STORE_VFS_NAME) == SQLITE_OK)
			exec(ours,
			     "PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=5");
	}
	sqlite3_progress_handler(ours, 100, on_progress, NULL);
}

static void (*const ops[])(void) = {
	op_write, op_large, op_lazy,     op_rollback, op_savepoint,      op_nothing_kept, op_interrupted,
	op_read,  op_copy,  op_truncate, op_theirs,   op_their_truncate, op_reopen,
};
#define OPS (sizeof(ops) / sizeof(ops[0]))

static void every_order_keeps_what_was_committed(void **state)
{
	(void)state;
	fresh();
	for (size_t i = 0; i < OPS * OPS * OPS; i++) {
		ops[i / OPS / OPS]();
		ops[i / OPS % OPS]();
		ops[i % OPS]();
		assert_is_the_model(theirs);
		assert_is_the_model(ours);
		if (i % 23 == 0)
			assert_sound(theirs);
	}
	close_both();
	theirs = open_with("unix");
	assert_is_the_model(theirs);
	assert_sound(theirs);
	sqlite3_close(theirs);
}

/* One round of everything, with another's commit behind each. */
static void run_all(void)
{
	for (size_t i = 0; i < OPS; i++) {
		ops[i]();
		op_theirs();
	}
	op_write();
}

static void fail_each(bool once)
{
	int at = 0;

	do {
		fresh();
		disk.once = once;
		disk.at = disk.calls + ++at;
		run_all();
		disk.at = 0;
		assert_is_the_model(theirs);
		assert_sound(theirs);
		op_reopen();
		op_write(); /* and with the disk well again, so are we */
		assert_is_the_model(ours);
		close_both();
		theirs = open_with("unix");
		assert_is_the_model(theirs);
		assert_sound(theirs);
		sqlite3_close(theirs);
		at += at / 16; /* every call at first, then some: the rounds are alike */
	} while (disk.calls > at);
}

static void a_call_that_fails_costs_its_transaction_only(void **state)
{
	(void)state;
	fail_each(true);
}

static void a_disk_that_fails_from_then_on_spoils_nothing(void **state)
{
	(void)state;
	fail_each(false);
}

/* What makes the file worth while: one write and one flush for a commit, none to lengthen the
 * file for most, and no flush for a lazy one. */
static void a_commit_is_one_write(void **state)
{
	(void)state;
	fresh();
	op_write();
	op_write();
	disk.writes = disk.syncs = 0;
	for (int i = 0; i < 20; i++)
		op_write();
	assert_int_equal(disk.syncs, 20);
	assert_int_equal(disk.writes, 20);
	for (int i = 0; i < 20; i++)
		op_lazy();
	assert_int_equal(disk.syncs, 20);
	assert_int_equal(disk.writes, 40);
	close_both();
}

/* A refused commit is not found by whoever reads the WAL from its beginning: here a copy of the
 * files, as a crash leaves them. */
static void a_commit_whose_flush_failed_is_not_in_the_log(void **state)
{
	char was[96];

	(void)state;
	fresh();
	op_write();
	disk.once = true;
	for (int i = 1; disk.at == 0 && i < 20; i++) {
		int before = disk.syncs;

		disk.at = disk.calls + i;
		op_write();
		disk.at = disk.syncs > before && model[version % KEYS] != version ? disk.at : 0;
	}
	assert_true(disk.at != 0); /* it was the flush that failed */
	disk.at = 0;
	memcpy(was, path, sizeof(was));
	assert_int_equal(
		system(sqlite3_snprintf(200, (char[200]){ 0 }, "cp %s %s/copy.db && cp %s-wal %s/copy.db-wal",
					was, folder, was, folder)),
		0);
	close_both();
	snprintf(path, sizeof(path), "%s/copy.db", folder);
	theirs = open_with("unix");
	assert_is_the_model(theirs);
	sqlite3_close(theirs);
	remove_files();
	memcpy(path, was, sizeof(was));
}

/* The same with a process of its own: this program again. */
static void run_process(const char *what)
{
	char number[16];
	pid_t pid;
	int status;

	snprintf(number, sizeof(number), "%d", version);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execl("/proc/self/exe", "other", path, what, number, NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int be_the_other(char **args)
{
	int n = (int)strtol(args[3], NULL, 10), rc;

	snprintf(path, sizeof(path), "%s", args[1]);
	if (sqlite3_open_v2(path, &theirs, SQLITE_OPEN_READWRITE, "unix") != SQLITE_OK)
		return 1;
	sqlite3_busy_timeout(theirs, 5000);
	if (strcmp(args[2], "write") == 0)
		rc = exec(theirs, "PRAGMA wal_autocheckpoint=0; " PUT, n % KEYS, n, LARGE);
	else if (strcmp(args[2], "truncate") == 0)
		rc = exec(theirs, "PRAGMA wal_checkpoint(TRUNCATE)");
	else
		rc = exec(theirs, "PRAGMA wal_checkpoint(RESTART); " PUT, n % KEYS, n, LARGE);
	return rc != SQLITE_OK || sqlite3_close(theirs) != SQLITE_OK;
}

static void process_writes(void)
{
	int k = key();

	run_process("write");
	model[k] = version;
}

static void process_restarts(void)
{
	int k = key();

	run_process("restart");
	model[k] = version;
}

static void process_truncates(void)
{
	run_process("truncate");
}

static void another_process_and_every_way_to_end(void **state)
{
	static void (*const ends[])(void) = { op_write,     op_large,        op_lazy,       op_rollback,
					      op_savepoint, op_nothing_kept, op_interrupted };
	static void (*const others[])(void) = { process_writes, process_restarts, process_truncates };

	(void)state;
	fresh();
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		for (size_t j = 0; j < sizeof(others) / sizeof(others[0]); j++) {
			op_write();
			ends[i]();
			others[j]();
			op_write();
			assert_is_the_model(theirs);
			assert_is_the_model(ours);
			assert_sound(theirs);
		}
	}
	close_both();
}

static int up(void **state)
{
	(void)state;
	/* thousands of flushes */
	snprintf(folder, sizeof(folder), "%s/procession-wal-XXXXXX",
		 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/test.db", folder);
	register_faulty();
	return 0;
}

static int down(void **state)
{
	(void)state;
	remove_files();
	return rmdir(folder);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order_keeps_what_was_committed),
		cmocka_unit_test(another_process_and_every_way_to_end),
		cmocka_unit_test(a_call_that_fails_costs_its_transaction_only),
		cmocka_unit_test(a_disk_that_fails_from_then_on_spoils_nothing),
		cmocka_unit_test(a_commit_is_one_write),
		cmocka_unit_test(a_commit_whose_flush_failed_is_not_in_the_log),
	};

	if (argc == 4)
		return be_the_other(argv);
	return cmocka_run_group_tests(tests, up, down);
}
