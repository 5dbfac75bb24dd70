/* search.c — which of the hosts is the primary: all of them are asked at once, so that one that is
 * frozen, or cut off, holds nobody up. A host of a later timeline was promoted after one of an
 * earlier: what the earlier says is not true any more, although it may still take itself for the
 * primary. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "engine/postgres/postgres_int.h"

#define SEARCH_MS 2000 /* for so long all hosts have time to answer */
#define OTHERS_MS 300  /* for so long the others have time, when one has answered */
#define AGAIN_MS 250   /* then a standby, or one that refused, is asked once more: it may be promoted */

enum stage { CONNECTING, ASKING, PRIMARY, OUT };

struct candidate {
	PGconn *h; /* owned */
	enum stage stage;
	PostgresPollingStatusType waits_for;
	int64_t out_ms; /* when it fell out */
	int timeline;
	char why[160];
};

static void fall_out(struct candidate *c, const char *why)
{
	if (why != NULL)
		str_copy(c->why, sizeof(c->why), str_of(why));
	else
		postgres_conn_why(c->h, c->why, sizeof(c->why));
	c->stage = OUT;
	c->out_ms = clock_mono_ms();
}

static void take_answer(struct candidate *c)
{
	PGresult *r;

	if (PQconsumeInput(c->h) != 1) {
		fall_out(c, NULL);
		return;
	}
	if (PQisBusy(c->h))
		return;
	r = PQgetResult(c->h);
	if (PQresultStatus(r) != PGRES_TUPLES_OK)
		fall_out(c, NULL);
	else
		c->timeline = (int)strtol(PQgetvalue(r, 0, 0), NULL, 10);
	PQclear(r);
	while ((r = PQgetResult(c->h)) != NULL)
		PQclear(r);
	if (c->stage == ASKING && c->timeline < 0)
		fall_out(c, "the host is a standby");
	else if (c->stage == ASKING)
		c->stage = PRIMARY;
}

static void advance(struct candidate *c)
{
	if (c->stage == ASKING) {
		take_answer(c);
		return;
	}
	c->waits_for = PQconnectPoll(c->h);
	if (c->waits_for == PGRES_POLLING_FAILED) {
		fall_out(c, NULL);
	} else if (c->waits_for == PGRES_POLLING_OK) {
		c->stage = ASKING;
		c->waits_for = PGRES_POLLING_READING;
		if (PQsendQuery(c->h, PG_TIMELINE_SQL) != 1)
			fall_out(c, NULL);
	}
}

static bool is_under_way(const struct candidate *c)
{
	return c->stage == CONNECTING || c->stage == ASKING;
}

/* Everybody who can go on does; waits a little. Gives how many are still under way. */
static int step(struct candidate *all, int n)
{
	struct pollfd fds[PG_HOSTS_MAX];
	int going = 0;

	for (int i = 0; i < n; i++) {
		fds[i] = (struct pollfd){ .fd = is_under_way(&all[i]) ? PQsocket(all[i].h) : -1 };
		fds[i].events = all[i].waits_for == PGRES_POLLING_READING ? POLLIN : POLLOUT;
	}
	if (poll(fds, (nfds_t)n, 50) < 0)
		return n;
	for (int i = 0; i < n; i++) {
		if (is_under_way(&all[i]) && fds[i].revents != 0)
			advance(&all[i]);
		going += is_under_way(&all[i]);
	}
	return going;
}

/* The primary of the latest timeline so far, none before the one that is known; -1: nobody. */
static int best_of(const struct candidate *all, int n, int known)
{
	int best = -1;

	for (int i = 0; i < n; i++) {
		if (all[i].stage == PRIMARY && all[i].timeline >= known &&
		    (best < 0 || all[i].timeline > all[best].timeline))
			best = i;
	}
	return best;
}

static void begin(const struct pg_engine *e, struct candidate *c, int which)
{
	PQfinish(c->h);
	c->h = postgres_host_begin(e, which, "procession watch");
	c->waits_for = PGRES_POLLING_WRITING;
	c->stage = CONNECTING;
	if (PQstatus(c->h) == CONNECTION_BAD)
		fall_out(c, NULL);
}

/* While one host does not answer at all, the others are asked again. */
static void ask_again(const struct pg_engine *e, struct candidate *all)
{
	for (int i = 0; i < e->nhosts; i++) {
		if (all[i].stage == OUT && clock_mono_ms() - all[i].out_ms > AGAIN_MS)
			begin(e, &all[i], i);
	}
}

/* Until there is nothing to wait for any more. */
static int ask_all(struct pg_engine *e, struct candidate *all, int known)
{
	int64_t until_ms = clock_mono_ms() + SEARCH_MS;
	int going = e->nhosts, best = -1;

	while (going > 0 && clock_mono_ms() < until_ms && !atomic_load(&e->primary.stopping)) {
		int found;

		going = step(all, e->nhosts);
		found = best_of(all, e->nhosts, known);
		if (found >= 0 && best < 0 && until_ms > clock_mono_ms() + OTHERS_MS)
			until_ms = clock_mono_ms() + OTHERS_MS;
		best = found;
		if (best >= 0 && known > 0 && all[best].timeline > known)
			break; /* it is known, too, that the one before is not it */
		if (best < 0 && going > 0)
			ask_again(e, all);
	}
	return best;
}

/* One line of all reasons. */
static void explain(const struct pg_engine *e, const struct candidate *all, int known, char *dst, size_t size)
{
	size_t n = 0;

	dst[0] = '\0';
	for (int i = 0; i < e->nhosts && n + 1 < size; i++) {
		const char *why = all[i].stage == OUT       ? all[i].why
				  : is_under_way(&all[i])   ? "a host does not answer"
				  : all[i].timeline < known ? "the host was the primary before another one"
							    : "";
		int added = snprintf(dst + n, size - n, "%s%s", n == 0 ? "" : "; ", why);

		n += added < 0 ? 0 : (size_t)added;
	}
}

PGconn *postgres_search(struct pg_engine *e, int *ret_host, int *ret_timeline, char *why, size_t size)
{
	struct candidate all[PG_HOSTS_MAX];
	int known = atomic_load(&e->timeline), best;
	PGconn *found = NULL;

	memset(all, 0, sizeof(all));
	for (int i = 0; i < e->nhosts; i++)
		begin(e, &all[i], i);
	best = ask_all(e, all, known);
	if (best >= 0) {
		found = all[best].h;
		all[best].h = NULL;
		*ret_host = best;
		*ret_timeline = all[best].timeline;
	} else {
		explain(e, all, known, why, size);
	}
	for (int i = 0; i < e->nhosts; i++)
		PQfinish(all[i].h);
	return found;
}
