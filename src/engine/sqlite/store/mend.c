/* mend.c — after a flush that failed. Linux reports such a failure once and takes the pages for
 * clean: a later flush that succeeds says nothing about them, and what they held may be gone
 * with the next loss of power, or when memory is short. So the store counts as unsound from then
 * on, and nothing is answered from it, until the whole write-ahead log has been read, found to
 * be what it should be, written once more and flushed. What is in the database file needs no
 * such care: a checkpoint whose flush failed does not count as done, and the next one copies the
 * same pages again.
 *
 * The WAL is compared with its own checksums and with the shared index, whose format, as that of
 * the WAL, SQLite documents (walformat.html, fileformat2.html). If it does not hold what it
 * should, the pages are lost already: then only a restart helps, which goes on with what the WAL
 * has up to there. */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/sqlite/store/vfs.h"
#include "engine/sqlite/store/walformat.h"

#define INDEX_PAGE 32768 /* of the shared index, as SQLite maps it */
/* read and written at once, or a single frame: SQLite takes less than 128 KiB */
#define PIECE (64 << 10)

struct rewriting {
	sqlite3_file *file;
	uint32_t frames;      /* that count */
	struct wal_salt salt; /* what header and frames must have */
	uint32_t last[2];     /* what the checksum must be in the end */
	struct wal_walk walk;
	size_t frame; /* bytes of one, with its header */
};

/* Of the shared index: how many frames count, and what they are known by. Stable while the
 * connection has the write lock. */
static int read_index(const struct mainfile *m, struct rewriting *w)
{
	void volatile *mapped = NULL;
	uint8_t p[48];
	int rc = m->real->pMethods->xShmMap(m->real, 0, INDEX_PAGE, 0, &mapped);

	if (rc != SQLITE_OK || mapped == NULL)
		return rc == SQLITE_OK ? SQLITE_IOERR_SHMMAP : rc;
	for (size_t i = 0; i < sizeof(p); i++)
		p[i] = ((const uint8_t volatile *)mapped)[i];
	/* in the machine's own order, but for the salts, which are as in the file */
	memcpy(&w->frames, p + 16, 4);
	memcpy(w->last, p + 24, 8);
	memcpy(&w->salt, p + 32, 8);
	w->salt = (struct wal_salt){ be32toh(w->salt.a), be32toh(w->salt.b) };
	return SQLITE_OK;
}

static int read_header(struct rewriting *w, uint8_t *p)
{
	int rc = w->file->pMethods->xRead(w->file, p, (int)WAL_HEADER, 0);

	if (rc != SQLITE_OK)
		return rc;
	if (!store_wal_walk_begin(&w->walk, p) || w->walk.salt.a != w->salt.a || w->walk.salt.b != w->salt.b)
		return SQLITE_CORRUPT;
	w->frame = WAL_FRAME_HEADER + w->walk.page_size;
	return SQLITE_OK;
}

static int rewrite_frames(struct rewriting *w, uint8_t *p, size_t at_once)
{
	sqlite3_int64 at = WAL_HEADER;
	int rc = SQLITE_OK;

	for (uint32_t done = 0; done < w->frames && rc == SQLITE_OK;) {
		size_t n = w->frames - done < at_once ? w->frames - done : at_once;

		rc = w->file->pMethods->xRead(w->file, p, (int)(n * w->frame), at);
		for (size_t i = 0; i < n && rc == SQLITE_OK; i++)
			rc = store_wal_walk_frame(&w->walk, p + i * w->frame) ? SQLITE_OK : SQLITE_CORRUPT;
		if (rc == SQLITE_OK)
			rc = w->file->pMethods->xWrite(w->file, p, (int)(n * w->frame), at);
		at += (sqlite3_int64)(n * w->frame);
		done += (uint32_t)n;
	}
	return rc == SQLITE_OK && memcmp(w->walk.sum, w->last, sizeof(w->last)) != 0 ? SQLITE_CORRUPT : rc;
}

/* A commit that was refused lies behind the last frame, if it lies anywhere: nobody is to find
 * it after a crash. */
static int clear_next(const struct rewriting *w)
{
	static const uint8_t zeros[WAL_FRAME_HEADER];
	sqlite3_int64 at = (sqlite3_int64)WAL_HEADER + (sqlite3_int64)w->frames * (sqlite3_int64)w->frame,
		      size;
	int rc = w->file->pMethods->xFileSize(w->file, &size);

	if (rc != SQLITE_OK || size < at + WAL_FRAME_HEADER)
		return rc;
	return w->file->pMethods->xWrite(w->file, zeros, (int)WAL_FRAME_HEADER, at);
}

static int rewrite(struct rewriting *w)
{
	uint8_t header[WAL_HEADER], *p;
	size_t at_once;
	int rc = read_header(w, header);

	if (rc != SQLITE_OK)
		return rc;
	at_once = PIECE / w->frame == 0 ? 1 : PIECE / w->frame;
	p = malloc(at_once * w->frame);
	if (p == NULL)
		return SQLITE_NOMEM;
	rc = w->file->pMethods->xWrite(w->file, header, (int)WAL_HEADER, 0);
	if (rc == SQLITE_OK)
		rc = rewrite_frames(w, p, at_once);
	if (rc == SQLITE_OK)
		rc = clear_next(w);
	free(p);
	return rc;
}

/* In a transaction that has written nothing: nobody else writes meanwhile. An index that counts
 * no frames means that all is in the database file, and that the WAL begins anew. */
static int rewrite_wal(struct store_conn *c)
{
	struct walfile *l = NULL;
	struct rewriting w = { 0 };
	int rc = sqlite3_file_control(c->db, "main", STORE_CONTROL_WAL, &l);

	if (rc != SQLITE_OK || l == NULL)
		return rc == SQLITE_OK ? SQLITE_IOERR : rc;
	w.file = l->real;
	rc = read_index(l->database, &w);
	if (rc == SQLITE_OK && w.frames > 0)
		rc = rewrite(&w);
	return rc == SQLITE_OK ? l->real->pMethods->xSync(l->real, SQLITE_SYNC_NORMAL) : rc;
}

void store_unsound(struct store *st, int system_error)
{
	const struct log_ctx ctx = { .database = st->name };
	int sound = 0;

	if (system_error == 0)
		system_error = EIO;
	if (atomic_compare_exchange_strong(&st->flush_error, &sound, system_error))
		LOG(LOG_ERROR, &ctx, "unsound", F_STR("reason", strerror(system_error)),
		    F_STR("file", st->path));
}

int store_sound(struct store *st, struct err *reterr)
{
	int error = atomic_load(&st->flush_error);

	return error == 0 ? 0 : err_set(reterr, ERR_FLUSH_FAILED, st->name, strerror(error));
}

int store_mend(struct store_conn *c, struct err *reterr)
{
	const struct log_ctx ctx = { .database = c->store->name };
	int rc;

	assert(!c->read_only && !store_in_transaction(c));
	if (atomic_load(&c->store->flush_error) == 0)
		return 0;
	if (store_begin(c, reterr) < 0)
		return -1;
	rc = rewrite_wal(c);
	store_rollback(c);
	if (rc != SQLITE_OK) {
		LOG(LOG_ERROR, &ctx, "mend_failed", F_STR("reason", sqlite3_errstr(rc)));
		return store_sound(c->store, reterr);
	}
	atomic_store(&c->store->flush_error, 0);
	LOG(LOG_WARN, &ctx, "mended", F_STR("file", c->store->path));
	return 0;
}
