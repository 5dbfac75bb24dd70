/* convert.c — `procession convert` and `procession worker convert`: which formats, and the
 * engine that makes them. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "cli/batch.h"
#include "cli/worker.h"
#include "convert/convert.h"

/* Formats by the extension that people know; names as the settings of Word Automation have them. */
static const struct {
	const char *extension, *format;
} formats[] = {
	{ "pdf", "PDF" },
	{ "docx", "Document" },
	{ "docm", "DocumentMacroEnabled" },
	{ "doc", "Document97" },
	{ "rtf", "RTF" },
	{ "odt", "ODT" },
	{ "dotx", "Template" },
	{ "dotm", "TemplateMacroEnabled" },
	{ "dot", "Template97" },
	{ "xml", "XML" },
	{ "mht", "MHTML" },
	{ "mhtml", "MHTML" },
};

/* Of what is taken from folders: all that convert/sniff.c knows, but for those that many files have
 * that are no documents (xml, md, log). */
static const char *const extensions[] = { "docx", "docm", "dotx", "dotm", "doc", "dot", "odt",
					  "ott",  "fodt", "rtf",  "html", "htm", "txt", NULL };

static char *settings_of(const struct cli *cli, struct err *reterr)
{
	const char *wanted = cli->to != NULL ? cli->to : "pdf";
	bool pdfa = str_eq_nocase(str_of(wanted), STR("pdfa"));
	char *xml = NULL;

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (!str_eq_nocase(str_of(pdfa ? "pdf" : wanted), str_of(formats[i].extension)))
			continue;
		if (asprintf(&xml,
			     "<ConversionJobSettings><OutputFormat>%s</"
			     "OutputFormat><OutputSaveBehavior>AlwaysOverwrite</OutputSaveBehavior>%s</"
			     "ConversionJobSettings>",
			     formats[i].format,
			     pdfa ? "<FixedFormatSettings><UsePDFA>true</UsePDFA></FixedFormatSettings>"
				  : "") < 0) {
			err_nomem(reterr);
			return NULL;
		}
		return xml;
	}
	err_raise(reterr, 50000, 16, 1,
		  "'%s' is no format to convert to; it is one of pdf, pdfa, docx, docm, doc, dotx, dotm, "
		  "dot, rtf, odt, xml, mht, mhtml",
		  wanted);
	return NULL;
}

static char *output_of(const struct cli *cli, const char *input)
{
	const char *wanted = cli->to != NULL ? cli->to : "pdf", *slash = strrchr(input, '/'),
		   *dot = strrchr(input, '.');
	size_t n = dot != NULL && (slash == NULL || dot > slash + 1) && dot != input ? (size_t)(dot - input)
										     : strlen(input);
	char *name = NULL, extension[16] = "pdf";

	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (str_eq_nocase(str_of(wanted), str_of(formats[i].extension)))
			str_copy(extension, sizeof(extension), str_of(formats[i].extension));
	return asprintf(&name, "%.*s.%s", (int)n, input, extension) < 0 ? NULL : name;
}

static int start(const struct cli *cli, const struct worker_settings *s, void *arg,
		 struct document_engine *ret, struct err *reterr)
{
	const struct convert_options o = { .slots = worker_settings_slots(s),
					   .jail_off = !s->jail,
					   .seconds = (unsigned)s->time_limit };

	(void)cli;
	(void)arg;
	return convert_start(&o, ret, reterr);
}

int cli_run_convert(struct cli *cli, const struct command *cmd)
{
	static const struct cli_batch_kind kind = {
		&worker_queue_convert, "converted", extensions, settings_of, output_of, start, NULL, false
	};

	(void)cmd;
	return cli_batch_run(cli, &kind);
}

/* The rules of translation may stand in the same file: the units of both workers read one. */
static int other_section(void *arg, const char *section, const char *name, const char *value,
			 struct err *reterr)
{
	(void)arg;
	(void)name;
	(void)value;
	if (strcmp(section, "engines") == 0)
		return 0;
	return err_raise(reterr, 50000, 16, 1, "unknown section [%.60s]", section);
}

int cli_run_worker_convert(struct cli *cli, const struct command *cmd)
{
	static const struct cli_worker_kind kind = { .service = &worker_queue_convert,
						     .section = other_section,
						     .start = start };

	(void)cmd;
	return cli_worker_run(cli, &kind);
}
