/* xliff.h — XLIFF 1.2 and 2.x: the exchange format of translators' tools. Sources become segments,
 * their inline elements marks; targets are written beside them. Everything else of the document
 * stays as it is. https://docs.oasis-open.org/xliff/v1.2/os/xliff-core.html,
 * https://docs.oasis-open.org/xliff/xliff-core/v2.0/xliff-core-v2.0.html */
#ifndef TRANSLATE_XLIFF_H
#define TRANSLATE_XLIFF_H

#include "base/buf.h"
#include "base/str.h"
#include "translate/failure.h"

struct translate_xliff;

/* Whether a document is XLIFF, by its root element; looks at the beginning only. */
bool translate_xliff_is(struct str document);
/* Reads it. Nothing is fetched, no entity is expanded. What needs no translation (translate="no",
 * targets that somebody made) is no segment. */
MUST_CHECK int translate_xliff_read(struct str document, struct translate_xliff **ret,
				    struct translate_failure *f);
void translate_xliff_free(struct translate_xliff *x);

/* The language that the document says its sources are in; "" when it says none. Of several files it
 * is the first's. */
const char *translate_xliff_source_language(const struct translate_xliff *x);
size_t translate_xliff_count(const struct translate_xliff *x);
struct str translate_xliff_source(const struct translate_xliff *x, size_t i);
/* The target of a segment, marked as translate_rebuild leaves it. */
MUST_CHECK int translate_xliff_set_target(struct translate_xliff *x, size_t i, struct str marked,
					  struct translate_failure *f);
/* The whole document, with the language of its targets. */
MUST_CHECK int translate_xliff_write(struct translate_xliff *x, const char *target_language, struct buf *out,
				     struct translate_failure *f);

#endif
