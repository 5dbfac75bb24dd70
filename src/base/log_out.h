/* log_out.h — the way of a finished line to standard error; log.c's own. */
#ifndef BASE_LOG_OUT_H
#define BASE_LOG_OUT_H

#include "base/base.h"

/* The whole line, with its end, at most LOG_LINE_MAX bytes. */
#define LOG_LINE_MAX 4096
void log_out(const char *line, size_t n);
/* Makes the line that tells of lines that nobody took; dst has LOG_LINE_MAX bytes. In log.c.
 * Gives its length. */
size_t log_line_dropped(char *dst, unsigned long lines);

#endif
