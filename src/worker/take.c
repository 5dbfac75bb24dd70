/* take.c — see take.h. The order is what makes it safe: read and refresh inside the transaction, write the journal, commit, confirm. Whatever fails before the commit
 * leaves the server as it was; a commit without an answer leaves a doubt that take_settle resolves.
 * A server deletes what runs once as it hands it out, and might not take back what we cannot run. Then the round is undone and done again carefully: all jobs are
 * looked at, which deletes none, and only ours are taken away. */
#include "worker/take.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "value/datetime.h"
#include "worker/rules.h"

struct round {
	struct client *c;
	const struct settings *s;
	int64_t now, horizon;
	struct taken *list;         /* of this round, not yet the ledger's */
	size_t ntaken;
	bool careful;
	bool would_lose;            /* a row is gone with the commit, though it was not taken */
};

/* --- leaving --------------------------------------------------------------------------------------------------------------------- */

/* The server deletes what runs once when it hands it out; what we do not run is put back as it was, so that it is still there for whoever can. */
static int leave(struct round *r, const struct job_row *row, const char *why, enum log_level level)
{
	char due[JOB_TIME_MAX];
	struct err e = { 0 };
	int rc;

	if (r->careful)         /* still there, and told in the round before */
		return 0;
	job_time_shown(row->due, due);
	LOG(level, NULL, "left", F_STR("job", row->id), F_STR("class", row->class), F_STR("due", due), F_STR("recurrence", row->recurrence), F_STR("data", row->data),
	    F_STR("why", why));
	if (row->recurrence != NULL)
		return 0;
	rc = jobs_add(r->c, row, &e);
	if (rc != JOBS_REFUSED)
		return rc;
	LOG(LOG_WARN, NULL, "not-put-back", F_STR("job", row->id), F_STR("why", e.text), F_STR("effect", "this round is undone and repeated without it"));
	r->would_lose = true;
	return 0;
}

/* --- taking ---------------------------------------------------------------------------------------------------------------------- */

/* A server whose clock is ahead of ours refuses a time that it has passed [E-SCHED-17]: look further ahead until it agrees. */
static int refresh(struct round *r, const struct job_row *row, const struct judgement *j, int64_t *next, struct err *reterr)
{
	static const int ahead_s[] = { 0, 60, 300, 3600, 86400, 40 * 86400, 370 * 86400 };
	int rc = JOBS_REFUSED;

	for (size_t i = 0; i < ARRAY_LEN(ahead_s) && rc == JOBS_REFUSED; i++) {
		if (i > 0 && !recurrence_next(&j->recurrence, row->due, r->now + ahead_s[i] * TICKS_PER_SECOND, next))
			break;
		rc = jobs_refresh(r->c, row->id, *next, reterr);
		if (rc == JOBS_REFUSED)
			LOG(LOG_WARN, NULL, "refresh-refused", F_STR("job", row->id), F_STR("why", reterr->text), F_STR("hint", "do both machines have the same time?"));
	}
	return rc;
}

static struct taken *collect(struct round *r, const struct job_row *row, const struct judgement *j, int64_t *ret_next)
{
	struct occurrences it;
	struct taken *list = NULL, **end = &list;
	int64_t due, start;

	rules_occurrences(&it, row, j, r->now, r->horizon);
	while (rules_occurrence(&it, &due, &start)) {
		*end = taken_new(row, due, start);
		if (*end == NULL) {
			taken_free_list(list);
			return NULL;
		}
		(*end)->next = it.next;
		end = &(*end)->link;
	}
	*ret_next = it.next;
	return list;
}

