/* channel.h — the way to an engine: two pipes. Segments go in, their translations come out, in
 * order. BLOCKS is Apertium's: blocks ended by NUL, answered one by one; the pipeline stays for the
 * next document. LINES is everybody else's: a line of HTML each, until the end of the input; then
 * the engine ends. */
#ifndef TRANSLATE_CHANNEL_H
#define TRANSLATE_CHANNEL_H

#include "base/buf.h"
#include "base/str.h"
#include "translate/failure.h"

enum translate_channel_kind { TRANSLATE_BLOCKS, TRANSLATE_LINES };

struct translate_channel {
	enum translate_channel_kind kind;
	int to, from; /* descriptors; closed by who gave them */
	/* the engine has been asked and has not answered all: it is of no use to anybody else */
	bool mid_talk;
};

/* Sends a request of n blocks or lines and gets as many back. Returns when all have come: the
 * caller's time limit is somebody else's matter. */
MUST_CHECK int translate_channel_ask(struct translate_channel *c, struct str request, size_t n,
				     struct buf *ret, struct translate_failure *f);

/* Translates marked texts: targets[i] becomes a marked text in *out (offsets, since the buffer
 * grows). Texts without a letter are copied. */
struct translate_text {
	struct str source;
	size_t target, target_len; /* in out */
};
MUST_CHECK int translate_channel_texts(struct translate_channel *c, struct translate_text *texts, size_t n,
				       struct buf *out, struct translate_failure *f);

/* Cuts the piece up to the separator off *rest; false: there is no separator in it any more. */
bool translate_cut(struct str *rest, char separator, struct str *ret);

#endif
