/* copy_to.c — the target of a move in PostgreSQL. Rows come in with COPY, piece by piece, so that
 * no more than one value is in memory. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/copy_int.h"

/* ---- rows in ---- */

static int send_bytes(struct pg_side *s, const char *p, size_t n, struct err *reterr)
{
	while (n > 0) {
		size_t piece = n < POSTGRES_PIECE ? n : POSTGRES_PIECE;
		int rc = PQputCopyData(s->h, p, (int)piece);

		if (rc < 0)
			return postgres_side_failed(s, NULL, s->h, reterr);
		if (postgres_side_flush(s, s->h, reterr) < 0)
			return -1;
		p += rc == 1 ? piece : 0;
		n -= rc == 1 ? piece : 0;
	}
	return 0;
}

static int send_out(struct pg_side *s, struct err *reterr)
{
	int rc = s->out.failed ? err_nomem(reterr)
			       : send_bytes(s, (const char *)s->out.data, s->out.len, reterr);

	s->out.len = 0;
	return rc;
}

static void put_number(struct buf *b, uint64_t v, unsigned bytes)
{
	while (bytes-- > 0)
		buf_put_u8(b, (uint8_t)(v >> 8 * bytes));
}

/* Whatever PostgreSQL says of it comes now. */
static int end_copy(struct pg_side *s, struct err *reterr)
{
	int rc;

	if (s->copying == NULL)
		return 0;
	s->copying = NULL;
	put_number(&s->out, UINT16_MAX, 2);
	if (send_out(s, reterr) < 0)
		return -1;
	while ((rc = PQputCopyEnd(s->h, NULL)) == 0) {
		if (postgres_side_wait(s, s->h, POLLIN | POLLOUT, reterr) < 0)
			return -1;
	}
	return rc < 0 ? postgres_side_failed(s, NULL, s->h, reterr)
		      : postgres_side_take_all(s, s->h, NULL, NULL, reterr);
}

static int begin_copy(struct pg_side *s, const struct copy_table *t, struct err *reterr)
{
	static const char signature[] = "PGCOPY\n\377\r\n";
	struct buf sql;
	PGresult *r = NULL;
	int rc;

	if (end_copy(s, reterr) < 0)
		return -1;
	buf_init(&sql, POSTGRES_PIECE);
	buf_printf(&sql, "COPY \"%s\" (", t->name);
	for (unsigned i = 0; i < t->ncolumns; i++)
		buf_printf(&sql, "%s\"%s\"", i == 0 ? "" : ", ", t->columns[i].name);
	buf_printf(&sql, ") FROM STDIN BINARY");
	buf_put_u8(&sql, 0);
	rc = sql.failed || PQsendQuery(s->h, (const char *)sql.data) != 1
		     ? postgres_side_failed(s, NULL, s->h, reterr)
		     : postgres_side_next(s, s->h, &r, reterr);
	buf_fini(&sql);
	if (rc == 0 && PQresultStatus(r) != PGRES_COPY_IN)
		rc = postgres_side_failed(s, r, s->h, reterr);
	PQclear(r);
	if (rc < 0)
		return -1;
	s->copying = t;
	for (size_t i = 0; i < sizeof(signature); i++) /* with its NUL */
		buf_put_u8(&s->out, (uint8_t)signature[i]);
	put_number(&s->out, 0, 8);
	return 0;
}

static int put_cell(struct pg_side *s, const struct copy_cell *c, struct err *reterr)
{
	struct str bytes = c->bytes;

	if (c->kind == COPY_NULL) {
		put_number(&s->out, UINT32_MAX, 4);
		return 0;
	}
	if (c->kind == COPY_NUMBER) {
		put_number(&s->out, 8, 4);
		put_number(&s->out, (uint64_t)c->number, 8);
		return 0;
	}
	if (c->kind == COPY_TEXT && postgres_text_out(c->bytes, &s->arena, &bytes, reterr) < 0)
		return -1;
	put_number(&s->out, bytes.n, 4);
	return send_out(s, reterr) < 0 ? -1 : send_bytes(s, bytes.p, bytes.n, reterr);
}

static int target_put(struct copy_side *base, const struct copy_table *t, const struct copy_cell *cells,
		      struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);

	arena_reset(&s->arena);
	if (s->copying != t && begin_copy(s, t, reterr) < 0)
		return -1;
	put_number(&s->out, t->ncolumns, 2);
	for (unsigned i = 0; i < t->ncolumns; i++) {
		if (put_cell(s, &cells[i], reterr) < 0)
			return -1;
	}
	return s->out.len > POSTGRES_PIECE ? send_out(s, reterr) : 0;
}

static int target_begin(struct copy_side *base, struct err *reterr)
{
	return postgres_side_run(postgres_side_of(base), reterr, "BEGIN");
}

static int run_with_keys(struct pg_side *s, struct buf *sql, const struct copy_table *t,
			 const struct pg_key_arrays *a, struct err *reterr)
{
	postgres_side_put_keys(sql, t, t->name);
	buf_put_u8(sql, 0);
	if (sql->failed)
		return err_nomem(reterr);
	if (PQsendQueryParams(s->h, (const char *)sql->data, (int)t->nkeys, NULL, a->values, NULL, NULL, 0) !=
	    1)
		return postgres_side_failed(s, NULL, s->h, reterr);
	return postgres_side_take_all(s, s->h, NULL, NULL, reterr);
}

