/* spawn.c — see jail.h. Everything that needs memory is made before the clone; between clone and
 * exec there are system calls only, because the calling program has threads. What happens there:
 *
 *   outside: clone3, writes the maps of users, says "go" … reads nothing (exec) or what failed
 *   inside:  waits for "go", becomes nobody, makes its root, arranges descriptors, gives up
 *            rights, executes */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "jail/jail_int.h"

#define NOBODY 65534
#define FDS_MAX 8

/* What the child says when it cannot go on. */
struct failure {
	int number; /* errno */
	char step[120];
};

struct start {
	const struct jail_spec *spec;
	const char *const *argv, *const *env;
	const int *fds;
	size_t nfds;
	struct jail_plan plan;
	struct jail_filter *filter; /* of a program that is confined before it begins */
	int link[2];                /* 0: outside, 1: inside */
	bool root;                  /* started by root, and there is a nobody that it can become */
	pid_t parent;
};

/* --- inside: system calls only ------------------------------------------------------------ */

static void __attribute__((noreturn)) give_up(int link, const char *step)
{
	struct failure f = { .number = errno };

	str_copy(f.step, sizeof(f.step), str_of(step));
	(void)!write(link, &f, sizeof(f));
	_exit(127);
}

/* As root we become nobody. In a user namespace the user that is shown as 0 inside is nobody, or
 * the one who started us. */
static int change_user(const struct start *s)
{
	const unsigned id = s->spec->off ? NOBODY : 0;

	if (s->root && syscall(SYS_setgroups, 0, NULL) < 0)
		return -1;
	if (s->spec->off && !s->root)
		return 0;
	return syscall(SYS_setresgid, id, id, id) < 0 || syscall(SYS_setresuid, id, id, id) < 0 ? -1 : 0;
}

/* fds[i] becomes i. They are first copied out of the way of each other. Returns the new number
 * of the link. */
static int arrange(const struct start *s)
{
	int away[FDS_MAX], link = fcntl(s->link[1], F_DUPFD_CLOEXEC, 4 * FDS_MAX);

	for (size_t i = 0; i < s->nfds; i++) {
		away[i] = fcntl(s->fds[i], F_DUPFD_CLOEXEC, 2 * FDS_MAX);
		if (away[i] < 0)
			return -1;
	}
	for (size_t i = 0; i < s->nfds; i++)
		if (dup2(away[i], (int)i) < 0)
			return -1;
	if (link < 0 || close_range((unsigned)s->nfds, (unsigned)link - 1, 0) < 0 ||
	    close_range((unsigned)link + 1, ~0U, 0) < 0)
		return -1;
	return link;
}

static void default_signals(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &usual, NULL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __attribute__((noreturn)) inside(struct start *s)
{
	const struct jail_spec *spec = s->spec;
	const char *failed;
	char go;
	int link;

	close(s->link[0]);
	default_signals();
	if (read(s->link[1], &go, 1) != 1)
		_exit(127);
	if (change_user(s) < 0)
		give_up(s->link[1], "changing the user");
	/* After the change of user, which would forget it. Whoever started us may have ended
	 * meanwhile. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		give_up(s->link[1], "asking for a signal");
	if (!spec->off) {
		failed = jail_plan_enter(&s->plan);
		if (failed == NULL && sethostname("jail", 4) < 0)
			failed = "naming the host";
		if (failed != NULL)
			give_up(s->link[1], failed);
	} else if (getppid() != s->parent || chdir("/tmp") < 0) {
		give_up(s->link[1], "entering /tmp");
	}
	setsid();
	link = arrange(s);
	if (link < 0)
		give_up(s->link[1], "passing descriptors");
	if (spec->nursery) {
		/* Off, there is nothing to mount; otherwise the user namespace is what these
		 * rights end at. The second is for giving them up for good, later. */
		const uint64_t keep = UINT64_C(1) << CAP_SYS_ADMIN | UINT64_C(1) << CAP_SETPCAP;

		if (jail_drop_capabilities(spec->off ? 0 : keep) < 0)
			give_up(link, "giving up capabilities");
	} else if (jail_confine(s->filter, &spec->limits, !spec->off) < 0) {
		give_up(link, "giving up rights");
	}
	syscall(SYS_execve, s->argv[0], s->argv, s->env);
	give_up(link, s->argv[0]);
}

/* --- outside ------------------------------------------------------------------------------ */

static int put(pid_t pid, const char *file, const char *text)
{
	char path[64];
	int fd, rc;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	rc = write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
	close(fd);
	return rc;
}

/* Who is 0 inside: nobody where root starts it, otherwise the one who does. */
static int map_users(const struct start *s, pid_t pid)
{
	char text[64];

	assert(pid > 1 && !s->spec->off);
	snprintf(text, sizeof(text), "0 %u 1", s->root ? NOBODY : (unsigned)geteuid());
	if (put(pid, "uid_map", text) < 0)
		return -1;
	/* Only root may leave its groups; anybody else must promise that nobody inside does. */
	if (!s->root && put(pid, "setgroups", "deny") < 0)
		return -1;
	snprintf(text, sizeof(text), "0 %u 1", s->root ? NOBODY : (unsigned)getegid());
	return put(pid, "gid_map", text);
}

