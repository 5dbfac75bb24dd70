/* walformat.h — SQLite's write-ahead log as bytes: a header, then frames of a page each; every
 * frame has the salt of the header and a checksum that goes on from the one before. As
 * "Write-Ahead Log File Format" in SQLite's documentation has it. Pure: who reads the bytes, and
 * from where, is the caller's matter. */
#ifndef STORE_SQLITE_WALFORMAT_H
#define STORE_SQLITE_WALFORMAT_H

#include "base/base.h"

#define WAL_HEADER 32u       /* bytes of the WAL's header */
#define WAL_FRAME_HEADER 24u /* bytes of a frame's header, which is followed by the page */

struct wal_salt {
	uint32_t a, b;
};

/* How far a WAL has been looked at. */
struct wal_walk {
	uint32_t page_size;
	struct wal_salt salt;
	uint32_t sum[2]; /* after the header, or the last frame that was sound */
	bool big_endian; /* the words that are summed up */
};

/* False: these are not the WAL_HEADER bytes of a WAL. */
bool store_wal_walk_begin(struct wal_walk *w, const uint8_t *header);
/* The next frame, with its header: page_size + WAL_FRAME_HEADER bytes. False: it does not
 * follow. */
bool store_wal_walk_frame(struct wal_walk *w, const uint8_t *frame);

struct wal_salt store_wal_frame_salt(const uint8_t *frame);
uint32_t store_wal_frame_page(const uint8_t *frame); /* from 1; 0: no frame at all */
/* pages of the database after this commit; 0: it ends none */
uint32_t store_wal_frame_commit(const uint8_t *frame);

#endif
