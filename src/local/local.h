/* local.h — a batch that the server runs by itself for a login, with the login's rights: what a
 * client would send over TDS, without a connection. The text is compiled, its procedures are
 * admitted and its SELECTs checked by the same gate as everybody's (catalogue_admit, query); the
 * rows are collected. For the dashboard and for readiness. */
#ifndef LOCAL_LOCAL_H
#define LOCAL_LOCAL_H

#include "call/call.h"
#include "engine/rows.h"
#include "session/server.h"

/* Whose batch it is. Texts are copied. */
struct local_client {
	struct server *server;
	const char *login, *address, *program;
	uint16_t spid; /* its number in the registry; 0: the server itself */
	bool admin;
};

/* The value of a declared parameter, as text; conversion is T-SQL's. */
struct local_value {
	const char *name; /* with '@' */
	struct str text;
	bool null;
};

struct local_batch {
	const char *declarations; /* "@id bigint, @name nvarchar(128)", or "" */
	const char *text;
	const struct local_value *values; /* those that are missing are NULL */
	size_t nvalues;
	struct database *database; /* where it stands */
	int timeout_ms;
};

struct local_set {
	struct local_set *next;
	const struct column *columns;
	size_t ncolumns;
	struct engine_rows rows;
};
struct local_message {
	struct local_message *next;
	struct err err;
};

/* What came of it; owned by the caller, all at once. */
struct local_answer {
	struct local_set *sets;         /* in their order; NULL: none */
	struct local_message *messages; /* errors, too */
	const struct err *error;        /* the first error among them; NULL: none */
	int32_t status;                 /* of the last procedure */
	struct local_run *run;          /* private */
};

/* Blocks, at most a little longer than the time-out: never on a thread of an engine or a loop. -1:
 * the batch could not be begun, or gave no answer in time (ERR_TIMEOUT); what was submitted is
 * cancelled then. Otherwise there is an answer, perhaps with an error in it. Statements that would
 * need a session (transactions, USE, WAITFOR, EXEC of a text) are refused. */
MUST_CHECK int local_run(const struct local_client *client, const struct local_batch *batch,
			 struct local_answer *ret, struct err *reterr);
void local_answer_fini(struct local_answer *a);

#endif
