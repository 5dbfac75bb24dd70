/* batch.c — see batch.h: a job is added and worked on here, in this process, until it is finished,
 * unless workers stand that do it. */
#include "cli/batch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/folder.h"
#include "base/log.h"
#include "cli/jobs.h"

#define STATES_MAX 64

struct batch {
	struct cli *cli;
	const struct cli_batch_kind *kind;
	struct cli_documents documents;
	struct cli_own_server *own;
	char history[4096]; /* folder */
	char state[4200];   /* of this process, below it */
	struct folder_lock lock;
	int64_t job;
	size_t total;
	bool left;     /* to workers that stand */
	int64_t begun; /* monotonic ms */
};

/* --- what was interrupted --- */

static bool last_path(const struct batch *b, char *dst, size_t size)
{
	return snprintf(dst, size, "%s/last", b->history) < (int)size;
}

static void remember_job(const struct batch *b)
{
	char path[4200];
	FILE *f = last_path(b, path, sizeof(path)) ? fopen(path, "we") : NULL;

	if (f != NULL) {
		fprintf(f, "%lld\n", (long long)b->job);
		fclose(f);
	}
}

static int recall_job(struct batch *b, struct err *reterr)
{
	char path[4200], line[32] = "";
	FILE *f = last_path(b, path, sizeof(path)) ? fopen(path, "re") : NULL;
	long long job = 0;

	if (f != NULL && fgets(line, sizeof(line), f) != NULL)
		job = strtoll(line, NULL, 10);
	if (job == 0)
		err_raise(reterr, 50000, 16, 1,
			  "there is nothing to go on with: no job was added by this command yet");
	if (f != NULL)
		fclose(f);
	b->job = job;
	return job != 0 ? 0 : -1;
}

/* --- beginning --- */

/* A folder that no other command uses, kept to the end: after a crash the next one finds what was
 * left there. */
static int choose_state(struct batch *b, struct err *reterr)
{
	if (b->cli->state != NULL)
		snprintf(b->history, sizeof(b->history), "%s", b->cli->state);
	else if (!cli_home_state(b->kind->service->name, b->history, sizeof(b->history)))
		return err_raise(
			reterr, 50000, 16, 1,
			"there is no home folder to remember in what is done: give one with --state");
	for (int i = 1; i <= STATES_MAX; i++) {
		snprintf(b->state, sizeof(b->state), "%s/%d", b->history, i);
		if (!folder_make(b->state))
			return err_raise(reterr, 50000, 16, 1, "cannot make the folder '%s'", b->state);
		if (folder_lock(b->state, &b->lock))
			return 0;
	}
	return err_raise(reterr, 50000, 16, 1, "more than %d commands use the folder '%s'", STATES_MAX,
			 b->history);
}

static int count_job(struct batch *b, struct client *c, struct err *reterr)
{
	struct queue_counts k;
	int rc = worker_queue_status(c, b->job, NULL, &k, NULL, reterr);

	if (rc == 0)
		rc = err_raise(reterr, 50000, 16, 1, "the server has no job %lld", (long long)b->job);
	b->total = rc == 1 ? (size_t)k.total : 0;
	return rc == 1 ? 0 : -1;
}

/* What died here, in this folder, began items of it that only we can give back at once. */
static bool owes_something(const struct batch *b)
{
	char path[4300];
	struct stat st;

	snprintf(path, sizeof(path), "%s/journal", b->state);
	return b->cli->resume && stat(path, &st) == 0 && st.st_size > 0;
}

static int find_workers(struct batch *b, struct client *c, struct err *reterr)
{
	if (b->cli->queue)
		return 0;
	if (cli_standing_check(c, &b->documents, b->job, &b->left, reterr) < 0)
		return -1;
	b->left = b->left && !owes_something(b);
	return 0;
}

/* The job is there and submitted afterwards. */
static int prepare(struct batch *b, struct err *reterr)
{
	struct client *c;
	int rc;

	cli_connect_to(b->cli, b->kind->service->translation ? &cli_kind_translate : &cli_kind_convert,
		       b->cli->database);
	if (cli_connect(b->cli, &c, reterr) < 0)
		return -1;
	if (b->cli->resume) {
		rc = recall_job(b, reterr);
		if (rc == 0)
			rc = count_job(b, c, reterr);
		if (rc == 0)
			rc = find_workers(b, c, reterr);
	} else {
		rc = find_workers(b, c, reterr);
		if (rc == 0)
			rc = cli_submit(b->cli, b->kind, c, &b->documents, &b->job, reterr);
		b->total = b->documents.n;
		if (rc == 0)
			remember_job(b);
	}
	client_close(c);
	return rc;
}

/* --- working --- */

static int open_connection(void *arg, struct client **ret, struct err *reterr)
{
	return cli_connect(arg, ret, reterr);
}

static int work(struct batch *b, const struct worker_settings *s, struct document_engine engine,
		struct document_places *places, enum worker_end *ret, struct err *reterr)
{
	struct cli_progress *progress = cli_progress_new(b->cli, b->total);
	const struct worker_watch watch = { cli_progress_begun, cli_progress_ended, cli_progress_tick,
					    progress };
	const struct worker_options o = { .service = b->kind->service,
					  .engine = engine,
					  .places = places,
					  .open = open_connection,
					  .arg = b->cli,
					  .state = b->state,
					  .state_is_locked = true,
					  .history = b->history,
					  .limit_s = (unsigned)s->time_limit,
					  .stale_s = (unsigned)s->stale_after,
					  .interval_ms = 500,
					  .grace_s = 0,
					  .one_job = true,
					  .job = b->job,
					  .watch = &watch };
	int rc = progress == NULL ? err_nomem(reterr) : worker_run(&o, ret, reterr);

