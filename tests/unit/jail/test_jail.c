/* test_jail.c — what a program in a jail can and cannot do, tried by programs of the system: as
 * whoever runs the tests, and, if that is root, as an ordinary user too. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "jail/jail.h"

#define OUTPUT_MAX 8192

static const char *const env[] = { "PATH=/usr/bin:/bin", NULL };

/* What a shell in the jail says to this; its status in *ret_status. */
static const char *say(const struct jail_spec *spec, const char *script, int *ret_status)
{
	static char output[OUTPUT_MAX];
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	struct jail_process p;
	struct err e = { 0 };
	int pipes[2], null = open("/dev/null", O_RDWR | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	if (jail_spawn(spec, argv, env, (const int[]){ null, pipes[1], pipes[1] }, 3, &p, &e) < 0) {
		print_message("%s\n", e.text);
		fail();
	}
	close(pipes[1]);
	while (n < sizeof(output) - 1 && (got = read(pipes[0], output + n, sizeof(output) - 1 - n)) > 0)
		n += (size_t)got;
	output[n] = '\0';
	close(pipes[0]);
	close(null);
	assert_int_equal(waitpid(p.pid, ret_status, 0), p.pid);
	close(p.pidfd);
	return output;
}

static const struct jail_spec plain = { .tmp_size = 8 << 20, .limits = { .files = 64, .processes = 32 } };

static void expect(const struct jail_spec *spec, const char *script, const char *answer)
{
	int status;
	const char *output = say(spec, script, &status);

	if (strcmp(output, answer) != 0) {
		print_message("%s\n answered %s instead of %s\n", script, output, answer);
		fail();
	}
}

static void test_sees_only_what_it_needs(void **state)
{
	(void)state;
	expect(&plain,
	       "cd / && ls -d etc/* tmp home root proc sys var 2>/dev/null | grep -v -e ld.so.cache -e "
	       "localtime -e alternatives",
	       "tmp\n");
	expect(&plain, "ls -A /tmp; pwd", "/tmp\n");
	expect(&plain, "id -u; id -G; hostname", "0\n0\njail\n");
}

static void test_writes_to_its_tmp_only(void **state)
{
	(void)state;
	expect(&plain,
	       "for d in /usr /dev / /etc /bin; do touch $d/x 2>/dev/null && echo $d; done; echo yes > "
	       "/tmp/x && cat /tmp/x",
	       "yes\n");
	expect(&plain, "head -c 20000000 /dev/zero > /tmp/x 2>/dev/null || echo full", "full\n");
}

static void test_has_no_network_and_no_rights(void **state)
{
	(void)state;
	expect(&plain,
	       "python3 -c 'import socket\nfor f in socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK:\n "
	       "try: socket.socket(f); print(f)\n "
	       "except PermissionError: pass\nsocket.socket(socket.AF_UNIX); print(\"unix\")'",
	       "unix\n");
	expect(&plain,
	       "unshare -U true 2>/dev/null && echo user; unshare -m true 2>/dev/null && echo mount; chroot "
	       "/ true 2>/dev/null && echo root; "
	       "mount -t tmpfs x /tmp 2>/dev/null && echo mount; echo end",
	       "end\n");
	/* prctl(PR_CAPBSET_READ): none is left to be had by executing anything. */
	expect(&plain,
	       "python3 -c 'import ctypes\nprint(sum(ctypes.CDLL(None).prctl(23, i, 0, 0, 0) > 0 for i in "
	       "range(64)))'",
	       "0\n");
}

static void test_sees_no_other_process(void **state)
{
	char script[64];

	(void)state;
	snprintf(script, sizeof(script), "kill -0 %d 2>/dev/null && echo seen; echo $$", (int)getpid());
	expect(&plain, script, "1\n");
}

static void test_limits(void **state)
{
	struct jail_spec spec = plain;
	int status;

	(void)state;
	spec.limits.file_size = 1 << 20;
	expect(&spec, "head -c 2000000 /dev/zero > /tmp/x 2>/dev/null || echo short; wc -c < /tmp/x",
	       "short\n1048576\n");
	spec = plain;
	spec.limits.cpu_seconds = 1;
	say(&spec, "exec python3 -c 'while True: pass'", &status);
	assert_true(WIFSIGNALED(status));
	spec = plain;
	spec.limits.processes = 8;
	expect(&spec,
	       "n=0; while [ $n -lt 20 ]; do (sleep 60 & ) 2>/dev/null || break; n=$((n+1)); done; [ $n -lt "
	       "20 ] && echo few",
	       "few\n");
}

/* Also what the user could write to outside. */
static void test_what_it_is_given(void **state)
{
	char folder[] = "/tmp/jail-test-XXXXXX";
	const struct jail_path paths[] = { { folder, "/given/folder" },
					   { folder, NULL }, /* a checkout may lie in /tmp */
					   { "/etc/passwd", NULL },
					   { "/no/such/path", NULL } };
	struct jail_spec spec = plain;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chmod(folder, 0777), 0);
	spec.paths = paths;
	spec.npaths = ARRAY_LEN(paths);
	expect(&spec,
	       "[ -r /etc/passwd ] && [ -d /given/folder ] && ! [ -e /no ] && echo there; "
	       "touch /given/folder/x 2>/dev/null || echo read-only; "
	       "touch /tmp/jail-test-*/x 2>/dev/null || echo read-only; touch /tmp/x && echo written",
	       "there\nread-only\nread-only\nwritten\n");
	assert_int_equal(rmdir(folder), 0);
}

