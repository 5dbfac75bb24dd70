/* json.h — the one part of JSON that is easily done wrong: strings. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdio.h>

#include "base/base.h"

/* With its quotation marks. Control characters are escaped, so that no text can end its line. */
void json_put_string(FILE *f, const char *s);
/* Reads a string as json_put_string writes it, from *p on, into dst (cut when it is longer than
 * size - 1); *p is then behind it. False: there is none, or it does not end. */
bool json_get_string(const char **p, char *dst, size_t size);

#endif
