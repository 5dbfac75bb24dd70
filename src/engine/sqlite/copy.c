/* copy.c — a database in a file as one side of a move (engine/copy.h). What is read is read on a
 * connection of its own, as of one moment; which rows change is noted by the writing connection. A
 * file that is being made belongs to nobody but the move. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "catalogue/catalogue.h"
#include "engine/sqlite/sqlite_int.h"

#define WAL_PAGES 2048     /* of the WAL of a file that is being made, before it is copied into it */
#define CLOCK_WAIT_MS 2000 /* for this machine's clock, where it is behind */
#define CLOCK_LOOK_NS 5000000

struct sqlite_side {
	struct copy_side base;
	struct store_conn *conn; /* owned */
	struct store_rows *rows; /* owned */
	/* of a source */
	struct sqlite_database *db; /* borrowed */
	struct store_noted *noted;  /* owned, until the executor has it: */
	bool notes;
	/* of a target */
	struct store *store; /* owned */
};

static struct sqlite_side *side_of(struct copy_side *s)
{
	return CONTAINER_OF(s, struct sqlite_side, base);
}

static bool is_stopped(void *arg)
{
	return engine_copy_is_stopped(arg);
}

/* ---- both ---- */

static void side_close(struct copy_side *base)
{
	struct sqlite_side *s = side_of(base);

	if (s->notes)
		executor_note_end(s->db->executor);
	else
		store_noted_free(s->noted);
	store_rows_free(s->rows);
	if (s->conn != NULL)
		store_rollback(s->conn);
	store_disconnect(s->conn);
	store_close(s->store);
	free(s);
}

static int side_tables(struct copy_side *base, struct copy_tables *ret, struct err *reterr)
{
	return store_rows_tables(side_of(base)->conn, ret, reterr);
}

static int side_each(struct copy_side *base, const struct copy_table *t, copy_row *row, void *arg,
		     struct err *reterr)
{
	return store_rows_each(side_of(base)->rows, t, row, arg, reterr);
}

static int side_find(struct copy_side *base, const struct copy_table *t, const struct copy_key *keys,
		     size_t n, copy_row *row, void *arg, struct err *reterr)
{
	return store_rows_find(side_of(base)->rows, t, keys, n, row, arg, reterr);
}

static int side_last(struct copy_side *base, const struct copy_table *t, int64_t *ret, struct err *reterr)
{
	struct store_rows *r = side_of(base)->rows;

	if (t->sequence)
		return store_rows_number(r, ret, reterr, "SELECT seq FROM sqlite_sequence WHERE name = '%s'",
					 t->name);
	return store_rows_number(r, ret, reterr, "SELECT max(\"%s\") FROM \"%s\"",
				 t->columns[t->keys[0]].name, t->name);
}

static int side_count(struct copy_side *base, const struct copy_table *t, uint64_t *ret, struct err *reterr)
{
	int64_t n;
	int rc = store_rows_number(side_of(base)->rows, &n, reterr, "SELECT count(*) FROM \"%s\"", t->name);

	*ret = rc == 0 ? (uint64_t)n : 0;
	return rc;
}

static int connect_side(struct sqlite_side *s, struct store *st, bool read_only, struct err *reterr)
{
	if (store_connect(st, read_only, &s->conn, reterr) < 0 ||
	    store_rows_new(s->conn, &s->rows, reterr) < 0)
		return -1;
	store_set_interrupt(s->conn, is_stopped, &s->base);
	return 0;
}

/* ---- a source ---- */

static int source_note(struct copy_side *base, const struct copy_tables *t, struct err *reterr)
{
	struct sqlite_side *s = side_of(base);

	store_noted_tables(s->noted, t);
	s->notes = executor_note(s->db->executor, s->noted, is_stopped, base, reterr) == 0;
	return s->notes ? 0 : -1;
}

/* While nobody commits it begins to see, and takes what has been noted: all that changed before. */
static int source_look(struct copy_side *base, struct copy_keys *add, struct err *reterr)
{
	struct sqlite_side *s = side_of(base);
	pthread_rwlock_t *commits = &s->db->engine->commits;
	int rc;

	pthread_rwlock_wrlock(commits);
	rc = store_hold(s->conn, reterr);
	if (rc == 0)
		rc = store_noted_take(s->noted, add, reterr);
	pthread_rwlock_unlock(commits);
	return rc;
}

static int source_looked(struct copy_side *base, struct err *reterr)
{
	(void)reterr;
	store_rollback(side_of(base)->conn);
	return 0;
}

/* Renewals that were answered may wait for their commit. */
static int source_settle(struct copy_side *base, struct err *reterr)
{
	struct sqlite_side *s = side_of(base);

	return executor_note(s->db->executor, s->noted, is_stopped, base, reterr);
}

static int source_sound(struct copy_side *base, struct err *reterr)
{
	struct sqlite_side *s = side_of(base);
	int64_t n = 0;

	if (store_damaged(s->db->store))
		n = 1;
	else if (store_rows_number(s->rows, &n, reterr,
				   "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = 'damaged'") <
			 0 ||
		 (n == 1 && store_rows_number(s->rows, &n, reterr,
					      "SELECT count(*) FROM (SELECT 1 FROM damaged LIMIT 1)") < 0))
		return -1;
	return n == 0 ? 0 : err_set(reterr, ERR_DAMAGED, s->db->base.name, s->db->base.name);
}

static int source_clock(struct copy_side *base, int64_t *ret, struct err *reterr)
{
	(void)base, (void)reterr;
	*ret = clock_ticks();
	return 0;
}

static int source_bytes(struct copy_side *base, uint64_t *ret, struct err *reterr)
{
	const struct sqlite_side *s = side_of(base);

	(void)reterr;
	*ret = store_file_bytes(s->db->store) + (uint64_t)store_wal_pages(s->db->store) * STORE_PAGE;
	return 0;
}

