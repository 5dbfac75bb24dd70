/* keeper.c — one thread of the engine that looks after what nobody waits for: transactions that are
 * silent for too long, calls that have waited too long. It never waits for PostgreSQL. */
#define _GNU_SOURCE /* names of threads */
#include <time.h>

#include "base/clock.h"
#include "base/thread.h"
#include "engine/postgres/postgres_int.h"

#define STEP_MS 200

static void sweep_all(struct pg_engine *e, int64_t now_ms)
{
	lock_take(&e->lock);
	LIST_EACH (it, &e->databases)
		postgres_pool_sweep(CONTAINER_OF(it, struct pg_database, link), now_ms);
	lock_give(&e->lock);
}

bool postgres_pause(struct pg_engine *e, int ms)
{
	int64_t at = clock_mono_ms() + ms;
	bool stop;

	lock_take(&e->lock);
	if (!atomic_load(&e->stopping))
		(void)lock_wait_until(&e->lock, &e->wake, at);
	stop = atomic_load(&e->stopping);
	lock_give(&e->lock);
	return !stop;
}

static void *keeper_main(void *arg)
{
	struct pg_engine *e = arg;

	pthread_setname_np(pthread_self(), "keeper");
	while (postgres_pause(e, STEP_MS))
		sweep_all(e, clock_mono_ms());
	return NULL;
}

int postgres_keeper_start(struct pg_engine *e, struct err *reterr)
{
	if (e->has_keeper)
		return 0;
	if (thread_start(&e->keeper, keeper_main, e) < 0)
		return err_nomem(reterr);
	e->has_keeper = true;
	if (postgres_share_start(e, reterr) < 0)
		return -1;
	e->has_share = true;
	if (postgres_counter_start(e, reterr) < 0)
		return -1;
	e->has_counter = true;
	return 0;
}

void postgres_keeper_stop(struct pg_engine *e)
{
	if (!e->has_keeper)
		return;
	lock_take(&e->lock);
	atomic_store(&e->stopping, true);
	pthread_cond_broadcast(&e->wake);
	lock_give(&e->lock);
	if (e->has_counter)
		pthread_join(e->counter, NULL);
	if (e->has_share)
		pthread_join(e->share, NULL);
	pthread_join(e->keeper, NULL);
	e->has_keeper = false;
}
