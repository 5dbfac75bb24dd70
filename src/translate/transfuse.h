/* transfuse.h — documents taken apart and put together by Transfuse's programs, tf-extract and
 * tf-inject, each of which is looked after: a program that crashed, or that left no output, is a
 * failure. */
#ifndef TRANSLATE_TRANSFUSE_H
#define TRANSLATE_TRANSFUSE_H

#include "base/buf.h"
#include "translate/failure.h"
#include "translate/format.h"

/* The document, at its beginning, as blocks that end with NUL. What is not text stays in the
 * folder, which is made. */
MUST_CHECK int translate_extract(enum translate_format format, int input, const char *folder,
				 struct buf *ret_blocks, struct translate_failure *f);
/* The document anew, from the same blocks with other texts. */
MUST_CHECK int translate_inject(struct str blocks, const char *folder, int output,
				struct translate_failure *f);

#endif
