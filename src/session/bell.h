/* bell.h — sessions that wait until somebody brings work to their database, and the bell that wakes
 * them. Who waits occupies no thread and no place in a queue. */
#ifndef SESSION_BELL_H
#define SESSION_BELL_H

#include <pthread.h>

#include "base/lock.h"
#include "databases/databases.h"
#include "net/net.h"

struct bell {
	struct lock lock;
	struct list waiters;
	uint32_t first; /* the number of a database to which no work was brought yet */
};

/* Part of a session. */
struct bell_waiter {
	struct list link;
	const struct database *database;
	struct net_loop *loop;
	struct net_post post; /* comes to the loop when it is rung; its fn is the session's */
	bool waits, comes;    /* under the lock: it is in the list; the post is on its way */
};

void session_bell_init(struct bell *b);
void session_bell_fini(struct bell *b);
/* Work has come: wakes all that wait for it. Thread-safe, as all of these. */
void session_bell_ring(struct bell *b, struct database *db);
/* The number of the database, which changes with each ring; never negative. */
int32_t session_bell_number(struct bell *b, const struct database *db);
/* False: it does not wait, because the number is not `seen` any more, or an earlier post is still
 * on its way. */
MUST_CHECK bool session_bell_enter(struct bell *b, struct bell_waiter *w, struct database *db, int32_t seen);
/* It waits no longer. True: its post is still on its way. */
bool session_bell_leave(struct bell *b, struct bell_waiter *w);
/* The post has come. */
void session_bell_came(struct bell *b, struct bell_waiter *w);

#endif
