/* lock.c — see lock.h. */
#include "base/lock.h"

#include <errno.h>
#include <time.h>

void lock_init(struct lock *l)
{
	pthread_mutex_init(&l->mutex, NULL);
	atomic_init(&l->holder, 0);
}

void lock_fini(struct lock *l)
{
	assert(atomic_load(&l->holder) == 0);
	pthread_mutex_destroy(&l->mutex);
}

void lock_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* the clock of clock_mono_ms() */
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

/* While it waits, others have the lock and write their names. */
static void given_up(struct lock *l)
{
	assert(lock_is_mine(l));
	atomic_store_explicit(&l->holder, 0, memory_order_relaxed);
}

static void taken(struct lock *l)
{
	assert(atomic_load_explicit(&l->holder, memory_order_relaxed) == 0);
	atomic_store_explicit(&l->holder, pthread_self(), memory_order_relaxed);
}

void lock_wait(struct lock *l, pthread_cond_t *cond)
{
	given_up(l);
	pthread_cond_wait(cond, &l->mutex);
	taken(l);
}

bool lock_wait_until(struct lock *l, pthread_cond_t *cond, int64_t at_ms)
{
	struct timespec at = { .tv_sec = (time_t)(at_ms / 1000), .tv_nsec = (long)(at_ms % 1000) * 1000000 };
	bool in_time;

	if (at_ms == LOCK_NEVER) {
		lock_wait(l, cond);
		return true;
	}
	given_up(l);
	in_time = pthread_cond_timedwait(cond, &l->mutex, &at) != ETIMEDOUT;
	taken(l);
	return in_time;
}
