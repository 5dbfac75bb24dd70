/* logins.c — the tables login and permission of the system store, read through a connection of our own that cannot write. */
#include "auth/auth_int.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define SQL_LOGIN \
	"SELECT name, password_hash, admin, disabled, default_database FROM login WHERE name = ?1 COLLATE " \
	"NOCASE"
#define SQL_RIGHTS \
	"SELECT rights FROM permission WHERE login = ?1 COLLATE NOCASE AND database = ?2 COLLATE NOCASE"

#define SQL_IDENTITY \
	"SELECT name, id, sid, admin FROM login WHERE name = ?1 COLLATE NOCASE OR id = ?2 OR sid = ?3"

static int open_failed(struct auth *a, const char *file, struct err *reterr)
{
	char text[900];

	snprintf(text, sizeof(text),
		 "The logins in %s cannot be read: %s. The file is made on the first start of the server; "
		 "restore it from a backup if it was damaged.",
		 file, a->db != NULL ? sqlite3_errmsg(a->db) : "out of memory");
	return err_set(reterr, ERR_START, text);
}

int auth_store_open(struct auth *a, const char *file, struct err *reterr)
{
	if (sqlite3_open_v2(file, &a->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return open_failed(a, file, reterr);
	sqlite3_busy_timeout(a->db, 2000);
	if (sqlite3_prepare_v3(a->db, SQL_LOGIN, -1, SQLITE_PREPARE_PERSISTENT, &a->find_login, NULL) !=
		    SQLITE_OK ||
	    sqlite3_prepare_v3(a->db, SQL_RIGHTS, -1, SQLITE_PREPARE_PERSISTENT, &a->find_rights, NULL) !=
		    SQLITE_OK ||
	    sqlite3_prepare_v3(a->db, SQL_IDENTITY, -1, SQLITE_PREPARE_PERSISTENT, &a->identify, NULL) !=
		    SQLITE_OK)
		return open_failed(a, file, reterr);
	return 0;
}

void auth_store_close(struct auth *a)
{
	sqlite3_finalize(a->find_login);
	sqlite3_finalize(a->find_rights);
	sqlite3_finalize(a->identify);
	sqlite3_close(a->db);
	a->find_login = a->find_rights = a->identify = NULL;
	a->db = NULL;
}

static void copy_column(sqlite3_stmt *st, int i, char *dst, size_t size)
{
	const char *p = (const char *)sqlite3_column_text(st, i);

	str_copy(dst, size, str_of(p));
}

static int trouble(struct auth *a)
{
	LOG(LOG_ERROR, NULL, "login_store", F_STR("error", sqlite3_errmsg(a->db)));
	return -1;
}

/* The statement is free for the next one who asks. */
static void end_question(struct auth *a, sqlite3_stmt *st)
{
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
	pthread_mutex_unlock(&a->db_lock);
}

int auth_store_login(struct auth *a, struct str name, struct auth_row *ret)
{
	sqlite3_stmt *st = a->find_login;
	struct auth_row row = { .disabled = false };
	int rc;

	pthread_mutex_lock(&a->db_lock);
	sqlite3_bind_text(st, 1, name.n > 0 ? name.p : "", (int)name.n, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		copy_column(st, 0, row.login.name, sizeof(row.login.name));
		copy_column(st, 1, row.hash, sizeof(row.hash));
		row.login.admin = sqlite3_column_int(st, 2) != 0;
		row.disabled = sqlite3_column_int(st, 3) != 0;
		copy_column(st, 4, row.login.default_database, sizeof(row.login.default_database));
		*ret = row;
		rc = 1;
	} else {
		rc = rc == SQLITE_DONE ? 0 : trouble(a);
	}
	end_question(a, st);
	return rc;
}

int auth_store_rights(struct auth *a, const char *login, const char *database, uint8_t *ret)
{
	sqlite3_stmt *st = a->find_rights;
	unsigned rights = 0;
	int rc;

	pthread_mutex_lock(&a->db_lock);
	sqlite3_bind_text(st, 1, login, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, database, -1, SQLITE_STATIC);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		rights |= (unsigned)sqlite3_column_int(st, 0) & AUTH_ALL_RIGHTS;
	rc = rc == SQLITE_DONE ? 0 : trouble(a);
	end_question(a, st);
	if (rc == 0)
		*ret = (uint8_t)rights;
	return rc;
}

static void read_identity(sqlite3_stmt *st, struct auth_identity *ret)
{
	const void *sid = sqlite3_column_blob(st, 2);
	int n = sqlite3_column_bytes(st, 2);

	*ret = (struct auth_identity){ .id = sqlite3_column_int(st, 1),
				       .admin = sqlite3_column_int(st, 3) != 0 };
	copy_column(st, 0, ret->name, sizeof(ret->name));
	if (n > 0 && (size_t)n <= sizeof(ret->sid)) {
		memcpy(ret->sid, sid, (size_t)n);
		ret->sid_len = (size_t)n;
	}
}

int auth_identify(struct auth *a, const struct auth_question *q, struct auth_identity *ret)
{
	sqlite3_stmt *st = a->identify;
	int rc;

	if (q->name.n > INT32_MAX || q->sid.n > INT32_MAX)
		return 0;
	pthread_mutex_lock(&a->db_lock);
	if (q->name.n > 0)
		sqlite3_bind_text(st, 1, q->name.p, (int)q->name.n, SQLITE_STATIC);
	else if (q->sid.n > 0)
		sqlite3_bind_blob(st, 3, q->sid.p, (int)q->sid.n, SQLITE_STATIC);
	else
		sqlite3_bind_int64(st, 2, q->id);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		read_identity(st, ret);
		rc = 1;
	} else {
		rc = rc == SQLITE_DONE ? 0 : trouble(a);
	}
	end_question(a, st);
	return rc;
}
