/* location.h — where a document is: a path on this machine or a URL, made of the root of its
 * group and its own name. */
#ifndef DOCUMENT_LOCATION_H
#define DOCUMENT_LOCATION_H

#include "base/err.h"

#define DOCUMENT_TEXT_MAX 512 /* of a text for people, with its NUL: what went wrong */

struct document_location {
	bool remote;
	char *text; /* owned: an absolute path without empty and "." parts, or an http(s) URL */
};

/* Root may be NULL or empty. A root of http, https or file is a URL, and so is the name behind
 * it: percent signs in it escape. Without a scheme both are plain paths. → DOCUMENT_OK, or an
 * error of errors.def with its reason in text. */
MUST_CHECK int document_locate(const char *root, const char *name, struct document_location *ret,
			       char text[DOCUMENT_TEXT_MAX]);
void document_location_fini(struct document_location *l);

#endif
