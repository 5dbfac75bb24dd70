/* order.h — what LibreOffice shall do with one document, made of the job's Settings and the name
 * of the output: fixed texts of our own tables and checked numbers only, so that nothing a
 * stranger wrote reaches LibreOffice by this way. */
#ifndef CONVERT_ORDER_H
#define CONVERT_ORDER_H

#include "convert/settings.h"

enum convert_finish {
	CONVERT_AS_IT_IS,
	/* it is no format with macros */
	CONVERT_WITHOUT_MACROS,
	/* the content type of a document becomes that of a template */
	CONVERT_TO_TEMPLATE,
	CONVERT_TO_MHTML, /* a page and its pictures become one MIME file */
};

/* A row of formats.def. */
struct convert_format_row {
	enum convert_format id;
	const char *name, *extension, *filter, *kit;
	enum convert_finish finish;
};

struct convert_order {
	enum convert_format format;
	bool update_fields, hide_changes, reject_changes;
	char language[CONVERT_LANGUAGE_MAX]; /* empty: English of the United States */
	char options[512];                   /* of the PDF filter, as JSON; otherwise empty */
};

/* NULL: none of the list. */
const struct convert_format_row *convert_format_of(enum convert_format f);
const struct convert_format_row *convert_format_by_name(const char *name);
/* By the extension of a file's name, without case. */
const struct convert_format_row *convert_format_by_file(const char *file);

/* Errors are numbers of document/errors.def: a format or a setting that LibreOffice cannot do is
 * refused, never left out. */
MUST_CHECK int convert_order_make(const struct convert_settings *s, const char *output_name,
				  struct convert_order *ret, struct err *reterr);

#endif
