/* backup.c — a copy of the database as it is at one moment, while others go on: a connection
 * that only reads begins a transaction, and SQLite's backup interface copies what that sees,
 * some pages at a time. The WAL cannot begin anew meanwhile. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/sqlite/store/store_int.h"

#define PAGES_AT_ONCE 64 /* 256 KiB; then whether to go on is asked */

static int refuse(const struct store *st, const char *file, const char *why, struct err *reterr)
{
	return err_raise(
		reterr, 50021, 16, 1,
		"The copy of database '%s' in '%.300s' could not be made: %.200s. Give a file that does "
		"not exist yet, on a disk with room for it.",
		st->name, file, why);
}

/* The file is ours alone, and must not be there yet. */
static int make_file(const struct store *st, const char *file, struct err *reterr)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return refuse(st, file, strerror(errno), reterr);
	close(fd);
	return 0;
}

/* Nothing of it counts before it is whole: SQLite need not flush it, we do once. */
static int flush_file(const struct store *st, const char *file, struct err *reterr)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), rc = fd < 0 ? -1 : fsync(fd);
	int error = errno;

	if (fd >= 0)
		close(fd);
	return rc == 0 ? 0 : refuse(st, file, strerror(error), reterr);
}

static int copy_pages(struct store_conn *from, sqlite3 *to, const char *file, bool (*goes_on)(void *arg),
		      void *arg, struct err *reterr)
{
	sqlite3_backup *b = sqlite3_backup_init(to, "main", from->db, "main");
	bool stopped = false;
	int rc;

	if (b == NULL)
		return refuse(from->store, file, sqlite3_errmsg(to), reterr);
	do {
		assert(store_in_transaction(from)); /* or it would begin again with each commit of others */
		rc = sqlite3_backup_step(b, PAGES_AT_ONCE);
		stopped = rc == SQLITE_OK && goes_on != NULL && !goes_on(arg);
	} while (rc == SQLITE_OK && !stopped);
	sqlite3_backup_finish(b);
	if (stopped)
		return err_set(reterr, ERR_CANCELLED);
	return rc == SQLITE_DONE ? 0 : refuse(from->store, file, sqlite3_errstr(rc), reterr);
}

/* A transaction sees what is committed when it first looks. */
int store_hold(struct store_conn *c, struct err *reterr)
{
	assert(c->read_only && !store_in_transaction(c));
	return store_begin(c, reterr) < 0 ? -1
					  : store_script(c, "SELECT count(*) FROM sqlite_schema", reterr);
}

void store_release_held(struct store_conn *c)
{
	if (c != NULL)
		store_rollback(c);
	store_disconnect(c);
}

static int copy(struct store_conn *from, const char *file, bool (*goes_on)(void *arg), void *arg,
		struct err *reterr)
{
	sqlite3 *to = NULL;
	int rc = 0;

	if (sqlite3_open_v2(file, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK ||
	    sqlite3_exec(to, "PRAGMA synchronous=OFF; PRAGMA journal_mode=OFF", NULL, NULL, NULL) !=
		    SQLITE_OK)
		rc = refuse(from->store, file, sqlite3_errmsg(to), reterr);
	if (rc == 0)
		rc = copy_pages(from, to, file, goes_on, arg, reterr);
	sqlite3_close(to);
	return rc == 0 ? flush_file(from->store, file, reterr) : -1;
}

int store_backup(struct store_conn *c, const char *file, bool (*goes_on)(void *arg), void *arg,
		 struct err *reterr)
{
	assert(store_in_transaction(c));
	if (make_file(c->store, file, reterr) < 0)
		return -1;
	if (copy(c, file, goes_on, arg, reterr) < 0) {
		(void)unlink(file);
		return -1;
	}
	return 0;
}
