/* scheduler.c — the main loop: starts what is due, looks after what runs, hears signals. The
 * server is the poller's business. */
#include "scheduler/scheduler.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "scheduler/match.h"
#include "scheduler/poller.h"
#include "scheduler/rules.h"
#include "scheduler/run.h"

struct scheduler {
	const struct scheduler_options *options;
	struct settings *settings; /* counted; earlier ones hang on it as long as they are needed */
	struct ledger *ledger;
	struct reports *reports;
	struct poller *poller;
	struct run *runs;   /* nslots of them, at least max_running */
	struct pollfd *fds; /* signals, wake, then one a slot */
	size_t nslots, nrunning;
	int signal_fd, wake_fd;
	unsigned stops;     /* signals that asked for the end */
	int64_t release_at; /* monotonic ms: when held jobs are looked at next */
	/* ticks: what starts from then on does not need the previous settings */
	int64_t forget_at;
	int64_t end_by; /* ticks: what starts from then on is not waited for; 0: not ending */
	bool handler_failed;
};

/* ---- starting ---- */

static struct run *free_slot(struct scheduler *s)
{
	for (size_t i = 0; i < s->nslots; i++)
		if (s->runs[i].stage == RUN_FREE)
			return &s->runs[i];
	return NULL;
}

static void drop(struct scheduler *s, struct taken *t, const char *outcome, const char *why)
{
	int64_t now = clock_ticks();
	bool wanted = strcmp(outcome, "skipped") == 0 || strcmp(outcome, "withdrawn") == 0;
	char due[JOB_TIME_MAX];

	scheduler_job_time_shown(t->due, due);
	LOG(wanted ? LOG_WARN : LOG_ERROR, NULL, outcome, F_STR("job", t->row.id),
	    F_STR("class", t->row.class), F_STR("due", due), F_STR("why", why));
	s->handler_failed = s->handler_failed || !wanted;
	scheduler_ledger_finish(s->ledger, t, outcome, -1, now, now);
}

/* Of the present settings, or of those under which the job may have been taken. NULL: *ret can
 * run it. */
static const char *find_handler(const struct scheduler *s, const struct job_row *row, struct match *ret)
{
	const char *why = NULL;

	for (const struct settings *from = s->settings; from != NULL; from = from->previous) {
		why = scheduler_match_handler(from, row, ret);
		if (ret->handler != NULL)
			break;
	}
	return why;
}

/* The server has it no more, and nobody else will run it. */
static void hold(struct scheduler *s, struct taken *t, const char *why)
{
	char due[JOB_TIME_MAX];

	scheduler_job_time_shown(t->due, due);
	scheduler_ledger_mark(s->ledger, t, TAKEN_HELD);
	s->handler_failed = true;
	LOG(LOG_WARN, NULL, "held", F_STR("job", t->row.id), F_STR("assembly", t->row.assembly),
	    F_STR("class", t->row.class), F_STR("name", t->row.display_name), F_STR("due", due),
	    F_STR("data", t->row.data), F_STR("why", why),
	    F_STR("remedy", "configure a handler: it runs as soon as there is one"));
}

static bool can_run(const void *arg, const struct job_row *row)
{
	struct match m;

	return find_handler(arg, row, &m) == NULL;
}

static void run(struct scheduler *s, struct taken *t, const struct match *m)
{
	struct run *slot = free_slot(s);
	struct err e = { 0 };
	char due[JOB_TIME_MAX];

	assert(slot != NULL); /* start_due() begins no more than there are places */
	scheduler_ledger_mark(s->ledger, t, TAKEN_RUNS);
	if (scheduler_run_start(slot, t, m->handler, m->action, m->timeout_s, &e) < 0) {
		drop(s, t, "not-started", e.text);
		return;
	}
	s->nrunning++;
	scheduler_job_time_shown(t->due, due);
	LOG(LOG_INFO, NULL, "started", F_STR("job", t->row.id), F_STR("class", m->class->name),
	    F_STR("due", due), F_INT("late_ms", (slot->started - t->start) * 1000 / TICKS_PER_SECOND),
	    F_INT("pid", slot->pid), F_STR("command", m->handler->line));
}

