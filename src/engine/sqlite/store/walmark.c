/* walmark.c — how much of the WAL was on the disk. SQLite recovers the WAL up to the first fault
 * in it, and takes whatever is behind that for something that was never finished. It cannot know
 * better; we can. After each flush the number of pages that it covered is written beside the
 * database (-mark), without a flush of its own: the mark may be older than the WAL, but never
 * says more than what had been flushed. If the WAL then has less than its mark, commits that
 * were answered are lost, and the server says so before SQLite opens the file and writes over
 * what is left.
 *
 * No false alarm: what lies behind the last flush may be torn in any way; a WAL that was begun
 * anew has another salt, which is on the disk before its first page; and a WAL that is gone may
 * have been copied into the file by another program, so that this is only a warning. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "engine/sqlite/store/store_int.h"

#define MAGIC 0x314b4d50u /* "PMK1" */

/* The file. Less than a sector: it is there as a whole or as it was. */
struct record {
	uint32_t magic;
	struct wal_salt salt;
	uint32_t frames;
	uint32_t check;
};

static uint32_t check_of(const struct record *r)
{
	uint32_t words[] = { r->magic, r->salt.a, r->salt.b, r->frames }, h = 2166136261u;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		h = (h ^ words[i]) * 16777619u;
	return h;
}

static bool same_salt(struct wal_salt x, struct wal_salt y)
{
	return x.a == y.a && x.b == y.b;
}

static bool path_of(const struct store *st, const char *tail, char *dst, size_t size)
{
	return snprintf(dst, size, "%s%s", st->path, tail) < (int)size;
}

static size_t read_file(void *fd, uint64_t at, void *dst, size_t n)
{
	ssize_t got = pread(*(int *)fd, dst, n, (off_t)at);

	return got < 0 ? 0 : (size_t)got;
}

/* ---- at the start ---- */

static bool read_mark(struct store *st, struct record *ret)
{
	char path[4096];

	if (!path_of(st, "-mark", path, sizeof(path)))
		return false;
	st->mark.fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return st->mark.fd >= 0 && pread(st->mark.fd, ret, sizeof(*ret), 0) == (ssize_t)sizeof(*ret) &&
	       ret->magic == MAGIC && ret->check == check_of(ret) && ret->frames > 0;
}

static int damaged(const struct store *st, const struct record *r, const struct walscan *found, bool accept,
		   struct err *reterr)
{
	const struct log_ctx ctx = { .database = st->name };

	if (accept) {
		LOG(LOG_WARN, &ctx, "wal_damage_accepted", F_STR("file", st->path), F_INT("pages", r->frames),
		    F_INT("sound", found->committed));
		return 0;
	}
	return err_raise(reterr, 50021, 16, 1,
			 "The write-ahead log '%s-wal' of database '%s' is damaged: of %u pages that had "
			 "been flushed to "
			 "the disk, only the first %u are sound. "
			 "The changes behind them would be lost. Restore the database from a backup, or "
			 "start once with --accept-as-found \"%s\" to go on without them.",
			 st->path, st->name, r->frames, found->committed, st->name);
}

static int compare(const struct store *st, int fd, const struct record *r, bool accept, struct err *reterr)
{
	struct walscan found;

	if (store_walscan_run(read_file, &fd, r->frames, &found) < 0)
		return err_nomem(reterr);
	if (found.sound && (!same_salt(found.salt, r->salt) || found.committed == r->frames))
		return 0;
	return damaged(st, r, &found, accept, reterr);
}

static void missing(struct store *st, const struct record *r)
{
	const struct log_ctx ctx = { .database = st->name };

	LOG(LOG_WARN, &ctx, "wal_missing", F_STR("file", st->path), F_INT("pages", r->frames),
	    F_STR("remedy", "none is needed if another program, such as sqlite3, has had the database open "
			    "since the server ended; else the last changes are lost, and a backup has them"));
	if (ftruncate(st->mark.fd, 0) < 0)
		return; /* said again next time */
}

int store_mark_check(struct store *st, bool accept, struct err *reterr)
{
	char path[4096];
	struct record r;
	struct stat s;
	int fd, rc = 0;

	if (st->temporary || !read_mark(st, &r) || !path_of(st, "-wal", path, sizeof(path)))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT)
		return err_raise(reterr, 50021, 16, 1,
				 "The write-ahead log '%s' of database '%s' cannot be read: %s. Check its "
				 "owner and rights.",
				 path, st->name, strerror(errno));
	if (fd < 0 || fstat(fd, &s) < 0 || s.st_size == 0)
		missing(st, &r);
	else
		rc = compare(st, fd, &r, accept, reterr);
	if (fd >= 0)
		close(fd); /* SQLite has no locks on the WAL that this could give up */
	return rc;
}

/* ---- while it runs ---- */