static const struct copy_ops source_ops = {
	.close = side_close,
	.tables = side_tables,
	.note = source_note,
	.look = source_look,
	.looked = source_looked,
	.settle = source_settle,
	.sound = source_sound,
	.clock = source_clock,
	.bytes = source_bytes,
	.each = side_each,
	.find = side_find,
	.last = side_last,
	.count = side_count,
};

int sqlite_copy_from(struct engine_database *db, const struct copy_watch *w, struct copy_side **ret,
		     struct err *reterr)
{
	struct sqlite_side *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return err_nomem(reterr);
	s->base = (struct copy_side){ &source_ops, *w };
	s->db = CONTAINER_OF(db, struct sqlite_database, base);
	s->noted = store_noted_new();
	if (s->noted == NULL || connect_side(s, s->db->store, true, reterr) < 0) {
		if (s->noted == NULL)
			err_nomem(reterr);
		side_close(&s->base);
		return -1;
	}
	*ret = &s->base;
	return 0;
}

/* ---- a target ---- */

static int target_begin(struct copy_side *base, struct err *reterr)
{
	struct sqlite_side *s = side_of(base);

	return store_begin(s->conn, reterr);
}

static int target_put(struct copy_side *base, const struct copy_table *t, const struct copy_cell *cells,
		      struct err *reterr)
{
	return store_rows_put(side_of(base)->rows, t, cells, reterr);
}

static int target_remove(struct copy_side *base, const struct copy_table *t, const struct copy_key *keys,
			 size_t n, struct err *reterr)
{
	return store_rows_remove(side_of(base)->rows, t, keys, n, reterr);
}

static int target_own(struct copy_side *base, const struct copy_table *t, const struct copy_key *keys,
		      size_t n, struct err *reterr)
{
	return store_rows_own(side_of(base)->rows, t, keys, n, reterr);
}

/* The others give what follows the highest number there is. */
static int target_set_last(struct copy_side *base, const struct copy_table *t, int64_t last,
			   struct err *reterr)
{
	return t->sequence ? store_rows_set_last(side_of(base)->rows, t, last, reterr) : 0;
}

static int target_set_clock(struct copy_side *base, int64_t ticks, struct err *reterr)
{
	const struct timespec pause = { 0, CLOCK_LOOK_NS };
	int64_t until = clock_mono_ms() + CLOCK_WAIT_MS, behind;

	while ((behind = ticks - clock_ticks()) > 0) {
		if (clock_mono_ms() >= until || engine_copy_is_stopped(base))
			return err_raise(
				reterr, 50021, 16, 1,
				"The clock of this machine is %lld seconds behind the times that are in "
				"the database. Set it right, then move again.",
				(long long)(behind / TICKS_PER_SECOND) + 1);
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int target_commit(struct copy_side *base, bool flushed, struct err *reterr)
{
	struct sqlite_side *s = side_of(base);

	if ((flushed ? store_commit(s->conn, reterr) : store_commit_lazily(s->conn, reterr)) < 0)
		return -1;
	if (store_wal_waiting(s->store) > WAL_PAGES)
		store_checkpoint(s->conn, true);
	return 0;
}

static int target_finish(struct copy_side *base, struct err *reterr)
{
	return store_flush(side_of(base)->store, reterr);
}

static const struct copy_ops target_ops = {
	.close = side_close,
	.tables = side_tables,
	.each = side_each,
	.find = side_find,
	.last = side_last,
	.count = side_count,
	.begin = target_begin,
	.put = target_put,
	.remove = target_remove,
	.own = target_own,
	.set_last = target_set_last,
	.set_clock = target_set_clock,
	.commit = target_commit,
	.finish = target_finish,
};

/* The name must be free: what lies there belongs to somebody. */
static int check_free(const struct sqlite_engine *e, const char *place, char *path, struct err *reterr)
{
	struct stat s;

	if (sqlite_place_path(e, place, path, reterr) < 0)
		return -1;
	if (stat(path, &s) < 0 && errno == ENOENT)
		return 0;
	return err_raise(reterr, 50021, 16, 1,
			 "There is a file '%.300s' already, where the database would be kept. Move it away.",
			 path);
}

int sqlite_copy_place(struct engine *base, const char *name, char ret[ENGINE_PLACE], struct err *reterr)
{
	char path[SQLITE_PATH];

	snprintf(ret, ENGINE_PLACE, "%s.db", name);
	return check_free(CONTAINER_OF(base, struct sqlite_engine, base), ret, path, reterr);
}

static int make_store(struct sqlite_side *s, const struct engine_open *o, const char *path,
		      struct err *reterr)
{
	const struct store_options so = { .path = path,
					  .name = o->name,
					  .service = &catalogue_service_procs[o->service] };

	if (store_open(&so, &s->store, reterr) < 0 || connect_side(s, s->store, false, reterr) < 0)
		return -1;
	return store_identity_set(s->conn, o->identity, reterr);
}

int sqlite_copy_to(struct engine *base, const struct engine_open *o, const struct copy_watch *w,
		   struct copy_side **ret, struct err *reterr)
{
	struct sqlite_side *s = calloc(1, sizeof(*s));
	char path[SQLITE_PATH];

	if (s == NULL)
		return err_nomem(reterr);
	s->base = (struct copy_side){ &target_ops, *w };
	if (check_free(CONTAINER_OF(base, struct sqlite_engine, base), o->place, path, reterr) < 0 ||
	    make_store(s, o, path, reterr) < 0) {
		side_close(&s->base);
		return -1;
	}
	*ret = &s->base;
	return 0;
}
