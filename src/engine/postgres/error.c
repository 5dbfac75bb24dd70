/* error.c — PostgreSQL's failures in the words and numbers that clients know [E-COM-01]. What a
 * client cannot act on goes to the log in full. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "engine/postgres/postgres_int.h"

static const char *field(const PGresult *r, int code)
{
	const char *s = PQresultErrorField(r, code);

	return s == NULL ? "" : s;
}

bool postgres_has_state(const PGresult *r, const char *sqlstate)
{
	return strncmp(field(r, PG_DIAG_SQLSTATE), sqlstate, strlen(sqlstate)) == 0;
}

bool postgres_is_conflict(const PGresult *r)
{
	return postgres_has_state(r, "40001") || postgres_has_state(r, "40P01");
}

bool postgres_is_lock_timeout(const PGresult *r)
{
	return postgres_has_state(r, "55P03");
}

/* Shut down, crashed, cannot connect now; read-only: it was a primary once. */
bool postgres_is_gone(const PGresult *r)
{
	return postgres_has_state(r, "08") || postgres_has_state(r, "57P0") || postgres_has_state(r, "25006");
}

/* "canceling wait for synchronous replication": the commit is here, and maybe nowhere else. The
 * text is in the language of PostgreSQL's lc_messages; the name of its function is not. */
bool postgres_is_unconfirmed(const PGresult *r)
{
	return strcmp(field(r, PG_DIAG_SOURCE_FUNCTION), "SyncRepWaitForLSN") == 0 ||
	       strstr(field(r, PG_DIAG_MESSAGE_PRIMARY), "synchronous replication") != NULL;
}

int postgres_unconfirmed(struct err *reterr)
{
	return err_raise(reterr, 50021, 16, 1,
			 "PostgreSQL has made a change that its synchronous standby has not confirmed, since "
			 "somebody ended the waiting for it. Whether it outlasts a fail-over is not known.");
}

static const char *declared(const struct pg_database *db, int32_t number, const char *name)
{
	for (size_t i = 0; i < db->sql->nconstraints; i++) {
		const struct pg_constraint *k = &db->sql->constraints[i];

		if (k->number == number && (k->name[0] == '\0' || strcmp(k->name, name) == 0))
			return k->text;
	}
	return NULL;
}

/* Ours, raised by a function: DETAIL is "number severity state". */
static void raised(const PGresult *r, struct arena *a, struct err *reterr)
{
	char *end;
	long number = strtol(field(r, PG_DIAG_MESSAGE_DETAIL), &end, 10);
	long severity = strtol(end, &end, 10), state = strtol(end, NULL, 10);
	struct str text = str_of(field(r, PG_DIAG_MESSAGE_PRIMARY));

	if (postgres_text_in(text, a, &text, reterr) < 0)
		return;
	err_raise(reterr, (int32_t)number, (uint8_t)(severity == 0 ? 16 : severity), (uint8_t)state, "%.*s",
		  STR_ARG(text));
}

static bool constraint(const struct pg_database *db, const PGresult *r, struct err *reterr)
{
	const char *name = field(r, PG_DIAG_CONSTRAINT_NAME), *text;

	if (postgres_has_state(r, "23505")) {
		text = declared(db, 2627, name);
		err_set(reterr, ERR_DUPLICATE_KEY,
			text != NULL ? text
				     : "Violation of UNIQUE KEY constraint. Cannot insert duplicate key.");
	} else if (postgres_has_state(r, "23503")) {
		text = declared(db, 547, name);
		err_set(reterr, ERR_CONSTRAINT,
			text != NULL ? text
				     : "The statement conflicted with a FOREIGN KEY constraint. "
				       "Nothing was changed.");
	} else if (postgres_has_state(r, "23514")) {
		text = declared(db, 547, name);
		err_set(reterr, ERR_CONSTRAINT,
			text != NULL ? text
				     : "The statement conflicted with a CHECK constraint. Nothing was "
				       "changed.");
	} else if (postgres_has_state(r, "23502")) {
		err_raise(reterr, 515, 16, 2,
			  "Cannot insert the value NULL into column '%.128s', table '%.128s'; nothing was "
			  "changed.",
			  field(r, PG_DIAG_COLUMN_NAME), field(r, PG_DIAG_TABLE_NAME));
	} else {
		return false;
	}
	return true;
}