static int forbidden(struct err *reterr, int number, const char *step)
{
	return err_raise(
		reterr, 50000, 16, 1,
		"documents cannot be worked on in a jail here: %s: %s. Allow user namespaces (sysctl "
		"user.max_user_namespaces above 0; Debian: kernel.unprivileged_userns_clone=1; Ubuntu: "
		"kernel.apparmor_restrict_unprivileged_userns=0; in a container, a security profile that "
		"allows clone and "
		"mount), or choose jail = off, which lets a document read what this user can read",
		step, strerror(number));
}

static int raise_failure(struct err *reterr, const struct failure *f, const struct start *s)
{
	if (strcmp(f->step, s->argv[0]) == 0)
		return err_raise(reterr, 50000, 16, 1, "%s cannot be executed: %s", s->argv[0],
				 strerror(f->number));
	if (!s->spec->off)
		return forbidden(reterr, f->number, f->step);
	return err_raise(reterr, 50000, 16, 1, "a program for documents could not be started: %s: %s",
			 f->step, strerror(f->number));
}

static int64_t clone_process(const struct start *s, int *ret_pidfd)
{
	struct clone_args args = {
		.flags = CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)ret_pidfd,
		.exit_signal = SIGCHLD,
	};

	if (!s->spec->off)
		args.flags |= CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
			      (s->spec->network ? 0 : CLONE_NEWNET);
	return syscall(SYS_clone3, &args, sizeof(args));
}

static int run(struct start *s, struct jail_process *ret, struct err *reterr)
{
	struct failure f = { 0 };
	struct jail_process p = { .pidfd = -1 };
	sigset_t all, before;
	ssize_t n;

	/* A handler of the caller's must not run in the child. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	p.pid = (pid_t)clone_process(s, &p.pidfd);
	if (p.pid == 0)
		inside(s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(s->link[1]);
	s->link[1] = -1;
	if (p.pid < 0) {
		if (!s->spec->off)
			return forbidden(reterr, errno, "new namespaces");
		return err_raise(reterr, 50000, 16, 1, "no process for a document: %s", strerror(errno));
	}
	if (!s->spec->off && map_users(s, p.pid) < 0) {
		f.number = errno;
		(void)jail_end(&p);
		return forbidden(reterr, f.number, "mapping the user");
	}
	if (write(s->link[0], "g", 1) != 1)
		f.number = errno;
	do
		n = read(s->link[0], &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	if (n == 0) {
		*ret = p;
		return 0;
	}
	(void)jail_end(&p);
	f.step[sizeof(f.step) - 1] = '\0';
	return raise_failure(reterr, &f, s);
}

/* Whether the numbers of users (or groups) that this process can see have nobody's among them. In a
 * container without other users root is the one who started it, and is worked with like anybody. */
static bool has_nobody(const char *map)
{
	FILE *f = fopen(map, "re");
	char line[128];         /* first number inside, outside, how many */
	bool found = f == NULL; /* no /proc: as on a machine */

	while (f != NULL && !found && fgets(line, sizeof(line), f) != NULL) {
		char *p = line;
		unsigned long first = strtoul(p, &p, 10);

		(void)strtoul(p, &p, 10);
		found = first <= NOBODY && NOBODY - first < strtoul(p, &p, 10);
	}
	if (f != NULL)
		fclose(f);
	return found;
}

int jail_spawn(const struct jail_spec *spec, const char *const *argv, const char *const *env, const int *fds,
	       size_t nfds, struct jail_process *ret, struct err *reterr)
{
	struct start s = {
		.spec = spec, .argv = argv, .env = env, .fds = fds, .nfds = nfds, .link = { -1, -1 }
	};
	int rc = -1;

	assert(argv[0] != NULL && spec != NULL && ret != NULL);
	if (nfds > FDS_MAX)
		return err_raise(reterr, 50000, 16, 1,
				 "a program in a jail can be given %d descriptors at most", FDS_MAX);
	s.root = geteuid() == 0 && has_nobody("/proc/self/uid_map") && has_nobody("/proc/self/gid_map");
	s.parent = getpid();
	if (!spec->off && jail_plan_make(&s.plan, spec, reterr) < 0)
		return -1;
	if (!spec->nursery && jail_filter_make(true, spec->network, &s.filter, reterr) < 0)
		goto end;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s.link) < 0) {
		err_raise(reterr, 50000, 16, 1, "no socket for a program in a jail: %s", strerror(errno));
		goto end;
	}
	rc = run(&s, ret, reterr);
end:
	for (int i = 0; i < 2; i++)
		if (s.link[i] >= 0)
			close(s.link[i]);
	jail_filter_free(s.filter);
	jail_plan_free(&s.plan);
	return rc;
}

int jail_end(struct jail_process *p)
{
	int status = 0;

	assert(p->pid > 1);
	(void)kill(p->pid, SIGKILL);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pid = -1;
	p->pidfd = -1;
	return status;
}
