/* mark.c — whether a commit happened. Each connection has a row of its own, which every
 * transaction that writes brings up to its number before it commits. When the connection is lost
 * after the commit was sent, the row tells on the next one: the number is there, or it is not.
 * Looking at it writes it, so that the look waits for a transaction that is still under way, and
 * is itself as durable as a commit. (pg_xact_status() would not do: after a fail-over another
 * transaction may have the same number.) */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "engine/postgres/postgres_int.h"

#define LOOK_MS 2000 /* so long a look may take, however late it is */

/* ---- whose row ---- */

void postgres_mark_take(struct pg_conn *c)
{
	struct pg_database *db = c->db;

	lock_take(&db->marks_lock);
	if (db->nmarks > 0)
		c->mark = db->marks[--db->nmarks];
	else
		c->mark = (struct pg_mark){ .number = atomic_fetch_add(&db->engine->next_mark, 1) };
	lock_give(&db->marks_lock);
	snprintf(c->slot, sizeof(c->slot), "%s/%u", db->engine->server, c->mark.number);
}

/* Where nobody could tell whether the last commit happened, its session may still have the row:
 * whoever writes it next would wait. So that one is given up, and so is one for which there is no
 * memory. */
void postgres_mark_give_back(struct pg_conn *c)
{
	struct pg_database *db = c->db;

	assert(c->h == NULL);
	if (c->in_doubt || c->slot[0] == '\0')
		return;
	lock_take(&db->marks_lock);
	if (db->nmarks == db->marks_cap) {
		size_t cap = db->marks_cap + 16;
		struct pg_mark *more = realloc(db->marks, cap * sizeof(*more));

		if (more != NULL) {
			db->marks = more;
			db->marks_cap = cap;
		}
	}
	if (db->nmarks < db->marks_cap)
		db->marks[db->nmarks++] = c->mark;
	lock_give(&db->marks_lock);
}

/* ---- what it tells ---- */

static int bind_mark(struct pg_conn *c, struct pg_params *p, bool with_values, struct err *reterr)
{
	arena_reset(&c->arena);
	if (postgres_params_init(p, &c->arena, 3, reterr) < 0 || postgres_param_text(p, c->slot, reterr) < 0)
		return -1;
	if (!with_values)
		return 0;
	return postgres_param_int(p, &c->arena, c->mark.seq, reterr) < 0
		       ? -1
		       : postgres_param_int(p, &c->arena, atomic_load(&c->db->clock), reterr);
}

/* A commit that no standby confirms is waited for like a primary that is gone. */
static void limit_waiting(struct pg_conn *c)
{
	c->answer_by_ms = clock_mono_ms() + c->db->engine->failover_ms;
}

static enum pg_state make(struct pg_conn *c, const struct pg_params *p, struct err *reterr)
{
	enum pg_state s;

	limit_waiting(c);
	if (!postgres_send_params(c,
				  "INSERT INTO mark (slot, seq, at) VALUES ($1, 0, ticks()) ON CONFLICT "
				  "(slot) DO NOTHING",
				  p) ||
	    !postgres_send_sync(c))
		return PG_BROKEN;
	s = postgres_skip(c, reterr);
	return postgres_synced(c) == PG_OK ? s : PG_BROKEN;
}

enum pg_state postgres_mark_make(struct pg_conn *c, struct err *reterr)
{
	struct pg_params p;
	enum pg_state s;

	if (c->mark.made)
		return PG_OK;
	if (bind_mark(c, &p, false, reterr) < 0)
		return PG_FAILED;
	s = make(c, &p, reterr);
	if (c->cancelled) /* the row is made again, by another session */
		return PG_BROKEN;
	if (s == PG_BROKEN && c->answer_by_ms != 0 && clock_mono_ms() >= c->answer_by_ms) {
		postgres_conn_drop(c);
		(void)err_set(reterr, ERR_UNREACHABLE, c->db->base.name, c->db->engine->failover_ms / 1000,
			      "its primary answers, but its synchronous standby confirms nothing");
		return PG_FAILED;
	}
	c->mark.made = s == PG_OK;
	c->answer_by_ms = 0;
	return s;
}

