/* cancel.c — asking PostgreSQL to end what a session runs. libpq asks on a connection of its own
 * and waits until PostgreSQL closes it, which one that is frozen never does. So a thread asks, and
 * is waited for: for a second. After that the session is of no use any more, since a request that
 * comes late would end whatever it runs by then; the thread ends when the machine is there again,
 * or its connection is given up. There are no more of these than there were sessions. Nor is a
 * session waited for that was asked, and says nothing. */
#define _GNU_SOURCE /* names of threads */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/postgres/postgres_int.h"

#define ASK_MS 1000
#define END_MS 3000 /* after that, what was asked to end is not waited for any more */

struct asking {
	PGcancel *what; /* owned */
	struct lock lock;
	pthread_cond_t told;
	bool asked;  /* under the lock: it is over */
	bool sent;   /* PostgreSQL has taken it */
	bool orphan; /* under the lock: nobody waits any more, the thread frees it */
};

static void asking_free(struct asking *a)
{
	PQfreeCancel(a->what);
	pthread_cond_destroy(&a->told);
	lock_fini(&a->lock);
	free(a);
}

static void *ask_main(void *arg)
{
	struct asking *a = arg;
	char why[256];
	bool orphan;

	pthread_setname_np(pthread_self(), "cancel");
	a->sent = PQcancel(a->what, why, sizeof(why)) == 1;
	lock_take(&a->lock);
	a->asked = true;
	orphan = a->orphan;
	pthread_cond_signal(&a->told);
	lock_give(&a->lock);
	if (orphan)
		asking_free(a);
	return NULL;
}

static struct asking *asking_new(PGconn *h)
{
	struct asking *a = calloc(1, sizeof(*a));
	PGcancel *what = a == NULL ? NULL : PQgetCancel(h);

	if (what == NULL) {
		free(a);
		return NULL;
	}
	a->what = what;
	lock_init(&a->lock);
	lock_cond_init(&a->told);
	return a;
}

/* False: not in time. */
static bool await(struct asking *a)
{
	int64_t until_ms = clock_mono_ms() + ASK_MS;
	bool asked;

	lock_take(&a->lock);
	while (!a->asked && lock_wait_until(&a->lock, &a->told, until_ms))
		;
	asked = a->asked;
	a->orphan = !asked;
	lock_give(&a->lock);
	return asked;
}

bool postgres_ask_to_end(struct pg_conn *c)
{
	const struct log_ctx ctx = { .database = c->db->base.name };
	struct asking *a = asking_new(c->h);
	pthread_t thread;
	bool sent;

	c->cancelled = true;
	c->answer_by_ms = clock_mono_ms() + END_MS;
	if (a == NULL)
		return false;
	if (thread_start(&thread, ask_main, a) < 0) {
		asking_free(a);
		return false;
	}
	if (!await(a)) {
		pthread_detach(thread);
		LOG(LOG_WARN, &ctx, "postgres_cancel", F_STR("reason", "PostgreSQL does not take it"));
		return false;
	}
	pthread_join(thread, NULL);
	sent = a->sent;
	asking_free(a);
	return sent;
}

void postgres_asked_is_over(struct pg_conn *c)
{
	if (!c->cancelled)
		return;
	c->cancelled = false;
	c->answer_by_ms = 0;
}
