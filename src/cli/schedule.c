/* schedule.c — `procession schedule`: scheduled jobs for people. What can be checked is checked
 * before it is sent; the server has the last word. */
#include "cli/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "schedule/job_class.h"
#include "value/datetime.h"
#include "value/guid.h"

int cli_schedule_failed(const struct cli *cli, const struct err *e, int status)
{
	cli_output_error(e, cli->json);
	return status;
}

static int wrong(const struct cli *cli, const char *text)
{
	struct err e = { 0 };

	err_raise(&e, 50000, 16, 1, "%s", text);
	return cli_schedule_failed(cli, &e, EXIT_USAGE);
}

int cli_schedule_connect(struct cli *cli, struct client **ret)
{
	struct err e = { 0 };

	cli_connect_to(cli, &cli_kind_schedule, cli->database);
	if (cli_connect(cli, ret, &e) < 0)
		return cli_schedule_failed(cli, &e, cli_connect_status(&e));
	return EXIT_OK;
}

bool cli_schedule_parse_recurrence(const struct cli *cli, const char *text, struct recurrence *ret)
{
	struct err e = { 0 };

	if (schedule_recurrence_parse(str_of(text), ret))
		return true;
	err_raise(&e, 50000, 16, 1,
		  "'%s' is no recurrence. Numbers have two digits, words are separated by one blank. Forms: "
		  "every NN seconds; every NN minutes at SS; hourly at MM; "
		  "daily at HH:MM:SS; weekly at fri HH:MM:SS; monthly at DD HH:MM:SS; yearly at jan DD "
		  "HH:MM:SS; and all but the first with 'between A and B' in place of 'at A'",
		  text);
	cli_schedule_failed(cli, &e, EXIT_USAGE);
	return false;
}

bool cli_schedule_parse_time(const struct cli *cli, const char *flag, const char *text, int64_t *ret)
{
	struct err e = { 0 };

	if (strcmp(text, "now") == 0) {
		*ret = clock_ticks();
		return true;
	}
	/* A time without a date would be one of 1900-01-01. */
	if (scheduler_job_time_parse(text, ret) && (*ret < 0 || *ret >= TICKS_PER_DAY))
		return true;
	err_raise(&e, 50000, 16, 1,
		  "%s takes a date and time in UTC, for example '2030-01-31 01:00:00', or now", flag);
	cli_schedule_failed(cli, &e, EXIT_USAGE);
	return false;
}

bool cli_schedule_is_id(const char *text)
{
	uint8_t guid[16];

	return strlen(text) >= 36 && guid_parse(str_of(text), guid);
}

int cli_schedule_find(struct cli *cli, struct client *c, const char *id, struct client_result *r,
		      struct job_row *ret)
{
	struct err e = { 0 };

	if (!cli_schedule_is_id(id)) {
		err_raise(&e, 50000, 16, 1,
			  "'%.60s' is no job id: 32 hexadecimal digits such as "
			  "79C4FB23-91C9-47F4-B1A6-5F7C7D4E8B1A; procession schedule list shows them",
			  id);
		return cli_schedule_failed(cli, &e, EXIT_USAGE);
	}
	if (scheduler_jobs_get(c, id, r, &e) < 0 ||
	    (r->tables[0].nrows > 0 && scheduler_job_row_read(&r->tables[0], 0, ret, &e) < 0))
		return cli_schedule_failed(cli, &e, EXIT_REFUSED);
	if (r->tables[0].nrows > 0)
		return EXIT_OK;
	err_raise(&e, 50000, 16, 1, "there is no scheduled job %s", id);
	return cli_schedule_failed(cli, &e, EXIT_REFUSED);
}

static void show_done(const struct cli *cli, const char *id, const char *done)
{
	if (!cli->json) {
		printf("%s %s\n", done, id);
		return;
	}
	fputs("{\"ok\": true, \"id\": ", stdout);
	json_put_string(stdout, id);
	fputs("}\n", stdout);
}

/* ---- add ---- */

