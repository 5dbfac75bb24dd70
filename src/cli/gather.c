/* gather.c — which documents the paths of the command line name, and what becomes of each. */
#include <assert.h>
#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/utf.h"
#include "cli/batch.h"

struct gathering {
	const struct cli *cli;
	const struct cli_batch_kind *kind;
	struct cli_documents *d;
	char *out;    /* of --out, whole; NULL: beside the documents */
	bool walking; /* in a folder */
	struct err *reterr;
};

static void document_fini(struct cli_document *d)
{
	free(d->base);
	free(d->input);
	free(d->out_base);
	free(d->output);
}

void cli_documents_fini(struct cli_documents *d)
{
	for (size_t i = 0; i < d->n; i++)
		document_fini(&d->list[i]);
	free(d->list);
	memset(d, 0, sizeof(*d));
}

/* XML cannot say control characters, and the server keeps UTF-8. */
static bool can_be_said(const char *name)
{
	for (const char *p = name; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20)
			return false;
	return utf8_valid(name, strlen(name), false);
}

static bool output_exists(const struct cli_document *d)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", d->out_base, d->output) < (int)sizeof(path) &&
	       access(path, F_OK) == 0;
}

/* Takes over d. */
static int keep(struct gathering *g, struct cli_document *d)
{
	if (g->d->n == g->d->room) {
		size_t room = g->d->room == 0 ? 64 : 2 * g->d->room;
		struct cli_document *grown = realloc(g->d->list, room * sizeof(*grown));

		if (grown == NULL) {
			document_fini(d);
			return err_nomem(g->reterr);
		}
		g->d->list = grown;
		g->d->room = room;
	}
	assert(g->d->n < g->d->room);
	g->d->list[g->d->n++] = *d;
	return 0;
}

static int add(struct gathering *g, const char *base, const char *input)
{
	struct cli_document d = { .found = g->walking };

	if (!can_be_said(base) || !can_be_said(input))
		return err_raise(g->reterr, 50000, 16, 1,
				 "the name of '%s/%s' is not UTF-8, or has control characters: rename it",
				 base, input);
	d.base = strdup(base);
	d.input = strdup(input);
	d.out_base = strdup(g->out != NULL ? g->out : base);
	d.output = g->kind->output(g->cli, input);
	if (d.base == NULL || d.input == NULL || d.out_base == NULL || d.output == NULL) {
		document_fini(&d);
		return err_nomem(g->reterr);
	}
	return keep(g, &d);
}

static bool is_wanted(const struct gathering *g, const char *name)
{
	const char *dot = strrchr(name, '.');

	if (name[0] == '.' || name[0] == '~' || dot == NULL)
		return false;
	for (const char *const *e = g->kind->extensions; *e != NULL; e++)
		if (str_eq_nocase(str_of(dot + 1), str_of(*e)))
			return true;
	return false;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int add_folder(struct gathering *g, char *base)
{
	char *const paths[] = { base, NULL };
	FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	size_t prefix = strlen(base) + (strcmp(base, "/") != 0);
	FTSENT *e;
	int rc = 0;

	assert(base[0] == '/'); /* a job means the same for a worker that stands elsewhere */
	if (walk == NULL)
		return err_raise(g->reterr, 50000, 16, 1, "cannot read '%s': %s", base, strerror(errno));
	while (rc == 0 && (e = fts_read(walk)) != NULL) {
		if (e->fts_info == FTS_D && e->fts_level > 0 && (!g->cli->recursive || e->fts_name[0] == '.'))
			fts_set(walk, e, FTS_SKIP);
		else if ((e->fts_info == FTS_F || e->fts_info == FTS_SL) && is_wanted(g, e->fts_name))
			rc = add(g, base, e->fts_path + prefix);
		else if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR)
			rc = err_raise(g->reterr, 50000, 16, 1, "cannot read '%s': %s", e->fts_path,
				       strerror(e->fts_errno));
	}
	fts_close(walk);
	return rc;
}

static int add_file(struct gathering *g, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash == NULL ? strdup(".")
				     : strndup(path, slash == path ? 1 : (size_t)(slash - path));
	char *base = folder != NULL ? realpath(folder, NULL) : NULL;
	int rc = base != NULL ? add(g, base, slash != NULL ? slash + 1 : path)
			      : err_raise(g->reterr, 50000, 16, 1, "there is no '%s'", path);

	free(folder);
	free(base);
	return rc;
}

static int add_path(struct gathering *g, const char *path)
{
	struct stat st;
	char *base;
	int rc;

	if (stat(path, &st) < 0)
		return err_raise(g->reterr, 50000, 16, 1, "cannot read '%s': %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return add_file(g, path);
	base = realpath(path, NULL);
	g->walking = true;
	rc = base != NULL ? add_folder(g, base)
			  : err_raise(g->reterr, 50000, 16, 1, "cannot read '%s': %s", path, strerror(errno));
	g->walking = false;
	free(base);
	return rc;
}

/* --- what was made before --- */

static int by_input_path(const void *a, const void *b)
{
	const struct cli_document *x = *(struct cli_document *const *)a,
				  *y = *(struct cli_document *const *)b;
	int folder = strcmp(x->base, y->base);

	return folder != 0 ? folder : strcmp(x->input, y->input);
}

/* Marks the documents whose names are those of outputs. sorted: by input. */
static void mark_outputs(const struct cli_documents *d, struct cli_document **sorted, bool *is_output)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct cli_document key = { .base = d->list[i].out_base, .input = d->list[i].output },
					  *wanted = &key;
		struct cli_document **hit = bsearch((const void *)&wanted, (const void *)sorted, d->n,
						    sizeof(struct cli_document *), by_input_path);

		if (hit != NULL && (*hit)->found)
			is_output[*hit - d->list] = true;
	}
}

