/* local_int.h — private: a batch while it runs.
 *
 * It lives on the heap and is counted by two: who waits for it, and the call that is with an
 * engine. A disk that does not answer keeps the call, not the thread that waited for it. */
#ifndef LOCAL_LOCAL_INT_H
#define LOCAL_LOCAL_INT_H

#include <pthread.h>

#include "base/lock.h"
#include "base/log.h"
#include "local/local.h"
#include "metadata/metadata.h"
#include "tsql/tsql.h"

struct local_run {
	struct local_client client;
	struct database *database;
	struct log_ctx log; /* whose lines in the log; its texts are client's */
	int timeout_ms;
	int64_t deadline_ms; /* monotonic */
	struct arena arena;
	struct tsql_session vars;
	struct tsql_host host;
	struct tsql_run run;
	struct sink sink;
	struct call call;
	/* collected; the engine's while a call is with it */
	struct local_set *sets, *last_set;
	struct local_message *messages, *last_message;
	size_t nsets, nmessages;
	size_t mark_sets, mark_messages;
	uint64_t mark_rows;
	int32_t status;
	/* the call in flight */
	struct lock lock;
	pthread_cond_t wake;
	bool inflight, abandoned; /* under the lock */
};

/* host.c: what the language asks. */
extern const struct tsql_host_ops local_host_ops;
uint8_t local_rights(const struct local_run *r, const struct database *db);
/* collect.c: rows and messages, kept in the arena. */
extern const struct sink_ops local_sink_ops;
/* Takes the last result set away: its last row, or NULL. */
const struct value *local_take_last_row(struct local_run *r, uint64_t *ret_rows);
/* call.c: submits r->call, and waits. -1: it gave no answer in time, and r belongs to the call. */
MUST_CHECK int local_call(struct local_run *r, struct engine_database *db);
void local_call_make(struct local_run *r, enum call_kind kind, const struct database *db);
void local_free(struct local_run *r);

#endif
