/* sqlite.h — the embedded engine: one SQLite file for each database, in one folder, for one server.
 * All else about it is behind engine.h. */
#ifndef ENGINE_SQLITE_SQLITE_H
#define ENGINE_SQLITE_SQLITE_H

#include "engine/engine.h"

struct catalogue_natives; /* catalogue/native.h */
struct metrics;           /* metrics/metrics.h */

struct engine_sqlite_options {
	const char *dir;    /* data folder; exists; copied */
	unsigned cache_mib; /* memory for the pages of each database; 0: 16 */
	/* threads that read beside the one that writes, of each database; more where some are
	 * slow */
	unsigned readers;
	/* the longest-running reader is ended when the write-ahead log is longer: 3966; 0: never */
	unsigned max_wal_mib;
	struct engine_limits limits;
	const struct catalogue_natives *natives; /* borrowed: outlives the engine; NULL: none */
	struct metrics *metrics;                 /* the same; NULL: nothing is counted */
};
/* NULL: no memory. */
struct engine *engine_sqlite_new(const struct engine_sqlite_options *o);

#endif
