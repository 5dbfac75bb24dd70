/* gate.h — the way into a database that is being moved: held shut for a moment, then open again, or
 * leading into another database, which has all that this one had. Calls that come meanwhile wait;
 * nobody above sees it. The gate of a database that is not moved costs two atomic additions a
 * call. */
#ifndef ENGINE_GATE_H
#define ENGINE_GATE_H

#include "engine/engine.h"

/* Until then (clock_mono_ms()) waits for the explicit transactions that are open; new ones wait
 * from now on, other calls go on. False: some are open still, and the gate is open again. */
MUST_CHECK bool engine_gate_narrow(struct engine_database *db, int64_t until_ms, bool (*stop)(void *arg),
				   void *arg);
/* After that: whatever comes waits, and what is under way is waited for. False: not all of it is
 * over, and the gate is open again. */
MUST_CHECK bool engine_gate_shut(struct engine_database *db, int64_t until_ms, bool (*stop)(void *arg),
				 void *arg);
/* What waited, and all that comes, goes on: here, or in the successor, which is of the same
 * service and outlives this one. */
void engine_gate_open(struct engine_database *db);
void engine_gate_lead(struct engine_database *db, struct engine_database *successor);

#endif
