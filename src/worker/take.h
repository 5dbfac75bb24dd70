/* take.h — one round with the server: claiming what waits, reporting what ended, and settling
 * what an earlier life of this worker left behind. */
#ifndef WORKER_TAKE_H
#define WORKER_TAKE_H

#include "worker/worker_int.h"

/* Claims up to room items in one transaction and appends them to *ret, as struct item; those that
 * ended by it, since others had begun them as often as allowed, to *ret_ended. The number, or -1:
 * then the connection must be closed, which undoes it; whether the server had heard the last word
 * is seen by worker_take_settle. */
MUST_CHECK int worker_take_claim(struct client *c, const struct worker_options *o, struct claims *claims,
				 unsigned room, struct list *ret, struct list *ret_ended, struct err *reterr);
/* Whether something waits: 1, 0 or -1. With one_job 0 means that it is finished, and 2 that
 * others work on the rest. */
MUST_CHECK int worker_take_look(struct client *c, const struct worker_options *o, struct err *reterr);
/* The same, but the server waits for us: see worker_queue_await. Not with one_job. */
MUST_CHECK int worker_take_await(struct client *c, const struct worker_options *o, int ms, int stir,
				 int64_t *seen, enum queue_await *ret, struct err *reterr);
/* Claims that nobody in this process works on: given back, or reported when their output was
 * finished; those that are not ours any more are forgotten. *ret_ended: those whose last attempt it
 * was, after a failure, too. */
MUST_CHECK int worker_take_settle(struct client *c, const struct worker_options *o, struct claims *claims,
				  struct list *ret_ended, struct err *reterr);
MUST_CHECK int worker_take_report(struct client *c, const struct item *i, struct err *reterr);

#endif
