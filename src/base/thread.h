/* thread.h — a thread that no signal is delivered to: signals are the program's, whose first
 * thread waits for them. A blocked SIGPIPE harms nobody who writes to a vanished client either. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include <pthread.h>

#include "base/base.h"

/* -1: the system has none to give. */
MUST_CHECK int thread_start(pthread_t *ret, void *(*fn)(void *arg), void *arg);
/* The calling thread, from now on, gets little of a processor that others want. Where the system
 * does not allow that it stays as it is. */
void thread_step_back(void);

#endif
