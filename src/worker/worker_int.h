/* worker_int.h — what the files of the supervisor share: an item on its way, and the parts that
 * it passes through. An item belongs to one of them at a time: link (claimed, reported), files
 * (opened, closed), the main loop and its engine (worked on). */
#ifndef WORKER_WORKER_INT_H
#define WORKER_WORKER_INT_H

#include <pthread.h>

#include "base/list.h"
#include "document/places.h"
#include "worker/worker.h"

#define QUEUE_TIME_MAX 32
#define TAG_MAX 64

/* queue.c, for queue_jobs.c */
MUST_CHECK int worker_queue_call(struct client *c, const char *proc, const struct client_arg *args,
				 size_t nargs, struct client_result *r, struct err *reterr);
MUST_CHECK int worker_queue_call_alone(struct client *c, const char *proc, const struct client_arg *args,
				       size_t nargs, struct err *reterr);
MUST_CHECK int worker_queue_call_rows(struct client *c, const char *proc, const struct client_arg *args,
				      size_t nargs, struct client_result *ret, struct err *reterr);

bool worker_queue_is_unknown(const struct err *e);

enum item_stage { ITEM_OPENING, ITEM_WORKING, ITEM_CLOSING, ITEM_REPORTING };

struct item {
	struct list queue; /* in the queue of the part that has it */
	struct list all;   /* in the list of all, which is the main loop's */
	uint64_t id;       /* of the engine's task */
	struct queue_key key;
	int attempts; /* left after this one */
	int attempt;  /* 1 for the first that this worker knows of */
	char *input_root, *input, *output_root, *output, *settings; /* owned; NULL is SQL NULL */
	int64_t claimed; /* worker_link_clock() before the claim: the server counts from a later moment */
	enum item_stage stage;
	int input_fd; /* -1: none, or the engine's */
	struct document_output *out;
	bool cancelled; /* the engine was told to end it */
	/* how it ended */
	int error;
	bool give_back; /* it did not fail: others shall have it */
	bool lost;      /* too late: nothing was reported */
	char text[DOCUMENT_TEXT_MAX];
	unsigned cpu_ms, wall_ms;
};

void worker_item_free(
	struct item *i); /* descriptors, too; the temporary name of an output stays when it was lost */
/* Others shall have it. */
void worker_item_give_back(struct item *i, const char *why);
bool worker_item_is_final(const struct item *i); /* no further attempt, after its report */
void worker_item_tag(const struct queue_service *s, const struct queue_key *k, char dst[TAG_MAX]);

/* claims.c: what this worker has claimed and not yet reported, in DIR/journal; used by the
 * link's thread only. Without a folder it is kept in memory. Written before the claim, without a
 * flush: it survives the process, and after a loss of power the stale threshold does the same,
 * later. */
struct claims;
struct claim {
	struct list link;
	struct queue_key key;
	char *output_root, *output;
	bool in_hand; /* this process works on it */
};
MUST_CHECK int worker_claims_open(const char *dir, bool is_locked, struct claims **ret, struct err *reterr);
void worker_claims_close(struct claims *j);
const char *worker_claims_instance(
	const struct claims *j); /* which worker this is: a GUID that stays with the folder */
/* Adds are written by the next save. */
MUST_CHECK int worker_claims_add(struct claims *j, const struct queue_key *k, const char *output_root,
				 const char *output, struct err *reterr);
void worker_claims_remove(struct claims *j, const struct queue_key *k);
MUST_CHECK int worker_claims_save(struct claims *j, struct err *reterr);
/* Given back by this process for one before it, that died at work on it: the next attempt is not
 * the first. In memory. */
void worker_claims_died(struct claims *j, const struct queue_key *k);
bool worker_claims_has_died(const struct claims *j, const struct queue_key *k);
struct list *worker_claims_entries(struct claims *j);
struct claim *worker_claims_find(struct claims *j, const struct queue_key *k);

/* link.c: the thread that talks to the server. */
struct link;
int64_t worker_link_clock(void); /* ms; goes on while the machine sleeps */
MUST_CHECK int worker_link_start(const struct worker_options *o, int wake_fd, struct link **ret,
				 struct err *reterr);
/* A place of the engine is free again. It has engine.slots at the beginning. */
void worker_link_release(struct link *l);
void worker_link_pause(struct link *l); /* no claims any more */
void worker_link_report(struct link *l, struct item *i);
/* What was claimed, or what was reported; NULL: none now. */
struct item *worker_link_next_claimed(struct link *l);
struct item *worker_link_next_reported(struct link *l);
/* The server has nothing (of this job) that waits or runs. */
bool worker_link_idle(struct link *l);
/* It failed before anything could be claimed: a wrong address, login, database or right. */
bool worker_link_hopeless(struct link *l);
void worker_link_why(struct link *l, struct err *ret); /* of the last failure */
int64_t worker_link_lost_ms(struct link *l);           /* how long the server has been away; 0: it is there */
/* No claims any more; ends when everything was reported, or the server cannot be reached. */
void worker_link_end(struct link *l);
bool worker_link_ended(struct link *l);
void worker_link_free(struct link *l);

/* files.c: threads that open inputs and finish outputs, because both may take long (other
 * machines, slow disks). */
struct files;
MUST_CHECK int worker_files_start(const struct worker_options *o, unsigned nthreads, int wake_fd,
				  struct files **ret, struct err *reterr);
void worker_files_open(struct files *f, struct item *i);
void worker_files_close(struct files *f, struct item *i);
struct item *worker_files_next(struct files *f); /* opened or closed; item->error says how; NULL: none now */
void worker_files_free(struct files *f);         /* what they have is finished first */

#endif
