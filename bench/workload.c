/* workload.c — the workloads of the benchmark. Each connection works on keys of its own, so that no lock is refused and every answer can be checked. */
#include "workload.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static uint64_t next_random(struct script *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

static void patch_digits(struct message *m, size_t at, uint64_t v, size_t digits, size_t width)
{
	for (size_t i = digits; i-- > 0; v /= 10)
		m->data[at + i * width] = (uint8_t)('0' + v % 10);
}

static void patch_le(struct message *m, size_t at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		m->data[at + i] = (uint8_t)(v >> 8 * i);
}

/* Numbers that an earlier run has not used, and that still fit a bigint when multiplied by the number of connections. */
static uint64_t first_round(void)
{
	return ((uint64_t)time(NULL) & 0xFFFFFF) << 26 | (uint64_t)(getpid() & 0x3FF) << 16;
}

/* ---- select1 ---- */

static void select1_prepare(struct script *s)
{
	message_batch(&s->messages[0], "select 1");
}

static const struct message *select1_next(struct script *s, const struct answer *last)
{
	(void)last;
	return &s->messages[0];
}

static const char *one_row(const struct script *s, const struct answer *a)
{
	(void)s;
	return a->rows == 1 ? NULL : "one row was expected";
}

/* ---- state ---- */

#define KEY_TEXT "bench-00000000"
#define KEY_DIGITS 6        /* offset of the digits in the text */

static const uint8_t *body(size_t n)
{
	static uint8_t bytes[65536];

	for (size_t i = 0; bytes[1] == 0 && i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 37 + 1);
	return n <= sizeof(bytes) ? bytes : NULL;
}

static void get_message(struct message *m, const char *proc, size_t *at)
{
	message_rpc(m, proc);
	*at = message_varchar(m, "@id", KEY_TEXT) + KEY_DIGITS;
	message_output_binary(m, "@item");
	message_output_bit(m, "@locked");
	message_output_int(m, "@lockAgeInSeconds");
	message_output_int(m, "@lockCookie");
	message_end(m);
}

static void state_prepare(struct script *s, size_t bytes)
{
	get_message(&s->messages[0], "proc_GetItemWithLock", &s->at[0][0]);
	message_rpc(&s->messages[1], "proc_UpdateItem");
	s->at[1][0] = message_varchar(&s->messages[1], "@id", KEY_TEXT) + KEY_DIGITS;
	s->at[1][1] = message_int(&s->messages[1], "@lockCookie", 0);
	message_int(&s->messages[1], "@timeout", 60);
	message_binary(&s->messages[1], "@item", body(bytes), bytes);
	message_end(&s->messages[1]);
	get_message(&s->messages[2], "proc_GetItemWithoutLock", &s->at[2][0]);
	message_rpc(&s->messages[3], "proc_AddItem");
	s->at[3][0] = message_varchar(&s->messages[3], "@id", KEY_TEXT) + KEY_DIGITS;
	message_int(&s->messages[3], "@timeout", 60);
	message_binary(&s->messages[3], "@item", body(bytes), bytes);
	message_end(&s->messages[3]);
}

static void state_1k_prepare(struct script *s) { state_prepare(s, 1024); }
static void state_32k_prepare(struct script *s) { state_prepare(s, 30000); }

/* A random key among those of this connection. */
static uint64_t own_key(struct script *s)
{
	uint64_t per = KEYS / s->connections;

	return (next_random(s) % per) * s->connections + s->connection;
}

static const struct message *state_rw_next(struct script *s, const struct answer *last)
{
	s->step ^= 1;
	if (s->step == 1) {
		s->key = own_key(s);
		patch_digits(&s->messages[0], s->at[0][0], s->key, 8, 1);
		return &s->messages[0];
	}
	patch_digits(&s->messages[1], s->at[1][0], s->key, 8, 1);
	patch_le(&s->messages[1], s->at[1][1], (uint32_t)last->last_int, 4);
	return &s->messages[1];
}

static const char *state_rw_check(const struct script *s, const struct answer *a)
{
	return s->step == 0 || a->has_int ? NULL : "the item was not found";
}

static const struct message *state_read_next(struct script *s, const struct answer *last)
{
	(void)last;
	patch_digits(&s->messages[2], s->at[2][0], own_key(s), 8, 1);
	return &s->messages[2];
}

static const char *found(const struct script *s, const struct answer *a)
{
	(void)s;
	return a->has_int ? NULL : "the item was not found";
}

static const struct message *state_fill_next(struct script *s, const struct answer *last)
{
	uint64_t key = s->round++ * s->connections + s->connection;

	(void)last;
	if (key >= KEYS)
		return NULL;
	patch_digits(&s->messages[3], s->at[3][0], key, 8, 1);
	return &s->messages[3];
}

