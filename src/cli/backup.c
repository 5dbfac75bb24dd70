/* backup.c — `procession backup`: asks the server for a copy of its databases as of one moment, and
 * fetches it into an archive. The command needs no access to the server's folder, so that it works
 * on the same machine, whoever runs it, as it does from another one. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/backupfile.h"
#include "cli/manifest.h"
#include "cli/outside.h"

#define LOOK_NS 100000000 /* between two looks whether the copy is ready */
#define NAME_PREFIX "procession-"
#define KEPT_ELSEWHERE 50023 /* the server's error: base/errors.def */

/* ---- calls ---- */

static const char *cell(const struct client_table *t, size_t row, const char *name)
{
	int column = client_column(t, name);
	const char *s = column < 0 ? NULL : t->cells[row * t->ncols + (size_t)column];

	return s != NULL ? s : "";
}

static int begin(const struct cli *cli, struct client *c, char *ret_id, size_t size, struct err *reterr)
{
	const struct client_arg args[] = { client_text("@databases", cli->database) };

	return cli_answer_begin(c, "procession_backup_begin", args, ARRAY_LEN(args), ret_id, size, reterr);
}

static int fill_manifest(const struct client_table *t, struct archive_manifest *m, struct err *reterr)
{
	m->databases = calloc(t->nrows, sizeof(*m->databases));
	if (m->databases == NULL)
		return err_nomem(reterr);
	m->n = t->nrows;
	snprintf(m->version, sizeof(m->version), "%s", PROCESSION_VERSION);
	snprintf(m->taken, sizeof(m->taken), "%s", cell(t, 0, "taken"));
	for (size_t i = 0; i < t->nrows; i++) {
		struct archive_database *d = &m->databases[i];

		snprintf(d->name, sizeof(d->name), "%s", cell(t, i, "name"));
		snprintf(d->service, sizeof(d->service), "%s", cell(t, i, "service"));
		snprintf(d->file, sizeof(d->file), "%s", cell(t, i, "file"));
		snprintf(d->sha256, sizeof(d->sha256), "%s", cell(t, i, "sha256"));
		d->bytes = strtoull(cell(t, i, "bytes"), NULL, 10);
	}
	return 0;
}

static int fill_left_out(const struct client_table *t, struct archive_manifest *m, struct err *reterr)
{
	m->left_out = calloc(t->nrows + 1, sizeof(*m->left_out));
	if (m->left_out == NULL)
		return err_nomem(reterr);
	m->nleft_out = t->nrows;
	for (size_t i = 0; i < t->nrows; i++) {
		struct archive_left_out *l = &m->left_out[i];

		snprintf(l->name, sizeof(l->name), "%s", cell(t, i, "name"));
		snprintf(l->service, sizeof(l->service), "%s", cell(t, i, "service"));
		snprintf(l->engine, sizeof(l->engine), "%s", cell(t, i, "engine"));
	}
	return 0;
}

/* An older server tells of one table only, and knows no other engine. */
static int fill(const struct client_result *r, struct archive_manifest *m, struct err *reterr)
{
	if (fill_manifest(&r->tables[0], m, reterr) < 0)
		return -1;
	return r->ntables > 1 ? fill_left_out(&r->tables[1], m, reterr) : 0;
}

/* 1: it is ready, and *m says what there is; 0: not yet. */
static int look(struct client *c, const char *id, struct archive_manifest *m, struct err *reterr)
{
	struct client_result r;
	int rc = client_call(c, "procession_backup_state", NULL, 0, &r, reterr);
	const struct client_table *t = r.ntables > 0 ? &r.tables[0] : NULL;

	if (rc == 0 && (t == NULL || t->nrows == 0 || strcmp(cell(t, 0, "id"), id) != 0))
		rc = err_raise(reterr, 50000, 16, 1, "the server has no copy any more; was it restarted?");
	if (rc == 0 && strcmp(cell(t, 0, "state"), "failed") == 0)
		rc = err_raise(reterr, 50021, 16, 1, "%s", cell(t, 0, "reason"));
	if (rc == 0 && strcmp(cell(t, 0, "state"), "ready") == 0)
		rc = fill(&r, m, reterr) < 0 ? -1 : 1;
	client_result_fini(&r);
	return rc;
}

