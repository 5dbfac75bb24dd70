/* block.c — the blocks of tf-extract: "\n[tf-block:7-name]\n\n", the text, ".[]\n". Apertium is
 * given them as they are; for other engines the text is taken out and put back. */
#include <stdlib.h>

#include "translate/stream.h"

/* Where the text of a block begins and ends. */
static bool find_text(struct str block, size_t *ret_begin, size_t *ret_end)
{
	const char *mark = memmem(block.p, block.n, "[tf-block:", 10), *begin, *end;

	if (mark == NULL)
		return false;
	begin = memmem(mark, block.n - (size_t)(mark - block.p), "]\n\n", 3);
	if (begin == NULL)
		return false;
	begin += 3;
	end = memrchr(begin, '.', block.n - (size_t)(begin - block.p));
	if (end == NULL || block.n - (size_t)(end - block.p) < 3 || memcmp(end, ".[]", 3) != 0)
		return false;
	*ret_begin = (size_t)(begin - block.p);
	*ret_end = (size_t)(end - block.p);
	return true;
}

/* The name between double brackets at p, cut off *rest; one that closes is "/". */
static bool take_name(struct str *rest, struct str *ret)
{
	const char *end;

	if (rest->n < 4 || memcmp(rest->p, "[[", 2) != 0)
		return false;
	end = memmem(rest->p, rest->n, "]]", 2);
	if (end == NULL)
		return false;
	*ret = (struct str){ rest->p + 2, (size_t)(end - rest->p) - 2 };
	rest->n -= (size_t)(end - rest->p) + 2;
	rest->p = end + 2;
	return true;
}

static bool is_close(struct str name)
{
	return name.n == 1 && name.p[0] == '/';
}

/* The blank [name] at the beginning of *rest, which stands for a line break or an image. */
static bool take_alone(struct str *rest, struct str *ret)
{
	const char *end = rest->n > 2 && rest->p[0] == '[' ? memchr(rest->p, ']', rest->n) : NULL;

	if (end == NULL)
		return false;
	*ret = (struct str){ rest->p + 1, (size_t)(end - rest->p) - 1 };
	rest->n -= (size_t)(end - rest->p) + 1;
	rest->p = end + 1;
	return true;
}

static void put_name(struct buf *names, struct str name)
{
	buf_put(names, name.p, name.n);
	buf_put_u8(names, '\0');
}

bool translate_block_get(struct str block, struct buf *out, struct buf *names)
{
	size_t begin, end;
	unsigned marks = 0;
	unsigned open = 0;
	struct str rest, name;

	if (!find_text(block, &begin, &end))
		return false;
	rest = (struct str){ block.p + begin, end - begin };
	while (rest.n > 0 && marks < TRANSLATE_MARKS_MAX) {
		if (take_name(&rest, &name)) {
			if (!is_close(name)) {
				translate_put_open(out, ++marks);
				put_name(names, name);
				open++;
			} else if (open > 0) {
				translate_put_close(out);
				open--;
			}
		} else if (take_alone(&rest, &name)) {
			translate_put_alone(out, ++marks);
			put_name(names, name);
		} else {
			size_t escape = rest.p[0] == '\\' && rest.n > 1;

			translate_put_text(out, (struct str){ rest.p + escape, 1 });
			rest.p += escape + 1;
			rest.n -= escape + 1;
		}
	}
	while (open-- > 0)
		translate_put_close(out);
	return rest.n == 0;
}

void translate_block_put(struct buf *b, struct str block, struct str marked, const struct buf *names)
{
	size_t begin, end;

	if (!find_text(block, &begin, &end)) {
		buf_put(b, block.p, block.n);
		return;
	}
	buf_put(b, block.p, begin);
	translate_stream_put_named(b, marked, names);
	buf_put(b, block.p + end, block.n - end);
}
