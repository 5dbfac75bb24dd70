/* process.c — starting programs in the jail and learning how they ended. */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "translate/engine_int.h"

#define FDS_MAX 6

/* A document may unpack to a gigabyte in memory files and /tmp; texts and dictionaries are small
 * beside that. */
static const struct jail_limits limits = {
	.address_space = UINT64_C(6) << 30,
	.file_size = UINT64_C(2) << 30,
	.files = 256,
	.processes = 64,
};

static const char *const environment[] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8", "HOME=/tmp",
					   "TMPDIR=/tmp", NULL };

/* What a client needs to find a host and to trust it. */
static const char *const network_paths[] = { "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf",
					     "/etc/host.conf", "/etc/ssl" };

#define PATHS_MAX (ARRAY_LEN(network_paths) + TRANSLATE_SHOW_MAX + 3)

/* A command sees its own folder, unless that is in every jail, and what its rule says. */
static void show_command(const struct translate_rule *rule, char *folder, struct jail_path *paths, size_t *n)
{
	static const char *const everywhere[] = { "/usr/", "/bin/", "/sbin/", "/lib" };
	bool seen = false;
	char *slash;

	snprintf(folder, PATH_MAX, "%s", rule->words[0]);
	slash = strrchr(folder, '/');
	if (slash != NULL && slash != folder)
		*slash = '\0';
	for (size_t i = 0; i < ARRAY_LEN(everywhere); i++)
		seen = seen || strncmp(rule->words[0], everywhere[i], strlen(everywhere[i])) == 0;
	if (!seen)
		paths[(*n)++] = (struct jail_path){ folder, NULL };
	for (size_t i = 0; rule->show[i] != NULL; i++)
		paths[(*n)++] = (struct jail_path){ rule->show[i], NULL };
}

static int start(struct translate_engine *e, struct translate_process *p, enum translate_program program,
		 const struct translate_rule *rule, const char *const *argv, const int *fds, size_t nfds,
		 struct translate_failure *f)
{
	char folder[PATH_MAX];
	struct jail_path paths[PATHS_MAX] = { e->own, { e->apertium, NULL } };
	struct jail_spec spec = {
		.off = e->options.jail_off,
		.paths = paths,
		.npaths = 2,
		.tmp_size = UINT64_C(1) << 30,
		.limits = limits,
		.network = program == TRANSLATE_PROGRAM_HTTP || (rule != NULL && rule->network),
	};
	int all[FDS_MAX + 1] = { fds[0], fds[1], p->complaints };
	struct epoll_event watch = { .events = EPOLLIN };
	struct err err = { 0 };

	for (size_t i = 2; i < nfds; i++)
		all[i + 1] = fds[i];
	if (rule != NULL)
		show_command(rule, folder, paths, &spec.npaths);
	for (size_t i = 0; spec.network && i < ARRAY_LEN(network_paths); i++)
		paths[spec.npaths++] = (struct jail_path){ network_paths[i], network_paths[i] };
	assert(spec.npaths <= PATHS_MAX && nfds <= FDS_MAX);
	if (jail_spawn(&spec, argv, environment, all, nfds + 1, &p->jail, &err) < 0)
		return translate_fail(f, DOCUMENT_ENGINE_MISSING, "%.500s", err.text);
	p->running = true;
	(void)epoll_ctl(e->epoll, EPOLL_CTL_ADD, p->jail.pidfd, &watch);
	return 0;
}

int translate_process_start(struct translate_engine *e, struct translate_process *p,
			    enum translate_program program, const struct translate_rule *rule,
			    const char *const *argv, const int *fds, size_t nfds, struct translate_failure *f)
{
	int wanted[FDS_MAX] = { 0 };

	assert(nfds >= 2 && nfds < FDS_MAX);
	*p = (struct translate_process){ .failure = -1 };
	p->complaints = memfd_create("complaints", MFD_CLOEXEC);
	if (p->complaints < 0)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	memcpy(wanted, fds, nfds * sizeof(*fds));
	/* Our own programs say what went wrong; their descriptor for it is the last. */
	if (program == TRANSLATE_PROGRAM_DOCUMENT || program == TRANSLATE_PROGRAM_HTTP) {
		p->failure = memfd_create("failure", MFD_CLOEXEC);
		wanted[nfds++] = p->failure;
	}
	if (start(e, p, program, rule, argv, wanted, nfds, f) == 0)
		return 0;
	translate_process_end(p);
	return -1;
}

