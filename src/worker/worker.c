/* worker.c — the main loop: items come claimed from the link, go to the files and to the engine,
 * and back by the files and the link. Signals and time limits are its business, too. */
#include "worker/worker.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"
#include "worker/worker_int.h"

#define TICK_MS 200
#define UNREACHABLE_MS 60000 /* after which a worker for one job gives up */
#define FAILURES 512         /* keys remembered */

struct worker {
	const struct worker_options *o;
	struct link *link;
	struct files *files;
	struct list items; /* all that are on their way */
	size_t nitems;
	unsigned working;  /* with the engine */
	unsigned withheld; /* places not released yet: files and server do not keep up */
	uint64_t next_id;
	int signal_fd, wake_fd;
	unsigned stops;    /* signals */
	bool renewing;     /* SIGHUP: what runs may go on to its end */
	int64_t cancel_at; /* when what runs is ended; INT64_MAX: never */
	bool engine_died, gave_up, ending;
	/* Items that failed here and may come again, so that the engine knows which attempt it
	 * is. */
	struct {
		struct queue_key key;
		int attempts;
	} failures[FAILURES];
	size_t nfailures;
};

/* --- attempts --- */

static int *find_failure(struct worker *w, const struct queue_key *k)
{
	for (size_t n = 0; n < FAILURES && n < w->nfailures; n++)
		if (w->failures[n].key.job == k->job && w->failures[n].key.group == k->group &&
		    w->failures[n].key.item == k->item)
			return &w->failures[n].attempts;
	return NULL;
}

static void count_failure(struct worker *w, const struct item *i)
{
	int *known = find_failure(w, &i->key);

	if (known == NULL) {
		size_t n = w->nfailures++ % FAILURES; /* the oldest gives way */

		w->failures[n].key = i->key;
		known = &w->failures[n].attempts;
	}
	*known = i->attempt;
}

/* --- those who look on --- */

static struct worker_event event_of(const struct item *i)
{
	return (struct worker_event){ .key = &i->key,
				      .input = i->input,
				      .output = i->output,
				      .error = i->error,
				      .text = i->text,
				      .final = worker_item_is_final(i),
				      .cpu_ms = i->cpu_ms,
				      .wall_ms = i->wall_ms };
}

static void tell_begun(const struct worker *w, const struct item *i)
{
	const struct worker_event e = event_of(i);

	LOG(LOG_DEBUG, NULL, "begun", F_STR("service", w->o->service->name), F_INT("job", i->key.job),
	    F_INT("group", i->key.group), F_INT("item", i->key.item), F_STR("input", i->input));
	if (w->o->watch != NULL)
		w->o->watch->begun(w->o->watch->arg, &e);
}

static void tell_ended(const struct worker *w, const struct item *i)
{
	const struct worker_event e = event_of(i);
	const char *how = i->lost                    ? "too late"
			  : i->give_back && !e.final ? "given back"
			  : i->error == DOCUMENT_OK  ? "done"
			  : e.final                  ? "failed"
						     : "failed, again later";

	LOG(i->error == DOCUMENT_OK || (i->give_back && !e.final) ? LOG_INFO : LOG_WARN, NULL, "ended",
	    F_STR("service", w->o->service->name), F_INT("job", i->key.job), F_INT("group", i->key.group),
	    F_INT("item", i->key.item), F_STR("input", i->input), F_STR("how", how),
	    F_STR("error", i->error != DOCUMENT_OK ? document_error_name(i->error) : ""),
	    F_STR("why", i->error != DOCUMENT_OK ? i->text : ""), F_INT("ms", i->wall_ms),
	    F_INT("cpu_ms", i->cpu_ms));
	if (w->o->watch != NULL)
		w->o->watch->ended(w->o->watch->arg, &e);
}

/* --- the way of an item --- */

static bool is_stopping(const struct worker *w)
{
	return w->stops > 0 || w->engine_died || w->gave_up;
}

/* The engine has a place again; but items that are finished and wait for disk or server are
 * bounded, too. */
