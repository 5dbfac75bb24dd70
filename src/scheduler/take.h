/* take.h — one round of the pending-jobs timer: asks for the jobs of the next interval and takes
 * those that are ours, as one transaction, so that of several schedulers one gets each
 * occurrence. */
#ifndef SCHEDULER_TAKE_H
#define SCHEDULER_TAKE_H

#include "scheduler/ledger.h"
#include "scheduler/settings.h"

/* -1: nothing was taken, or the ledger has it in doubt; the connection must be closed, which
 * rolls back. */
MUST_CHECK int scheduler_take_due(struct client *c, const struct settings *s, struct ledger *l,
				  struct err *reterr);
/* Asks the server about everything in doubt. */
MUST_CHECK int scheduler_take_settle(struct client *c, const struct settings *s, struct ledger *l,
				     struct err *reterr);
/* Asks about what was taken in an earlier round and starts within the next interval: dropped
 * when the job is gone or disabled. */
MUST_CHECK int scheduler_take_recheck(struct client *c, const struct settings *s, struct ledger *l,
				      struct err *reterr);

#endif
