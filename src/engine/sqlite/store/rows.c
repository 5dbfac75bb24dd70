/* rows.c — the tables of a service as rows, for a database that is moved: read from the file's own
 * schema, so that no list of tables has to be kept beside the migrations. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "engine/sqlite/store/store_int.h"

enum row_statement { ROWS_EACH, ROWS_FIND, ROWS_PUT, ROWS_REMOVE, ROWS_OWN, ROW_STATEMENTS };

struct store_rows {
	struct store_conn *conn;
	/* owned: by name of the table, prepared when first needed */
	struct {
		char name[COPY_NAME];
		sqlite3_stmt *handle[ROW_STATEMENTS];
	} tables[COPY_TABLES];
};

/* ---- which tables there are ---- */

static int refuse(const char *table, struct err *reterr)
{
	return err_raise(reterr, 50021, 16, 1, "The table '%s' is of a kind that cannot be moved.", table);
}

static enum copy_kind kind_of(const char *declared)
{
	return strcmp(declared, "INTEGER") == 0 ? COPY_NUMBER
	       : strcmp(declared, "TEXT") == 0  ? COPY_TEXT
	       : strcmp(declared, "BLOB") == 0  ? COPY_BYTES
						: COPY_NULL;
}

/* name, type, place in the primary key from 1 */
static int add_column(struct copy_table *t, sqlite3_stmt *h, struct err *reterr)
{
	struct copy_column *c = &t->columns[t->ncolumns];
	int key = sqlite3_column_int(h, 2);

	if (t->ncolumns == COPY_COLUMNS || key > COPY_KEY_NUMBERS)
		return refuse(t->name, reterr);
	str_copy(c->name, sizeof(c->name), str_of((const char *)sqlite3_column_text(h, 0)));
	c->kind = kind_of((const char *)sqlite3_column_text(h, 1));
	if (c->kind == COPY_NULL || (key > 0 && c->kind == COPY_TEXT))
		return refuse(t->name, reterr);
	if (key > 0) {
		t->keys[key - 1] = t->ncolumns;
		t->nkeys++;
	}
	t->ncolumns++;
	return 0;
}

static int read_columns(struct store_conn *c, struct copy_table *t, struct err *reterr)
{
	sqlite3_stmt *h = NULL;
	int rc = sqlite3_prepare_v2(c->db, "SELECT name, type, pk FROM pragma_table_info(?1) ORDER BY cid",
				    -1, &h, NULL),
	    failed = 0;

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(h, 1, t->name, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK && failed == 0 && (rc = sqlite3_step(h)) == SQLITE_ROW) {
		failed = add_column(t, h, reterr);
		rc = SQLITE_OK;
	}
	sqlite3_finalize(h);
	if (failed < 0)
		return -1;
	return rc == SQLITE_DONE ? 0 : store_error(c, rc, reterr);
}

static int read_tables(struct store_conn *c, sqlite3_stmt *h, struct copy_tables *ret, struct err *reterr)
{
	int rc;

	while ((rc = sqlite3_step(h)) == SQLITE_ROW) {
		struct copy_table *t = &ret->table[ret->n];

		if (ret->n == COPY_TABLES)
			return refuse("the 17th", reterr);
		str_copy(t->name, sizeof(t->name), str_of((const char *)sqlite3_column_text(h, 0)));
		t->sequence = sqlite3_column_int(h, 1) != 0;
		if (read_columns(c, t, reterr) < 0)
			return -1;
		t->counts = sqlite3_column_int(h, 2) == 0 && t->nkeys == 1 &&
			    t->columns[t->keys[0]].kind == COPY_NUMBER;
		ret->n++;
	}
	return rc == SQLITE_DONE ? 0 : store_error(c, rc, reterr);
}

