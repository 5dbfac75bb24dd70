/* poller.h — the thread that talks to the server, so that a server that is slow or away does not
 * keep handlers from starting in time. */
#ifndef SCHEDULER_POLLER_H
#define SCHEDULER_POLLER_H

#include "scheduler/ledger.h"
#include "scheduler/scheduler.h"

struct poller;
/* wake_fd: an eventfd that gets 1 after each round and at the end. What is in reports is delivered
 * when it comes, also after the last round. */
MUST_CHECK int scheduler_poller_start(const struct scheduler_options *o, struct ledger *l,
				      struct reports *reports, int wake_fd, struct poller **ret,
				      struct err *reterr);
/* From the next round on, which comes at once. */
void scheduler_poller_reload(struct poller *p, struct settings *s);
/* Whether the last settings it was given are in use, so that nothing more is taken under older
 * ones. */
bool scheduler_poller_reloaded(struct poller *p);
/* Takes no more. Returns at once. */
void scheduler_poller_stop(struct poller *p);
bool scheduler_poller_ended(struct poller *p);
/* Nothing more comes. Waits for the end, and tells how the last round went. */
enum poller_round { ROUND_LOST /* or there was none */, ROUND_REFUSED, ROUND_DONE };
enum poller_round scheduler_poller_join(struct poller *p);

#endif
