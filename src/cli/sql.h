/* sql.h — what the files of `procession sql` share. */
#ifndef CLI_SQL_H
#define CLI_SQL_H

#include "cli/cli.h"
#include "cli/sqltext.h"

/* Who asks, and what was typed so far. */
struct sql {
	struct cli *cli;
	struct client *client; /* owned; NULL: the connection was lost */
	struct cli_sqltext text;
	unsigned first_line; /* of the batch, in the input */
	unsigned line;       /* that was read last */
	bool numbered;       /* errors name the line of the input, not of the batch */
	int status;          /* of the last batch that failed; EXIT_OK: none */
};

/* sql.c. Sends what was gathered, as often as times says, shows what comes back, and begins anew.
 * -1: it failed, and has been shown; q->status says how. */
MUST_CHECK int cli_sql_send(struct sql *q, unsigned times);
/* sqlprompt.c: asks on the terminal, until the user leaves. */
int cli_sql_prompt(struct sql *q);

#endif