static void start(struct scheduler *s, struct taken *t)
{
	struct match m;
	const char *why = find_handler(s, &t->row, &m);

	if (scheduler_ledger_runs(s->ledger, t->row.id, t))
		drop(s, t, "skipped", "the job still runs since its last occurrence");
	else if (why == NULL)
		run(s, t, &m);
	else if (t->row.recurrence == NULL)
		hold(s, t, why);
	else
		drop(s, t, "no-handler", why);
}

static void start_due(struct scheduler *s)
{
	struct taken *t;
	bool withdrawn;

	assert(s->nrunning <= s->nslots);
	while (s->nrunning < (size_t)s->settings->max_running &&
	       (t = scheduler_ledger_due(s->ledger, clock_ticks(), &withdrawn)) != NULL) {
		if (withdrawn)
			drop(s, t, "withdrawn",
			     "the job was removed or disabled before its place in the window");
		else
			start(s, t);
	}
}

/* Commands are looked at as often as the clock. */
static void release_held(struct scheduler *s)
{
	int64_t now = clock_mono_ms();

	if (now < s->release_at)
		return;
	s->release_at = now + s->settings->clock_check;
	scheduler_ledger_release(s->ledger, can_run, s);
}

/* ---- looking after ---- */

static void finish(struct scheduler *s, struct run *r, int wait_status)
{
	struct taken *t = r->taken;
	const char *outcome;
	int64_t started = r->started;
	int status = scheduler_run_finish(r, wait_status, &outcome);

	assert(s->nrunning > 0);
	s->nrunning--;
	s->handler_failed = s->handler_failed || strcmp(outcome, "ok") != 0;
	scheduler_ledger_finish(s->ledger, t, outcome, status, started, clock_ticks());
}

static void reap(struct scheduler *s)
{
	for (size_t i = 0; i < s->nslots; i++) {
		struct run *r = &s->runs[i];
		int wait_status;

		if (r->stage != RUN_FREE && waitpid(r->pid, &wait_status, WNOHANG) == r->pid)
			finish(s, r, wait_status);
	}
}

/* ---- new settings ---- */

/* Only ever more: what runs keeps its place. */
static int make_slots(struct scheduler *s, size_t n, struct err *reterr)
{
	struct run *runs;
	struct pollfd *fds;

	if (n <= s->nslots)
		return 0;
	runs = realloc(s->runs, n * sizeof(*runs));
	if (runs == NULL)
		return err_nomem(reterr);
	s->runs = runs;
	fds = realloc(s->fds, (2 + n) * sizeof(*fds));
	if (fds == NULL)
		return err_nomem(reterr);
	s->fds = fds;
	memset(s->runs + s->nslots, 0, (n - s->nslots) * sizeof(*runs));
	s->nslots = n;
	return 0;
}

static void tell_restart(const char *name, const char *old, const char *new)
{
	if (strcmp(log_text(old), log_text(new)) != 0)
		LOG(LOG_WARN, NULL, "needs-restart", F_STR("setting", name), F_STR("now", old),
		    F_STR("file", new));
}

static void tell_reloaded(const struct settings *s)
{
	LOG(LOG_INFO, NULL, "reloaded", F_INT("interval", s->interval), F_INT("handlers", s->nhandlers));
}

/* What runs is not touched: its command, time limit and place are its own. What was taken before
 * finds its handler in the previous settings. */
static void reload(struct scheduler *s)
{
	struct settings *fresh;
	struct err e = { 0 };
	bool told = log_enabled(LOG_INFO);

	if (s->options->load(s->options->arg, &fresh, &e) < 0) {
		LOG(LOG_ERROR, NULL, "reload-failed", F_STR("why", e.text),
		    F_STR("effect", "the old configuration stays"));
		return;
	}
	if (make_slots(s, (size_t)fresh->max_running, &e) < 0) {
		LOG(LOG_ERROR, NULL, "reload-failed", F_STR("why", e.text),
		    F_STR("effect", "the old configuration stays"));
		scheduler_settings_unref(fresh);
		return;
	}
	tell_restart("state", s->options->settings->state, fresh->state);
	tell_restart("database", s->options->settings->database, fresh->database);
	s->forget_at = clock_ticks() + s->settings->interval * TICKS_PER_SECOND;
	fresh->previous = s->settings;
	s->settings = fresh;
	scheduler_poller_reload(s->poller, fresh);
	if (told)
		tell_reloaded(fresh);
	log_set_level((enum log_level)fresh->log_level);
	if (!told)
		tell_reloaded(fresh);
}