int store_rows_tables(struct store_conn *c, struct copy_tables *ret, struct err *reterr)
{
	sqlite3_stmt *h = NULL;
	int rc = sqlite3_prepare_v2(
		c->db,
		"SELECT name, instr(sql, 'AUTOINCREMENT'), instr(sql, 'WITHOUT ROWID') FROM "
		"sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE "
		"'\\' AND name NOT LIKE 'procession\\_%' ESCAPE '\\' ORDER BY name",
		-1, &h, NULL);

	*ret = (struct copy_tables){ .n = 0 };
	rc = rc == SQLITE_OK ? read_tables(c, h, ret, reterr) : store_error(c, rc, reterr);
	sqlite3_finalize(h);
	return rc;
}

/* ---- statements ---- */

int store_rows_new(struct store_conn *c, struct store_rows **ret, struct err *reterr)
{
	*ret = calloc(1, sizeof(**ret));
	if (*ret == NULL)
		return err_nomem(reterr);
	(*ret)->conn = c;
	return 0;
}

void store_rows_free(struct store_rows *r)
{
	if (r == NULL)
		return;
	for (unsigned i = 0; i < COPY_TABLES; i++) {
		for (unsigned k = 0; k < ROW_STATEMENTS; k++)
			sqlite3_finalize(r->tables[i].handle[k]);
	}
	free(r);
}

static void put_columns(struct buf *b, const struct copy_table *t)
{
	for (unsigned i = 0; i < t->ncolumns; i++)
		buf_printf(b, "%s\"%s\"", i == 0 ? "" : ", ", t->columns[i].name);
}

static void put_key(struct buf *b, const struct copy_table *t)
{
	for (unsigned i = 0; i < t->nkeys; i++)
		buf_printf(b, "%s\"%s\" = ?%u", i == 0 ? " WHERE " : " AND ", t->columns[t->keys[i]].name,
			   i + 1);
}

static void put_own(struct buf *b, const struct copy_table *t)
{
	const char *between = " SET ";

	buf_printf(b, "UPDATE \"%s\"", t->name);
	for (unsigned i = 0; i < t->ncolumns; i++) {
		if (t->columns[i].own == NULL)
			continue;
		buf_printf(b, "%s\"%s\" = %s", between, t->columns[i].name, t->columns[i].own);
		between = ", ";
	}
}

static void put_statement(struct buf *b, const struct copy_table *t, enum row_statement which)
{
	if (which == ROWS_EACH || which == ROWS_FIND) {
		buf_printf(b, "SELECT ");
		put_columns(b, t);
		buf_printf(b, " FROM \"%s\"", t->name);
	} else if (which == ROWS_PUT) {
		buf_printf(b, "INSERT INTO \"%s\" (", t->name);
		put_columns(b, t);
		buf_printf(b, ") VALUES (");
		for (unsigned i = 0; i < t->ncolumns; i++)
			buf_printf(b, "%s?%u", i == 0 ? "" : ", ", i + 1);
		buf_printf(b, ")");
	} else if (which == ROWS_REMOVE) {
		buf_printf(b, "DELETE FROM \"%s\"", t->name);
	} else {
		put_own(b, t);
	}
	if (which == ROWS_EACH && t->nkeys > 0) {
		for (unsigned i = 0; i < t->nkeys; i++)
			buf_printf(b, "%s\"%s\"", i == 0 ? " ORDER BY " : ", ", t->columns[t->keys[i]].name);
	} else if (which != ROWS_PUT) {
		put_key(b, t);
	}
	buf_put_u8(b, 0);
}

