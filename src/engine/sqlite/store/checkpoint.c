/* checkpoint.c — the write-ahead log and the file. Every commit is an fsync of the WAL
 * (synchronous=FULL), or is left to flush(); checkpoint() copies the WAL into the file, away
 * from commits: SQLite's own automatic checkpoint would now and then make one commit pay for a
 * thousand pages. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/sqlite/store/store_int.h"

#define WAL_HUGE 100000 /* pages */
#define WORTH_LEAST 1500
#define WORTH_MOST 40000
#define WORTH_TIMES 100 /* the pages of the file */
#define RESTART_MS 1000

/* Called by SQLite after each commit with the length of the WAL. */
static int on_wal(void *arg, sqlite3 *db, const char *schema, int pages)
{
	struct store *st = ((struct store_conn *)arg)->store;

	(void)db;
	(void)schema;
	if ((unsigned)pages <= atomic_load(&st->wal_pages))
		atomic_store(&st->wal_done, 0); /* a commit makes it longer, unless it began anew */
	atomic_store(&st->wal_pages, (unsigned)pages);
	((struct store_conn *)arg)->wrote_wal = true;
	return SQLITE_OK;
}

/* In place of the automatic checkpoint. */
void store_wal_watch(struct store_conn *c)
{
	sqlite3_wal_hook(c->db, on_wal, c);
}

unsigned store_wal_waiting(struct store *st)
{
	unsigned pages = atomic_load(&st->wal_pages), done = atomic_load(&st->wal_done);

	return pages > done ? pages - done : 0;
}

/* No more pages are copied than the file has, so that a small one can be copied often. And it
 * should be: SQLite finds a page of the WAL, and the place for the next one, by walking over all
 * that the page has had among the last few thousand, which are the more the fewer pages there
 * are. */
unsigned store_checkpoint_worth(struct store *st)
{
	unsigned pages = atomic_load(&st->file_pages);

	return pages < WORTH_LEAST / WORTH_TIMES  ? WORTH_LEAST
	       : pages > WORTH_MOST / WORTH_TIMES ? WORTH_MOST
						  : WORTH_TIMES * pages;
}

unsigned store_wal_pages(struct store *st)
{
	return atomic_load(&st->wal_pages);
}

uint64_t store_file_bytes(const struct store *st)
{
	struct stat s;

	return stat(st->path, &s) == 0 && s.st_size > 0 ? (uint64_t)s.st_size : 0;
}

static void look_at_file(struct store_conn *c)
{
	sqlite3_file *f = NULL;
	sqlite3_int64 size;

	if (sqlite3_file_control(c->db, "main", SQLITE_FCNTL_FILE_POINTER, &f) == SQLITE_OK && f != NULL &&
	    f->pMethods != NULL && f->pMethods->xFileSize(f, &size) == SQLITE_OK)
		atomic_store(&c->store->file_pages,
			     (unsigned)(size / STORE_PAGE < UINT_MAX ? size / STORE_PAGE : UINT_MAX));
}

/* PASSIVE waits for nobody. What a reader still needs stays for another time: it counts as done
 * until the WAL has grown as much again. Where there is always some reader, the WAL would never
 * begin anew; once it is huge, RESTART waits for those that read it now. */
void store_checkpoint(struct store_conn *c, bool alone)
{
	bool huge = alone && atomic_load(&c->store->wal_pages) >= WAL_HUGE;
	struct err err;
	int rc, pages = 0;

	assert(!c->read_only);
	if (store_in_transaction(c) || atomic_load(&c->store->flush_error) != 0)
		return; /* what the WAL holds now is not certain */
	if (huge)
		sqlite3_busy_timeout(c->db, RESTART_MS);
	rc = sqlite3_wal_checkpoint_v2(
		c->db, NULL, huge ? SQLITE_CHECKPOINT_RESTART : SQLITE_CHECKPOINT_PASSIVE, &pages, NULL);
	if (huge)
		sqlite3_busy_timeout(c->db, STORE_BUSY_MS);
	if (rc == SQLITE_OK && pages >= 0)
		atomic_store(&c->store->wal_done, (unsigned)pages);
	else
		atomic_store(&c->store->wal_done, atomic_load(&c->store->wal_pages));
	look_at_file(c);
	if (rc != SQLITE_OK && (rc & 0xff) != SQLITE_BUSY)
		/* for the log: nothing is lost, the WAL only stays longer */
		store_error(c, rc, &err);
}

static int flush_error(struct store *st, struct err *reterr)
{
	store_unsound(st, errno);
	return store_sound(st, reterr);
}

/* By a descriptor of its own: SQLite's file objects belong to the thread that writes. What is no
 * longer in the WAL was synced with the file. */
int store_flush(struct store *st, struct err *reterr)
{
	struct store_marked covered;
	char path[4096];
	int fd, rc;

	store_mark_flushing(st, &covered);
	if (snprintf(path, sizeof(path), "%s-wal", st->path) >= (int)sizeof(path))
		return err_set(reterr, ERR_STORE, st->name, "the path of its WAL is too long");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : flush_error(st, reterr);
	rc = fdatasync(fd);
	if (rc < 0)
		flush_error(st, reterr);
	else
		store_mark_flushed(st, &covered);
	close(fd);
	return rc;
}
