/* outside.h — the archive of what an installation has outside of PostgreSQL. */
#ifndef CLI_OUTSIDE_H
#define CLI_OUTSIDE_H

#include "cli/backupfile.h"

/* data: the folder of the server on this machine. *m is filled, whatever comes of it, and is the
 * caller's. */
MUST_CHECK int cli_backup_outside(const char *data, const char *path, struct archive_manifest *m,
				  struct err *reterr);

#endif
