/* match.h — which handler runs a row, or why none does. */
#ifndef SCHEDULER_MATCH_H
#define SCHEDULER_MATCH_H

#include "scheduler/jobs.h"
#include "scheduler/settings.h"

struct match {
	const struct job_class *class; /* NULL: unknown */
	const char *action;            /* NULL: class or job data are unknown */
	const struct handler *handler; /* NULL: none is configured */
	unsigned timeout_s;
};

/* NULL: the row can be run with what is in *ret. Else a short text that says why not; *ret has
 * what is known. The command is looked at each time: what was installed meanwhile is used. */
const char *scheduler_match_handler(const struct settings *s, const struct job_row *row, struct match *ret);

#endif
