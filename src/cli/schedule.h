/* schedule.h — what the files of `procession schedule` share. */
#ifndef CLI_SCHEDULE_H
#define CLI_SCHEDULE_H

#include "cli/cli.h"
#include "schedule/occurrence.h"
#include "scheduler/jobs.h"

/* Shows err and gives the status that fits it. */
int cli_schedule_failed(const struct cli *cli, const struct err *e, int status);
/* Connected to the database of scheduled jobs; or an exit status other than 0, and the reason
 * has been shown. */
int cli_schedule_connect(struct cli *cli, struct client **ret);
/* The row of a job. 0 or an exit status; r must be freed either way. */
int cli_schedule_find(struct cli *cli, struct client *c, const char *id, struct client_result *r,
		      struct job_row *ret);

/* Text or the reason why it is none, shown. */
bool cli_schedule_parse_recurrence(const struct cli *cli, const char *text, struct recurrence *ret);
bool cli_schedule_parse_time(const struct cli *cli, const char *flag, const char *text, int64_t *ret);
bool cli_schedule_is_id(const char *text);

/* schedule_show.c */
void cli_schedule_show_rows(const struct cli *cli, const struct job_row *rows, size_t n);
int cli_schedule_show_job(const struct cli *cli, const struct job_row *job);
int cli_schedule_show_next(const struct cli *cli, const struct recurrence *r, int64_t due, int64_t now,
			   bool with_due, const char *id);

#endif
