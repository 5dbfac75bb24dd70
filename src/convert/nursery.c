/* nursery.c — the parent: takes documents from the engine, forks a process for each, ends those
 * that take too long, says how each ended. It never looks at a document.
 *
 * Everything happens inside LibreOffice's poll callback, where no other thread of it runs, so
 * that a fork gives a whole LibreOffice. A child returns from there, so that the loop goes on in
 * it. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "convert/nursery_int.h"

extern char **environ;

/* --- how a document ended ----------------------------------------------------------------- */

static uint32_t milliseconds(const struct rusage *u)
{
	return (uint32_t)((u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000 +
			  (u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1000);
}

/* A process that ended without saying anything was killed by us, by a limit or by a fault. */
static void explain(const struct convert_nursery *n, const struct convert_child *c, int status,
		    const struct rusage *u, struct convert_reply *r)
{
	int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (c->ended == DOCUMENT_TIMEOUT || signal == SIGXCPU ||
	    (signal == SIGKILL && r->cpu_ms >= c->seconds * 1000)) {
		r->error = DOCUMENT_TIMEOUT;
		snprintf(r->text, sizeof(r->text), "it took longer than %u seconds", c->seconds);
	} else if (c->ended == DOCUMENT_CANCELLED) {
		r->error = DOCUMENT_CANCELLED;
		str_copy(r->text, sizeof(r->text), STR("it was cancelled"));
	} else if ((uint64_t)u->ru_maxrss * 1024 > n->hello.memory / 2) {
		r->error = DOCUMENT_OUT_OF_MEMORY;
		snprintf(r->text, sizeof(r->text),
			 "LibreOffice ended for want of memory: its limit is %llu MiB",
			 (unsigned long long)(n->hello.memory >> 20));
	} else {
		r->error = DOCUMENT_WORKER_FAILED;
		snprintf(r->text, sizeof(r->text), "LibreOffice crashed on it (%s %d)",
			 signal != 0 ? "signal" : "status", signal != 0 ? signal : WEXITSTATUS(status));
	}
}

/* Without a jail its folder stays behind; in one it was the process's own. */
static void sweep(const struct convert_nursery *n, const struct convert_child *c)
{
	char folder[CONVERT_PATH_MAX];
	const char *const argv[] = { "/bin/rm", "-rf", "--", folder, NULL };
	pid_t pid;

	if (n->hello.jailed)
		return;
	snprintf(folder, sizeof(folder), "%s/%d", n->hello.base, (int)c->pid);
	(void)posix_spawn(&pid, argv[0], NULL, NULL, (char *const *)argv, environ);
}

static void ended(struct convert_nursery *n, struct convert_child *c, int status, const struct rusage *u)
{
	struct convert_reply r = { .kind = CONVERT_DONE, .id = c->id, .cpu_ms = milliseconds(u) };
	struct convert_report report;

	assert(c->pid > 0);
	r.wall_ms = (uint32_t)(clock_mono_ms() - c->started);
	if (c->ended == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
	    read(c->report, &report, sizeof(report)) == (ssize_t)sizeof(report)) {
		r.error = report.error;
		memcpy(r.text, report.text, sizeof(r.text));
	} else {
		explain(n, c, status, u, &r);
	}
	sweep(n, c);
	close(c->report);
	close(c->pidfd);
	*c = (struct convert_child){ 0 };
	if (send(n->socket, &r, sizeof(r), MSG_NOSIGNAL) < 0)
		_exit(0); /* the engine is gone */
}

static void reap(struct convert_nursery *n)
{
	struct rusage u;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &u)) > 0)
		for (unsigned i = 0; i < n->hello.slots; i++)
			if (n->children[i].pid == pid)
				ended(n, &n->children[i], status, &u);
}

static void end_child(struct convert_child *c, int why)
{
	assert(c->pid > 1);
	if (c->ended != 0)
		return;
	c->ended = why;
	(void)kill(-c->pid, SIGKILL);
	(void)kill(c->pid, SIGKILL); /* if it has not got as far as having a group */
}

/* --- beginning one ------------------------------------------------------------------------ */

/* True in the child. */
static bool begin(struct convert_nursery *n, const struct convert_request *r, int input, int output)
{
	struct convert_child *c = n->children;
	int report[2];
	pid_t pid;

	for (unsigned i = 1; i < n->hello.slots && c->pid != 0; i++)
		c++;
	if (c->pid != 0 || pipe2(report, O_CLOEXEC) < 0)
		_exit(1);       /* the engine sends no more than there are places for */
	assert(n->job == NULL); /* a child has one document, and begins no other: invariant 5 */
	pid = fork();
	if (pid == 0) {
		close(n->socket);
		close(report[0]);
		for (unsigned i = 0; i < n->hello.slots; i++)
			if (n->children[i].pid != 0) {
				close(n->children[i].report);
				close(n->children[i].pidfd);
			}
		convert_job_begin(n, r, input, output, report[1]);
		return true;
	}
	close(report[1]);
	if (pid < 0)
		_exit(1);
	*c = (struct convert_child){
		.pid = pid, .report = report[0], .id = r->id, .started = clock_mono_ms()
	};
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	c->seconds = r->seconds;
	c->deadline = c->started + (int64_t)r->seconds * 1000;
	return false;
}

