/* files.h — descriptors: as many as the system gives, and how many of them connections may take. */
#ifndef DAEMON_FILES_H
#define DAEMON_FILES_H

#include "session/server.h"

/* Raises the soft limit, before anything is opened. */
void daemon_files_raise(void);
/* When the databases are open: max_connections, or fewer where descriptors are short (logged).
 * -1: there is no room for any. */
MUST_CHECK int daemon_files_connections(struct server *srv, unsigned io_threads, unsigned *ret,
					struct err *reterr);

#endif
