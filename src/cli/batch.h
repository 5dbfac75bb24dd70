/* batch.h — documents of the command line as a job: what `procession convert` and `procession
 * translate` share. */
#ifndef CLI_BATCH_H
#define CLI_BATCH_H

#include "cli/cli.h"
#include "document/engine.h"
#include "worker/queue.h"
#include "worker/settings.h"
#include "worker/worker.h"

/* What differs between the two. */
struct cli_batch_kind {
	const struct queue_service *service;
	const char *past;              /* "converted" */
	const char *const *extensions; /* of documents in folders, without the dot; NULL at the end */
	/* The job's Settings; from malloc. NULL: a wrong option, *reterr says which. */
	char *(*settings)(const struct cli *cli, struct err *reterr);
	/* What becomes of a document, as a name beside it; from malloc, NULL without memory. */
	char *(*output)(const struct cli *cli, const char *input);
	MUST_CHECK int (*start)(const struct cli *cli, const struct worker_settings *s, void *arg,
				struct document_engine *ret, struct err *reterr);
	void *start_arg;
	/* A document of a folder that has the name of another one's output is that output. */
	bool knows_its_outputs;
};
/* → exit status */
int cli_batch_run(struct cli *cli, const struct cli_batch_kind *kind);

/* gather.c */
struct cli_document {
	char *base, *input; /* a folder, and the name below it */
	char *out_base, *output;
	bool found; /* in a folder; else it was named */
};
struct cli_documents {
	struct cli_document *list;
	size_t n, room, skipped;
};
/* Documents that the paths name, in their order. */
MUST_CHECK int cli_documents_gather(const struct cli *cli, const struct cli_batch_kind *kind,
				    struct cli_documents *ret, struct err *reterr);
void cli_documents_fini(struct cli_documents *d);

/* submit.c: adds the job with its groups and submits it. */
MUST_CHECK int cli_submit(struct cli *cli, const struct cli_batch_kind *kind, struct client *c,
			  const struct cli_documents *d, int64_t *ret_job, struct err *reterr);

/* progress.c: the status line, or plain lines where it is no terminal. */
struct cli_progress;
struct cli_progress *cli_progress_new(const struct cli *cli, size_t total); /* NULL: no memory */
void cli_progress_begun(void *progress, const struct worker_event *e);
void cli_progress_ended(void *progress, const struct worker_event *e);
/* In place of these two, where others do the work. */
void cli_progress_counted(void *progress, size_t done, size_t failed);
void cli_progress_tick(void *progress);
void cli_progress_end(struct cli_progress *p); /* clears the line, frees */

/* standing.c: whether workers are there that take the job, which must reach all of its folders:
 * those of the documents, or of the job's groups where it is not 0. */
MUST_CHECK int cli_standing_check(struct client *c, const struct cli_documents *d, int64_t job,
				  bool *ret_there, struct err *reterr);
/* Until they have finished it, or none is there any more. */
MUST_CHECK int cli_standing_watch(const struct cli *cli, struct client *c, int64_t job, size_t total,
				  bool *ret_gone, struct err *reterr);

/* ownserver.c: without a server that was named, the machine's own when this user may, else one
 * that lives as long as commands use it. Sets cli->data. */
struct cli_own_server;
MUST_CHECK int cli_own_server_find(struct cli *cli, struct cli_own_server **ret, struct err *reterr);
void cli_own_server_leave(struct cli_own_server *s); /* NULL is welcome */

/* homes.c: folders of the user's own; false: no home, or too long. */
bool cli_home_data(char *dst, size_t size);                       /* ~/.local/share/procession */
bool cli_home_state(const char *service, char *dst, size_t size); /* ~/.local/state/procession/SERVICE */

#endif
