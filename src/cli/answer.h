/* answer.h — most commands are one call of a procedure: connect, call, show what comes back. */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include "cli/cli.h"

/* What a command may say besides the server's own results. */
struct cli_outcome {
	const char *const *titles; /* of the result sets, ended by NULL: JSON stays one value. NULL: none */
	const char *done;          /* a sentence for people */
	const char *login;         /* with password: a generated one that must be shown */
	const char *password;
	/* exit status by what came back; NULL: by the return status alone */
	int (*judge)(const struct client_result *r);
};

/* Shows the error; gives the status. */
int cli_answer_failed(const struct cli *cli, const struct err *e, int status);
/* A command without a result has done its work: a sentence, or {"ok": true}. */
void cli_answer_done(const struct cli *cli, const char *text);
/* Something that the server does in a thread, by its id: begins it, and gives the id; ends it, or
 * says that the server could not be told. */
MUST_CHECK int cli_answer_begin(struct client *c, const char *proc, const struct client_arg *args,
				size_t nargs, char *ret_id, size_t size, struct err *reterr);
void cli_answer_end(struct client *c, const char *proc, const char *id, const char *untold);
/* Connects, calls, and shows the result sets, or the outcome when there are none. o may be NULL. */
int cli_answer_call(struct cli *cli, const char *proc, const struct client_arg *args, size_t nargs,
		    const struct cli_outcome *o);

#endif
