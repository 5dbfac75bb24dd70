/* error.c — SQLite's failures in the words and numbers that clients know [E-COM-01]. What a
 * client cannot act on goes to the log in full. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "engine/sqlite/store/store_int.h"

/* "UNIQUE constraint failed: item.id, item.part" → "item.id, item.part"; "" when there is
 * nothing behind the colon. */
static const char *constraint_key(const char *message)
{
	static const char mark[] = "constraint failed: ";
	const char *at = strstr(message, mark);

	return at == NULL ? "" : at + sizeof(mark) - 1;
}

/* The text that the schema declares for this constraint, or NULL. */
static const char *declared_text(const struct store *st, int32_t number, const char *key)
{
	const struct service_procs *p = st->service;

	for (size_t i = 0; i < p->nconstraints; i++) {
		if (p->constraints[i].number == number && strcmp(p->constraints[i].key, key) == 0)
			return p->constraints[i].text;
	}
	return NULL;
}

static int duplicate(struct store_conn *c, int code, const char *message, struct err *reterr)
{
	const char *key = constraint_key(message);
	const char *text = declared_text(c->store, 2627, key);

	/* The name of an inner table would tell the client nothing; the schema declares texts. */
	if (text == NULL)
		text = code == SQLITE_CONSTRAINT_UNIQUE
			       ? "Violation of UNIQUE KEY constraint. Cannot insert duplicate key."
			       : "Violation of PRIMARY KEY constraint. Cannot insert duplicate key.";
	return err_set(reterr, ERR_DUPLICATE_KEY, text);
}

static int constraint(struct store_conn *c, int code, const char *message, struct err *reterr)
{
	const char *key = constraint_key(message), *dot = strchr(key, '.'), *text;
	char built[400];

	switch (code) {
	case SQLITE_CONSTRAINT_PRIMARYKEY:
	case SQLITE_CONSTRAINT_UNIQUE:
	case SQLITE_CONSTRAINT_ROWID: return duplicate(c, code, message, reterr);
	case SQLITE_CONSTRAINT_NOTNULL:
		return err_raise(reterr, 515, 16, 2,
				 "Cannot insert the value NULL into column '%.128s', table '%.*s'; nothing "
				 "was changed.",
				 dot == NULL ? key : dot + 1, dot == NULL ? 0 : (int)(dot - key), key);
	case SQLITE_CONSTRAINT_FOREIGNKEY:
		text = declared_text(c->store, 547, "FOREIGN KEY");
		return err_set(reterr, ERR_CONSTRAINT,
			       text != NULL ? text
					    : "The statement conflicted with a FOREIGN KEY constraint. "
					      "Nothing was changed.");
	default:
		text = declared_text(c->store, 547, key);
		snprintf(built, sizeof(built),
			 "The statement conflicted with the CHECK constraint '%.128s'. Nothing was changed.",
			 key);
		return err_set(reterr, ERR_CONSTRAINT, text != NULL ? text : built);
	}
}

static void report(const struct store_conn *c, int code, const char *message)
{
	const struct log_ctx ctx = { .database = c->store->name };

	LOG(LOG_ERROR, &ctx, "store_error", F_INT("code", code),
	    F_INT("errno", c->db == NULL ? 0 : sqlite3_system_errno(c->db)), F_STR("message", message),
	    F_STR("file", c->store->path));
}

static int flush_failed(struct store_conn *c, int code, const char *message, struct err *reterr)
{
	report(c, code, message);
	store_unsound(c->store, sqlite3_system_errno(c->db));
	return err_set(reterr, ERR_FLUSH_UNSURE, c->store->name,
		       strerror(atomic_load(&c->store->flush_error)));
}

int store_error(struct store_conn *c, int code, struct err *reterr)
{
	const char *message = c->db == NULL ? sqlite3_errstr(code) : sqlite3_errmsg(c->db);

	if (c->damaged) {
		c->damaged = false;
		report(c, SQLITE_CORRUPT, message);
		return err_set(reterr, ERR_DAMAGED, c->store->name, c->store->name);
	}
	if (c->failed) {
		c->failed = false;
		if (reterr != NULL)
			*reterr = c->failure;
		return -1;
	}
	if (code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC)
		return flush_failed(c, code, message, reterr);
	switch (code & 0xff) {
	case SQLITE_CONSTRAINT: return constraint(c, code, message, reterr);
	case SQLITE_INTERRUPT: return err_set(reterr, ERR_CANCELLED);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		c->busy = true;
		if (!c->impatient)
			report(c, code, message);
		return err_set(reterr, ERR_LOCK_TIMEOUT);
	case SQLITE_NOMEM: report(c, code, message); return err_nomem(reterr);
	case SQLITE_TOOBIG: return err_set(reterr, ERR_TOO_LARGE, "A value", 999000000ULL, "max_value_size");
	case SQLITE_AUTH: return err_set(reterr, ERR_SELECT_PERMISSION, c->denied, c->store->name);
	case SQLITE_FULL:
		report(c, code, message);
		return err_set(reterr, ERR_DISK_FULL, c->store->name, message);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		atomic_store(&c->store->damaged, true);
		report(c, code, message);
		return err_set(reterr, ERR_STORE, c->store->name, message);
	default: report(c, code, message); return err_set(reterr, ERR_STORE, c->store->name, message);
	}
}

bool store_damaged(const struct store *st)
{
	return atomic_load(&((const struct store *)st)->damaged);
}
