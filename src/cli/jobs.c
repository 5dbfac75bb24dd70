/* jobs.c — `procession jobs`: the jobs of both document services, whoever added them. */
#include "cli/jobs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/batch.h"
#include "cli/rows.h"
#include "document/errors.h"

static const struct queue_service *const services[] = { &worker_queue_convert, &worker_queue_translate };

/* --- which service, which job --- */

static int fail(const struct cli *cli, const struct err *e, int status)
{
	cli_output_error(e, cli->json);
	return status;
}

/* "convert" and "word" mean the same, as do "translate" and "translation". NULL and *ret_bad:
 * neither. */
static const struct queue_service *named_service(const struct cli *cli, bool *ret_bad)
{
	const char *n = cli->service;

	*ret_bad = false;
	if (n == NULL)
		return NULL;
	if (strcmp(n, "convert") == 0 || strcmp(n, "word") == 0)
		return &worker_queue_convert;
	if (strcmp(n, "translate") == 0 || strcmp(n, "translation") == 0)
		return &worker_queue_translate;
	*ret_bad = true;
	return NULL;
}

static int open_service(struct cli *cli, const struct queue_service *s, struct client **ret,
			struct err *reterr)
{
	cli_connect_to(cli, s->translation ? &cli_kind_translate : &cli_kind_convert, cli->database);
	return cli_connect(cli, ret, reterr);
}

/* The service that has the job: the one that was named, or the first that knows it. 0 or an exit
 * status, and the reason has been shown. */
static int find_job(struct cli *cli, const char *text, struct client **ret,
		    const struct queue_service **ret_service, int64_t *ret_job)
{
	struct err e = { 0 }, unopened = { 0 };
	bool bad;
	const struct queue_service *only = named_service(cli, &bad);
	int status = EXIT_REFUSED;
	size_t opened = 0;

	if (bad || !worker_queue_number(text, INT64_MIN, INT64_MAX, ret_job)) {
		err_raise(&e, 50000, 16, 1,
			  bad ? "--service is convert or translate, not '%s'"
			      : "'%s' is no number of a job; procession jobs list shows them",
			  bad ? cli->service : text);
		return fail(cli, &e, EXIT_USAGE);
	}
	for (size_t i = 0; i < ARRAY_LEN(services); i++) {
		struct queue_counts k;
		struct client *c;
		int rc;

		if (only != NULL && services[i] != only)
			continue;
		if (open_service(cli, services[i], &c, &unopened) < 0)
			continue;
		opened++;
		rc = worker_queue_status(c, *ret_job, cli->partition, &k, NULL, &e);
		if (rc == 1) {
			*ret = c;
			*ret_service = services[i];
			return 0;
		}
		client_close(c);
	}
	/* A database that was named is of one kind: no news that the other service is not there. */
	if (unopened.text[0] != '\0' && (opened == 0 || cli->database == NULL)) {
		e = unopened;
		status = cli_connect_status(&e);
		if (status == EXIT_OK)
			status = EXIT_REFUSED;
	}
	if (e.text[0] == '\0')
		err_raise(&e, 50000, 16, 1, "there is no job %s%s", text,
			  cli->partition == NULL ? "; one of a partition needs --partition"
						 : " in this partition");
	return fail(cli, &e, status);
}

/* --- states --- */

static const char *state_of(const struct queue_counts *k, bool canceled)
{
	if (canceled)
		return "canceled";
	if (k->not_submitted > 0)
		return "not submitted";
	if (k->in_progress > 0)
		return "running";
	if (k->not_started > 0)
		return k->succeeded + k->failed > 0 ? "running" : "waiting";
	return k->failed > 0 ? "failed" : "done";
}

static bool is_over(const struct queue_counts *k)
{
	return k->not_submitted + k->not_started + k->in_progress == 0;
}

/* --- list --- */

static size_t wanted_count(const struct cli *cli)
{
	int64_t n = 50;

	if (cli->count != NULL && !worker_queue_number(cli->count, 1, 1000000, &n))
		n = 0;
	return (size_t)n;
}

