/* engine_int.h — what the files of the engine share: documents under way, the processes that work
 * on them, pipelines that wait. */
#ifndef TRANSLATE_ENGINE_INT_H
#define TRANSLATE_ENGINE_INT_H

#include "jail/jail.h"
#include "translate/channel.h"
#include "translate/engine.h"
#include "translate/failure.h"
#include "translate/job.h"

#define PIPELINE_DOCUMENTS_MAX 1000 /* then it is renewed: its memory may have grown */

/* A process that was started in a jail. */
struct translate_process {
	struct jail_process jail;
	bool running;   /* until it was reaped */
	int status;     /* as waitpid gives it, once it was */
	int complaints; /* memory file, its standard error; -1: none */
	int failure;    /* memory file for its struct translate_failure; -1: none */
};

/* An engine that talks to documents by two pipes. A pipeline of Apertium serves one document after
 * another, any other engine one. */
struct translate_helper {
	struct translate_process process;
	struct translate_channel channel;
	char mode[512]; /* file of the Apertium mode; "": not Apertium */
	bool busy;
	unsigned documents;
	uint64_t last_used;
};

/* Where a document is on its way. */
enum translate_phase {
	TRANSLATE_FREE,
	TRANSLATE_BEFORE,
	TRANSLATE_UNDER_WAY,
	TRANSLATE_AFTER,
	TRANSLATE_DONE
};

struct translate_document {
	enum translate_phase phase; /* BEFORE and AFTER: it is at the converter */
	uint64_t id, begun, deadline,
		/* milliseconds; grace: until when a helper may say why it failed; 0: not yet */
		grace;
	int input, output; /* the task's */
	/* memory files between converter and translation; -1: none */
	int middle_in, middle_out;
	char name[256], output_name[256]; /* ends only: what tells the type */
	struct translate_job job;
	const struct translate_rule *rule; /* NULL: Apertium */
	struct translate_process process;  /* that takes the document apart */
	struct translate_helper *helper;   /* borrowed from the engine's list; NULL: none */
	struct translate_failure failure;
	unsigned cpu_ms;
	uint64_t ticket; /* of its last task at the converter; 0: none */
};

struct translate_engine {
	struct translate_options options;
	char apertium[256]; /* folder of its data */
	char programs[256]; /* folder of our own */
	int epoll, timer;
	struct translate_document *document; /* options.slots of them */
	struct translate_helper **helper;
	size_t nhelpers, helpers_max;
	struct document_engine converter; /* ops NULL: not started */
	/* given so far; none is given twice, since an answer may come after its document was
	 * cancelled */
	uint64_t tickets;
	int converter_fd;     /* as it is watched; -1: not */
	struct jail_path own; /* our programs, shown inside */
};

/* process.c */
enum translate_program {
	TRANSLATE_PROGRAM_DOCUMENT,
	TRANSLATE_PROGRAM_HTTP,
	TRANSLATE_PROGRAM_SHELL,
	TRANSLATE_PROGRAM_COMMAND
};
/* Starts one. fds: standard input and output, then what follows standard error. rule: of a command;
 * NULL otherwise. */
MUST_CHECK int translate_process_start(struct translate_engine *e, struct translate_process *p,
				       enum translate_program program, const struct translate_rule *rule,
				       const char *const *argv, const int *fds, size_t nfds,
				       struct translate_failure *f);
/* Whether it has ended by itself; then it is reaped, its CPU time added. */
bool translate_process_ended(struct translate_process *p, unsigned *cpu_ms);
/* Kills it, if it runs, and forgets what it left. */
void translate_process_end(struct translate_process *p);
/* The failure that it left, or one that says how it ended. True if there is any. */
bool translate_process_failure(const struct translate_process *p, const char *who,
			       struct translate_failure *f);

/* helpers.c: the engine for a document, an idle pipeline or a new process. */
MUST_CHECK int translate_helper_take(struct translate_engine *e, struct translate_document *d,
				     struct translate_failure *f);
/* Done with it: a pipeline that is sound goes back to the others, everything else ends. */
void translate_helper_give(struct translate_engine *e, struct translate_helper *h, bool sound);
/* Pipelines that died while they waited are no use to anybody. */
void translate_helpers_sweep(struct translate_engine *e);
void translate_helpers_end(struct translate_engine *e);

/* document.c: one step after the other. */
MUST_CHECK int translate_document_begin(struct translate_engine *e, struct translate_document *d);
/* Looks what has ended and goes on; true when it is done. */
bool translate_document_advance(struct translate_engine *e, struct translate_document *d, uint64_t now);
/* What the converter says about it. */
void translate_document_converted(struct translate_engine *e, struct translate_document *d,
				  const struct document_result *r);
void translate_document_stop(struct translate_engine *e, struct translate_document *d, int error,
			     const char *why);
void translate_document_release(struct translate_engine *e, struct translate_document *d);

uint64_t translate_now(void);

#endif
