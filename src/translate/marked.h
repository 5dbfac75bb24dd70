/* marked.h — a piece of text with inline marks: what engines translate, whatever document it comes
 * from. Text is UTF-8. Formatting, links, placeholders and other inline elements are marks, which
 * have a number in their segment, from 1. A mark is a pair around some text, or stands alone. Marks
 * are written into the text with control characters that neither XML nor HTML may contain, so that
 * a marked text is a plain string. */
#ifndef TRANSLATE_MARKED_H
#define TRANSLATE_MARKED_H

#include "base/buf.h"
#include "base/str.h"

#define TRANSLATE_MARKS_MAX 1000 /* in one segment; a segment with more is not translated */

enum translate_token_kind { TRANSLATE_TEXT, TRANSLATE_OPEN, TRANSLATE_CLOSE, TRANSLATE_ALONE };

struct translate_token {
	enum translate_token_kind kind;
	unsigned mark;   /* of OPEN and ALONE */
	struct str text; /* of TEXT: not empty */
};

/* Writing. Control characters are left out of the text, but for tabs and line ends. */
void translate_put_text(struct buf *b, struct str text);
void translate_put_open(struct buf *b, unsigned mark);
void translate_put_close(struct buf *b);
void translate_put_alone(struct buf *b, unsigned mark);

/* Cuts the next token off *rest; false at the end. */
bool translate_next_token(struct str *rest, struct translate_token *ret);
/* The texts are the same, but for marks, blanks and capitals, which an engine that translated
 * nothing may have changed. */
bool translate_same_text(struct str a, struct str b);
/* Whether there is a letter in it: a segment without one is not sent to an engine. */
bool translate_has_letters(struct str marked);
/* White space at both ends, which engines tend to lose; the rest is what they are given. */
void translate_split_ends(struct str marked, struct str *ret_before, struct str *ret_middle,
			  struct str *ret_after);

/* A piece of what an engine answered: text of one mark (the innermost), or a mark that stands
 * alone. */
struct translate_run {
	unsigned mark; /* 0: outside of every mark */
	bool alone;
	struct str text;
};

/* Puts the runs of an answer together as a marked text that has each mark of the source exactly
 * once, nested as there: words of a mark that the engine scattered keep it where most of them are;
 * marks that it lost come back, empty, at the end of what surrounded them; marks it invented are
 * dropped. -1: no memory, or a source that is not well formed. */
MUST_CHECK int translate_rebuild(struct str source, const struct translate_run *runs, size_t nruns,
				 struct buf *out);

#endif