static int list_service(struct cli *cli, const struct queue_service *s, struct cli_rows *rows,
			struct err *reterr)
{
	struct client *c;
	struct client_result r;
	int rc;

	if (open_service(cli, s, &c, reterr) < 0)
		return -1;
	rc = worker_queue_jobs(c, cli->partition, cli->active, &r, reterr);
	for (size_t n = rc == 0 ? r.tables[0].nrows : 0,
		    first = n > wanted_count(cli) ? n - wanted_count(cli) : 0;
	     rc == 0 && n > first; n--) {
		const struct client_table *t = &r.tables[0];
		struct queue_counts k = { 0 };
		int64_t job;

		if (!worker_queue_number(worker_queue_cell(t, n - 1, "JobId"), INT64_MIN, INT64_MAX, &job))
			continue;
		if (worker_queue_status(c, job, cli->partition, &k, NULL, reterr) < 0)
			rc = -1;
		cli_rows_text(rows, s->name);
		cli_rows_number(rows, job);
		cli_rows_text(rows, worker_queue_cell(t, n - 1, "Name"));
		cli_rows_text(rows, state_of(&k, worker_queue_cell(t, n - 1, "CancelTime") != NULL));
		cli_rows_number(rows, k.total);
		cli_rows_number(rows, k.succeeded);
		cli_rows_number(rows, k.failed);
		cli_rows_text(rows, worker_queue_cell(t, n - 1, "CreateTime"));
	}
	client_result_fini(&r);
	client_close(c);
	return rc;
}

static int list(struct cli *cli)
{
	static const char *const names[] = { "Service",    "#Job",  "Name",    "State",
					     "#Documents", "#Done", "#Failed", "Created" };
	struct cli_rows rows;
	struct err e = { 0 };
	bool bad;
	const struct queue_service *only = named_service(cli, &bad);
	size_t reached = 0;

	if (bad || wanted_count(cli) == 0) {
		err_raise(&e, 50000, 16, 1, "%s",
			  bad ? "--service is convert or translate" : "--count takes a number, 1 to 1000000");
		return fail(cli, &e, EXIT_USAGE);
	}
	cli_rows_init(&rows, names, ARRAY_LEN(names));
	for (size_t i = 0; i < ARRAY_LEN(services); i++) {
		struct err one = { 0 };

		if (only != NULL && services[i] != only)
			continue;
		if (list_service(cli, services[i], &rows, &one) == 0)
			reached++;
		else
			e = one;
	}
	if (reached == 0) {
		cli_rows_fini(&rows);
		return fail(cli, &e, cli_connect_status(&e));
	}
	/* A database that was named is of one kind: no news that the other service is not there. */
	if (e.text[0] != '\0' && cli->database == NULL)
		cli_output_note(e.text);
	return cli_rows_show(&rows, cli->json, &e) == 0 ? EXIT_OK : fail(cli, &e, EXIT_REFUSED);
}

/* --- show --- */

static void show_line(bool json, const char *name, const char *value)
{
	if (json) {
		printf(", \"%s\": ", name);
		if (value != NULL)
			json_put_string(stdout, value);
		else
			fputs("null", stdout);
	} else {
		printf("%-12s ", name);
		cli_output_text(stdout, value != NULL ? value : "-");
		putchar('\n');
	}
}

static void show_count(bool json, const char *name, int n)
{
	printf(json ? ", \"%s\": %d" : "%-12s %d\n", name, n);
}

static void show_groups(const struct cli *cli, const struct client_table *t)
{
	static const char *const wanted[] = { "GroupId", "InputRoot", "OutputRoot" };
	static const char *const names[] = { "#Group", "InputRoot", "OutputRoot" };
	struct cli_rows rows;

	cli_rows_init(&rows, names, ARRAY_LEN(names));
	for (size_t n = 0; n < t->nrows; n++)
		for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
			cli_rows_text(&rows, worker_queue_cell(t, n, wanted[i]));
	fputs(cli->json ? ", \"groups\": " : "\n", stdout);
	(void)!cli_rows_show(&rows, cli->json, NULL);
}

