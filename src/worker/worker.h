/* worker.h — the supervisor: takes items from a job service, has an engine work on them, reports
 * how they ended. It is a client of any server that has the procedures, and knows neither
 * LibreOffice nor Apertium. Several may work on one queue; every item is worked on by one of
 * them at a time. */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "client/client.h"
#include "document/engine.h"
#include "document/places.h"
#include "worker/queue.h"

/* What somebody who looks on is told, from the thread of worker_run. */
struct worker_event {
	const struct queue_key *key;
	const char *input, *output; /* names in their group */
	int error;                  /* of errors.def; 0 */
	const char *text;           /* for people */
	bool final;                 /* no further attempt */
	unsigned cpu_ms, wall_ms;
};
struct worker_watch {
	void (*begun)(void *arg, const struct worker_event *e);
	void (*ended)(void *arg, const struct worker_event *e);
	void (*tick)(void *arg); /* now and then, at least every 200 ms while something runs */
	void *arg;
};

struct worker_options {
	const struct queue_service *service;
	struct document_engine engine; /* the caller stops it afterwards */
	struct document_places *places;
	/* Opens a connection to the service's database; called from another thread, again after
	 * each failure. */
	int (*open)(void *arg, struct client **ret, struct err *reterr);
	void *arg;
	const char *state;    /* folder of the journal; NULL: none */
	bool state_is_locked; /* by the caller, until worker_run is over */
	const char *history;  /* folder of the history; NULL: none */
	unsigned limit_s;     /* for one document, from its start on */
	unsigned stale_s;     /* a start that lies so far back was a dead worker's; well above limit_s */
	unsigned interval_ms; /* between two questions when nothing waits */
	unsigned grace_s;     /* for what runs, after SIGTERM */
	bool once;            /* ends when nothing waits */
	bool one_job;         /* only items of this job; ends when it is finished */
	int64_t job;
	const struct worker_watch *watch; /* NULL: nobody looks on */
	/* SIGHUP: whether the worker shall end, so that it can be started with other settings; it
	 * finishes what it has. NULL: the signal is not looked at. */
	bool (*renews)(void *arg);
};

enum worker_end {
	WORKER_DONE,
	WORKER_STOPPED /* by a signal */,
	WORKER_RENEWED /* by SIGHUP */,
	WORKER_ENGINE_DIED,
	/* once, one_job: the server went away for good; once: it was never of use. *reterr: why */
	WORKER_UNREACHABLE
};

/* Until SIGTERM or SIGINT: nothing new is claimed, what runs has grace_s, the rest is put back;
 * a second signal puts it back at once. -1: could not begin. Blocks these signals. */
MUST_CHECK int worker_run(const struct worker_options *o, enum worker_end *ret, struct err *reterr);

#endif
