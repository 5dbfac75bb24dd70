/* slow.c — readers that take long. A SELECT that runs for long, or whose client does not read what
 * it is sent, gives up its place: another reader takes the next call beside it, so that neither a
 * join nor a client that sleeps keeps others from reading. There are only so many; where all of
 * them are taken and somebody waits, the call whose client has not read for the longest time is
 * ended. */
#include "base/clock.h"
#include "base/log.h"
#include "engine/postgres/postgres_int.h"

#define SLOW_MS 250
#define STALL_MS 1000 /* a client that has not read for less is only busy */

unsigned postgres_slow_readers_most(const struct pg_database *db)
{
	unsigned more = db->slow_readers < PG_READERS_EXTRA ? db->slow_readers : PG_READERS_EXTRA;

	return db->engine->readers + more;
}

/* Under the lock. */
static bool stalled_first(const struct pg_worker *w)
{
	const struct pg_database *db = w->db;

	for (unsigned i = 0; i < db->nworkers; i++) {
		const struct pg_worker *o = db->workers[i];

		if (o->stalled_ms != 0 && o->stalled_ms < w->stalled_ms && !o->goes)
			return false;
	}
	return true;
}

/* Under the lock. */
static bool is_in_the_way(const struct pg_worker *w, int64_t now_ms)
{
	const struct pg_database *db = w->db;

	return !list_empty(&db->queue[PG_READER]) && db->idle[PG_READER] == 0 &&
	       db->nworkers_of[PG_READER] >= db->engine->readers + PG_READERS_EXTRA &&
	       now_ms - w->stalled_ms >= STALL_MS && stalled_first(w);
}

static void tell_end(const struct pg_worker *w, int64_t now_ms)
{
	const struct call *c = w->run.call;
	const struct log_ctx ctx = { .session = c->session, .login = c->login, .database = w->db->base.name };

	LOG(LOG_WARN, &ctx, "reader_ended", F_STR("reason", "its client does not read and others wait"),
	    F_INT("milliseconds", now_ms - w->began_ms));
}

bool postgres_slow_must_go(struct pg_worker *w, bool stalled, int64_t now_ms)
{
	struct pg_database *db = w->db;
	bool goes = false;

	if (w->began_ms == 0 || now_ms - w->began_ms < SLOW_MS)
		return false;
	if (w->goes)
		return true;
	if (w->slow && !stalled && w->stalled_ms == 0)
		return false;
	lock_take(&db->lock);
	if (!w->slow) {
		w->slow = true;
		db->slow_readers++;
		postgres_rouse(db, PG_READER);
	}
	w->stalled_ms = !stalled ? 0 : w->stalled_ms != 0 ? w->stalled_ms : now_ms;
	w->goes = goes = stalled && is_in_the_way(w, now_ms);
	lock_give(&db->lock);
	if (goes) {
		w->run.ended = ERR_STALLED_READER;
		tell_end(w, now_ms);
	}
	return goes;
}

static bool reader_waits(struct call *c)
{
	return postgres_slow_must_go(postgres_notes(c)->worker, true, clock_mono_ms());
}

void postgres_slow_begin(struct pg_worker *w, struct call *c)
{
	w->began_ms = clock_mono_ms();
	assert(postgres_notes(c)->worker == w);
	c->waits = reader_waits;
}

void postgres_slow_end(struct pg_worker *w)
{
	assert(lock_is_mine(&w->db->lock) && (!w->slow || w->db->slow_readers > 0));
	w->db->slow_readers -= w->slow;
	w->slow = w->goes = false;
	w->began_ms = w->stalled_ms = 0;
}