/* The first due time of a job that has none given: the next occurrence. */
static int choose_due(const struct cli *cli, struct job_row *job)
{
	struct recurrence r;
	int64_t now = clock_ticks();

	if (job->recurrence != NULL && !cli_schedule_parse_recurrence(cli, job->recurrence, &r))
		return EXIT_USAGE;
	if (cli->due != NULL) {
		if (!cli_schedule_parse_time(cli, "--due", cli->due, &job->due))
			return EXIT_USAGE;
		if (job->due < now && strcmp(cli->due, "now") != 0)
			fprintf(stderr,
				"procession: --due %s is in the past (it is taken as UTC): the job is due at "
				"once\n",
				cli->due);
		return EXIT_OK;
	}
	if (job->recurrence == NULL)
		return wrong(cli,
			     "a job without --recurrence runs once: say when with --due TIME (or --due now)");
	/* Whole seconds: "every NN seconds" counts on from here. */
	if (!schedule_recurrence_next(&r, now - now % TICKS_PER_SECOND, now, &job->due))
		return wrong(cli, "this recurrence has no further occurrence");
	return EXIT_OK;
}

static const char *once_is_null(const char *recurrence)
{
	return recurrence != NULL && strcmp(recurrence, "once") == 0 ? NULL : recurrence;
}

static const struct job_class *choose_class(const struct cli *cli, const char *name)
{
	const struct job_class *class = schedule_class_by_name(str_of(name));
	struct err e = { 0 };
	char names[600] = "";

	if (class != NULL)
		return class;
	for (size_t i = 0, n = 0; i < schedule_classes_count; i++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i > 0 ? ", " : "",
				      schedule_classes[i].name);
	err_raise(&e, 50000, 16, 1, "'%s' is no class of scheduled jobs; there are: %s", name, names);
	cli_schedule_failed(cli, &e, EXIT_USAGE);
	return NULL;
}

int cli_run_schedule_add(struct cli *cli, const struct command *cmd)
{
	const struct job_class *class = choose_class(cli, cli->args[0]);
	struct job_row job = { .recurrence = once_is_null(cli->recurrence),
			       .data = cli->job_data,
			       .display_name = cli->name,
			       .disabled = cli->disabled };
	struct client *c;
	struct err e = { 0 };
	uint8_t guid[16];
	char id[37];
	const char *problem;
	int status;

	(void)cmd;
	if (class == NULL)
		return EXIT_USAGE;
	problem = schedule_class_check_data(class, str_of(job.data));
	if (problem != NULL)
		return wrong(cli, problem);
	status = choose_due(cli, &job);
	if (status != EXIT_OK)
		return status;
	guid_random(guid); /* [MS-SSPSJ] 3.1.4.1: newly generated */
	guid_format(guid, id);
	job.id = id;
	job.assembly = class->assembly;
	job.class = class->class;
	if (job.disabled)
		job.due = DATETIME_MAX;
	status = cli_schedule_connect(cli, &c);
	if (status != EXIT_OK)
		return status;
	if (scheduler_jobs_add(c, &job, &e) < 0)
		status = cli_schedule_failed(cli, &e, EXIT_REFUSED);
	else
		show_done(cli, id, "added");
	client_close(c);
	return status;
}

/* ---- changes: read, change, write back as one transaction ---- */

typedef int change_fn(struct cli *cli, struct job_row *job);

static int write_back(struct cli *cli, struct client *c, change_fn *change, const char *done)
{
	struct client_result r = { 0 };
	struct job_row job;
	struct err e = { 0 };
	int status;

	if (scheduler_jobs_begin(c, &e) < 0)
		return cli_schedule_failed(cli, &e, EXIT_REFUSED);
	status = cli_schedule_find(cli, c, cli->args[0], &r, &job);
	if (status == EXIT_OK)
		status = change(cli, &job);
	if (status == EXIT_OK && (scheduler_jobs_modify(c, &job, &e) < 0 || scheduler_jobs_commit(c, &e) < 0))
		status = cli_schedule_failed(cli, &e, EXIT_REFUSED);
	if (status == EXIT_OK)
		show_done(cli, job.id, done);
	client_result_fini(&r);
	return status; /* closing the connection rolls back what was not committed */
}

