/* pipeline.c — what is sent to PostgreSQL, and its answers in the same order. Nobody waits for an
 * answer before the next thing is sent; whoever waits looks at the call's limits now and then, and
 * at whether there is still somebody who will answer: a machine that is frozen, or cut off, keeps
 * its connections as if nothing had happened. */
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/postgres/postgres_int.h"

#define STEP_MS 250     /* so often a waiting call's limits are looked at */
#define MOMENT_MS 500   /* what takes longer is ended for any call of a group that is cancelled */
#define DOUBT_MS 800    /* after that, it is looked for another primary */
#define SILENCE_MS 3000 /* after that, the primary is asked whether our session lives */
#define SUSPECT_EVERY_MS 500
#define PROBE_EVERY_MS 1000
#define BULKY ((size_t)16 << 20) /* so much is more than libpq is left to keep */

static bool send_off(struct pg_conn *c);

/* ---- sending ---- */

static bool expect(struct pg_conn *c, bool *prepares)
{
	if (c->expected_at == c->nexpected)
		c->expected_at = c->nexpected = 0;
	if (c->nexpected == c->expected_cap) {
		size_t cap = c->expected_cap == 0 ? 64 : 2 * c->expected_cap;
		struct pg_expected *grown = realloc(c->expected, cap * sizeof(*grown));

		if (grown == NULL)
			return false;
		c->expected = grown;
		c->expected_cap = cap;
	}
	c->expected[c->nexpected++] = (struct pg_expected){ prepares };
	return true;
}

/* libpq keeps what has not left yet, and cannot keep 2 GB: large values leave one by one. */
static bool expect_large(struct pg_conn *c, const struct pg_params *p)
{
	c->unsent += p->bytes;
	c->bulky = c->bulky || p->bytes > BULKY;
	return expect(c, NULL) && (c->unsent <= BULKY || send_off(c));
}

bool postgres_send_text(struct pg_conn *c, const char *sql)
{
	return PQsendQueryParams(c->h, sql, 0, NULL, NULL, NULL, NULL, 1) == 1 && expect(c, NULL);
}

bool postgres_send_params(struct pg_conn *c, const char *sql, const struct pg_params *p)
{
	return PQsendQueryParams(c->h, sql, p->n, p->types, p->values, p->lengths, p->formats, 1) == 1 &&
	       expect_large(c, p);
}

bool postgres_send_prepared(struct pg_conn *c, const char *name, bool *prepared, const char *sql,
			    const struct pg_params *p)
{
	bool under_way = false;

	for (size_t i = c->expected_at; i < c->nexpected && !under_way; i++)
		under_way = c->expected[i].prepares == prepared;
	if (!*prepared && !under_way &&
	    (PQsendPrepare(c->h, name, sql, p->n, p->types) != 1 || !expect(c, prepared)))
		return false;
	return PQsendQueryPrepared(c->h, name, p->n, p->values, p->lengths, p->formats, 1) == 1 &&
	       expect_large(c, p);
}

/* Clients' SELECTs may read whole tables, and join as PostgreSQL likes; procedures not (conn.c). */
#define JOINS(how, most) \
	"pg_catalog.set_config('join_collapse_limit', '" most "', true), " \
	"pg_catalog.set_config('from_collapse_limit', '" most "', true), " \
	"pg_catalog.set_config('enable_seqscan', '" how "', true), " \
	"pg_catalog.set_config('enable_bitmapscan', '" how "', true), " \
	"pg_catalog.set_config('enable_hashjoin', '" how "', true), " \
	"pg_catalog.set_config('enable_mergejoin', '" how "', true), " \
	"pg_catalog.set_config('enable_material', '" how "', true)"

