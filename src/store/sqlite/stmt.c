/* stmt.c — statements of the catalogue, prepared once per connection and kept by their number; and texts of queries, prepared for one use. */
#include <stdlib.h>

#include "store/sqlite/sqlite_int.h"

static int prepare(struct sqlite_conn *c, const char *sql, unsigned flags, sqlite3_stmt **ret,
		   struct err *reterr)
{
	int rc = sqlite3_prepare_v3(c->db, sql, -1, flags, ret, NULL);

	if (rc != SQLITE_OK)
		return sqlite_error(c, rc, reterr);
	if (*ret == NULL)
		return err_set(reterr, ERR_STORE, c->store->name, "a statement is empty");
	return 0;
}

static int prepare_once(struct sqlite_conn *c, const char *sql, bool query, struct store_stmt **ret,
			struct err *reterr)
{
	struct sqlite_stmt *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return err_nomem(reterr);
	s->base.ops = &sqlite_store_ops;
	s->conn = c;
	s->query = query;
	c->sandbox = query;
	rc = prepare(c, sql, 0, &s->handle, reterr);
	c->sandbox = false;
	if (rc < 0) {
		free(s);
		return -1;
	}
	*ret = &s->base;
	return 0;
}

int sqlite_statement(struct store_conn *conn, const struct statement *source, struct store_stmt **ret,
		     struct err *reterr)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);
	struct sqlite_stmt *s;

	if (source->id >= c->nstmts)
		return prepare_once(c, source->sql, false, ret, reterr);
	s = &c->stmts[source->id];
	if (s->handle == NULL) {
		s->base.ops = &sqlite_store_ops;
		s->conn = c;
		s->kept = true;
		s->source = source;
		if (prepare(c, source->sql, SQLITE_PREPARE_PERSISTENT, &s->handle, reterr) < 0)
			return -1;
	} else if (s->source != source) {
		return prepare_once(c, source->sql, false, ret,
				    reterr); /* C code with a number that the catalogue uses too */
	}
	*ret = &s->base;
	return 0;
}

int sqlite_query(struct store_conn *conn, const char *sql, struct store_stmt **ret, struct err *reterr)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);

	if (prepare_once(c, sql, true, ret, reterr) < 0)
		return -1;
	if (!sqlite3_stmt_readonly(SQLITE_STMT(*ret)->handle)) { /* the sandbox should have seen it */
		sqlite_finish(*ret);
		return err_set(reterr, ERR_SELECT_PERMISSION, "statement", c->store->name);
	}
	return 0;
}

static bool is_large(const struct value *v)
{
	return !v->null && type_info(v->type.id)->is_binary && v->u.s.n >= SQLITE_LARGE;
}

int sqlite_bind(struct store_stmt *stmt, unsigned index, const struct value *v, struct err *reterr)
{
	struct sqlite_stmt *s = SQLITE_STMT(stmt);
	int rc;

	if (is_large(v))
		sqlite_narrow(s->conn);
	rc = sqlite_bind_value(s->handle, (int)index, v);
	return rc == SQLITE_OK ? 0 : sqlite_error(s->conn, rc, reterr);
}

int sqlite_step(struct store_stmt *stmt, struct err *reterr)
{
	struct sqlite_stmt *s = SQLITE_STMT(stmt);
	int rc;

	s->conn->sandbox = s->query; /* SQLite compiles again by itself when the schema has changed */
	rc = sqlite3_step(s->handle);
	s->conn->sandbox = false;
	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	return sqlite_error(s->conn, rc, reterr);
}

static struct value *inner_of(struct sqlite_stmt *s, unsigned index)
{
	if (s->inner == NULL)
		s->inner = calloc((size_t)sqlite3_column_count(s->handle), sizeof(*s->inner));
	return s->inner == NULL ? NULL : &s->inner[index];
}

int sqlite_column(struct store_stmt *stmt, unsigned index, const struct type *as, struct value *ret,
		  struct err *reterr)
{
	struct sqlite_stmt *s = SQLITE_STMT(stmt);
	struct value *inner = NULL;

	if (index >= (unsigned)sqlite3_data_count(s->handle))
		return err_set(reterr, ERR_STORE, s->conn->store->name,
			       "a statement yields fewer columns than declared");
	if (as->id == TYPE_VARIANT) {
		inner = inner_of(s, index);
		if (inner == NULL)
			return err_nomem(reterr);
	}
	return sqlite_column_value(s->handle, (int)index, as, inner, ret, reterr);
}

void sqlite_finish(struct store_stmt *stmt)
{
	struct sqlite_stmt *s = SQLITE_STMT(stmt);
	struct sqlite_conn *c = s->conn;

	if (s->kept)
		sqlite3_reset(s->handle); /* its error was told by step */
	else
		sqlite3_finalize(s->handle);
	sqlite_widen(c);
	if (s->kept)
		return;
	free(s->inner);
	free(s);
}

void sqlite_stmts_fini(struct sqlite_conn *c)
{
	for (size_t i = 0; c->stmts != NULL && i < c->nstmts; i++) {
		sqlite3_finalize(c->stmts[i].handle);
		free(c->stmts[i].inner);
	}
	free(c->stmts);
}