static int wait_ready(struct client *c, const char *id, struct archive_manifest *m, struct err *reterr)
{
	const struct timespec pause = { 0, LOOK_NS };
	int rc;

	while ((rc = look(c, id, m, reterr)) == 0)
		nanosleep(&pause, NULL);
	return rc < 0 ? -1 : 0;
}

/* ---- bytes ---- */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 0x…, in place. Gives the number of bytes, 0 for what is none. */
static size_t decode(char *text)
{
	size_t n = 0;

	if (strncmp(text, "0x", 2) != 0)
		return 0;
	for (const char *p = text + 2; digit(p[0]) >= 0 && digit(p[1]) >= 0; p += 2)
		text[n++] = (char)(digit(p[0]) << 4 | digit(p[1]));
	return n;
}

/* Gives the number of bytes that came; 0 at the end. */
static int fetch_piece(struct client *c, const char *id, const struct archive_database *d, uint64_t offset,
		       struct archive_writer *w, size_t *ret, struct err *reterr)
{
	const struct client_arg args[] = { client_text("@id", id), client_text("@file", d->file),
					   client_bigint("@offset", (int64_t)offset) };
	struct client_result r;
	int rc = client_call(c, "procession_backup_read", args, ARRAY_LEN(args), &r, reterr);

	*ret = 0;
	if (rc == 0 && r.ntables == 1 && r.tables[0].nrows == 1 && r.tables[0].cells[0] != NULL) {
		*ret = decode(r.tables[0].cells[0]);
		rc = cli_archive_put(w, r.tables[0].cells[0], *ret, reterr);
	}
	client_result_fini(&r);
	return rc;
}

static int fetch(struct client *c, const char *id, const struct archive_database *d, struct archive_writer *w,
		 struct err *reterr)
{
	uint64_t offset = 0;
	size_t n = 1;

	if (cli_archive_begin(w, d, reterr) < 0)
		return -1;
	while (offset < d->bytes && n > 0) {
		if (fetch_piece(c, id, d, offset, w, &n, reterr) < 0)
			return -1;
		offset += n;
	}
	if (offset != d->bytes)
		return err_raise(reterr, 50000, 16, 1, "the server gave %llu bytes of '%s' instead of %llu",
				 (unsigned long long)offset, d->file, (unsigned long long)d->bytes);
	return 0;
}

/* What was written is read again, since a backup that cannot be read is none. */
static int save(struct client *c, const char *id, const char *path, struct archive_manifest *m,
		struct err *reterr)
{
	struct archive_writer *w;
	struct archive_manifest again;

	if (cli_archive_create(path, m, &w, reterr) < 0)
		return -1;
	for (size_t i = 0; i < m->n; i++)
		if (fetch(c, id, &m->databases[i], w, reterr) < 0) {
			cli_archive_abandon(w);
			return -1;
		}
	if (cli_archive_finish(w, reterr) < 0)
		return -1;
	if (cli_archive_read(path, NULL, &again, reterr) < 0)
		return -1;
	cli_archive_manifest_fini(&again);
	return 0;
}

/* ---- where to ---- */

/* A folder gets a file with the time in its name. */
static int choose_path(const char *target, char *dst, size_t size, bool *ret_folder, struct err *reterr)
{
	struct stat s;
	time_t now = time(NULL);
	struct tm utc;
	char stamp[40];

	*ret_folder = stat(target, &s) == 0 && S_ISDIR(s.st_mode);
	if (gmtime_r(&now, &utc) == NULL || strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc) == 0)
		return err_raise(reterr, 50000, 16, 1, "the clock has no time");
	if (snprintf(dst, size, *ret_folder ? "%s/" NAME_PREFIX "%s.tar.zst" : "%s", target, stamp) >=
	    (int)size)
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1, "the name of the target is too long");
	return 0;
}

