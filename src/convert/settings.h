/* settings.h — the Settings of a conversion job: XML with the names of Word Automation Services
 * (ConversionJobSettings and FixedFormatSettings), in any namespace. Their meaning is the
 * client's ([MS-WORDSSP2] 3.2.1); docs/convert.md has ours. */
#ifndef CONVERT_SETTINGS_H
#define CONVERT_SETTINGS_H

#include "base/err.h"
#include "document/errors.h"

#define CONVERT_SETTINGS_MAX 65536 /* bytes */
#define CONVERT_LANGUAGE_MAX 24
#define CONVERT_PAGES_MAX 64

enum convert_format {
	CONVERT_AUTOMATIC, /* by the extension of the output */
#define CONVERT_FORMAT(id, name, extension, filter, kit, finish) id,
#include "convert/formats.def"
#undef CONVERT_FORMAT
	CONVERT_XPS, /* known, and refused */
	CONVERT_STRICT,
};

/* Tracked changes, as they are shown on paper. */
enum convert_revisions {
	CONVERT_AS_STORED, /* as the document says */
	CONVERT_FINAL,
	CONVERT_FINAL_MARKED,
	CONVERT_ORIGINAL,
	CONVERT_ORIGINAL_MARKED,
};

/* What is to happen to an output that exists already: the supervisor's business, since it has
 * the files. */
enum convert_save {
	CONVERT_APPEND_IF_POSSIBLE,
	CONVERT_ALWAYS_OVERWRITE,
	CONVERT_APPEND_ONLY,
	CONVERT_NEVER_OVERWRITE
};

/* What a client asks for with the flags of MarkupView; 0 where it asks for nothing. */
#define CONVERT_MARKUP_GIVEN 1u
#define CONVERT_MARKUP_COMMENTS 2u
#define CONVERT_MARKUP_INK 4u
#define CONVERT_MARKUP_TEXT 8u
#define CONVERT_MARKUP_FORMATTING 16u

struct convert_settings {
	enum convert_format format;
	enum convert_save save;
	enum convert_revisions revisions;
	unsigned markup;
	bool update_fields;
	bool embed_fonts, thumbnail;
	bool balloons_other;      /* balloons as LibreOffice does not draw them */
	bool compatibility_other; /* another compatibility mode than the document's */
	char language[CONVERT_LANGUAGE_MAX];
	/* of PDF */
	bool pdfa, tags, headings, word_bookmarks, small, no_properties;
	char pages[CONVERT_PAGES_MAX]; /* empty: all */
};

/* Of an empty document: Automatic, nothing else asked for, PDF with tags and headings. */
void convert_settings_default(struct convert_settings *s);
/* DOCUMENT_SETTINGS_INVALID: no XML, an element or a value that nobody knows. */
MUST_CHECK int convert_settings_read(const char *xml, size_t n, struct convert_settings *ret,
				     struct err *reterr);

#endif
