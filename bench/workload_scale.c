/* workload_scale.c — what should cost the same however full WordAutomation and Translation are,
 * and what fills them.
 *
 * word_fill and translation_fill make jobs of 100 items, numbered from 1. The items of all but
 * the last 50 jobs are finished; the others wait, so that there is always a batch to fetch.
 * word_group makes one job with one group of very many items, word_items reads them all. */
#include "workload.h"

#include <stdio.h>

#define JOB_ITEMS 100
#define WAITING_JOBS 50
#define BIG_JOB 4000000000u

enum { FILL_ADD, FILL_GROUP, FILL_SUBMIT, FILL_FINISH, FILL_STEPS };
static const char *const fill_kinds[] = { "AddJob", "AddGroup", "SubmitJob", "UpdateConversionBatch", NULL };

static const char *uri_of(const struct script *s)
{
	return s->translation ? TRANSLATION_URI : WORD_URI;
}

static void fill_prepare(struct script *s)
{
	s->at[FILL_ADD][0] = scheduler_jobs_add(&s->messages[FILL_ADD], !s->translation);
	s->at[FILL_GROUP][0] = jobs_group(&s->messages[FILL_GROUP], uri_of(s), JOB_ITEMS);
	s->at[FILL_SUBMIT][0] = jobs_one_id(&s->messages[FILL_SUBMIT], "proc_SubmitJob");
}

static void translation_prepare(struct script *s)
{
	s->translation = true;
	fill_prepare(s);
}

static const struct message *finish_message(const struct script *s, struct message *m, uint64_t job)
{
	static char xml[16384];
	size_t n = (size_t)snprintf(xml, sizeof(xml),
				    "<batch xmlns=\"%sdatabaseBatchUpdate\"><start/><failed>", uri_of(s));

	for (int i = 1; i <= JOB_ITEMS; i++)
		n += (size_t)snprintf(xml + n, sizeof(xml) - n,
				      "<item job=\"%lu\" group=\"1\" id=\"%d\" error=\"12\"/>", job, i);
	snprintf(xml + n, sizeof(xml) - n, "</failed></batch>");
	message_rpc(m, "proc_UpdateConversionBatch");
	message_nvarchar(m, "@BatchXml", xml);
	message_end(m);
	return m;
}

static const struct message *fill_next(struct script *s, const struct answer *last)
{
	uint64_t job = script_job(s) + s->sizes->first_job;

	if (job > s->sizes->jobs || job > s->sizes->last_job)
		return NULL;
	(void)last;
	s->kind = s->step;
	s->step++;
	if (s->step == FILL_STEPS || (s->step == FILL_FINISH && job + WAITING_JOBS > s->sizes->jobs)) {
		s->step = 0;
		s->round++;
	}
	if (s->kind == FILL_FINISH)
		return finish_message(s, &s->messages[FILL_FINISH], job);
	patch_le(&s->messages[s->kind], s->at[s->kind][0], job, 8);
	return &s->messages[s->kind];
}

/* ---- what is measured ---- */

static void batch_prepare(struct script *s)
{
	jobs_fetch(&s->messages[0], JOB_ITEMS);
}

static const struct message *batch_next(struct script *s, const struct answer *last)
{
	(void)last;
	return &s->messages[0];
}

static const char *batch_check(const struct script *s, const struct answer *a)
{
	(void)s;
	return a->rows == JOB_ITEMS ? NULL : "100 items were expected";
}

static void status_prepare(struct script *s)
{
	s->at[0][0] = jobs_one_id(&s->messages[0], "proc_GetJobStatus");
}

static const struct message *status_next(struct script *s, const struct answer *last)
{
	(void)last;
	patch_le(&s->messages[0], s->at[0][0], script_random(s) % s->sizes->jobs + 1, 8);
	return &s->messages[0];
}

static void done_prepare(struct script *s)
{
	s->at[0][0] = jobs_done(&s->messages[0], &s->at[0][1]);
}

