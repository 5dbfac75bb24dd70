/* stream.c — see stream.h. */
#include "translate/stream.h"

#include <stdlib.h>

#include "translate/runs.h"

/* Every segment is given an end of sentence, so that the tagger sees one in headings, too. It is
 * taken away again. */
static const struct str sentence_end = { ".[]", 3 };

static void put_escaped(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (strchr("\\[]{}^$/<>@", text.p[i]) != NULL)
			buf_put_u8(b, '\\');
		buf_put_u8(b, (uint8_t)text.p[i]);
	}
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Blanks at the ends of a pair stay outside: they are no words that a mark could stick to. */
static void put_words(struct buf *b, struct str text, unsigned mark)
{
	size_t begin = 0, end = text.n;

	while (begin < end && is_space(text.p[begin]))
		begin++;
	while (end > begin && is_space(text.p[end - 1]))
		end--;
	put_escaped(b, (struct str){ text.p, begin });
	if (begin < end) {
		if (mark != 0)
			buf_printf(b, "[[%u]]", mark);
		put_escaped(b, (struct str){ text.p + begin, end - begin });
		if (mark != 0)
			buf_put(b, "[[/]]", 5);
	}
	put_escaped(b, (struct str){ text.p + end, text.n - end });
}

void translate_stream_put(struct buf *b, struct str marked)
{
	unsigned open[TRANSLATE_MARKS_MAX + 1] = { 0 };
	size_t depth = 0;
	struct translate_token t;

	while (translate_next_token(&marked, &t)) {
		switch (t.kind) {
		case TRANSLATE_TEXT:
			/* The innermost mark says it all: what surrounds it is known from the
			 * source. */
			put_words(b, t.text, open[depth]);
			break;
		case TRANSLATE_OPEN:
			if (depth < TRANSLATE_MARKS_MAX)
				open[++depth] = t.mark;
			break;
		case TRANSLATE_CLOSE: depth -= depth > 0; break;
		case TRANSLATE_ALONE: buf_printf(b, "[%u]", t.mark); break;
		}
	}
	buf_put(b, sentence_end.p, sentence_end.n);
	buf_put_u8(b, '\0');
}

static void put_name(struct buf *b, const struct buf *names, unsigned mark)
{
	const char *p = (const char *)names->data;

	while (--mark > 0)
		p += strlen(p) + 1;
	buf_put(b, p, strlen(p));
}

void translate_stream_put_named(struct buf *b, struct str marked, const struct buf *names)
{
	struct translate_token t;

	while (translate_next_token(&marked, &t)) {
		switch (t.kind) {
		case TRANSLATE_TEXT: put_escaped(b, t.text); break;
		case TRANSLATE_OPEN:
			buf_put(b, "[[", 2);
			put_name(b, names, t.mark);
			buf_put(b, "]]", 2);
			break;
		case TRANSLATE_CLOSE: buf_put(b, "[[/]]", 5); break;
		case TRANSLATE_ALONE:
			buf_put_u8(b, '[');
			put_name(b, names, t.mark);
			buf_put_u8(b, ']');
			break;
		}
	}
}

/* What stands between brackets in a stream. */
enum blank { BLANK_NONE, BLANK_OPEN, BLANK_CLOSE, BLANK_ALONE };

/* Cuts the blank at the beginning of *rest off. BLANK_NONE: there is none, nothing was cut. */
static enum blank take_blank(struct str *rest, struct str *ret_name)
{
	bool word_bound = rest->n >= 2 && rest->p[0] == '[' && rest->p[1] == '[';
	size_t begin = word_bound ? 2 : 1, end = begin;

	if (rest->n == 0 || rest->p[0] != '[')
		return BLANK_NONE;
	while (end < rest->n && rest->p[end] != ']')
		end += rest->p[end] == '\\' && end + 1 < rest->n ? 2 : 1;
	if (end + begin > rest->n)
		return BLANK_NONE;
	*ret_name = (struct str){ rest->p + begin, end - begin };
	rest->p += end + begin;
	rest->n -= end + begin;
	if (!word_bound)
		return BLANK_ALONE;
	return ret_name->n == 1 && ret_name->p[0] == '/' ? BLANK_CLOSE : BLANK_OPEN;
}

static unsigned number_of(struct str name)
{
	unsigned n = 0;

	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] < '0' || name.p[i] > '9' || n > TRANSLATE_MARKS_MAX)
			return 0;
		n = n * 10 + (unsigned)(name.p[i] - '0');
	}
	return n;
}

static struct str without_end(struct str s)
{
	while (s.n > 0 && is_space(s.p[s.n - 1]))
		s.n--;
	if (s.n >= sentence_end.n && memcmp(s.p + s.n - sentence_end.n, sentence_end.p, sentence_end.n) == 0)
		s.n -= sentence_end.n;
	return s;
}

int translate_stream_get(struct str answer, struct str source, struct buf *out)
{
	struct translate_runs runs;
	unsigned mark = 0;
	struct str rest = without_end(answer), name;
	int rc;

	translate_runs_init(&runs);
	while (rest.n > 0) {
		enum blank blank = take_blank(&rest, &name);

		if (blank == BLANK_OPEN) {
			mark = number_of(name);
		} else if (blank == BLANK_CLOSE) {
			mark = 0;
		} else if (blank == BLANK_ALONE) {
			if (number_of(name) != 0)
				translate_runs_alone(&runs, number_of(name));
		} else {
			size_t escape = rest.p[0] == '\\' && rest.n > 1;

			translate_runs_text(&runs, mark, rest.p + escape, 1);
			rest.p += escape + 1;
			rest.n -= escape + 1;
		}
	}
	rc = translate_runs_rebuild(&runs, source, out);
	translate_runs_fini(&runs);
	return rc;
}
