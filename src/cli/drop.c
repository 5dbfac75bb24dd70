/* drop.c — `procession database drop`: what cannot be undone is asked for by name. */
#include <string.h>

#include "cli/answer.h"

static int not_confirmed(struct err *reterr)
{
	return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
			 "the name was not confirmed; nothing was dropped");
}

/* On the terminal, whatever standard input is; or by --confirm, for scripts. */
static int confirm(const struct cli *cli, const char *name, struct err *reterr)
{
	char answer[256] = "";
	FILE *tty;

	if (cli->confirm != NULL)
		return strcmp(cli->confirm, name) == 0 ? 0 : not_confirmed(reterr);
	tty = fopen("/dev/tty", "r+e");
	if (tty == NULL)
		return err_raise(
			reterr, 50000, CLI_USAGE_SEVERITY, 1,
			"there is no terminal to ask whether database '%.128s' is to be dropped; --confirm "
			"NAME says so",
			name);
	setvbuf(tty, NULL, _IONBF, 0);
	fputs("All that is in database ", tty);
	cli_output_text(tty, name);
	fputs(" will be deleted. Type its name to go on: ", tty);
	fflush(tty);
	if (fgets(answer, sizeof(answer), tty) == NULL)
		answer[0] = '\0';
	fclose(tty);
	answer[strcspn(answer, "\r\n")] = '\0';
	return strcmp(answer, name) == 0 ? 0 : not_confirmed(reterr);
}

int cli_run_database_drop(struct cli *cli, const struct command *cmd)
{
	const struct client_arg args[] = { client_text("@name", cli->args[0]),
					   client_bit("@force", cli->force) };
	struct err e = { 0 };

	(void)cmd;
	if (confirm(cli, cli->args[0], &e) < 0)
		return cli_answer_failed(cli, &e, EXIT_USAGE);
	return cli_answer_call(cli, "procession_database_drop", args, ARRAY_LEN(args),
			       &(struct cli_outcome){ .done = "database dropped" });
}
