/* xliff_int.h — what the files of the XLIFF reader share. */
#ifndef TRANSLATE_XLIFF_INT_H
#define TRANSLATE_XLIFF_INT_H

#include <libxml/tree.h>

#include "translate/marked.h"
#include "translate/xliff.h"

/* One text that is to be translated. */
struct translate_xliff_segment {
	xmlNode *source; /* the element that holds it: source, or a mrk of a seg-source */
	xmlNode *target; /* that gets its translation; NULL: is made after `after` */
	xmlNode *after;
	xmlNode **marks; /* owned; elements of the source by number less one */
	unsigned nmarks;
	struct buf text; /* marked */
};

struct translate_xliff {
	xmlDoc *doc;
	bool is_v2;
	struct translate_xliff_segment *segment; /* owned */
	size_t n, cap;
	struct translate_failure *failure; /* while it is being read */
};

bool translate_xliff_named(const xmlNode *node, const char *name);
/* The first child of that name; NULL: none. */
xmlNode *translate_xliff_child(const xmlNode *parent, const char *name);
/* Whether an attribute (without a namespace) has this value. */
bool translate_xliff_attribute_is(const xmlNode *node, const char *name, const char *value);

/* xliff_inline.c: the content of a source as a marked text; fills marks and text of the segment. */
MUST_CHECK int translate_xliff_take(struct translate_xliff *x, struct translate_xliff_segment *s);
/* The content of an element made anew from a marked text and the marks of the segment. */
MUST_CHECK int translate_xliff_fill(struct translate_xliff *x, const struct translate_xliff_segment *s,
				    xmlNode *target, struct str marked);
/* Whether there is anything but white space in it or below. */
bool translate_xliff_has_words(const xmlNode *node);

/* xliff_units.c: finds the segments of the document. */
MUST_CHECK int translate_xliff_find(struct translate_xliff *x);

#endif
