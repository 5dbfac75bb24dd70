/* queue.h — the procedures of the two job services ([MS-WORDSSP2], [MS-TSSPROC]) as functions of
 * a client. Any server that has them will do. */
#ifndef WORKER_QUEUE_H
#define WORKER_QUEUE_H

#include "base/buf.h"
#include "client/client.h"

/* What differs between the two. */
struct queue_service {
	const char *name;                /* "convert", "translate" */
	const char *database;            /* where its jobs are unless told */
	const char *group_ns, *batch_ns; /* namespaces of the two documents */
	const char *batch_proc;          /* hands out what waits */
	char letter;                     /* in the names of temporary files */
	bool translation;
};
extern const struct queue_service worker_queue_convert, worker_queue_translate;

struct queue_key {
	int64_t job;
	int group, item;
};

/* Waiting work as a row of the batch. Strings belong to the result. */
struct queue_row {
	struct queue_key key;
	bool in_progress; /* begun by somebody, too long ago */
	int attempts;     /* left before it is started */
	const char *input, *output, *worker;
};
MUST_CHECK int worker_queue_row_read(const struct client_table *t, size_t row, struct queue_row *ret,
				     struct err *reterr);

/* What the group of a started item says. Strings belong to the result. */
struct queue_group {
	int64_t job;
	int group;
	const char *input_root, *output_root, *settings;
};
MUST_CHECK int worker_queue_group_read(const struct client_table *t, size_t row, struct queue_group *ret,
				       struct err *reterr);

/* Results must be freed with client_result_fini in every case. */
/* A transaction that nobody else's claim can come between; the server's time in datetime ticks. */
MUST_CHECK int worker_queue_begin(struct client *c, int64_t *ret_now, struct err *reterr);
MUST_CHECK int worker_queue_commit(struct client *c, struct err *reterr);
/* proc: s->batch_proc, or "proc_GetConversionBatch" for all in the order of their age. */
MUST_CHECK int worker_queue_batch(struct client *c, const char *proc, int count, int64_t threshold,
				  struct client_result *ret, struct err *reterr);
/* Looks whether something waits, as soon as work is brought to the database or after so many
 * milliseconds: for servers that have procession_wait_for_work. *seen is what the last call left
 * there; -1 for the first. `stir` ends it. */
enum queue_await { QUEUE_STIRRED, QUEUE_NOTHING, QUEUE_SOMETHING, QUEUE_NO_BELL /* not this server */ };
MUST_CHECK int worker_queue_await(struct client *c, const char *proc, int ms, int64_t threshold, int stir,
				  int64_t *seen, enum queue_await *ret, struct err *reterr);
/* The document of proc_UpdateConversionBatch, piece by piece: starts first, then failures. */
void worker_queue_update_start(struct buf *xml, const struct queue_service *s);
void worker_queue_update_add_start(struct buf *xml, const struct queue_key *k, const char *worker);
void worker_queue_update_failures(struct buf *xml);
void worker_queue_update_add_failure(struct buf *xml, const struct queue_key *k, int error);
void worker_queue_update_end(struct buf *xml);
MUST_CHECK int worker_queue_update(struct client *c, struct buf *xml, struct client_result *ret,
				   struct err *reterr);
MUST_CHECK int worker_queue_succeeded(struct client *c, const struct queue_key *k, struct err *reterr);
MUST_CHECK int worker_queue_failed(struct client *c, const struct queue_key *k, bool retry, int error,
				   struct err *reterr);

/* Why it failed, in words, for people who look at the server: nothing depends on it. 0: told; 1:
 * the server has no place for it (procession_item_failed), which is no error. */
MUST_CHECK int worker_queue_why(struct client *c, const struct queue_key *k, int error, const char *text,
				const char *machine, struct err *reterr);

/* That this worker is there for so many seconds, and which folders it may use, one in each line;
 * 0: not any more. 0 and 1 as worker_queue_why. */
MUST_CHECK int worker_queue_here(struct client *c, const char *worker, const char *machine,
				 const char *folders, int seconds, struct err *reterr);

/* --- jobs, for those who add and watch them --- */

/* Who is there: Worker, Machine, Places. 1: the server does not know. */
MUST_CHECK int worker_queue_workers(struct client *c, struct client_result *ret, struct err *reterr);

struct queue_counts {
	int total, not_submitted, not_started, in_progress, succeeded, failed, canceled;
};
/* A new positive identifier. */
int64_t worker_queue_new_job_id(void);
/* items: how many will be added; the translation service counts them, and refuses the job when more
 * than max_per_day would have been added in 24 hours; negative: no limit. */
MUST_CHECK int worker_queue_add_job(struct client *c, const struct queue_service *s, int64_t job,
				    const char *name, const char *settings, int items, int max_per_day,
				    struct err *reterr);
/* xml: made by worker_queue_group_start, worker_queue_group_add and worker_queue_group_end. */
MUST_CHECK int worker_queue_add_group(struct client *c, int64_t job, int group, const char *input_root,
				      const char *output_root, int attempts, struct buf *xml,
				      struct err *reterr);
void worker_queue_group_start(struct buf *xml, const struct queue_service *s);
void worker_queue_group_add(struct buf *xml, int item, const char *input, const char *output);
void worker_queue_group_end(struct buf *xml);
MUST_CHECK int worker_queue_submit(struct client *c, int64_t job, struct err *reterr);
MUST_CHECK int worker_queue_cancel(struct client *c, int64_t job, const char *partition, struct err *reterr);
/* 1: *ret is filled; 0: there is no such job. ret_name may be NULL; else from malloc, NULL for
 * none. */
MUST_CHECK int worker_queue_status(struct client *c, int64_t job, const char *partition,
				   struct queue_counts *ret, char **ret_name, struct err *reterr);
MUST_CHECK int worker_queue_jobs(struct client *c, const char *partition, bool active,
				 struct client_result *ret, struct err *reterr);
MUST_CHECK int worker_queue_groups(struct client *c, int64_t job, const char *partition,
				   struct client_result *ret, struct err *reterr);
/* Which items: one bit for each class. */
enum queue_class {
	QUEUE_NOT_SUBMITTED = 1,
	QUEUE_NOT_STARTED = 2,
	QUEUE_IN_PROGRESS = 4,
	QUEUE_SUCCEEDED = 8,
	QUEUE_FAILED = 16,
	QUEUE_CANCELED = 32,
	QUEUE_ALL = 63
};
MUST_CHECK int worker_queue_items(struct client *c, int64_t job, int group, const char *partition,
				  unsigned classes, struct client_result *ret, struct err *reterr);
/* What the server was told by worker_queue_why of one job: GroupId, ItemId, Reason. 1: it keeps no
 * such thing, or not for us. */
MUST_CHECK int worker_queue_reasons(struct client *c, int64_t job, struct client_result *ret,
				    struct err *reterr);
/* Text of a cell; NULL: SQL NULL or no such column. */
const char *worker_queue_cell(const struct client_table *t, size_t row, const char *name);
/* A whole number from text; false: it is none, or outside of the bounds. */
bool worker_queue_number(const char *text, int64_t low, int64_t high, int64_t *ret);

#endif
