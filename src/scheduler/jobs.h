/* jobs.h — the procedures of [MS-SSPSJ] as functions of a client, and the rows they give. Times
 * are datetime ticks, UTC. */
#ifndef SCHEDULER_JOBS_H
#define SCHEDULER_JOBS_H

#include "client/client.h"

/* return code 1: a rule of the specification; the server's message is in *reterr */
#define JOBS_REFUSED (-2)

/* One scheduled job. Strings belong to the result set (or to whoever made the row); NULL is SQL
 * NULL. */
struct job_row {
	const char *assembly, *class, *id, *recurrence, *data, *display_name;
	int64_t due;
	bool disabled;
};

/* Columns are found by name, so that their order and further ones do not matter. -1: one is
 * missing, or a value is no time, bit or identifier. */
MUST_CHECK int scheduler_job_row_read(const struct client_table *t, size_t row, struct job_row *ret,
				      struct err *reterr);
/* Texts of times: "2026-11-20T22:00:00.000" for the server, with a blank and without empty
 * milliseconds for people. dst has JOB_TIME_MAX bytes. */
#define JOB_TIME_MAX 32
void scheduler_job_time_sent(int64_t ticks, char dst[JOB_TIME_MAX]);
void scheduler_job_time_shown(int64_t ticks, char dst[JOB_TIME_MAX]);
bool scheduler_job_time_parse(const char *text, int64_t *ret);

/* All return 0, JOBS_REFUSED, or -1 when the call failed. Results must be freed with
 * client_result_fini in every case. */
MUST_CHECK int scheduler_jobs_list(struct client *c, struct client_result *ret, struct err *reterr);
MUST_CHECK int scheduler_jobs_get(struct client *c, const char *id, struct client_result *ret,
				  struct err *reterr);
MUST_CHECK int scheduler_jobs_in_interval(struct client *c, int64_t until, struct client_result *ret,
					  struct err *reterr);
MUST_CHECK int scheduler_jobs_add(struct client *c, const struct job_row *job, struct err *reterr);
MUST_CHECK int scheduler_jobs_modify(struct client *c, const struct job_row *job, struct err *reterr);
MUST_CHECK int scheduler_jobs_refresh(struct client *c, const char *id, int64_t due, struct err *reterr);
MUST_CHECK int scheduler_jobs_remove(struct client *c, const char *id, struct err *reterr);

/* How one occurrence ended. */
struct job_run {
	int64_t due, started, ended;
	const char *outcome; /* one word */
	int status;          /* of the handler; -1: nothing was run */
};
/* Not of the specification: our server keeps the last runs. scheduler: whose run it was. */
MUST_CHECK int scheduler_jobs_ran(struct client *c, const char *id, const char *display_name,
				  const struct job_run *run, const char *scheduler, struct err *reterr);

/* What is called between the two is done as a whole or not at all, and no other client comes in
 * between. */
MUST_CHECK int scheduler_jobs_begin(struct client *c, struct err *reterr);
MUST_CHECK int scheduler_jobs_commit(struct client *c, struct err *reterr);
MUST_CHECK int scheduler_jobs_rollback(struct client *c, struct err *reterr);

#endif
