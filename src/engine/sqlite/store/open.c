/* open.c — a database as a file: brought to the schema of this program, checked when asked. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/sqlite/store/store_int.h"

#define REPORT_MAX (1 << 20)

static void set_process_up(void)
{
	store_messages_set_up();
	/* Without statistics of memory, which nobody reads, SQLite takes no lock of the whole
	 * process for each allocation. Refused, to no harm, once SQLite runs. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	store_register_vfs();
}

/* What a crash left in the WAL may be in the system's memory only, if it came after a flush that
 * failed. Before anything is built on it, it goes to the file, or to its place in the WAL once
 * more, and is flushed. */
static int settle_wal(struct store_conn *c, struct err *reterr)
{
	int frames = 0, copied = 0,
	    rc = sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);

	if (rc == SQLITE_OK && copied == frames)
		return 0;
	store_unsound(c->store, 0);
	return store_mend(c, reterr);
}

int store_open(const struct store_options *o, struct store **ret, struct err *reterr)
{
	struct store *st = calloc(1, sizeof(*st));
	/* global: SQLite is set up once for the process */
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct store_conn *c = NULL;
	bool is_new;

	if (st == NULL)
		return err_nomem(reterr);
	pthread_once(&once, set_process_up);
	st->service = o->service;
	st->cache_mib = o->cache_mib;
	st->commits = o->commits;
	st->lock_fd = -1;
	store_mark_init(&st->mark);
	if (store_file_prepare(st, o, &is_new, reterr) < 0 || store_mark_check(st, o->accept, reterr) < 0)
		goto fail;
	if (store_connect(st, false, &c, reterr) < 0)
		goto fail;
	if (store_schema_apply(c, o->known, reterr) < 0 || store_grants_collect(c, reterr) < 0)
		goto fail;
	if (store_identity_settle(c, o->identity == NULL ? "" : o->identity, o->accept, reterr) < 0)
		goto fail;
	if ((is_new && store_file_keep(st, reterr) < 0) || settle_wal(c, reterr) < 0)
		goto fail;
	store_disconnect(c);
	*ret = st;
	return 0;
fail:
	if (c != NULL)
		store_disconnect(c);
	store_close(st);
	return -1;
}

void store_let_go(struct store *st)
{
	if (atomic_load(&st->connections) > 0)
		return; /* somebody looks at it: the file goes when the server ends */
	store_mark_let_go(st);
	store_file_let_go(st);
}

void store_close(struct store *st)
{
	if (st == NULL)
		return;
	assert(atomic_load(&st->connections) == 0); /* a store outlives its connections */
	store_grants_fini(st);
	store_mark_fini(st);
	store_file_release(st);
	free(st);
}

/* One line of the report for each row; returns the number of rows that are not "ok". */
static int report_rows(struct store_conn *c, const char *sql, struct buf *out, unsigned *bad,
		       struct err *reterr)
{
	sqlite3_stmt *h;
	int rc = sqlite3_prepare_v2(c->db, sql, -1, &h, NULL);

	while (rc == SQLITE_OK || rc == SQLITE_ROW) {
		rc = sqlite3_step(h);
		if (rc != SQLITE_ROW)
			break;
		const char *text = (const char *)sqlite3_column_text(h, 0);
		if (text == NULL || strcmp(text, "ok") == 0)
			continue;
		buf_printf(out, "%s\n", text);
		(*bad)++;
	}
	sqlite3_finalize(h);
	return rc == SQLITE_DONE ? 0 : store_error(c, rc, reterr);
}

/* A service whose values have checksums says which of them are wrong in a view of this name. */
static int report_damaged(struct store_conn *c, struct buf *out, unsigned *bad, struct err *reterr)
{
	sqlite3_stmt *h;
	int rc = sqlite3_prepare_v2(
		c->db, "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = 'damaged'", -1, &h, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	sqlite3_finalize(h);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : store_error(c, rc, reterr);
	return report_rows(c, "SELECT 'the checksum is wrong of ' || what FROM damaged LIMIT 100", out, bad,
			   reterr);
}

int store_check(struct store *st, char **ret_report, struct err *reterr)
{
	struct store_conn *c;
	struct buf out;
	unsigned bad = 0;
	int rc;

	if (store_connect(st, true, &c, reterr) < 0)
		return -1;
	buf_init(&out, REPORT_MAX);
	rc = report_rows(c, "PRAGMA integrity_check(100)", &out, &bad, reterr);
	if (rc == 0)
		rc = report_rows(c,
				 "SELECT 'row ' || coalesce(rowid, '?') || ' of table ' || \"table\" || ' "
				 "refers to a missing row of '"
				 " || parent FROM pragma_foreign_key_check LIMIT 100",
				 &out, &bad, reterr);
	if (rc == 0)
		rc = report_damaged(c, &out, &bad, reterr);
	store_disconnect(c);
	if (rc == 0 && bad == 0)
		buf_printf(&out, "ok");
	buf_put_u8(&out, 0);
	*ret_report = out.failed ? NULL : strdup((const char *)out.data);
	buf_fini(&out);
	if (*ret_report == NULL)
		return err_nomem(reterr);
	if (rc == 0 && bad > 0)
		return err_set(reterr, ERR_STORE, st->name, "the check found damage");
	return rc;
}