/* ---- the two job databases ---- */

#define JOB_TEXT "0000000000000000000"
#define ITEMS 10
#define WSI "b00ae9a1-0474-474e-b348-f6a8bcc95331"

enum { JOB_ADD, JOB_GROUP, JOB_SUBMIT, JOB_FETCH, JOB_BATCH, JOB_DONE, JOB_STATUS };

static void group_xml(char *dst, size_t size, const char *uri)
{
	size_t n = (size_t)snprintf(dst, size, "<group xmlns=\"%sdatabaseJobAdd\">", uri);

	for (int i = 1; i <= ITEMS; i++)
		n += (size_t)snprintf(dst + n, size - n, "<item id=\"%d\" in=\"letters/2026/letter-%04d.docx\" out=\"letters/2026/letter-%04d.pdf\"/>", i, i, i);
	snprintf(dst + n, size - n, "</group>");
}

/* The job's number stands in the text with leading zeros, so that it can be patched. */
static void batch_xml(char *dst, size_t size, const char *uri, size_t *places)
{
	size_t n = (size_t)snprintf(dst, size, "<batch xmlns=\"%sdatabaseBatchUpdate\"><start>", uri);

	for (int i = 1; i <= ITEMS; i++) {
		n += (size_t)snprintf(dst + n, size - n, "<item job=\"");
		places[i - 1] = n;
		n += (size_t)snprintf(dst + n, size - n, JOB_TEXT "\" group=\"1\" id=\"%d\" wsi=\"" WSI "\"/>", i);
	}
	snprintf(dst + n, size - n, "</start><failed/></batch>");
}

static void one_id(struct message *m, const char *proc, size_t *at)
{
	message_rpc(m, proc);
	*at = message_bigint(m, "@JobId", 0);
	message_end(m);
}

static void jobs_prepare(struct script *s, bool word)
{
	const char *uri = word ? "http://schemas.microsoft.com/office/server/word/2009/08/" : "http://schemas.microsoft.com/office/server/translation/2010/11/";
	static char xml[8192];
	size_t places[ITEMS], base;
	struct message *m = s->messages;

	message_rpc(&m[JOB_ADD], "proc_AddJob");
	s->at[JOB_ADD][0] = message_bigint(&m[JOB_ADD], "@JobId", 0);
	message_nvarchar(&m[JOB_ADD], "@Settings", "<settings/>");
	message_nvarchar(&m[JOB_ADD], "@Name", "letters");
	if (!word)
		message_binary(&m[JOB_ADD], "@UserToken", "token", 5);
	message_end(&m[JOB_ADD]);

	group_xml(xml, sizeof(xml), uri);
	message_rpc(&m[JOB_GROUP], "proc_AddGroup");
	s->at[JOB_GROUP][0] = message_bigint(&m[JOB_GROUP], "@JobId", 0);
	message_int(&m[JOB_GROUP], "@GroupId", 1);
	message_nvarchar(&m[JOB_GROUP], "@InputRoot", "in/");
	message_nvarchar(&m[JOB_GROUP], "@OutputRoot", "out/");
	message_int(&m[JOB_GROUP], "@MaxAttemptsCount", 2);
	message_nvarchar(&m[JOB_GROUP], "@JobXml", xml);
	message_end(&m[JOB_GROUP]);

	one_id(&m[JOB_SUBMIT], "proc_SubmitJob", &s->at[JOB_SUBMIT][0]);
	message_rpc(&m[JOB_FETCH], "proc_GetConversionBatch");
	message_int(&m[JOB_FETCH], "@NumberOfConversionsInBatch", ITEMS);
	message_datetime(&m[JOB_FETCH], "@InProgressThreshold", 0, 0);
	message_end(&m[JOB_FETCH]);

	batch_xml(xml, sizeof(xml), uri, places);
	message_rpc(&m[JOB_BATCH], "proc_UpdateConversionBatch");
	base = message_nvarchar(&m[JOB_BATCH], "@BatchXml", xml);
	message_end(&m[JOB_BATCH]);
	for (int i = 0; i < ITEMS; i++)
		s->at[JOB_BATCH][i] = base + 2 * places[i];

	message_rpc(&m[JOB_DONE], "proc_UpdateSucceededItem");
	s->at[JOB_DONE][0] = message_bigint(&m[JOB_DONE], "@JobId", 0);
	message_int(&m[JOB_DONE], "@GroupId", 1);
	s->at[JOB_DONE][1] = message_int(&m[JOB_DONE], "@ItemId", 0);
	message_end(&m[JOB_DONE]);
	one_id(&m[JOB_STATUS], "proc_GetJobStatus", &s->at[JOB_STATUS][0]);
	s->round = first_round();
}