static int prepare(struct store_rows *r, const struct copy_table *t, enum row_statement which,
		   sqlite3_stmt **ret, struct err *reterr)
{
	sqlite3_stmt **at = NULL;
	struct buf b;
	int rc = SQLITE_NOMEM;

	assert(t->name != NULL);
	for (unsigned i = 0; at == NULL && i < COPY_TABLES; i++) {
		if (r->tables[i].name[0] == '\0')
			str_copy(r->tables[i].name, sizeof(r->tables[i].name), str_of(t->name));
		if (strcmp(r->tables[i].name, t->name) == 0)
			at = &r->tables[i].handle[which];
	}
	assert(at != NULL);
	*ret = *at;
	if (*at != NULL)
		return 0;
	buf_init(&b, 65536);
	put_statement(&b, t, which);
	if (!b.failed)
		rc = sqlite3_prepare_v3(r->conn->db, (const char *)b.data, -1, SQLITE_PREPARE_PERSISTENT, at,
					NULL);
	buf_fini(&b);
	*ret = *at;
	return rc == SQLITE_OK ? 0 : store_error(r->conn, rc, reterr);
}

static int bind_key(sqlite3_stmt *h, const struct copy_table *t, const struct copy_key *k)
{
	unsigned numbers = 0;
	int rc = SQLITE_OK;

	for (unsigned i = 0; rc == SQLITE_OK && i < t->nkeys; i++) {
		if (t->columns[t->keys[i]].kind == COPY_BYTES)
			rc = sqlite3_bind_blob(h, (int)i + 1, k->bytes, k->nbytes, SQLITE_STATIC);
		else
			rc = sqlite3_bind_int64(h, (int)i + 1, k->numbers[numbers++]);
	}
	return rc;
}

static int bind_cell(sqlite3_stmt *h, int index, const struct copy_cell *c)
{
	const char *p = c->bytes.p == NULL ? "" : c->bytes.p;

	switch (c->kind) {
	case COPY_NUMBER: return sqlite3_bind_int64(h, index, c->number);
	case COPY_TEXT: return sqlite3_bind_text64(h, index, p, c->bytes.n, SQLITE_STATIC, SQLITE_UTF8);
	case COPY_BYTES: return sqlite3_bind_blob64(h, index, p, c->bytes.n, SQLITE_STATIC);
	default: return sqlite3_bind_null(h, index);
	}
}

static struct copy_cell cell_of(sqlite3_stmt *h, int i)
{
	switch (sqlite3_column_type(h, i)) {
	case SQLITE_INTEGER:
		return (struct copy_cell){ .kind = COPY_NUMBER, .number = sqlite3_column_int64(h, i) };
	case SQLITE_TEXT: {
		const char *p = (const char *)sqlite3_column_text(h, i);

		return (struct copy_cell){ COPY_TEXT, 0, { p, (size_t)sqlite3_column_bytes(h, i) } };
	}
	case SQLITE_BLOB: {
		const char *p = sqlite3_column_blob(h, i);

		return (struct copy_cell){ COPY_BYTES, 0, { p, (size_t)sqlite3_column_bytes(h, i) } };
	}
	default: return (struct copy_cell){ .kind = COPY_NULL };
	}
}

/* All that the statement gives (row may be NULL if that is nothing). 0, SQLite's result code, or
 * -1: row() has failed. */
static int give_rows(sqlite3_stmt *h, const struct copy_table *t, copy_row *row, void *arg,
		     struct err *reterr)
{
	struct copy_cell cells[COPY_COLUMNS];
	int rc, failed = 0;

	while (failed == 0 && (rc = sqlite3_step(h)) == SQLITE_ROW) {
		assert(row != NULL);
		for (unsigned i = 0; i < t->ncolumns; i++)
			cells[i] = cell_of(h, (int)i);
		failed = row(arg, cells, reterr);
	}
	if (failed != 0)
		return -1;
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int store_rows_each(struct store_rows *r, const struct copy_table *t, copy_row *row, void *arg,
		    struct err *reterr)
{
	sqlite3_stmt *h;
	int rc;

