/* rebuild.c — marks of an answer put back in order. Engines move words, and marks with them: an
 * answer may have a mark in two places, none, or one inside the wrong other. The source says how
 * marks are nested. Each mark gets one home, a stretch of runs that lie side by side; words
 * elsewhere are given to what surrounds the mark. Parents come before their children in the source,
 * so one pass over the marks in order settles all. */
#include <assert.h>
#include <stdlib.h>

#include "translate/marked.h"

struct mark {
	unsigned parent; /* 0: none */
	bool alone;
	bool known; /* the source has it */
	bool seen;  /* of those that stand alone: the answer has it */
};

struct rebuild {
	struct mark *marks; /* by number; [0] is the segment itself */
	unsigned *order;    /* numbers as the source has them, parents first */
	unsigned nmarks;
	struct translate_run *runs;
	size_t nruns, cap;
};

static int read_source(struct rebuild *r, struct str source)
{
	unsigned open = 0;
	struct translate_token t;

	while (translate_next_token(&source, &t)) {
		if (t.kind == TRANSLATE_TEXT)
			continue;
		if (t.kind == TRANSLATE_CLOSE) {
			if (open == 0)
				return -1;
			open = r->marks[open].parent;
			continue;
		}
		if (t.mark == 0 || t.mark > TRANSLATE_MARKS_MAX || r->marks[t.mark].known)
			return -1;
		r->marks[t.mark] = (struct mark){ .parent = open,
						  .alone = t.kind == TRANSLATE_ALONE,
						  .known = true };
		r->order[r->nmarks++] = t.mark;
		if (t.kind == TRANSLATE_OPEN)
			open = t.mark;
	}
	return open == 0 ? 0 : -1;
}

static bool is_within(const struct rebuild *r, unsigned mark, unsigned ancestor)
{
	while (mark != ancestor && mark != 0)
		mark = r->marks[mark].parent;
	return mark == ancestor;
}

static unsigned common_ancestor(const struct rebuild *r, unsigned a, unsigned b)
{
	while (!is_within(r, b, a))
		a = r->marks[a].parent;
	return a;
}

static bool is_blank(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != ' ' && s.p[i] != '\t' && s.p[i] != '\n' && s.p[i] != '\r')
			return false;
	}
	return true;
}

/* What the engine answered, without what the source does not have and without the second of those
 * that stand alone. */
static void take_runs(struct rebuild *r, const struct translate_run *runs, size_t nruns)
{
	for (size_t i = 0; i < nruns; i++) {
		struct translate_run run = runs[i];
		struct mark *m = run.mark <= TRANSLATE_MARKS_MAX ? &r->marks[run.mark] : &r->marks[0];

		if (run.mark != 0 && !m->known)
			run.mark = 0;
		if (run.alone) {
			if (run.mark == 0 || !m->alone || m->seen)
				continue;
			m->seen = true;
		} else if (run.text.n == 0) {
			continue;
		} else if (m->alone) {
			run.mark = m->parent; /* text inside of what has none */
		}
		assert(r->nruns < r->cap && run.mark <= TRANSLATE_MARKS_MAX);
		r->runs[r->nruns++] = run;
	}
}

/* The mark of the nearest run before or after i that is a word; 0 at an end of the segment. */
static unsigned neighbour(const struct rebuild *r, size_t i, int step)
{
	for (size_t k = i + (size_t)step; k < r->nruns; k += (size_t)step) {
		if (!r->runs[k].alone && !is_blank(r->runs[k].text))
			return r->runs[k].mark;
	}
	return 0;
}

/* Blanks between two words of a mark belong to it. */
static void settle_blanks(struct rebuild *r)
{
	for (size_t i = 0; i < r->nruns; i++) {
		if (!r->runs[i].alone && is_blank(r->runs[i].text))
			r->runs[i].mark = common_ancestor(r, neighbour(r, i, -1), neighbour(r, i, 1));
	}
}

/* A run that stands alone is no reason to split the stretch around it. */
static bool belongs(const struct rebuild *r, size_t i, unsigned mark)
{
	if (r->runs[i].alone)
		return is_within(r, neighbour(r, i, -1), mark) && is_within(r, neighbour(r, i, 1), mark);
	return is_within(r, r->runs[i].mark, mark);
}

/* Finds the stretch with most text of a mark: its first run and the one after its last. Both 0:
 * there is none. */
