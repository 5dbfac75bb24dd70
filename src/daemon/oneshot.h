/* oneshot.h — a call of the server to itself: by procedure name, waited for. For start-up and background work, never on a loop thread. */
#ifndef DAEMON_ONESHOT_H
#define DAEMON_ONESHOT_H

#include "databases/databases.h"

struct oneshot_result {
	uint64_t rows; /* of all result sets */
	int32_t status;
};
/* Arguments by name; rights are an administrator's. */
MUST_CHECK int oneshot_call(struct databases *dbs, struct database *db, const char *proc,
			    const struct argument *args, size_t nargs, struct oneshot_result *ret,
			    struct err *reterr);

#endif
