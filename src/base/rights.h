/* rights.h — who may what with a file, for the message of somebody who may not. */
#ifndef BASE_RIGHTS_H
#define BASE_RIGHTS_H

#include <stddef.h>

/* " (owner uid 0, mode 0400; this program runs as uid 7)"; empty when nothing can be found out. */
void rights_describe(const char *path, char *dst, size_t size);

#endif
