/* reports.h — how occurrences ended, on their way to the server, which keeps the last of them for
 * people (procession_run_ended). Nothing depends on it: a server without the procedure is told
 * nothing, and what cannot be delivered in time is in the history all the same. Added by one
 * thread, delivered by another. */
#ifndef SCHEDULER_REPORTS_H
#define SCHEDULER_REPORTS_H

#include "base/err.h"
#include "scheduler/jobs.h"

struct reports;
struct reports *scheduler_reports_new(void);    /* NULL: no memory, or no descriptor */
void scheduler_reports_free(struct reports *r); /* NULL is welcome */
/* Copied. Where there are too many that were not delivered, the oldest is forgotten. */
void scheduler_reports_add(struct reports *r, const struct job_row *job, const struct job_run *run);
/* Delivers all. -1: the connection is of no more use; what is left is for another one. */
MUST_CHECK int scheduler_reports_deliver(struct reports *r, struct client *c);
/* An eventfd that can be read when something was added; reading it is the caller's. */
int scheduler_reports_fd(const struct reports *r);

#endif
