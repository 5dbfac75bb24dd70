/* fetch.c — a large binary value straight from its pages to where it is wanted. A statement
 * would first make one block of the row. */
#include <assert.h>

#include "engine/sqlite/store/store_int.h"

#define PIECE (1 << 20) /* between two questions whether to go on */

static int read_pieces(struct store_conn *c, sqlite3_blob *b, uint8_t *dst, int n)
{
	int rc = SQLITE_OK;

	for (int at = 0; at < n && rc == SQLITE_OK; at += PIECE) {
		if (c->stop != NULL && c->stop(c->stop_arg))
			return SQLITE_INTERRUPT;
		rc = sqlite3_blob_read(b, dst + at, n - at < PIECE ? n - at : PIECE, at);
	}
	return rc;
}

static int open_value(struct store_conn *c, const char *table, const char *column, int64_t row,
		      sqlite3_blob **ret, struct err *reterr)
{
	int rc = sqlite3_blob_open(c->db, "main", table, column, row, 0, ret);

	assert(!c->sandbox);
	return rc == SQLITE_OK ? 0 : store_error(c, rc, reterr);
}

/* All of it: n bytes. */
static int read_value(struct store_conn *c, sqlite3_blob *b, uint8_t *dst, size_t n, struct err *reterr)
{
	int rc;

	if (n >= STORE_LARGE)
		store_narrow(c);
	rc = read_pieces(c, b, dst, (int)n);
	store_widen(c);
	return rc == SQLITE_OK ? 0 : store_error(c, rc, reterr);
}

int store_fetch_size(struct store_conn *conn, const char *table, const char *column, int64_t row, size_t *ret,
		     struct err *reterr)
{
	sqlite3_blob *b = NULL;

	if (open_value(conn, table, column, row, &b, reterr) < 0)
		return -1;
	*ret = (size_t)sqlite3_blob_bytes(b);
	sqlite3_blob_close(b);
	return 0;
}

int store_fetch_into(struct store_conn *c, const char *table, const char *column, int64_t row, uint8_t *dst,
		     size_t n, struct err *reterr)
{
	sqlite3_blob *b = NULL;
	int rc;

	assert(dst != NULL);
	if (open_value(c, table, column, row, &b, reterr) < 0)
		return -1;
	if ((size_t)sqlite3_blob_bytes(b) == n)
		rc = read_value(c, b, dst, n, reterr);
	else
		rc = err_set(reterr, ERR_STORE, c->store->name,
			     "a large value has not the length that it had");
	sqlite3_blob_close(b);
	return rc;
}

int store_fetch(struct store_conn *c, const char *table, const char *column, int64_t row, struct arena *a,
		struct value *ret, struct err *reterr)
{
	sqlite3_blob *b = NULL;
	uint8_t *dst;
	size_t n;
	int rc;

	if (open_value(c, table, column, row, &b, reterr) < 0)
		return -1;
	n = (size_t)sqlite3_blob_bytes(b);
	dst = arena_alloc_raw(a, n);
	rc = dst == NULL ? err_nomem(reterr) : read_value(c, b, dst, n, reterr);
	sqlite3_blob_close(b);
	if (rc == 0)
		*ret = value_bytes(TYPE_LEN(TYPE_VARBINARY, TYPE_MAX), dst, n);
	return rc;
}
