/* list.h — the sessions as others see them: sp_who, sys.dm_exec_sessions. */
#ifndef SESSION_LIST_H
#define SESSION_LIST_H

#include "metadata/metadata.h"
#include "session/server.h"

/* The sessions by number, with those that they wait for; only: this one, or 0 for all. In the
 * arena. Thread-safe. */
MUST_CHECK int session_list(struct server *srv, uint16_t only, struct arena *a, struct metadata_session **ret,
			    size_t *ret_n, struct err *reterr);

#endif
