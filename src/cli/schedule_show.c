/* schedule_show.c — `procession schedule list|show|next`: tables for people, JSON for programs.
 * All times are UTC. */
#include "cli/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "schedule/job_class.h"
#include "value/datetime.h"

#define CELL_MAX 96

/* People read a blank, programs ISO 8601 with its Z. */
static void format_time(const struct cli *cli, int64_t ticks, char dst[CELL_MAX])
{
	static const char *const days[] = { "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun" };
	char text[JOB_TIME_MAX];

	scheduler_job_time_shown(ticks, text);
	if (cli->json) {
		text[10] = 'T';
		snprintf(dst, CELL_MAX, "%sZ", text);
	} else if (ticks == DATETIME_MAX) {
		snprintf(dst, CELL_MAX, "never");
	} else {
		snprintf(dst, CELL_MAX, "%s %s", days[((datetime_day(ticks) % 7) + 7) % 7], text);
	}
}

static const char *short_class(const struct job_row *job)
{
	const struct job_class *class = schedule_class_find(str_of(job->assembly), str_of(job->class));

	return class != NULL ? class->name : job->class;
}

/* In JSON what is NULL stays null. */
static const char *or_word(const struct cli *cli, const char *text, const char *word)
{
	return text != NULL || cli->json ? text : word;
}

/* ---- list ---- */

void cli_schedule_show_rows(const struct cli *cli, const struct job_row *rows, size_t n)
{
	static const char *const names[] = { "id",       "class",    "recurrence", "next_due",
					     "disabled", "job_data", "name" };
	enum { COLUMNS = ARRAY_LEN(names) };
	bool numeric[COLUMNS] = { [4] = true };
	char(*times)[CELL_MAX] = calloc(n + 1, sizeof(*times));
	const char **cells = calloc(n * COLUMNS + 1, sizeof(*cells));

	if (times != NULL && cells != NULL) {
		for (size_t i = 0; i < n; i++) {
			const struct job_row *job = &rows[i];
			const char *row[COLUMNS] = { job->id,
						     short_class(job),
						     or_word(cli, job->recurrence, "once"),
						     times[i],
						     job->disabled ? "1" : "0",
						     or_word(cli, job->data, ""),
						     or_word(cli, job->display_name, "") };
			format_time(cli, job->due, times[i]);
			memcpy(&cells[i * COLUMNS], row, sizeof(row));
		}
		cli_output_table(&(struct client_table){ .ncols = COLUMNS,
							 .nrows = n,
							 .names = (char **)(uintptr_t)names,
							 .numeric = numeric,
							 .cells = (char **)(uintptr_t)cells },
				 cli->json);
	}
	free(times);
	free(cells);
}

int cli_run_schedule_list(struct cli *cli, const struct command *cmd)
{
	struct client *c;
	struct client_result r = { 0 };
	struct job_row *rows = NULL;
	struct err e = { 0 };
	size_t n = 0, total = 0;
	int status;

	(void)cmd;
	status = cli_schedule_connect(cli, &c);
	if (status != EXIT_OK)
		return status;
	if (scheduler_jobs_list(c, &r, &e) < 0)
		status = cli_schedule_failed(cli, &e, EXIT_REFUSED);
	else
		total = r.tables[0].nrows;
	rows = calloc(total + 1, sizeof(*rows));
	for (size_t i = 0; rows != NULL && i < total; i++) {
		if (scheduler_job_row_read(&r.tables[0], i, &rows[n], &e) < 0)
			status = cli_schedule_failed(cli, &e, EXIT_REFUSED); /* the others are still shown */
		else
			n++;
	}
	if (r.ntables > 0 && rows != NULL)
		cli_schedule_show_rows(cli, rows, n);
	free(rows);
	client_result_fini(&r);
	client_close(c);
	return status;
}

/* ---- show ---- */

static void show_field(const struct cli *cli, const char *name, const char *value, bool *first)
{
	if (cli->json) {
		printf("%s\"%s\": ", *first ? "{" : ", ", name);
		if (value == NULL)
			fputs("null", stdout);
		else
			json_put_string(stdout, value);
		*first = false;
		return;
	}
	printf("%-12s ", name);
	cli_output_text(stdout, value != NULL ? value : "-");
	putchar('\n');
}

/* When inside its window the coming occurrence starts. */
static int64_t start_of(const struct job_row *job)
{
	struct recurrence r;

	if (job->recurrence == NULL || !schedule_recurrence_parse(str_of(job->recurrence), &r))
		return job->due;
	return schedule_recurrence_start(&r, job->due, schedule_recurrence_seed(str_of(job->id)));
}

