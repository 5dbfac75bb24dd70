/* primary.c — the thread that knows the primary: it finds it, and it proves that it still is one.
 *
 * A primary that another one has taken over from does not know it: it goes on answering what it is
 * asked, from rows that are not true any more. Its commits cannot succeed, because its synchronous
 * standby is the new primary, or follows it. So a small commit is the proof: whoever confirmed it
 * was still a standby after the commit had been sent.
 *
 *  - An answer that was only read is given while the last proof is younger than LEASE_MS. Every
 *    commit of this server is one; without any the thread makes one, when somebody reads.
 *  - Whoever sees a new primary uses it only GRACE_MS later. So as long as any server may still
 *    believe in the old one, nobody has been told anything by the new one, and what the old one
 *    says is still true.
 *
 * LEASE_MS counts from before the proof was sent, on a clock that goes on while the machine sleeps;
 * GRACE_MS is longer by a quarter, for clocks that do not run at the same speed.
 *
 * After a crash a primary shows commits that its standby never got. A connection made after it
 * therefore needs a proof that is younger than itself. */
#define _GNU_SOURCE /* names of threads */
#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/postgres/postgres_int.h"

#define LEASE_MS 800
#define GRACE_MS 1000
#define RENEW_MS 250 /* a proof older than that is renewed, if somebody reads */
#define DOUBT_MS 600 /* a proof that takes longer than that: is there another primary? */
#define SEARCH_AGAIN_MS 250

_Static_assert(RENEW_MS < LEASE_MS, "a proof would end before the next is asked for");
_Static_assert(4 * GRACE_MS >= 5 * LEASE_MS, "a fifth of a lease is for clocks of different speed");

/* ---- what is known; under the lock ---- */

void postgres_adopt(struct pg_engine *e, int host, int timeline)
{
	struct pg_primary *w = &e->primary;
	int known;

	lock_take(&w->lock);
	known = atomic_load(&e->timeline);
	if ((host >= 0 && host != w->host) || timeline > known)
		atomic_fetch_add(&w->changes, 1);
	if (host >= 0 && timeline >= known)
		w->host = host;
	if (timeline > known) {
		atomic_store(&e->timeline, timeline);
		atomic_store(&w->proved_ms, 0);
		/* the first timeline of all has no other before it */
		if (timeline > 1)
			atomic_store(&w->usable_ms, clock_boot_ms() + GRACE_MS);
	}
	pthread_cond_broadcast(&w->told);
	lock_give(&w->lock);
}

void postgres_proved(struct pg_engine *e, int timeline, int64_t sent_ms)
{
	struct pg_primary *w = &e->primary;

	if (sent_ms < atomic_load(&w->proved_ms) + RENEW_MS / 4)
		return; /* commits come by the thousand */
	lock_take(&w->lock);
	if (timeline == atomic_load(&e->timeline) && sent_ms > atomic_load(&w->proved_ms)) {
		atomic_store(&w->proved_ms, sent_ms);
		pthread_cond_broadcast(&w->told);
	}
	lock_give(&w->lock);
}

/* ---- searching; on the thread ---- */

static void on_notice(void *arg, const PGresult *r)
{
	if (postgres_is_unconfirmed(r))
		((struct pg_primary *)arg)->unconfirmed = true; /* this commit proves nothing */
}

static void lose(struct pg_primary *w)
{
	PQfinish(w->h);
	w->h = NULL;
}

/* Whether nobody will answer on the session of the proof: its answer, or our question, was
 * swallowed on the way. Without a question under way nobody waits. */
static bool is_cut(struct pg_engine *e, PGconn *other)
{
	struct pg_primary *w = &e->primary;

	return w->asking && !postgres_lives(e, other, w->h, &w->doubt, &w->stopping);
}