static void release_place(struct worker *w)
{
	assert(w->withheld <= w->o->engine.slots);
	w->withheld++;
	while (w->withheld > 0 && w->nitems < (size_t)3 * w->o->engine.slots) {
		w->withheld--;
		worker_link_release(w->link);
	}
}

static void item_ended(struct worker *w, struct item *i, int error, const char *text)
{
	assert(i->stage != ITEM_REPORTING);
	i->error = error;
	if (text != NULL)
		str_copy(i->text, sizeof(i->text), str_of(text));
	if (i->text[0] == '\0')
		str_copy(i->text, sizeof(i->text), str_of(document_error_text(error)));
	if (error != DOCUMENT_OK && w->engine_died)
		worker_item_give_back(i, "the engine ended and could not be started again");
	else if (error != DOCUMENT_OK && is_stopping(w) && i->cancelled)
		worker_item_give_back(i, "the worker was stopped");
	if (i->error != DOCUMENT_OK) {
		document_output_close(i->out);
		i->out = NULL;
	}
	worker_link_report(w->link, i);
}

static unsigned seconds_left(const struct worker *w, const struct item *i)
{
	int64_t left = i->claimed + (int64_t)w->o->limit_s * 1000 - worker_link_clock();

	return left <= 0 ? 0 : (unsigned)(left / 1000) + 1;
}

static void submit(struct worker *w, struct item *i)
{
	struct document_task task = { .id = i->id,
				      .input = i->input_fd,
				      .input_name = i->input,
				      .output_name = i->output,
				      .settings = i->settings != NULL ? i->settings : "",
				      .attempt = i->attempt,
				      .seconds = seconds_left(w, i) };
	struct err e = { 0 };

	assert(i->stage == ITEM_OPENING && i->input_fd >= 0 && i->out != NULL);
	task.settings_len = strlen(task.settings);
	/* The engine closes its descriptors; ours is needed for the commit. */
	task.output = dup(document_output_fd(i->out));
	if (task.seconds == 0) {
		if (task.output >= 0)
			close(task.output);
		item_ended(w, i, DOCUMENT_TIMEOUT, "the time limit was over before the engine could begin");
		release_place(w);
		return;
	}
	if (task.output < 0 || w->o->engine.ops->submit(w->o->engine.engine, &task, &e) < 0) {
		if (task.output >= 0)
			close(task.output);
		item_ended(w, i, DOCUMENT_WORKER_FAILED,
			   e.text[0] != '\0' ? e.text : "no descriptor is free");
		release_place(w);
		return;
	}
	i->input_fd = -1;
	i->stage = ITEM_WORKING;
	w->working++;
	assert(w->working <= w->o->engine.slots);
	tell_begun(w, i);
}

static void take_claimed(struct worker *w)
{
	struct item *i;

	while ((i = worker_link_next_claimed(w->link)) != NULL) {
		int *known = find_failure(w, &i->key);

		if (known != NULL && *known >= i->attempt)
			i->attempt = *known + 1;
		i->id = ++w->next_id;
		list_append(&w->items, &i->all);
		w->nitems++;
		worker_files_open(w->files, i);
	}
}

static void take_files(struct worker *w)
{
	struct item *i;

	while ((i = worker_files_next(w->files)) != NULL) {
		if (i->stage == ITEM_CLOSING || i->lost) {
			i->cancelled = i->cancelled || worker_link_clock() >= w->cancel_at;
			item_ended(w, i, i->error, NULL);
		} else if (is_stopping(w)) { /* not begun: others shall have it */
			i->cancelled = true;
			item_ended(w, i, DOCUMENT_CANCELLED, NULL);
			release_place(w);
		} else if (i->error != DOCUMENT_OK || document_output_is_finished(i->out)) {
			item_ended(w, i, i->error, NULL);
			release_place(w);
		} else {
			submit(w, i);
		}
	}
}

