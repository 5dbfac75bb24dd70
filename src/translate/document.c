/* document.c — one document on its way through the engine: to the converter, if it is a kind that
 * cannot be taken apart, to the program that translates it, and back to the kind that is wanted. */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "translate/engine_int.h"

#define GRACE_MS 2000 /* for an engine to end and say why, once its document has failed */
#define WORDS_MAX 64

static const char convert_settings[] = "<settings><SaveFormat>Automatic</SaveFormat></settings>";

static const char *extension_of(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot == NULL || strchr(dot, '/') != NULL ? "" : dot + 1;
}

/* Extensions that mean one kind. */
static bool is_same_kind(const char *a, const char *b)
{
	static const char *const kinds[][3] = { { "htm", "html", "xhtml" },
						{ "xlf", "xliff", "xliff" },
						{ "txt", "text", "" } };

	if (strcasecmp(a, b) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		bool has_a = false, has_b = false;

		for (size_t k = 0; k < ARRAY_LEN(kinds[i]); k++) {
			has_a = has_a || strcasecmp(a, kinds[i][k]) == 0;
			has_b = has_b || strcasecmp(b, kinds[i][k]) == 0;
		}
		if (has_a && has_b)
			return true;
	}
	return false;
}

/* Kinds that nobody but the converter can open: an OLE file (doc), RTF. */
static bool needs_converter(int input)
{
	unsigned char head[8] = { 0 };

	if (pread(input, head, sizeof(head), 0) < 5)
		return false;
	return memcmp(head, "\xd0\xcf\x11\xe0", 4) == 0 || memcmp(head, "{\\rtf", 5) == 0;
}

static bool is_written_text(const char *extension)
{
	static const char *const kinds[] = { "docx", "odt", "html", "htm" };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (strcasecmp(extension, kinds[i]) == 0)
			return true;
	}
	return false;
}

static int start_converter(struct translate_engine *e, struct translate_failure *f)
{
	struct err err = { 0 };

	if (e->converter.ops != NULL)
		return 0;
	if (e->options.start_converter == NULL)
		return translate_fail(
			f, DOCUMENT_ENGINE_MISSING,
			"Documents of this type need the converter, which this worker does not have.");
	if (e->options.start_converter(e->options.converter_arg, &e->converter, &err) < 0) {
		e->converter.ops = NULL;
		return translate_fail(f, DOCUMENT_ENGINE_MISSING, "The converter cannot be started: %.400s",
				      err.text);
	}
	return 0;
}

/* Gives a document to the converter, which gets descriptors of its own. */
static int convert(struct translate_engine *e, struct translate_document *d, int from, const char *from_name,
		   int to, const char *to_name, struct translate_failure *f)
{
	uint64_t now = translate_now();
	struct document_task task = {
		.id = ++e->tickets,
		.input = dup(from),
		.output = dup(to),
		.input_name = from_name,
		.output_name = to_name,
		.settings = convert_settings,
		.settings_len = sizeof(convert_settings) - 1,
		.attempt = 1,
		.seconds = d->deadline > now ? (unsigned)((d->deadline - now) / 1000 + 1) : 1,
	};
	struct err err = { 0 };

	assert(d->helper == NULL && !d->process.running);
	d->ticket = task.id;
	if (task.input >= 0 && task.output >= 0 && lseek(from, 0, SEEK_SET) == 0 &&
	    start_converter(e, f) == 0 && e->converter.ops->submit(e->converter.engine, &task, &err) == 0)
		return 0;
	(void)close(task.input);
	(void)close(task.output);
	return translate_fail(f, DOCUMENT_UNKNOWN, "The converter does not take the document: %.400s",
			      err.text);
}

static int memory_file(int *ret, struct translate_failure *f)
{
	*ret = memfd_create("document", MFD_CLOEXEC);
	return *ret < 0 ? translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.") : 0;
}

/* The program that takes the document apart, between input and output, with the pipes of its
 * engine. */
static int start_document(struct translate_engine *e, struct translate_document *d, int in, int out,
			  struct translate_failure *f)
{
	struct translate_channel *c;
	char path[300];
	const char *argv[] = { path, d->name, d->job.from, d->job.to, "lines", NULL };
	int rc;

	if (translate_helper_take(e, d, f) < 0)
		return -1;
	c = &d->helper->channel;
	snprintf(path, sizeof(path), "%s/translate-document", e->programs);
	if (c->kind == TRANSLATE_BLOCKS)
		argv[4] = "blocks";
	rc = translate_process_start(e, &d->process, TRANSLATE_PROGRAM_DOCUMENT, NULL, argv,
				     (const int[]){ in, out, c->to, c->from }, 4, f);
	/* An engine of lines knows by the end of its input that all has come, so no other copy of
	 * the pipe may be open. */
	if (c->kind == TRANSLATE_LINES) {
		(void)close(c->to);
		c->to = -1;
	}
	return rc;
}

