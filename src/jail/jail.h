/* jail.h — runs a program that a stranger's document may take over, where it can do no harm:
 * namespaces of its own (user, mount, network, processes, IPC, host name), a root of its own
 * that has only what it needs, read-only, no capabilities, a filter of system calls and limits.
 * Linux 5.12 or later.
 *
 * jail_spawn() is for the program outside. jail_private_tmp() and jail_confine() are for a
 * program inside that serves many documents and gives each a process of its own
 * (src/convert/nursery.c). */
#ifndef JAIL_JAIL_H
#define JAIL_JAIL_H

#include <sys/types.h>

#include "base/err.h"

/* 0: no limit. */
struct jail_limits {
	uint64_t address_space, file_size; /* bytes, of a process and of a file */
	unsigned cpu_seconds;              /* of a process */
	unsigned files;                    /* open at once, of a process */
	unsigned processes; /* and threads, of the whole jail; not looked at without namespaces */
};

struct jail_path {
	const char *source; /* on the machine; what is not there is left out */
	const char *target; /* in the jail; NULL: the same */
};

struct jail_spec {
	bool off; /* without namespaces and a root of its own: somebody chose so */
	/* Seen inside, read-only, beside what every program needs (/usr, /lib…, a few files of
	 * /etc, /dev/null…). */
	const struct jail_path *paths;
	size_t npaths;
	uint64_t tmp_size; /* of /tmp, in bytes of memory */
	struct jail_limits limits;
	/* The program keeps the right to mount, inside its own namespaces only, and is not
	 * filtered: it confines its children itself. Otherwise it is confined before it begins,
	 * and may start other programs. */
	bool nursery;
	/* It may talk to the network of the machine, which is all it is for: a client of a service,
	 * of ours, that sees no document. What it needs to find a host (/etc/resolv.conf …) is
	 * among the paths. */
	bool network;
};

struct jail_process {
	pid_t pid;
	int pidfd; /* readable when it has ended; the caller's */
};

/* Starts argv[0], a path inside the jail, with descriptor i = fds[i] and no other, in /tmp. When
 * it ends, everything in its jail ends; when the calling thread ends, it ends. -1: nothing runs,
 * and reterr says what to do about it. */
MUST_CHECK int jail_spawn(const struct jail_spec *spec, const char *const *argv, const char *const *env,
			  const int *fds, size_t nfds, struct jail_process *ret, struct err *reterr);
/* Kills it with all it started, and waits. Closes pidfd. Returns the status as waitpid gives it. */
int jail_end(struct jail_process *p);

/* --- inside ------------------------------------------------------------------------------- */

struct jail_filter;

/* The filter of system calls, made once and used by every process that is confined. May start
 * other programs or not. */
MUST_CHECK int jail_filter_new(bool may_execute, struct jail_filter **ret, struct err *reterr);
void jail_filter_free(struct jail_filter *f);

/* From now on /tmp is empty and nobody else's, of at most this size. In a nursery only. */
MUST_CHECK int jail_private_tmp(uint64_t size);
/* Takes from this process, for good, all rights that a document needs not. With namespaces:
 * processes are limited too. */
MUST_CHECK int jail_confine(const struct jail_filter *f, const struct jail_limits *limits, bool namespaces);

#endif
