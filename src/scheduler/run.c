/* run.c — see run.h. Everything that needs memory is made before the fork; between fork and exec
 * there are system calls only, because the process has threads. */
#include "scheduler/run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "value/datetime.h"

extern char **environ;

/* ---- environment ---- */

#define VARIABLES 12
#define PREFIX "PROCESSION_JOB_"

struct environment {
	char **all; /* ours first, then what we were given */
	char *made[VARIABLES];
	size_t nmade;
	bool failed;
};

static void set(struct environment *e, const char *name, const char *value)
{
	char *text = NULL;

	assert(e->nmade < VARIABLES);
	if (asprintf(&text, PREFIX "%s=%s", name, value != NULL ? value : "") < 0) {
		e->failed = true;
		return;
	}
	e->made[e->nmade++] = text;
}

static void set_time(struct environment *e, const char *name, int64_t ticks)
{
	char time[JOB_TIME_MAX], text[JOB_TIME_MAX + 1] = "";

	if (ticks != DATETIME_MAX) {
		scheduler_job_time_sent(ticks, time);
		snprintf(text, sizeof(text), "%sZ", time);
	}
	set(e, name, text);
}

static void environment_free(struct environment *e)
{
	for (size_t i = 0; i < e->nmade; i++)
		free(e->made[i]);
	free(e->all);
}

static int environment_make(struct environment *e, const struct taken *t, const struct handler *h,
			    const char *action, struct err *reterr)
{
	size_t n = 0, at;

	*e = (struct environment){ 0 };
	set(e, "ID", t->row.id);
	set(e, "ASSEMBLY", t->row.assembly);
	set(e, "CLASS", t->row.class);
	set(e, "CLASS_NAME", h->class->name);
	set(e, "ACTION", action);
	set(e, "RECURRENCE", t->row.recurrence);
	set(e, "DATA", t->row.data);
	set(e, "DISPLAY_NAME", t->row.display_name);
	set_time(e, "DUE", t->due);
	set_time(e, "NEXT_DUE", t->next);
	while (environ[n] != NULL)
		n++;
	e->all = calloc(n + e->nmade + 1, sizeof(*e->all));
	if (e->all == NULL || e->failed) {
		environment_free(e);
		return err_nomem(reterr);
	}
	memcpy(e->all, e->made, e->nmade * sizeof(*e->made));
	at = e->nmade;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], PREFIX, strlen(PREFIX)) != 0)
			e->all[at++] = environ[i];
	return 0;
}

/* ---- start ---- */

/* In the child. The signals that the scheduler blocks and ignores are as usual for the handler. */
static void become(const struct handler *h, char **env, int output)
{
	static const int usual[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE };
	static const char message[] = "the handler could not be executed\n";
	sigset_t none;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setpgid(0, 0);
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		signal(usual[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The library that talks to the server leaves its socket open over exec: with it a
	 * handler could speak as the scheduler. */
	if (null >= 0 && dup2(null, 0) == 0 && dup2(output, 1) == 1 && dup2(output, 2) == 2 &&
	    close_range(3, ~0U, 0) == 0)
		execve(h->argv[0], h->argv, env);
	if (write(2, message, sizeof(message) - 1) < 0)
		_exit(126);
	_exit(127);
}

int scheduler_run_start(struct run *r, struct taken *t, const struct handler *h, const char *action,
			unsigned timeout_s, struct err *reterr)
{
	struct environment env;
	int fds[2];
	pid_t pid;

	assert(r->stage == RUN_FREE);
	if (environment_make(&env, t, h, action, reterr) < 0)
		return -1;
	if (pipe2(fds, O_CLOEXEC) < 0) {
		environment_free(&env);
		return err_raise(reterr, 50000, 16, 1, "no pipe for the handler's output: %s",
				 strerror(errno));
	}
	pid = fork();
	if (pid == 0)
		become(h, env.all, fds[1]);
	environment_free(&env);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return err_raise(reterr, 50000, 16, 1, "the handler could not be started: %s",
				 strerror(errno));
	}
	setpgid(pid, pid); /* also here: whoever comes first */
	(void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
	*r = (struct run){ .taken = t,
			   .class_name = h->class->name,
			   .pid = pid,
			   .fd = fds[0],
			   .started = clock_ticks(),
			   .stage = RUN_ALIVE };
	r->deadline = timeout_s > 0 ? clock_mono_ms() + (int64_t)timeout_s * 1000 : INT64_MAX;
	return 0;
}

/* ---- output ---- */

static void log_line(struct run *r)
{
	r->line[r->n] = '\0';
	if (r->n > 0)
		LOG(LOG_INFO, NULL, "output", F_STR("job", r->taken->row.id), F_INT("pid", r->pid),
		    F_STR("text", r->line));
	r->n = 0;
}

static void take_output(struct run *r, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n' || r->n == RUN_LINE - 1)
			log_line(r);
		if (p[i] != '\n')
			r->line[r->n++] = p[i] != '\0' ? p[i] : ' ';
	}
}

/* At most so much at a time: a handler that writes without end must not keep the others from
 * being looked after. */
void scheduler_run_read(struct run *r)
{
	char buf[4096];

	for (int i = 0; i < 16 && r->fd >= 0; i++) {
		ssize_t n = read(r->fd, buf, sizeof(buf));

		if (n > 0) {
			take_output(r, buf, (size_t)n);
			continue;
		}
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		close(r->fd);
		r->fd = -1;
	}
}

/* ---- end ---- */

void scheduler_run_end(struct run *r, const char *why, unsigned grace_s)
{
	assert(r->stage != RUN_FREE && r->pid > 1);
	if (r->stage != RUN_ALIVE)
		return;
	LOG(LOG_WARN, NULL, "terminating", F_STR("job", r->taken->row.id), F_INT("pid", r->pid),
	    F_STR("why", why));
	r->ended_by = why;
	r->stage = RUN_TERMINATED;
	r->deadline = clock_mono_ms() + (int64_t)grace_s * 1000;
	(void)kill(-r->pid, SIGTERM);
}

void scheduler_run_check(struct run *r, unsigned grace_s)
{
	if (r->stage == RUN_FREE || clock_mono_ms() < r->deadline)
		return;
	if (r->stage == RUN_ALIVE) {
		scheduler_run_end(r, "timeout", grace_s);
	} else if (r->stage == RUN_TERMINATED) {
		LOG(LOG_WARN, NULL, "killing", F_STR("job", r->taken->row.id), F_INT("pid", r->pid));
		r->stage = RUN_KILLED;
		r->deadline = INT64_MAX;
		(void)kill(-r->pid, SIGKILL);
	}
}

int scheduler_run_finish(struct run *r, int wait_status, const char **ret_outcome)
{
	int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);

	assert(r->stage != RUN_FREE);
	scheduler_run_read(r);
	log_line(r);
	if (r->fd >= 0)
		close(r->fd);
	if (r->ended_by != NULL)
		(void)kill(-r->pid, SIGKILL); /* what it left behind */
	*ret_outcome = r->ended_by != NULL ? r->ended_by : status == 0 ? "ok" : "failed";
	LOG(status == 0 && r->ended_by == NULL ? LOG_INFO : LOG_ERROR, NULL, "finished",
	    F_STR("job", r->taken->row.id), F_STR("class", r->class_name), F_INT("pid", r->pid),
	    F_STR("outcome", *ret_outcome), F_INT("status", status),
	    F_INT("ms", (clock_ticks() - r->started) * 1000 / TICKS_PER_SECOND));
	r->stage = RUN_FREE;
	return status;
}