static int remove_some(struct pg_side *s, const struct copy_table *t, const struct pg_key_arrays *a,
		       void *arg, struct err *reterr)
{
	struct buf sql;
	int rc;

	(void)arg;
	buf_init(&sql, POSTGRES_PIECE);
	buf_printf(&sql, "DELETE FROM \"%s\" USING ", t->name);
	rc = run_with_keys(s, &sql, t, a, reterr);
	buf_fini(&sql);
	return rc;
}

static int target_remove(struct copy_side *base, const struct copy_table *t, const struct copy_key *keys,
			 size_t n, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);

	if (end_copy(s, reterr) < 0)
		return -1;
	if (keys == NULL || t->nkeys == 0)
		return postgres_side_run(s, reterr, "DELETE FROM \"%s\"", t->name);
	return postgres_side_for_keys(s, t, keys, n, remove_some, NULL, reterr);
}

static void put_own(struct buf *b, const struct copy_table *t)
{
	const char *between = "";

	buf_printf(b, "UPDATE \"%s\" SET ", t->name);
	for (unsigned i = 0; i < t->ncolumns; i++) {
		if (t->columns[i].own == NULL)
			continue;
		buf_printf(b, "%s\"%s\" = %s", between, t->columns[i].name, t->columns[i].own);
		between = ", ";
	}
}

static int own_some(struct pg_side *s, const struct copy_table *t, const struct pg_key_arrays *a, void *arg,
		    struct err *reterr)
{
	struct buf sql;
	int rc;

	(void)arg;
	buf_init(&sql, POSTGRES_PIECE);
	put_own(&sql, t);
	buf_printf(&sql, " FROM ");
	rc = run_with_keys(s, &sql, t, a, reterr);
	buf_fini(&sql);
	return rc;
}

static int target_own(struct copy_side *base, const struct copy_table *t, const struct copy_key *keys,
		      size_t n, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);
	struct buf sql;
	int rc;

	if (end_copy(s, reterr) < 0)
		return -1;
	if (keys != NULL && t->nkeys > 0)
		return postgres_side_for_keys(s, t, keys, n, own_some, NULL, reterr);
	buf_init(&sql, POSTGRES_PIECE);
	put_own(&sql, t);
	buf_put_u8(&sql, 0);
	rc = sql.failed ? err_nomem(reterr) : postgres_side_run_on(s, s->h, (const char *)sql.data, reterr);
	buf_fini(&sql);
	return rc;
}

static int target_set_last(struct copy_side *base, const struct copy_table *t, int64_t last,
			   struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);
	char name[200];

	if (postgres_side_sequence(s, t, name, sizeof(name), reterr) < 0)
		return -1;
	return name[0] == '\0'
		       ? 0
		       : postgres_side_run(s, reterr, "SELECT setval('%s', %lld, %s)", name,
					   (long long)(last < 1 ? 1 : last), last < 1 ? "false" : "true");
}

static int target_set_clock(struct copy_side *base, int64_t ticks, struct err *reterr)
{
	return postgres_side_run(postgres_side_of(base), reterr,
				 "UPDATE clock SET floor = greatest(floor, %lld)", (long long)ticks);
}

/* A commit that no standby has is no commit. */
static int confirmed(const struct pg_side *s, int rc, struct err *reterr)
{
	return rc == 0 && s->unconfirmed ? postgres_unconfirmed(reterr) : rc;
}

static int target_commit(struct copy_side *base, bool flushed, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);

	if (end_copy(s, reterr) < 0)
		return -1;
	return confirmed(s,
			 postgres_side_run(s, reterr, "%sCOMMIT",
					   flushed ? "" : "SET LOCAL synchronous_commit = off; "),
			 reterr);
}

static int target_finish(struct copy_side *base, struct err *reterr)
{
	struct pg_side *s = postgres_side_of(base);

	return confirmed(s,
			 postgres_side_run(s, reterr, "UPDATE store SET service = '%s'", s->db->procs->name),
			 reterr);
}

static const struct copy_ops target_ops = {
	.close = postgres_side_close,
	.tables = postgres_side_tables,
	.each = postgres_side_each,
	.find = postgres_side_find,
	.last = postgres_side_last,
	.count = postgres_side_count,
	.begin = target_begin,
	.put = target_put,
	.remove = target_remove,
	.own = target_own,
	.set_last = target_set_last,
	.set_clock = target_set_clock,
	.commit = target_commit,
	.finish = target_finish,
};

int postgres_copy_to(struct engine *base, const struct engine_open *o, const struct copy_watch *w,
		     struct copy_side **ret, struct err *reterr)
{
	struct pg_engine *e = CONTAINER_OF(base, struct pg_engine, base);
	struct pg_side *s = postgres_side_new(e, &target_ops, w);

	if (s == NULL || (s->db = calloc(1, sizeof(*s->db))) == NULL) {
		if (s != NULL)
			postgres_side_close(&s->base);
		return err_nomem(reterr);
	}
	s->is_target = true;
	s->db->engine = e;
	s->db->base.service = o->service;
	str_copy(s->db->base.name, sizeof(s->db->base.name), str_of(o->name));
	s->db->sql = &catalogue_postgres[o->service];
	s->db->procs = &catalogue_service_procs[o->service];
	if (postgres_schema_make(s->db, o, reterr) < 0) {
		postgres_side_close(&s->base);
		return -1;
	}
	memcpy(s->schema, s->db->schema, sizeof(s->schema));
	memcpy(s->code, s->db->code, sizeof(s->code));
	if (postgres_side_connect(s, &s->h, reterr) < 0) {
		postgres_side_close(&s->base);
		return -1;
	}
	*ret = &s->base;
	return 0;
}
