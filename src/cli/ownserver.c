/* ownserver.c — a server for those who have none: processiond on a folder in the user's home, on
 * a free port of the loopback address. It is started by the first command that needs it and
 * stopped by the last one; every command holds a shared lock on DIR/commands meanwhile. The
 * folder itself, which outlives a deletion of such files, is locked by the server. If somebody
 * deletes them while commands run, one may find its server stopped by another, says so, and
 * --resume goes on; of two servers that are started the second is refused. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/folder.h"
#include "cli/batch.h"

#define MACHINE_DATA "/var/lib/procession"
#define START_MS 60000
#define STOP_MS 30000

struct cli_own_server {
	char dir[4096];
	int lock_fd; /* DIR/commands */
	pid_t child; /* 0: somebody else started it */
};

/* --- finding --- */

static bool is_there(const char *path)
{
	return access(path, X_OK) == 0;
}

/* Beside this program, as make and meson build it, or where it was installed. */
static bool find_daemon(char *dst, size_t size)
{
	static const char *const places[] = { "processiond", "../sbin/processiond", "../daemon/processiond" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n <= 0)
		return false;
	self[n] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (snprintf(dst, size, "%s/%s", self, places[i]) < (int)size && is_there(dst))
			return true;
	for (size_t i = 0; i < 2; i++)
		if (snprintf(dst, size, "%s/processiond", i == 0 ? "/usr/sbin" : "/usr/local/sbin") <
			    (int)size &&
		    is_there(dst))
			return true;
	return false;
}

/* Whether a server answers on the folder. */
static bool answers(const struct cli *cli, const char *dir)
{
	struct cli probe = { .data = dir, .timeout = cli->timeout };
	struct client *c;
	struct err e = { 0 };
	char path[4200];

	snprintf(path, sizeof(path), "%s/sa-password", dir);
	if (access(path, R_OK) < 0)
		return false;
	if (cli_connect(&probe, &c, &e) < 0)
		return false;
	client_close(c);
	return true;
}

/* --- starting --- */

static int failed(const struct cli_own_server *s, const char *what, struct err *reterr)
{
	return err_raise(reterr, 50000, 16, 1, "%s '%s': %s", what, s->dir, strerror(errno));
}

/* The new process: a session of its own, so that Ctrl-C on the terminal is not meant for it, and
 * nothing of what this command or its caller has open, which it may outlive. */
static void run_daemon(const struct cli_own_server *s, const char *path, int out)
{
	char log[4200];
	sigset_t none;
	int null = open("/dev/null", O_RDONLY), errors;

	snprintf(log, sizeof(log), "%s/log", s->dir);
	errors = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (setsid() < 0 || null < 0 || errors < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(errors, 2) < 0 || close_range(3, ~0U, 0) < 0)
		_exit(126);
	execl(path, "processiond", "--data", s->dir, "--listen", "127.0.0.1:0", (char *)NULL);
	_exit(127);
}

/* Until it says that it is ready. */
static bool wait_ready(int fd)
{
	int64_t until = clock_mono_ms() + START_MS;
	char text[512];
	size_t n = 0;

	while (clock_mono_ms() < until && n + 1 < sizeof(text)) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t got;

		if (poll(&p, 1, 500) <= 0)
			continue;
		got = read(fd, text + n, sizeof(text) - 1 - n);
		if (got <= 0)
			return false;
		n += (size_t)got;
		text[n] = '\0';
		if (strncmp(text, "ready ", 6) == 0 || strstr(text, "\nready ") != NULL)
			return true;
	}
	return false;
}

