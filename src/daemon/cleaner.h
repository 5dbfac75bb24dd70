/* cleaner.h — background work of the databases in small steps: expired state items, rows of
 * deleted jobs. A thread that sleeps between rounds. */
#ifndef DAEMON_CLEANER_H
#define DAEMON_CLEANER_H

#include "databases/databases.h"

struct cleaner;

struct cleaner_options {
	struct databases *databases; /* borrowed */
	int state_interval_s;        /* how often expired items are looked for; 0: never [E-STATE-02] */
	/* whether it is this one of several servers that cleans up; asked before each step. NULL:
	 * it is */
	bool (*may)(struct engine *e);
	struct engine *engine; /* for may() */
};
/* Deleted jobs are cleaned up once at the start and then whenever daemon_cleaner_kick says so; of
 * several servers by the one that may, also as often as expired items. */
MUST_CHECK int daemon_cleaner_start(const struct cleaner_options *o, struct cleaner **ret,
				    struct err *reterr);
/* Rows were left behind. Thread-safe. */
void daemon_cleaner_kick(struct cleaner *c);
void daemon_cleaner_stop(struct cleaner *c); /* NULL is welcome */

#endif