	if (prepare(r, t, ROWS_EACH, &h, reterr) < 0)
		return -1;
	rc = give_rows(h, t, row, arg, reterr);
	if (rc > 0)
		store_error(r->conn, rc, reterr);
	sqlite3_reset(h);
	return rc == SQLITE_OK ? 0 : -1;
}

/* The statement for each of the keys; keys NULL: once, without one (it must have none, or its key
 * is not looked at). */
static int run_for(struct store_rows *r, const struct copy_table *t, enum row_statement which,
		   const struct copy_key *keys, size_t n, copy_row *row, void *arg, struct err *reterr)
{
	sqlite3_stmt *h;
	int rc = SQLITE_OK;

	if (prepare(r, t, which, &h, reterr) < 0)
		return -1;
	for (size_t i = 0; rc == SQLITE_OK && i < n; i++) {
		rc = bind_key(h, t, &keys[i]);
		if (rc == SQLITE_OK)
			rc = give_rows(h, t, row, arg, reterr);
		if (rc > 0)
			store_error(r->conn, rc, reterr);
		sqlite3_reset(h);
	}
	return rc == SQLITE_OK ? 0 : -1;
}

int store_rows_find(struct store_rows *r, const struct copy_table *t, const struct copy_key *keys, size_t n,
		    copy_row *row, void *arg, struct err *reterr)
{
	return run_for(r, t, ROWS_FIND, keys, n, row, arg, reterr);
}

int store_rows_number(struct store_rows *r, int64_t *ret, struct err *reterr, const char *fmt, ...)
{
	sqlite3_stmt *h = NULL;
	char sql[400];
	va_list args;
	int rc;

	va_start(args, fmt);
	vsnprintf(sql, sizeof(sql), fmt, args);
	va_end(args);
	*ret = 0;
	rc = sqlite3_prepare_v2(r->conn->db, sql, -1, &h, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(h, 0);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		store_error(r->conn, rc, reterr);
	sqlite3_finalize(h);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : -1;
}

int store_rows_put(struct store_rows *r, const struct copy_table *t, const struct copy_cell *cells,
		   struct err *reterr)
{
	sqlite3_stmt *h;
	int rc = SQLITE_OK;

	if (prepare(r, t, ROWS_PUT, &h, reterr) < 0)
		return -1;
	for (unsigned i = 0; rc == SQLITE_OK && i < t->ncolumns; i++)
		rc = bind_cell(h, (int)i + 1, &cells[i]);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(h);
	if (rc != SQLITE_DONE)
		store_error(r->conn, rc, reterr);
	sqlite3_reset(h);
	sqlite3_clear_bindings(h);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int run_all(struct store_rows *r, const struct copy_table *t, bool own, struct err *reterr)
{
	struct buf b;
	int rc;

	buf_init(&b, 65536);
	if (own)
		put_own(&b, t);
	else
		buf_printf(&b, "DELETE FROM \"%s\"", t->name);
	buf_put_u8(&b, 0);
	rc = b.failed ? err_nomem(reterr) : store_script(r->conn, (const char *)b.data, reterr);
	buf_fini(&b);
	return rc;
}

int store_rows_remove(struct store_rows *r, const struct copy_table *t, const struct copy_key *keys, size_t n,
		      struct err *reterr)
{
	return keys == NULL ? run_all(r, t, false, reterr)
			    : run_for(r, t, ROWS_REMOVE, keys, n, NULL, NULL, reterr);
}

int store_rows_own(struct store_rows *r, const struct copy_table *t, const struct copy_key *keys, size_t n,
		   struct err *reterr)
{
	return keys == NULL ? run_all(r, t, true, reterr)
			    : run_for(r, t, ROWS_OWN, keys, n, NULL, NULL, reterr);
}

int store_rows_set_last(struct store_rows *r, const struct copy_table *t, int64_t last, struct err *reterr)
{
	char sql[300];

	assert(t->sequence);
	snprintf(sql, sizeof(sql),
		 "DELETE FROM sqlite_sequence WHERE name = '%s'; INSERT INTO sqlite_sequence (name, seq) "
		 "VALUES "
		 "('%s', %lld)",
		 t->name, t->name, (long long)last);
	return store_script(r->conn, sql, reterr);
}
