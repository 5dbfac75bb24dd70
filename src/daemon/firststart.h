/* firststart.h — what a data folder needs before the server can run in it. */
#ifndef DAEMON_FIRSTSTART_H
#define DAEMON_FIRSTSTART_H

#include "config/config.h"
#include "databases/databases.h"

/* Makes the folder (mode 0700) and takes its lock: two servers never share one. The lock lasts as long as the process. */
MUST_CHECK int firststart_folder(const struct config *c, struct err *reterr);
/* Paths of certificate and key: the settings, or DIR/server.crt and DIR/server.key, which are generated when missing. Buffers of 4096 bytes. */
MUST_CHECK int firststart_certificate(const struct config *c, char *cert, char *key, struct err *reterr);
/* A server without any login gets sa, with the password of sa_password_file or a generated one, which is kept in DIR/sa-password and shown once. */
MUST_CHECK int firststart_logins(const struct config *c, struct databases *dbs, struct err *reterr);
/* DIR/address, for the command on the same machine. */
MUST_CHECK int firststart_address(const struct config *c, const char *address, struct err *reterr);

#endif
