/* colmeta_cache.h — the COLMETADATA of all result sets that procedures have, made once when the
 * server starts. */
#ifndef SESSION_COLMETA_CACHE_H
#define SESSION_COLMETA_CACHE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "call/sink.h"
#include "tds/tds.h"

/* All zero: there are none. */
struct colmeta_cache {
	struct colmeta_entry *all; /* owned; by the address of the columns */
	size_t n;
	struct buf bytes;
};

MUST_CHECK int session_colmeta_cache_make(struct colmeta_cache *h, struct err *reterr);
void session_colmeta_cache_fini(struct colmeta_cache *h);
/* What a client of the version is sent for these columns. Empty: they are no procedure's, or it
 * is a version that does not know all types. */
struct str session_colmeta_cache_find(const struct colmeta_cache *h, const struct column *columns,
				      enum tds_version v);

#endif
