/* filter.c — the system calls that a confined process may not make. Everything else is allowed:
 * LibreOffice and the C library use more of the others with every version, while these are what
 * a way out of a jail is made of. System calls that are newer than this list do not exist
 * inside. */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail/jail_int.h"

/* The first number that was not given yet when this was written (Linux 6.18), and where we stop
 * to say so. */
#define FIRST_UNKNOWN 470
#define LAST_UNKNOWN 600

static const char *const denied[] = {
	/* other processes */
	"ptrace",
	"process_vm_readv",
	"process_vm_writev",
	"kcmp",
	"pidfd_getfd",
	"process_madvise",
	"process_mrelease",
	/* namespaces and mounts */
	"mount",
	"umount",
	"umount2",
	"pivot_root",
	"chroot",
	"unshare",
	"setns",
	"move_mount",
	"open_tree",
	"fsopen",
	"fsconfig",
	"fsmount",
	"fspick",
	"mount_setattr",
	"open_by_handle_at",
	"name_to_handle_at",
	/* the kernel's own: programs, keys, modules, clocks, quotas */
	"bpf",
	"perf_event_open",
	"userfaultfd",
	"io_uring_setup",
	"io_uring_enter",
	"io_uring_register",
	"keyctl",
	"add_key",
	"request_key",
	"kexec_load",
	"kexec_file_load",
	"init_module",
	"finit_module",
	"delete_module",
	"reboot",
	"swapon",
	"swapoff",
	"acct",
	"quotactl",
	"quotactl_fd",
	"syslog",
	"settimeofday",
	"clock_settime",
	"clock_adjtime",
	"adjtimex",
	"sethostname",
	"setdomainname",
	"iopl",
	"ioperm",
	"modify_ldt",
	"personality",
	"lookup_dcookie",
	"nfsservctl",
	"vhangup",
	"fanotify_init",
	"landlock_create_ruleset",
	"memfd_secret",
	"uselib",
	"ustat",
	"sysfs",
	"_sysctl",
	/* memory that outlives a process */
	"shmget",
	"shmat",
	"shmctl",
	"msgget",
	"semget",
	"mq_open",
};
/* Of a process that works on a document itself. */
static const char *const denied_alone[] = {
	"execve",          "execveat",          "fork",    "vfork", "kill",   "tkill",  "pidfd_send_signal",
	"rt_sigqueueinfo", "rt_tgsigqueueinfo", "connect", "bind",  "listen", "accept", "accept4",
	"socketpair",      "memfd_create",
};

static int deny(scmp_filter_ctx c, const char *name)
{
	int nr = seccomp_syscall_resolve_name(name);

	/* Not on this architecture, or not known to this version of the library. */
	return nr < 0 ? 0 : seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), nr, 0);
}

static int deny_all(scmp_filter_ctx c, const char *const *names, size_t n)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = deny(c, names[i]);
	return rc;
}

static int fill(scmp_filter_ctx c, bool may_execute, bool network)
{
	const uint64_t namespaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC |
				    CLONE_NEWUTS | CLONE_NEWCGROUP;
	int rc = deny_all(c, denied, ARRAY_LEN(denied));

	/* The flags of clone3 lie in memory, where a filter cannot look: without it the C
	 * library takes clone. */
	if (rc == 0)
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	for (int bit = 0; bit < 32 && rc == 0; bit++)
		if ((namespaces >> bit & 1) != 0)
			rc = seccomp_rule_add(
				c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, UINT64_C(1) << bit, UINT64_C(1) << bit));
	if (rc == 0) /* limits of its own only */
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prlimit64), 1,
				      SCMP_A0(SCMP_CMP_NE, 0, 0));
	for (int nr = FIRST_UNKNOWN; nr < LAST_UNKNOWN && rc == 0; nr++)
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(ENOSYS), nr, 0);
	if (rc != 0 || network)
		return rc;
	/* programs talk to their own parts; there is no other family in the jail */
	if (may_execute)
		return seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(socket), 1,
					SCMP_A0(SCMP_CMP_NE, AF_UNIX, 0));
	rc = deny_all(c, denied_alone, ARRAY_LEN(denied_alone));
	if (rc == 0)
		rc = deny(c, "socket");
	/* Threads, yes; processes, no. */
	return rc != 0 ? rc
		       : seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
					  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
}

/* The library gives its program to a file only. */
static int take_program(scmp_filter_ctx c, struct jail_filter *f)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	struct stat st;
	int rc = -1;

	if (fd < 0)
		return -1;
	if (seccomp_export_bpf(c, fd) == 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		f->program.filter = malloc((size_t)st.st_size);
		if (f->program.filter != NULL &&
		    pread(fd, f->program.filter, (size_t)st.st_size, 0) == st.st_size) {
			f->program.len = (unsigned short)((size_t)st.st_size / sizeof(struct sock_filter));
			rc = 0;
		}
	}
	close(fd);
	return rc;
}

int jail_filter_make(bool may_execute, bool network, struct jail_filter **ret, struct err *reterr)
{
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
	struct jail_filter *f = calloc(1, sizeof(*f));

	/* A tree instead of a list: a system call that is allowed is told apart in a few steps. */
	if (c == NULL || f == NULL || seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2) != 0 ||
	    fill(c, may_execute, network) != 0 || take_program(c, f) < 0) {
		seccomp_release(c);
		jail_filter_free(f);
		return err_raise(reterr, 50000, 16, 1,
				 "the filter of system calls could not be made (libseccomp)");
	}
	seccomp_release(c);
	f->may_execute = may_execute;
	*ret = f;
	return 0;
}

int jail_filter_new(bool may_execute, struct jail_filter **ret, struct err *reterr)
{
	return jail_filter_make(may_execute, false, ret, reterr);
}

void jail_filter_free(struct jail_filter *f)
{
	if (f == NULL)
		return;
	free(f->program.filter);
	free(f);
}
