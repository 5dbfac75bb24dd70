/* engine.h — the seam between the supervisor (src/worker) and what works on documents
 * (src/convert, src/translate). The supervisor claims items, opens files and reports; an engine
 * gets descriptors and settings, and gives results. It knows neither server nor path. One thread
 * uses an engine; nothing here blocks longer than a moment, but for stop(). */
#ifndef DOCUMENT_ENGINE_H
#define DOCUMENT_ENGINE_H

#include "base/err.h"
#include "document/errors.h"

/* One document to be worked on. The descriptors belong to the engine from a submit that
 * succeeded until its result was taken; it closes them. Texts are read during submit() only. */
struct document_task {
	uint64_t id; /* the caller's; comes back in the result */
	/* input: regular file, at its beginning; output: empty regular file, read-write */
	int input, output;
	/* for the type by extension where the settings say Automatic, and for messages */
	const char *input_name;
	const char *output_name;
	const char *settings; /* the job's Settings, as stored (XML or empty) */
	size_t settings_len;
	int attempt;      /* 1 for the first: an engine may take another way at the second */
	unsigned seconds; /* time limit from now; 0: the engine's default */
};

struct document_result {
	uint64_t id;
	int error;      /* 0, or a number of errors.def */
	char text[512]; /* for people: what went wrong */
	uint64_t output_size;
	unsigned cpu_ms, wall_ms;
};

struct document_engine_ops {
	/* Takes a document: at most as many at once as the engine has slots. -1: nothing was
	 * taken, the descriptors stay the caller's. */
	int (*submit)(void *engine, const struct document_task *task, struct err *reterr);
	/* readable when next() may have something: for poll(). May change from call to call */
	int (*fd)(void *engine);
	/* 1: a result; 0: none now; -1: the engine died and cannot be renewed. What it had, if
	 * it dies and is renewed, comes as results with an error. */
	int (*next)(void *engine, struct document_result *ret);
	void (*cancel)(void *engine, uint64_t id); /* its result comes all the same, with an error */
	void (*stop)(void *engine);                /* ends everything that runs, waits, frees */
};

/* An engine that has started, as the supervisor is given it. */
struct document_engine {
	const struct document_engine_ops *ops;
	void *engine;
	unsigned slots;
};

#endif