/* True in a child that has just begun. */
static bool take_request(struct convert_nursery *n)
{
	struct convert_request r;
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec part = { &r, sizeof(r) };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c;
	int fds[2];

	if (recvmsg(n->socket, &m, MSG_CMSG_CLOEXEC) != (ssize_t)sizeof(r))
		_exit(0); /* the engine is gone */
	r.name[sizeof(r.name) - 1] = '\0';
	if (r.kind == CONVERT_CANCEL) {
		for (unsigned i = 0; i < n->hello.slots; i++)
			if (n->children[i].pid != 0 && n->children[i].id == r.id)
				end_child(&n->children[i], DOCUMENT_CANCELLED);
		return false;
	}
	c = CMSG_FIRSTHDR(&m);
	if (c == NULL || c->cmsg_len != CMSG_LEN(sizeof(fds)))
		_exit(1);
	memcpy(fds, CMSG_DATA(c), sizeof(fds));
	if (begin(n, &r, fds[0], fds[1]))
		return true;
	close(fds[0]);
	close(fds[1]);
	return false;
}

/* --- the loop ----------------------------------------------------------------------------- */

/* Returns how long nothing will be due, in ms; -1: until something happens. */
static int end_overdue(struct convert_nursery *n)
{
	int64_t now = clock_mono_ms(), first = INT64_MAX;

	for (unsigned i = 0; i < n->hello.slots; i++) {
		struct convert_child *c = &n->children[i];

		if (c->pid == 0 || c->ended != 0)
			continue;
		if (c->deadline <= now)
			end_child(c, DOCUMENT_TIMEOUT);
		else if (c->deadline < first)
			first = c->deadline;
	}
	return first == INT64_MAX ? -1 : (int)(first - now < 60000 ? first - now : 60000);
}

/* Returns in a child only. */
static void serve(struct convert_nursery *n)
{
	struct pollfd fds[CONVERT_SLOTS_MAX + 1];

	assert(n->hello.slots <= CONVERT_SLOTS_MAX);
	for (;;) {
		nfds_t count = 1;
		int wait = end_overdue(n);

		fds[0] = (struct pollfd){ .fd = n->socket, .events = POLLIN };
		for (unsigned i = 0; i < n->hello.slots; i++)
			if (n->children[i].pid != 0)
				fds[count++] = (struct pollfd){ .fd = n->children[i].pidfd,
								.events = POLLIN };
		if (poll(fds, count, wait) < 0 && errno != EINTR)
			_exit(1);
		reap(n);
		if (fds[0].revents != 0 && take_request(n))
			return;
	}
}

/* The first document: ours. What LibreOffice loads for it every child has. */
static void warm_up(struct convert_nursery *n)
{
	char path[CONVERT_PATH_MAX], url[CONVERT_PATH_MAX + 8], pdf[CONVERT_PATH_MAX + 8];
	LibreOfficeKitDocument *doc;
	struct convert_reply r = { .kind = CONVERT_READY };

	snprintf(path, sizeof(path), "%s/warm.docx", n->hello.base);
	snprintf(url, sizeof(url), "file://%s", path);
	snprintf(pdf, sizeof(pdf), "file://%s/warm.pdf", n->hello.base);
	doc = convert_write_warmup(path) == 0
		      ? n->kit->pClass->documentLoadWithOptions(n->kit, url, "Batch=true")
		      : NULL;
	if (doc == NULL ||
	    !doc->pClass->saveAs(doc, pdf, "pdf",
				 "{\"UseTaggedPDF\":{\"type\":\"boolean\",\"value\":\"true\"}}")) {
		r.kind = CONVERT_NOT_READY;
		snprintf(r.text, sizeof(r.text),
			 "LibreOffice could not convert the first, small document: %.300s",
			 n->kit->pClass->getError(n->kit));
	}
	if (doc != NULL)
		doc->pClass->destroy(doc);
	unlink(path);
	unlink(pdf + strlen("file://"));
	r.wall_ms = (uint32_t)(clock_mono_ms() - n->started);
	if (send(n->socket, &r, sizeof(r), MSG_NOSIGNAL) < 0 || r.kind != CONVERT_READY)
		_exit(1);
}

int convert_nursery_poll(void *nursery, int timeout_ms)
{
	struct convert_nursery *n = nursery;

	if (n->job != NULL) {
		convert_job_step(n->job, timeout_ms);
		return 0;
	}
	assert(n->socket >= 0 && n->hello.slots > 0);
	warm_up(n);
	serve(n);
	return 0;
}
