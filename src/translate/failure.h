/* failure.h — why a document could not be translated: a number of document/errors.def and a
 * sentence for people. */
#ifndef TRANSLATE_FAILURE_H
#define TRANSLATE_FAILURE_H

#include "base/base.h"
#include "document/errors.h"

struct translate_failure {
	int error; /* 0: none yet */
	char text[512];
};

/* Fills it in and returns -1. The first one counts: what follows from a failure is no news. */
int translate_fail(struct translate_failure *f, int error, const char *fmt, ...) PRINTF_LIKE(3, 4);

#ifdef __clang_analyzer__
#define translate_fail(...) ((void)translate_fail(__VA_ARGS__), -1)
#endif

#endif
