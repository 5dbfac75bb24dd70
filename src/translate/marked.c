/* marked.c — writing and reading marked text. */
#include "translate/marked.h"

#include <assert.h>
#include <stdlib.h>

enum { OPEN = 0x01, CLOSE = 0x02, ALONE = 0x03, END = 0x04 };

static bool is_control(char c)
{
	return c >= OPEN && c <= END;
}

/* Controls that mean something here, and those that no XML document may hold, so that none gets
 * into one. */
static bool is_unwelcome(unsigned char c)
{
	return c < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

void translate_put_text(struct buf *b, struct str text)
{
	size_t from = 0;

	for (size_t i = 0; i < text.n; i++) {
		if (is_unwelcome((unsigned char)text.p[i])) {
			buf_put(b, text.p + from, i - from);
			from = i + 1;
		}
	}
	buf_put(b, text.p + from, text.n - from);
}

void translate_put_open(struct buf *b, unsigned mark)
{
	assert(mark >= 1 && mark <= TRANSLATE_MARKS_MAX);
	buf_printf(b, "%c%u%c", OPEN, mark, END);
}

void translate_put_close(struct buf *b)
{
	buf_put_u8(b, CLOSE);
}

void translate_put_alone(struct buf *b, unsigned mark)
{
	assert(mark >= 1 && mark <= TRANSLATE_MARKS_MAX);
	buf_printf(b, "%c%u%c", ALONE, mark, END);
}

/* The number after OPEN or ALONE, with its END. 0 when there is none, which only a text that we did
 * not write can have. */
static unsigned take_mark(struct str *rest)
{
	unsigned n = 0;

	while (rest->n > 0 && *rest->p >= '0' && *rest->p <= '9' && n <= TRANSLATE_MARKS_MAX) {
		n = n * 10 + (unsigned)(*rest->p - '0');
		rest->p++;
		rest->n--;
	}
	if (rest->n > 0 && *rest->p == END) {
		rest->p++;
		rest->n--;
	}
	return n;
}

bool translate_next_token(struct str *rest, struct translate_token *ret)
{
	char first;
	size_t n = 0;

	if (rest->n == 0)
		return false;
	*ret = (struct translate_token){ .kind = TRANSLATE_TEXT };
	while (n < rest->n && !is_control(rest->p[n]))
		n++;
	if (n > 0) {
		ret->text = (struct str){ rest->p, n };
		rest->p += n;
		rest->n -= n;
		return true;
	}
	first = *rest->p;
	rest->p++;
	rest->n--;
	if (first == CLOSE) {
		ret->kind = TRANSLATE_CLOSE;
		return true;
	}
	ret->kind = first == ALONE ? TRANSLATE_ALONE : TRANSLATE_OPEN;
	ret->mark = take_mark(rest);
	return true;
}

/* The next character of the text that is not part of a mark; -1 at the end. */
static int next_byte(struct str *rest, struct str *text)
{
	struct translate_token t;

	while (text->n == 0) {
		if (!translate_next_token(rest, &t))
			return -1;
		if (t.kind == TRANSLATE_TEXT)
			*text = t.text;
	}
	text->n--;
	return (unsigned char)*text->p++;
}

/* The next character that counts in a comparison. */
static int next_significant(struct str *rest, struct str *text)
{
	int c;

	do
		c = next_byte(rest, text);
	while (c == ' ' || c == '\t' || c == '\n' || c == '\r');
	return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

bool translate_same_text(struct str a, struct str b)
{
	struct str ta = { "", 0 }, tb = { "", 0 };

	for (;;) {
		int ca = next_significant(&a, &ta), cb = next_significant(&b, &tb);

		if (ca != cb)
			return false;
		if (ca < 0)
			return true;
	}
}

bool translate_has_letters(struct str marked)
{
	struct str text = { "", 0 };

	for (;;) {
		int c = next_byte(&marked, &text);

		if (c < 0)
			return false;
		/* Every byte of a character beyond ASCII counts: whether it is a letter is for the
		 * engine to know. */
		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c >= 0x80)
			return true;
	}
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

void translate_split_ends(struct str marked, struct str *ret_before, struct str *ret_middle,
			  struct str *ret_after)
{
	size_t begin = 0, end = marked.n;

	while (begin < end && is_space(marked.p[begin]))
		begin++;
	while (end > begin && is_space(marked.p[end - 1]))
		end--;
	*ret_before = (struct str){ marked.p, begin };
	*ret_middle = (struct str){ marked.p + begin, end - begin };
	*ret_after = (struct str){ marked.p + end, marked.n - end };
}