/* User and system time of a process that has ended and of its children, in milliseconds, from the
 * line that the kernel keeps until it is reaped. The name in it may hold anything; after its
 * last bracket a letter and ten numbers follow, then the four. */
static unsigned cpu_in(const char *stat)
{
	const char *at = strrchr(stat, ')');
	unsigned long ticks = 0;
	char *end;

	if (at == NULL || strlen(at) < 4)
		return 0;
	at += 3;
	for (int i = 0; i < 14; i++) {
		unsigned long n = strtoul(at, &end, 10);

		if (end == at)
			return 0;
		ticks += i < 10 ? 0 : n;
		at = end;
	}
	return (unsigned)(ticks * 1000 / (unsigned long)sysconf(_SC_CLK_TCK));
}

static unsigned cpu_of(pid_t pid)
{
	char path[64], line[1024];
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return 0;
	n = fread(line, 1, sizeof(line) - 1, file);
	(void)fclose(file);
	line[n] = '\0';
	return cpu_in(line);
}

bool translate_process_ended(struct translate_process *p, unsigned *cpu_ms)
{
	struct pollfd look = { .events = POLLIN };

	if (!p->running)
		return true;
	look.fd = p->jail.pidfd;
	if (poll(&look, 1, 0) <= 0)
		return false;
	*cpu_ms += cpu_of(p->jail.pid);
	p->status = jail_end(&p->jail);
	p->running = false;
	return true;
}

void translate_process_end(struct translate_process *p)
{
	if (p->running)
		p->status = jail_end(&p->jail);
	p->running = false;
	if (p->complaints > 0)
		(void)close(p->complaints);
	if (p->failure > 0)
		(void)close(p->failure);
	p->complaints = p->failure = -1;
}

/* The last line of what it wrote to standard error, for people. */
static void last_line(int fd, char *ret, size_t size)
{
	char text[2048];
	off_t end = lseek(fd, 0, SEEK_END),
	      from = end > (off_t)sizeof(text) - 1 ? end - (off_t)sizeof(text) + 1 : 0;
	ssize_t n = end <= 0 ? 0 : pread(fd, text, sizeof(text) - 1, from);
	char *line;

	ret[0] = '\0';
	if (n <= 0)
		return;
	text[n] = '\0';
	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		text[--n] = '\0';
	line = strrchr(text, '\n');
	str_copy(ret, size, str_of(line == NULL ? text : line + 1));
}

bool translate_process_failure(const struct translate_process *p, const char *who,
			       struct translate_failure *f)
{
	struct translate_failure own;
	char complaint[256] = "";

	assert(p->running || p->complaints >= 0);
	if (p->running || (WIFEXITED(p->status) && WEXITSTATUS(p->status) == 0))
		return false;
	if (p->failure >= 0 && pread(p->failure, &own, sizeof(own), 0) == (ssize_t)sizeof(own) &&
	    own.error != 0) {
		own.text[sizeof(own.text) - 1] = '\0';
		(void)translate_fail(f, own.error, "%s", own.text);
		return true;
	}
	last_line(p->complaints, complaint, sizeof(complaint));
	if (WIFSIGNALED(p->status))
		(void)translate_fail(f, DOCUMENT_WORKER_FAILED, "%s crashed (signal %d). %s", who,
				     WTERMSIG(p->status), complaint);
	else
		(void)translate_fail(f, DOCUMENT_WORKER_FAILED, "%s ended with status %d. %s", who,
				     WEXITSTATUS(p->status), complaint);
	return true;
}