	cli_progress_end(progress);
	return rc;
}

/* All that the user may read and write: the paths are the user's own. */
static int run_worker(struct batch *b, enum worker_end *ret, struct err *reterr)
{
	struct worker_settings s;
	struct document_places *places = NULL;
	struct document_engine engine = { 0 };
	int rc;

	rc = worker_settings_init(&s, reterr);
	if (rc == 0)
		rc = worker_settings_set(&s, "roots", "/", reterr);
	if (rc == 0 && b->cli->jobs != NULL)
		rc = worker_settings_set(&s, "slots", b->cli->jobs, reterr);
	if (rc == 0 && b->cli->jail != NULL)
		rc = worker_settings_set(&s, "jail", b->cli->jail, reterr);
	if (rc == 0)
		rc = worker_settings_places(&s, &places, reterr);
	if (rc == 0)
		rc = b->kind->start(b->cli, &s, b->kind->start_arg, &engine, reterr);
	if (rc == 0) {
		rc = work(b, &s, engine, places, ret, reterr);
		engine.ops->stop(engine.engine);
	}
	document_places_free(places);
	worker_settings_fini(&s);
	return rc;
}

/* --- the end --- */

static int show_end(struct batch *b, enum worker_end end, struct err *reterr)
{
	struct client *c;
	struct cli_job_summary sum = { .service = b->kind->service,
				       .job = b->job,
				       .past = b->kind->past,
				       .skipped = b->documents.skipped,
				       .ms = clock_mono_ms() - b->begun,
				       .history = b->history };
	int status;

	if (end == WORKER_ENGINE_DIED)
		cli_output_note("The engine ended and could not be started again; what it had was put back.");
	if (end == WORKER_STOPPED && !b->cli->json)
		fprintf(stderr, "Interrupted. Go on with: procession %s --resume\n", b->kind->service->name);
	if (end == WORKER_UNREACHABLE) {
		err_raise(reterr, 50000, 16, 1, "the server went away; go on with procession %s --resume",
			  b->kind->service->name);
		return EXIT_UNREACHABLE;
	}
	if (cli_connect(b->cli, &c, reterr) < 0)
		return EXIT_UNREACHABLE;
	status = cli_jobs_summary(b->cli, c, &sum, reterr);
	client_close(c);
	return status != EXIT_OK ? status : end == WORKER_DONE ? EXIT_OK : EXIT_REFUSED;
}

static int queue_only(const struct batch *b)
{
	if (b->cli->json)
		printf("{\"job\": %lld, \"documents\": %zu, \"skipped\": %zu}\n", (long long)b->job, b->total,
		       b->documents.skipped);
	else
		printf("job %lld with %zu documents; look at it with: procession jobs watch %lld\n",
		       (long long)b->job, b->total, (long long)b->job);
	return EXIT_OK;
}

/* 1: the rest is ours, since no worker is there any more. 0: see *ret. */
static int look_on(struct batch *b, enum worker_end *ret, struct err *reterr)
{
	struct client *c;
	bool gone = false;
	int rc;

	if (!b->cli->json)
		fprintf(stderr,
			"A worker does it, as job %lld; interrupted, this command leaves it to the worker.\n",
			(long long)b->job);
	rc = cli_connect(b->cli, &c, reterr);
	if (rc == 0) {
		rc = cli_standing_watch(b->cli, c, b->job, b->total, &gone, reterr);
		client_close(c);
	}
	*ret = rc < 0 ? WORKER_UNREACHABLE : WORKER_DONE;
	if (gone)
		cli_output_note("No worker is there any more: the rest is done here.");
	return gone;
}

static int run(struct batch *b, struct err *reterr)
{
	enum worker_end end = WORKER_DONE;

	if (prepare(b, reterr) < 0)
		return EXIT_REFUSED;
	if (b->cli->queue)
		return queue_only(b);
	if ((!b->left || look_on(b, &end, reterr) == 1) && run_worker(b, &end, reterr) < 0)
		return EXIT_REFUSED;
	return show_end(b, end, reterr);
}

static int check_usage(struct batch *b, struct err *reterr)
{
	char *settings = b->cli->resume ? strdup("") : b->kind->settings(b->cli, reterr);

	if (settings == NULL)
		return -1;
	free(settings);
	if (b->cli->resume != (b->cli->npaths == 0))
		return err_raise(reterr, 50000, 16, 1, "%s",
				 b->cli->resume ? "--resume goes on with the last job: it takes no paths"
						: "which documents? Give files or folders");
	return b->cli->resume ? 0 : cli_documents_gather(b->cli, b->kind, &b->documents, reterr);
}

int cli_batch_run(struct cli *cli, const struct cli_batch_kind *kind)
{
	struct batch b = { .cli = cli, .kind = kind, .lock = FOLDER_UNLOCKED, .begun = clock_mono_ms() };
	struct err e = { 0 };
	int status = EXIT_USAGE;

	log_set_level(LOG_ERROR);
	if (check_usage(&b, &e) == 0 && choose_state(&b, &e) == 0) {
		status = EXIT_UNREACHABLE;
		if (!cli->resume && b.documents.n == 0) {
			cli_output_note(b.documents.skipped > 0
						? "Nothing to do: every output exists already."
						: "Nothing to do: there is no document.");
			status = EXIT_OK;
		} else if (cli_own_server_find(cli, &b.own, &e) == 0) {
			status = run(&b, &e);
		}
	}
	if (e.text[0] != '\0')
		cli_output_error(&e, cli->json);
	cli_own_server_leave(b.own);
	cli_documents_fini(&b.documents);
	folder_unlock(&b.lock);
	return status;
}