static void search(struct pg_engine *e)
{
	struct pg_primary *w = &e->primary;
	int host = -1, timeline = 0, before = atomic_load(&e->timeline);
	char why[400] = "";
	PGconn *found;

	lock_take(&w->lock);
	w->searches_begun++;
	w->search_wanted = false;
	lock_give(&w->lock);
	found = postgres_search(e, &host, &timeline, why, sizeof(why));
	if (found != NULL)
		postgres_adopt(e, host, timeline);
	if (found != NULL && timeline > before)
		LOG(LOG_INFO, NULL, "postgres_primary", F_STR("host", PQhost(found)),
		    F_STR("port", PQport(found)), F_INT("timeline", timeline));
	if (found != NULL && (w->h == NULL || timeline > before || is_cut(e, found))) {
		lose(w);
		w->h = found;
		found = NULL;
		PQsetNoticeReceiver(w->h, on_notice, w);
	}
	PQfinish(found);
	lock_take(&w->lock);
	w->searches_done = w->searches_begun;
	str_copy(w->why, sizeof(w->why), str_of(why));
	pthread_cond_broadcast(&w->told);
	lock_give(&w->lock);
	w->searched_ms = clock_mono_ms();
}

static bool search_is_wanted(struct pg_primary *w)
{
	bool wanted;

	lock_take(&w->lock);
	wanted = w->search_wanted;
	lock_give(&w->lock);
	return wanted;
}

/* ---- proving; on the thread ---- */

/* Takes what has come. 1: that was all, 0: not yet, -1: refused, or the connection is gone. */
static int take_proof(PGconn *h)
{
	struct pollfd fd = { PQsocket(h), POLLIN, 0 };

	if (poll(&fd, 1, 50) > 0 && PQconsumeInput(h) != 1)
		return -1;
	while (!PQisBusy(h)) {
		PGresult *r = PQgetResult(h);
		ExecStatusType s = PQresultStatus(r);

		PQclear(r);
		if (r == NULL)
			return 1;
		if (s != PGRES_COMMAND_OK && s != PGRES_TUPLES_OK)
			return -1;
	}
	return 0;
}

/* Sends a commit and waits for it, looking for another primary when it takes long. */
static void prove(struct pg_engine *e)
{
	struct pg_primary *w = &e->primary;
	int64_t sent_ms = clock_boot_ms(), began_ms = clock_mono_ms();
	int timeline = atomic_load(&e->timeline), taken;
	PGconn *h = w->h;

	w->unconfirmed = false;
	w->doubt = (struct pg_doubt){ .alive_ms = began_ms };
	w->asking = true;
	taken = PQsendQuery(h, "SET synchronous_commit = on; "
			       "SELECT pg_logical_emit_message(true, 'procession', '')") == 1
			? 0
			: -1;
	while (taken == 0 && !atomic_load(&w->stopping)) {
		int64_t now = clock_mono_ms();

		taken = take_proof(h);
		if (taken == 0 && ((now - began_ms > DOUBT_MS && now - w->searched_ms > SEARCH_AGAIN_MS) ||
				   search_is_wanted(w)))
			search(e);
		if (w->h != h)
			break; /* another one has taken over, or this session was cut */
	}
	w->asking = false;
	if (w->h != h)
		return;
	if (taken < 0)
		lose(w);
	else if (taken > 0 && !w->unconfirmed)
		postgres_proved(e, timeline, sent_ms);
}

/* ---- the thread ---- */

static void *primary_main(void *arg)
{
	struct pg_engine *e = arg;
	struct pg_primary *w = &e->primary;
	bool wants_search, wants_proof;

	pthread_setname_np(pthread_self(), "watch");
	for (;;) {
		lock_take(&w->lock);
		while (!atomic_load(&w->stopping) && !w->search_wanted && !atomic_load(&w->proof_wanted))
			lock_wait(&w->lock, &w->wake);
		wants_search = w->search_wanted;
		wants_proof = atomic_load(&w->proof_wanted);
		lock_give(&w->lock);
		if (atomic_load(&w->stopping))
			break;
		if (wants_search || w->h == NULL)
			search(e);
		if (wants_proof && w->h != NULL)
			prove(e);
		/* whoever needs a later one asks again */
		atomic_store(&w->proof_wanted, false);
	}
	lose(w);
	return NULL;
}

int postgres_primary_start(struct pg_engine *e, struct err *reterr)
{
	if (e->primary.has_thread)
		return 0;
	if (thread_start(&e->primary.thread, primary_main, e) < 0)
		return err_nomem(reterr);
	e->primary.has_thread = true;
	return 0;
}

void postgres_primary_stop(struct pg_engine *e)
{
	struct pg_primary *w = &e->primary;

	if (!w->has_thread)
		return;
	lock_take(&w->lock);
	atomic_store(&w->stopping, true);
	pthread_cond_signal(&w->wake);
	lock_give(&w->lock);
	pthread_join(w->thread, NULL);
	w->has_thread = false;
}