static void write_mark(struct store_mark *m, const struct store_marked *what)
{
	struct record r = { MAGIC, what->salt, what->frames, 0 };

	assert(lock_is_mine(&m->lock) && m->fd >= 0);
	if (what->frames == 0 ||
	    (same_salt(what->salt, m->written.salt) && what->frames <= m->written.frames))
		return;
	r.check = check_of(&r);
	if (pwrite(m->fd, &r, sizeof(r), 0) == (ssize_t)sizeof(r))
		m->written = *what;
	/* else the old one stands: it says less, but nothing wrong */
}

/* SQLite deletes the WAL with its last connection, and makes another one for the next. */
static bool wal_is_open(struct store *st)
{
	struct store_mark *m = &st->mark;
	struct walscan found = { 0 };
	char path[4096];
	struct stat s;

	assert(lock_is_mine(&st->mark.lock));
	if (m->wal_fd >= 0 && fstat(m->wal_fd, &s) == 0 && s.st_nlink > 0)
		return true;
	if (m->wal_fd >= 0)
		close(m->wal_fd);
	m->wal_fd = path_of(st, "-wal", path, sizeof(path)) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (m->wal_fd < 0 || store_walscan_run(read_file, &m->wal_fd, 0, &found) < 0 || !found.sound)
		return false;
	m->page_size = found.page_size;
	return true;
}

/* The salt is read from the last frame itself, so that number and salt belong together even when
 * another program has begun the WAL anew meanwhile. */
static struct store_marked last_commit(struct store *st)
{
	struct store_mark *m = &st->mark;
	struct store_marked what = { .frames = atomic_load(&st->wal_pages) };
	uint8_t frame[WAL_FRAME_HEADER];
	uint64_t at;

	assert(lock_is_mine(&st->mark.lock));
	if (what.frames == 0 || !wal_is_open(st))
		return (struct store_marked){ 0 };
	at = WAL_HEADER + (uint64_t)(what.frames - 1) * (WAL_FRAME_HEADER + m->page_size);
	if (read_file(&m->wal_fd, at, frame, sizeof(frame)) != sizeof(frame) ||
	    store_wal_frame_page(frame) == 0 || store_wal_frame_commit(frame) == 0)
		return (struct store_marked){ 0 };
	what.salt = store_wal_frame_salt(frame);
	return what;
}

void store_mark_committed(struct store *st, bool flushed)
{
	struct store_mark *m = &st->mark;

	if (m->fd < 0)
		return;
	lock_take(&m->lock);
	m->committed = last_commit(st);
	if (flushed)
		write_mark(m, &m->committed);
	lock_give(&m->lock);
}

void store_mark_flushing(struct store *st, struct store_marked *ret)
{
	lock_take(&st->mark.lock);
	*ret = st->mark.committed;
	lock_give(&st->mark.lock);
}

/* Not when the WAL has been begun anew meanwhile: the mark may be further by now. */
void store_mark_flushed(struct store *st, const struct store_marked *what)
{
	struct store_mark *m = &st->mark;

	lock_take(&m->lock);
	/* never more than what was committed before the flush began */
	assert(!same_salt(what->salt, m->committed.salt) || what->frames <= m->committed.frames);
	if (m->fd >= 0 && same_salt(what->salt, m->committed.salt) && atomic_load(&st->flush_error) == 0)
		write_mark(m, what);
	lock_give(&m->lock);
}

void store_mark_init(struct store_mark *m)
{
	lock_init(&m->lock);
	m->fd = m->wal_fd = -1;
}

static bool wal_is_gone(const struct store *st)
{
	char path[4096];

	return path_of(st, "-wal", path, sizeof(path)) && access(path, F_OK) < 0 && errno == ENOENT;
}

/* The last connection has copied the WAL into the file and deleted it: there is nothing that
 * could be lost. Whoever is not the last takes no lock: it may be a thread of low priority. */
void store_mark_disconnected(struct store *st)
{
	struct store_mark *m = &st->mark;

	if (m->fd < 0 || !wal_is_gone(st))
		return;
	lock_take(&m->lock);
	if (wal_is_gone(st) && ftruncate(m->fd, 0) == 0)
		m->committed = m->written = (struct store_marked){ 0 };
	lock_give(&m->lock);
}

void store_mark_let_go(struct store *st)
{
	char path[4096];

	if (st->mark.wal_fd >= 0)
		close(st->mark.wal_fd);
	if (st->mark.fd >= 0) {
		close(st->mark.fd);
		if (wal_is_gone(st) && path_of(st, "-mark", path, sizeof(path)))
			unlink(path);
	}
	st->mark.fd = st->mark.wal_fd = -1;
}

void store_mark_fini(struct store *st)
{
	store_mark_let_go(st);
	lock_fini(&st->mark.lock);
}