/* The poller first: what it has taken under the old settings is in the ledger by then. A place
 * far ahead in a window is no reason to keep them: who takes a handler away does not expect it
 * to run hours later. */
static void forget_previous(struct scheduler *s)
{
	if (s->settings->previous == NULL || !scheduler_poller_reloaded(s->poller) ||
	    scheduler_ledger_next_start(s->ledger) < s->forget_at ||
	    scheduler_ledger_count(s->ledger, TAKEN_DOUBT) > 0)
		return;
	scheduler_settings_unref(s->settings->previous);
	s->settings->previous = NULL;
}

/* ---- signals ---- */

static void hear_stop(struct scheduler *s, unsigned number)
{
	s->stops++;
	LOG(LOG_INFO, NULL, "stopping", F_INT("signal", number), F_INT("running", s->nrunning),
	    F_INT("waiting", scheduler_ledger_count(s->ledger, TAKEN_WAITS)),
	    F_STR("what", s->stops == 1
				  ? "takes no more, finishes what was taken; once more: ends the handlers"
				  : "ends the handlers"));
	scheduler_poller_stop(s->poller);
	for (size_t i = 0; s->stops > 1 && i < s->nslots; i++)
		if (s->runs[i].stage != RUN_FREE)
			scheduler_run_end(&s->runs[i], "stopped", (unsigned)s->settings->kill_after);
}

static void hear_signals(struct scheduler *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			reload(s);
		else if (info.ssi_signo != SIGCHLD)
			hear_stop(s, info.ssi_signo);
	}
}

/* ---- the loop ---- */

/* Until the next start or deadline, but no longer than a clock that is set may go unnoticed. */
static int wait_ms(struct scheduler *s)
{
	int64_t wait = s->settings->clock_check, next = scheduler_ledger_next_start(s->ledger),
		mono = clock_mono_ms();

	if (next != INT64_MAX && s->nrunning < (size_t)s->settings->max_running) {
		int64_t left = (next - clock_ticks()) * 1000 / TICKS_PER_SECOND + 1;
		wait = left < wait ? left : wait;
	}
	for (size_t i = 0; i < s->nslots; i++)
		if (s->runs[i].stage != RUN_FREE && s->runs[i].deadline - mono < wait)
			wait = s->runs[i].deadline - mono;
	return wait > 0 ? (int)wait : 0;
}

