/* jobs.c — see jobs.h. */
#include "scheduler/jobs.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "value/datetime.h"
#include "value/guid.h"

/* ---- texts ---- */

void scheduler_job_time_sent(int64_t ticks, char dst[JOB_TIME_MAX])
{
	struct civil c;

	civil_from_datetime(ticks, &c);
	snprintf(dst, JOB_TIME_MAX, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", c.year % 10000, c.month % 100,
		 c.day % 100, c.hour % 100, c.minute % 100, c.second % 100, datetime_ms(ticks) % 1000);
}

void scheduler_job_time_shown(int64_t ticks, char dst[JOB_TIME_MAX])
{
	size_t n;

	scheduler_job_time_sent(ticks, dst);
	dst[10] = ' ';
	n = strlen(dst);
	if (strcmp(dst + n - 4, ".000") == 0)
		dst[n - 4] = '\0';
}

bool scheduler_job_time_parse(const char *text, int64_t *ret)
{
	struct civil c;
	int digits;
	bool has_offset;

	/* An empty text is the year 1900 in T-SQL; here it is none. */
	if (str_trim(str_of(text)).n == 0 || !datetime_parse(str_of(text), &c, &digits, &has_offset) ||
	    !datetime_from_civil(&c, ret))
		return false;
	if (has_offset)
		*ret -= (int64_t)c.offset * 60 * 300;
	return *ret >= DATETIME_MIN && *ret <= DATETIME_MAX;
}

/* ---- rows ---- */

static int cell(const struct client_table *t, size_t row, const char *name, const char **ret,
		struct err *reterr)
{
	int column = client_column(t, name);

	if (column < 0)
		return err_raise(reterr, 50000, 16, 1, "the result set has no column %s", name);
	*ret = t->cells[row * t->ncols + (size_t)column];
	return 0;
}

int scheduler_job_row_read(const struct client_table *t, size_t row, struct job_row *ret, struct err *reterr)
{
	struct job_row r = { 0 };
	const char *due, *disabled;
	uint8_t guid[16];

	if (cell(t, row, "Assembly", &r.assembly, reterr) < 0 ||
	    cell(t, row, "Class", &r.class, reterr) < 0 || cell(t, row, "JobId", &r.id, reterr) < 0 ||
	    cell(t, row, "Recurrence", &r.recurrence, reterr) < 0 ||
	    cell(t, row, "JobData", &r.data, reterr) < 0 || cell(t, row, "NextDueTime", &due, reterr) < 0 ||
	    cell(t, row, "Disabled", &disabled, reterr) < 0 ||
	    cell(t, row, "DisplayName", &r.display_name, reterr) < 0)
		return -1;
	if (r.id == NULL || !guid_parse(str_of(r.id), guid))
		return err_raise(reterr, 50000, 16, 1, "'%s' is no JobId", r.id != NULL ? r.id : "NULL");
	if (r.assembly == NULL || r.class == NULL)
		return err_raise(reterr, 50000, 16, 1, "job %s has no Assembly or no Class", r.id);
	if (due == NULL || !scheduler_job_time_parse(due, &r.due))
		return err_raise(reterr, 50000, 16, 1, "'%s' is no NextDueTime (job %s)",
				 due != NULL ? due : "NULL", r.id);
	if (disabled == NULL || (strcmp(disabled, "0") != 0 && strcmp(disabled, "1") != 0))
		return err_raise(reterr, 50000, 16, 1, "'%s' is no value of Disabled (job %s)",
				 disabled != NULL ? disabled : "NULL", r.id);
	r.disabled = disabled[0] == '1';
	*ret = r;
	return 0;
}

/* ---- calls ---- */

static int call(struct client *c, const char *proc, const struct client_arg *args, size_t nargs,
		struct client_result *r, struct err *reterr)
{
	if (client_call(c, proc, args, nargs, r, reterr) < 0)
		return -1;
	if (!r->has_status)
		return err_raise(reterr, 50000, 16, 1, "%s gave no return code", proc);
	if (r->status == 0)
		return 0;
	err_raise(reterr, r->nmessages > 0 ? r->messages[0].number : 50000, 16, 1, "%s: %s", proc,
		  r->nmessages > 0 ? r->messages[0].text : "refused (return code 1)");
	return JOBS_REFUSED;
}

static int call_alone(struct client *c, const char *proc, const struct client_arg *args, size_t nargs,
		      struct err *reterr)
{
	struct client_result r;
	int rc = call(c, proc, args, nargs, &r, reterr);

	client_result_fini(&r);
	return rc;
}

