/* runs.h — the list that the readers of answers fill: pieces of text with their innermost mark. */
#ifndef TRANSLATE_RUNS_H
#define TRANSLATE_RUNS_H

#include "translate/marked.h"

#define TRANSLATE_RUNS_MAX 20000 /* of one segment; an answer with more is rubbish */

struct translate_runs {
	struct translate_run *run; /* owned; texts point into `text` once it is complete */
	size_t n, cap;
	struct buf text;
	bool failed; /* no memory, or too many */
};

void translate_runs_init(struct translate_runs *r);
void translate_runs_fini(struct translate_runs *r);
/* One character more: joins the last run when that is text of the same mark. */
void translate_runs_text(struct translate_runs *r, unsigned mark, const char *p, size_t n);
void translate_runs_alone(struct translate_runs *r, unsigned mark);
/* All have been added: puts them together as translate_rebuild does. */
MUST_CHECK int translate_runs_rebuild(struct translate_runs *r, struct str source, struct buf *out);

#endif
