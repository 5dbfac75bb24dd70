/* helpers.c — the processes that translate: pipelines of Apertium, which stay for the next
 * document, commands and the client of services, which do not. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "translate/engine_int.h"

#define WORDS_MAX 64

/* What the apertium command does, without its start for each document: -z lets every program of the
 * pipeline answer at a NUL, and the text of unknown words is not marked. */
static const char pipeline[] = "pipeline=$(apertium-wblank-mode -z \"$0\") && eval \"$pipeline\"";

/* Two pipes. Ours are to and from, the engine's are its standard input and output. */
struct pipes {
	int to, from, in, out;
};

static int make_pipes(struct pipes *p, struct translate_failure *f)
{
	int a[2], b[2];

	if (pipe2(a, O_CLOEXEC) < 0)
		return translate_fail(f, DOCUMENT_UNKNOWN, "A pipe cannot be made: %s.", strerror(errno));
	if (pipe2(b, O_CLOEXEC) < 0) {
		(void)close(a[0]);
		(void)close(a[1]);
		return translate_fail(f, DOCUMENT_UNKNOWN, "A pipe cannot be made: %s.", strerror(errno));
	}
	*p = (struct pipes){ .in = a[0], .to = a[1], .from = b[0], .out = b[1] };
	return 0;
}

/* Replaces {from} and {to} where they are a word of the command. */
static const char *word_for(const char *word, const struct translate_job *job)
{
	if (strcmp(word, "{from}") == 0)
		return job->from;
	return strcmp(word, "{to}") == 0 ? job->to : word;
}

static int command_of(const struct translate_document *d, const char **argv, struct translate_failure *f)
{
	const char *command = d->rule->words[0];
	size_t n = 0;

	assert(command != NULL); /* rules.c sees to it */
	for (; d->rule->words[n] != NULL; n++) {
		if (n == WORDS_MAX)
			return translate_fail(f, DOCUMENT_ENGINE_MISSING,
					      "The command of the engine has more than %d words.", WORDS_MAX);
		argv[n] = word_for(d->rule->words[n], &d->job);
	}
	argv[n] = NULL;
	if (access(command, X_OK) < 0)
		return translate_fail(f, DOCUMENT_ENGINE_MISSING,
				      "The command of the engine cannot be executed: %.200s: %s.", command,
				      strerror(errno));
	return 0;
}

/* The client of a service gets its key as an open file: in the jail it could not open one that only
 * we may read. */
static int start_client(struct translate_engine *e, const struct translate_document *d,
			struct translate_helper *h, const int *fds, struct translate_failure *f)
{
	const char *key_file = d->rule->key_file != NULL ? d->rule->key_file : "/dev/null";
	int key = open(key_file, O_RDONLY | O_CLOEXEC), rc;
	char path[300];
	const char *const argv[] = { path, d->rule->words[0], d->job.from, d->job.to, NULL };

	if (key < 0)
		return translate_fail(f, DOCUMENT_ENGINE_MISSING,
				      "The key of the service cannot be read: %.200s: %s.", key_file,
				      strerror(errno));
	snprintf(path, sizeof(path), "%s/translate-http", e->programs);
	rc = translate_process_start(e, &h->process, TRANSLATE_PROGRAM_HTTP, NULL, argv,
				     (const int[]){ fds[0], fds[1], key }, 3, f);
	(void)close(key);
	return rc;
}

static int start_helper(struct translate_engine *e, const struct translate_document *d,
			struct translate_helper *h, const int *fds, struct translate_failure *f)
{
	const char *argv[WORDS_MAX + 1] = { NULL };

	if (h->mode[0] != '\0') {
		const char *const shell[] = { "/bin/bash", "-c", pipeline, h->mode, "-n", "", NULL };

		return translate_process_start(e, &h->process, TRANSLATE_PROGRAM_SHELL, NULL, shell, fds, 2,
					       f);
	}
	assert(d->rule != NULL); /* without one it is Apertium */
	if (d->rule->kind == TRANSLATE_BY_HTTP)
		return start_client(e, d, h, fds, f);
	if (command_of(d, argv, f) < 0)
		return -1;
	return translate_process_start(e, &h->process, TRANSLATE_PROGRAM_COMMAND, d->rule, argv, fds, 2, f);
}

static struct translate_helper *new_helper(struct translate_engine *e, const struct translate_document *d,
					   const char *mode, struct translate_failure *f)
{
	struct translate_helper *h = calloc(1, sizeof(*h));
	struct pipes p;
	int rc;

	if (h == NULL || make_pipes(&p, f) < 0) {
		(void)translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
		free(h);
		return NULL;
	}
	h->channel = (struct translate_channel){ .kind = mode[0] != '\0' ? TRANSLATE_BLOCKS : TRANSLATE_LINES,
						 .to = p.to,
						 .from = p.from };
	snprintf(h->mode, sizeof(h->mode), "%s", mode);
	rc = start_helper(e, d, h, (const int[]){ p.in, p.out }, f);
	(void)close(p.in);
	(void)close(p.out);
	if (rc < 0) {
		(void)close(p.to);
		(void)close(p.from);
		free(h);
		return NULL;
	}
	return h;
}

