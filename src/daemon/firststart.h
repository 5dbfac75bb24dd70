/* firststart.h — what a data folder needs before the server can run in it. */
#ifndef DAEMON_FIRSTSTART_H
#define DAEMON_FIRSTSTART_H

#include "config/config.h"
#include "databases/databases.h"

/* Makes the folder (mode 0700) and takes its lock: two servers never share one. The lock lasts
 * as long as the process. *ret_made: it was not there before. */
MUST_CHECK int daemon_firststart_folder(const struct config *c, bool *ret_made, struct err *reterr);
/* After a first start that failed: what it left in the folder that it had made, and the folder. All
 * databases are closed. */
void daemon_firststart_undo(const struct config *c);
/* Paths of certificate and key: the settings, or DIR/server.crt and DIR/server.key, which are
 * generated when missing. Buffers of 4096 bytes. */
MUST_CHECK int daemon_firststart_certificate(const struct config *c, char *cert, char *key,
					     struct err *reterr);
/* A server without any login gets sa, with the password of sa_password_file or a generated one
 * (*ret_generated), which is kept in DIR/sa-password. */
MUST_CHECK int daemon_firststart_logins(const struct config *c, struct databases *dbs, bool *ret_generated,
					struct err *reterr);
/* Tells a person of the generated password, and shows it where standard output is a terminal: in a
 * journal it would stay for ever. */
void daemon_firststart_tell(const struct config *c);
/* DIR/address, for the command on the same machine. */
MUST_CHECK int daemon_firststart_address(const struct config *c, const char *address, struct err *reterr);

#endif
