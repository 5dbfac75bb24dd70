/* fetch.c — a large binary value straight from its pages to where it is wanted. A statement would first make one block of the row. */
#include "store/sqlite/sqlite_int.h"

#define PIECE (1 << 20)             /* between two questions whether to go on */

static int read_pieces(struct sqlite_conn *c, sqlite3_blob *b, uint8_t *dst, int n)
{
	int rc = SQLITE_OK;

	for (int at = 0; at < n && rc == SQLITE_OK; at += PIECE) {
		if (c->stop != NULL && c->stop(c->stop_arg))
			return SQLITE_INTERRUPT;
		rc = sqlite3_blob_read(b, dst + at, n - at < PIECE ? n - at : PIECE, at);
	}
	return rc;
}

static int read_all(struct sqlite_conn *c, sqlite3_blob *b, struct arena *a, struct value *ret, struct err *reterr)
{
	int n = sqlite3_blob_bytes(b), rc;
	uint8_t *dst = arena_alloc_raw(a, (size_t)n);

	if (dst == NULL)
		return err_nomem(reterr);
	rc = read_pieces(c, b, dst, n);
	if (rc != SQLITE_OK)
		return sqlite_error(c, rc, reterr);
	*ret = value_bytes(TYPE_LEN(TYPE_VARBINARY, TYPE_MAX), dst, (size_t)n);
	return 0;
}

int sqlite_fetch(struct store_conn *conn, const char *table, const char *column, int64_t row, struct arena *a, struct value *ret, struct err *reterr)
{
	struct sqlite_conn *c = SQLITE_CONN(conn);
	sqlite3_blob *b = NULL;
	int rc = sqlite3_blob_open(c->db, "main", table, column, row, 0, &b);

	if (rc != SQLITE_OK)
		return sqlite_error(c, rc, reterr);
	if ((size_t)sqlite3_blob_bytes(b) >= SQLITE_LARGE)
		sqlite_narrow(c);
	rc = read_all(c, b, a, ret, reterr);
	sqlite_widen(c);
	sqlite3_blob_close(b);
	return rc;
}
