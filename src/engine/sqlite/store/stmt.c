/* stmt.c — statements of the catalogue, prepared once per connection and kept by their number;
 * and texts of queries, prepared for one use. */
#include <assert.h>
#include <stdlib.h>

#include "engine/sqlite/store/store_int.h"

static int prepare(struct store_conn *c, const char *sql, unsigned flags, sqlite3_stmt **ret,
		   struct err *reterr)
{
	int rc = sqlite3_prepare_v3(c->db, sql, -1, flags, ret, NULL);

	assert(c->db != NULL);
	if (rc != SQLITE_OK)
		return store_error(c, rc, reterr);
	if (*ret == NULL)
		return err_set(reterr, ERR_STORE, c->store->name, "a statement is empty");
	return 0;
}

static int prepare_once(struct store_conn *c, const char *sql, bool query, struct store_stmt **ret,
			struct err *reterr)
{
	struct store_stmt *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL)
		return err_nomem(reterr);
	assert(!c->sandbox); /* a client's text is compiled by itself */
	s->conn = c;
	s->query = query;
	s->in_use = true;
	c->sandbox = query;
	rc = prepare(c, sql, 0, &s->handle, reterr);
	c->sandbox = false;
	if (rc < 0) {
		free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

int store_statement(struct store_conn *c, const struct statement *source, struct store_stmt **ret,
		    struct err *reterr)
{
	struct store_stmt *s;

	if (source->id >= c->nstmts)
		return prepare_once(c, source->sql, false, ret, reterr);
	s = &c->stmts[source->id];
	if (s->handle == NULL) {
		s->conn = c;
		s->kept = true;
		s->source = source;
		if (prepare(c, source->sql, SQLITE_PREPARE_PERSISTENT, &s->handle, reterr) < 0)
			return -1;
	} else if (s->source != source) {
		/* C code with a number that the catalogue uses too */
		return prepare_once(c, source->sql, false, ret, reterr);
	}
	assert(!s->in_use && s->kept && s->conn == c); /* once at a time */
	s->in_use = true;
	*ret = s;
	return 0;
}

int store_query(struct store_conn *c, const char *sql, struct store_stmt **ret, struct err *reterr)
{
	assert(!c->sandbox);
	if (prepare_once(c, sql, true, ret, reterr) < 0)
		return -1;
	if (!sqlite3_stmt_readonly((*ret)->handle)) { /* the sandbox should have seen it */
		store_finish(*ret);
		return err_set(reterr, ERR_SELECT_PERMISSION, "statement", c->store->name);
	}
	return 0;
}

static bool is_large(const struct value *v)
{
	return !v->null && type_info(v->type.id)->is_binary && v->u.s.n >= STORE_LARGE;
}

int store_bind(struct store_stmt *s, unsigned index, const struct value *v, struct err *reterr)
{
	int rc;

	assert(s->in_use && index > 0);
	if (is_large(v))
		store_narrow(s->conn);
	rc = store_bind_value(s->handle, (int)index, v);
	return rc == SQLITE_OK ? 0 : store_error(s->conn, rc, reterr);
}

int store_step(struct store_stmt *s, struct err *reterr)
{
	int rc;

	assert(s->in_use && !s->conn->sandbox);
	if (s->conn->tally.kept && !sqlite3_stmt_busy(s->handle))
		store_tally_statement(s->conn);
	/* SQLite compiles again by itself when the schema has changed */
	s->conn->sandbox = s->query;
	rc = sqlite3_step(s->handle);
	s->conn->sandbox = false;
	if (rc == SQLITE_ROW)
		return 1;
	if (rc == SQLITE_DONE)
		return 0;
	store_tally_failed(s->conn);
	return store_error(s->conn, rc, reterr);
}

static struct value *inner_of(struct store_stmt *s, unsigned index)
{
	if (s->inner == NULL)
		s->inner = calloc((size_t)sqlite3_column_count(s->handle), sizeof(*s->inner));
	return s->inner == NULL ? NULL : &s->inner[index];
}

int store_column(struct store_stmt *s, unsigned index, const struct type *as, struct value *ret,
		 struct err *reterr)
{
	struct value *inner = NULL;

	assert(s->in_use);
	if (index >= (unsigned)sqlite3_data_count(s->handle))
		return err_set(reterr, ERR_STORE, s->conn->store->name,
			       "a statement yields fewer columns than declared");
	if (as->id == TYPE_VARIANT) {
		inner = inner_of(s, index);
		if (inner == NULL)
			return err_nomem(reterr);
	}
	return store_column_value(s->handle, (int)index, as, inner, ret, reterr);
}

void store_finish(struct store_stmt *s)
{
	struct store_conn *c = s == NULL ? NULL : s->conn;

	if (s == NULL)
		return;
	assert(s->in_use);
	s->in_use = false;
	if (s->kept)
		sqlite3_reset(s->handle); /* its error was told by step */
	else
		sqlite3_finalize(s->handle);
	store_widen(c);
	if (s->kept)
		return;
	free(s->inner);
	free(s);
}

void store_stmts_fini(struct store_conn *c)
{
	for (size_t i = 0; c->stmts != NULL && i < c->nstmts; i++) {
		sqlite3_finalize(c->stmts[i].handle);
		free(c->stmts[i].inner);
	}
	free(c->stmts);
}
