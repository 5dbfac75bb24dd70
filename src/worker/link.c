/* link.c — see worker_int.h. The thread reports what ended, claims what there is room for, and
 * when nothing waits looks once in an interval; a server that knows how tells it of new work before
 * (procession_wait_for_work). Without a server it tries again, ever more
 * seldom; what ended meanwhile waits here until its claim is too old. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/thread.h"
#include "worker/history.h"
#include "worker/take.h"

#define BACKOFF_FIRST_MS 250
#define BACKOFF_MAX_MS 30000
#define REST_MAX_MS 60000 /* as long as the server waits for us */
/* For so long it says that it is there, and so often: three times, so that one may be late. */
#define HERE_S 60
#define HERE_MS 20000

struct link {
	const struct worker_options *o;
	int wake_fd;
	pthread_t thread;
	bool running;
	struct lock lock;
	pthread_cond_t more;
	/* shared, under the lock */
	struct list reports, claimed, reported;
	unsigned room; /* places that are free: slots of the engine less what was claimed and not released */
	bool eager;    /* claim without looking first: there was more the last time, or a place became free */
	bool idle, paused, ending, ended;
	bool resting; /* the thread waits in the server, or for stir_fd */
	int stir_fd;
	int64_t lost_at; /* since when there is no connection; 0: there is one, or was none needed */
	bool served;     /* this server has answered all that a claim takes */
	struct err why;  /* of the last failure */
	/* the thread's own */
	struct client *client;
	struct claims *claims;
	bool settled; /* since the connection was opened */
	bool deaf;    /* this server does not tell of new work */
	bool mute;    /* nor does it want to hear why something failed */
	char machine[65];
	char *folders;   /* NULL: nobody is told that it is there */
	int64_t here_at; /* when it says so next */
	int64_t seen;    /* what it told last; -1: nothing yet */
	int64_t look_at, connect_at;
	unsigned backoff_ms;
};

