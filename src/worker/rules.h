/* rules.h — what a client does with a row of proc_MIP_GetScheduledJobsInInterval ([MS-SSPSJ] 3.2.4.1). Pure. */
#ifndef WORKER_RULES_H
#define WORKER_RULES_H

#include "schedule/job_class.h"
#include "schedule/occurrence.h"
#include "worker/jobs.h"

enum verdict {
	VERDICT_TAKE,           /* run its action, refresh it (unless it runs once) */
	VERDICT_IGNORE,         /* a Project class: neither run nor refreshed [E-SCHED-20] */
	VERDICT_DISABLED,       /* not run; refreshed to the end of time */
	VERDICT_LATER,          /* its place in the window lies beyond the interval: stays with the server until then */
	VERDICT_UNKNOWN_CLASS,  /* left as it is, like the following ones */
	VERDICT_UNKNOWN_DATA,
	VERDICT_UNKNOWN_RECURRENCE,
};

struct judgement {
	enum verdict verdict;
	const struct job_class *class;      /* NULL: unknown */
	const char *action;
	bool recurs;
	struct recurrence recurrence;
	uint64_t seed;
};

/* horizon: the end of the interval that was asked for. */
void rules_judge(const struct job_row *row, int64_t horizon, struct judgement *ret);
const char *rules_name(enum verdict v);

/* The occurrences of a row that start before the horizon: its due time, and for short recurrences those that follow. Each call gives the next one:
 *   struct occurrences it; rules_occurrences(&it, row, j, now, horizon);  while (rules_occurrence(&it, &due, &start)) …
 * Then it.next is what the server is told: the first occurrence that was not given [E-SCHED-12]; the end of time when there is none. */
struct occurrences {
	const struct judgement *judgement;
	int64_t now, horizon, last;
	int64_t next;
	bool first;
};
void rules_occurrences(struct occurrences *it, const struct job_row *row, const struct judgement *j, int64_t now, int64_t horizon);
bool rules_occurrence(struct occurrences *it, int64_t *ret_due, int64_t *ret_start);

#endif
