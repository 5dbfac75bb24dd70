/* scheduler.c — `procession scheduler`: settings and connection for the scheduler of
 * src/scheduler. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/scheduler.h"

static int open_connection(void *arg, struct client **ret, struct err *reterr)
{
	struct cli *cli = arg;
	int rc = cli_connect(cli, ret, reterr);

	cli->connect_status = rc < 0 ? cli_connect_status(reterr) : EXIT_OK;
	return rc;
}

/* What the command line says goes before the file. */
static int apply_options(const struct cli *cli, struct settings *s, struct err *reterr)
{
	/* Once means what is due now: nothing is to be waited for. */
	const char *interval = cli->interval != NULL ? cli->interval : cli->once ? "1" : NULL;

	if (interval != NULL && scheduler_settings_set(s, "interval", interval, reterr) < 0)
		return -1;
	if (cli->state != NULL && scheduler_settings_set(s, "state", cli->state, reterr) < 0)
		return -1;
	if (s->nhandlers == 0)
		return err_raise(reterr, 50000, 16, 1,
				 "no handler is configured: the file needs a section such as "
				 "[handler:UserProfileImportJob] with command = /path");
	return 0;
}

static int load(void *arg, struct settings **ret, struct err *reterr)
{
	const struct cli *cli = arg;
	struct settings *s = scheduler_settings_new();

	if (s == NULL)
		return err_nomem(reterr);
	if (scheduler_settings_load(s, cli->config, reterr) < 0 || apply_options(cli, s, reterr) < 0) {
		scheduler_settings_unref(s);
		return -1;
	}
	*ret = s;
	return 0;
}

int cli_run_scheduler(struct cli *cli, const struct command *cmd)
{
	struct scheduler_options o = { .load = load, .open = open_connection, .arg = cli, .once = cli->once };
	enum scheduler_end end = SCHEDULER_DONE;
	struct err e = { 0 };
	int rc;

	(void)cmd;
	if (cli->config == NULL) {
		fputs("procession: --config is missing: a file that says which command runs the jobs of "
		      "which class\n",
		      stderr);
		return EXIT_USAGE;
	}
	rc = load(cli, &o.settings, &e);
	if (rc == 0) {
		cli_connect_to(cli, &cli_kind_schedule,
			       cli->database != NULL ? cli->database : o.settings->database);
		rc = scheduler_run(&o, &end, &e);
	}
	scheduler_settings_unref(o.settings);
	if (rc < 0) {
		cli_output_error(&e, cli->json);
		return EXIT_USAGE;
	}
	return end == SCHEDULER_DONE             ? EXIT_OK
	       : end == SCHEDULER_HANDLER_FAILED ? EXIT_REFUSED
	       : cli->connect_status != EXIT_OK  ? cli->connect_status
	       : end == SCHEDULER_UNREACHABLE    ? EXIT_UNREACHABLE
						 : EXIT_REFUSED;
}
