/* cleaner.c — see cleaner.h. Each step is a call like any other, so that it waits its turn and
 * holds nobody up; a round goes on while steps find work. */
#include "daemon/cleaner.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "engine/ask.h"
#include "metrics/metrics.h"

#define STEP_PAUSE_MS 2

struct cleaner {
	struct cleaner_options o;
	int64_t state_due_ms; /* INT64_MAX: never */
	pthread_t thread;
	struct lock lock;
	pthread_cond_t wake;
	bool kicked, stop; /* under the lock */
};

/* Under the lock. False: the time has come. */
static bool wait_until(struct cleaner *c, int64_t at_ms)
{
	assert(lock_is_mine(&c->lock));
	return lock_wait_until(&c->lock, &c->wake, at_ms);
}

/* Between two steps: lets clients' calls through. True: it is time to stop. */
static bool pause_between(struct cleaner *c)
{
	int64_t end = clock_mono_ms() + STEP_PAUSE_MS;
	bool stop;

	lock_take(&c->lock);
	while (!c->stop && clock_mono_ms() < end)
		(void)wait_until(c, end);
	stop = c->stop;
	lock_give(&c->lock);
	return stop;
}

static bool is_our_turn(const struct cleaner *c)
{
	return c->o.may == NULL || c->o.may(c->o.engine);
}

static void clean(struct cleaner *c, struct database *db)
{
	struct engine_answer a = { .status = 1 };
	struct err e;

	assert(!lock_is_mine(&c->lock)); /* it waits for the engine */
	while (a.status == 1 && is_our_turn(c)) {
		if (engine_ask(db->engine, "procession_clean", NULL, 0, NULL, &a, &e) < 0) {
			LOG(LOG_WARN, NULL, "clean_failed", F_STR("database", db->name),
			    F_STR("reason", e.text));
			return;
		}
		engine_answer_fini(&a);
		metrics_cleaned(engine_metrics(db->engine), a.rows_changed, a.status == 1);
		if (a.status == 1 && pause_between(c))
			return;
	}
}

struct round {
	struct cleaner *cleaner;
	bool jobs, state; /* what is due */
};

static void clean_if_due(struct database *db, void *arg)
{
	struct round *r = arg;
	bool jobs = db->service == SERVICE_WORD || db->service == SERVICE_TRANSLATION;

	if (db->engine == NULL)
		return;
	if ((jobs && r->jobs) || (db->service == SERVICE_STATE && r->state))
		clean(r->cleaner, db);
}

/* Sleeps until something is due: no wake-ups on an idle server but the one for state items. */
static bool next_round(struct cleaner *c, struct round *ret)
{
	bool stop;

	lock_take(&c->lock);
	while (!c->stop && !c->kicked && clock_mono_ms() < c->state_due_ms)
		(void)wait_until(c, c->state_due_ms);
	*ret = (struct round){ .cleaner = c, .jobs = c->kicked, .state = clock_mono_ms() >= c->state_due_ms };
	if (c->o.may != NULL) /* a server that is gone may have told nobody */
		ret->jobs = ret->jobs || ret->state;
	c->kicked = false;
	stop = c->stop;
	lock_give(&c->lock);
	return !stop;
}

static void *cleaner_main(void *arg)
{
	struct cleaner *c = arg;
	struct round r;

	while (next_round(c, &r)) {
		databases_settle(c->o.databases);
		databases_each(c->o.databases, clean_if_due, &r);
		if (r.state)
			c->state_due_ms = clock_mono_ms() + (int64_t)c->o.state_interval_s * 1000;
	}
	return NULL;
}

void daemon_cleaner_kick(struct cleaner *c)
{
	lock_take(&c->lock);
	c->kicked = true;
	pthread_cond_signal(&c->wake);
	lock_give(&c->lock);
}

int daemon_cleaner_start(const struct cleaner_options *o, struct cleaner **ret, struct err *reterr)
{
	struct cleaner *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return err_nomem(reterr);
	c->o = *o;
	c->state_due_ms = o->state_interval_s == 0 ? INT64_MAX
						   : clock_mono_ms() + (int64_t)o->state_interval_s * 1000;
	c->kicked = true; /* what a crash left */
	lock_init(&c->lock);
	lock_cond_init(&c->wake);
	if (thread_start(&c->thread, cleaner_main, c) < 0) {
		free(c);
		return err_nomem(reterr);
	}
	*ret = c;
	return 0;
}

void daemon_cleaner_stop(struct cleaner *c)
{
	if (c == NULL)
		return;
	lock_take(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->wake);
	lock_give(&c->lock);
	pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->wake);
	lock_fini(&c->lock);
	free(c);
}
