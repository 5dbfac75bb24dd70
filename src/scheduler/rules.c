/* rules.c — see rules.h. */
#include "scheduler/rules.h"

#include "value/datetime.h"

bool scheduler_rules_ignored(const struct job_row *row)
{
	const struct job_class *class = schedule_class_find(str_of(row->assembly), str_of(row->class));

	if (row->disabled)
		return row->recurrence == NULL;
	return class != NULL && class->ignored;
}

static enum verdict judge(const struct job_row *row, struct judgement *j)
{
	if (scheduler_rules_ignored(row))
		return VERDICT_IGNORE;
	if (row->disabled)
		return VERDICT_DISABLED;
	return !j->recurs || schedule_recurrence_parse(str_of(row->recurrence), &j->recurrence)
		       ? VERDICT_TAKE
		       : VERDICT_UNKNOWN_RECURRENCE;
}

void scheduler_rules_judge(const struct job_row *row, struct judgement *ret)
{
	*ret = (struct judgement){ .recurs = row->recurrence != NULL,
				   .seed = schedule_recurrence_seed(str_of(row->id)) };
	ret->verdict = judge(row, ret);
}

void scheduler_rules_occurrences(struct occurrences *it, const struct job_row *row, const struct judgement *j,
				 int64_t now, int64_t horizon)
{
	*it = (struct occurrences){
		.judgement = j, .now = now, .horizon = horizon, .next = row->due, .first = true
	};
}

bool scheduler_rules_occurrence(struct occurrences *it, int64_t *ret_due, int64_t *ret_start)
{
	const struct recurrence *r = &it->judgement->recurrence;
	int64_t due = it->next,
		start = it->judgement->recurs ? schedule_recurrence_start(r, due, it->judgement->seed) : due;

	if (it->next == DATETIME_MAX || (!it->first && due >= it->horizon))
		return false;
	*ret_due = due;
	*ret_start = start;
	/* What was missed is skipped: the search goes on from now. */
	if (!it->judgement->recurs || !schedule_recurrence_next(r, due, it->now, &it->next))
		it->next = DATETIME_MAX;
	it->first = false;
	return true;
}
