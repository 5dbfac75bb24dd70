/* copy_int.h — a side of a move (engine/copy.h), for the files that are one: copy.c and copy_*.c.
 * Nobody else includes this. */
#ifndef ENGINE_POSTGRES_COPY_INT_H
#define ENGINE_POSTGRES_COPY_INT_H

#include "base/buf.h"
#include "engine/postgres/postgres_int.h"

#define POSTGRES_PIECE 65536 /* bytes that are sent, or kept for a statement */

struct pg_side {
	struct copy_side base;
	struct pg_engine *engine;
	PGconn *h;     /* owned */
	PGconn *fence; /* owned: keeps others from writing; NULL: not yet */
	char schema[PG_SCHEMA], code[PG_SCHEMA];
	struct arena arena;               /* of a row */
	const struct copy_table *copying; /* a COPY is under way; NULL: none */
	struct buf out;                   /* of it, not sent yet */
	struct pg_database *db;           /* of a source: borrowed; of a target: owned, and not open */
	bool is_target, notes;
	bool late;        /* the last statement waited for a lock for too long */
	bool unconfirmed; /* a commit of it is not on the standby, maybe */
};

static inline struct pg_side *postgres_side_of(struct copy_side *s)
{
	return CONTAINER_OF(s, struct pg_side, base);
}

/* ---- copy.c: its session ---- */

/* Until the socket is ready for these; a move that is to end need not wait. */
MUST_CHECK int postgres_side_wait(struct pg_side *s, PGconn *h, short events, struct err *reterr);
MUST_CHECK int postgres_side_flush(struct pg_side *s, PGconn *h, struct err *reterr);
/* The next result of what was sent; NULL in *ret: there is none any more. */
MUST_CHECK int postgres_side_next(struct pg_side *s, PGconn *h, PGresult **ret, struct err *reterr);
/* -1, with what PostgreSQL says. */
int postgres_side_failed(const struct pg_side *s, const PGresult *r, const PGconn *h, struct err *reterr);
/* All results of what was sent; row() sees the rows of those that have any. */
MUST_CHECK int postgres_side_take_all(struct pg_side *s, PGconn *h,
				      int (*row)(void *arg, const PGresult *r, struct err *e), void *arg,
				      struct err *reterr);
int postgres_side_run_on(struct pg_side *s, PGconn *h, const char *sql, struct err *reterr);
MUST_CHECK int postgres_side_run(struct pg_side *s, struct err *reterr, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* The first column of the last row, as text; "" where there is none. */
MUST_CHECK int postgres_side_ask(struct pg_side *s, PGconn *h, char *dst, size_t size, struct err *reterr,
				 const char *fmt, ...) PRINTF_LIKE(6, 7);
MUST_CHECK int postgres_side_ask_number(struct pg_side *s, int64_t *ret, struct err *reterr, const char *fmt,
					...) PRINTF_LIKE(4, 5);
/* A session that does not keep anybody waiting for ever. */
MUST_CHECK int postgres_side_connect(struct pg_side *s, PGconn **ret, struct err *reterr);
struct pg_side *postgres_side_new(struct pg_engine *e, const struct copy_ops *ops,
				  const struct copy_watch *w); /* NULL: no memory */
void postgres_side_close(struct copy_side *base);
int postgres_side_tables(struct copy_side *base, struct copy_tables *ret, struct err *reterr);

/* ---- copy_rows.c: rows out, of both sides ---- */

int postgres_side_each(struct copy_side *base, const struct copy_table *t, copy_row *row, void *arg,
		       struct err *reterr);
int postgres_side_find(struct copy_side *base, const struct copy_table *t, const struct copy_key *keys,
		       size_t n, copy_row *row, void *arg, struct err *reterr);
int postgres_side_count(struct copy_side *base, const struct copy_table *t, uint64_t *ret,
			struct err *reterr);
int postgres_side_last(struct copy_side *base, const struct copy_table *t, int64_t *ret, struct err *reterr);
/* The sequence of a table's numbers; "": they are not PostgreSQL's. */
MUST_CHECK int postgres_side_sequence(struct pg_side *s, const struct copy_table *t, char *dst, size_t size,
				      struct err *reterr);

/* Keys as arrays: $1 and so on of a statement. */
struct pg_key_arrays {
	struct buf part[COPY_KEY_NUMBERS];
	const char *values[COPY_KEY_NUMBERS];
	bool failed;
};
typedef int pg_key_statement(struct pg_side *s, const struct copy_table *t, const struct pg_key_arrays *a,
			     void *arg, struct err *reterr);
/* The keys, some at a time. */
MUST_CHECK int postgres_side_for_keys(struct pg_side *s, const struct copy_table *t,
				      const struct copy_key *keys, size_t n, pg_key_statement *one, void *arg,
				      struct err *reterr);
/* Their part of a statement; row: the name of the table's rows in it. */
void postgres_side_put_keys(struct buf *b, const struct copy_table *t, const char *row);

#endif
