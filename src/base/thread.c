/* thread.c — see thread.h. */
#include "base/thread.h"

#include <signal.h>
#include <sys/resource.h>

#define STEP_BACK 15

int thread_start(pthread_t *ret, void *(*fn)(void *arg), void *arg)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(ret, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0 ? 0 : -1;
}

/* On Linux a priority is the thread's, whatever the name says. */
void thread_step_back(void)
{
	(void)setpriority(PRIO_PROCESS, 0, STEP_BACK);
}