static struct item *find_item(struct worker *w, uint64_t id)
{
	LIST_EACH (it, &w->items) {
		struct item *i = CONTAINER_OF(it, struct item, all);

		if (i->id == id && i->stage == ITEM_WORKING)
			return i;
	}
	return NULL;
}

static void take_result(struct worker *w, const struct document_result *r)
{
	struct item *i = find_item(w, r->id);

	if (i == NULL) {
		LOG(LOG_ERROR, NULL, "engine", F_STR("why", "a result that nobody waits for"),
		    F_INT("id", r->id));
		return;
	}
	assert(w->working > 0);
	w->working--;
	i->cpu_ms = r->cpu_ms;
	i->wall_ms = r->wall_ms;
	release_place(w);
	if (r->error == DOCUMENT_OK)
		worker_files_close(w->files, i);
	else
		item_ended(w, i, r->error, r->text);
}

/* Nothing will come of what it had. */
static void engine_died(struct worker *w)
{
	assert(!w->engine_died);
	w->engine_died = true;
	worker_link_pause(w->link);
	LIST_EACH (it, &w->items) {
		struct item *i = CONTAINER_OF(it, struct item, all);

		if (i->stage != ITEM_WORKING)
			continue;
		w->working--;
		item_ended(w, i, DOCUMENT_WORKER_FAILED, "the engine ended and could not be started again");
	}
}

static void take_results(struct worker *w)
{
	struct document_result r;
	int rc = 0;

	while (!w->engine_died && (rc = w->o->engine.ops->next(w->o->engine.engine, &r)) > 0)
		take_result(w, &r);
	if (rc < 0 && !w->engine_died)
		engine_died(w);
}

static void take_reported(struct worker *w)
{
	struct item *i;

	while ((i = worker_link_next_reported(w->link)) != NULL) {
		tell_ended(w, i);
		if (i->error != DOCUMENT_OK && !i->give_back)
			count_failure(w, i);
		assert(i->stage == ITEM_REPORTING && w->nitems > 0);
		list_remove(&i->all);
		w->nitems--;
		worker_item_free(i);
	}
	while (w->withheld > 0 && w->nitems < (size_t)3 * w->o->engine.slots) {
		w->withheld--;
		worker_link_release(w->link);
	}
}

/* --- time and signals --- */

/* The engine keeps the limits itself; this is for one that does not, and for the end, when hosts
 * are not waited for either. */
static void cancel_late(struct worker *w)
{
	int64_t now = worker_link_clock();

	if (now >= w->cancel_at)
		document_places_hurry(w->o->places);
	LIST_EACH (it, &w->items) {
		struct item *i = CONTAINER_OF(it, struct item, all);

		if (i->stage != ITEM_WORKING || i->cancelled)
			continue;
		if (now < w->cancel_at && now < i->claimed + (int64_t)w->o->limit_s * 1000 + 5000)
			continue;
		i->cancelled = true;
		w->o->engine.ops->cancel(w->o->engine.engine, i->id);
	}
}

static void renew(struct worker *w)
{
	if (w->renewing || w->stops > 0 || !w->o->renews(w->o->arg))
		return;
	w->renewing = true;
	worker_link_pause(w->link);
	LOG(LOG_INFO, NULL, "renewing", F_STR("service", w->o->service->name), F_INT("running", w->working));
}

static void read_signals(struct worker *w)
{
	struct signalfd_siginfo s;

	while (read(w->signal_fd, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGHUP) {
			renew(w);
			continue;
		}
		w->stops++;
		worker_link_pause(w->link);
		w->cancel_at = w->stops > 1 ? 0 : worker_link_clock() + (int64_t)w->o->grace_s * 1000;
		LOG(LOG_INFO, NULL, "stopping", F_STR("service", w->o->service->name),
		    F_INT("running", w->working), F_INT("grace_s", w->stops > 1 ? 0 : w->o->grace_s));
	}
}

/* Everything that is left waits for the server. */
static bool only_reports(const struct worker *w)
{
	LIST_EACH (it, &w->items)
		if (CONTAINER_OF(it, struct item, all)->stage != ITEM_REPORTING)
			return false;
	return true;
}

