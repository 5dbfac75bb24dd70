/* headings.h — the COLMETADATA of all result sets that procedures have, made once when the server starts. */
#ifndef SESSION_HEADINGS_H
#define SESSION_HEADINGS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "call/sink.h"
#include "tds/tds.h"

/* All zero: there are none. */
struct headings {
	struct heading *all;        /* owned; by the address of the columns */
	size_t n;
	struct buf bytes;
};

MUST_CHECK int headings_make(struct headings *h, struct err *reterr);
void headings_fini(struct headings *h);
/* What a client of the version is sent for these columns. Empty: they are no procedure's, or it is a version that does not know all types. */
struct str headings_find(const struct headings *h, const struct column *columns, enum tds_version v);

#endif
