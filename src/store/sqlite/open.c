/* open.c — a database as a file: brought to the schema of this program, checked when asked. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "store/sqlite/sqlite_int.h"

#define REPORT_MAX (1 << 20)

const struct store_ops sqlite_store_ops = {
	.open = sqlite_open,
	.close = sqlite_close,
	.connect = sqlite_connect,
	.disconnect = sqlite_disconnect,
	.check = sqlite_check,
	.identity = sqlite_identity,
	.identity_renew = sqlite_identity_renew,
	.damage = sqlite_damage,
	.script = sqlite_script,
	.begin = sqlite_begin,
	.commit = sqlite_commit,
	.commit_lazily = sqlite_commit_lazily,
	.flush = sqlite_flush,
	.sound = sqlite_sound,
	.mend = sqlite_mend,
	.rollback = sqlite_rollback,
	.save = sqlite_save,
	.release = sqlite_release,
	.rollback_to = sqlite_rollback_to,
	.in_transaction = sqlite_in_transaction,
	.is_current = sqlite_is_current,
	.set_waits = sqlite_set_waits,
	.was_busy = sqlite_was_busy,
	.set_interrupt = sqlite_set_interrupt,
	.wal_waiting = sqlite_wal_waiting,
	.checkpoint_worth = sqlite_checkpoint_worth,
	.wal_pages = sqlite_wal_pages,
	.checkpoint = sqlite_checkpoint,
	.statement = sqlite_statement,
	.query = sqlite_query,
	.bind = sqlite_bind,
	.step = sqlite_step,
	.column = sqlite_column,
	.fetch = sqlite_fetch,
	.fetch_size = sqlite_fetch_size,
	.fetch_into = sqlite_fetch_into,
	.changes = sqlite_changes,
	.finish = sqlite_finish,
};

static void set_process_up(void)
{
	sqlite_messages_set_up();
	/* Without statistics of memory, which nobody reads, SQLite takes no lock of the whole process for each allocation. Refused, to no harm, once SQLite runs. */
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite_register_vfs();
}

/* What a crash left in the log may be in the system's memory only, if it came after a flush that failed. Before anything is built on it, it goes to the file, or to its place in
 * the log once more, and is flushed. */
static int settle_log(struct sqlite_conn *c, struct err *reterr)
{
	int frames = 0, copied = 0,
	    rc = sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);

	if (rc == SQLITE_OK && copied == frames)
		return 0;
	sqlite_unsound(c->store, 0);
	return sqlite_mend(&c->base, reterr);
}

int sqlite_open(const struct store_options *o, struct store **ret, struct err *reterr)
{
	struct sqlite_store *st = calloc(1, sizeof(*st));
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct store_conn *c = NULL;
	bool is_new;

	if (st == NULL)
		return err_nomem(reterr);
	pthread_once(&once, set_process_up);
	st->base.ops = &sqlite_store_ops;
	st->service = o->service;
	st->cache_mib = o->cache_mib;
	st->lock_fd = -1;
	sqlite_mark_init(&st->mark);
	if (sqlite_file_prepare(st, o, &is_new, reterr) < 0 || sqlite_mark_check(st, o->accept, reterr) < 0)
		goto fail;
	if (sqlite_connect(&st->base, false, &c, reterr) < 0)
		goto fail;
	if (sqlite_schema_apply(SQLITE_CONN(c), o->known, reterr) < 0 ||
	    sqlite_grants_collect(SQLITE_CONN(c), reterr) < 0)
		goto fail;
	if (sqlite_identity_settle(SQLITE_CONN(c), o->identity == NULL ? "" : o->identity, o->accept,
				   reterr) < 0)
		goto fail;
	if ((is_new && sqlite_file_keep(st, reterr) < 0) || settle_log(SQLITE_CONN(c), reterr) < 0)
		goto fail;
	sqlite_disconnect(c);
	*ret = &st->base;
	return 0;
fail:
	if (c != NULL)
		sqlite_disconnect(c);
	sqlite_close(&st->base);
	return -1;
}

void sqlite_close(struct store *base)
{
	struct sqlite_store *st = SQLITE_STORE(base);

	sqlite_grants_fini(st);
	sqlite_mark_fini(st);
	sqlite_file_release(st);
	free(st);
}

/* One line of the report for each row; returns the number of rows that are not "ok". */
static int report_rows(struct sqlite_conn *c, const char *sql, struct buf *out, unsigned *bad,
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
	return rc == SQLITE_DONE ? 0 : sqlite_error(c, rc, reterr);
}

/* A service whose values have checksums says which of them are wrong in a view of this name. */
static int report_damaged(struct sqlite_conn *c, struct buf *out, unsigned *bad, struct err *reterr)
{
	sqlite3_stmt *h;
	int rc = sqlite3_prepare_v2(
		c->db, "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = 'damaged'", -1, &h, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	sqlite3_finalize(h);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : sqlite_error(c, rc, reterr);
	return report_rows(c, "SELECT 'the checksum is wrong of ' || what FROM damaged LIMIT 100", out, bad,
			   reterr);
}

int sqlite_check(struct store *base, char **ret_report, struct err *reterr)
{
	struct store_conn *c;
	struct buf out;
	unsigned bad = 0;
	int rc;

	if (sqlite_connect(base, true, &c, reterr) < 0)
		return -1;
	buf_init(&out, REPORT_MAX);
	rc = report_rows(SQLITE_CONN(c), "PRAGMA integrity_check(100)", &out, &bad, reterr);
	if (rc == 0)
		rc = report_rows(SQLITE_CONN(c),
				 "SELECT 'row ' || coalesce(rowid, '?') || ' of table ' || \"table\" || ' "
				 "refers to a missing row of '"
				 " || parent FROM pragma_foreign_key_check LIMIT 100",
				 &out, &bad, reterr);
	if (rc == 0)
		rc = report_damaged(SQLITE_CONN(c), &out, &bad, reterr);
	sqlite_disconnect(c);
	if (rc == 0 && bad == 0)
		buf_printf(&out, "ok");
	buf_put_u8(&out, 0);
	*ret_report = out.failed ? NULL : strdup((const char *)out.data);
	buf_fini(&out);
	if (*ret_report == NULL)
		return err_nomem(reterr);
	if (rc == 0 && bad > 0)
		return err_set(reterr, ERR_STORE, SQLITE_STORE(base)->name, "the check found damage");
	return rc;
}
