/* lock.h — a mutex that knows who has it, so that a comment "under the lock" can be an assertion:
 * assert(lock_is_mine(&x->lock)). Knowing costs a store when it is taken and one when it is given
 * up. */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"

struct lock {
	pthread_mutex_t mutex;
	/* The thread that has it, or 0. One word, since those ask too who do not have the lock: no
	 * thread ever finds its own name here after it has let go. */
	_Atomic(pthread_t) holder;
};

#define LOCK_NEVER INT64_MAX /* a time that does not come */

void lock_init(struct lock *l);
void lock_fini(struct lock *l); /* nobody has it */

static inline bool lock_is_mine(const struct lock *l)
{
	return atomic_load_explicit(&l->holder, memory_order_relaxed) == pthread_self();
}

static inline void lock_take(struct lock *l)
{
	assert(!lock_is_mine(l)); /* it would wait for itself */
	pthread_mutex_lock(&l->mutex);
	atomic_store_explicit(&l->holder, pthread_self(), memory_order_relaxed);
}

static inline void lock_give(struct lock *l)
{
	assert(lock_is_mine(l));
	atomic_store_explicit(&l->holder, 0, memory_order_relaxed);
	pthread_mutex_unlock(&l->mutex);
}

/* A condition for lock_wait_until(), by the clock that does not jump. */
void lock_cond_init(pthread_cond_t *cond);
/* The lock is the caller's, and given up meanwhile. */
void lock_wait(struct lock *l, pthread_cond_t *cond);
/* The same, at most until then (clock_mono_ms()). False: the time has come. */
bool lock_wait_until(struct lock *l, pthread_cond_t *cond, int64_t at_ms);

#endif
