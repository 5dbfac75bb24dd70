/* queue.c — see queue.h: claims and reports, the part that workers need. */
#include "worker/queue.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "value/datetime.h"
#include "worker/worker_int.h"

#define SILENCE_MS 60000 /* a server that has not answered so long after the wait is lost */

const struct queue_service worker_queue_convert = {
	.name = "convert",
	.database = "WordAutomation",
	.group_ns = "http://schemas.microsoft.com/office/server/word/2009/08/databaseJobAdd",
	.batch_ns = "http://schemas.microsoft.com/office/server/word/2009/08/databaseBatchUpdate",
	.batch_proc = "proc_GetConversionBatch",
	.letter = 'c',
};
/* Interleaved: a job of a thousand documents does not keep a job of one waiting. */
const struct queue_service worker_queue_translate = {
	.name = "translate",
	.database = "Translation",
	.group_ns = "http://schemas.microsoft.com/office/server/translation/2010/11/databaseJobAdd",
	.batch_ns = "http://schemas.microsoft.com/office/server/translation/2010/11/databaseBatchUpdate",
	.batch_proc = "proc_GetConversionBatchInterleaved",
	.letter = 't',
	.translation = true,
};

/* --- texts --- */

const char *worker_queue_cell(const struct client_table *t, size_t row, const char *name)
{
	int column = client_column(t, name);

	return column < 0 ? NULL : t->cells[row * t->ncols + (size_t)column];
}

bool worker_queue_number(const char *text, int64_t low, int64_t high, int64_t *ret)
{
	char *end;
	long long n;

	if (text == NULL || (text[0] != '-' && (text[0] < '0' || text[0] > '9')))
		return false;
	errno = 0;
	n = strtoll(text, &end, 10);
	if (errno != 0 || *end != '\0' || n < low || n > high)
		return false;
	*ret = n;
	return true;
}

static void time_text(int64_t ticks, char dst[QUEUE_TIME_MAX])
{
	struct civil c;

	civil_from_datetime(ticks, &c);
	snprintf(dst, QUEUE_TIME_MAX, "%04d-%02d-%02dT%02d:%02d:%02d.%03d", c.year % 10000, c.month % 100,
		 c.day % 100, c.hour % 100, c.minute % 100, c.second % 100, datetime_ms(ticks) % 1000);
}

static int bad_row(const char *what, struct err *reterr)
{
	return err_raise(reterr, 50000, 16, 1,
			 "the server's batch has no usable column %s; nothing was taken", what);
}

int worker_queue_row_read(const struct client_table *t, size_t row, struct queue_row *ret, struct err *reterr)
{
	struct queue_row r = { 0 };
	int64_t group, item, progress, attempts;

	if (!worker_queue_number(worker_queue_cell(t, row, "JobId"), INT64_MIN, INT64_MAX, &r.key.job))
		return bad_row("JobId", reterr);
	if (!worker_queue_number(worker_queue_cell(t, row, "GroupId"), INT16_MIN, INT16_MAX, &group))
		return bad_row("GroupId", reterr);
	if (!worker_queue_number(worker_queue_cell(t, row, "ItemId"), INT32_MIN, INT32_MAX, &item))
		return bad_row("ItemId", reterr);
	if (!worker_queue_number(worker_queue_cell(t, row, "InProgress"), 0, 1, &progress))
		return bad_row("InProgress", reterr);
	if (!worker_queue_number(worker_queue_cell(t, row, "AttemptsRemaining"), 0, 255, &attempts))
		return bad_row("AttemptsRemaining", reterr);
	r.key.group = (int)group;
	r.key.item = (int)item;
	r.in_progress = progress == 1;
	r.attempts = (int)attempts;
	r.input = worker_queue_cell(t, row, "InputFile");
	r.output = worker_queue_cell(t, row, "OutputFile");
	r.worker = worker_queue_cell(t, row, "WorkerServerInstance");
	*ret = r;
	return 0;
}

int worker_queue_group_read(const struct client_table *t, size_t row, struct queue_group *ret,
			    struct err *reterr)
{
	struct queue_group g = { .input_root = worker_queue_cell(t, row, "InputRoot"),
				 .output_root = worker_queue_cell(t, row, "OutputRoot"),
				 .settings = worker_queue_cell(t, row, "Settings") };
	int64_t group;

