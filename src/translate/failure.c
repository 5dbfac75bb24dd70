/* failure.c — see failure.h. */
#include "translate/failure.h"

#include <stdarg.h>
#include <stdio.h>

#undef translate_fail

int translate_fail(struct translate_failure *f, int error, const char *fmt, ...)
{
	va_list args;

	if (f->error != 0)
		return -1;
	f->error = error;
	va_start(args, fmt);
	(void)vsnprintf(f->text, sizeof(f->text), fmt, args);
	va_end(args);
	return -1;
}