int cli_schedule_show_job(const struct cli *cli, const struct job_row *job)
{
	char due[CELL_MAX], starts[CELL_MAX];
	const struct job_class *class = schedule_class_find(str_of(job->assembly), str_of(job->class));
	bool first = true;

	format_time(cli, job->due, due);
	format_time(cli, job->disabled ? job->due : start_of(job), starts);
	show_field(cli, "id", job->id, &first);
	show_field(cli, "name", job->display_name, &first);
	show_field(cli, "class", job->class, &first);
	show_field(cli, "assembly", job->assembly, &first);
	show_field(cli, "action",
		   class == NULL    ? NULL
		   : class->ignored ? "ignored"
				    : schedule_class_action(class, str_of(job->data)),
		   &first);
	show_field(cli, "recurrence", or_word(cli, job->recurrence, "once"), &first);
	show_field(cli, "job_data", job->data, &first);
	show_field(cli, "disabled", job->disabled ? "1" : "0", &first);
	show_field(cli, "next_due", due, &first);
	show_field(cli, "starts", starts, &first);
	if (cli->json)
		puts("}");
	return EXIT_OK;
}

int cli_run_schedule_show(struct cli *cli, const struct command *cmd)
{
	struct client *c;
	struct client_result r = { 0 };
	struct job_row job;
	int status = cli_schedule_connect(cli, &c);

	(void)cmd;
	if (status != EXIT_OK)
		return status;
	status = cli_schedule_find(cli, c, cli->args[0], &r, &job);
	if (status == EXIT_OK)
		status = cli_schedule_show_job(cli, &job);
	client_result_fini(&r);
	client_close(c);
	return status;
}

/* ---- next ---- */

static bool parse_count(const struct cli *cli, size_t *ret)
{
	char *end = NULL;
	unsigned long n = cli->count != NULL ? strtoul(cli->count, &end, 10) : 5;
	struct err e = { 0 };

	if (cli->count == NULL ||
	    (cli->count[0] >= '0' && cli->count[0] <= '9' && *end == '\0' && n >= 1 && n <= 10000)) {
		*ret = n;
		return true;
	}
	err_raise(&e, 50000, 16, 1, "--count takes a number from 1 to 10000");
	cli_schedule_failed(cli, &e, EXIT_USAGE);
	return false;
}

/* with_due: the due time itself is the first; id: also when the job starts. */
int cli_schedule_show_next(const struct cli *cli, const struct recurrence *r, int64_t due, int64_t now,
			   bool with_due, const char *id)
{
	char *names[] = { "due", "until", "starts" };
	bool numeric[3] = { 0 };
	size_t n, rows = 0, columns = id != NULL ? 3 : 2;
	char(*texts)[CELL_MAX];
	char **cells;
	uint64_t seed = id != NULL ? schedule_recurrence_seed(str_of(id)) : 0;

	if (!parse_count(cli, &n))
		return EXIT_USAGE;
	texts = calloc(n * columns, sizeof(*texts));
	cells = calloc(n * columns, sizeof(*cells));
	for (size_t i = 0; texts != NULL && cells != NULL && rows < n; i++) {
		char(*row)[CELL_MAX] = &texts[rows * columns];

		if (!(i == 0 && with_due) && !schedule_recurrence_next(r, due, i == 0 ? now : due, &due))
			break;
		format_time(cli, due, row[0]);
		format_time(cli, schedule_recurrence_window_end(r, due), row[1]);
		if (columns == 3)
			format_time(cli, schedule_recurrence_start(r, due, seed), row[2]);
		for (size_t k = 0; k < columns; k++)
			cells[rows * columns + k] = row[k];
		rows++;
	}
	if (texts != NULL && cells != NULL)
		cli_output_table(&(struct client_table){ .ncols = columns,
							 .nrows = rows,
							 .names = names,
							 .numeric = numeric,
							 .cells = cells },
				 cli->json);
	free(texts);
	free(cells);
	return EXIT_OK;
}

static int next_of_job(struct cli *cli)
{
	struct client *c;
	struct client_result r = { 0 };
	struct job_row job;
	struct recurrence recurrence;
	int status = cli_schedule_connect(cli, &c);

	if (status != EXIT_OK)
		return status;
	status = cli_schedule_find(cli, c, cli->args[0], &r, &job);
	if (status == EXIT_OK && job.disabled)
		cli_output_note("the job is disabled: it has no next occurrence");
	else if (status == EXIT_OK && job.recurrence == NULL)
		status = cli_schedule_show_job(cli, &job);
	else if (status == EXIT_OK)
		status = cli_schedule_parse_recurrence(cli, job.recurrence, &recurrence)
				 ? cli_schedule_show_next(cli, &recurrence, job.due, job.due, true, job.id)
				 : EXIT_REFUSED;
	client_result_fini(&r);
	client_close(c);
	return status;
}

int cli_run_schedule_next(struct cli *cli, const struct command *cmd)
{
	struct recurrence r;
	int64_t from = clock_ticks();

	(void)cmd;
	if (cli_schedule_is_id(cli->args[0]))
		return next_of_job(cli);
	if (!cli_schedule_parse_recurrence(cli, cli->args[0], &r) ||
	    (cli->from != NULL && !cli_schedule_parse_time(cli, "--from", cli->from, &from)))
		return EXIT_USAGE;
	/* 'every …' counts on from the due time: people count from a whole second. */
	if (cli->from == NULL)
		from -= from % TICKS_PER_SECOND;
	return cli_schedule_show_next(cli, &r, from, from, false, NULL);
}
