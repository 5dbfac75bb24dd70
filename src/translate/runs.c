/* runs.c — see runs.h. While runs are added the buffer moves, so texts are kept as lengths and
 * become pointers at the end. */
#include "translate/runs.h"

#include <assert.h>
#include <stdlib.h>

#define ANSWER_MAX ((size_t)64 << 20)

void translate_runs_init(struct translate_runs *r)
{
	*r = (struct translate_runs){ 0 };
	buf_init(&r->text, ANSWER_MAX);
}

void translate_runs_fini(struct translate_runs *r)
{
	free(r->run);
	buf_fini(&r->text);
	*r = (struct translate_runs){ 0 };
}

static struct translate_run *add(struct translate_runs *r, unsigned mark, bool alone)
{
	if (r->n == r->cap) {
		size_t cap = r->cap == 0 ? 16 : r->cap * 2;
		struct translate_run *grown = r->n < TRANSLATE_RUNS_MAX
						      ? realloc(r->run, cap * sizeof(*grown))
						      : NULL;

		if (grown == NULL) {
			r->failed = true;
			return NULL;
		}
		r->run = grown;
		r->cap = cap;
	}
	assert(r->run != NULL && r->n < r->cap);
	r->run[r->n] = (struct translate_run){ .mark = mark, .alone = alone, .text = STR("") };
	return &r->run[r->n++];
}

void translate_runs_text(struct translate_runs *r, unsigned mark, const char *p, size_t n)
{
	struct translate_run *last = r->n > 0 ? &r->run[r->n - 1] : NULL;

	if (n == 0)
		return;
	if (last == NULL || last->alone || last->mark != mark)
		last = add(r, mark, false);
	if (last == NULL)
		return;
	last->text.n += n;
	buf_put(&r->text, p, n);
}

void translate_runs_alone(struct translate_runs *r, unsigned mark)
{
	(void)add(r, mark, true);
}

int translate_runs_rebuild(struct translate_runs *r, struct str source, struct buf *out)
{
	const char *p = r->text.len == 0 ? "" : (const char *)r->text.data;

	if (r->failed || r->text.failed)
		return -1;
	for (size_t i = 0; i < r->n; i++) {
		if (r->run[i].text.n > 0)
			r->run[i].text.p = p;
		p += r->run[i].text.n;
	}
	return translate_rebuild(source, r->run, r->n, out);
}
