/* kill.h — KILL, for administrators: of sessions, and of who has a batch run by the server. */
#ifndef SESSION_KILL_H
#define SESSION_KILL_H

#include "base/log.h"
#include "session/server.h"

/* The session ends soon, on its own loop: what it runs is cancelled, its transaction rolled back.
 * own: the number of who asks. Tells the log who has done it. */
MUST_CHECK int session_kill_number(struct server *srv, const struct log_ctx *who, uint16_t own, int64_t spid,
				   struct err *reterr);

#endif