static void word_prepare(struct script *s) { jobs_prepare(s, true); }
static void translate_prepare(struct script *s) { jobs_prepare(s, false); }

static uint64_t job_of(const struct script *s)
{
	return s->round * s->connections + s->connection;
}

static const struct message *job_message(struct script *s, unsigned which)
{
	struct message *m = &s->messages[which];

	if (which == JOB_BATCH)
		for (int i = 0; i < ITEMS; i++)
			patch_digits(m, s->at[which][i], job_of(s), 19, 2);
	else if (which != JOB_FETCH)
		patch_le(m, s->at[which][0], job_of(s), 8);
	return m;
}

static const struct message *jobs_next(struct script *s, const struct answer *last)
{
	unsigned step = s->step;

	s->step = (s->step + 1) % (ITEMS + 6);
	if (step == 0 && last != NULL)
		s->round++;
	if (step <= JOB_BATCH)
		return job_message(s, step);
	if (step < JOB_BATCH + 1 + ITEMS) {
		patch_le(&s->messages[JOB_DONE], s->at[JOB_DONE][1], step - JOB_BATCH, 4);
		return job_message(s, JOB_DONE);
	}
	return job_message(s, JOB_STATUS);
}

static const char *jobs_check(const struct script *s, const struct answer *a)
{
	/* step has moved on: 0 is after the status, JOB_BATCH + 1 after the batch */
	if (s->step == 0 || s->step == JOB_BATCH + 1)
		return a->rows == 1 ? NULL : "one row was expected";
	return NULL;
}

/* ---- scheduled jobs ---- */

static void sched_prepare(struct script *s)
{
	static const char assembly[] = "Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c";
	static const uint8_t zero[16];
	static const char *const procs[] = { "proc_MIP_GetScheduledJobById", "proc_MIP_RefreshScheduledJob", "proc_MIP_GetScheduledJobsInInterval", "proc_MIP_RemoveScheduledJob" };
	struct message *m = s->messages;

	message_rpc(&m[0], "proc_MIP_AddScheduledJob");
	s->at[0][0] = message_guid(&m[0], "@JobId", zero);
	message_nvarchar(&m[0], "@Assembly", assembly);
	message_nvarchar(&m[0], "@Class", "Microsoft.Office.Server.Audience.AudienceCompilationJob");
	message_nvarchar(&m[0], "@Recurrence", "daily at 01:00:00");
	message_datetime(&m[0], "@NextDueTime", 60000, 0);
	message_end(&m[0]);
	for (int i = 0; i < 4; i++) {
		message_rpc(&m[i + 1], procs[i]);
		if (i != 2)
			s->at[i + 1][0] = message_guid(&m[i + 1], "@JobId", zero);
		if (i == 1 || i == 2)
			message_datetime(&m[i + 1], "@NextDueTime", i == 1 ? 60001 : 40000, 0);
		message_end(&m[i + 1]);
	}
	s->round = first_round();
}

static const struct message *sched_next(struct script *s, const struct answer *last)
{
	unsigned step = s->step;
	struct message *m = &s->messages[step];

	s->step = (s->step + 1) % 5;
	if (step == 0 && last != NULL)
		s->round++;
	if (step != 3) {
		patch_le(m, s->at[step][0], job_of(s), 8);
		patch_le(m, s->at[step][0] + 8, s->connection * UINT64_C(0x9E3779B97F4A7C15), 8);
	}
	return m;
}

static const char *sched_check(const struct script *s, const struct answer *a)
{
	(void)s;
	return a->status == 0 ? NULL : "status 1";
}

static const struct workload workloads[] = {
	{ "select1", "master", select1_prepare, select1_next, one_row, false },
	{ "state_fill", "StateService", state_1k_prepare, state_fill_next, NULL, true },
	{ "state_rw", "StateService", state_1k_prepare, state_rw_next, state_rw_check, false },
	{ "state_32k", "StateService", state_32k_prepare, state_rw_next, state_rw_check, false },
	{ "state_read", "StateService", state_1k_prepare, state_read_next, found, false },
	{ "word_cycle", "WordAutomation", word_prepare, jobs_next, jobs_check, false },
	{ "translate_cycle", "Translation", translate_prepare, jobs_next, jobs_check, false },
	{ "sched_cycle", "ScheduledJobs", sched_prepare, sched_next, sched_check, false },
};

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		if (strcmp(workloads[i].name, name) == 0)
			return &workloads[i];
	return NULL;
}

void workload_list(void)
{
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
		printf("  %s\n", workloads[i].name);
}
