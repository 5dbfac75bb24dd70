/* queue_jobs.c — see queue.h: adding jobs and looking at them, the part that people need. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "worker/worker_int.h"

int64_t worker_queue_new_job_id(void)
{
	uint64_t n = 0;

	while (getrandom(&n, sizeof(n), 0) != (ssize_t)sizeof(n) || n >> 1 == 0)
		;
	return (int64_t)(n >> 1);
}

/* [MS-TSSPROC] 3.1.5.2: status 1 is a refusal, and nothing was added. Its token of the user must
 * not be NULL; ours says that nobody is meant. */
static int add_translation(struct client *c, int64_t job, const char *name, const char *settings, int items,
			   int max_per_day, struct err *reterr)
{
	const struct client_arg args[] = {
		client_bigint("@JobId", job),       client_binary("@UserToken", "\0", 1),
		client_text("@Settings", settings), client_text("@Name", name),
		client_int("@ItemCount", items),    client_int("@MaxItemsPerDay", max_per_day)
	};
	struct client_result r;
	int rc = client_call(c, "proc_AddJob", args, ARRAY_LEN(args) - (max_per_day < 0), &r, reterr);

	if (rc == 0 && r.has_status && r.status == 1)
		rc = err_raise(reterr, 50000, 16, 1,
			       "the job was not added: with its %d documents more than %d would have been "
			       "added in 24 hours",
			       items, max_per_day);
	client_result_fini(&r);
	return rc;
}

int worker_queue_add_job(struct client *c, const struct queue_service *s, int64_t job, const char *name,
			 const char *settings, int items, int max_per_day, struct err *reterr)
{
	const struct client_arg word[] = { client_bigint("@JobId", job), client_text("@Settings", settings),
					   client_text("@Name", name) };

	if (s->translation)
		return add_translation(c, job, name, settings, items, max_per_day, reterr);
	return worker_queue_call_alone(c, "proc_AddJob", word, ARRAY_LEN(word), reterr);
}

int worker_queue_workers(struct client *c, struct client_result *ret, struct err *reterr)
{
	int rc = worker_queue_call_rows(c, "procession_workers", NULL, 0, ret, reterr);

	if (rc == 0 || !worker_queue_is_unknown(reterr))
		return rc;
	memset(reterr, 0, sizeof(*reterr));
	return 1;
}

void worker_queue_group_start(struct buf *xml, const struct queue_service *s)
{
	buf_printf(xml, "<group xmlns=\"%s\">", s->group_ns);
}

/* Text of an attribute. Control characters cannot be said in XML: names with them were refused
 * before. */
static void put_escaped(struct buf *xml, const char *text)
{
	for (; *text != '\0'; text++) {
		switch (*text) {
		case '&': buf_printf(xml, "&amp;"); break;
		case '<': buf_printf(xml, "&lt;"); break;
		case '"': buf_printf(xml, "&quot;"); break;
		case '\t':
		case '\n':
		case '\r': buf_printf(xml, "&#%d;", *text); break;
		default: buf_put_u8(xml, (uint8_t)*text);
		}
	}
}

void worker_queue_group_add(struct buf *xml, int item, const char *input, const char *output)
{
	buf_printf(xml, "<item id=\"%d\" in=\"", item);
	put_escaped(xml, input);
	buf_printf(xml, "\" out=\"");
	put_escaped(xml, output);
	buf_printf(xml, "\"/>");
}

void worker_queue_group_end(struct buf *xml)
{
	buf_printf(xml, "</group>");
}

int worker_queue_add_group(struct client *c, int64_t job, int group, const char *input_root,
			   const char *output_root, int attempts, struct buf *xml, struct err *reterr)
{
	struct client_arg args[6];

	buf_put_u8(xml, 0);
	if (xml->failed)
		return err_nomem(reterr);
	args[0] = client_bigint("@JobId", job);
	args[1] = client_int("@GroupId", group);
	args[2] = client_text("@InputRoot", input_root);
	args[3] = client_text("@OutputRoot", output_root);
	args[4] = client_int("@MaxAttemptsCount", attempts);
	args[5] = client_text("@JobXml", (const char *)xml->data);
	return worker_queue_call_alone(c, "proc_AddGroup", args, ARRAY_LEN(args), reterr);
}

int worker_queue_submit(struct client *c, int64_t job, struct err *reterr)
{
	const struct client_arg args[] = { client_bigint("@JobId", job) };

	return worker_queue_call_alone(c, "proc_SubmitJob", args, ARRAY_LEN(args), reterr);
}

