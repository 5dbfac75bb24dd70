/* take.c — see take.h. The order is what makes it safe: read and refresh inside the transaction,
 * write the journal, commit, confirm. Whatever fails before the commit leaves the server as it
 * was; a commit without an answer leaves a doubt that scheduler_take_settle resolves. A server
 * deletes what runs once as it hands it out, also what we must leave to others or cannot read,
 * and adding it again would need a new JobId. Then the round is undone before anything else was
 * done in it, and done again carefully: all jobs are looked at, which deletes none, and only
 * ours are taken away. */
#include "scheduler/take.h"

#include <assert.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "value/datetime.h"
#include "scheduler/match.h"
#include "scheduler/rules.h"

struct round {
	struct client *c;
	const struct settings *s;
	int64_t now, horizon;
	struct taken *list; /* of this round, not yet the ledger's */
	size_t ntaken;
	bool careful;
};

/* ---- taking ---- */

/* A server whose clock is ahead of ours refuses a time that it has passed [E-SCHED-17]: look
 * further ahead until it agrees. */
static int refresh(struct round *r, const struct job_row *row, const struct judgement *j, int64_t *next,
		   struct err *reterr)
{
	static const int ahead_s[] = { 0, 60, 300, 3600, 86400, 40 * 86400, 370 * 86400 };
	int rc = JOBS_REFUSED;

	for (size_t i = 0; i < ARRAY_LEN(ahead_s) && rc == JOBS_REFUSED; i++) {
		if (i > 0 && !schedule_recurrence_next(&j->recurrence, row->due,
						       r->now + ahead_s[i] * TICKS_PER_SECOND, next))
			break;
		rc = scheduler_jobs_refresh(r->c, row->id, *next, reterr);
		if (rc == JOBS_REFUSED)
			LOG(LOG_WARN, NULL, "refresh-refused", F_STR("job", row->id),
			    F_STR("why", reterr->text),
			    F_STR("hint", "do both machines have the same time?"));
	}
	return rc;
}

static struct taken *collect(struct round *r, const struct job_row *row, const struct judgement *j,
			     int64_t *ret_next)
{
	struct occurrences it;
	struct taken *list = NULL, **end = &list;
	int64_t due, start;

	scheduler_rules_occurrences(&it, row, j, r->now, r->horizon);
	while (scheduler_rules_occurrence(&it, &due, &start)) {
		*end = scheduler_taken_new(row, due, start);
		if (*end == NULL) {
			scheduler_taken_free_list(list);
			return NULL;
		}
		(*end)->next = it.next;
		(*end)->fresh = start < r->horizon;
		end = &(*end)->link;
	}
	*ret_next = it.next;
	return list;
}

/* Without a handler it is taken all the same: one may be there when it starts. */
static void log_taken(const struct settings *s, const struct taken *t)
{
	char due[JOB_TIME_MAX], start[JOB_TIME_MAX], next[JOB_TIME_MAX];
	struct match m;
	const char *why = scheduler_match_handler(s, &t->row, &m);

	scheduler_job_time_shown(t->due, due);
	scheduler_job_time_shown(t->start, start);
	scheduler_job_time_shown(t->next, next);
	LOG(why == NULL ? LOG_INFO : LOG_WARN, NULL, "taken", F_STR("job", t->row.id),
	    F_STR("class", t->row.class), F_STR("name", t->row.display_name), F_STR("due", due),
	    F_STR("start", start), F_STR("next", t->next == DATETIME_MAX ? "none" : next),
	    F_STR("cannot_run", why));
}