static void end_helper(struct translate_helper *h)
{
	if (h->channel.to >= 0)
		(void)close(h->channel.to);
	(void)close(h->channel.from);
	translate_process_end(&h->process);
	free(h);
}

static void remove_at(struct translate_engine *e, size_t i)
{
	end_helper(e->helper[i]);
	e->helper[i] = e->helper[--e->nhelpers];
}

void translate_helpers_sweep(struct translate_engine *e)
{
	unsigned cpu = 0;

	for (size_t i = 0; i < e->nhelpers;) {
		if (!e->helper[i]->busy && translate_process_ended(&e->helper[i]->process, &cpu))
			remove_at(e, i);
		else
			i++;
	}
}

static struct translate_helper *find_idle(struct translate_engine *e, const char *mode)
{
	translate_helpers_sweep(e);
	for (size_t i = 0; i < e->nhelpers; i++) {
		if (!e->helper[i]->busy && strcmp(e->helper[i]->mode, mode) == 0)
			return e->helper[i];
	}
	return NULL;
}

/* Room for one more: the pipeline that waited longest goes. There are more places than documents at
 * once, so one is always idle. */
static void make_room(struct translate_engine *e)
{
	size_t oldest = e->nhelpers;

	if (e->nhelpers < e->helpers_max)
		return;
	for (size_t i = 0; i < e->nhelpers; i++) {
		if (!e->helper[i]->busy &&
		    (oldest == e->nhelpers || e->helper[i]->last_used < e->helper[oldest]->last_used))
			oldest = i;
	}
	assert(oldest < e->nhelpers);
	remove_at(e, oldest);
}

/* The mode of the pair, or one that the rule names. */
static int find_mode(const struct translate_engine *e, const struct translate_document *d, char *ret,
		     size_t size, struct translate_failure *f)
{
	if (d->rule != NULL && d->rule->words[0] != NULL) {
		snprintf(ret, size, "%s/modes/%s.mode", e->apertium, d->rule->words[0]);
		if (access(ret, R_OK) == 0)
			return 0;
		return translate_fail(
			f, DOCUMENT_ENGINE_MISSING,
			"Apertium has no mode %.60s here: install its package (apertium-%.60s).",
			d->rule->words[0], d->rule->words[0]);
	}
	if (translate_find_mode(e->apertium, d->job.from, d->job.to, ret, size))
		return 0;
	if (access("/usr/bin/apertium-wblank-mode", X_OK) < 0)
		return translate_fail(f, DOCUMENT_ENGINE_MISSING,
				      "Apertium is not installed: install the packages apertium, transfuse "
				      "and cg3, and a pair such as "
				      "apertium-eng-spa.");
	return translate_fail(f, DOCUMENT_NO_LANGUAGE_PAIR,
			      "No engine translates %s to %s: install an Apertium package for it, or give "
			      "the worker another engine for this pair.",
			      d->job.from, d->job.to);
}

int translate_helper_take(struct translate_engine *e, struct translate_document *d,
			  struct translate_failure *f)
{
	char mode[512] = "";
	struct translate_helper *h = NULL;

	assert(d->helper == NULL);
	if (d->rule != NULL && d->rule->kind == TRANSLATE_BY_NOBODY)
		return translate_fail(f, DOCUMENT_NO_LANGUAGE_PAIR,
				      "This worker translates nothing from %s to %s.", d->job.from,
				      d->job.to);
	if (d->rule == NULL || d->rule->kind == TRANSLATE_BY_APERTIUM) {
		if (find_mode(e, d, mode, sizeof(mode), f) < 0)
			return -1;
		h = find_idle(e, mode);
	}
	if (h == NULL) {
		make_room(e);
		h = new_helper(e, d, mode, f);
		if (h == NULL)
			return -1;
		assert(e->nhelpers < e->helpers_max);
		e->helper[e->nhelpers++] = h;
	}
	h->busy = true;
	d->helper = h;
	return 0;
}

void translate_helper_give(struct translate_engine *e, struct translate_helper *h, bool sound)
{
	assert(h->busy);
	h->busy = false;
	h->last_used = translate_now();
	if (sound && h->mode[0] != '\0' && ++h->documents < PIPELINE_DOCUMENTS_MAX)
		return;
	for (size_t i = 0; i < e->nhelpers; i++) {
		if (e->helper[i] == h) {
			remove_at(e, i);
			return;
		}
	}
}

void translate_helpers_end(struct translate_engine *e)
{
	while (e->nhelpers > 0)
		remove_at(e, 0);
	free(e->helper);
	e->helper = NULL;
}