/* Whatever a program leaves behind ends with it, and descriptors that it was not given are
 * closed. */
static void test_ends_as_a_whole(void **state)
{
	int pipes[2], status;
	char byte;

	(void)state;
	assert_int_equal(pipe(pipes), 0); /* inherited by anything that is just executed */
	expect(&plain,
	       "python3 -c 'import os\nfor i in range(3, 64):\n try: os.fstat(i); print(i)\n except OSError: "
	       "pass'; echo end",
	       "end\n");
	say(&plain, "sleep 600 >/dev/null 2>&1 & exit 7", &status);
	assert_int_equal(WEXITSTATUS(status), 7);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &byte, 1), 0); /* nobody holds the other end */
	close(pipes[0]);
}

static void test_killed(void **state)
{
	const char *const argv[] = { "/bin/sh", "-c", "sleep 600 & sleep 600", NULL };
	struct jail_process p;
	struct err e = { 0 };
	int pipes[2], status, null = open("/dev/null", O_RDWR | O_CLOEXEC);
	char byte;

	(void)state;
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(jail_spawn(&plain, argv, env, (const int[]){ null, pipes[1], null }, 3, &p, &e), 0);
	close(pipes[1]);
	status = jail_end(&p);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	assert_int_equal(read(pipes[0], &byte, 1), 0);
	close(pipes[0]);
	close(null);
}

static void test_missing_program(void **state)
{
	const char *const argv[] = { "/usr/bin/no-such-program", NULL };
	struct jail_process p;
	struct err e = { 0 };

	(void)state;
	assert_true(jail_spawn(&plain, argv, env, (const int[]){ 0, 1, 2 }, 3, &p, &e) < 0);
	assert_non_null(strstr(e.text, "/usr/bin/no-such-program cannot be executed"));
}

/* Without namespaces the filter, the limits and the user remain. */
static void test_off(void **state)
{
	struct jail_spec spec = plain;

	(void)state;
	spec.off = true;
	expect(&spec, geteuid() == 0 ? "id -u; id -G" : "echo 65534; echo 65534", "65534\n65534\n");
	expect(&spec,
	       "python3 -c 'import socket\ntry: socket.socket(socket.AF_INET)\nexcept PermissionError: "
	       "print(\"no\")'",
	       "no\n");
	expect(&spec, "unshare -U true 2>/dev/null || echo no", "no\n");
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		perror(path);
		_exit(90);
	}
	close(fd);
}

/* A place where namespaces are forbidden: a user namespace whose own limit of them is 0. */
static void test_refuses_where_namespaces_are_forbidden(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (pid == 0) {
		const char *const argv[] = { "/bin/true", NULL };
		struct jail_process p;
		struct err e = { 0 };
		char map[64];
		unsigned user = geteuid();

		snprintf(map, sizeof(map), "0 %u 1", user);
		if (unshare(CLONE_NEWUSER) < 0)
			_exit(91);
		put("/proc/self/uid_map", map);
		put("/proc/sys/user/max_user_namespaces", "0");
		if (jail_spawn(&plain, argv, env, (const int[]){ 0, 1, 2 }, 3, &p, &e) == 0)
			_exit(92);
		_exit(strstr(e.text, "user.max_user_namespaces") != NULL &&
				      strstr(e.text, "jail = off") != NULL
			      ? 0
			      : 93);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sees_only_what_it_needs),
		cmocka_unit_test(test_writes_to_its_tmp_only),
		cmocka_unit_test(test_has_no_network_and_no_rights),
		cmocka_unit_test(test_sees_no_other_process),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_what_it_is_given),
		cmocka_unit_test(test_ends_as_a_whole),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_missing_program),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_refuses_where_namespaces_are_forbidden),
	};
	int failed = cmocka_run_group_tests_name("jail", tests, NULL, NULL);

	if (geteuid() != 0)
		return failed;
	if (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
	    setresuid(65534, 65534, 65534) < 0)
		return 1;
	/* Otherwise the system takes us for a program that changed its user, whose /proc files
	 * are root's. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return failed + cmocka_run_group_tests_name("jail of an ordinary user", tests, NULL, NULL);
}
