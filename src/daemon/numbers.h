/* numbers.h — the numbers that nobody counts, since they are there: lengths, sizes, ages. The
 * daemon knows all modules, so it tells them to the registry (metrics/snapshot.h). */
#ifndef DAEMON_NUMBERS_H
#define DAEMON_NUMBERS_H

#include "session/server.h"

/* Before the first thread that reads them; srv->metrics must be there. */
void daemon_numbers_register(struct server *srv);

#endif
