/* call.c — one procedure call: arguments by name and type, sent as an RPC request; or a batch of
 * text. */
#include "client/client_int.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

/* nvarchar as TDS 7 has it: db-lib knows it but its header does not name it, and SYBNVARCHAR
 * goes out as Sybase's. */
#define WIDE_TEXT 231

static bool add_argument(DBPROCESS *db, const struct client_arg *a, DBINT *number, DBBIGINT *large,
			 DBBIT *bit)
{
	switch (a->type) {
	case CLIENT_TEXT: {
		size_t n = a->text != NULL ? strlen(a->text) : 0;
		if (n > INT32_MAX)
			return false;
		/* db-lib takes a length of 0 for NULL: an empty text cannot be said by it. */
		return dbrpcparam(db, a->name, 0, WIDE_TEXT, -1, (DBINT)n,
				  (BYTE *)(n > 0 ? a->text : NULL)) != FAIL;
	}
	case CLIENT_INT:
		*number = (DBINT)a->number;
		return dbrpcparam(db, a->name, 0, SYBINT4, -1, -1, (BYTE *)number) != FAIL;
	case CLIENT_BIT:
		*bit = a->number != 0;
		return dbrpcparam(db, a->name, 0, SYBBIT, -1, -1, (BYTE *)bit) != FAIL;
	case CLIENT_BIGINT:
		*large = a->number;
		return dbrpcparam(db, a->name, 0, SYBINT8, -1, -1, (BYTE *)large) != FAIL;
	case CLIENT_BINARY:
		return a->number > 0 && a->number <= INT32_MAX &&
		       dbrpcparam(db, a->name, 0, SYBVARBINARY, -1, (DBINT)a->number, (BYTE *)a->text) !=
			       FAIL;
	}
	return false;
}

/* The values of numbers must stay where they are until the request has been sent. */
#define ARGS_MAX 32

static bool send_call(DBPROCESS *db, const char *proc, const struct client_arg *args, size_t nargs)
{
	DBINT numbers[ARGS_MAX];
	DBBIGINT large[ARGS_MAX];
	DBBIT bits[ARGS_MAX];

	assert(db != NULL && nargs <= ARGS_MAX);
	if (dbrpcinit(db, proc, 0) == FAIL)
		return false;
	for (size_t i = 0; i < nargs; i++)
		if (!add_argument(db, &args[i], &numbers[i], &large[i], &bits[i]))
			return false;
	return dbrpcsend(db) != FAIL && dbsqlok(db) != FAIL;
}

/* What has been sent is read to its end; what failed is told. */
static int finish(struct client *c, struct report *report, bool sent, struct client_result *ret,
		  struct err *reterr)
{
	bool nomem = false, ok = sent && client_result_read(c->db, ret, &nomem);

	assert(!ok || !nomem);
	if (!ok)
		dbcancel(c->db);
	if (client_report_end(report, !ok && !nomem, c->address, reterr) < 0)
		return -1;
	return nomem ? err_nomem(reterr) : 0;
}

int client_batch(struct client *c, const char *text, struct client_result *ret, struct err *reterr)
{
	struct report report;

	memset(ret, 0, sizeof(*ret));
	client_report_begin(&report, ret);
	return finish(c, &report, dbcmd(c->db, text) != FAIL && dbsqlexec(c->db) != FAIL, ret, reterr);
}

/* Until the server says something: 1, or the stir came first: 0. -1: neither. */
static int wait_for_answer(DBPROCESS *db, int stir, int limit_ms)
{
	struct pollfd fds[] = { { .fd = dbiordesc(db), .events = POLLIN }, { .fd = stir, .events = POLLIN } };
	int n;

	assert(fds[0].fd >= 0 && limit_ms >= 0); /* nobody waits for a server without a limit */
	do
		n = poll(fds, ARRAY_LEN(fds), limit_ms);
	while (n < 0 && errno == EINTR);
	return n <= 0 ? -1 : fds[0].revents != 0;
}

int client_batch_unless(struct client *c, const char *text, int stir, int limit_ms, struct client_result *ret,
			struct err *reterr)
{
	struct report report;
	int rc;

	memset(ret, 0, sizeof(*ret));
	client_report_begin(&report, ret);
	if (dbcmd(c->db, text) == FAIL || dbsqlsend(c->db) == FAIL)
		return finish(c, &report, false, ret, reterr);
	rc = wait_for_answer(c->db, stir, limit_ms);
	if (rc == 1)
		return finish(c, &report, dbsqlok(c->db) != FAIL, ret, reterr);
	if (rc == 0 && dbcancel(c->db) != FAIL)
		return client_report_end(&report, false, c->address, reterr) < 0 ? -1 : 1;
	if (client_report_end(&report, true, c->address, reterr) == 0 || rc < 0)
		err_raise(reterr, 50000, 16, 1, "%s has not answered for %d ms", c->address, limit_ms);
	return -1;
}

int client_call(struct client *c, const char *proc, const struct client_arg *args, size_t nargs,
		struct client_result *ret, struct err *reterr)
{
	struct report report;

	memset(ret, 0, sizeof(*ret));
	if (nargs > ARGS_MAX)
		return err_raise(reterr, 50000, 16, 1, "more than %d arguments", ARGS_MAX);
	client_report_begin(&report, ret);
	return finish(c, &report, send_call(c->db, proc, args, nargs), ret, reterr);
}