static const struct message *done(struct script *s, uint64_t job)
{
	patch_le(&s->messages[0], s->at[0][0], job, 8);
	patch_le(&s->messages[0], s->at[0][1], script_random(s) % JOB_ITEMS + 1, 4);
	return &s->messages[0];
}

/* As a worker does: an item of those jobs that are not over. */
static const struct message *done_next(struct script *s, const struct answer *last)
{
	uint64_t waiting = s->sizes->jobs < WAITING_JOBS ? s->sizes->jobs : WAITING_JOBS;

	(void)last;
	return done(s, s->sizes->jobs - script_random(s) % waiting);
}

/* As nobody does: once more, an item that was finished long ago, anywhere. */
static const struct message *again_next(struct script *s, const struct answer *last)
{
	uint64_t finished = s->sizes->jobs > WAITING_JOBS ? s->sizes->jobs - WAITING_JOBS : 1;

	(void)last;
	return done(s, script_random(s) % finished + 1);
}

/* ---- one big group ---- */

static const char *const group_kinds[] = { "AddJob", "AddGroup", NULL };

/* Each connection and size has a job of its own. */
static uint64_t big_job(const struct script *s)
{
	return BIG_JOB + s->sizes->items;
}

static void group_prepare(struct script *s)
{
	s->at[0][0] = scheduler_jobs_add(&s->messages[0], true);
	s->at[1][0] = jobs_group(&s->messages[1], WORD_URI, s->sizes->items);
}

static const struct message *group_next(struct script *s, const struct answer *last)
{
	(void)last;
	if (s->step == 2)
		return NULL;
	s->kind = s->step++;
	patch_le(&s->messages[s->kind], s->at[s->kind][0], big_job(s), 8);
	return &s->messages[s->kind];
}

static void items_prepare(struct script *s)
{
	static const char *const flags[] = { "@NotSubmitted", "@NotStarted", "@InProgress",
					     "@Succeeded",    "@Failed",     "@Canceled" };
	struct message *m = &s->messages[0];

	message_rpc(m, "proc_GetItems");
	message_bigint(m, "@JobId", (int64_t)big_job(s));
	message_int(m, "@GroupId", 1);
	for (int i = 0; i < 6; i++)
		message_bit(m, flags[i], true);
	message_end(m);
}

static const struct message *items_next(struct script *s, const struct answer *last)
{
	(void)last;
	return s->step++ == 0 ? &s->messages[0] : NULL;
}

static const char *items_check(const struct script *s, const struct answer *a)
{
	return a->rows == s->sizes->items ? NULL : "as many rows as items were expected";
}

const struct workload workloads_scale[] = {
	{ "word_fill", "WordAutomation", &protocol_tds, fill_prepare, fill_next, NULL, true, fill_kinds },
	{ "translation_fill", "Translation", &protocol_tds, translation_prepare, fill_next, NULL, true,
	  fill_kinds },
	{ "translation_batch100", "Translation", &protocol_tds, batch_prepare, batch_next, batch_check, false,
	  NULL },
	{ "translation_status100", "Translation", &protocol_tds, status_prepare, status_next, check_one_row,
	  false, NULL },
	{ "translation_done", "Translation", &protocol_tds, done_prepare, done_next, NULL, false, NULL },
	{ "translation_again", "Translation", &protocol_tds, done_prepare, again_next, NULL, false, NULL },
	{ "word_batch100", "WordAutomation", &protocol_tds, batch_prepare, batch_next, batch_check, false,
	  NULL },
	{ "word_status100", "WordAutomation", &protocol_tds, status_prepare, status_next, check_one_row,
	  false, NULL },
	{ "word_done", "WordAutomation", &protocol_tds, done_prepare, done_next, NULL, false, NULL },
	{ "word_again", "WordAutomation", &protocol_tds, done_prepare, again_next, NULL, false, NULL },
	{ "word_group", "WordAutomation", &protocol_tds, group_prepare, group_next, NULL, true, group_kinds },
	{ "word_items", "WordAutomation", &protocol_tds, items_prepare, items_next, items_check, true, NULL },
	{ .name = NULL },
};