/* ---- for those who connect ---- */

void postgres_suspect(struct pg_engine *e)
{
	struct pg_primary *w = &e->primary;

	lock_take(&w->lock);
	w->search_wanted = true;
	pthread_cond_signal(&w->wake);
	lock_give(&w->lock);
}

/* Asks for a search and waits until one that began after that is over, or another primary is
 * known. */
static void await_search(struct pg_engine *e, const atomic_bool *stop, unsigned changes)
{
	struct pg_primary *w = &e->primary;
	unsigned begun;

	lock_take(&w->lock);
	begun = w->searches_begun;
	w->search_wanted = true;
	pthread_cond_signal(&w->wake);
	while (w->searches_done == begun || (int)(w->searches_done - begun) < 0) {
		if (atomic_load(stop) || atomic_load(&w->changes) != changes)
			break;
		(void)lock_wait_until(&w->lock, &w->told, clock_mono_ms() + 100);
	}
	lock_give(&w->lock);
}

static int known_host(struct pg_primary *w, char *why, size_t size)
{
	int host;

	lock_take(&w->lock);
	host = w->host;
	if (host < 0)
		str_copy(why, size, str_of(w->why));
	lock_give(&w->lock);
	return host;
}

PGconn *postgres_connect(struct pg_engine *e, const char *application, const atomic_bool *stop, char *why,
			 size_t size)
{
	struct pg_primary *w = &e->primary;
	unsigned changes = atomic_load(&w->changes);
	int host = known_host(w, why, size);
	PGconn *h;

	if (host < 0) {
		await_search(e, stop, changes);
		changes = atomic_load(&w->changes);
		host = known_host(w, why, size);
	}
	if (host < 0)
		return NULL;
	h = postgres_host_connect(e, host, application, stop, changes);
	if (PQstatus(h) == CONNECTION_OK)
		return h;
	if (h == NULL)
		str_copy(why, size, str_of("the host does not answer"));
	else
		postgres_conn_why(h, why, size);
	PQfinish(h);
	await_search(e, stop, changes);
	return NULL;
}

bool postgres_await_grace(struct pg_engine *e, const atomic_bool *stop)
{
	const struct timespec step = { 0, 20000000 };

	while (clock_boot_ms() < atomic_load(&e->primary.usable_ms)) {
		if (atomic_load(stop))
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

/* ---- for those who read ---- */

static void want_proof(struct pg_primary *w)
{
	if (atomic_exchange(&w->proof_wanted, true))
		return;
	lock_take(&w->lock);
	pthread_cond_signal(&w->wake);
	lock_give(&w->lock);
}

static int give_up(struct pg_conn *c, int64_t until_ms, struct err *reterr)
{
	if (atomic_load(&c->db->stopping))
		return err_set(reterr, ERR_SHUTDOWN);
	if (postgres_is_called_off(c))
		return err_set(reterr, ERR_CANCELLED);
	if (clock_mono_ms() >= until_ms)
		return err_set(reterr, ERR_UNREACHABLE, c->db->base.name, c->db->engine->failover_ms / 1000,
			       "its primary does not prove that it still is the primary: its synchronous "
			       "standby confirms nothing");
	return 0;
}

enum pg_state postgres_lease(struct pg_conn *c, int64_t until_ms, struct err *reterr)
{
	struct pg_engine *e = c->db->engine;
	struct pg_primary *w = &e->primary;

	for (;;) {
		/* in this order: a proof of a later timeline comes after that is known */
		int64_t proved = atomic_load(&w->proved_ms), now = clock_boot_ms();

		if (c->timeline != atomic_load(&e->timeline))
			return PG_BROKEN;
		if (now >= proved + RENEW_MS || proved < c->since_ms)
			want_proof(w);
		if (now < proved + LEASE_MS && proved >= c->since_ms)
			return PG_OK;
		if (give_up(c, until_ms, reterr) < 0)
			return PG_FAILED;
		lock_take(&w->lock);
		if (atomic_load(&w->proved_ms) == proved)
			(void)lock_wait_until(&w->lock, &w->told, clock_mono_ms() + 50);
		lock_give(&w->lock);
	}
}
