/* translate.c — `procession translate` and `procession worker translate`: from which language to
 * which, and the engines that do it. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/batch.h"
#include "cli/worker.h"
#include "convert/convert.h"
#include "translate/engine.h"
#include "translate/languages.h"

static const char *const extensions[] = { "docx", "odt", "pptx",  "odp", "xlsx", "html", "htm",
					  "txt",  "xlf", "xliff", "doc", "rtf",  NULL };

static char *settings_of(const struct cli *cli, struct err *reterr)
{
	char *xml = NULL;

	if (cli->from == NULL || cli->to == NULL) {
		err_raise(reterr, 50000, 16, 1,
			  "from which language to which? Say so with --from en --to es");
		return NULL;
	}
	if (!translate_tag_is_valid(cli->from) || !translate_tag_is_valid(cli->to)) {
		err_raise(reterr, 50000, 16, 1, "'%s' is no language: write en, pt-BR or eng",
			  translate_tag_is_valid(cli->from) ? cli->to : cli->from);
		return NULL;
	}
	if (asprintf(&xml,
		     "<settings><SourceLanguage>%s</SourceLanguage><TargetLanguage>%s</TargetLanguage>"
		     "<OutputSaveBehavior>AlwaysOverwrite</OutputSaveBehavior></settings>",
		     cli->from, cli->to) < 0) {
		err_nomem(reterr);
		return NULL;
	}
	return xml;
}

/* Where the extension begins, or the end of a name that has none. */
static size_t stem(const char *input)
{
	const char *slash = strrchr(input, '/'), *dot = strrchr(input, '.');

	return dot != NULL && dot != input && (slash == NULL || dot > slash + 1) ? (size_t)(dot - input)
										 : strlen(input);
}

/* letter.docx becomes letter.es.docx. */
static char *output_of(const struct cli *cli, const char *input)
{
	size_t n = stem(input);
	char *name = NULL;

	return asprintf(&name, "%.*s.%s%s", (int)n, input, cli->to, input + n) < 0 ? NULL : name;
}

/* The converter, for documents that only it can open: when the first of them comes. */
static int start_converter(void *arg, struct document_engine *ret, struct err *reterr)
{
	return convert_start(arg, ret, reterr);
}

/* A section of the worker's file: which engine for which pair. */
static int engines_section(void *arg, const char *section, const char *name, const char *value,
			   struct err *reterr)
{
	if (strcmp(section, "engines") != 0)
		return err_raise(reterr, 50000, 16, 1,
				 "unknown section [%s]: a worker of translation has [worker] and [engines]",
				 section);
	return translate_rules_add(arg, name, value, reterr);
}

/* --engine PAIR=ENGINE goes before the rules of the file, which come after it. */
static int add_engine(struct translate_rules *rules, const char *text, struct err *reterr)
{
	const char *equals = strchr(text, '=');
	char *pair = equals == NULL ? NULL : strndup(text, (size_t)(equals - text));
	int rc;

	if (equals == NULL)
		return err_raise(reterr, 50000, 16, 1,
				 "--engine takes a pair and an engine: --engine "
				 "en-de=http://127.0.0.1:5000/translate");
	if (pair == NULL)
		return err_nomem(reterr);
	rc = translate_rules_add(rules, pair, equals + 1, reterr);
	free(pair);
	return rc;
}

/* What belongs together for as long as the engine lives: rules, and how a converter is started. */
struct setup {
	struct translate_rules rules, looked_at;
	struct convert_options converter;
};

static int start(const struct cli *cli, const struct worker_settings *s, void *arg,
		 struct document_engine *ret, struct err *reterr)
{
	struct setup *setup = arg;
	const struct translate_options o = {
		.slots = worker_settings_slots(s),
		.jail_off = !s->jail,
		.seconds = (unsigned)s->time_limit,
		.rules = &setup->rules,
		.start_converter = start_converter,
		.converter_arg = &setup->converter,
	};

	(void)cli;
	setup->converter = (struct convert_options){ .slots = o.slots,
						     .jail_off = o.jail_off,
						     .seconds = o.seconds };
	return translate_start(&o, ret, reterr);
}

/* What --engine says, if it was given. */
static int take_engine(const struct cli *cli, struct setup *setup)
{
	struct err e = { 0 };

	if (cli->engine == NULL || add_engine(&setup->rules, cli->engine, &e) == 0)
		return EXIT_OK;
	cli_output_error(&e, cli->json);
	return EXIT_USAGE;
}

int cli_run_translate(struct cli *cli, const struct command *cmd)
{
	struct setup setup = { 0 };
	const struct cli_batch_kind kind = {
		&worker_queue_translate, "translated", extensions, settings_of, output_of, start, &setup, true
	};
	int status;

	(void)cmd;
	status = take_engine(cli, &setup);
	if (status == EXIT_OK)
		status = cli_batch_run(cli, &kind);
	translate_rules_fini(&setup.rules);
	return status;
}

int cli_run_worker_translate(struct cli *cli, const struct command *cmd)
{
	struct setup setup = { 0 };
	const struct cli_worker_kind kind = { .service = &worker_queue_translate,
					      .section = engines_section,
					      .section_arg = &setup.rules,
					      .check_arg = &setup.looked_at,
					      .start = start,
					      .start_arg = &setup };
	int status;

	(void)cmd;
	status = take_engine(cli, &setup);
	if (status == EXIT_OK)
		status = cli_worker_run(cli, &kind);
	translate_rules_fini(&setup.rules);
	translate_rules_fini(&setup.looked_at);
	return status;
}