/* The rows are the first result set. */
static int call_for_rows(struct client *c, const char *proc, const struct client_arg *args, size_t nargs,
			 struct client_result *ret, struct err *reterr)
{
	int rc = call(c, proc, args, nargs, ret, reterr);

	if (rc == 0 && ret->ntables == 0)
		return err_raise(reterr, 50000, 16, 1, "%s gave no result set", proc);
	return rc;
}

int scheduler_jobs_list(struct client *c, struct client_result *ret, struct err *reterr)
{
	return call_for_rows(c, "proc_MIP_GetScheduledJobs", NULL, 0, ret, reterr);
}

int scheduler_jobs_get(struct client *c, const char *id, struct client_result *ret, struct err *reterr)
{
	const struct client_arg args[] = { client_text("@JobId", id) };

	return call_for_rows(c, "proc_MIP_GetScheduledJobById", args, ARRAY_LEN(args), ret, reterr);
}

int scheduler_jobs_in_interval(struct client *c, int64_t until, struct client_result *ret, struct err *reterr)
{
	char time[JOB_TIME_MAX];
	const struct client_arg args[] = { client_text("@NextDueTime", time) };

	scheduler_job_time_sent(until, time);
	return call_for_rows(c, "proc_MIP_GetScheduledJobsInInterval", args, ARRAY_LEN(args), ret, reterr);
}

static int store(struct client *c, const char *proc, const struct job_row *job, struct err *reterr)
{
	char time[JOB_TIME_MAX];
	const struct client_arg args[] = {
		client_text("@JobId", job->id),         client_text("@Assembly", job->assembly),
		client_text("@Class", job->class),      client_text("@Recurrence", job->recurrence),
		client_text("@JobData", job->data),     client_text("@NextDueTime", time),
		client_bit("@Disabled", job->disabled), client_text("@DisplayName", job->display_name),
	};

	scheduler_job_time_sent(job->due, time);
	return call_alone(c, proc, args, ARRAY_LEN(args), reterr);
}

int scheduler_jobs_add(struct client *c, const struct job_row *job, struct err *reterr)
{
	return store(c, "proc_MIP_AddScheduledJob", job, reterr);
}

int scheduler_jobs_modify(struct client *c, const struct job_row *job, struct err *reterr)
{
	return store(c, "proc_MIP_ModifyScheduledJob", job, reterr);
}

int scheduler_jobs_refresh(struct client *c, const char *id, int64_t due, struct err *reterr)
{
	char time[JOB_TIME_MAX];
	const struct client_arg args[] = { client_text("@JobId", id), client_text("@NextDueTime", time) };

	scheduler_job_time_sent(due, time);
	return call_alone(c, "proc_MIP_RefreshScheduledJob", args, ARRAY_LEN(args), reterr);
}

int scheduler_jobs_remove(struct client *c, const char *id, struct err *reterr)
{
	const struct client_arg args[] = { client_text("@JobId", id) };

	return call_alone(c, "proc_MIP_RemoveScheduledJob", args, ARRAY_LEN(args), reterr);
}

int scheduler_jobs_ran(struct client *c, const char *id, const char *display_name, const struct job_run *run,
		       const char *scheduler, struct err *reterr)
{
	char due[JOB_TIME_MAX], started[JOB_TIME_MAX], ended[JOB_TIME_MAX];
	const struct client_arg args[] = {
		client_text("@JobId", id),
		client_text("@DueTime", due),
		client_text("@StartTime", started),
		client_text("@EndTime", ended),
		client_text("@Outcome", run->outcome),
		client_int("@ExitStatus", run->status),
		client_text("@DisplayName", display_name),
		client_text("@Scheduler", scheduler),
	};

	scheduler_job_time_sent(run->due, due);
	scheduler_job_time_sent(run->started, started);
	scheduler_job_time_sent(run->ended, ended);
	return call_alone(c, "procession_run_ended", args, ARRAY_LEN(args), reterr);
}

static int batch(struct client *c, const char *text, struct err *reterr)
{
	struct client_result r;
	int rc = client_batch(c, text, &r, reterr);

	client_result_fini(&r);
	return rc;
}

/* Serializable: what was read stays as it is until the end, also on servers that would else let
 * others in after reading. */
int scheduler_jobs_begin(struct client *c, struct err *reterr)
{
	return batch(c, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION", reterr);
}

int scheduler_jobs_commit(struct client *c, struct err *reterr)
{
	return batch(c, "COMMIT TRANSACTION", reterr);
}

int scheduler_jobs_rollback(struct client *c, struct err *reterr)
{
	return batch(c, "ROLLBACK TRANSACTION", reterr);
}
