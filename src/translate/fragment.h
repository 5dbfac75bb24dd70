/* fragment.h — marked text as a piece of HTML, which engines other than Apertium understand: pairs
 * are <g id="1">…</g>, what stands alone is <x id="1"/>, special characters are entities. A
 * fragment has no line break, so that it is a line of its own. */
#ifndef TRANSLATE_FRAGMENT_H
#define TRANSLATE_FRAGMENT_H

#include "translate/marked.h"

void translate_fragment_put(struct buf *b, struct str marked);
/* Reads an answer as a translation of the source. What is no tag of ours is text. -1: no memory, or
 * too many pieces. */
MUST_CHECK int translate_fragment_get(struct str answer, struct str source, struct buf *out);

#endif