static int show(struct cli *cli, struct client *c, const struct queue_service *s, int64_t job,
		struct err *reterr)
{
	struct queue_counts k;
	struct client_result g = { 0 };
	char *name = NULL, number[32];
	int rc = worker_queue_status(c, job, cli->partition, &k, &name, reterr);

	if (rc == 1)
		rc = worker_queue_groups(c, job, cli->partition, &g, reterr);
	if (rc == 0 && g.tables != NULL) {
		const struct client_table *t = &g.tables[0];
		bool some = t->nrows > 0;

		snprintf(number, sizeof(number), "%lld", (long long)job);
		if (cli->json)
			printf("{\"Job\": %s", number);
		else
			show_line(false, "Job", number);
		show_line(cli->json, "Service", s->name);
		show_line(cli->json, "Name", name);
		show_line(cli->json, "State",
			  state_of(&k, some && worker_queue_cell(t, 0, "CancelTime") != NULL));
		show_line(cli->json, "Created", some ? worker_queue_cell(t, 0, "CreateTime") : NULL);
		show_line(cli->json, "Canceled", some ? worker_queue_cell(t, 0, "CancelTime") : NULL);
		show_count(cli->json, "Documents", k.total);
		show_count(cli->json, "Waiting", k.not_started + k.not_submitted);
		show_count(cli->json, "Running", k.in_progress);
		show_count(cli->json, "Done", k.succeeded);
		show_count(cli->json, "Failed", k.failed);
		show_line(cli->json, "Settings", some ? worker_queue_cell(t, 0, "Settings") : NULL);
		show_groups(cli, t);
		if (cli->json)
			puts("}");
	}
	client_result_fini(&g);
	free(name);
	return rc;
}

/* --- items --- */

struct items {
	struct cli_rows rows;
	const struct history *history;
};

static const char *item_state(const struct client_table *t, size_t row)
{
	if (worker_queue_cell(t, row, "StopTime") != NULL)
		return worker_queue_cell(t, row, "ErrorCode") != NULL ? "failed" : "done";
	return worker_queue_cell(t, row, "StartTime") != NULL ? "running" : "waiting";
}

static void add_item(void *arg, const struct client_table *t, size_t row, int group)
{
	struct items *l = arg;
	int64_t item = 0, error = 0;
	bool failed = worker_queue_number(worker_queue_cell(t, row, "ErrorCode"), INT32_MIN, INT32_MAX,
					  &error);

	(void)worker_queue_number(worker_queue_cell(t, row, "ItemId"), INT32_MIN, INT32_MAX, &item);
	cli_rows_number(&l->rows, group);
	cli_rows_text(&l->rows, worker_queue_cell(t, row, "ItemId"));
	cli_rows_text(&l->rows, item_state(t, row));
	cli_rows_text(&l->rows, worker_queue_cell(t, row, "InputFile"));
	cli_rows_text(&l->rows, worker_queue_cell(t, row, "OutputFile"));
	cli_rows_text(&l->rows, worker_queue_cell(t, row, "StartTime"));
	cli_rows_text(&l->rows, worker_queue_cell(t, row, "StopTime"));
	cli_rows_text(&l->rows, worker_queue_cell(t, row, "ErrorCode"));
	cli_rows_text(&l->rows, failed ? document_error_name((int)error) : NULL);
	/* An attempt may have failed although the item has not. */
	cli_rows_text(&l->rows, worker_history_text(l->history, group, (int)item));
}

/* Where this user's commands and the worker of the machine keep their history. */
static int read_history(const struct cli *cli, struct client *c, const struct queue_service *s, int64_t job,
			struct history **ret, struct err *reterr)
{
	char home[4096];

	if (cli->state == NULL && !cli_home_state(s->name, home, sizeof(home)))
		home[0] = '\0';
	return cli_jobs_history(c, cli->state != NULL ? cli->state : home, s->name, job, ret, reterr);
}

static int items(struct cli *cli, struct client *c, const struct queue_service *s, int64_t job,
		 struct err *reterr)
{
	static const char *const names[] = { "#Group",  "#Item",   "State",  "Input", "Output",
					     "Started", "Stopped", "#Error", "Name",  "Why" };
	struct items l = { 0 };
	struct history *history;
	int rc = read_history(cli, c, s, job, &history, reterr);