static int change_job(struct cli *cli, change_fn *change, const char *done)
{
	struct client *c;
	int status;

	if (!cli_schedule_is_id(cli->args[0]))
		return wrong(cli, "a job is named by its identifier, as `procession schedule list` shows it");
	status = cli_schedule_connect(cli, &c);
	if (status != EXIT_OK)
		return status;
	status = write_back(cli, c, change, done);
	client_close(c);
	return status;
}

static int change_fields(struct cli *cli, struct job_row *job)
{
	const struct job_class *class = schedule_class_find(str_of(job->assembly), str_of(job->class));
	const char *problem;

	if (cli->recurrence != NULL)
		job->recurrence = once_is_null(cli->recurrence);
	if (cli->job_data != NULL)
		job->data = cli->job_data;
	if (cli->name != NULL)
		job->display_name = cli->name;
	problem = class != NULL ? schedule_class_check_data(class, str_of(job->data)) : NULL;
	if (problem != NULL)
		return wrong(cli, problem);
	if (job->disabled && cli->due != NULL)
		return wrong(cli, "the job is disabled and has no due time; enable it with `procession "
				  "schedule enable ID --due TIME`");
	/* A due time that was made from the old recurrence says nothing about the new one. */
	if (!job->disabled && (cli->recurrence != NULL || cli->due != NULL))
		return choose_due(cli, job);
	if (cli->recurrence != NULL && job->recurrence != NULL) {
		struct recurrence r;
		return cli_schedule_parse_recurrence(cli, job->recurrence, &r) ? EXIT_OK : EXIT_USAGE;
	}
	return EXIT_OK;
}

int cli_run_schedule_modify(struct cli *cli, const struct command *cmd)
{
	(void)cmd;
	if (cli->recurrence == NULL && cli->job_data == NULL && cli->name == NULL && cli->due == NULL)
		return wrong(cli, "nothing to change: give --recurrence, --job-data, --name or --due");
	return change_job(cli, change_fields, "modified");
}

static int change_to_disabled(struct cli *cli, struct job_row *job)
{
	(void)cli;
	job->disabled = true;
	job->due = DATETIME_MAX; /* [MS-SSPSJ] 2.2.6.1 */
	return EXIT_OK;
}

int cli_run_schedule_disable(struct cli *cli, const struct command *cmd)
{
	(void)cmd;
	return change_job(cli, change_to_disabled, "disabled");
}

static int change_to_enabled(struct cli *cli, struct job_row *job)
{
	if (!job->disabled && cli->due == NULL)
		return EXIT_OK;
	job->disabled = false;
	return choose_due(cli, job);
}

int cli_run_schedule_enable(struct cli *cli, const struct command *cmd)
{
	(void)cmd;
	return change_job(cli, change_to_enabled, "enabled");
}

static int change_to_due(struct cli *cli, struct job_row *job)
{
	if (job->disabled)
		return wrong(cli, "the job is disabled; enable it first");
	job->due = clock_ticks();
	return EXIT_OK;
}

int cli_run_schedule_run(struct cli *cli, const struct command *cmd)
{
	(void)cmd;
	return change_job(cli, change_to_due, "due now; a scheduler takes it within its interval:");
}

int cli_run_schedule_remove(struct cli *cli, const struct command *cmd)
{
	struct client *c;
	struct err e = { 0 };
	int status;

	(void)cmd;
	if (!cli_schedule_is_id(cli->args[0]))
		return wrong(cli, "a job is named by its identifier, as `procession schedule list` shows it");
	status = cli_schedule_connect(cli, &c);
	if (status != EXIT_OK)
		return status;
	if (scheduler_jobs_remove(c, cli->args[0], &e) < 0)
		status = cli_schedule_failed(cli, &e, EXIT_REFUSED);
	else
		show_done(cli, cli->args[0], "removed");
	client_close(c);
	return status;
}
