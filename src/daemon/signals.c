/* signals.c — see signals.h. */
#include "daemon/signals.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/thread.h"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool reload;                             /* SIGHUP came */
	int stop;                                /* SIGTERM or SIGINT, if one came */
	bool told;                               /* that one was taken */
} heard = { .lock = PTHREAD_MUTEX_INITIALIZER }; /* global: signals are the process's */

static void wanted(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
}

/* The log may be what hangs: then the alarm ends the process. */
static void end_at_once(void)
{
	alarm(2);
	LOG(LOG_WARN, NULL, "stopped", F_STR("reason", "second signal"));
	log_flush(500);
	_exit(0);
}

static void *listen_main(void *arg)
{
	sigset_t set;

	(void)arg;
	wanted(&set);
	for (;;) {
		int sig = sigwaitinfo(&set, NULL);

		if (sig < 0)
			continue;
		pthread_mutex_lock(&heard.lock);
		if (sig != SIGHUP && heard.stop != 0)
			end_at_once();
		if (sig == SIGHUP)
			heard.reload = true;
		else
			heard.stop = sig;
		pthread_cond_signal(&heard.changed);
		pthread_mutex_unlock(&heard.lock);
	}
	return NULL;
}

int daemon_signals_start(struct err *reterr)
{
	pthread_condattr_t attr;
	pthread_t thread;
	sigset_t set;

	wanted(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&heard.changed, &attr);
	pthread_condattr_destroy(&attr);
	if (thread_start(&thread, listen_main, NULL) < 0)
		return err_nomem(reterr);
	pthread_detach(thread);
	return 0;
}

/* Under the lock. */
static int take(void)
{
	assert(!heard.told || heard.stop != 0);
	if (heard.stop != 0 && !heard.told) {
		heard.told = true;
		return heard.stop;
	}
	if (heard.reload) {
		heard.reload = false;
		return SIGHUP;
	}
	return 0;
}

int daemon_signals_next(int ms)
{
	struct timespec until;
	int sig, rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&heard.lock);
	while ((sig = take()) == 0 && rc != ETIMEDOUT)
		rc = ms < 0 ? pthread_cond_wait(&heard.changed, &heard.lock)
			    : pthread_cond_timedwait(&heard.changed, &heard.lock, &until);
	pthread_mutex_unlock(&heard.lock);
	return sig;
}

bool daemon_signals_stop(void)
{
	bool stop;

	pthread_mutex_lock(&heard.lock);
	stop = heard.stop != 0;
	pthread_mutex_unlock(&heard.lock);
	return stop;
}
