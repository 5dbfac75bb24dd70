/* run.h — one run of a handler: a process group of its own, the job in its environment, its
 * output in the log, a time limit. */
#ifndef SCHEDULER_RUN_H
#define SCHEDULER_RUN_H

#include <sys/types.h>

#include "scheduler/ledger.h"
#include "scheduler/settings.h"

#define RUN_LINE 1000

struct run {
	struct taken *taken; /* the ledger's */
	const char *class_name;
	pid_t pid;
	int fd;           /* its output; -1: closed */
	int64_t started;  /* ticks */
	int64_t deadline; /* monotonic ms; INT64_MAX: none */
	enum { RUN_FREE, RUN_ALIVE, RUN_TERMINATED, RUN_KILLED } stage;
	const char *ended_by; /* NULL, or why it was ended */
	char line[RUN_LINE];
	size_t n;
};

/* -1: it could not be started. */
MUST_CHECK int scheduler_run_start(struct run *r, struct taken *t, const struct handler *h,
				   const char *action, unsigned timeout_s, struct err *reterr);
/* Reads what has been written and logs whole lines; at the end the rest. */
void scheduler_run_read(struct run *r);
/* Ends it: SIGTERM, and SIGKILL when the grace is over; called again it does what its time
 * demands. */
void scheduler_run_end(struct run *r, const char *why, unsigned grace_s);
void scheduler_run_check(struct run *r, unsigned grace_s);
/* Its process has ended with this wait status: closes and gives the exit status (128 + signal).
 * Frees the slot. */
int scheduler_run_finish(struct run *r, int wait_status, const char **ret_outcome);

#endif
