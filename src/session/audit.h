/* audit.h — what follows a change of logins, rights, databases or sessions once it is done: what
 * is remembered of them is read again, and a line in the log says who has done it. For sessions and
 * for batches that the server runs for a login (src/local). Thread-safe. */
#ifndef SESSION_AUDIT_H
#define SESSION_AUDIT_H

#include "base/log.h"
#include "session/server.h"

/* A call that went well. open: its transaction may still be rolled back. Nothing follows a call
 * that changes none of these. */
void session_audit_call(struct server *srv, const struct log_ctx *who, const struct call *c, bool open);
void session_audit_kill(const struct log_ctx *who, int64_t spid);

#endif
