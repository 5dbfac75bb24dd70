/* standing.c — documents of the command line where workers stand already: the job is theirs, and
 * the command looks on until it is finished or nobody is there any more. A job that one of them
 * cannot reach is refused before it is added: it would take items of it all the same, and fail
 * them. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "cli/batch.h"

#define POLL_MS 300
#define ASK_MS 2000  /* whether workers are there */
#define GONE_MS 5000 /* a worker that is renewed is away for a moment */

/* Whether the folder is one of these lines, or below one. */
static bool covers(const char *lines, const char *folder)
{
	for (const char *p = lines; *p != '\0';) {
		size_t n = strcspn(p, "\n");

		if ((n == 1 && p[0] == '/') ||
		    (n > 0 && strncmp(folder, p, n) == 0 && (folder[n] == '/' || folder[n] == '\0')))
			return true;
		p += n + (p[n] == '\n');
	}
	return false;
}

/* "a, b" of lines. */
static void list_lines(const char *lines, char *dst, size_t size)
{
	size_t at = 0;

	dst[0] = '\0';
	for (const char *p = lines; *p != '\0' && at < size;) {
		size_t n = strcspn(p, "\n");

		if (n > 0)
			at += (size_t)snprintf(dst + at, size - at, "%s%.*s", at > 0 ? ", " : "", (int)n, p);
		p += n + (p[n] == '\n');
	}
}

static int check_folder(const char *machine, const char *places, const char *folder, struct err *reterr)
{
	char list[200];

	if (covers(places, folder))
		return 0;
	list_lines(places, list, sizeof(list));
	return err_raise(
		reterr, 50000, 16, 1,
		"a worker on %.64s takes the jobs of this database and may not use '%.150s', only: "
		"%.150s. Move the documents there, add the folder to the worker's roots (then SIGHUP), "
		"or give the job a database without workers by --database",
		machine, folder, list[0] != '\0' ? list : "no folder");
}

static int check_documents(const char *machine, const char *places, const struct cli_documents *d,
			   struct err *reterr)
{
	for (size_t i = 0; i < d->n; i++)
		if (check_folder(machine, places, d->list[i].base, reterr) < 0 ||
		    check_folder(machine, places, d->list[i].out_base, reterr) < 0)
			return -1;
	return 0;
}

/* Of a job that was added before. */
static int check_groups(const char *machine, const char *places, const struct client_table *t,
			struct err *reterr)
{
	for (size_t n = 0; n < t->nrows; n++) {
		const char *in = worker_queue_cell(t, n, "InputRoot"),
			   *out = worker_queue_cell(t, n, "OutputRoot");

		if (check_folder(machine, places, in != NULL ? in : "", reterr) < 0 ||
		    check_folder(machine, places, out != NULL ? out : "", reterr) < 0)
			return -1;
	}
	return 0;
}

static int check_all(const struct client_table *t, const struct cli_documents *d,
		     const struct client_table *groups, struct err *reterr)
{
	int rc = 0;

	for (size_t n = 0; rc == 0 && n < t->nrows; n++) {
		const char *machine = worker_queue_cell(t, n, "Machine"),
			   *places = worker_queue_cell(t, n, "Places");

		if (machine == NULL || places == NULL)
			continue;
		rc = groups != NULL ? check_groups(machine, places, groups, reterr)
				    : check_documents(machine, places, d, reterr);
	}
	return rc;
}

int cli_standing_check(struct client *c, const struct cli_documents *d, int64_t job, bool *ret_there,
		       struct err *reterr)
{
	struct client_result workers, groups = { 0 };
	int rc = worker_queue_workers(c, &workers, reterr);

	*ret_there = rc == 0 && workers.tables[0].nrows > 0;
	if (*ret_there && job != 0)
		rc = worker_queue_groups(c, job, NULL, &groups, reterr);
	if (*ret_there && rc == 0)
		rc = check_all(&workers.tables[0], d, job != 0 ? &groups.tables[0] : NULL, reterr);
	client_result_fini(&groups);
	client_result_fini(&workers);
	return rc < 0 ? -1 : 0;
}

/* --- looking on --- */

struct looking {
	struct client *c;
	int64_t job;
	int64_t asked, seen; /* monotonic ms: when it was asked for workers, and one was there */
};

/* -1: the server is away. */
static int is_somebody_there(struct looking *l, struct err *reterr)
{
	struct client_result r;
	int64_t now = clock_mono_ms();
	int rc;

	if (now < l->asked + ASK_MS)
		return 1;
	l->asked = now;
	rc = worker_queue_workers(l->c, &r, reterr);
	if (rc == 0 && r.tables[0].nrows > 0)
		l->seen = now;
	client_result_fini(&r);
	return rc < 0 ? -1 : now < l->seen + GONE_MS;
}

/* 1: it goes on; 0: it is finished, or nobody is there (*ret_gone); -1. */
static int look(struct looking *l, struct cli_progress *p, bool *ret_gone, struct err *reterr)
{
	struct queue_counts k;
	int rc = worker_queue_status(l->c, l->job, NULL, &k, NULL, reterr);

	if (rc <= 0)
		return rc; /* deleted, or the server is away */
	cli_progress_counted(p, (size_t)k.succeeded, (size_t)k.failed + (size_t)k.canceled);
	if (k.not_submitted + k.not_started + k.in_progress == 0)
		return 0;
	rc = is_somebody_there(l, reterr);
	*ret_gone = rc == 0;
	return rc;
}

int cli_standing_watch(const struct cli *cli, struct client *c, int64_t job, size_t total, bool *ret_gone,
		       struct err *reterr)
{
	struct looking l = { .c = c, .job = job, .seen = clock_mono_ms() };
	struct cli_progress *p = cli_progress_new(cli, total);
	int rc = p == NULL ? err_nomem(reterr) : 1;

	*ret_gone = false;
	while (rc > 0) {
		rc = look(&l, p, ret_gone, reterr);
		if (rc > 0)
			nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
	}
	cli_progress_end(p);
	return rc;
}
