/* worker.c — see worker.h: settings, connection and engine of a worker that stays. */
#include "cli/worker.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cli/batch.h"
#include "worker/worker.h"

#define STATE_MAX 4096

static int open_connection(void *arg, struct client **ret, struct err *reterr)
{
	return cli_connect(arg, ret, reterr);
}

/* What the command line says goes before the file. */
static int load(const struct cli *cli, const struct cli_worker_kind *kind, struct worker_settings *s,
		struct err *reterr)
{
	const struct {
		const char *name, *value;
	} given[] = {
		{ "slots", cli->jobs }, { "roots", cli->root }, { "state", cli->state }, { "jail", cli->jail }
	};

	if (cli->config != NULL &&
	    worker_settings_load(s, cli->config, kind->section, kind->section_arg, reterr) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		if (given[i].value != NULL &&
		    worker_settings_set(s, given[i].name, given[i].value, reterr) < 0)
			return -1;
	if (s->roots == NULL && s->hosts == NULL)
		return err_raise(reterr, 50000, 16, 1,
				 "a worker needs folders that it may use: --root /srv/documents, or roots "
				 "and hosts in the file of --config");
	return worker_settings_check(s, reterr);
}

/* Where claims are remembered, and where people look for what failed. */
static int choose_folders(const struct cli_worker_kind *kind, const struct worker_settings *s,
			  char state[STATE_MAX], char history[STATE_MAX], struct err *reterr)
{
	if (s->state != NULL) {
		snprintf(state, STATE_MAX, "%s", s->state);
		snprintf(history, STATE_MAX, "%s", s->state);
	} else if (cli_home_state(kind->service->name, history, STATE_MAX - 8)) {
		snprintf(state, STATE_MAX, "%.*s/worker", STATE_MAX - 8, history);
	} else {
		return err_raise(
			reterr, 50000, 16, 1,
			"there is no home folder to remember in what was claimed: give one with --state");
	}
	return cli_make_folders(state)
		       ? 0
		       : err_raise(reterr, 50000, 16, 1, "cannot make the folder '%s'", state);
}

static int run(struct cli *cli, const struct cli_worker_kind *kind, const struct worker_settings *s,
	       enum worker_end *ret, struct err *reterr)
{
	char state[STATE_MAX], history[STATE_MAX];
	struct worker_options o = { .service = kind->service,
				    .open = open_connection,
				    .arg = cli,
				    .limit_s = s->limit_s,
				    .stale_s = s->stale_s,
				    .interval_ms = s->interval_ms,
				    .grace_s = s->grace_s,
				    .once = cli->once,
				    .state = state,
				    .history = history };
	int rc = choose_folders(kind, s, state, history, reterr);

	if (rc == 0)
		rc = worker_settings_places(s, &o.places, reterr);
	if (rc == 0)
		rc = kind->start(cli, s, kind->start_arg, &o.engine, reterr);
	if (rc == 0) {
		LOG(LOG_INFO, NULL, "worker", F_STR("service", kind->service->name),
		    F_STR("version", PROCESSION_VERSION), F_INT("slots", o.engine.slots),
		    F_STR("state", state), F_STR("roots", s->roots), F_STR("hosts", s->hosts));
		rc = worker_run(&o, ret, reterr);
		o.engine.ops->stop(o.engine.engine);
	}
	document_places_free(o.places);
	return rc;
}

int cli_worker_run(struct cli *cli, const struct cli_worker_kind *kind)
{
	struct worker_settings s;
	enum worker_end end = WORKER_DONE;
	struct err e = { 0 };
	int rc;

	worker_settings_init(&s);
	rc = load(cli, kind, &s, &e);
	if (rc == 0) {
		log_set_level(s.log_level);
		cli->connect_database = cli->database != NULL ? cli->database
					: s.database != NULL  ? s.database
							      : kind->service->database;
		rc = run(cli, kind, &s, &end, &e);
	}
	worker_settings_fini(&s);
	if (rc < 0) {
		cli_output_error(&e, cli->json);
		return EXIT_USAGE;
	}
	return end == WORKER_ENGINE_DIED   ? EXIT_REFUSED
	       : end == WORKER_UNREACHABLE ? EXIT_UNREACHABLE
					   : EXIT_OK;
}
