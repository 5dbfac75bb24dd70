/* work.h — one document translated: taken apart, its texts through a channel, put together. Runs
 * inside the jail (program_document.c). */
#ifndef TRANSLATE_WORK_H
#define TRANSLATE_WORK_H

#include "translate/channel.h"
#include "translate/failure.h"

struct translate_work {
	int input, output;
	const char *name;      /* of the input, for its kind */
	const char *folder;    /* empty; for what is not text */
	const char *from, *to; /* languages */
	struct translate_channel channel;
};

/* A document whose translation has no other text than it had itself is a failure, and so is one
 * without text. */
MUST_CHECK int translate_work(struct translate_work *w, struct translate_failure *f);

#endif
