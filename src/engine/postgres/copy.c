/* copy.c — a database in PostgreSQL as one side of a move (engine/copy.h): a session of its own,
 * what is asked on it, and its end. copy_rows.c, copy_from.c and copy_to.c are built on it. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/postgres/copy_int.h"

#define ROW_MOST ((size_t)4 << 30)

/* ---- waiting ---- */

int postgres_side_wait(struct pg_side *s, PGconn *h, short events, struct err *reterr)
{
	struct pollfd fd = { PQsocket(h), events, 0 };

	while (fd.fd >= 0 && poll(&fd, 1, 50) <= 0) {
		if (engine_copy_is_stopped(&s->base))
			return err_set(reterr, ERR_CANCELLED);
	}
	if (fd.fd < 0 || ((fd.revents & POLLIN) != 0 && PQconsumeInput(h) != 1))
		return err_raise(reterr, 50021, 16, 1, "The connection to PostgreSQL is lost.");
	return 0;
}

int postgres_side_flush(struct pg_side *s, PGconn *h, struct err *reterr)
{
	int rc;

	while ((rc = PQflush(h)) == 1) {
		if (postgres_side_wait(s, h, POLLIN | POLLOUT, reterr) < 0)
			return -1;
	}
	return rc == 0 ? 0 : err_raise(reterr, 50021, 16, 1, "The connection to PostgreSQL is lost.");
}

int postgres_side_next(struct pg_side *s, PGconn *h, PGresult **ret, struct err *reterr)
{
	*ret = NULL;
	if (postgres_side_flush(s, h, reterr) < 0)
		return -1;
	while (PQisBusy(h)) {
		if (postgres_side_wait(s, h, POLLIN, reterr) < 0)
			return -1;
	}
	*ret = PQgetResult(h);
	return 0;
}

int postgres_side_failed(const struct pg_side *s, const PGresult *r, const PGconn *h, struct err *reterr)
{
	const char *text = r == NULL ? NULL : PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
	const char *detail = r == NULL ? NULL : PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL);

	return err_raise(reterr, 50021, 16, 1, "PostgreSQL, schema \"%s\": %.300s%s%.200s", s->schema,
			 text != NULL ? text : PQerrorMessage(h), detail == NULL ? "" : ": ",
			 detail == NULL ? "" : detail);
}

static bool is_good(const PGresult *r)
{
	ExecStatusType s = PQresultStatus(r);

	return s == PGRES_COMMAND_OK || s == PGRES_TUPLES_OK || s == PGRES_SINGLE_TUPLE ||
	       s == PGRES_COPY_IN || s == PGRES_EMPTY_QUERY;
}

int postgres_side_take_all(struct pg_side *s, PGconn *h,
			   int (*row)(void *arg, const PGresult *r, struct err *e), void *arg,
			   struct err *reterr)
{
	PGresult *r;
	int rc = 0;

	s->late = false;
	while (rc == 0 && (rc = postgres_side_next(s, h, &r, reterr)) == 0 && r != NULL) {
		if (!is_good(r))
			rc = postgres_side_failed(s, r, h, reterr);
		else if (PQntuples(r) > 0 && row != NULL)
			rc = row(arg, r, reterr);
		s->late |= postgres_is_lock_timeout(r);
		PQclear(r);
	}
	return rc;
}

int postgres_side_run_on(struct pg_side *s, PGconn *h, const char *sql, struct err *reterr)
{
	if (PQsendQuery(h, sql) != 1)
		return postgres_side_failed(s, NULL, h, reterr);
	return postgres_side_take_all(s, h, NULL, NULL, reterr);
}

