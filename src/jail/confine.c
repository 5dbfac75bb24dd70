/* confine.c — what a process loses before it sees a byte of a document: capabilities, the way to
 * new ones, system calls, and anything beyond its limits. System calls only: it runs between
 * fork and exec, too. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jail/jail_int.h"

/* Address space that a sanitizer reserves is no memory; such builds have no limit of it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMIT_ADDRESS_SPACE 0
#else
#define LIMIT_ADDRESS_SPACE 1
#endif

int jail_drop_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	for (int i = 0; i < 64; i++)
		if ((keep >> i & 1) == 0 && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0 && errno != EINVAL &&
		    errno != EPERM)
			return -1;
	for (int i = 0; i < 2; i++) {
		data[i].effective = data[i].permitted = (uint32_t)(keep >> 32 * i);
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &head, data) < 0)
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int set_limit(int what, uint64_t value)
{
	struct rlimit limit = { value, value }, now;

	if (value == 0)
		return 0;
	if (getrlimit((unsigned)what, &now) == 0 && now.rlim_max < value)
		limit.rlim_cur = limit.rlim_max = now.rlim_max; /* narrower already */
	return setrlimit((unsigned)what, &limit);
}

int jail_limit(const struct jail_limits *limits, bool namespaces)
{
	struct rlimit none = { 0, 0 };

	if (setrlimit(RLIMIT_CORE, &none) < 0 || set_limit(RLIMIT_FSIZE, limits->file_size) < 0 ||
	    set_limit(RLIMIT_CPU, limits->cpu_seconds) < 0 || set_limit(RLIMIT_NOFILE, limits->files) < 0)
		return -1;
	if (LIMIT_ADDRESS_SPACE && set_limit(RLIMIT_AS, limits->address_space) < 0)
		return -1;
	/* Without a user namespace all processes of the user would be counted. */
	return namespaces ? set_limit(RLIMIT_NPROC, limits->processes) : 0;
}

int jail_private_tmp(uint64_t size)
{
	char options[64];

	snprintf(options, sizeof(options), "size=%llu,mode=700", (unsigned long long)size);
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("tmp", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options) < 0)
		return -1;
	return chdir("/tmp");
}

/* abort() signals its own process. Nobody signals another one: the other documents of the jail
 * are its neighbours. */
static int deny_signals(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_LEN(steps), steps };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

int jail_confine(const struct jail_filter *f, const struct jail_limits *limits, bool namespaces)
{
	if (jail_drop_capabilities(0) < 0 || jail_limit(limits, namespaces) < 0)
		return -1;
	if (!f->may_execute && deny_signals() < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &f->program, 0, 0);
}
