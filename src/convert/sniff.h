/* sniff.h — what a document is, by its bytes and not by its name. Told apart are what can be
 * worked on, what has a password, what is of another type, what is damaged, and what unpacks to
 * more than a limit. LibreOffice itself would make pages of garbage out of anything. It reads
 * strangers' bytes: in the product it runs inside the jail. */
#ifndef CONVERT_SNIFF_H
#define CONVERT_SNIFF_H

#include "base/err.h"
#include "document/errors.h"

enum convert_type {
	CONVERT_IS_OPEN_XML,
	CONVERT_IS_WORD97,
	CONVERT_IS_ODF,
	CONVERT_IS_FLAT_ODF,
	CONVERT_IS_WORD2003,
	CONVERT_IS_RTF,
	CONVERT_IS_HTML,
	CONVERT_IS_TEXT
};

struct convert_sniffed {
	enum convert_type type;
	const char *extension; /* that LibreOffice knows it by; a constant */
	bool windows;          /* text that is not UTF-8: taken for Windows-1252 */
	bool marked;           /* text with a byte order mark */
};

/* The name says whether text without any mark is meant to be text. unpacked_max: of a package,
 * in bytes. Errors have the numbers of document/errors.def. */
MUST_CHECK int convert_sniff(const uint8_t *p, size_t n, const char *name, uint64_t unpacked_max,
			     struct convert_sniffed *ret, struct err *reterr);

#endif
