/* errors.h — what can go wrong with a document, as numbers that the job databases keep
 * (ErrorCode). The list is errors.def. */
#ifndef DOCUMENT_ERRORS_H
#define DOCUMENT_ERRORS_H

#include "base/base.h"

enum document_error {
	DOCUMENT_OK = 0,
#define DOCUMENT_ERROR(id, number, name, retry, text) id = (number),
#include "document/errors.def"
#undef DOCUMENT_ERROR
};

/* Of any number, also one that another worker's version stored: "Error" and an empty text where
 * it is not in the list. */
const char *document_error_name(int number);
const char *document_error_text(int number);
/* Whether another attempt may succeed although neither the document nor its settings changed.
 * Unknown numbers: yes. */
bool document_error_retry(int number);

#endif