static void report(const struct pg_database *db, const PGresult *r)
{
	const struct log_ctx ctx = { .database = db->base.name };

	LOG(LOG_ERROR, &ctx, "postgres_error", F_STR("sqlstate", field(r, PG_DIAG_SQLSTATE)),
	    F_STR("message", field(r, PG_DIAG_MESSAGE_PRIMARY)),
	    F_STR("detail", field(r, PG_DIAG_MESSAGE_DETAIL)), F_STR("context", field(r, PG_DIAG_CONTEXT)));
}

/* PostgreSQL allocates no gibibyte at once, which a row that it sends would need; the text of that
 * is in the language of its messages. */
static bool is_too_large(const PGresult *r)
{
	const char *file = field(r, PG_DIAG_SOURCE_FILE);

	return (postgres_has_state(r, "XX000") && strcmp(file, "mcxt.c") == 0) ||
	       (postgres_has_state(r, "54000") && strcmp(file, "stringinfo.c") == 0);
}

/* What is nobody's mistake here: told briefly, logged in full. */
static void trouble(const struct pg_database *db, const PGresult *r, struct err *reterr)
{
	report(db, r);
	if (postgres_has_state(r, "53100"))
		err_set(reterr, ERR_DISK_FULL, db->base.name, "PostgreSQL's disk is full");
	else if (postgres_has_state(r, "53200") || postgres_has_state(r, "54000"))
		err_set(reterr, ERR_OUT_OF_MEMORY);
	else
		err_set(reterr, ERR_STORE, db->base.name, field(r, PG_DIAG_MESSAGE_PRIMARY));
}

/* No such table, function, schema: what the program makes itself is gone, because another server
 * drops this database, which is heard of here in a moment. Where nobody does, somebody has taken it
 * away by hand: the log tells what is missing. */
static bool is_dropped(const PGresult *r)
{
	return postgres_has_state(r, "42P01") || postgres_has_state(r, "42883") ||
	       postgres_has_state(r, "3F000");
}

static void dropped(const struct pg_database *db, const PGresult *r, struct err *reterr)
{
	report(db, r);
	err_set(reterr, ERR_NO_DATABASE_USE, db->base.name);
}

void postgres_error(struct pg_conn *c, const PGresult *r, struct err *reterr)
{
	const struct pg_database *db = c->db;

	if (postgres_has_state(r, "PC001"))
		raised(r, &c->arena, reterr);
	else if (postgres_has_state(r, "PC824"))
		err_set(reterr, ERR_DAMAGED, db->base.name, db->base.name);
	else if (postgres_has_state(r, "57014"))
		err_set(reterr, ERR_CANCELLED);
	else if (postgres_is_lock_timeout(r))
		err_set(reterr, ERR_LOCK_TIMEOUT);
	else if (postgres_has_state(r, "22003"))
		err_set(reterr, ERR_OVERFLOW, "expression", "bigint");
	else if (postgres_has_state(r, "54011"))
		(void)err_raise(reterr, 1056, 15, 1,
				"The select list has more columns than PostgreSQL can return (1664). Ask for "
				"fewer at a time.");
	else if (postgres_has_state(r, "22012"))
		err_set(reterr, ERR_DIVIDE_BY_ZERO);
	else if (is_too_large(r))
		err_set(reterr, ERR_TOO_LARGE, "A row, or a value,", (1ULL << 30) - 1, "max_value_size");
	else if (is_dropped(r))
		dropped(db, r, reterr);
	else if (!constraint(db, r, reterr))
		trouble(db, r, reterr);
}