	if (rc < 0)
		return rc;
	l.history = history;
	cli_rows_init(&l.rows, names, ARRAY_LEN(names));
	rc = cli_jobs_each_item(c, job, cli->partition, cli->failed_only ? QUEUE_FAILED : QUEUE_ALL, add_item,
				&l, reterr);
	if (rc == 0)
		rc = cli_rows_show(&l.rows, cli->json, reterr);
	else
		cli_rows_fini(&l.rows);
	worker_history_free(history);
	return rc;
}

/* --- watch --- */

static void draw_bar(const struct queue_counts *k, const char *name, bool terminal)
{
	const int cells = 30;
	int ended = k->succeeded + k->failed, full = k->total > 0 ? ended * cells / k->total : cells;

	fputs(terminal ? "\r\033[K[" : "[", stderr);
	for (int i = 0; i < cells; i++)
		fputc(i < full ? '#' : '.', stderr);
	fprintf(stderr, "] %d of %d", ended, k->total);
	if (k->failed > 0)
		fprintf(stderr, ", %d failed", k->failed);
	if (k->in_progress > 0)
		fprintf(stderr, ", %d running", k->in_progress);
	if (name != NULL) {
		fputs("  ", stderr);
		cli_output_text(stderr, name);
	}
	if (!terminal)
		fputc('\n', stderr);
	fflush(stderr);
}

static int watch(struct cli *cli, struct client *c, int64_t job, struct err *reterr)
{
	bool terminal = isatty(STDERR_FILENO) == 1;
	struct queue_counts k, shown = { .total = -1 };
	char *name = NULL;
	int rc;

	while ((rc = worker_queue_status(c, job, cli->partition, &k, &name, reterr)) == 1) {
		if (!cli->json && memcmp(&k, &shown, sizeof(k)) != 0)
			draw_bar(&k, name, terminal);
		free(name);
		name = NULL;
		shown = k;
		if (is_over(&k))
			break;
		nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	}
	if (rc <= 0)
		return -1;
	if (terminal && !cli->json)
		fputc('\n', stderr);
	if (cli->json)
		printf("{\"job\": %lld, \"documents\": %d, \"succeeded\": %d, \"failed\": %d, \"canceled\": "
		       "%d}\n",
		       (long long)job, k.total, k.succeeded, k.failed, k.canceled);
	return k.succeeded == k.total ? EXIT_OK : EXIT_REFUSED;
}

/* --- the commands --- */

static int cancel(struct cli *cli, struct client *c, int64_t job, struct err *reterr)
{
	int rc = worker_queue_cancel(c, job, cli->partition, reterr);

	if (rc == 0)
		puts(cli->json ? "{\"ok\": true}" : "canceled; what runs is finished");
	return rc;
}

static int on_job(struct cli *cli, const struct command *cmd)
{
	const struct queue_service *s;
	struct client *c;
	struct err e = { 0 };
	int64_t job;
	int status = find_job(cli, cli->args[0], &c, &s, &job), rc;

	if (status != 0)
		return status;
	if (strcmp(cmd->name, "show") == 0)
		rc = show(cli, c, s, job, &e);
	else if (strcmp(cmd->name, "items") == 0)
		rc = items(cli, c, s, job, &e);
	else if (strcmp(cmd->name, "cancel") == 0)
		rc = cancel(cli, c, job, &e);
	else
		rc = watch(cli, c, job, &e);
	client_close(c);
	return rc < 0 ? fail(cli, &e, EXIT_REFUSED) : rc;
}

int cli_run_jobs(struct cli *cli, const struct command *cmd)
{
	struct cli_own_server *own;
	struct err e = { 0 };
	int status;

	if (cli_own_server_find(cli, &own, &e) < 0)
		return fail(cli, &e, EXIT_UNREACHABLE);
	status = strcmp(cmd->name, "list") == 0 ? list(cli) : on_job(cli, cmd);
	cli_own_server_leave(own);
	return status;
}
