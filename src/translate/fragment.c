/* fragment.c — see fragment.h. The reader is lenient: services rewrite tags (<X ID='1'></X>), and a
 * stray bracket is just text. */
#include "translate/fragment.h"

#include <libxml/parserInternals.h>
#include <stdlib.h>

#include "translate/runs.h"

static void put_escaped(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		switch (text.p[i]) {
		case '&': buf_put(b, "&amp;", 5); break;
		case '<': buf_put(b, "&lt;", 4); break;
		case '>': buf_put(b, "&gt;", 4); break;
		case '\n': buf_put(b, "&#10;", 5); break;
		case '\r': buf_put(b, "&#13;", 5); break;
		default: buf_put_u8(b, (uint8_t)text.p[i]);
		}
	}
}

void translate_fragment_put(struct buf *b, struct str marked)
{
	struct translate_token t;

	while (translate_next_token(&marked, &t)) {
		switch (t.kind) {
		case TRANSLATE_TEXT: put_escaped(b, t.text); break;
		case TRANSLATE_OPEN: buf_printf(b, "<g id=\"%u\">", t.mark); break;
		case TRANSLATE_CLOSE: buf_put(b, "</g>", 4); break;
		case TRANSLATE_ALONE: buf_printf(b, "<x id=\"%u\"/>", t.mark); break;
		}
	}
}

static bool eat(struct str *s, char lower)
{
	if (s->n == 0 || (s->p[0] | ((s->p[0] >= 'A' && s->p[0] <= 'Z') ? 0x20 : 0)) != lower)
		return false;
	s->p++;
	s->n--;
	return true;
}

static void skip_blanks(struct str *s)
{
	while (eat(s, ' ') || eat(s, '\t'))
		;
}

static unsigned eat_number(struct str *s)
{
	unsigned n = 0;

	while (s->n > 0 && s->p[0] >= '0' && s->p[0] <= '9' && n <= TRANSLATE_MARKS_MAX) {
		n = n * 10 + (unsigned)(s->p[0] - '0');
		s->p++;
		s->n--;
	}
	return n;
}

enum tag { TAG_NONE, TAG_OPEN, TAG_CLOSE, TAG_ALONE, TAG_IGNORED };

/* After the name: id="7" and the end of the tag. */
static bool take_id(struct str *s, unsigned *ret)
{
	char quote = 0;

	skip_blanks(s);
	if (!eat(s, 'i') || !eat(s, 'd'))
		return false;
	skip_blanks(s);
	if (!eat(s, '='))
		return false;
	skip_blanks(s);
	if (s->n > 0 && (s->p[0] == '"' || s->p[0] == '\''))
		quote = s->p[0];
	if (quote != 0 && !eat(s, quote))
		return false;
	*ret = eat_number(s);
	if (quote != 0 && !eat(s, quote))
		return false;
	skip_blanks(s);
	(void)eat(s, '/');
	skip_blanks(s);
	return *ret != 0 && eat(s, '>');
}

/* Cuts one of our tags off *rest, or nothing. */
static enum tag take_tag(struct str *rest, unsigned *ret_mark)
{
	struct str s = *rest;
	bool closing, pair;

	if (!eat(&s, '<'))
		return TAG_NONE;
	skip_blanks(&s);
	closing = eat(&s, '/');
	skip_blanks(&s);
	pair = eat(&s, 'g');
	if (!pair && !eat(&s, 'x'))
		return TAG_NONE;
	if (closing) {
		skip_blanks(&s);
		if (!eat(&s, '>'))
			return TAG_NONE;
		*rest = s;
		return pair ? TAG_CLOSE : TAG_IGNORED;
	}
	if (!take_id(&s, ret_mark))
		return TAG_NONE;
	*rest = s;
	return pair ? TAG_OPEN : TAG_ALONE;
}

static const struct {
	const char *name;
	uint32_t c;
} entities[] = { { "amp;", '&' },  { "lt;", '<' },    { "gt;", '>' },
		 { "quot;", '"' }, { "apos;", '\'' }, { "nbsp;", 0xa0 } };

/* &#10; or &#xA; after the ampersand: the number, and how long it is; 0: it is none. */
static size_t numeric_entity(struct str s, uint32_t *ret)
{
	bool hex = s.n > 2 && (s.p[1] | 0x20) == 'x';
	size_t i = hex ? 2 : 1;
	uint32_t c = 0;

	if (s.n < 3 || s.p[0] != '#')
		return 0;
	for (; i < s.n && s.p[i] != ';'; i++) {
		char d = (char)(s.p[i] | 0x20);
		uint32_t digit = s.p[i] >= '0' && s.p[i] <= '9' ? (uint32_t)(s.p[i] - '0')
				 : hex && d >= 'a' && d <= 'f'  ? (uint32_t)(d - 'a' + 10)
								: 99;

		if (digit == 99 || i > 9)
			return 0;
		c = c * (hex ? 16 : 10) + digit;
	}
	*ret = c;
	return i < s.n && i > (hex ? 2u : 1u) ? i + 1 : 0;
}

/* The character that *rest begins with, an entity or a byte; cut off and appended. */
static void take_character(struct str *rest, unsigned mark, struct translate_runs *runs)
{
	struct str after = { rest->p + 1, rest->n - 1 };
	xmlChar utf8[8];
	uint32_t c = 0;
	size_t n = 0;

	if (rest->p[0] == '&') {
		n = numeric_entity(after, &c);
		for (size_t i = 0; n == 0 && i < ARRAY_LEN(entities); i++) {
			size_t length = strlen(entities[i].name);

			if (after.n >= length && memcmp(after.p, entities[i].name, length) == 0) {
				n = length;
				c = entities[i].c;
			}
		}
	}
	if (n == 0)
		translate_runs_text(runs, mark, rest->p, 1);
	else
		translate_runs_text(runs, mark, (const char *)utf8,
				    (size_t)xmlCopyCharMultiByte(utf8, (int)(IS_CHAR(c) ? c : 0xfffd)));
	rest->p += n + 1;
	rest->n -= n + 1;
}

int translate_fragment_get(struct str answer, struct str source, struct buf *out)
{
	unsigned open[TRANSLATE_MARKS_MAX + 1] = { 0 }, mark = 0;
	struct translate_runs runs;
	size_t depth = 0;
	int rc;

	translate_runs_init(&runs);
	while (answer.n > 0) {
		switch (take_tag(&answer, &mark)) {
		case TAG_OPEN:
			if (depth < TRANSLATE_MARKS_MAX)
				open[++depth] = mark;
			break;
		case TAG_CLOSE: depth -= depth > 0; break;
		case TAG_ALONE: translate_runs_alone(&runs, mark); break;
		case TAG_IGNORED: break;
		case TAG_NONE: take_character(&answer, open[depth], &runs); break;
		}
	}
	rc = translate_runs_rebuild(&runs, source, out);
	translate_runs_fini(&runs);
	return rc;
}
