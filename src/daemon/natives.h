/* natives.h — the C functions that the system procedures name: password hashes, new databases,
 * integrity checks, the sessions. */
#ifndef DAEMON_NATIVES_H
#define DAEMON_NATIVES_H

#include "session/server.h"

/* Registers them; srv must outlive the engine. Its databases and auth may be set later,
 * before the first call. */
void daemon_natives_register(struct server *srv);

#endif
