/* jobs.h — what the commands that look at jobs of documents share. */
#ifndef CLI_JOBS_H
#define CLI_JOBS_H

#include "cli/cli.h"
#include "worker/history.h"
#include "worker/queue.h"

/* How a job that this command worked on went. */
struct cli_job_summary {
	const struct queue_service *service;
	int64_t job;
	const char *past; /* "converted" */
	size_t skipped;
	int64_t ms;
	const char *history; /* folder */
};
/* Shows the failures and a sum. → exit status: 1 when one failed. */
int cli_jobs_summary(const struct cli *cli, struct client *c, const struct cli_job_summary *s,
		     struct err *reterr);

/* Why its items failed: what the history in the folder says, and what the server was told by
 * workers elsewhere, if it keeps that and shows it to us. */
MUST_CHECK int cli_jobs_history(struct client *c, const char *dir, const char *service, int64_t job,
				struct history **ret, struct err *reterr);

/* The items of a job, group by group; classes of enum queue_class. f is called with each row. */
typedef void cli_item_fn(void *arg, const struct client_table *t, size_t row, int group);
MUST_CHECK int cli_jobs_each_item(struct client *c, int64_t job, const char *partition, unsigned classes,
				  cli_item_fn *f, void *arg, struct err *reterr);

#endif