/* letter.es.docx is not translated again while letter.docx is there. */
static int leave_outputs(struct gathering *g)
{
	struct cli_documents *d = g->d;
	struct cli_document **sorted = calloc(d->n + 1, sizeof(struct cli_document *));
	bool *is_output = calloc(d->n + 1, sizeof(bool));
	int rc = sorted == NULL || is_output == NULL ? err_nomem(g->reterr) : 0;
	size_t n = 0;

	for (size_t i = 0; rc == 0 && i < d->n; i++)
		sorted[i] = &d->list[i];
	if (rc == 0) {
		qsort((void *)sorted, d->n, sizeof(struct cli_document *), by_input_path);
		mark_outputs(d, sorted, is_output);
	}
	for (size_t i = 0; rc == 0 && i < d->n; i++) {
		if (is_output[i])
			document_fini(&d->list[i]);
		else
			d->list[n++] = d->list[i];
	}
	if (rc == 0)
		d->n = n;
	free((void *)sorted);
	free(is_output);
	return rc;
}

/* --skip-existing */
static void leave_existing(struct cli_documents *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++) {
		if (output_exists(&d->list[i]))
			document_fini(&d->list[i]);
		else
			d->list[n++] = d->list[i];
	}
	d->skipped = d->n - n;
	d->n = n;
}

/* --- names that meet --- */

static int by_output(const void *a, const void *b)
{
	const struct cli_document *x = *(struct cli_document *const *)a,
				  *y = *(struct cli_document *const *)b;
	int folder = strcmp(x->out_base, y->out_base);

	return folder != 0 ? folder : strcmp(x->output, y->output);
}

/* a.doc and a.docx would both become a.pdf: then a.doc.pdf and a.docx.pdf. */
static bool name_apart(struct cli_document *d)
{
	const char *dot = strrchr(d->output, '.');
	char *name = NULL;

	if (asprintf(&name, "%s%s", d->input, dot != NULL ? dot : "") < 0)
		return false;
	free(d->output);
	d->output = name;
	return true;
}

static int part_names(struct gathering *g)
{
	struct cli_documents *d = g->d;
	struct cli_document **sorted = calloc(d->n + 1, sizeof(struct cli_document *));
	bool *meets = calloc(d->n + 1, sizeof(bool));
	int rc = sorted == NULL || meets == NULL ? err_nomem(g->reterr) : 0;

	for (size_t i = 0; rc == 0 && i < d->n; i++)
		sorted[i] = &d->list[i];
	if (rc == 0)
		qsort(sorted, d->n, sizeof(struct cli_document *), by_output);
	for (size_t i = 1; rc == 0 && i < d->n; i++)
		if (by_output(&sorted[i - 1], &sorted[i]) == 0)
			meets[i - 1] = meets[i] = true;
	for (size_t i = 0; rc == 0 && i < d->n; i++)
		if (meets[i] && !name_apart(sorted[i]))
			rc = err_nomem(g->reterr);
	for (size_t i = 0; rc == 0 && i < d->n; i++)
		if (strcmp(d->list[i].base, d->list[i].out_base) == 0 &&
		    strcmp(d->list[i].input, d->list[i].output) == 0)
			rc = err_raise(g->reterr, 50000, 16, 1,
				       "'%s' would replace itself: give another folder with --out",
				       d->list[i].input);
	free(sorted);
	free(meets);
	return rc;
}

int cli_documents_gather(const struct cli *cli, const struct cli_batch_kind *kind, struct cli_documents *ret,
			 struct err *reterr)
{
	struct gathering g = { .cli = cli, .kind = kind, .d = ret, .reterr = reterr };
	int rc = 0;

	memset(ret, 0, sizeof(*ret));
	if (cli->out != NULL) {
		if (mkdir(cli->out, 0777) < 0 && errno != EEXIST)
			return err_raise(reterr, 50000, 16, 1, "cannot make the folder '%s': %s", cli->out,
					 strerror(errno));
		g.out = realpath(cli->out, NULL);
		if (g.out == NULL)
			return err_raise(reterr, 50000, 16, 1, "cannot use the folder '%s': %s", cli->out,
					 strerror(errno));
	}
	for (size_t i = 0; rc == 0 && i < cli->npaths; i++)
		rc = add_path(&g, cli->paths[i]);
	if (rc == 0 && kind->knows_its_outputs)
		rc = leave_outputs(&g);
	if (rc == 0 && cli->skip_existing)
		leave_existing(ret);
	if (rc == 0)
		rc = part_names(&g);
	free(g.out);
	if (rc < 0)
		cli_documents_fini(ret);
	return rc;
}
