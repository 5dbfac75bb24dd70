/* rules.c — see rules.h. */
#include "worker/rules.h"

#include "value/datetime.h"

const char *rules_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_TAKE] = "taken", [VERDICT_IGNORE] = "class of another program", [VERDICT_DISABLED] = "disabled", [VERDICT_LATER] = "starts later in its window",
		[VERDICT_UNKNOWN_CLASS] = "unknown assembly or class", [VERDICT_UNKNOWN_DATA] = "unknown job data", [VERDICT_UNKNOWN_RECURRENCE] = "unknown recurrence",
	};

	return names[v];
}

static enum verdict judge(const struct job_row *row, int64_t horizon, struct judgement *j)
{
	if (row->disabled)
		return VERDICT_DISABLED;
	if (j->class == NULL)
		return VERDICT_UNKNOWN_CLASS;
	if (j->class->ignored)
		return VERDICT_IGNORE;
	j->action = job_class_action(j->class, str_of(row->data));
	if (j->action == NULL)
		return VERDICT_UNKNOWN_DATA;
	if (!j->recurs)
		return VERDICT_TAKE;
	if (!recurrence_parse(str_of(row->recurrence), &j->recurrence))
		return VERDICT_UNKNOWN_RECURRENCE;
	return recurrence_start(&j->recurrence, row->due, j->seed) < horizon ? VERDICT_TAKE : VERDICT_LATER;
}

void rules_judge(const struct job_row *row, int64_t horizon, struct judgement *ret)
{
	*ret = (struct judgement){ .class = job_class_find(str_of(row->assembly), str_of(row->class)), .recurs = row->recurrence != NULL,
				   .seed = recurrence_seed(str_of(row->id)) };
	ret->verdict = judge(row, horizon, ret);
}

void rules_occurrences(struct occurrences *it, const struct job_row *row, const struct judgement *j, int64_t now, int64_t horizon)
{
	*it = (struct occurrences){ .judgement = j, .now = now, .horizon = horizon, .next = row->due, .first = true };
}

bool rules_occurrence(struct occurrences *it, int64_t *ret_due, int64_t *ret_start)
{
	const struct recurrence *r = &it->judgement->recurrence;
	int64_t due = it->next, start = it->judgement->recurs ? recurrence_start(r, due, it->judgement->seed) : due;

	if (it->next == DATETIME_MAX || (!it->first && start >= it->horizon))
		return false;
	*ret_due = due;
	*ret_start = start;
	/* What was missed is skipped: the search goes on from now. */
	if (!it->judgement->recurs || !recurrence_next(r, due, it->now, &it->next))
		it->next = DATETIME_MAX;
	it->first = false;
	return true;
}