/* A command for whole documents: by standard input and output, or by names, which a shell then
 * makes files of. */
static int start_command(struct translate_engine *e, struct translate_document *d, int in, int out,
			 struct translate_failure *f)
{
	static const char by_name[] = "in=$1 out=$2; shift 2; cat >\"$in\" && \"$@\" >&2 && cat \"$out\"";
	char input[64], output[64];
	const char *argv[WORDS_MAX + 7] = { "/bin/sh", "-c", by_name, "sh", input, output };
	const size_t first = 6;
	size_t n = first;
	const char *command = d->rule->words[0];
	bool named = false;

	assert(command != NULL); /* rules.c sees to it */
	snprintf(input, sizeof(input), "/tmp/input.%.40s", extension_of(d->name));
	snprintf(output, sizeof(output), "/tmp/output.%.40s", extension_of(d->name));
	for (size_t i = 0; i < WORDS_MAX && d->rule->words[i] != NULL; i++) {
		const char *word = d->rule->words[i];
		bool is_in = strcmp(word, "{input}") == 0, is_out = strcmp(word, "{output}") == 0;

		named = named || is_in || is_out;
		argv[n++] = is_in                         ? input
			    : is_out                      ? output
			    : strcmp(word, "{from}") == 0 ? d->job.from
			    : strcmp(word, "{to}") == 0   ? d->job.to
							  : word;
	}
	argv[n] = NULL;
	if (access(command, X_OK) < 0)
		return translate_fail(f, DOCUMENT_ENGINE_MISSING,
				      "The command of the engine cannot be executed: %.200s: %s.", command,
				      strerror(errno));
	return translate_process_start(e, &d->process, TRANSLATE_PROGRAM_COMMAND, d->rule,
				       named ? argv : argv + first, (const int[]){ in, out }, 2, f);
}

static int start_translation(struct translate_engine *e, struct translate_document *d)
{
	int in = d->middle_in >= 0 ? d->middle_in : d->input, out = d->output;

	assert(d->helper == NULL && !d->process.running && d->middle_out < 0);
	/* What comes out is of the kind that went in; another is made of it. */
	if (!is_same_kind(extension_of(d->name), extension_of(d->output_name))) {
		if (!is_written_text(extension_of(d->name)))
			return translate_fail(
				&d->failure, DOCUMENT_OUTPUT_UNSUPPORTED,
				"A translation of .%.20s is .%.20s, too: it cannot be made .%.20s.",
				extension_of(d->name), extension_of(d->name), extension_of(d->output_name));
		if (memory_file(&d->middle_out, &d->failure) < 0)
			return -1;
		out = d->middle_out;
	}
	if (lseek(in, 0, SEEK_SET) < 0)
		return translate_fail(&d->failure, DOCUMENT_INPUT_READ, "The input cannot be read: %s.",
				      strerror(errno));
	d->phase = TRANSLATE_UNDER_WAY;
	if (d->rule != NULL && d->rule->kind == TRANSLATE_BY_DOCUMENT)
		return start_command(e, d, in, out, &d->failure);
	return start_document(e, d, in, out, &d->failure);
}

int translate_document_begin(struct translate_engine *e, struct translate_document *d)
{
	assert(d->phase == TRANSLATE_DONE && d->helper == NULL && d->middle_in < 0);
	d->rule = e->options.rules == NULL ? NULL
					   : translate_rules_find(e->options.rules, d->job.from, d->job.to);
	if (d->output_name[0] == '\0' || extension_of(d->output_name)[0] == '\0')
		memcpy(d->output_name, d->name, sizeof(d->output_name));
	if (!needs_converter(d->input) || (d->rule != NULL && d->rule->kind == TRANSLATE_BY_DOCUMENT))
		return start_translation(e, d);
	d->phase = TRANSLATE_BEFORE;
	if (memory_file(&d->middle_in, &d->failure) < 0)
		return -1;
	return convert(e, d, d->input, d->name, d->middle_in, "document.docx", &d->failure);
}

/* Whether a command that was given the whole document gave it back as it was. */
static bool is_copy(int a, int b)
{
	char pa[65536], pb[65536];
	off_t at = 0;

	for (;;) {
		ssize_t na = pread(a, pa, sizeof(pa), at), nb = pread(b, pb, sizeof(pb), at);

		if (na != nb || na < 0 || memcmp(pa, pb, (size_t)na) != 0)
			return false;
		if (na == 0)
			return true;
		at += na;
	}
}

/* Looks at what came out. */
static void check_output(struct translate_document *d)
{
	int in = d->middle_in >= 0 ? d->middle_in : d->input,
	    out = d->middle_out >= 0 ? d->middle_out : d->output;
	struct stat st;

	assert(d->helper == NULL && !d->process.running);
	if (fstat(out, &st) < 0 || st.st_size == 0)
		(void)translate_fail(&d->failure, DOCUMENT_CANNOT_TRANSLATE,
				     "The translation engine gave no document.");
	else if (d->rule != NULL && d->rule->kind == TRANSLATE_BY_DOCUMENT && is_copy(in, out))
		(void)translate_fail(&d->failure, DOCUMENT_UNCHANGED,
				     "The translation is the same as the document.");
}