	if (!worker_queue_number(worker_queue_cell(t, row, "JobId"), INT64_MIN, INT64_MAX, &g.job))
		return bad_row("JobId", reterr);
	if (!worker_queue_number(worker_queue_cell(t, row, "GroupId"), INT16_MIN, INT16_MAX, &group))
		return bad_row("GroupId", reterr);
	g.group = (int)group;
	*ret = g;
	return 0;
}

/* --- calls --- */

int worker_queue_call(struct client *c, const char *proc, const struct client_arg *args, size_t nargs,
		      struct client_result *r, struct err *reterr)
{
	if (client_call(c, proc, args, nargs, r, reterr) < 0)
		return -1;
	if (r->has_status && r->status != 0)
		return err_raise(reterr, 50000, 16, 1, "%s refused: %s", proc,
				 r->nmessages > 0 ? r->messages[0].text : "return code other than 0");
	return 0;
}

int worker_queue_call_alone(struct client *c, const char *proc, const struct client_arg *args, size_t nargs,
			    struct err *reterr)
{
	struct client_result r;
	int rc = worker_queue_call(c, proc, args, nargs, &r, reterr);

	client_result_fini(&r);
	return rc;
}

int worker_queue_call_rows(struct client *c, const char *proc, const struct client_arg *args, size_t nargs,
			   struct client_result *ret, struct err *reterr)
{
	int rc = worker_queue_call(c, proc, args, nargs, ret, reterr);

	if (rc == 0 && ret->ntables == 0)
		return err_raise(reterr, 50000, 16, 1, "%s gave no result set", proc);
	return rc;
}

int worker_queue_begin(struct client *c, int64_t *ret_now, struct err *reterr)
{
	struct client_result r;
	struct civil civil;
	int digits, rc;
	bool offset;

	rc = client_batch(
		c, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; BEGIN TRANSACTION; SELECT GETUTCDATE()", &r,
		reterr);
	if (rc == 0 && (r.ntables == 0 || r.tables[0].nrows != 1 || r.tables[0].cells[0] == NULL ||
			!datetime_parse(str_of(r.tables[0].cells[0]), &civil, &digits, &offset) ||
			!datetime_from_civil(&civil, ret_now)))
		rc = err_raise(reterr, 50000, 16, 1, "the server did not tell its time");
	client_result_fini(&r);
	return rc;
}

int worker_queue_commit(struct client *c, struct err *reterr)
{
	struct client_result r;
	int rc = client_batch(c, "COMMIT TRANSACTION", &r, reterr);

	client_result_fini(&r);
	return rc;
}

int worker_queue_batch(struct client *c, const char *proc, int count, int64_t threshold,
		       struct client_result *ret, struct err *reterr)
{
	char time[QUEUE_TIME_MAX];
	const struct client_arg args[] = { client_int("@NumberOfConversionsInBatch", count),
					   client_text("@InProgressThreshold", time) };

	time_text(threshold, time);
	return worker_queue_call_rows(c, proc, args, ARRAY_LEN(args), ret, reterr);
}

/* There is no such procedure or view, or it is not for us: a server with the procedures of the
 * specifications only. */
bool worker_queue_is_unknown(const struct err *e)
{
	return e->number == ERR_NO_PROC_NUMBER || e->number == ERR_NO_OBJECT_NUMBER ||
	       e->number == ERR_PERMISSION_NUMBER;
}

static int read_awaited(const struct client_result *r, int64_t *seen, enum queue_await *ret,
			struct err *reterr)
{
	if (r->ntables != 2 || r->tables[0].nrows != 1 ||
	    !worker_queue_number(r->tables[0].cells[0], 0, INT32_MAX, seen))
		return err_raise(reterr, 50000, 16, 1, "the server's answer to a wait cannot be understood");
	*ret = r->tables[1].nrows > 0 ? QUEUE_SOMETHING : QUEUE_NOTHING;
	return 0;
}

int worker_queue_await(struct client *c, const char *proc, int ms, int64_t threshold, int stir, int64_t *seen,
		       enum queue_await *ret, struct err *reterr)
{
	struct client_result r;
	char time[QUEUE_TIME_MAX], text[512];
	int rc;

