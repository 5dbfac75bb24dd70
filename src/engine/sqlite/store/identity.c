/* identity.c — which database a file is: a number that it got when it was made and that every
 * copy keeps. The system store remembers the number of each database, so that a file of another
 * one in its place is noticed, while a backup of the same one is welcome. It lies in a table of
 * its own, beside the schema of the service. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/sqlite/store/store_int.h"

#define TABLE "procession_file"

static int text_of(struct store_conn *c, const char *sql, char *dst, size_t size, struct err *reterr)
{
	sqlite3_stmt *h = NULL;
	int rc = sqlite3_prepare_v2(c->db, sql, -1, &h, NULL);

	dst[0] = '\0';
	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	if (rc == SQLITE_ROW && sqlite3_column_text(h, 0) != NULL)
		snprintf(dst, size, "%s", (const char *)sqlite3_column_text(h, 0));
	sqlite3_finalize(h);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : store_error(c, rc, reterr);
}

static int read_identity(struct store_conn *c, char *dst, struct err *reterr)
{
	char table[sizeof(TABLE)];

	if (text_of(c, "SELECT name FROM sqlite_schema WHERE name = '" TABLE "'", table, sizeof(table),
		    reterr) < 0)
		return -1;
	dst[0] = '\0';
	return table[0] == '\0' ? 0 : text_of(c, "SELECT identity FROM " TABLE, dst, STORE_IDENTITY, reterr);
}

/* The expected one if there is one, else a new one. */
static int write_identity(struct store_conn *c, const char *expected, struct err *reterr)
{
	char *sql = sqlite3_mprintf(
		"CREATE TABLE IF NOT EXISTS " TABLE " (identity TEXT NOT NULL); DELETE FROM " TABLE ";"
		"INSERT INTO " TABLE " VALUES (coalesce(nullif(%Q, ''), lower(hex(randomblob(16)))));",
		expected);
	int rc;

	if (sql == NULL)
		return err_nomem(reterr);
	rc = store_begin(c, reterr);
	if (rc == 0)
		rc = store_script(c, sql, reterr);
	if (rc == 0)
		rc = store_commit(c, reterr);
	sqlite3_free(sql);
	store_rollback(c); /* what is left of it, if it failed */
	return rc < 0 ? -1 : read_identity(c, c->store->identity, reterr);
}

static int refuse_other(const struct store *st, struct err *reterr)
{
	char remedy[300];

	snprintf(remedy, sizeof(remedy),
		 "Put the right file in its place, or a backup of it; if this one is meant, start once with "
		 "--accept-as-found \"%s\".",
		 st->name);
	return store_refuse(
		st, "belongs to another database, or to a database of the same name on another server",
		remedy, reterr);
}

static void log_identity(const struct store *st, const char *event, const char *expected)
{
	const struct log_ctx ctx = { .database = st->name };

	LOG(LOG_WARN, &ctx, event, F_STR("file", st->path), F_STR("identity", st->identity),
	    F_STR("expected", expected));
}

int store_identity_settle(struct store_conn *c, const char *expected, bool accept, struct err *reterr)
{
	struct store *st = c->store;

	if (read_identity(c, st->identity, reterr) < 0)
		return -1;
	if (st->identity[0] == '\0') {
		if (write_identity(c, expected, reterr) < 0)
			return -1;
		if (expected[0] != '\0')
			/* a backup from before files had one: nobody can tell */
			log_identity(st, "file_without_identity", expected);
		return 0;
	}
	if (expected[0] == '\0' || strcmp(st->identity, expected) == 0)
		return 0;
	if (!accept)
		return refuse_other(st, reterr);
	log_identity(st, "file_accepted", expected);
	return 0;
}

int store_identity_renew(struct store *st, struct err *reterr)
{
	struct store_conn *c;
	int rc;

	if (store_connect(st, false, &c, reterr) < 0)
		return -1;
	rc = write_identity(c, "", reterr);
	store_disconnect(c);
	return rc;
}

int store_identity_set(struct store_conn *c, const char *identity, struct err *reterr)
{
	return write_identity(c, identity, reterr);
}

const char *store_identity(const struct store *st)
{
	return st->identity;
}