bool postgres_mark_send(struct pg_conn *c)
{
	struct pg_params p;
	struct err err;

	c->mark.seq++;
	c->marked = true;
	return bind_mark(c, &p, true, &err) == 0 && postgres_send_fixed_with(c, PG_MARK, &p);
}

/* No row: this server was silent for so long that another one has folded what it had left. It is
 * made anew before the transaction is run again. */
enum pg_state postgres_mark_answer(struct pg_conn *c)
{
	PGresult *r = NULL;
	enum pg_state s = postgres_next(c, &r);

	if (s == PG_OK && strcmp(PQcmdTuples(r), "1") != 0) {
		c->mark.made = false;
		s = PG_FAILED;
	}
	PQclear(r);
	return s;
}

/* Nobody may end it from here on: what was sent cannot be taken back. */
static enum pg_state commit(struct pg_conn *c, struct err *reterr)
{
	int64_t began_us = clock_mono_us();
	int64_t sent_ms = clock_boot_ms();
	bool proves = c->marked && !c->lazy;
	enum pg_state s;

	/* all answers were read, and no limit of a call ends what is sent from here on */
	assert(c->expected_at == c->nexpected);
	c->run = NULL;
	c->commits = c->marked;
	c->marked = c->lazy = false;
	limit_waiting(c);
	if (!postgres_send_fixed(c, PG_COMMIT) || !postgres_send_sync(c))
		return PG_BROKEN;
	s = postgres_skip(c, reterr);
	if (s == PG_BROKEN || postgres_synced(c) != PG_OK)
		return PG_BROKEN;
	c->answer_by_ms = 0;
	if (s == PG_OK && c->may_be_lost) {
		postgres_conn_drop(c);
		return PG_BROKEN;
	}
	metrics_flush(c->db->base.metrics, clock_mono_us() - began_us);
	if (s == PG_OK && proves)
		postgres_proved(c->db->engine, c->timeline, sent_ms);
	return s;
}

enum pg_state postgres_commit(struct pg_conn *c, int64_t until_ms, struct err *reterr)
{
	bool lazy = c->lazy;
	enum pg_state s = commit(c, reterr);

	if (s == PG_OK && lazy && postgres_lease(c, until_ms, reterr) != PG_OK)
		s = PG_BROKEN;
	if (s != PG_BROKEN)
		c->commits = false;
	return s;
}

/* -1: the connection broke once more, PostgreSQL will not say, or the row has been folded. */
static int look(struct pg_conn *c, int64_t until_ms, struct err *reterr)
{
	struct pg_params p;
	PGresult *r = NULL;
	enum pg_state s;
	int64_t least_ms = clock_mono_ms() + LOOK_MS;
	int found = -1;

	c->answer_by_ms = until_ms > least_ms ? until_ms : least_ms;
	if (bind_mark(c, &p, false, reterr) < 0 ||
	    !postgres_send_params(c, "UPDATE mark SET seq = seq WHERE slot = $1 RETURNING seq", &p) ||
	    !postgres_send_sync(c))
		return -1;
	s = postgres_next(c, &r);
	if (s == PG_OK && PQntuples(r) == 1)
		found = postgres_column_int(r, 0, 0) == c->mark.seq;
	PQclear(r);
	if (postgres_synced(c) != PG_OK || c->may_be_lost) {
		postgres_conn_drop(c);
		return -1;
	}
	c->answer_by_ms = 0;
	return found;
}

int postgres_mark_look(struct pg_conn *c, int64_t until_ms, struct err *reterr)
{
	int found = -1;

	assert(c->mark.seq > 0); /* a mark stood before the commit */
	postgres_conn_drop(c);
	/* a session that has the row still, because it waits for a standby, is waited for */
	while (found < 0 && postgres_conn_ready(c, until_ms, reterr) == 0) {
		found = look(c, until_ms, reterr);
		if (clock_mono_ms() >= until_ms)
			break;
	}
	c->commits = false;
	c->in_doubt = found < 0;
	if (found < 0)
		(void)err_set(reterr, ERR_IN_DOUBT, c->db->base.name, c->db->engine->failover_ms / 1000);
	return found;
}
