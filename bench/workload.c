/* workload.c — the list of workloads, what their scripts share, and the smallest of them:
 * select1, text, echo, sched_cycle. Each connection works on keys of its own, so that no lock is
 * refused and every answer can be checked. */
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t script_random(struct script *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random;
}

uint64_t script_own_key(struct script *s)
{
	uint64_t per = KEYS / s->connections;

	return (script_random(s) % per) * s->connections + s->connection;
}

uint64_t script_few_keys(struct script *s)
{
	return (script_random(s) % FEW_KEYS) * s->connections + s->connection;
}

uint64_t script_first_round(void)
{
	return ((uint64_t)time(NULL) & 0xFFFFFF) << 26 | (uint64_t)(getpid() & 0x3FF) << 16;
}

uint64_t script_job(const struct script *s)
{
	return s->round * s->connections + s->connection;
}

const uint8_t *script_body(size_t n)
{
	static uint8_t *bytes;
	static size_t have;

	if (n > have) {
		bytes = realloc(bytes, n);
		if (bytes == NULL)
			exit(1);
		for (; have < n; have++)
			bytes[have] = (uint8_t)(have * 37 + 1);
	}
	return bytes;
}

void patch_digits(struct message *m, size_t at, uint64_t v, size_t digits, size_t width)
{
	for (size_t i = digits; i-- > 0; v /= 10)
		m->data[at + i * width] = (uint8_t)('0' + v % 10);
}

void patch_le(struct message *m, size_t at, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		m->data[at + i] = (uint8_t)(v >> 8 * i);
}

const char *check_one_row(const struct script *s, const struct answer *a)
{
	(void)s;
	return a->rows == 1 ? NULL : "one row was expected";
}

const char *check_found(const struct script *s, const struct answer *a)
{
	(void)s;
	return a->has_int ? NULL : "the item was not found";
}

/* ---- select1 and echo: always the same request ---- */

static void select1_prepare(struct script *s)
{
	message_batch(&s->messages[0], "select 1");
}

static void text_prepare(struct script *s)
{
	message_batch(&s->messages[0], s->sizes->text);
}

static const struct message *once(struct script *s, const struct answer *last)
{
	(void)last;
	return s->step++ == 0 ? &s->messages[0] : NULL;
}

static void echo_prepare(struct script *s)
{
	echo_request(&s->messages[0], s->sizes->request, s->sizes->answer);
}

static const struct message *first_message(struct script *s, const struct answer *last)
{
	(void)last;
	return &s->messages[0];
}

/* ---- scheduled jobs ---- */

static const char *const sched_kinds[] = { "add", "by_id", "refresh", "in_interval", "remove", NULL };

static void sched_prepare(struct script *s)
{
	static const char assembly[] =
		"Microsoft.Office.Server, Version=12.0.0.0, Culture=neutral, PublicKeyToken=71e9bce111e9429c";
	static const char *const procs[] = { "proc_MIP_GetScheduledJobById", "proc_MIP_RefreshScheduledJob",
					     "proc_MIP_GetScheduledJobsInInterval",
					     "proc_MIP_RemoveScheduledJob" };
	static const uint8_t zero[16];
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
	s->round = script_first_round();
}

static const struct message *sched_next(struct script *s, const struct answer *last)
{
	unsigned step = s->step;
	struct message *m = &s->messages[step];

	s->kind = step;
	s->step = (s->step + 1) % 5;
	if (step == 0 && last != NULL)
		s->round++;
	if (step != 3) {
		patch_le(m, s->at[step][0], script_job(s), 8);
		patch_le(m, s->at[step][0] + 8, s->connection * UINT64_C(0x9E3779B97F4A7C15), 8);
	}
	return m;
}

static const char *sched_check(const struct script *s, const struct answer *a)
{
	if (a->status != 0)
		return "status 1";
	return s->kind != 1 || a->rows == 1 ? NULL : "the job that was just added was expected";
}

const struct workload workloads_basic[] = {
	{ "text", "master", &protocol_tds, text_prepare, once, NULL, true, NULL },
	{ "select1", "master", &protocol_tds, select1_prepare, first_message, check_one_row, false, NULL },
	{ "echo", "", &protocol_echo, echo_prepare, first_message, NULL, false, NULL },
	{ "sched_cycle", "ScheduledJobs", &protocol_tds, sched_prepare, sched_next, sched_check, false,
	  sched_kinds },
	{ .name = NULL },
};

/* ---- the list ---- */

static const struct workload *const lists[] = { workloads_basic, workloads_state, workloads_jobs,
						workloads_scale, workloads_redis };

const struct workload *workload_find(const char *name)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct workload *w = lists[i]; w->name != NULL; w++)
			if (strcmp(w->name, name) == 0)
				return w;
	return NULL;
}

void workload_list(void)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (const struct workload *w = lists[i]; w->name != NULL; w++)
			fprintf(stderr, "  %s\n", w->name);
}
