/* client_int.h — what the files of this folder share. */
#ifndef CLIENT_CLIENT_INT_H
#define CLIENT_CLIENT_INT_H

#include <sybfront.h>
#include <sybdb.h>

#include "client/client.h"

struct client {
	DBPROCESS *db;     /* owned */
	char address[300]; /* "host:port" for messages */
};

/* What db-lib reports through its two process-wide handlers while one of our functions runs on
 * this thread. */
struct report {
	struct client_result *result; /* informational messages go here; may be NULL */
	struct err error;             /* first error of the server; number 0: none */
	struct err trouble;           /* first error of the library: connection, time-out; number 0: none */
};
void client_report_begin(struct report *r, struct client_result *result);
/* 0, or -1 with the most telling error. failed: db-lib's own return value said so. */
MUST_CHECK int client_report_end(struct report *r, bool failed, const char *address, struct err *reterr);
/* Installs the handlers, once for the process. */
MUST_CHECK int client_report_init(struct err *reterr);

/* Reads all result sets and the status. False: db-lib failed, and has reported why. */
MUST_CHECK bool client_result_read(DBPROCESS *db, struct client_result *r, bool *ret_nomem);
MUST_CHECK bool client_result_add_message(struct client_result *r, const struct err *e);

#endif
