/* open.c — a database as a file: made with a mode that keeps others out, brought to the schema of this program, checked when asked. */
#define _GNU_SOURCE     /* mkostemp */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "store/sqlite/sqlite_int.h"

#define REPORT_MAX (1 << 20)

const struct store_ops sqlite_store_ops = {
	.open = sqlite_open,
	.close = sqlite_close,
	.connect = sqlite_connect,
	.disconnect = sqlite_disconnect,
	.check = sqlite_check,
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
	.set_interrupt = sqlite_set_interrupt,
	.backlog = sqlite_backlog,
	.backlog_worth = sqlite_backlog_worth,
	.log_pages = sqlite_log_pages,
	.tidy = sqlite_tidy,
	.statement = sqlite_statement,
	.query = sqlite_query,
	.bind = sqlite_bind,
	.step = sqlite_step,
	.column = sqlite_column,
	.fetch = sqlite_fetch,
	.changes = sqlite_changes,
	.finish = sqlite_finish,
};

/* Refused, to no harm, once SQLite runs. */
static void set_process_up(void)
{
	sqlite_messages_set_up();
	sqlite_alloc_set_up();
	sqlite_register_pagecache();
	sqlite_register_vfs();
}

static int file_error(const struct sqlite_store *st, const char *doing, struct err *reterr)
{
	return err_raise(reterr, 50021, 16, 1, "Cannot %s the file '%s' of database '%s': %s. Check that the folder exists and that the server may write to it.",
			 doing, st->path, st->name, strerror(errno));
}

/* The name of a new file is durable only when its folder has been written. */
static int sync_folder(const struct sqlite_store *st, struct err *reterr)
{
	char *copy = strdup(st->path);
	int fd, rc;

	if (copy == NULL)
		return err_nomem(reterr);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd < 0)
		return file_error(st, "make durable", reterr);
	rc = fsync(fd);
	close(fd);
	return rc < 0 ? file_error(st, "make durable", reterr) : 0;
}

/* Makes an empty file that only we may read: it holds password hashes and clients' data. SQLite gives its log files the same mode. */
static int make_file(struct sqlite_store *st, bool *ret_new, struct err *reterr)
{
	int fd = open(st->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	*ret_new = fd >= 0;
	if (fd < 0 && errno != EEXIST)
		return file_error(st, "create", reterr);
	if (fd >= 0)
		close(fd);
	return 0;
}

static int make_temporary(struct sqlite_store *st, struct err *reterr)
{
	const char *dir = getenv("TMPDIR");
	size_t size = (dir == NULL ? 4 : strlen(dir)) + 32;
	int fd;

	st->path = malloc(size);
	if (st->path == NULL)
		return err_nomem(reterr);
	snprintf(st->path, size, "%s/procession-XXXXXX", dir == NULL ? "/tmp" : dir);
	fd = mkostemp(st->path, O_CLOEXEC);
	if (fd < 0)
		return file_error(st, "create", reterr);
	close(fd);
	st->temporary = true;
	return 0;
}

static int prepare_file(struct sqlite_store *st, const struct store_options *o, bool *ret_new, struct err *reterr)
{
	*ret_new = false;
	st->name = strdup(o->name);
	if (st->name == NULL)
		return err_nomem(reterr);
	if (strcmp(o->path, ":memory:") == 0)
		return make_temporary(st, reterr);
	st->path = strdup(o->path);
	if (st->path == NULL)
		return err_nomem(reterr);
	return make_file(st, ret_new, reterr);
}

/* What a crash left in the log may be in the system's memory only, if it came after a flush that failed. Before anything is built on it, it goes to the file, or to its place in
 * the log once more, and is flushed. */
static int settle_log(struct sqlite_conn *c, struct err *reterr)
{
	int frames = 0, copied = 0, rc = sqlite3_wal_checkpoint_v2(c->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &copied);

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
	if (prepare_file(st, o, &is_new, reterr) < 0)
		goto fail;
	if (sqlite_connect(&st->base, false, &c, reterr) < 0)
		goto fail;
	if (sqlite_schema_apply(SQLITE_CONN(c), reterr) < 0 || sqlite_grants_collect(SQLITE_CONN(c), reterr) < 0)
		goto fail;
	if ((is_new && sync_folder(st, reterr) < 0) || settle_log(SQLITE_CONN(c), reterr) < 0)
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

static void remove_temporary(const char *path)
{
	static const char *const tails[] = { "", "-wal", "-shm" };
	char file[4096];

	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		if (snprintf(file, sizeof(file), "%s%s", path, tails[i]) < (int)sizeof(file))
			unlink(file);
	}
}

void sqlite_close(struct store *base)
{
	struct sqlite_store *st = SQLITE_STORE(base);

	if (st->temporary)
		remove_temporary(st->path);
	sqlite_grants_fini(st);
	free(st->path);
	free(st->name);
	free(st);
}

/* One line of the report for each row; returns the number of rows that are not "ok". */
static int report_rows(struct sqlite_conn *c, const char *sql, struct buf *out, unsigned *bad, struct err *reterr)
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
	int rc = sqlite3_prepare_v2(c->db, "SELECT 1 FROM sqlite_schema WHERE type = 'view' AND name = 'damaged'", -1, &h, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	sqlite3_finalize(h);
	if (rc != SQLITE_ROW)
		return rc == SQLITE_DONE ? 0 : sqlite_error(c, rc, reterr);
	return report_rows(c, "SELECT 'the checksum is wrong of ' || what FROM damaged LIMIT 100", out, bad, reterr);
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
		rc = report_rows(SQLITE_CONN(c), "SELECT 'row ' || coalesce(rowid, '?') || ' of table ' || \"table\" || ' refers to a missing row of '"
				 " || parent FROM pragma_foreign_key_check LIMIT 100", &out, &bad, reterr);
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