static void log_taken(const struct taken *t)
{
	char due[JOB_TIME_MAX], start[JOB_TIME_MAX], next[JOB_TIME_MAX];

	job_time_shown(t->due, due);
	job_time_shown(t->start, start);
	job_time_shown(t->next, next);
	LOG(LOG_INFO, NULL, "taken", F_STR("job", t->row.id), F_STR("class", t->row.class), F_STR("name", t->row.display_name), F_STR("due", due), F_STR("start", start),
	    F_STR("next", t->next == DATETIME_MAX ? "none" : next));
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
	else if (r->careful)    /* else it is deleted already [E-SCHED-19] */
		rc = jobs_remove(r->c, row->id, reterr);
	if (rc < 0) {
		taken_free_list(list);
		if (rc == JOBS_REFUSED)
			LOG(LOG_ERROR, NULL, "not-taken", F_STR("job", row->id), F_STR("class", row->class), F_STR("why", reterr->text));
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

/* The command is looked at each time: what was installed meanwhile is used, what has gone leaves the job where it is. */
static const char *why_no_handler(const struct settings *s, const struct job_class *class)
{
	const struct handler *h = settings_handler(s, class);

	if (h == NULL)
		return "no handler is configured for this class";
	return access(h->argv[0], X_OK) == 0 ? NULL : "the command of the handler is missing or not executable";
}

static int process_row(struct round *r, const struct job_row *row, struct err *reterr)
{
	struct judgement j;
	const char *why;

	rules_judge(row, r->horizon, &j);
	switch (j.verdict) {
	case VERDICT_TAKE:
		why = why_no_handler(r->s, j.class);
		return why != NULL ? leave(r, row, why, LOG_WARN) : take_row(r, row, &j, reterr);
	case VERDICT_DISABLED:
		return jobs_refresh(r->c, row->id, DATETIME_MAX, reterr) == -1 ? -1 : 0;
	case VERDICT_IGNORE:
	case VERDICT_LATER:
		return leave(r, row, rules_name(j.verdict), LOG_DEBUG);
	default:
		return leave(r, row, rules_name(j.verdict), LOG_WARN);
	}
}

static bool has_columns(const struct client_table *t, struct err *reterr)
{
	static const char *const names[] = { "Assembly", "Class", "JobId", "Recurrence", "JobData", "NextDueTime", "Disabled", "DisplayName" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (client_column(t, names[i]) < 0) {
			err_raise(reterr, 50000, 16, 1, "the result set of proc_MIP_GetScheduledJobsInInterval has no column %s; nothing was taken", names[i]);
			return false;
		}
	}
	return true;
}

static int process_rows(struct round *r, const struct client_table *t, struct err *reterr)
{
	if (!has_columns(t, reterr))
		return -1;
	for (size_t i = 0; i < t->nrows; i++) {
		struct job_row row;
		struct err e = { 0 };

		if (job_row_read(t, i, &row, &e) < 0) {
			if (!r->careful)
				LOG(LOG_ERROR, NULL, "row-unreadable", F_STR("why", e.text));
			r->would_lose = true;
			continue;
		}
		if (r->careful && row.due >= r->horizon)        /* it has all jobs before it, not only those of the interval */
			continue;
		if (process_row(r, &row, reterr) < 0)
			return -1;
	}
	return 0;
}

/* Everything between begin and commit. */
static int read_rows(struct round *r, struct err *reterr)
{
	struct client_result result = { 0 };
	int rc = jobs_begin(r->c, reterr);

	if (rc == 0)
		rc = r->careful ? jobs_list(r->c, &result, reterr) : jobs_in_interval(r->c, r->horizon, &result, reterr);
	if (rc == 0)
		rc = process_rows(r, &result.tables[0], reterr);
	LOG(LOG_DEBUG, NULL, "poll", F_INT("rows", rc == 0 ? result.tables[0].nrows : 0), F_INT("taken", r->ntaken), F_INT("careful", r->careful));
	client_result_fini(&result);
	return rc;
}

static int read_again(struct round *r, struct err *reterr)
{
	taken_free_list(r->list);
	*r = (struct round){ .c = r->c, .s = r->s, .now = r->now, .horizon = r->horizon, .careful = true };
	return jobs_rollback(r->c, reterr) < 0 ? -1 : read_rows(r, reterr);
}

int take_due(struct client *c, const struct settings *s, struct ledger *l, struct err *reterr)
{
	struct round r = { .c = c, .s = s, .now = clock_ticks() };
	int rc;

	r.horizon = r.now + (int64_t)s->interval_s * TICKS_PER_SECOND;
	rc = read_rows(&r, reterr);
	if (rc == 0 && r.would_lose)
		rc = read_again(&r, reterr);
	if (rc < 0) {
		taken_free_list(r.list);
		return -1;
	}
	for (const struct taken *t = r.list; t != NULL; t = t->link)
		log_taken(t);
	if (ledger_add(l, r.list, reterr) < 0 || jobs_commit(c, reterr) < 0)
		return -1;
	ledger_confirm(l);
	return 0;
}

/* --- doubts ---------------------------------------------------------------------------------------------------------------------- */

/* The row as it was read is still there: our commit has not happened, and the next round takes it again. Else somebody has taken it: we, as a rule. */
static int settle(struct client *c, const struct settings *s, struct ledger *l, const struct taken *t, struct err *reterr)
{
	struct client_result result = { 0 };
	struct job_row row;
	bool untouched = false;
	int rc = jobs_get(c, t->row.id, &result, reterr);

	if (rc == 0 && result.tables[0].nrows > 0) {
		rc = job_row_read(&result.tables[0], 0, &row, reterr);
		untouched = rc == 0 && row.due == t->row.due;
	}
	client_result_fini(&result);
	if (rc < 0)
		return -1;
	LOG(LOG_WARN, NULL, "doubt", F_STR("job", t->row.id), F_STR("class", t->row.class),
	    F_STR("why", untouched ? "the server did not hear that it was taken: it is still due" : s->run_in_doubt ? "the answer was lost, but it was taken: it runs" :
		  "the answer was lost: another scheduler may have taken it, and in_doubt is skip"));
	ledger_settle(l, t->row.id, t->row.due, !untouched && s->run_in_doubt);
	return 0;
}

int take_settle(struct client *c, const struct settings *s, struct ledger *l, struct err *reterr)
{
	struct taken *t;

	while ((t = ledger_doubt(l)) != NULL) {
		int rc = settle(c, s, l, t, reterr);

		taken_free_list(t);
		if (rc < 0)
			return -1;
	}
	return 0;
}