int worker_queue_cancel(struct client *c, int64_t job, const char *partition, struct err *reterr)
{
	const struct client_arg args[] = { client_bigint("@JobId", job),
					   client_text("@PartitionId", partition) };

	return worker_queue_call_alone(c, "proc_CancelJob", args, ARRAY_LEN(args), reterr);
}

static bool read_count(const struct client_table *t, const char *name, int *ret)
{
	int64_t n;

	if (!worker_queue_number(worker_queue_cell(t, 0, name), 0, INT32_MAX, &n))
		return false;
	*ret = (int)n;
	return true;
}

static int read_counts(const struct client_table *t, struct queue_counts *ret, struct err *reterr)
{
	struct queue_counts k;

	if (!read_count(t, "Total", &k.total) || !read_count(t, "NotSubmitted", &k.not_submitted) ||
	    !read_count(t, "NotStarted", &k.not_started) || !read_count(t, "InProgress", &k.in_progress) ||
	    !read_count(t, "Succeeded", &k.succeeded) || !read_count(t, "Failed", &k.failed) ||
	    !read_count(t, "Canceled", &k.canceled))
		return err_raise(reterr, 50000, 16, 1, "the result set of proc_GetJobStatus lacks a count");
	*ret = k;
	return 1;
}

int worker_queue_status(struct client *c, int64_t job, const char *partition, struct queue_counts *ret,
			char **ret_name, struct err *reterr)
{
	const struct client_arg args[] = { client_bigint("@JobId", job),
					   client_text("@PartitionId", partition) };
	struct client_result r;
	int rc = worker_queue_call_rows(c, "proc_GetJobStatus", args, ARRAY_LEN(args), &r, reterr);

	if (rc == 0 && r.tables[0].nrows > 0) {
		rc = read_counts(&r.tables[0], ret, reterr);
		if (rc == 1 && ret_name != NULL) {
			const char *name = worker_queue_cell(&r.tables[0], 0, "Name");
			*ret_name = name != NULL ? strdup(name) : NULL;
		}
	}
	client_result_fini(&r);
	return rc;
}

int worker_queue_jobs(struct client *c, const char *partition, bool active, struct client_result *ret,
		      struct err *reterr)
{
	const struct client_arg args[] = { client_text("@PartitionId", partition),
					   client_bit("@ActiveOnly", active),
					   client_bit("@SubmittedOnly", false) };

	return worker_queue_call_rows(c, "proc_GetJobs", args, ARRAY_LEN(args), ret, reterr);
}

int worker_queue_groups(struct client *c, int64_t job, const char *partition, struct client_result *ret,
			struct err *reterr)
{
	const struct client_arg args[] = { client_bigint("@JobId", job),
					   client_text("@PartitionId", partition) };

	return worker_queue_call_rows(c, "proc_GetGroups", args, ARRAY_LEN(args), ret, reterr);
}

int worker_queue_items(struct client *c, int64_t job, int group, const char *partition, unsigned classes,
		       struct client_result *ret, struct err *reterr)
{
	const struct client_arg args[] = {
		client_bigint("@JobId", job),
		client_int("@GroupId", group),
		client_text("@PartitionId", partition),
		client_bit("@NotSubmitted", (classes & QUEUE_NOT_SUBMITTED) != 0),
		client_bit("@NotStarted", (classes & QUEUE_NOT_STARTED) != 0),
		client_bit("@InProgress", (classes & QUEUE_IN_PROGRESS) != 0),
		client_bit("@Succeeded", (classes & QUEUE_SUCCEEDED) != 0),
		client_bit("@Failed", (classes & QUEUE_FAILED) != 0),
		client_bit("@Canceled", (classes & QUEUE_CANCELED) != 0),
	};

	return worker_queue_call_rows(c, "proc_GetItems", args, ARRAY_LEN(args), ret, reterr);
}

int worker_queue_reasons(struct client *c, int64_t job, struct client_result *ret, struct err *reterr)
{
	char text[128];
	int rc;

	snprintf(text, sizeof(text), "SELECT GroupId, ItemId, Reason FROM dbo.Failures WHERE JobId = %lld",
		 (long long)job);
	rc = client_batch(c, text, ret, reterr);
	if (rc < 0 && worker_queue_is_unknown(reterr)) {
		memset(reterr, 0, sizeof(*reterr));
		return 1;
	}
	if (rc == 0 && ret->ntables == 0)
		return err_raise(reterr, 50000, 16, 1, "dbo.Failures gave no result set");
	return rc;
}
