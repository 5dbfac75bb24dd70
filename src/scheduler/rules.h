/* rules.h — what a client does with a row of proc_MIP_GetScheduledJobsInInterval ([MS-SSPSJ]
 * 3.2.4.1). Pure. */
#ifndef SCHEDULER_RULES_H
#define SCHEDULER_RULES_H

#include "schedule/job_class.h"
#include "schedule/occurrence.h"
#include "scheduler/jobs.h"

enum verdict {
	/* refresh it at once (unless it runs once), whoever can run it [E-SCHED-21] */
	VERDICT_TAKE,
	VERDICT_IGNORE,             /* neither run nor refreshed: see scheduler_rules_ignored */
	VERDICT_DISABLED,           /* not run; refreshed to the end of time */
	VERDICT_UNKNOWN_RECURRENCE, /* nobody can tell when it is due next: left as it is */
};

struct judgement {
	enum verdict verdict;
	bool recurs;
	struct recurrence recurrence;
	uint64_t seed;
};

void scheduler_rules_judge(const struct job_row *row, struct judgement *ret);
/* A row of a Project class [E-SCHED-20], or a disabled one that runs once, which no server
 * should hand out: the server must still have it when we are done. */
bool scheduler_rules_ignored(const struct job_row *row);

/* The occurrences of a row that are due before the horizon (the end of the interval that was
 * asked for): its due time, and for short recurrences those that follow. Their place in a window
 * may lie behind it. Each call gives the next one:
 *   struct occurrences it; scheduler_rules_occurrences(&it, row, j, now, horizon); while
 *   (scheduler_rules_occurrence(&it, &due, &start)) …
 * Then it.next is what the server is told: the first occurrence that was not given [E-SCHED-12];
 * the end of time when there is none. */
struct occurrences {
	const struct judgement *judgement;
	int64_t now, horizon;
	int64_t next;
	bool first;
};
void scheduler_rules_occurrences(struct occurrences *it, const struct job_row *row, const struct judgement *j,
				 int64_t now, int64_t horizon);
bool scheduler_rules_occurrence(struct occurrences *it, int64_t *ret_due, int64_t *ret_start);

#endif
