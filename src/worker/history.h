/* history.h — why documents failed, in words: the databases keep a number only. DIR/history has
 * a line of JSON for each attempt that failed; at 8 MiB it becomes history.1. */
#ifndef WORKER_HISTORY_H
#define WORKER_HISTORY_H

#include "worker/queue.h"

struct history_line {
	const char *service;
	struct queue_key key;
	int attempt, error;
	bool final; /* no further attempt */
	const char *input, *text;
};
/* A failure to write is logged: work goes on. */
void worker_history_append(const char *dir, const struct history_line *l);

/* Texts of the failures of one job, the newest of each item. */
struct history;
MUST_CHECK int worker_history_read(const char *dir, const char *service, int64_t job, struct history **ret,
				   struct err *reterr);
/* One more, from elsewhere: newer than what was read. */
MUST_CHECK int worker_history_add(struct history *h, int group, int item, const char *text,
				  struct err *reterr);
const char *worker_history_text(const struct history *h, int group, int item); /* NULL: none */
void worker_history_free(struct history *h);

#endif
