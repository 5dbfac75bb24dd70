/* xlsx_int.h — what the files of the spreadsheet reader share. */
#ifndef TRANSLATE_XLSX_INT_H
#define TRANSLATE_XLSX_INT_H

#include <libxml/hash.h>
#include <libxml/tree.h>
#include <zip.h>

#include "translate/marked.h"
#include "translate/xlsx.h"

/* One text: an element si, is or text, whose content is t, or runs r of a t each with its
 * formatting rPr. */
struct translate_xlsx_segment {
	xmlNode *holder;
	struct buf text; /* marked; mark n is the nth run */
};

/* A part of the file that has texts. */
struct translate_xlsx_part {
	zip_uint64_t index;
	xmlDoc *doc;
	xmlChar *text; /* as it is written; libzip reads it when it closes the file */
};

struct translate_xlsx {
	zip_t *zip;
	zip_source_t *source; /* the bytes of the file, as libzip changes them */
	struct translate_xlsx_part *part;
	size_t nparts;
	struct translate_xlsx_segment *segment;
	size_t n, cap;
	xmlHashTable *names; /* texts that must not change */
};

/* xlsx_text.c: takes the text of an element as a segment, if it has one. */
MUST_CHECK int translate_xlsx_take(struct translate_xlsx *x, xmlNode *holder, struct translate_failure *f);
/* Writes the content of the element anew. */
MUST_CHECK int translate_xlsx_fill(const struct translate_xlsx_segment *s, struct str marked);

#endif