	time_text(threshold, time);
	snprintf(text, sizeof(text),
		 "DECLARE @seen int; EXEC @seen = procession_wait_for_work @Milliseconds = %d, @Seen = %lld; "
		 "SELECT @seen; EXEC %s @NumberOfConversionsInBatch = 1, @InProgressThreshold = '%s'",
		 ms, (long long)*seen, proc, time);
	rc = client_batch_unless(c, text, stir, ms + SILENCE_MS, &r, reterr);
	if (rc == 1)
		*ret = QUEUE_STIRRED;
	else if (rc < 0 && worker_queue_is_unknown(reterr))
		*ret = QUEUE_NO_BELL;
	else if (rc == 0)
		rc = read_awaited(&r, seen, ret, reterr);
	client_result_fini(&r);
	return rc < 0 && !worker_queue_is_unknown(reterr) ? -1 : 0;
}

void worker_queue_update_start(struct buf *xml, const struct queue_service *s)
{
	buf_printf(xml, "<batch xmlns=\"%s\"><start>", s->batch_ns);
}

void worker_queue_update_add_start(struct buf *xml, const struct queue_key *k, const char *worker)
{
	buf_printf(xml, "<item job=\"%lld\" group=\"%d\" id=\"%d\" wsi=\"%s\"/>", (long long)k->job, k->group,
		   k->item, worker);
}

void worker_queue_update_failures(struct buf *xml)
{
	buf_printf(xml, "</start><failed>");
}

void worker_queue_update_add_failure(struct buf *xml, const struct queue_key *k, int error)
{
	buf_printf(xml, "<item job=\"%lld\" group=\"%d\" id=\"%d\" error=\"%d\"/>", (long long)k->job,
		   k->group, k->item, error);
}

void worker_queue_update_end(struct buf *xml)
{
	buf_printf(xml, "</failed></batch>");
}

int worker_queue_update(struct client *c, struct buf *xml, struct client_result *ret, struct err *reterr)
{
	struct client_arg args[1];

	buf_put_u8(xml, 0);
	memset(ret, 0, sizeof(*ret));
	if (xml->failed)
		return err_nomem(reterr);
	args[0] = client_text("@BatchXml", (const char *)xml->data);
	return worker_queue_call_rows(c, "proc_UpdateConversionBatch", args, ARRAY_LEN(args), ret, reterr);
}

int worker_queue_succeeded(struct client *c, const struct queue_key *k, struct err *reterr)
{
	const struct client_arg args[] = { client_bigint("@JobId", k->job), client_int("@GroupId", k->group),
					   client_int("@ItemId", k->item) };

	return worker_queue_call_alone(c, "proc_UpdateSucceededItem", args, ARRAY_LEN(args), reterr);
}

int worker_queue_failed(struct client *c, const struct queue_key *k, bool retry, int error,
			struct err *reterr)
{
	const struct client_arg args[] = { client_bigint("@JobId", k->job), client_int("@GroupId", k->group),
					   client_int("@ItemId", k->item), client_bit("@NoRetry", !retry),
					   client_int("@ErrorCode", error) };

	return worker_queue_call_alone(c, "proc_UpdateFailedItem", args, ARRAY_LEN(args), reterr);
}

int worker_queue_why(struct client *c, const struct queue_key *k, int error, const char *text,
		     const char *machine, struct err *reterr)
{
	const struct client_arg args[] = { client_bigint("@JobId", k->job), client_int("@GroupId", k->group),
					   client_int("@ItemId", k->item),  client_int("@ErrorCode", error),
					   client_text("@Reason", text),    client_text("@Worker", machine) };
	int rc = worker_queue_call_alone(c, "procession_item_failed", args, ARRAY_LEN(args), reterr);

	return rc < 0 && worker_queue_is_unknown(reterr) ? 1 : rc;
}

int worker_queue_here(struct client *c, const char *worker, const char *machine, const char *folders,
		      int seconds, struct err *reterr)
{
	/* A worker of hosts only has no folder, and an empty text would be NULL. */
	const struct client_arg args[] = { client_text("@Worker", worker),
					   client_text("@Machine", machine[0] != '\0' ? machine : "?"),
					   client_text("@Places", folders[0] != '\0' ? folders : "\n"),
					   client_int("@Seconds", seconds) };
	int rc = worker_queue_call_alone(c, "procession_worker_here", args, ARRAY_LEN(args), reterr);

	return rc < 0 && worker_queue_is_unknown(reterr) ? 1 : rc;
}
