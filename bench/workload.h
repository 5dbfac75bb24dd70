/* workload.h — what a connection does: requests encoded once, patched and sent again. */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "protocol.h"

#define MESSAGES_MAX 8
#define KINDS_MAX 8
#define KEYS 100000
#define FEW_KEYS 64 /* of a connection, when items shall be large: soon all of them are */

/* What the command line says about sizes. */
struct sizes {
	size_t bytes;                 /* of an item's data */
	size_t request, answer;       /* of echo */
	uint64_t items;               /* of the one big group */
	uint64_t jobs;                /* of the filled database */
	uint64_t first_job, last_job; /* of those that are added now */
	const char *text;             /* of the workload text */
};

/* State of one connection's script. */
struct script {
	unsigned connection, connections;
	const struct sizes *sizes;
	uint64_t random;
	unsigned step, kind; /* kind: which of the workload's kinds the last request was */
	uint64_t round;
	struct message messages[MESSAGES_MAX];
	size_t at[MESSAGES_MAX][16]; /* places to patch */
	uint64_t key;
	bool few_keys;
	bool translation; /* not word */
};

struct workload {
	const char *name, *database;
	const struct protocol *protocol;
	void (*prepare)(struct script *s);
	/* The next request; last is the answer before it (NULL at first). */
	const struct message *(*next)(struct script *s, const struct answer *last);
	/* Is this answer right? NULL: no error is enough. */
	const char *(*check)(const struct script *s, const struct answer *a);
	bool once; /* ends by itself (fill) */
	/* names of the kinds of request, NULL at the end; NULL: one kind */
	const char *const *kinds;
};

const struct workload *workload_find(const char *name);
void workload_list(void);

/* The workloads by file; each list ends with a NULL name. */
extern const struct workload workloads_basic[], workloads_state[], workloads_redis[], workloads_jobs[],
	workloads_scale[];

/* ---- tools of the scripts ---- */

uint64_t script_random(struct script *s);
/* A random key among those of this connection. */
uint64_t script_own_key(struct script *s);
uint64_t script_few_keys(struct script *s);
/* A number that no earlier run has used, and that still fits a bigint when multiplied by the
 * number of connections. */
uint64_t script_first_round(void);
/* The number of the job that this connection works on in this round. */
uint64_t script_job(const struct script *s);
/* n bytes for the data of an item. */
const uint8_t *script_body(size_t n);
/* Writes v with leading zeros; width: bytes from digit to digit. */
void patch_digits(struct message *m, size_t at, uint64_t v, size_t digits, size_t width);
void patch_le(struct message *m, size_t at, uint64_t v, size_t n);

const char *check_one_row(const struct script *s, const struct answer *a);
const char *check_found(const struct script *s, const struct answer *a);

/* ---- requests of the two job databases ---- */

#define WORD_URI "http://schemas.microsoft.com/office/server/word/2009/08/"
#define TRANSLATION_URI "http://schemas.microsoft.com/office/server/translation/2010/11/"

size_t scheduler_jobs_add(struct message *m, bool word); /* all return the offset of @JobId */
size_t jobs_group(struct message *m, const char *uri, uint64_t items);
size_t jobs_one_id(struct message *m, const char *proc);
size_t jobs_done(struct message *m, size_t *ret_item_at);
void jobs_fetch(struct message *m, int32_t n);

#endif