/* An engine that failed knows better why than the document that waited for it. */
static void ask_helper(struct translate_engine *e, struct translate_document *d)
{
	struct translate_helper *h = d->helper;
	struct translate_failure own = { 0 };
	bool sound;

	if (h == NULL)
		return;
	sound = h->process.running && !d->process.running && WIFEXITED(d->process.status) &&
		(WEXITSTATUS(d->process.status) == 0 || WEXITSTATUS(d->process.status) == 1);
	if (d->failure.error != 0 && translate_process_failure(&h->process, "The translation engine", &own)) {
		if (own.error == DOCUMENT_WORKER_FAILED)
			own.error = strstr(own.text, "not found") != NULL ? DOCUMENT_ENGINE_MISSING
									  : DOCUMENT_SERVICE_UNAVAILABLE;
		d->failure = own;
	}
	translate_helper_give(e, h, sound);
	d->helper = NULL;
}

/* The program has ended; the engine may need a moment to end, too, when that is why. */
static bool is_settled(struct translate_document *d, uint64_t now)
{
	unsigned ignored = 0;
	bool helper_ended = d->helper == NULL ||
			    translate_process_ended(&d->helper->process,
						    d->helper->mode[0] != '\0' ? &ignored : &d->cpu_ms);

	if (!translate_process_ended(&d->process, &d->cpu_ms))
		return false;
	if (helper_ended || (WIFEXITED(d->process.status) && WEXITSTATUS(d->process.status) == 0))
		return true;
	if (d->helper->mode[0] != '\0' && WIFEXITED(d->process.status) && WEXITSTATUS(d->process.status) != 3)
		return true; /* the pipeline has nothing to do with it */
	if (d->grace == 0)
		d->grace = now + GRACE_MS;
	return now >= d->grace;
}

bool translate_document_advance(struct translate_engine *e, struct translate_document *d, uint64_t now)
{
	if (d->phase == TRANSLATE_FREE || d->phase == TRANSLATE_DONE)
		return d->phase == TRANSLATE_DONE;
	if (now >= d->deadline) {
		translate_document_stop(e, d, DOCUMENT_TIMEOUT, "It took longer than the time limit.");
		return true;
	}
	if (d->phase != TRANSLATE_UNDER_WAY || !is_settled(d, now))
		return false;
	(void)translate_process_failure(&d->process, "The program that translates documents", &d->failure);
	ask_helper(e, d);
	translate_process_end(&d->process);
	if (d->failure.error == 0)
		check_output(d);
	d->phase = TRANSLATE_DONE;
	if (d->failure.error == 0 && d->middle_out >= 0) {
		d->phase = TRANSLATE_AFTER;
		if (convert(e, d, d->middle_out, d->name, d->output, d->output_name, &d->failure) < 0)
			d->phase = TRANSLATE_DONE;
	}
	return d->phase == TRANSLATE_DONE;
}

void translate_document_converted(struct translate_engine *e, struct translate_document *d,
				  const struct document_result *r)
{
	enum translate_phase was = d->phase;

	if (was != TRANSLATE_BEFORE && was != TRANSLATE_AFTER)
		return; /* cancelled meanwhile */
	d->phase = TRANSLATE_DONE;
	d->cpu_ms += r->cpu_ms;
	if (r->error != 0) {
		(void)translate_fail(&d->failure, r->error, "%s", r->text);
	} else if (was == TRANSLATE_BEFORE) {
		snprintf(d->name, sizeof(d->name), "document.docx");
		if (start_translation(e, d) < 0)
			d->phase = TRANSLATE_DONE;
	}
}

void translate_document_stop(struct translate_engine *e, struct translate_document *d, int error,
			     const char *why)
{
	if (d->phase == TRANSLATE_BEFORE || d->phase == TRANSLATE_AFTER)
		e->converter.ops->cancel(e->converter.engine, d->ticket);
	if (d->helper != NULL)
		translate_helper_give(e, d->helper, false);
	d->helper = NULL;
	if (d->process.running)
		translate_process_end(&d->process);
	d->failure = (struct translate_failure){ 0 };
	(void)translate_fail(&d->failure, error, "%s", why);
	d->phase = TRANSLATE_DONE;
}

void translate_document_release(struct translate_engine *e, struct translate_document *d)
{
	assert(d->phase != TRANSLATE_FREE);
	if (d->helper != NULL)
		translate_helper_give(e, d->helper, false);
	if (d->process.running)
		translate_process_end(&d->process);
	(void)close(d->input);
	(void)close(d->output);
	if (d->middle_in >= 0)
		(void)close(d->middle_in);
	if (d->middle_out >= 0)
		(void)close(d->middle_out);
	*d = (struct translate_document){ .phase = TRANSLATE_FREE };
}