int64_t worker_link_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void wake_main(const struct link *l)
{
	const uint64_t one = 1;

	while (write(l->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* --- the connection --- */

static void lose_connection(struct link *l, const struct err *e)
{
	client_close(l->client);
	l->client = NULL;
	l->settled = false;
	l->backoff_ms = l->backoff_ms == 0                   ? BACKOFF_FIRST_MS
			: l->backoff_ms < BACKOFF_MAX_MS / 2 ? 2 * l->backoff_ms
							     : BACKOFF_MAX_MS;
	l->connect_at = worker_link_clock() + l->backoff_ms;
	LOG(LOG_WARN, NULL, "server", F_STR("service", l->o->service->name), F_STR("why", e->text),
	    F_INT("error", e->number), F_INT("again_ms", l->backoff_ms));
	lock_take(&l->lock);
	if (l->lost_at == 0)
		l->lost_at = worker_link_clock();
	l->why = *e;
	l->eager = true;
	lock_give(&l->lock);
	wake_main(l);
}

/* --- why something failed --- */

static void write_history(const struct link *l, const struct item *i)
{
	const struct history_line line = { .service = l->o->service->name,
					   .key = i->key,
					   .attempt = i->attempt,
					   .error = i->error,
					   .input = i->input,
					   .text = i->text,
					   .final = worker_item_is_final(i) };

	if (l->o->history != NULL)
		worker_history_append(l->o->history, &line);
}

/* For people who look at the server. Nothing depends on it: the history has it, too. */
static void tell_why(struct link *l, const struct item *i)
{
	struct err e = { 0 };
	int rc;

	if (l->mute || l->client == NULL)
		return;
	rc = worker_queue_why(l->client, &i->key, i->error, i->text, l->machine, &e);
	l->mute = rc == 1;
	if (rc < 0 && client_is_lost(&e))
		lose_connection(l, &e);
	else if (rc != 0)
		LOG(rc == 1 ? LOG_INFO : LOG_WARN, NULL, "reason-not-told",
		    F_STR("service", l->o->service->name), F_STR("why", e.text),
		    F_STR("effect", "the server does not know why items failed; the history does"));
}

/* Whether this report is about a failure: who was put back and is tried again did not fail. */
static bool has_failed(const struct item *i)
{
	return i->error != DOCUMENT_OK && !i->lost && (!i->give_back || worker_item_is_final(i));
}

/* Those that ended with nobody at work on them. */
static void explain(struct link *l, struct list *ended)
{
	struct list *it;

	while ((it = list_pop(ended)) != NULL) {
		struct item *i = CONTAINER_OF(it, struct item, queue);

		write_history(l, i);
		tell_why(l, i);
		worker_item_free(i);
	}
}

/* --- what it has to do with the server --- */

/* Nothing is left in doubt. */
static bool settled(struct link *l)
{
	struct list ended;
	struct err e = { 0 };
	int rc;

	list_init(&ended);
	rc = worker_take_settle(l->client, l->o, l->claims, &ended, &e);
	explain(l, &ended);
	if (rc < 0 && l->client != NULL)
		lose_connection(l, &e);
	return l->client != NULL;
}

/* Says that it is there, or for 0 seconds that it is not. Nothing depends on it for us. */
static void say_here(struct link *l, int seconds)
{
	struct err e = { 0 };
	int rc;

	assert(l->client != NULL && l->folders != NULL);
	l->here_at = worker_link_clock() + HERE_MS;
	rc = worker_queue_here(l->client, worker_claims_instance(l->claims), l->machine, l->folders, seconds,
			       &e);
	if (rc == 1)
		l->here_at = INT64_MAX;
	else if (rc < 0 && client_is_lost(&e))
		lose_connection(l, &e);
	else if (rc < 0)
		LOG(LOG_WARN, NULL, "not-announced", F_STR("service", l->o->service->name),
		    F_STR("why", e.text));
}

/* A connection, with nothing in doubt behind it. */
static bool connected(struct link *l)
{
	struct err e = { 0 };

	if (l->client == NULL) {
		if (worker_link_clock() < l->connect_at)
			return false;
		if (l->o->open(l->o->arg, &l->client, &e) < 0) {
			l->client = NULL;
			lose_connection(l, &e);
			return false;
		}
		l->deaf = l->o->once || l->o->one_job;
		l->seen = -1;
		l->mute = false;
		l->here_at = l->folders != NULL ? 0 : INT64_MAX;
	}
	if (!l->settled && !settled(l))
		return false;
	if (worker_link_clock() >= l->here_at)
		say_here(l, HERE_S);
	if (l->client == NULL)
		return false;
	if (!l->settled)
		LOG(LOG_INFO, NULL, "connected", F_STR("service", l->o->service->name),
		    F_STR("worker", worker_claims_instance(l->claims)));
	l->settled = true;
	l->backoff_ms = 0;
	lock_take(&l->lock);
	l->lost_at = 0;
	lock_give(&l->lock);
	return true;
}

/* The item is the main loop's again. */
static void hand_over(struct link *l, struct list *queue, struct item *i)
{
	lock_take(&l->lock);
	list_append(queue, &i->queue);
	lock_give(&l->lock);
	wake_main(l);
}

static void forget_claim(struct link *l, const struct item *i)
{
	struct err e = { 0 };

	assert(!lock_is_mine(&l->lock));
	worker_claims_remove(l->claims, &i->key);
	if (worker_claims_save(l->claims, &e) < 0)
		LOG(LOG_ERROR, NULL, "journal", F_STR("why", e.text));
}

/* Too late: somebody else may have the item already, and a report would be taken for theirs. */
static bool too_late(const struct link *l, const struct item *i)
{
	return i->lost || worker_link_clock() > i->claimed + (int64_t)l->o->stale_s * 950;
}

static void report(struct link *l, struct item *i)
{
	struct err e = { 0 };

	assert(!lock_is_mine(&l->lock) && i->stage == ITEM_REPORTING);
	if (too_late(l, i)) {
		i->lost = true;
		LOG(LOG_ERROR, NULL, "too-late", F_STR("service", l->o->service->name),
		    F_INT("job", i->key.job), F_INT("group", i->key.group), F_INT("item", i->key.item));
	} else if (!connected(l) || worker_take_report(l->client, i, &e) < 0) {
		if (l->client != NULL)
			lose_connection(l, &e);
		lock_take(&l->lock); /* back to where it was, for the next time */
		i->queue.next = l->reports.next;
		i->queue.prev = &l->reports;
		l->reports.next->prev = &i->queue;
		l->reports.next = &i->queue;
		lock_give(&l->lock);
		return;
	}
	if (has_failed(i))
		write_history(l, i);
	if (!i->lost) { /* while the journal knows it: a crash in between leaves nothing behind */
		document_output_close(i->out);
		i->out = NULL;
	}
	forget_claim(l, i);
	if (has_failed(i))
		tell_why(l, i);
	if (l->o->once || l->o->one_job)
		l->look_at = 0; /* it may have been the last, or wait again */
	lock_take(&l->lock);
	l->idle = false; /* whoever looked before this report could not see that the item waits again */
	lock_give(&l->lock);
	hand_over(l, &l->reported, i);
}

static void claim(struct link *l, unsigned room)
{
	struct list items, ended, *it;
	struct err e = { 0 };
	int n;

	assert(!lock_is_mine(&l->lock) && l->settled && room > 0);
	list_init(&items);
	list_init(&ended);
	n = worker_take_claim(l->client, l->o, l->claims, room, &items, &ended, &e);
	if (n < 0) {
		lose_connection(l, &e);
		return;
	}
	lock_take(&l->lock);
	l->served = true;
	assert((unsigned)n <= l->room);
	l->room -= (unsigned)n;
	l->eager = (unsigned)n == room;
	while ((it = list_pop(&items)) != NULL)
		list_append(&l->claimed, it);
	lock_give(&l->lock);
	/* Nobody waits for those who only want to know that nothing is left. */
	l->look_at = n == 0 && l->o->once ? 0 : worker_link_clock() + l->o->interval_ms;
	if (n > 0)
		wake_main(l);
	explain(l, &ended);
}

static void look(struct link *l, unsigned room)
{
	struct err e = { 0 };
	int found = worker_take_look(l->client, l->o, &e);

	assert(!lock_is_mine(&l->lock) && l->settled);
	l->look_at = worker_link_clock() + l->o->interval_ms;
	if (found < 0) {
		lose_connection(l, &e);
		return;
	}
	lock_take(&l->lock);
	l->eager = found == 1;
	l->idle = found == 0;
	lock_give(&l->lock);
	if (found == 0)
		wake_main(l);
	if (found == 2)
		claim(l, room); /* what others have begun may be stale */
}

/* Looks again when the server has new work or the time has come, unless stirred. Under the lock,
 * but for the wait itself. */
static void rest(struct link *l, int64_t until)
{
	int64_t ms = until - worker_link_clock();
	enum queue_await found;
	struct err e = { 0 };
	uint64_t count;
	int rc;

	assert(lock_is_mine(&l->lock) && l->client != NULL && l->settled);
	l->resting = true;
	lock_give(&l->lock);
	rc = worker_take_await(l->client, l->o, (int)(ms < REST_MAX_MS ? ms : REST_MAX_MS), l->stir_fd,
			       &l->seen, &found, &e);
	if (rc < 0)
		lose_connection(l, &e);
	lock_take(&l->lock);
	l->resting = false;
	(void)!read(l->stir_fd, &count, sizeof(count));
	if (rc < 0 || found == QUEUE_STIRRED)
		return;
	l->deaf = found == QUEUE_NO_BELL;
	if (l->deaf)
		return;
	l->look_at = worker_link_clock() + l->o->interval_ms;
	l->eager = l->eager || found == QUEUE_SOMETHING;
}

/* A place is filled before the last result is told: so the engine has no rest. */
static void take_more(struct link *l, unsigned room, bool eager)
{
	if (!connected(l))
		return;
	if (eager)
		claim(l, room);
	else
		look(l, room);
}

/* --- the thread --- */

static void wait_until(struct link *l, int64_t when)
{
	int64_t left = when - worker_link_clock();

	assert(lock_is_mine(&l->lock));
	if (left > 0)
		(void)lock_wait_until(&l->lock, &l->more, clock_mono_ms() + left);
}

/* Under the lock: when there is something to do; now for now. */
static int64_t next_time(const struct link *l)
{
	int64_t when = INT64_MAX;
	bool claims = l->room > 0 && !l->paused;

	assert(lock_is_mine(&l->lock));
	if (!list_empty(&l->reports) || (claims && l->eager))
		when = 0;
	else if (claims)
		when = l->look_at;
	if (l->client != NULL && l->settled && !l->paused && l->here_at < when)
		when = l->here_at;
	if (l->client == NULL && when < l->connect_at)
		when = l->connect_at;
	return when;
}

/* The end is near when there is nothing to report, or nobody to report it to. */
static bool may_end(const struct link *l)
{
	assert(lock_is_mine(&l->lock));
	return l->ending && (list_empty(&l->reports) || l->lost_at != 0);
}

static void step(struct link *l)
{
	unsigned room = l->paused ? 0 : l->room;
	bool eager = l->eager, look_now = worker_link_clock() >= l->look_at;
	struct list *next = NULL;

	assert(lock_is_mine(&l->lock));
	if (room == 0 || (!eager && !look_now))
		next = list_pop(&l->reports);
	if (next == NULL && (room == 0 || (!eager && !look_now))) { /* it was time for nothing else */
		lock_give(&l->lock);
		(void)connected(l);
		lock_take(&l->lock);
		return;
	}
	lock_give(&l->lock);
	if (room > 0 && (eager || look_now))
		take_more(l, room, eager);
	else if (next != NULL)
		report(l, CONTAINER_OF(next, struct item, queue));
	lock_take(&l->lock);
	/* One after the other: a claim that finds nothing must not keep the reports waiting. */
	next = room > 0 ? list_pop(&l->reports) : NULL;
	if (next != NULL) {
		lock_give(&l->lock);
		report(l, CONTAINER_OF(next, struct item, queue));
		lock_take(&l->lock);
	}
}

/* Claimed in the last moment, and nobody will take them over. */
static void give_back_claimed(struct link *l)
{
	struct item *i;

	while (l->client != NULL && (i = worker_link_next_claimed(l)) != NULL) {
		struct err e = { 0 };

		worker_item_give_back(i, "the worker was stopped");
		if (worker_take_report(l->client, i, &e) == 0) {
			forget_claim(l, i);
			if (has_failed(i)) {
				write_history(l, i);
				tell_why(l, i);
			}
		}
		worker_item_free(i);
	}
}

/* Under the lock: nothing is to be done but to look for work. */
static bool may_rest(const struct link *l)
{
	assert(lock_is_mine(&l->lock));
	return l->client != NULL && l->settled && !l->deaf && !l->ending && !l->paused && l->room > 0;
}

static void *link_main(void *arg)
{
	struct link *l = arg;

	lock_take(&l->lock);
	while (!may_end(l)) {
		int64_t when = next_time(l);

		if (when > worker_link_clock() && may_rest(l))
			rest(l, when);
		else if (when > worker_link_clock())
			wait_until(l, when < worker_link_clock() + 1000 ? when : worker_link_clock() + 1000);
		else
			step(l);
	}
	l->ended = true;
	lock_give(&l->lock);
	give_back_claimed(l);
	if (l->client != NULL && l->here_at != INT64_MAX)
		say_here(l, 0);
	client_close(l->client);
	l->client = NULL;
	wake_main(l);
	return NULL;
}

int worker_link_start(const struct worker_options *o, int wake_fd, struct link **ret, struct err *reterr)
{
	struct link *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return err_nomem(reterr);
	l->o = o;
	l->wake_fd = wake_fd;
	l->eager = true;
	l->room = o->engine.slots;
	if (!o->once && !o->one_job)
		l->folders = document_places_folders(o->places);
	(void)gethostname(l->machine, sizeof(l->machine) - 1);
	l->stir_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	list_init(&l->reports);
	list_init(&l->claimed);
	list_init(&l->reported);
	lock_init(&l->lock);
	lock_cond_init(&l->more);
	if (l->stir_fd < 0) {
		worker_link_free(l);
		return err_raise(reterr, 50000, 16, 1, "no descriptor is free: %s", strerror(errno));
	}
	if (worker_claims_open(o->state, o->state_is_locked, &l->claims, reterr) < 0) {
		worker_link_free(l);
		return -1;
	}
	if (thread_start(&l->thread, link_main, l) < 0) {
		worker_link_free(l);
		return err_raise(reterr, 50000, 16, 1, "no thread could be started");
	}
	l->running = true;
	*ret = l;
	return 0;
}

/* --- for the main loop --- */

/* Under the lock: there is something for the thread. */
static void stir(struct link *l)
{
	const uint64_t one = 1;

	assert(lock_is_mine(&l->lock));
	pthread_cond_signal(&l->more);
	if (l->resting)
		(void)!write(l->stir_fd, &one, sizeof(one));
}

void worker_link_release(struct link *l)
{
	lock_take(&l->lock);
	l->room++;
	assert(l->room <= l->o->engine.slots);
	l->eager = true;
	l->idle = false;
	stir(l);
	lock_give(&l->lock);
}

void worker_link_pause(struct link *l)
{
	lock_take(&l->lock);
	l->paused = true;
	stir(l);
	lock_give(&l->lock);
}

void worker_link_report(struct link *l, struct item *i)
{
	i->stage = ITEM_REPORTING;
	lock_take(&l->lock);
	list_append(&l->reports, &i->queue);
	stir(l);
	lock_give(&l->lock);
}

static struct item *pop(struct link *l, struct list *queue)
{
	struct list *next;

	lock_take(&l->lock);
	next = list_pop(queue);
	lock_give(&l->lock);
	return next != NULL ? CONTAINER_OF(next, struct item, queue) : NULL;
}

struct item *worker_link_next_claimed(struct link *l)
{
	return pop(l, &l->claimed);
}

struct item *worker_link_next_reported(struct link *l)
{
	return pop(l, &l->reported);
}

static bool read_flag(struct link *l, const bool *flag)
{
	bool value;

	lock_take(&l->lock);
	value = *flag;
	lock_give(&l->lock);
	return value;
}

bool worker_link_idle(struct link *l)
{
	return read_flag(l, &l->idle);
}

bool worker_link_hopeless(struct link *l)
{
	bool hopeless;

	lock_take(&l->lock);
	hopeless = l->lost_at != 0 && !l->served;
	lock_give(&l->lock);
	return hopeless;
}

void worker_link_why(struct link *l, struct err *ret)
{
	lock_take(&l->lock);
	*ret = l->why;
	lock_give(&l->lock);
}

int64_t worker_link_lost_ms(struct link *l)
{
	int64_t lost;

	lock_take(&l->lock);
	lost = l->lost_at != 0 ? worker_link_clock() - l->lost_at : 0;
	lock_give(&l->lock);
	return lost;
}

bool worker_link_ended(struct link *l)
{
	return read_flag(l, &l->ended);
}

void worker_link_end(struct link *l)
{
	lock_take(&l->lock);
	l->paused = l->ending = true;
	stir(l);
	lock_give(&l->lock);
}

/* Nobody was told of them: the next start settles them, and sees by its temporary name whether an
 * output is finished. */
static void free_items(struct list *queue)
{
	struct list *it;

	while ((it = list_pop(queue)) != NULL) {
		struct item *i = CONTAINER_OF(it, struct item, queue);

		i->lost = i->lost || (i->error == DOCUMENT_OK && !i->give_back);
		worker_item_free(i);
	}
}

void worker_link_free(struct link *l)
{
	if (l == NULL)
		return;
	if (l->running) {
		worker_link_end(l);
		pthread_join(l->thread, NULL);
	}
	free_items(&l->reports);
	free_items(&l->claimed);
	free_items(&l->reported);
	worker_claims_close(l->claims);
	if (l->stir_fd >= 0)
		close(l->stir_fd);
	free(l->folders);
	lock_fini(&l->lock);
	pthread_cond_destroy(&l->more);
	free(l);
}
