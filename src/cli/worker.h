/* worker.h — what `procession worker convert` and `procession worker translate` share. */
#ifndef CLI_WORKER_H
#define CLI_WORKER_H

#include "cli/cli.h"
#include "document/engine.h"
#include "worker/queue.h"
#include "worker/settings.h"

struct cli_worker_kind {
	const struct queue_service *service;
	/* Sections of the file that are the engine's, with their argument; NULL: none. */
	config_entry *section;
	void *section_arg;
	void *check_arg; /* the same, for a file that is only looked at */
	MUST_CHECK int (*start)(const struct cli *cli, const struct worker_settings *s, void *arg,
				struct document_engine *ret, struct err *reterr);
	void *start_arg;
};
/* → exit status */
int cli_worker_run(struct cli *cli, const struct cli_worker_kind *kind);

#endif
