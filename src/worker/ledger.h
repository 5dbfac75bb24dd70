/* ledger.h — the occurrences that were taken from the server and are not finished. With a folder they are also on disk (DIR/journal) before the server is told,
 * so that a scheduler that dies loses none; how runs ended is appended to DIR/history. Safe for several threads. */
#ifndef WORKER_LEDGER_H
#define WORKER_LEDGER_H

#include "base/err.h"
#include "worker/jobs.h"

enum taken_state {
	TAKEN_DOUBT,            /* the commit that takes it has not been confirmed */
	TAKEN_WAITS,            /* for its start */
	TAKEN_RUNS,
};

struct taken {
	enum taken_state state;
	struct job_row row;         /* strings are its own; row.due: as the server had it when it was taken */
	int64_t due;                /* of this occurrence */
	int64_t start, next;        /* next: what the server was told; DATETIME_MAX: nothing follows */
	struct taken *link;
};

struct ledger;
/* dir NULL: in memory only. Fails when another scheduler uses the folder. Runs that the end of the last scheduler interrupted are written to the history. */
MUST_CHECK int ledger_open(const char *dir, struct ledger **ret, struct err *reterr);
void ledger_close(struct ledger *l);

struct taken *taken_new(const struct job_row *row, int64_t due, int64_t start);
void taken_free_list(struct taken *list);

/* Owns the list from here on, all in doubt. -1: not on disk; the list is freed, nothing was added. */
MUST_CHECK int ledger_add(struct ledger *l, struct taken *list, struct err *reterr);
/* Of all that is in doubt: the server has confirmed. */
void ledger_confirm(struct ledger *l);
/* One that is in doubt, copied for asking the server; freed by the caller with taken_free_list. NULL: none. */
struct taken *ledger_doubt(struct ledger *l);
/* Everything in doubt of the row that was read with this due time: to be run, or dropped. */
void ledger_settle(struct ledger *l, const char *id, int64_t row_due, bool keep);

/* The first one that waits and whose start has come; it runs from now on. NULL: none. Stays the ledger's. */
struct taken *ledger_start(struct ledger *l, int64_t now);
bool ledger_runs(struct ledger *l, const char *id, const struct taken *except);
/* Finished, skipped or failed: outcome is one word, status the exit status (or signal, or -1). Removes it and writes the history. */
void ledger_finish(struct ledger *l, struct taken *t, const char *outcome, int status, int64_t started, int64_t ended);
/* Start of the first that waits; INT64_MAX: none. */
int64_t ledger_next_start(struct ledger *l);
size_t ledger_count(struct ledger *l, enum taken_state state);

#endif