static void wait_for_events(struct scheduler *s)
{
	size_t n = 2 + s->nslots;
	uint64_t count;

	s->fds[0] = (struct pollfd){ .fd = s->signal_fd, .events = POLLIN };
	s->fds[1] = (struct pollfd){ .fd = s->wake_fd, .events = POLLIN };
	for (size_t i = 2; i < n; i++)
		s->fds[i] = (struct pollfd){ .fd = s->runs[i - 2].stage != RUN_FREE ? s->runs[i - 2].fd : -1,
					     .events = POLLIN };
	if (poll(s->fds, n, wait_ms(s)) < 0 && errno != EINTR)
		LOG(LOG_ERROR, NULL, "poll", F_STR("why", strerror(errno)));
	if (read(s->wake_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		LOG(LOG_ERROR, NULL, "wake", F_STR("why", strerror(errno)));
	for (size_t i = 2; i < n; i++)
		if (s->fds[i].fd >= 0 && s->fds[i].revents != 0)
			scheduler_run_read(&s->runs[i - 2]);
}

/* What starts within the interval is finished. What has its place later in a window stays in the
 * journal; where there is none, it starts at the begin of its window, as any moment of the
 * window will do and it would be lost. */
static void begin_end(struct scheduler *s)
{
	size_t n = 0;

	s->end_by = clock_ticks() + s->settings->interval * TICKS_PER_SECOND;
	if (s->options->settings->state[0] == '\0')
		n = scheduler_ledger_hurry(s->ledger);
	if (n > 0)
		LOG(LOG_WARN, NULL, "brought-forward", F_INT("jobs", n),
		    F_STR("why", "no state folder is set to keep them in until their place in the window"));
}

/* Asked to end twice, what waits stays in the journal, or is told to be lost. */
static bool is_over(struct scheduler *s)
{
	if (!scheduler_poller_ended(s->poller))
		return false;
	if (s->end_by == 0)
		begin_end(s);
	return s->nrunning == 0 && (s->stops > 1 || scheduler_ledger_next_start(s->ledger) >= s->end_by);
}

static void tell_left_behind(struct scheduler *s)
{
	size_t waiting = scheduler_ledger_count(s->ledger, TAKEN_WAITS),
	       doubt = scheduler_ledger_count(s->ledger, TAKEN_DOUBT),
	       held = scheduler_ledger_count(s->ledger, TAKEN_HELD);

	if (waiting + doubt + held > 0)
		LOG(LOG_WARN, NULL, "left-behind", F_INT("waiting", waiting), F_INT("doubt", doubt),
		    F_INT("held", held),
		    F_STR("what", s->options->settings->state[0] != '\0'
					  ? "kept in the journal for the next start"
					  : "lost: no state folder is set"));
}

static void loop(struct scheduler *s)
{
	while (!is_over(s)) {
		release_held(s);
		if (s->stops <= 1)
			start_due(s);
		wait_for_events(s);
		hear_signals(s);
		reap(s);
		for (size_t i = 0; i < s->nslots; i++)
			scheduler_run_check(&s->runs[i], (unsigned)s->settings->kill_after);
		forget_previous(s);
	}
	tell_left_behind(s);
}

/* The signals come through a descriptor; threads and handlers are started with them blocked. */
static int prepare(struct scheduler *s, struct err *reterr)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0)
		return err_raise(reterr, 50000, 16, 1, "signals cannot be blocked");
	signal(SIGPIPE, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->signal_fd < 0 || s->wake_fd < 0)
		return err_nomem(reterr);
	if (make_slots(s, (size_t)s->settings->max_running, reterr) < 0)
		return -1;
	s->reports = scheduler_reports_new();
	if (s->reports == NULL)
		return err_nomem(reterr);
	return scheduler_ledger_open(s->settings->state[0] != '\0' ? s->settings->state : NULL, s->reports,
				     &s->ledger, reterr);
}

static void clean_up(struct scheduler *s)
{
	scheduler_ledger_close(s->ledger);
	scheduler_reports_free(s->reports);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	free(s->runs);
	free(s->fds);
	scheduler_settings_unref(s->settings);
}

int scheduler_run(const struct scheduler_options *o, enum scheduler_end *ret, struct err *reterr)
{
	struct scheduler s = {
		.options = o, .settings = scheduler_settings_ref(o->settings), .signal_fd = -1, .wake_fd = -1
	};
	enum poller_round last;

	log_set_level((enum log_level)o->settings->log_level);
	if (log_start_writer() < 0)
		LOG(LOG_WARN, NULL, "log_writer", F_STR("why", "no thread for it"),
		    F_STR("effect", "a standard error that nobody reads can stop the scheduler"));
	if (prepare(&s, reterr) < 0 ||
	    scheduler_poller_start(o, s.ledger, s.reports, s.wake_fd, &s.poller, reterr) < 0) {
		clean_up(&s);
		return -1;
	}
	LOG(LOG_INFO, NULL, "scheduler-started", F_INT("interval", o->settings->interval),
	    F_INT("handlers", o->settings->nhandlers), F_STR("state", o->settings->state),
	    F_INT("waiting", scheduler_ledger_count(s.ledger, TAKEN_WAITS)));
	loop(&s);
	last = scheduler_poller_join(s.poller);
	LOG(LOG_INFO, NULL, "scheduler-stopped", F_INT("signals", s.stops));
	log_flush(1000);
	clean_up(&s);
	*ret = !o->once || s.stops > 0 ? SCHEDULER_DONE
	       : last == ROUND_LOST    ? SCHEDULER_UNREACHABLE
	       : last == ROUND_REFUSED ? SCHEDULER_REFUSED
	       : s.handler_failed      ? SCHEDULER_HANDLER_FAILED
				       : SCHEDULER_DONE;
	return 0;
}
