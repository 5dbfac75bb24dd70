/* workload_jobs.c — a job's life in WordAutomation and Translation: added, submitted, handed
 * out, worked on item by item, looked at. */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>

#define JOB_TEXT "0000000000000000000"
#define ITEMS 10
#define WSI "b00ae9a1-0474-474e-b348-f6a8bcc95331"

enum { JOB_ADD, JOB_GROUP, JOB_SUBMIT, JOB_FETCH, JOB_BATCH, JOB_DONE, JOB_STATUS };
static const char *const kinds[] = { "AddJob",
				     "AddGroup",
				     "SubmitJob",
				     "GetConversionBatch",
				     "UpdateConversionBatch",
				     "UpdateSucceededItem",
				     "GetJobStatus",
				     NULL };

size_t scheduler_jobs_add(struct message *m, bool word)
{
	size_t at;

	message_rpc(m, "proc_AddJob");
	at = message_bigint(m, "@JobId", 0);
	message_nvarchar(m, "@Settings", "<settings/>");
	message_nvarchar(m, "@Name", "letters");
	if (!word)
		message_binary(m, "@UserToken", "token", 5);
	message_end(m);
	return at;
}

size_t jobs_group(struct message *m, const char *uri, uint64_t items)
{
	size_t size = 256 + items * 96, n, at;
	char *xml = malloc(size);

	if (xml == NULL)
		exit(1);
	n = (size_t)snprintf(xml, size, "<group xmlns=\"%sdatabaseJobAdd\">", uri);
	for (uint64_t i = 1; i <= items; i++)
		n += (size_t)snprintf(xml + n, size - n,
				      "<item id=\"%lu\" in=\"letters/2026/letter-%04lu.docx\" "
				      "out=\"letters/2026/letter-%04lu.pdf\"/>",
				      i, i, i);
	snprintf(xml + n, size - n, "</group>");
	message_rpc(m, "proc_AddGroup");
	at = message_bigint(m, "@JobId", 0);
	message_int(m, "@GroupId", 1);
	message_nvarchar(m, "@InputRoot", "in/");
	message_nvarchar(m, "@OutputRoot", "out/");
	message_int(m, "@MaxAttemptsCount", 2);
	message_nvarchar(m, "@JobXml", xml);
	message_end(m);
	free(xml);
	return at;
}

size_t jobs_one_id(struct message *m, const char *proc)
{
	size_t at;

	message_rpc(m, proc);
	at = message_bigint(m, "@JobId", 0);
	message_end(m);
	return at;
}

size_t jobs_done(struct message *m, size_t *ret_item_at)
{
	size_t at;

	message_rpc(m, "proc_UpdateSucceededItem");
	at = message_bigint(m, "@JobId", 0);
	message_int(m, "@GroupId", 1);
	*ret_item_at = message_int(m, "@ItemId", 0);
	message_end(m);
	return at;
}

void jobs_fetch(struct message *m, int32_t n)
{
	message_rpc(m, "proc_GetConversionBatch");
	message_int(m, "@NumberOfConversionsInBatch", n);
	message_datetime(m, "@InProgressThreshold", 0, 0);
	message_end(m);
}

/* The job's number stands in the text with leading zeros, so that it can be patched. */
static void batch_message(struct script *s, const char *uri)
{
	static char xml[8192];
	size_t places[ITEMS], base,
		n = (size_t)snprintf(xml, sizeof(xml), "<batch xmlns=\"%sdatabaseBatchUpdate\"><start>", uri);

	for (int i = 1; i <= ITEMS; i++) {
		n += (size_t)snprintf(xml + n, sizeof(xml) - n, "<item job=\"");
		places[i - 1] = n;
		n += (size_t)snprintf(xml + n, sizeof(xml) - n,
				      JOB_TEXT "\" group=\"1\" id=\"%d\" wsi=\"" WSI "\"/>", i);
	}
	snprintf(xml + n, sizeof(xml) - n, "</start><failed/></batch>");
	message_rpc(&s->messages[JOB_BATCH], "proc_UpdateConversionBatch");
	base = message_nvarchar(&s->messages[JOB_BATCH], "@BatchXml", xml);
	message_end(&s->messages[JOB_BATCH]);
	for (int i = 0; i < ITEMS; i++)
		s->at[JOB_BATCH][i] = base + 2 * places[i];
}

static void prepare(struct script *s, const char *uri, bool word)
{
	struct message *m = s->messages;

	s->at[JOB_ADD][0] = scheduler_jobs_add(&m[JOB_ADD], word);
	s->at[JOB_GROUP][0] = jobs_group(&m[JOB_GROUP], uri, ITEMS);
	s->at[JOB_SUBMIT][0] = jobs_one_id(&m[JOB_SUBMIT], "proc_SubmitJob");
	jobs_fetch(&m[JOB_FETCH], ITEMS);
	batch_message(s, uri);
	s->at[JOB_DONE][0] = jobs_done(&m[JOB_DONE], &s->at[JOB_DONE][1]);
	s->at[JOB_STATUS][0] = jobs_one_id(&m[JOB_STATUS], "proc_GetJobStatus");
	s->round = script_first_round();
}

static void word_prepare(struct script *s)
{
	prepare(s, WORD_URI, true);
}

static void translate_prepare(struct script *s)
{
	prepare(s, TRANSLATION_URI, false);
}

static const struct message *send_kind(struct script *s, unsigned kind)
{
	struct message *m = &s->messages[kind];

	s->kind = kind;
	if (kind == JOB_BATCH)
		for (int i = 0; i < ITEMS; i++)
			patch_digits(m, s->at[kind][i], script_job(s), 19, 2);
	else if (kind != JOB_FETCH)
		patch_le(m, s->at[kind][0], script_job(s), 8);
	return m;
}

static const struct message *next(struct script *s, const struct answer *last)
{
	unsigned step = s->step;

	s->step = (s->step + 1) % (ITEMS + 6);
	if (step == 0 && last != NULL)
		s->round++;
	if (step <= JOB_BATCH)
		return send_kind(s, step);
	if (step < JOB_BATCH + 1 + ITEMS) {
		patch_le(&s->messages[JOB_DONE], s->at[JOB_DONE][1], step - JOB_BATCH, 4);
		return send_kind(s, JOB_DONE);
	}
	return send_kind(s, JOB_STATUS);
}

static const char *check(const struct script *s, const struct answer *a)
{
	return s->kind == JOB_STATUS || s->kind == JOB_BATCH ? check_one_row(s, a) : NULL;
}

const struct workload workloads_jobs[] = {
	{ "word_cycle", "WordAutomation", &protocol_tds, word_prepare, next, check, false, kinds },
	{ "translate_cycle", "Translation", &protocol_tds, translate_prepare, next, check, false, kinds },
	{ .name = NULL },
};
