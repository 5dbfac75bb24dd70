/* fuzz_answer.c — what engines answer: Apertium's stream, fragments of HTML, blocks of Transfuse,
 * against a source with nested marks. Input: BYTE which reader, then the answer. */
#include <string.h>

#include "fuzz.h"
#include "translate/fragment.h"
#include "translate/marked.h"
#include "translate/stream.h"

#define MARKS 4

/* "a <1>b <2>c</2></1> <3/> <4>d</4>" */
static void put_source(struct buf *b)
{
	translate_put_text(b, STR("a "));
	translate_put_open(b, 1);
	translate_put_text(b, STR("b "));
	translate_put_open(b, 2);
	translate_put_text(b, STR("c"));
	translate_put_close(b);
	translate_put_close(b);
	translate_put_alone(b, 3);
	translate_put_open(b, 4);
	translate_put_text(b, STR("d"));
	translate_put_close(b);
}

/* Each mark once, pairs closed, 2 inside of 1. */
static void check(const struct buf *out)
{
	struct str rest = { (const char *)out->data, out->len };
	unsigned seen[MARKS + 1] = { 0 }, open[MARKS + 1] = { 0 }, depth = 0;
	struct translate_token t;

	while (translate_next_token(&rest, &t)) {
		if (t.kind == TRANSLATE_TEXT)
			continue;
		if (t.kind == TRANSLATE_CLOSE) {
			HOLDS(depth > 0);
			depth--;
			continue;
		}
		HOLDS(t.mark >= 1 && t.mark <= MARKS && seen[t.mark]++ == 0);
		HOLDS((t.kind == TRANSLATE_ALONE) == (t.mark == 3));
		HOLDS(t.mark != 2 || (depth == 1 && open[1] == 1));
		if (t.kind == TRANSLATE_OPEN)
			open[++depth] = t.mark;
	}
	HOLDS(depth == 0 && seen[1] == 1 && seen[2] == 1 && seen[3] == 1 && seen[4] == 1);
}

static void read_block(struct str block)
{
	struct buf text, names, again;

	buf_init(&text, 16 << 20);
	buf_init(&names, 16 << 20);
	buf_init(&again, 64 << 20);
	if (memchr(block.p, '\0', block.n) == NULL && translate_block_get(block, &text, &names)) {
		translate_block_put(&again, block, (struct str){ (const char *)text.data, text.len }, &names);
		HOLDS(!again.failed && again.len > 0);
	}
	buf_fini(&text);
	buf_fini(&names);
	buf_fini(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str answer = { (const char *)data + 1, size - 1 };
	struct buf source, out;
	struct str text;

	if (size < 1)
		return 0;
	if (data[0] % 3 == 2) {
		read_block(answer);
		return 0;
	}
	buf_init(&source, 4096);
	buf_init(&out, 64 << 20);
	put_source(&source);
	text = (struct str){ (const char *)source.data, source.len };
	if ((data[0] % 3 == 0 ? translate_stream_get(answer, text, &out)
			      : translate_fragment_get(answer, text, &out)) == 0)
		check(&out);
	buf_fini(&source);
	buf_fini(&out);
	return 0;
}
