/* format.h — what kind of document the bytes are, as far as translating it goes. */
#ifndef TRANSLATE_FORMAT_H
#define TRANSLATE_FORMAT_H

#include "base/str.h"
#include "translate/failure.h"

enum translate_format {
	TRANSLATE_FORMAT_TEXT,
	TRANSLATE_FORMAT_HTML,
	TRANSLATE_FORMAT_DOCX,
	TRANSLATE_FORMAT_PPTX,
	TRANSLATE_FORMAT_ODT,
	TRANSLATE_FORMAT_ODP,
	TRANSLATE_FORMAT_XLSX,
	TRANSLATE_FORMAT_XLIFF,
};

/* By the bytes; the name only tells a text from a page of HTML. Refuses what is empty, encrypted,
 * damaged, of another kind, and what unpacks to more than a limit, each with its own error. */
MUST_CHECK int translate_format_find(struct str file, const char *name, enum translate_format *ret,
				     struct translate_failure *f);

#endif
