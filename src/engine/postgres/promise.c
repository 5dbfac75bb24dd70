/* promise.c — renewals that are answered before they are durable. Calls that may be lost (FLUSH
 * LATER) are committed without waiting for a disk or a standby (synchronous_commit = off), while a
 * promise that is durable covers them: renewals up to this time may be missing. When PostgreSQL
 * crashes or another host takes over, the next session of any server calls it in before anything
 * else (common.sql), and no item expires before the end of the promise and its own time-out.
 * An end of this server loses nothing: PostgreSQL has the commits. */
#include <stdio.h>

#include "base/clock.h"
#include "catalogue/catalogue.h"
#include "engine/postgres/postgres_int.h"

/* A group takes less, as a rule; if not, it is run again, with a new promise. */
#define MARGIN_TICKS ((int64_t)10 * TICKS_PER_SECOND)

enum phase { PHASE_START, PHASE_PROMISE, PHASE_END };

void postgres_promise_init(struct pg_database *db)
{
	db->promise = catalogue_find(db->base.service, STR("dbo"), STR("procession_promise"));
	atomic_init(&db->promised_until, 0);
}

/* It waits for no disk and no standby: where it is lost, so is what says that it was done. */
int postgres_promise_call_in(struct pg_conn *c)
{
	char sql[200];
	PGresult *r;
	int rc;

	if (c->db->promise == NULL)
		return 0;
	snprintf(sql, sizeof(sql),
		 "BEGIN; SET LOCAL synchronous_commit = off; SELECT procession.call_in('%s'); COMMIT",
		 c->db->schema);
	r = postgres_exec(c->db->engine, c->h, sql, postgres_stop_of(c));
	rc = PQresultStatus(r) == PGRES_COMMAND_OK ? 0 : -1;
	PQclear(r);
	return rc;
}

/* Whether nobody in the group needs to wait for a disk. */
static bool may_be_lost(const struct pg_worker *w)
{
	bool any = false;

	if (w->db->promise == NULL || atomic_load(&w->db->relaxed))
		return false;
	for (size_t i = 0; i < w->ngroup; i++) {
		const struct call *c = w->group[i].call;

		if (w->group[i].dead)
			continue;
		if (c->kind != CALL_PROC || !c->proc->flush_later)
			return false;
		any = true;
	}
	return any;
}

void postgres_promise_choose(struct pg_worker *w)
{
	bool covered = atomic_load(&w->db->clock) + MARGIN_TICKS < atomic_load(&w->db->promised_until);

	w->later = !may_be_lost(w) ? PG_NOT_LATER : covered ? PG_LATER : PG_LATER_PROMISE;
}

static void no_complete(struct call *c)
{
	(void)c;
}

bool postgres_promise_send(struct pg_worker *w)
{
	struct err err;
	bool broken;

	if (w->later != PG_LATER_PROMISE)
		return true;
	assert(w->db->promise != NULL);
	w->promise_value = value_int(TYPE_INT, PHASE_PROMISE);
	w->promise = (struct call){ .kind = CALL_PROC,
				    .proc = w->db->promise,
				    .values = &w->promise_value,
				    .nvalues = 1,
				    .rights = RIGHT_SERVER,
				    .complete = no_complete };
	return postgres_call_send(w->conn, &w->promise, &broken, &err) == 0;
}

enum pg_state postgres_promise_take(struct pg_worker *w)
{
	PGresult *r = NULL;
	enum pg_state s = PG_OK;
	struct err err;

	if (w->later == PG_LATER_PROMISE)
		s = postgres_next(w->conn, &r);
	if (s == PG_OK && r != NULL && postgres_call_take(w->conn, &w->promise, r, &err) < 0)
		s = PG_FAILED;
	PQclear(r);
	return s;
}

bool postgres_promise_holds(const struct pg_worker *w)
{
	int64_t until = atomic_load(&w->db->promised_until);

	if (w->later != PG_LATER)
		return true;
	for (size_t i = 0; i < w->ngroup; i++) {
		if (!w->group[i].dead && w->group[i].call->now > until)
			return false;
	}
	return true;
}

/* Others may have promised more meanwhile. */
void postgres_promise_kept(struct pg_worker *w)
{
	long long mine = w->promise.now + (int64_t)w->promise.status * TICKS_PER_SECOND;
	long long latest = atomic_load(&w->db->promised_until);

	if (w->later != PG_LATER_PROMISE)
		return;
	assert(w->promise.proc == w->db->promise && w->promise.status > 0);
	while (mine > latest && !atomic_compare_exchange_weak(&w->db->promised_until, &latest, mine))
		;
}
