/* test_marked.c — marked text through the two ways to an engine and back: what engines may do to
 * marks, and what becomes of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "translate/fragment.h"
#include "translate/marked.h"
#include "translate/stream.h"

/* Marked text is written here as its fragment: <g id="1">…</g>, <x id="2"/>. A fragment is read
 * against itself, so each mark must be known. */
static struct str marked(const char *fragment, struct buf *b)
{
	unsigned open[32], depth = 0;

	buf_init(b, 1 << 20);
	while (*fragment != '\0') {
		if (strncmp(fragment, "</g>", 4) == 0) {
			translate_put_close(b);
			depth--;
			fragment += 4;
		} else if (strncmp(fragment, "<g id=\"", 7) == 0) {
			open[depth++] = (unsigned)(fragment[7] - '0');
			translate_put_open(b, open[depth - 1]);
			fragment += 10;
		} else if (strncmp(fragment, "<x id=\"", 7) == 0) {
			translate_put_alone(b, (unsigned)(fragment[7] - '0'));
			fragment += 11;
		} else {
			translate_put_text(b, (struct str){ fragment++, 1 });
		}
	}
	return (struct str){ (const char *)b->data, b->len };
}

static void assert_marked(const struct buf *got, const char *want)
{
	struct buf b;

	buf_init(&b, 1 << 20);
	translate_fragment_put(&b, (struct str){ (const char *)got->data, got->len });
	buf_put_u8(&b, '\0');
	assert_string_equal((const char *)b.data, want);
	buf_fini(&b);
}

static void assert_fragment(const char *source, const char *answer, const char *want)
{
	struct buf s, out;
	struct str text = marked(source, &s);

	buf_init(&out, 1 << 20);
	assert_int_equal(translate_fragment_get(str_of(answer), text, &out), 0);
	assert_marked(&out, want);
	buf_fini(&out);
	buf_fini(&s);
}

static void assert_stream(const char *source, const char *request, const char *answer, const char *want)
{
	struct buf s, out;
	struct str text = marked(source, &s);

	buf_init(&out, 1 << 20);
	translate_stream_put(&out, text);
	assert_string_equal((const char *)out.data, request);
	buf_reset(&out, 0);
	assert_int_equal(translate_stream_get(str_of(answer), text, &out), 0);
	assert_marked(&out, want);
	buf_fini(&out);
	buf_fini(&s);
}

static void words_move_and_take_their_marks_along(void **state)
{
	(void)state;
	assert_fragment("the <g id=\"1\">green</g> house", "la casa <g id=\"1\">verde</g>",
			"la casa <g id=\"1\">verde</g>");
	assert_stream("the <g id=\"1\">green</g> house", "the [[1]]green[[/]] house.[]",
		      "la casa [[1]]verde[[/]].[]", "la casa <g id=\"1\">verde</g>");
	/* Nested: the innermost mark says it all, and words of the outer one join it. */
	assert_stream("<g id=\"1\">big <g id=\"2\">green</g></g> house",
		      "[[1]]big[[/]] [[2]]green[[/]] house.[]", "casa [[2]]verde[[/]] [[1]]grande[[/]].[]",
		      "casa <g id=\"1\"><g id=\"2\">verde</g> grande</g>");
}

static void each_mark_comes_back_once(void **state)
{
	(void)state;
	/* Scattered: it stays where most of its words are. */
	assert_fragment("<g id=\"1\">a bc</g> d", "<g id=\"1\">a</g> d <g id=\"1\">bc</g>",
			"a d <g id=\"1\">bc</g>");
	/* Lost: it comes back empty, inside of what surrounded it. */
	assert_fragment("<g id=\"1\">a <g id=\"2\">b</g></g> c", "<g id=\"1\">x</g> y",
			"<g id=\"1\">x<g id=\"2\"></g></g> y");
	assert_fragment("a<x id=\"1\"/>", "b", "b<x id=\"1\"/>");
	assert_fragment("<g id=\"1\">a</g>", "b", "b<g id=\"1\"></g>");
	/* Doubled and invented ones are dropped. */
	assert_fragment("a<x id=\"1\"/>b", "a<x id=\"1\"/>b<x id=\"1\"/><x id=\"7\"/><g id=\"9\">c</g>",
			"a<x id=\"1\"/>bc");
	/* Turned inside out: nested as in the source. */
	assert_fragment("<g id=\"1\">a <g id=\"2\">b</g></g>", "<g id=\"2\"><g id=\"1\">a</g> b</g>",
			"<g id=\"1\">a<g id=\"2\"> b</g></g>");
	/* Nothing at all came back. */
	assert_fragment("<g id=\"1\">a</g><x id=\"2\"/>", "", "<g id=\"1\"></g><x id=\"2\"/>");
}

