/* ledger_int.h — the ledger's own files: the list in memory (ledger.c) and what is on disk
 * (journal.c). */
#ifndef SCHEDULER_LEDGER_INT_H
#define SCHEDULER_LEDGER_INT_H

#include <pthread.h>

#include "base/folder.h"
#include "base/lock.h"
#include "scheduler/ledger.h"

struct ledger {
	struct lock mutex;
	struct taken *list; /* in the order in which they were taken */
	char *dir;          /* NULL: memory only */
	struct folder_lock lock;
	struct reports *reports; /* lent; NULL: none */
};

/* Creates the folder, locks it and reads the journal into the list. */
MUST_CHECK int scheduler_journal_open(struct ledger *l, const char *dir, struct err *reterr);
void scheduler_journal_close(struct ledger *l);
/* The list as it is, in place of the old journal and safely on disk. */
MUST_CHECK int scheduler_journal_save(struct ledger *l, struct err *reterr);
void scheduler_journal_history(struct ledger *l, const struct taken *t, const char *outcome, int status,
			       int64_t started, int64_t ended);

#endif
