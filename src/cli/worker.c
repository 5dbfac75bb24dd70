/* worker.c — see worker.h: settings, connection and engine of a worker that stays. */
#include "cli/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/log.h"
#include "cli/batch.h"
#include "worker/worker.h"

#define STATE_MAX 4096

#define CMDLINE_MAX ((size_t)1 << 20)
#define WORDS_MAX 1024

/* What the worker's callbacks are given. */
struct running {
	struct cli *cli;
	const struct cli_worker_kind *kind;
};

static int open_connection(void *arg, struct client **ret, struct err *reterr)
{
	struct cli *cli = ((struct running *)arg)->cli;
	int rc = cli_connect(cli, ret, reterr);

	cli->connect_status = rc < 0 ? cli_connect_status(reterr) : EXIT_OK;
	return rc;
}

/* What the command line says goes before the file. */
static int load(const struct cli *cli, const struct cli_worker_kind *kind, void *section_arg,
		struct worker_settings *s, struct err *reterr)
{
	const struct {
		const char *name, *value;
	} given[] = {
		{ "slots", cli->jobs }, { "roots", cli->root }, { "state", cli->state }, { "jail", cli->jail }
	};

	if (cli->config != NULL &&
	    worker_settings_load(s, cli->config, kind->section, section_arg, reterr) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		if (given[i].value != NULL &&
		    worker_settings_set(s, given[i].name, given[i].value, reterr) < 0)
			return -1;
	if (s->roots[0] == '\0' && s->hosts[0] == '\0')
		return err_raise(reterr, 50000, 16, 1,
				 "a worker needs folders that it may use: --root /srv/documents, or roots "
				 "and hosts in the file of --config");
	return worker_settings_check(s, reterr);
}

/* SIGHUP: settings that cannot be are told, and the worker goes on with those that it has. */
static bool renews(void *arg)
{
	const struct running *r = arg;
	struct worker_settings s;
	struct err e = { 0 };
	int rc;

	rc = worker_settings_init(&s, &e);
	if (rc == 0)
		rc = load(r->cli, r->kind, r->kind->check_arg, &s, &e);
	worker_settings_fini(&s);
	if (rc < 0)
		LOG(LOG_ERROR, NULL, "settings", F_STR("why", e.text),
		    F_STR("effect", "those that were read before stay"));
	return rc == 0;
}

/* The same command once more, in this process: all settings are read anew, and nothing of the old
 * ones stays. Returns when that is not possible. */
static void start_again(void)
{
	static const char self[] = "/proc/self/cmdline";
	FILE *f = fopen(self, "re");
	char *text = calloc(1, CMDLINE_MAX + 1), *words[WORDS_MAX + 1];
	size_t n = f != NULL && text != NULL ? fread(text, 1, CMDLINE_MAX, f) : 0, count = 0;

	if (f != NULL)
		fclose(f);
	for (size_t i = 0; i < n && count < WORDS_MAX; i += strlen(text + i) + 1)
		words[count++] = text + i;
	words[count] = NULL;
	if (count > 0)
		execv("/proc/self/exe", words);
	LOG(LOG_ERROR, NULL, "renewing", F_STR("why", strerror(errno)));
	free(text);
}

/* Where claims are remembered, and where people look for what failed. */
static int choose_folders(const struct cli_worker_kind *kind, const struct worker_settings *s,
			  char state[STATE_MAX], char history[STATE_MAX], struct err *reterr)
{
	if (s->state[0] != '\0') {
		snprintf(state, STATE_MAX, "%s", s->state);
		snprintf(history, STATE_MAX, "%s", s->state);
	} else if (cli_home_state(kind->service->name, history, STATE_MAX - 8)) {
		snprintf(state, STATE_MAX, "%.*s/worker", STATE_MAX - 8, history);
	} else {
		return err_raise(
			reterr, 50000, 16, 1,
			"there is no home folder to remember in what was claimed: give one with --state");
	}
	return folder_make(state) ? 0 : err_raise(reterr, 50000, 16, 1, "cannot make the folder '%s'", state);
}

static int run(struct cli *cli, const struct cli_worker_kind *kind, const struct worker_settings *s,
	       enum worker_end *ret, struct err *reterr)
{
	char state[STATE_MAX], history[STATE_MAX];
	struct running running = { cli, kind };
	struct worker_options o = { .service = kind->service,
				    .open = open_connection,
				    .renews = renews,
				    .arg = &running,
				    .limit_s = (unsigned)s->time_limit,
				    .stale_s = (unsigned)s->stale_after,
				    .interval_ms = (unsigned)s->interval,
				    .grace_s = (unsigned)s->grace,
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

/* Somebody who wanted one pass is told what was wrong, apart from the log. */
static int tell_unreachable(const struct cli *cli, const struct err *e)
{
	cli_output_error(e, cli->json);
	return cli->connect_status != EXIT_OK ? cli->connect_status
	       : client_is_lost(e)            ? EXIT_UNREACHABLE
					      : EXIT_REFUSED;
}

int cli_worker_run(struct cli *cli, const struct cli_worker_kind *kind)
{
	struct worker_settings s;
	enum worker_end end = WORKER_DONE;
	struct err e = { 0 };
	int rc;

	rc = worker_settings_init(&s, &e);
	if (rc == 0)
		rc = load(cli, kind, kind->section_arg, &s, &e);
	if (rc == 0) {
		log_set_level((enum log_level)s.log_level);
		cli_connect_to(cli, kind->service->translation ? &cli_kind_translate : &cli_kind_convert,
			       cli->database != NULL ? cli->database : s.database);
		rc = run(cli, kind, &s, &end, &e);
	}
	worker_settings_fini(&s);
	if (rc < 0) {
		cli_output_error(&e, cli->json);
		return EXIT_USAGE;
	}
	if (end == WORKER_RENEWED)
		start_again();
	return end == WORKER_ENGINE_DIED || end == WORKER_RENEWED ? EXIT_REFUSED
	       : end == WORKER_UNREACHABLE                        ? tell_unreachable(cli, &e)
								  : EXIT_OK;
}
