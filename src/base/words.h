/* words.h — a command line as it stands in a configuration, as words. */
#ifndef BASE_WORDS_H
#define BASE_WORDS_H

#include "base/base.h"

/* Splits as a shell would: blanks between words, '…' and "…" keep them, \ keeps the next
 * character. NULL: an open quotation, no word, or no memory. The list ends with NULL. */
MUST_CHECK char **words_split(const char *line);
void words_free(char **words);

#endif
