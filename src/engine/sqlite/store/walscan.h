/* walscan.h — how far a write-ahead log of SQLite is sound. Pure: bytes in, numbers out; whoever
 * calls it brings a way to read. */
#ifndef STORE_SQLITE_WALSCAN_H
#define STORE_SQLITE_WALSCAN_H

#include "engine/sqlite/store/walformat.h"

struct walscan {
	bool sound; /* the header is; else all is 0 */
	uint32_t page_size;
	/* which WAL it is: SQLite chooses new ones whenever it begins the WAL anew */
	struct wal_salt salt;
	uint32_t frames;    /* that follow one another without a fault */
	uint32_t committed; /* of these, up to the last commit: what SQLite would recover */
};

/* Fills dst with n bytes of the WAL from at on; gives how many there are. */
typedef size_t walscan_read(void *arg, uint64_t at, void *dst, size_t n);
/* Looks at no more than limit frames. -1: no memory. */
MUST_CHECK int store_walscan_run(walscan_read *read, void *arg, uint32_t limit, struct walscan *ret);

#endif
