/* rows.c — result sets: from a statement into the sink, one row lent at a time. */
#include "catalogue/query.h"
#include "engine/sqlite/executor/executor_int.h"

#define COLUMNS_ON_STACK 32

static int send_all(struct runner *r, struct store_stmt *st, const struct column *cols, size_t n,
		    struct value *row, uint64_t *ret_rows, struct err *reterr)
{
	int rc;

	while ((rc = store_step(st, reterr)) > 0) {
		for (size_t i = 0; i < n; i++) {
			if (store_column(st, (unsigned)i, &cols[i].type, &row[i], reterr) < 0)
				return -1;
		}
		if (executor_run_row(r, row, n, reterr) < 0)
			return -1;
		(*ret_rows)++;
	}
	return rc;
}

/* The engine finishes what a statement writes before it yields the first row, so that nothing is
 * left half-way when the sink refuses one. */
int executor_rows_send_part(struct runner *r, struct call *c, struct store_stmt *st,
			    const struct column *cols, size_t n, uint64_t *ret_rows, struct err *reterr)
{
	struct value few[COLUMNS_ON_STACK], *row = few;

	if (n > COLUMNS_ON_STACK) {
		row = arena_array(c->arena, n, sizeof(*row));
		if (row == NULL)
			return err_nomem(reterr);
	}
	return send_all(r, st, cols, n, row, ret_rows, reterr);
}

int executor_rows_send(struct runner *r, struct call *c, struct store_stmt *st, const struct column *cols,
		       size_t n, struct err *reterr)
{
	r->count = 0;
	if (call_sink_columns(c->sink, cols, n) != 0)
		return err_set(reterr, ERR_CANCELLED);
	if (executor_rows_send_part(r, c, st, cols, n, &r->count, reterr) < 0)
		return -1;
	return call_sink_rows_done(c->sink, r->count) == 0 ? 0 : err_set(reterr, ERR_CANCELLED);
}

int executor_query_run(struct runner *r, struct call *c, struct err *reterr)
{
	const struct query *q = c->query;
	struct store_stmt *st;
	int rc = 0;

	if (store_query(r->conn, q->sql, &st, reterr) < 0)
		return -1;
	for (size_t i = 0; rc == 0 && i < q->nvalues; i++)
		rc = store_bind(st, (unsigned)i + 1, &q->values[i], reterr);
	if (rc == 0)
		rc = executor_rows_send(r, c, st, q->columns, q->ncolumns, reterr);
	store_finish(st);
	return rc;
}
