/* jobs_summary.c — the end of `procession convert` and `translate`: what failed and why, and a
 * sum. */
#include <stdlib.h>
#include <string.h>

#include "cli/jobs.h"
#include "cli/rows.h"
#include "document/errors.h"

static int add_reasons(struct client *c, int64_t job, struct history *h, struct err *reterr)
{
	struct client_result r;
	int rc = worker_queue_reasons(c, job, &r, reterr);
	const struct client_table *t = rc == 0 ? &r.tables[0] : NULL;

	for (size_t n = 0; rc == 0 && n < t->nrows; n++) {
		const char *reason = worker_queue_cell(t, n, "Reason");
		int64_t group, item;

		if (reason != NULL &&
		    worker_queue_number(worker_queue_cell(t, n, "GroupId"), INT16_MIN, INT16_MAX, &group) &&
		    worker_queue_number(worker_queue_cell(t, n, "ItemId"), INT32_MIN, INT32_MAX, &item))
			rc = worker_history_add(h, (int)group, (int)item, reason, reterr);
	}
	client_result_fini(&r);
	return rc < 0 ? -1 : 0;
}

int cli_jobs_history(struct client *c, const char *dir, const char *service, int64_t job,
		     struct history **ret, struct err *reterr)
{
	if (worker_history_read(dir, service, job, ret, reterr) < 0)
		return -1;
	if (add_reasons(c, job, *ret, reterr) == 0)
		return 0;
	worker_history_free(*ret);
	return -1;
}

int cli_jobs_each_item(struct client *c, int64_t job, const char *partition, unsigned classes, cli_item_fn *f,
		       void *arg, struct err *reterr)
{
	struct client_result groups;
	int rc = worker_queue_groups(c, job, partition, &groups, reterr);

	for (size_t g = 0; rc == 0 && g < groups.tables[0].nrows; g++) {
		struct client_result items;
		int64_t group;

		if (!worker_queue_number(worker_queue_cell(&groups.tables[0], g, "GroupId"), INT16_MIN,
					 INT16_MAX, &group))
			continue;
		rc = worker_queue_items(c, job, (int)group, partition, classes, &items, reterr);
		for (size_t i = 0; rc == 0 && i < items.tables[0].nrows; i++)
			f(arg, &items.tables[0], i, (int)group);
		client_result_fini(&items);
	}
	client_result_fini(&groups);
	return rc;
}

struct failures {
	struct cli_rows rows;
	const struct history *history;
};

static void add_failure(void *arg, const struct client_table *t, size_t row, int group)
{
	struct failures *f = arg;
	int64_t item = 0, error = 0;
	const char *text;

	(void)worker_queue_number(worker_queue_cell(t, row, "ItemId"), INT32_MIN, INT32_MAX, &item);
	(void)worker_queue_number(worker_queue_cell(t, row, "ErrorCode"), INT32_MIN, INT32_MAX, &error);
	text = worker_history_text(f->history, group, (int)item);
	cli_rows_text(&f->rows, worker_queue_cell(t, row, "InputFile"));
	cli_rows_text(&f->rows, document_error_name((int)error));
	cli_rows_text(&f->rows, text != NULL ? text : document_error_text((int)error));
}

static int show_failures(const struct cli *cli, struct client *c, const struct cli_job_summary *s,
			 struct err *reterr)
{
	static const char *const names[] = { "Document", "Error", "Why" };
	struct failures f = { 0 };
	struct history *history;
	int rc;

	if (cli_jobs_history(c, s->history, s->service->name, s->job, &history, reterr) < 0)
		return -1;
	f.history = history;
	cli_rows_init(&f.rows, names, ARRAY_LEN(names));
	rc = cli_jobs_each_item(c, s->job, NULL, QUEUE_FAILED, add_failure, &f, reterr);
	if (rc == 0)
		rc = cli_rows_show(&f.rows, cli->json, reterr);
	else
		cli_rows_fini(&f.rows);
	worker_history_free(history);
	return rc;
}

static void show_sum(const struct cli_job_summary *s, const struct queue_counts *k)
{
	int left = k->not_submitted + k->not_started + k->in_progress + k->canceled;

	printf("%d of %d documents %s in %.1f s", k->succeeded, k->total, s->past, (double)s->ms / 1000);
	if (k->failed > 0)
		printf(", %d failed", k->failed);
	if (left > 0)
		printf(", %d left", left);
	if (s->skipped > 0)
		printf(", %zu were there already", s->skipped);
	puts(".");
}

int cli_jobs_summary(const struct cli *cli, struct client *c, const struct cli_job_summary *s,
		     struct err *reterr)
{
	struct queue_counts k;
	int rc = worker_queue_status(c, s->job, NULL, &k, NULL, reterr);

	if (rc <= 0)
		return EXIT_REFUSED;
	if (cli->json)
		printf("{\"job\": %lld, \"documents\": %d, \"succeeded\": %d, \"failed\": %d, \"left\": %d, "
		       "\"skipped\": %zu, \"seconds\": %.1f, \"failures\": ",
		       (long long)s->job, k.total, k.succeeded, k.failed, k.total - k.succeeded - k.failed,
		       s->skipped, (double)s->ms / 1000);
	if ((cli->json || k.failed > 0) && show_failures(cli, c, s, reterr) < 0)
		return EXIT_REFUSED;
	if (cli->json)
		puts("}");
	else
		show_sum(s, &k);
	return k.succeeded == k.total ? EXIT_OK : EXIT_REFUSED;
}