static int is_ours(const struct dirent *e)
{
	size_t n = strlen(e->d_name), end = strlen(".tar.zst");

	return strncmp(e->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0 && n > end &&
	       strcmp(e->d_name + n - end, ".tar.zst") == 0;
}

/* The names sort by time. Removes all but the last ones. */
static int remove_old(const char *folder, size_t keep, struct err *reterr)
{
	struct dirent **list;
	int n = scandir(folder, &list, is_ours, alphasort), rc = 0;

	for (int i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		if (rc == 0 && (size_t)(n - i) > keep && unlink(path) != 0)
			rc = err_raise(reterr, 50000, 16, 1, "the old backup '%.300s' cannot be removed: %s",
				       path, strerror(errno));
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	return rc;
}

static bool read_keep(const char *text, size_t *ret)
{
	char *rest;
	unsigned long n = text == NULL ? 0 : strtoul(text, &rest, 10);

	if (text != NULL && (text[0] < '1' || text[0] > '9' || *rest != '\0' || n > 100000))
		return false;
	*ret = n;
	return true;
}

/* ---- the commands ---- */

static void show(const struct cli *cli, const char *path, const struct archive_manifest *m, const char *what)
{
	const char *things = cli_archive_is_outside(m) ? "files" : "databases";
	unsigned long long bytes = 0;

	for (size_t i = 0; i < m->n; i++)
		bytes += m->databases[i].bytes;
	if (cli->json) {
		fputs("{\"ok\": true, \"file\": ", stdout);
		json_put_string(stdout, path);
		fputs(", \"taken\": ", stdout);
		json_put_string(stdout, m->taken);
		printf(", \"%s\": %zu, \"bytes\": %llu, ", things, m->n, bytes);
	} else {
		cli_output_text(stdout, path);
		printf(": %s, %zu %s as of %s, %llu bytes\n", what, m->n, things, m->taken, bytes);
	}
	cli_archive_show_left_out(m, cli->json);
	if (cli->json)
		puts("}");
}

static int take(struct cli *cli, const char *path, struct archive_manifest *m, struct err *reterr)
{
	struct client *c;
	char id[64];
	int rc;

	if (cli_connect(cli, &c, reterr) < 0)
		return cli_connect_status(reterr);
	rc = begin(cli, c, id, sizeof(id), reterr);
	if (rc == 0) {
		rc = wait_ready(c, id, m, reterr);
		if (rc == 0)
			rc = save(c, id, path, m, reterr);
		cli_answer_end(c, "procession_backup_end", id,
			       "procession: the server keeps its copy until the next backup");
	}
	client_close(c);
	if (rc < 0 && reterr->number == KEPT_ELSEWHERE && cli->data != NULL && cli->database == NULL) {
		cli_output_note(
			"procession: the databases are in PostgreSQL, to be saved with pg_basebackup or "
			"pgBackRest; the archive has what is outside of them");
		rc = cli_backup_outside(cli->data, path, m, reterr);
	}
	return rc < 0 ? EXIT_REFUSED : EXIT_OK;
}

int cli_run_backup(struct cli *cli, const struct command *cmd)
{
	struct archive_manifest m = { .n = 0 };
	char path[4096];
	struct err e = { 0 };
	bool folder;
	size_t keep;
	int status = EXIT_USAGE;

	(void)cmd;
	if (choose_path(cli->args[0], path, sizeof(path), &folder, &e) == 0) {
		if (!read_keep(cli->keep, &keep) || (keep > 0 && !folder))
			err_raise(&e, 50000, CLI_USAGE_SEVERITY, 1,
				  "--keep takes a number, 1 or more, and TARGET must be a folder then");
		else
			status = take(cli, path, &m, &e);
	}
	if (status == EXIT_OK && keep > 0 && remove_old(cli->args[0], keep, &e) < 0)
		status = EXIT_REFUSED;
	if (status == EXIT_OK)
		show(cli, path, &m, "saved and read again");
	cli_archive_manifest_fini(&m);
	return status == EXIT_OK ? EXIT_OK : cli_answer_failed(cli, &e, status);
}

int cli_run_backup_check(struct cli *cli, const struct command *cmd)
{
	struct archive_manifest m = { .n = 0 };
	struct err e = { 0 };

	(void)cmd;
	if (cli_archive_read(cli->args[0], NULL, &m, &e) < 0)
		return cli_answer_failed(cli, &e, EXIT_REFUSED);
	show(cli, cli->args[0], &m, "sound");
	cli_archive_manifest_fini(&m);
	return EXIT_OK;
}