int postgres_side_run(struct pg_side *s, struct err *reterr, const char *fmt, ...)
{
	char sql[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(sql, sizeof(sql), fmt, args);
	va_end(args);
	return postgres_side_run_on(s, s->h, sql, reterr);
}

struct text {
	char *dst;
	size_t size;
};

static int keep_text(void *arg, const PGresult *r, struct err *reterr)
{
	struct text *t = arg;

	(void)reterr;
	if (!PQgetisnull(r, 0, 0))
		str_copy(t->dst, t->size, str_of(PQgetvalue(r, 0, 0)));
	return 0;
}

int postgres_side_ask(struct pg_side *s, PGconn *h, char *dst, size_t size, struct err *reterr,
		      const char *fmt, ...)
{
	struct text t = { dst, size };
	char sql[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(sql, sizeof(sql), fmt, args);
	va_end(args);
	dst[0] = '\0';
	if (PQsendQuery(h, sql) != 1)
		return postgres_side_failed(s, NULL, h, reterr);
	return postgres_side_take_all(s, h, keep_text, &t, reterr);
}

int postgres_side_ask_number(struct pg_side *s, int64_t *ret, struct err *reterr, const char *fmt, ...)
{
	char sql[800], text[40];
	va_list args;
	int rc;

	va_start(args, fmt);
	vsnprintf(sql, sizeof(sql), fmt, args);
	va_end(args);
	rc = postgres_side_ask(s, s->h, text, sizeof(text), reterr, "%s", sql);
	*ret = rc == 0 ? strtoll(text, NULL, 10) : 0;
	return rc;
}

/* ---- life ---- */

static void on_notice(void *arg, const PGresult *r)
{
	struct pg_side *s = arg;

	s->unconfirmed = s->unconfirmed || postgres_is_unconfirmed(r);
}

int postgres_side_connect(struct pg_side *s, PGconn **ret, struct err *reterr)
{
	char sql[400];

	*ret = postgres_conn_plain(s->engine, &s->engine->primary.stopping, reterr);
	if (*ret == NULL)
		return -1;
	(void)PQsetnonblocking(*ret, 1);
	(void)PQsetNoticeReceiver(*ret, on_notice, s);
	snprintf(sql, sizeof(sql),
		 "SET lock_timeout = '20s'; SET search_path = \"%s\", \"%s\", procession, pg_catalog",
		 s->code, s->schema);
	return postgres_side_run_on(s, *ret, sql, reterr);
}

/* Nobody waits for them: a database that is not moved after all must not be slowed down. */
static void drop_notes(struct pg_side *s)
{
	struct err ignored;
	PGconn *h = NULL;
	char sql[1000];

	if (postgres_side_connect(s, &h, &ignored) == 0) {
		snprintf(sql, sizeof(sql),
			 "BEGIN; LOCK TABLE \"%s\".gate IN EXCLUSIVE MODE; " POSTGRES_FORGET_NOTES "; COMMIT",
			 s->schema, s->schema, s->schema);
		(void)postgres_side_run_on(s, h, sql, &ignored);
	}
	PQfinish(h);
}

void postgres_side_close(struct copy_side *base)
{
	struct pg_side *s = postgres_side_of(base);

	PQfinish(s->h);
	PQfinish(s->fence);
	s->base.watch.stop = NULL;
	if (s->notes)
		drop_notes(s);
	if (s->is_target)
		free(s->db);
	buf_fini(&s->out);
	arena_fini(&s->arena);
	free(s);
}

int postgres_side_tables(struct copy_side *base, struct copy_tables *ret, struct err *reterr)
{
	(void)base, (void)reterr;
	*ret = (struct copy_tables){ .n = 0 };
	return 0;
}

struct pg_side *postgres_side_new(struct pg_engine *e, const struct copy_ops *ops, const struct copy_watch *w)
{
	struct pg_side *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->base = (struct copy_side){ ops, *w };
	s->engine = e;
	arena_init(&s->arena, ROW_MOST);
	buf_init(&s->out, (size_t)4 * POSTGRES_PIECE);
	return s;
}

int postgres_copy_place(struct engine *base, const char *name, char ret[ENGINE_PLACE], struct err *reterr)
{
	return postgres_schema_place(CONTAINER_OF(base, struct pg_engine, base), name, ret, reterr);
}
