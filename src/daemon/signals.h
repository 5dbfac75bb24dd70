/* signals.h — the signals of the process. One thread waits for them, so that they are heard
 * whatever the others do. */
#ifndef DAEMON_SIGNALS_H
#define DAEMON_SIGNALS_H

#include "base/err.h"

/* Blocks the signals for the calling thread and all that it starts, and begins to listen. Before
 * any other thread starts. */
MUST_CHECK int daemon_signals_start(struct err *reterr);
/* The next one: SIGTERM, SIGINT or SIGHUP; 0 after ms without one (ms < 0: waits for ever).
 * After the first SIGTERM or SIGINT, whether it was taken here or not, a second one ends the
 * process at once. */
int daemon_signals_next(int ms);
/* Whether SIGTERM or SIGINT has come, taken or not. Thread-safe. */
bool daemon_signals_stop(void);

#endif
