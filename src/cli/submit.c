/* submit.c — documents become a job: a group for each pair of folders, at most a thousand items
 * each, so that no call is large. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch.h"

#define GROUP_ITEMS 1000
#define GROUPS_MAX 32767
#define ATTEMPTS 3
#define XML_MAX ((size_t)16 * 1024 * 1024)

static bool same_group(const struct cli_document *a, const struct cli_document *b)
{
	return strcmp(a->base, b->base) == 0 && strcmp(a->out_base, b->out_base) == 0;
}

/* As many as belong together, from first on. */
static size_t group_size(const struct cli_documents *d, size_t first)
{
	size_t n = 1;

	while (first + n < d->n && n < GROUP_ITEMS && same_group(&d->list[first], &d->list[first + n]))
		n++;
	return n;
}

static int add_group(struct client *c, const struct queue_service *s, int64_t job, int group,
		     const struct cli_document *first, size_t n, struct err *reterr)
{
	struct buf xml;
	int rc;

	assert(n > 0 && n <= GROUP_ITEMS && group > 0 && group <= GROUPS_MAX);
	buf_init(&xml, XML_MAX);
	worker_queue_group_start(&xml, s);
	for (size_t i = 0; i < n; i++)
		worker_queue_group_add(&xml, (int)i + 1, first[i].input, first[i].output);
	worker_queue_group_end(&xml);
	rc = worker_queue_add_group(c, job, group, first->base, first->out_base, ATTEMPTS, &xml, reterr);
	buf_fini(&xml);
	return rc;
}

static int add_groups(struct client *c, const struct queue_service *s, int64_t job,
		      const struct cli_documents *d, struct err *reterr)
{
	int group = 0, rc = 0;

	for (size_t first = 0, n; rc == 0 && first < d->n; first += n) {
		n = group_size(d, first);
		rc = ++group > GROUPS_MAX ? err_raise(reterr, 50000, 16, 1,
						      "the documents are in more than %d folders: give them "
						      "in several calls",
						      GROUPS_MAX)
					  : add_group(c, s, job, group, &d->list[first], n, reterr);
	}
	return rc;
}

int cli_submit(struct cli *cli, const struct cli_batch_kind *kind, struct client *c,
	       const struct cli_documents *d, int64_t *ret_job, struct err *reterr)
{
	int64_t job = worker_queue_new_job_id();
	char *settings, name[200];
	int64_t limit = -1;
	int rc;

	if (cli->max_items != NULL && !worker_queue_number(cli->max_items, 0, INT32_MAX, &limit))
		return err_raise(reterr, 50000, 16, 1, "--max-items-per-day takes a number, not '%s'",
				 cli->max_items);
	settings = kind->settings(cli, reterr);
	if (settings == NULL)
		return -1;
	if (cli->name != NULL)
		snprintf(name, sizeof(name), "%s", cli->name);
	else
		snprintf(name, sizeof(name), d->n == 1 ? "%.150s" : "%.150s and %zu more", d->list[0].input,
			 d->n - 1);
	rc = worker_queue_add_job(c, kind->service, job, name, settings, (int)d->n, (int)limit, reterr);
	free(settings);
	if (rc == 0)
		rc = add_groups(c, kind->service, job, d, reterr);
	if (rc == 0)
		rc = worker_queue_submit(c, job, reterr);
	*ret_job = job;
	return rc;
}