static const struct {
	const char *name, *sql;
} fixed[PG_FIXED_COUNT] = {
	[PG_BEGIN_WRITE] = { "begin_write", "BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE" },
	[PG_BEGIN_READ] = { "begin_read", "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY" },
	[PG_BEGIN_LOOK] = { "begin_look", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" },
	[PG_BEGIN_QUERY] = { "begin_query", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" },
	[PG_BEGIN_TXN] = { "begin_txn", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE" },
	[PG_BEGIN_SNAPSHOT] = { "begin_snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE" },
	[PG_GATE] = { "gate", "LOCK TABLE gate IN ROW EXCLUSIVE MODE" },
	[PG_GATE_TURN] = { "gate_turn", "LOCK TABLE gate IN SHARE UPDATE EXCLUSIVE MODE" },
	[PG_GATE_ALONE] = { "gate_alone", "LOCK TABLE gate IN EXCLUSIVE MODE" },
	[PG_LAZY] = { "lazy", "SET LOCAL synchronous_commit = off" },
	[PG_COMMIT] = { "commit", "COMMIT" },
	[PG_MARK] = { "mark",
		      "UPDATE mark SET seq = $2, at = greatest($3, procession.ticks()) WHERE slot = $1" },
	[PG_SAVE] = { "save", "SAVEPOINT one" },
	[PG_RELEASE] = { "release", "RELEASE SAVEPOINT one" },
	[PG_BACK] = { "back", "ROLLBACK TO SAVEPOINT one" },
	[PG_BE_READER] = { "be_reader",
			   "SELECT " JOINS("on",
					   "8") ", pg_catalog.set_config('role', "
						"'procession_reader', true), "
						"pg_catalog.set_config('statement_timeout', $1, true)" },
	[PG_BE_ONESELF] = { "be_oneself",
			    "SELECT " JOINS("off",
					    "1") ", pg_catalog.set_config('role', 'none', true), "
						 "pg_catalog.set_config('statement_timeout', '0', true)" },
	[PG_CLOCK] = { "clock", "SELECT greatest(procession.ticks(), $1::bigint)" },
};

bool postgres_send_fixed_with(struct pg_conn *c, enum pg_fixed which, const struct pg_params *p)
{
	c->lazy = c->lazy || which == PG_LAZY;
	return postgres_send_prepared(c, fixed[which].name, &c->fixed[which], fixed[which].sql, p);
}

bool postgres_send_fixed(struct pg_conn *c, enum pg_fixed which)
{
	static const struct pg_params none = { 0 };

	return postgres_send_fixed_with(c, which, &none);
}

bool postgres_send_flush(struct pg_conn *c)
{
	return PQsendFlushRequest(c->h) == 1;
}

bool postgres_send_sync(struct pg_conn *c)
{
	return PQpipelineSync(c->h) == 1;
}

/* ---- waiting ---- */

static void forget_wake(const struct pg_worker *w)
{
	uint64_t n;

	if (read(w->wake_fd, &n, sizeof(n)) < 0)
		return; /* nobody has written: nothing to forget */
}

struct silence {
	int64_t since_ms, suspected_ms, asked_ms;
	struct pg_doubt doubt;
};

/* The call that is waited for is ended at once. Where another one of its group is cancelled, or
 * what is waited for is no call, it may be over in a moment anyway: the others would have to run
 * again. */
static bool must_end(struct pg_conn *c, const struct silence *s, int64_t now)
{
	if (c->cancelled)
		return false;
	if (c->run != NULL && c->run->call != NULL && engine_run_stop(c->run, 0, now))
		return true;
	return now - s->since_ms >= MOMENT_MS && postgres_is_called_off(c);
}

/* Interrupted, that says nothing of the session: what runs there is asked to end first. */
static bool is_there(struct pg_conn *c, struct silence *s)
{
	const atomic_bool *stop = postgres_stop_of(c);

	return postgres_lives(c->db->engine, NULL, c->h, &s->doubt, stop) ||
	       (atomic_load(stop) && !atomic_load(&c->db->stopping));
}

/* False: nobody is there any more. */
static bool is_patient(struct pg_conn *c, struct silence *s)
{
	int64_t now = clock_mono_ms();

	if (must_end(c, s, now) && !postgres_ask_to_end(c))
		return false;
	(void)postgres_slow_must_go(c->worker, false, now);
	if (c->timeline < atomic_load(&c->db->engine->timeline) ||
	    (c->answer_by_ms != 0 && now >= c->answer_by_ms))
		return false; /* another primary has taken over, or it took too long */
	if (now - s->since_ms >= DOUBT_MS && now - s->suspected_ms >= SUSPECT_EVERY_MS) {
		s->suspected_ms = now;
		postgres_suspect(c->db->engine);
	}
	if (now - s->since_ms < SILENCE_MS || now - s->asked_ms < PROBE_EVERY_MS)
		return true;
	s->asked_ms = now;
	return is_there(c, s);
}

/* Until something comes, or what is left to be sent can leave, or a moment has passed. False:
 * broken. */
static bool wait_a_moment(struct pg_conn *c, bool sends, struct silence *s)
{
	struct pollfd fds[2] = { { PQsocket(c->h), POLLIN, 0 }, { c->worker->wake_fd, POLLIN, 0 } };

	if (sends)
		fds[0].events |= POLLOUT;
	if (poll(fds, 2, STEP_MS) < 0)
		return true;
	if (fds[1].revents != 0)
		forget_wake(c->worker);
	if ((fds[0].revents & (POLLIN | POLLERR | POLLHUP)) != 0 && PQconsumeInput(c->h) != 1)
		return false;
	if (fds[0].revents == 0)
		return is_patient(c, s);
	s->since_ms = clock_mono_ms();
	return true;
}

static struct silence silence_from_now(void)
{
	int64_t now = clock_mono_ms();

	return (struct silence){ .since_ms = now, .doubt = { .alive_ms = now } };
}

/* Until there is a result. False: broken. */
static bool wait_for_result(struct pg_conn *c)
{
	struct silence s = silence_from_now();

	for (;;) {
		int unsent = PQflush(c->h);

		if (unsent < 0)
			return false;
		if (unsent == 0)
			c->unsent = 0;
		if (!PQisBusy(c->h))
			return true;
		if (!wait_a_moment(c, unsent > 0, &s))
			return false;
	}
}

/* Whenever the socket takes no more, libpq moves all that is left to the front of its buffer: of a
 * gigabyte, in pieces of 200 KiB, that are terabytes. So the socket waits by itself for a while.
 * When it comes to reading meanwhile there may be nothing. */
static void let_it_wait(int fd, bool waits)
{
	const struct timeval sending = { 0, waits ? STEP_MS * 1000 : 0 }, reading = { 0, waits ? 1000 : 0 };
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &sending, sizeof(sending)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &reading, sizeof(reading)) < 0)
		waits = false; /* it is slow, then */
	(void)fcntl(fd, F_SETFL, waits ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

/* Until libpq keeps nothing of what is to be sent. False: broken. */
static bool send_off(struct pg_conn *c)
{
	struct silence s = silence_from_now();
	int fd = PQsocket(c->h), unsent;
	bool there = true;

	let_it_wait(fd, true);
	while ((unsent = PQflush(c->h)) > 0 && there)
		there = wait_a_moment(c, true, &s);
	if (PQsocket(c->h) == fd)
		let_it_wait(fd, false);
	c->unsent = 0;
	return unsent == 0;
}

/* ---- results ---- */

static enum pg_state state_of(struct pg_conn *c, const PGresult *r)
{
	switch (PQresultStatus(r)) {
	case PGRES_COMMAND_OK:
	case PGRES_TUPLES_OK:
	case PGRES_SINGLE_TUPLE:
	case PGRES_EMPTY_QUERY:
	case PGRES_PIPELINE_SYNC: return PG_OK;
	case PGRES_PIPELINE_ABORTED: return PG_FAILED;
	default: return PQstatus(c->h) != CONNECTION_OK || postgres_is_gone(r) ? PG_BROKEN : PG_FAILED;
	}
}

/* The next one of the statement that is answered; NULL: there are no more of it. */
static enum pg_state get(struct pg_conn *c, PGresult **ret)
{
	*ret = NULL;
	if (c->h == NULL || c->given_up)
		return PG_BROKEN;
	if (!wait_for_result(c)) {
		c->given_up = true;
		return PG_BROKEN;
	}
	*ret = PQgetResult(c->h);
	c->bulky = c->bulky || PQresultMemorySize(*ret) > BULKY;
	return *ret == NULL ? PG_OK : state_of(c, *ret);
}

/* A statement's own result, and what ends it. */
static enum pg_state whole(struct pg_conn *c, PGresult **ret)
{
	PGresult *end;
	enum pg_state s = get(c, ret);

	if (s == PG_OK && *ret == NULL) /* the end of the one before */
		s = get(c, ret);
	if (s == PG_BROKEN || *ret == NULL)
		return PG_BROKEN;
	if (PQresultStatus(*ret) == PGRES_PIPELINE_SYNC)
		return s;
	while (get(c, &end) == PG_OK && end != NULL)
		PQclear(end);
	PQclear(end);
	return s;
}

enum pg_state postgres_next(struct pg_conn *c, PGresult **ret)
{
	enum pg_state s = PG_OK;

	*ret = NULL;
	while (s == PG_OK && c->expected_at < c->nexpected) {
		bool *prepares = c->expected[c->expected_at++].prepares;

		PQclear(*ret);
		s = whole(c, ret);
		if (prepares == NULL)
			return s;
		if (s == PG_OK)
			*prepares = true;
	}
	return s == PG_OK ? PG_BROKEN : s; /* nothing was sent that could be answered */
}

void postgres_row_by_row(struct pg_conn *c)
{
	(void)PQsetSingleRowMode(c->h);
}

enum pg_state postgres_part(struct pg_conn *c, PGresult **ret)
{
	enum pg_state s = get(c, ret);

	if (s == PG_OK && *ret == NULL)
		c->expected_at++;
	return s;
}

enum pg_state postgres_skip(struct pg_conn *c, struct err *reterr)
{
	PGresult *r;
	enum pg_state s = postgres_next(c, &r);

	if (s == PG_FAILED && reterr != NULL)
		postgres_error(c, r, reterr);
	PQclear(r);
	return s;
}

/* A result that nobody asks for: what it says of prepared statements still counts. NULL is the end
 * of one. */
static void note_prepared(struct pg_conn *c, enum pg_state s, const PGresult *r)
{
	bool *prepares = c->expected_at < c->nexpected ? c->expected[c->expected_at].prepares : NULL;

	if (r == NULL)
		c->expected_at++;
	else if (s == PG_OK && prepares != NULL)
		*prepares = true;
}

enum pg_state postgres_synced(struct pg_conn *c)
{
	PGresult *r;
	enum pg_state s;
	bool done;

	do {
		s = get(c, &r);
		done = s == PG_BROKEN || (r != NULL && PQresultStatus(r) == PGRES_PIPELINE_SYNC);
		if (!done)
			note_prepared(c, s, r);
		PQclear(r);
	} while (!done);
	c->expected_at = c->nexpected = 0;
	return s;
}

bool postgres_rollback(struct pg_conn *c)
{
	bool ok;

	c->run = NULL;
	/* what follows a failed statement is skipped up to the first Sync */
	if (c->h == NULL || !postgres_send_sync(c) || postgres_synced(c) != PG_OK)
		return false;
	c->marked = c->lazy = false;
	ok = postgres_send_text(c, "ROLLBACK") && postgres_send_sync(c) && postgres_synced(c) == PG_OK;
	postgres_asked_is_over(c);
	return ok;
}

enum pg_state postgres_do(struct pg_conn *c, const char *sql, struct err *reterr)
{
	return postgres_send_text(c, sql) && postgres_send_flush(c) ? postgres_skip(c, reterr) : PG_BROKEN;
}

enum pg_state postgres_do_fixed(struct pg_conn *c, enum pg_fixed which, struct err *reterr)
{
	return postgres_send_fixed(c, which) && postgres_send_flush(c) ? postgres_skip(c, reterr) : PG_BROKEN;
}
