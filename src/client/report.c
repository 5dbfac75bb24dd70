/* report.c — errors and messages. db-lib calls two handlers that belong to the whole process,
 * also before a connection has a handle to hang data on; so the receiver is a variable of the
 * thread, set for the duration of one of our functions. */
#include "client/client_int.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/str.h"

/* The numbers of the library's own errors. */
#define DBLIB_FIRST 20000
#define DBLIB_END 21000

/* global: db-lib gives its handlers nothing by which they could find the receiver */
static _Thread_local struct report *current;

static int on_error(DBPROCESS *db, int severity, int number, int os_error, char *text, char *os_text)
{
	(void)db;
	(void)severity;
	/* SYBESMSG: "check messages from the server", which have been recorded with their text */
	if (current != NULL && current->trouble.number == 0 && number != SYBESMSG) {
		if (number == SYBECONN)
			err_raise(&current->trouble, number, 16, 1, "cannot connect: %s",
				  os_error > 0 && os_text != NULL ? os_text : "no answer");
		else if (number == SYBEFCON) /* its text names our section, which nobody has chosen */
			err_raise(&current->trouble, number, 16, 1,
				  "the server was reached, but no login was possible: its certificate does "
				  "not fit "
				  "--ca-file or its name, it does not speak TLS as --encrypt wants it, or it "
				  "is no "
				  "SQL Server");
		else if (os_error != DBNOERR && os_error != 0 && os_text != NULL)
			err_raise(&current->trouble, number, 16, 1, "%s (%s)", text, os_text);
		else
			err_raise(&current->trouble, number, 16, 1, "%s", text);
	}
	return INT_CANCEL; /* also for a time-out: the call ends */
}

bool client_is_lost(const struct err *e)
{
	return e->number >= DBLIB_FIRST && e->number < DBLIB_END;
}

static int on_message(DBPROCESS *db, DBINT number, int state, int severity, char *text, char *server,
		      char *proc, int line)
{
	struct err e = { 0 };

	(void)db;
	(void)server;
	if (current == NULL)
		return 0;
	err_raise(&e, number, (uint8_t)severity, (uint8_t)state, "%s", text);
	e.line = line;
	if (proc != NULL)
		str_copy(e.proc, sizeof(e.proc), str_of(proc));
	if (severity > 10) {
		if (current->error.number == 0)
			current->error = e;
	} else if (current->result != NULL && number != ERR_CONTEXT_NUMBER && number != ERR_LANGUAGE_NUMBER) {
		/* without memory a remark is lost, nothing more */
		if (!client_result_add_message(current->result, &e))
			return 0;
	}
	return 0;
}

/* global: db-lib is set up once for the process */
static RETCODE init_result = FAIL;

static void init_once(void)
{
	init_result = dbinit();
	dberrhandle(on_error);
	dbmsghandle(on_message);
}

int client_report_init(struct err *reterr)
{
	/* global: the same */
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (pthread_once(&once, init_once) != 0 || init_result == FAIL)
		return err_raise(reterr, 50000, 16, 1, "the FreeTDS library could not be initialised");
	return 0;
}

void client_report_begin(struct report *r, struct client_result *result)
{
	assert(current == NULL); /* one function at a time on this thread: invariant 3 */
	memset(r, 0, sizeof(*r));
	r->result = result;
	current = r;
}

int client_report_end(struct report *r, bool failed, const char *address, struct err *reterr)
{
	assert(current == r);
	current = NULL;
	if (r->error.number != 0) {
		*reterr = r->error;
		return -1;
	}
	if (!failed)
		return 0;
	return err_raise(reterr, r->trouble.number != 0 ? r->trouble.number : 50000, 16, 1, "%s: %s", address,
			 r->trouble.number != 0 ? r->trouble.text : "the connection failed");
}
