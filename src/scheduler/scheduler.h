/* scheduler.h — the scheduled-jobs client of [MS-SSPSJ] 3.2 as a long-running program: takes due
 * jobs from a server and runs the handlers of their classes. */
#ifndef SCHEDULER_SCHEDULER_H
#define SCHEDULER_SCHEDULER_H

#include "scheduler/settings.h"
#include "client/client.h"

struct scheduler_options {
	struct settings *settings; /* to begin with, by scheduler_settings_new */
	/* Reads the settings again, for SIGHUP; the caller's from then on. */
	int (*load)(void *arg, struct settings **ret, struct err *reterr);
	/* Opens a connection to the database of scheduled jobs; called from another thread,
	 * again after each failure. */
	int (*open)(void *arg, struct client **ret, struct err *reterr);
	void *arg;
	bool once; /* one round, then wait for what it took */
};

/* All but the first only with once. */
enum scheduler_end { SCHEDULER_DONE, SCHEDULER_HANDLER_FAILED, SCHEDULER_REFUSED, SCHEDULER_UNREACHABLE };

/* Until SIGTERM or SIGINT: what runs or has been taken is finished; a second signal ends the
 * handlers. SIGHUP reads the settings again. -1: could not begin. Blocks these signals and
 * SIGCHLD. */
MUST_CHECK int scheduler_run(const struct scheduler_options *o, enum scheduler_end *ret, struct err *reterr);

#endif
