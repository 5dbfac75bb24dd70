/* languages.h — names of languages: tags as people and jobs write them (en, en-GB, pt_BR,
 * ca-valencia, eng), compared, and as Apertium calls its modes. */
#ifndef TRANSLATE_LANGUAGES_H
#define TRANSLATE_LANGUAGES_H

#include "base/base.h"

#define TRANSLATE_TAG_MAX 36 /* with its NUL */

/* Letters, digits and joints only, a language of two or three letters first. What passes is safe in
 * a path, a command and a URL. */
bool translate_tag_is_valid(const char *tag);
/* Whether a tag is of what the pattern says: "*" is every language, "en" has en-GB in it, eng and
 * en are one, en-GB is itself only. */
bool translate_tag_matches(const char *pattern, const char *tag);
/* The file of the Apertium mode for a pair, below folder/modes: false if none is installed.
 * Variants are looked for before their language. */
bool translate_find_mode(const char *folder, const char *from, const char *to, char *ret, size_t size);

#endif
