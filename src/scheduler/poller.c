/* poller.c — see poller.h. The timer runs on the clock that never goes back; a wall clock that
 * jumps ahead (a machine that slept) brings the next round forward. */
#include "scheduler/poller.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "scheduler/take.h"

#define BACKOFF_FIRST_MS 1000

struct poller {
	const struct scheduler_options *options;
	struct ledger *ledger;
	struct reports *reports;
	struct client *client;     /* NULL: not connected */
	struct settings *settings; /* of the thread */
	struct settings *pending;  /* under the mutex: what it is to use next; NULL: nothing new */
	struct lock mutex;
	pthread_t thread;
	int wake_fd, stop_fd; /* stop_fd: also for new settings */
	atomic_bool stopping, ended, closing;
	enum poller_round last; /* the thread's, until it has ended */
	int64_t mono, wall;     /* of the last round's begin */
	int64_t backoff_ms;
	unsigned seed;
};

static void disconnect(struct poller *p)
{
	client_close(p->client);
	p->client = NULL;
}

static int round_once(struct poller *p, struct err *reterr)
{
	const struct scheduler_options *o = p->options;

	if (p->client == NULL) {
		if (o->open(o->arg, &p->client, reterr) < 0) {
			p->client = NULL;
			return -1;
		}
		LOG(LOG_INFO, NULL, "connected", F_INT("interval", p->settings->interval));
	}
	if (scheduler_take_settle(p->client, p->settings, p->ledger, reterr) < 0 ||
	    scheduler_take_recheck(p->client, p->settings, p->ledger, reterr) < 0)
		return -1;
	return scheduler_take_due(p->client, p->settings, p->ledger, reterr);
}

/* Where there is no connection they wait for the next round. */
static void report(struct poller *p)
{
	if (p->client != NULL && scheduler_reports_deliver(p->reports, p->client) < 0)
		disconnect(p);
}

/* Doubles up to the interval; a quarter of chance keeps several schedulers apart. */
static void back_off(struct poller *p, const struct err *e)
{
	int64_t most = p->settings->interval * 1000;

	p->backoff_ms = p->backoff_ms == 0 ? BACKOFF_FIRST_MS : p->backoff_ms * 2;
	if (p->backoff_ms > most)
		p->backoff_ms = most;
	LOG(LOG_ERROR, NULL, "round-failed", F_INT("error", e->number), F_STR("why", e->text),
	    F_INT("again_ms", p->backoff_ms));
}

static int64_t wait_ms(struct poller *p)
{
	int64_t whole = p->settings->interval * 1000;

	if (p->backoff_ms > 0)
		return p->backoff_ms + p->backoff_ms * (int64_t)(rand_r(&p->seed) % 25) / 100;
	return whole;
}

/* True when the wall clock alone says that the interval is over. */
static bool wall_passed(struct poller *p)
{
	int64_t wall = clock_ticks();

	if (wall < p->wall - TICKS_PER_SECOND) {
		LOG(LOG_WARN, NULL, "clock-set-back", F_INT("seconds", (p->wall - wall) / TICKS_PER_SECOND),
		    F_STR("effect", "no occurrence is repeated"));
		p->wall = wall;
	}
	return p->backoff_ms == 0 && wall - p->wall >= p->settings->interval * TICKS_PER_SECOND;
}

/* Never in the middle of a round. */
static bool use_pending(struct poller *p)
{
	struct settings *old = NULL;

	assert(!lock_is_mine(&p->mutex));
	lock_take(&p->mutex);
	if (p->pending != NULL) {
		old = p->settings;
		p->settings = p->pending;
		p->pending = NULL;
	}
	lock_give(&p->mutex);
	scheduler_settings_unref(old);
	return old != NULL;
}