static int take_row(struct round *r, const struct job_row *row, const struct judgement *j, struct err *reterr)
{
	int64_t next;
	struct taken *list = collect(r, row, j, &next), *last;
	int rc = 0;

	if (list == NULL)
		return err_nomem(reterr);
	if (j->recurs)
		rc = refresh(r, row, j, &next, reterr);
	else if (r->careful) /* else it is deleted already [E-SCHED-19] */
		rc = scheduler_jobs_remove(r->c, row->id, reterr);
	if (rc < 0) {
		scheduler_taken_free_list(list);
		if (rc == JOBS_REFUSED)
			LOG(LOG_ERROR, NULL, "not-taken", F_STR("job", row->id), F_STR("class", row->class),
			    F_STR("why", reterr->text));
		return rc == JOBS_REFUSED ? 0 : rc;
	}
	for (last = list;; last = last->link) {
		r->ntaken++;
		if (last->link == NULL)
			break;
	}
	last->next = next;
	last->link = r->list;
	r->list = list;
	return 0;
}

static void tell_left(const struct job_row *row)
{
	char due[JOB_TIME_MAX];

	scheduler_job_time_shown(row->due, due);
	LOG(LOG_WARN, NULL, "left", F_STR("job", row->id), F_STR("class", row->class), F_STR("due", due),
	    F_STR("recurrence", row->recurrence), F_STR("data", row->data),
	    F_STR("why", "unknown recurrence: nobody can tell when it is due next"));
}

static int process_row(struct round *r, const struct job_row *row, struct err *reterr)
{
	struct judgement j;

	scheduler_rules_judge(row, &j);
	switch (j.verdict) {
	case VERDICT_TAKE: return take_row(r, row, &j, reterr);
	case VERDICT_DISABLED:
		return scheduler_jobs_refresh(r->c, row->id, DATETIME_MAX, reterr) == -1 ? -1 : 0;
	case VERDICT_UNKNOWN_RECURRENCE: tell_left(row); return 0;
	default: return 0;
	}
}

static bool has_columns(const struct client_table *t, struct err *reterr)
{
	static const char *const names[] = { "Assembly", "Class",       "JobId",    "Recurrence",
					     "JobData",  "NextDueTime", "Disabled", "DisplayName" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (client_column(t, names[i]) < 0) {
			err_raise(reterr, 50000, 16, 1,
				  "the result set of proc_MIP_GetScheduledJobsInInterval has no column %s; "
				  "nothing was taken",
				  names[i]);
			return false;
		}
	}
	return true;
}

/* Whether the commit would take away for good what is not ours: a row that runs once, or may do
 * so, as it cannot be read. */
static bool would_lose(const struct client_table *t)
{
	bool lose = false;

	for (size_t i = 0; i < t->nrows; i++) {
		struct job_row row;
		struct err e = { 0 };

		if (scheduler_job_row_read(t, i, &row, &e) < 0) {
			LOG(LOG_ERROR, NULL, "row-unreadable", F_STR("why", e.text));
			lose = true;
		} else if (row.recurrence == NULL && scheduler_rules_ignored(&row)) {
			lose = true;
		}
	}
	return lose;
}

static int process_rows(struct round *r, const struct client_table *t, struct err *reterr)
{
	for (size_t i = 0; i < t->nrows; i++) {
		struct job_row row;
		struct err e = { 0 };

		/* A careful round has all jobs before it, not only those of the interval; what
		 * cannot be read was told in the round before. */
		if (scheduler_job_row_read(t, i, &row, &e) < 0 || row.due >= r->horizon)
			continue;
		if (process_row(r, &row, reterr) < 0)
			return -1;
	}
	return 0;
}

/* Everything between begin and commit. *ret_careful: nothing was done yet, and it must be done
 * carefully. */
static int read_rows(struct round *r, bool *ret_careful, struct err *reterr)
{
	struct client_result result = { 0 };
	int rc = scheduler_jobs_begin(r->c, reterr);

	*ret_careful = false;
	if (rc == 0)
		rc = r->careful ? scheduler_jobs_list(r->c, &result, reterr)
				: scheduler_jobs_in_interval(r->c, r->horizon, &result, reterr);
	if (rc == 0 && !has_columns(&result.tables[0], reterr))
		rc = -1;
	if (rc == 0 && !r->careful && would_lose(&result.tables[0]))
		*ret_careful = true;
	else if (rc == 0)
		rc = process_rows(r, &result.tables[0], reterr);
	if (!*ret_careful)
		LOG(LOG_DEBUG, NULL, "poll", F_INT("rows", rc == 0 ? result.tables[0].nrows : 0),
		    F_INT("taken", r->ntaken), F_INT("careful", r->careful));
	client_result_fini(&result);
	return rc;
}