/* Somebody waits for one job, and its server does not come back. */
static void give_up(struct worker *w)
{
	w->gave_up = true;
	w->cancel_at = 0;
	worker_link_pause(w->link);
}

static bool is_finished(struct worker *w, enum worker_end *ret)
{
	bool limited = w->o->once || w->o->one_job;

	if (w->ending)
		return worker_link_ended(w->link);
	if (limited && !w->gave_up &&
	    (worker_link_lost_ms(w->link) > UNREACHABLE_MS || (w->o->once && worker_link_hopeless(w->link))))
		give_up(w);
	*ret = w->stops > 0     ? WORKER_STOPPED
	       : w->engine_died ? WORKER_ENGINE_DIED
	       : w->renewing    ? WORKER_RENEWED
	       : w->gave_up     ? WORKER_UNREACHABLE
				: WORKER_DONE;
	/* What could not be reported stays in the journal for the next start. */
	if (is_stopping(w) || w->renewing)
		w->ending = w->nitems == 0 || (only_reports(w) && worker_link_lost_ms(w->link) > 0);
	else
		w->ending = limited && w->nitems == 0 && worker_link_idle(w->link);
	if (w->ending)
		worker_link_end(w->link);
	return false;
}

static void wait_for_something(struct worker *w)
{
	struct pollfd fds[3] = { { .fd = w->signal_fd, .events = POLLIN },
				 { .fd = w->wake_fd, .events = POLLIN },
				 { .fd = -1, .events = POLLIN } };
	bool busy = w->nitems > 0 || w->ending || w->o->watch != NULL;
	uint64_t count;

	if (!w->engine_died)
		fds[2].fd = w->o->engine.ops->fd(w->o->engine.engine);
	(void)poll(fds, ARRAY_LEN(fds), busy ? TICK_MS : 1000);
	if (fds[1].revents != 0 && read(w->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		LOG(LOG_ERROR, NULL, "wake", F_STR("why", strerror(errno)));
}

static void loop(struct worker *w, enum worker_end *ret)
{
	while (!is_finished(w, ret)) {
		wait_for_something(w);
		read_signals(w);
		take_claimed(w);
		take_files(w);
		take_results(w);
		cancel_late(w);
		take_reported(w);
		if (w->o->watch != NULL)
			w->o->watch->tick(w->o->watch->arg);
	}
}

/* --- beginning and end --- */

static int open_descriptors(struct worker *w, sigset_t *ret_old, struct err *reterr)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (w->o->renews != NULL)
		sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, ret_old);
	w->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	w->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (w->signal_fd < 0 || w->wake_fd < 0)
		return err_raise(reterr, 50000, 16, 1, "no descriptor is free: %s", strerror(errno));
	return 0;
}

/* What could not be reported is still the link's, which frees it. */
static void fini(struct worker *w)
{
	worker_files_free(w->files);
	worker_link_free(w->link);
	if (w->signal_fd >= 0)
		close(w->signal_fd);
	if (w->wake_fd >= 0)
		close(w->wake_fd);
	free(w);
}

int worker_run(const struct worker_options *o, enum worker_end *ret, struct err *reterr)
{
	struct worker *w = calloc(1, sizeof(*w));
	sigset_t old;
	int rc;

	if (w == NULL)
		return err_nomem(reterr);
	assert(o->engine.slots > 0);
	w->o = o;
	w->signal_fd = w->wake_fd = -1;
	w->cancel_at = INT64_MAX;
	list_init(&w->items);
	rc = open_descriptors(w, &old, reterr);
	if (rc == 0)
		rc = worker_files_start(o, o->engine.slots, w->wake_fd, &w->files, reterr);
	if (rc == 0)
		rc = worker_link_start(o, w->wake_fd, &w->link, reterr);
	if (rc == 0) {
		loop(w, ret);
		if (*ret == WORKER_UNREACHABLE)
			worker_link_why(w->link, reterr);
	}
	fini(w);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return rc;
}