/* Until somebody has something for this thread. */
static void rest(struct poller *p, int ms)
{
	struct pollfd fds[] = { { .fd = p->stop_fd, .events = POLLIN },
				{ .fd = scheduler_reports_fd(p->reports), .events = POLLIN } };
	uint64_t count;

	if (poll(fds, ARRAY_LEN(fds), ms) <= 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		if (read(fds[i].fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
			LOG(LOG_ERROR, NULL, "wake", F_STR("why", strerror(errno)));
	}
}

static void wait_for_round(struct poller *p)
{
	int64_t until = p->mono + wait_ms(p);

	while (!atomic_load(&p->stopping)) {
		int64_t left = until - clock_mono_ms();

		if (left <= 0 || wall_passed(p) || use_pending(p))
			return;
		rest(p, (int)(left > p->settings->clock_check ? p->settings->clock_check : left));
		report(p);
	}
}

static void wake(int fd)
{
	uint64_t one = 1;

	if (write(fd, &one, sizeof(one)) < 0)
		LOG(LOG_ERROR, NULL, "wake", F_STR("why", strerror(errno)));
}

static void *run_thread(void *arg)
{
	struct poller *p = arg;

	while (!atomic_load(&p->stopping)) {
		struct err e = { 0 };

		(void)use_pending(p);
		p->mono = clock_mono_ms();
		p->wall = clock_ticks();
		if (round_once(p, &e) < 0) {
			disconnect(p);
			p->last = client_is_lost(&e) ? ROUND_LOST : ROUND_REFUSED;
			back_off(p, &e);
		} else {
			p->backoff_ms = 0;
			p->last = ROUND_DONE;
			report(p);
		}
		wake(p->wake_fd);
		if (p->options->once)
			break;
		wait_for_round(p);
	}
	atomic_store(&p->ended, true);
	wake(p->wake_fd);
	while (!atomic_load(&p->closing)) { /* what was taken still runs */
		rest(p, -1);
		report(p);
	}
	report(p);
	disconnect(p);
	return NULL;
}

static void poller_free(struct poller *p)
{
	if (p->stop_fd >= 0)
		close(p->stop_fd);
	scheduler_settings_unref(p->settings);
	scheduler_settings_unref(p->pending);
	lock_fini(&p->mutex);
	free(p);
}

int scheduler_poller_start(const struct scheduler_options *o, struct ledger *l, struct reports *reports,
			   int wake_fd, struct poller **ret, struct err *reterr)
{
	struct poller *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return err_nomem(reterr);
	p->options = o;
	p->ledger = l;
	p->reports = reports;
	p->settings = scheduler_settings_ref(o->settings);
	lock_init(&p->mutex);
	p->wake_fd = wake_fd;
	p->seed = (unsigned)clock_mono_ms() ^ (unsigned)getpid();
	p->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->stop_fd < 0 || thread_start(&p->thread, run_thread, p) < 0) {
		poller_free(p);
		return err_raise(reterr, 50000, 16, 1,
				 "the thread that asks the server could not be started");
	}
	*ret = p;
	return 0;
}

void scheduler_poller_reload(struct poller *p, struct settings *s)
{
	struct settings *unused;

	lock_take(&p->mutex);
	unused = p->pending;
	p->pending = scheduler_settings_ref(s);
	lock_give(&p->mutex);
	scheduler_settings_unref(unused);
	wake(p->stop_fd);
}

bool scheduler_poller_reloaded(struct poller *p)
{
	bool done;

	lock_take(&p->mutex);
	done = p->pending == NULL;
	lock_give(&p->mutex);
	return done;
}

void scheduler_poller_stop(struct poller *p)
{
	atomic_store(&p->stopping, true);
	wake(p->stop_fd);
}

bool scheduler_poller_ended(struct poller *p)
{
	return atomic_load(&p->ended);
}

enum poller_round scheduler_poller_join(struct poller *p)
{
	enum poller_round last;

	atomic_store(&p->closing, true);
	wake(p->stop_fd);
	pthread_join(p->thread, NULL);
	last = p->last;
	poller_free(p);
	return last;
}