int scheduler_take_due(struct client *c, const struct settings *s, struct ledger *l, struct err *reterr)
{
	struct round r = { .c = c, .s = s, .now = clock_ticks() };
	bool again;
	int rc;

	assert(c != NULL);
	r.horizon = r.now + s->interval * TICKS_PER_SECOND;
	rc = read_rows(&r, &r.careful, reterr);
	if (rc == 0 && r.careful)
		rc = scheduler_jobs_rollback(c, reterr) < 0 ? -1 : read_rows(&r, &again, reterr);
	if (rc < 0) {
		scheduler_taken_free_list(r.list);
		return -1;
	}
	for (const struct taken *t = r.list; t != NULL; t = t->link)
		log_taken(s, t);
	if (scheduler_ledger_add(l, r.list, reterr) < 0 || scheduler_jobs_commit(c, reterr) < 0)
		return -1;
	scheduler_ledger_confirm(l);
	return 0;
}

/* ---- doubts ---- */

/* The row as it was read is still there: our commit has not happened, and the next round takes
 * it again. Else somebody has taken it: we, as a rule. */
static int settle(struct client *c, const struct settings *s, struct ledger *l, const struct taken *t,
		  struct err *reterr)
{
	struct client_result result = { 0 };
	struct job_row row;
	bool untouched = false;
	int rc = scheduler_jobs_get(c, t->row.id, &result, reterr);

	if (rc == 0 && result.tables[0].nrows > 0) {
		rc = scheduler_job_row_read(&result.tables[0], 0, &row, reterr);
		untouched = rc == 0 && row.due == t->row.due;
	}
	client_result_fini(&result);
	if (rc < 0)
		return -1;
	LOG(LOG_WARN, NULL, "doubt", F_STR("job", t->row.id), F_STR("class", t->row.class),
	    F_STR("why", untouched ? "the server did not hear that it was taken: it is still due"
			 : s->in_doubt == IN_DOUBT_RUN
				 ? "the answer was lost, but it was taken: it runs"
				 : "the answer was lost: another scheduler may have taken it, and "
				   "in_doubt is skip"));
	scheduler_ledger_settle(l, t->row.id, t->row.due, !untouched && s->in_doubt == IN_DOUBT_RUN);
	return 0;
}

int scheduler_take_settle(struct client *c, const struct settings *s, struct ledger *l, struct err *reterr)
{
	struct taken *t;

	while ((t = scheduler_ledger_doubt(l)) != NULL) {
		int rc = settle(c, s, l, t, reterr);

		scheduler_taken_free_list(t);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* ---- asking again ---- */

/* A place in a window may come hours after the row was taken. Who disabled or removed the job
 * meanwhile does not expect it to run. */
int scheduler_take_recheck(struct client *c, const struct settings *s, struct ledger *l, struct err *reterr)
{
	int64_t horizon = clock_ticks() + s->interval * TICKS_PER_SECOND;
	struct taken *t;

	while ((t = scheduler_ledger_stale(l, horizon)) != NULL) {
		struct client_result result = { 0 };
		struct job_row row = { 0 };
		int rc = scheduler_jobs_get(c, t->row.id, &result, reterr);
		bool there = rc == 0 && result.tables[0].nrows > 0;

		if (there)
			rc = scheduler_job_row_read(&result.tables[0], 0, &row, reterr);
		if (rc == 0)
			scheduler_ledger_recheck(l, t->row.id, t->due, there && !row.disabled);
		client_result_fini(&result);
		scheduler_taken_free_list(t);
		if (rc < 0)
			return -1;
	}
	return 0;
}