static void find_home(const struct rebuild *r, unsigned mark, size_t *ret_begin, size_t *ret_end)
{
	size_t best = 0;

	*ret_begin = *ret_end = 0;
	for (size_t i = 0; i < r->nruns;) {
		size_t begin = i, length = 0;

		while (i < r->nruns && belongs(r, i, mark)) {
			length += r->runs[i].alone ? 0 : r->runs[i].text.n;
			i++;
		}
		if (length > best) {
			best = length;
			*ret_begin = begin;
			*ret_end = i;
		}
		if (i == begin)
			i++;
	}
}

static void insert_run(struct rebuild *r, size_t at, struct translate_run run)
{
	assert(r->nruns < r->cap && at <= r->nruns);
	memmove(r->runs + at + 1, r->runs + at, (r->nruns - at) * sizeof(*r->runs));
	r->runs[at] = run;
	r->nruns++;
}

/* A pair that the answer has nowhere: empty, after the last run of what surrounds it. */
static void bring_back(struct rebuild *r, unsigned mark)
{
	unsigned parent = r->marks[mark].parent;
	size_t at = r->nruns;

	while (at > 0 && (r->runs[at - 1].alone || !is_within(r, r->runs[at - 1].mark, parent)))
		at--;
	if (at == 0)
		at = r->nruns;
	insert_run(r, at,
		   (struct translate_run){ .mark = mark, .alone = r->marks[mark].alone, .text = STR("") });
}

static void settle_pair(struct rebuild *r, unsigned mark)
{
	size_t begin, end;

	find_home(r, mark, &begin, &end);
	if (begin == end) {
		bring_back(r, mark);
		return;
	}
	for (size_t i = 0; i < r->nruns; i++) {
		if ((i < begin || i >= end) && !r->runs[i].alone && is_within(r, r->runs[i].mark, mark))
			r->runs[i].mark = r->marks[mark].parent;
	}
}

/* Inside which pair a run lies. Of one that stands alone it is what is open both before and after
 * it. */
static unsigned surroundings(const struct rebuild *r, size_t i)
{
	unsigned before = 0, after = 0;

	if (!r->runs[i].alone)
		return r->runs[i].mark;
	for (size_t k = i; k-- > 0;) {
		if (!r->runs[k].alone) {
			before = r->runs[k].mark;
			break;
		}
	}
	for (size_t k = i + 1; k < r->nruns; k++) {
		if (!r->runs[k].alone) {
			after = r->runs[k].mark;
			break;
		}
	}
	return common_ancestor(r, before, after);
}

static void open_down(const struct rebuild *r, struct buf *out, unsigned from, unsigned to)
{
	if (to == from)
		return;
	open_down(r, out, from, r->marks[to].parent);
	translate_put_open(out, to);
}

static void move(const struct rebuild *r, struct buf *out, unsigned from, unsigned to)
{
	unsigned common = common_ancestor(r, from, to);

	for (; from != common; from = r->marks[from].parent)
		translate_put_close(out);
	open_down(r, out, common, to);
}

static void write_out(const struct rebuild *r, struct buf *out)
{
	unsigned open = 0;

	for (size_t i = 0; i < r->nruns; i++) {
		unsigned inside = surroundings(r, i);

		move(r, out, open, inside);
		open = inside;
		if (r->runs[i].alone)
			translate_put_alone(out, r->runs[i].mark);
		else
			translate_put_text(out, r->runs[i].text);
	}
	move(r, out, open, 0);
}

static int rebuild(struct rebuild *r, struct str source, const struct translate_run *runs, size_t nruns,
		   struct buf *out)
{
	if (read_source(r, source) < 0)
		return -1;
	take_runs(r, runs, nruns);
	settle_blanks(r);
	for (unsigned i = 0; i < r->nmarks; i++) {
		unsigned mark = r->order[i];

		if (!r->marks[mark].alone)
			settle_pair(r, mark);
		else if (!r->marks[mark].seen)
			bring_back(r, mark);
	}
	write_out(r, out);
	return out->failed ? -1 : 0;
}

int translate_rebuild(struct str source, const struct translate_run *runs, size_t nruns, struct buf *out)
{
	struct rebuild r = { .cap = nruns + TRANSLATE_MARKS_MAX };
	int rc = -1;

	r.marks = calloc(TRANSLATE_MARKS_MAX + 1, sizeof(*r.marks));
	r.order = calloc(TRANSLATE_MARKS_MAX, sizeof(*r.order));
	r.runs = calloc(r.cap, sizeof(*r.runs));
	if (r.marks != NULL && r.order != NULL && r.runs != NULL)
		rc = rebuild(&r, source, runs, nruns, out);
	free(r.marks);
	free(r.order);
	free(r.runs);
	return rc;
}
