/* fuzz_convert_sniff.c — what a document is, by its bytes.
 * Input: the name of the document, a line feed, the document. */
#include <string.h>

#include "convert/sniff.h"
#include "fuzz.h"

#define NAME_MAX_BYTES 64
#define UNPACKED_MAX (4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *line = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t n = line != NULL ? (size_t)(line - data) : 0;
	char name[NAME_MAX_BYTES];
	struct convert_sniffed what = { 0 };
	struct err e = { 0 };
	int rc;

	if (line == NULL || n >= sizeof(name))
		return 0;
	memcpy(name, data, n);
	name[n] = '\0';
	rc = convert_sniff(line + 1, size - n - 1, name, UNPACKED_MAX, &what, &e);
	if (rc == 0)
		HOLDS(what.extension != NULL && what.extension[0] != '\0');
	else
		HOLDS(e.number == DOCUMENT_INPUT_CORRUPT || e.number == DOCUMENT_INPUT_ENCRYPTED ||
		      e.number == DOCUMENT_INPUT_UNSUPPORTED || e.number == DOCUMENT_UNPACKED_TOO_LARGE);
	HOLDS(strlen(e.text) < sizeof(e.text));
	return 0;
}
