/* engine.h — the translation engine as the supervisor sees it (document/engine.h): documents in,
 * translations out. */
#ifndef TRANSLATE_ENGINE_H
#define TRANSLATE_ENGINE_H

#include "base/err.h"
#include "document/engine.h"
#include "translate/rules.h"

struct translate_options {
	unsigned slots;   /* documents at once */
	unsigned seconds; /* time limit of a document whose task has none */
	bool jail_off;
	const struct translate_rules *rules; /* outlive the engine; NULL: Apertium for all */
	const char *apertium;                /* folder of its data; NULL: where Debian has it */
	const char *
		/* folder of translate-document and translate-http; NULL: where they were installed
		 * or built */
		programs;
	/* Starts the converter, when the first document needs it (doc, rtf); NULL: such documents
	 * are refused. Its stop() is called by ours. */
	int (*start_converter)(void *arg, struct document_engine *ret, struct err *reterr);
	void *converter_arg;
};

/* -1: the jail cannot be had; reterr says what to do. */
MUST_CHECK int translate_start(const struct translate_options *options, struct document_engine *ret,
			       struct err *reterr);

#endif