static void write_pid(const struct cli_own_server *s)
{
	char path[4200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", s->dir);
	f = fopen(path, "we");
	if (f != NULL) {
		fprintf(f, "%d\n", (int)s->child);
		fclose(f);
	}
}

static int start(struct cli_own_server *s, struct err *reterr)
{
	char path[PATH_MAX + 32];
	int pipes[2];
	bool ready;

	assert(s->lock_fd >= 0 && s->child == 0); /* nobody else stops it meanwhile */
	if (!find_daemon(path, sizeof(path)))
		return err_raise(reterr, 50000, 16, 1,
				 "no server was named, and the program processiond is not beside this one: "
				 "give --server or --data, or install it");
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return failed(s, "cannot start a server on", reterr);
	s->child = fork();
	if (s->child == 0)
		run_daemon(s, path, pipes[1]);
	close(pipes[1]);
	ready = s->child > 0 && wait_ready(pipes[0]);
	close(pipes[0]);
	if (!ready)
		return err_raise(reterr, 50000, 16, 1,
				 "the server on '%s' did not start; its reason is in '%s/log'", s->dir,
				 s->dir);
	write_pid(s);
	return 0;
}

/* One command at a time looks and starts. */
static int ensure(const struct cli *cli, struct cli_own_server *s, struct err *reterr)
{
	char path[4200];
	int fd, rc = 0;

	snprintf(path, sizeof(path), "%s/starting", s->dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0)
		rc = failed(s, "cannot use", reterr);
	else if (!answers(cli, s->dir))
		rc = start(s, reterr);
	if (fd >= 0)
		close(fd);
	return rc;
}

static int open_own(struct cli *cli, struct cli_own_server **ret, struct err *reterr)
{
	struct cli_own_server *s = calloc(1, sizeof(*s));
	char path[4200];

	if (s == NULL)
		return err_nomem(reterr);
	s->lock_fd = -1;
	if (!cli_home_data(s->dir, sizeof(s->dir)) || !folder_make(s->dir)) {
		err_raise(
			reterr, 50000, 16, 1,
			"no server was named, and there is no home folder for one: give --server or --data");
		goto fail;
	}
	snprintf(path, sizeof(path), "%s/commands", s->dir);
	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock_fd < 0 || flock(s->lock_fd, LOCK_SH) < 0) {
		failed(s, "cannot use", reterr);
		goto fail;
	}
	if (ensure(cli, s, reterr) < 0)
		goto fail;
	cli->data = s->dir;
	*ret = s;
	return 0;
fail:
	cli_own_server_leave(s);
	return -1;
}

int cli_own_server_find(struct cli *cli, struct cli_own_server **ret, struct err *reterr)
{
	const char *given = getenv("PROCESSION_SERVER");

	*ret = NULL;
	if (cli->server != NULL || cli->data != NULL || (given != NULL && given[0] != '\0'))
		return 0;
	if (answers(cli, MACHINE_DATA)) {
		cli->data = MACHINE_DATA;
		return 0;
	}
	return open_own(cli, ret, reterr);
}

/* --- leaving --- */

/* A number in a file may be somebody else's by now. */
static bool is_processiond(pid_t pid)
{
	char link[64], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0)
		return false;
	path[n] = '\0';
	return strstr(path, "/processiond") != NULL;
}

static pid_t read_pid(const struct cli_own_server *s)
{
	char path[4200], line[32] = "";
	long pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", s->dir);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) != NULL)
		pid = strtol(line, NULL, 10);
	fclose(f);
	return pid > 0 && pid <= INT_MAX ? (pid_t)pid : 0;
}

static void stop(const struct cli_own_server *s)
{
	pid_t pid = read_pid(s);
	int64_t until = clock_mono_ms() + STOP_MS;

	assert(s->lock_fd >= 0); /* it has the lock alone: no command needs the server */
	if (pid <= 1 || !is_processiond(pid) || kill(pid, SIGTERM) < 0)
		return;
	while (clock_mono_ms() < until) {
		if (pid == s->child ? waitpid(pid, NULL, WNOHANG) == pid : kill(pid, 0) < 0)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
}

void cli_own_server_leave(struct cli_own_server *s)
{
	if (s == NULL)
		return;
	/* Alone: nobody else holds the lock, and who comes now waits for it. */
	if (s->lock_fd >= 0 && flock(s->lock_fd, LOCK_EX | LOCK_NB) == 0)
		stop(s);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s);
}
