/* ledger.h — the occurrences that were taken from the server and are not finished. With a folder
 * they are also on disk (DIR/journal) before the server is told, so that a scheduler that dies
 * loses none; how runs ended is appended to DIR/history. Safe for several threads. */
#ifndef SCHEDULER_LEDGER_H
#define SCHEDULER_LEDGER_H

#include "base/err.h"
#include "scheduler/reports.h"

enum taken_state {
	TAKEN_DOUBT, /* the commit that takes it has not been confirmed */
	TAKEN_WAITS, /* for its start */
	TAKEN_RUNS,
	/* runs once, its time has come, and no handler here can run it: kept until one can */
	TAKEN_HELD,
};

struct taken {
	enum taken_state state;
	struct job_row row;  /* strings are its own; row.due: as the server had it when it was taken */
	int64_t due;         /* of this occurrence */
	int64_t start, next; /* next: what the server was told; DATETIME_MAX: nothing follows */
	/* the server need not be asked again whether the job is still there; not on disk, like
	 * the next */
	bool fresh;
	bool withdrawn; /* it was asked, and the job is gone or disabled: not to be run */
	struct taken *link;
};

struct ledger;
/* dir NULL: in memory only. reports: where the server's share of the history goes; NULL: nowhere.
 * Fails when another scheduler uses the folder. Runs that the end of the last scheduler interrupted
 * are written to the history. */
MUST_CHECK int scheduler_ledger_open(const char *dir, struct reports *reports, struct ledger **ret,
				     struct err *reterr);
void scheduler_ledger_close(struct ledger *l);

struct taken *scheduler_taken_new(const struct job_row *row, int64_t due, int64_t start);
void scheduler_taken_free_list(struct taken *list);

/* Owns the list from here on, all in doubt. -1: not on disk; the list is freed, nothing was
 * added. */
MUST_CHECK int scheduler_ledger_add(struct ledger *l, struct taken *list, struct err *reterr);
/* Of all that is in doubt: the server has confirmed. */
void scheduler_ledger_confirm(struct ledger *l);
/* One that is in doubt, copied for asking the server; freed by the caller with
 * scheduler_taken_free_list. NULL: none. */
struct taken *scheduler_ledger_doubt(struct ledger *l);
/* Everything in doubt of the row that was read with this due time: to be run, or dropped. */
void scheduler_ledger_settle(struct ledger *l, const char *id, int64_t row_due, bool keep);

/* One that recurs, waits, starts before the horizon and is not fresh, copied like a doubt. NULL:
 * none. */
struct taken *scheduler_ledger_stale(struct ledger *l, int64_t horizon);
/* What the server said of it. */
void scheduler_ledger_recheck(struct ledger *l, const char *id, int64_t due, bool there);

/* The first one that waits and whose start has come. NULL: none. Stays the ledger's; only the
 * caller's thread may mark and finish. */
struct taken *scheduler_ledger_due(struct ledger *l, int64_t now, bool *ret_withdrawn);
/* It runs, or is held, from now on. */
void scheduler_ledger_mark(struct ledger *l, struct taken *t, enum taken_state state);
/* What is held and can be run waits again. */
void scheduler_ledger_release(struct ledger *l, bool (*can_run)(const void *arg, const struct job_row *row),
			      const void *arg);
/* Everything that waits starts at the begin of its window. Gives how many that changed. */
size_t scheduler_ledger_hurry(struct ledger *l);
bool scheduler_ledger_runs(struct ledger *l, const char *id, const struct taken *except);
/* Finished, skipped or failed: outcome is one word, status the exit status (or signal, or -1).
 * Removes it and writes the history. */
void scheduler_ledger_finish(struct ledger *l, struct taken *t, const char *outcome, int status,
			     int64_t started, int64_t ended);
/* Start of the first that waits; INT64_MAX: none. */
int64_t scheduler_ledger_next_start(struct ledger *l);
size_t scheduler_ledger_count(struct ledger *l, enum taken_state state);

#endif