static void what_stands_alone_stays_between_its_neighbours(void **state)
{
	(void)state;
	assert_stream("<g id=\"1\">a<x id=\"2\"/>b</g> c", "[[1]]a[[/]][2][[1]]b[[/]] c.[]",
		      "[[1]]z[[/]][2][[1]]y[[/]] x.[]", "<g id=\"1\">z<x id=\"2\"/>y</g> x");
}

static void special_characters_survive(void **state)
{
	(void)state;
	assert_stream("a[b]^c$ </> {@} \\", "a\\[b\\]\\^c\\$ \\<\\/\\> \\{\\@\\} \\\\.[]",
		      "a\\[b\\]\\^c\\$ \\<\\/\\> \\{\\@\\} \\\\.[]", "a[b]^c$ &lt;/&gt; {@} \\");
	assert_fragment("a < b & c", "a &lt; b &amp; c &#233; &#xE9; &quot; &unknown; &#1; &#99999999;",
			"a &lt; b &amp; c é é \" &amp;unknown; \xef\xbf\xbd \xef\xbf\xbd");
	assert_fragment("a", "1 < 2 <b>bold</b> <g>", "1 &lt; 2 &lt;b&gt;bold&lt;/b&gt; &lt;g&gt;");
	/* Services write tags as they like. */
	assert_fragment("<g id=\"1\">a</g><x id=\"2\"/>", "<G ID='1' >b</G ><X id=2></X>",
			"<g id=\"1\">b</g><x id=\"2\"/>");
	/* A line stays a line. */
	assert_fragment("a\nb", "c&#10;d", "c&#10;d");
}

static void changes_that_are_no_translation(void **state)
{
	(void)state;
	assert_true(translate_same_text(STR("Hello  World"), STR("hello world ")));
	assert_false(translate_same_text(STR("Hello"), STR("Hola")));
	assert_false(translate_same_text(STR("Hello"), STR("Hello!")));
	assert_true(translate_has_letters(STR("12 é")));
	assert_false(translate_has_letters(STR("12 %, 3")));
}

static void blocks_of_transfuse(void **state)
{
	static const char block[] =
		"\n[tf-block:2-abc]\n\n a [[t:b:x]]b [[t:i:y]]c[[/]][[/]][tf:P:z]\\[d\\]..[]\n";
	struct buf text, names, out;

	(void)state;
	buf_init(&text, 1000);
	buf_init(&names, 1000);
	buf_init(&out, 1000);
	assert_true(translate_block_get(str_of(block), &text, &names));
	assert_marked(&text, " a <g id=\"1\">b <g id=\"2\">c</g></g><x id=\"3\"/>[d].");
	translate_block_put(&out, str_of(block), (struct str){ (const char *)text.data, text.len }, &names);
	buf_put_u8(&out, '\0');
	assert_string_equal((const char *)out.data, block);
	assert_false(translate_block_get(STR("[transfuse:\\/tmp]\n"), &text, &names));
	buf_fini(&text);
	buf_fini(&names);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_move_and_take_their_marks_along),
		cmocka_unit_test(each_mark_comes_back_once),
		cmocka_unit_test(what_stands_alone_stays_between_its_neighbours),
		cmocka_unit_test(special_characters_survive),
		cmocka_unit_test(changes_that_are_no_translation),
		cmocka_unit_test(blocks_of_transfuse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
