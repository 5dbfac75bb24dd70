/* test_xliff.c — XLIFF 1.2 and 2.0: what is a segment, how its inline elements come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "translate/fragment.h"
#include "translate/marked.h"
#include "translate/xliff.h"

#define V12(body) \
	"<xliff version=\"1.2\" xmlns=\"urn:oasis:names:tc:xliff:document:1.2\"><file " \
	"source-language=\"en-US\"><body>" body "</body></file></xliff>"
#define V20(body) \
	"<xliff version=\"2.0\" xmlns=\"urn:oasis:names:tc:xliff:document:2.0\" srcLang=\"en\"><file " \
	"id=\"f\">" body "</file></xliff>"

static struct translate_xliff *read_one(const char *text)
{
	struct translate_failure f = { 0 };
	struct translate_xliff *x = NULL;

	if (translate_xliff_read(str_of(text), &x, &f) < 0)
		fail_msg("%s", f.text);
	return x;
}

/* The segments as fragments, one a line. */
static void assert_segments(const char *document, const char *want)
{
	struct translate_xliff *x = read_one(document);
	struct buf b;

	buf_init(&b, 1 << 20);
	for (size_t i = 0; i < translate_xliff_count(x); i++) {
		translate_fragment_put(&b, translate_xliff_source(x, i));
		buf_put_u8(&b, '\n');
	}
	buf_put_u8(&b, '\0');
	assert_string_equal((const char *)b.data, want);
	buf_fini(&b);
	translate_xliff_free(x);
}

/* Every segment is translated by these answers; the document must contain what is wanted. */
static void assert_translated(const char *document, const char *const *answers, const char *const *want)
{
	struct translate_xliff *x = read_one(document);
	struct translate_failure f = { 0 };
	struct buf out;

	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < translate_xliff_count(x); i++) {
		buf_reset(&out, 0);
		assert_int_equal(
			translate_fragment_get(str_of(answers[i]), translate_xliff_source(x, i), &out), 0);
		assert_int_equal(
			translate_xliff_set_target(x, i, (struct str){ (const char *)out.data, out.len }, &f),
			0);
	}
	buf_reset(&out, 0);
	assert_int_equal(translate_xliff_write(x, "es", &out, &f), 0);
	buf_put_u8(&out, '\0');
	for (; *want != NULL; want++) {
		if (strstr((const char *)out.data, *want) == NULL)
			fail_msg("%s\nis not in\n%s", *want, (const char *)out.data);
	}
	buf_fini(&out);
	translate_xliff_free(x);
}

static void inline_elements_are_marks(void **state)
{
	(void)state;
	assert_segments(V12("<trans-unit id=\"1\"><source>a <g id=\"1\">b<g id=\"2\">c</g></g><x "
			    "id=\"3\"/><ph id=\"4\">code</ph><mrk mtype=\"protected\">p</mrk>"
			    "<mrk mtype=\"term\">t</mrk><g id=\"5\"> </g></source></trans-unit>"),
			"a <g id=\"1\">b<g id=\"2\">c</g></g><x id=\"3\"/><x id=\"4\"/><x id=\"5\"/><g "
			"id=\"6\">t</g><x id=\"7\"/>\n");
	assert_segments(V20("<unit id=\"u\"><segment><source>a <pc id=\"1\">b</pc><ph id=\"2\"/><mrk "
			    "id=\"3\" translate=\"no\">n</mrk><sc id=\"4\"/>c<ec startRef=\"4\"/></source>"
			    "</segment><ignorable><source> </source></ignorable></unit>"),
			"a <g id=\"1\">b</g><x id=\"2\"/><x id=\"3\"/><x id=\"4\"/>c<x id=\"5\"/>\n");
}

static void what_is_done_or_protected_is_no_segment(void **state)
{
	(void)state;
	assert_segments(
		V12("<group translate=\"no\"><trans-unit "
		    "id=\"1\"><source>no</source></trans-unit><trans-unit id=\"2\" "
		    "translate=\"yes\"><source>a</source></trans-unit></group>"
		    "<trans-unit id=\"3\"><source>b</source><target>done</target></trans-unit>"
		    "<trans-unit id=\"4\"><source>c</source><target>c</target></trans-unit>"
		    "<trans-unit id=\"5\"><source>d</source><target state=\"new\">old</target></trans-unit>"
		    "<trans-unit id=\"6\"><source>e</source><target/></trans-unit>"
		    "<trans-unit id=\"7\" approved=\"yes\"><source>f</source><target>f</target></trans-unit>"
		    "<trans-unit "
		    "id=\"8\"><source>g</source><alt-trans><source>not</source><target>x</target></"
		    "alt-trans></trans-unit>"),
		"a\nc\nd\ne\ng\n");
	assert_segments(
		V20("<unit id=\"1\" translate=\"no\"><segment><source>no</source></segment></unit>"
		    "<unit id=\"2\"><segment state=\"final\"><source>b</source><target>B</target></segment>"
		    "<segment "
		    "state=\"initial\"><source>c</source><target>C</target></segment><segment><source>d</"
		    "source></segment></unit>"),
		"c\nd\n");
}

static void targets_are_written(void **state)
{
	(void)state;
	assert_translated(
		V12("<trans-unit id=\"1\"><source>the <g id=\"1\" ctype=\"bold\">green</g> house<x "
		    "id=\"2\"/></source></trans-unit>"),
		(const char *[]){ "la casa <g id=\"1\">verde</g><x id=\"2\"/> &amp; más" },
		(const char *[]){
			"<target state=\"needs-review-translation\" state-qualifier=\"mt-suggestion\">la "
			"casa <g id=\"1\" ctype=\"bold\">verde</g><x id=\"2\"/> &amp; más</target>",
			"target-language=\"es\"", NULL });
	assert_translated(
		V20("<unit id=\"u\"><segment><source>the <pc id=\"1\">green</pc> "
		    "house</source></segment></unit>"),
		(const char *[]){ "la casa <g id=\"1\">verde</g>" },
		(const char *[]){ "<segment state=\"translated\"><source>the <pc id=\"1\">green</pc> "
				  "house</source><target>la casa <pc id=\"1\">verde</pc></target></segment>",
				  "trgLang=\"es\"", NULL });
	/* Parts of a seg-source are segments of their own, and the target has the same parts. */
	assert_translated(
		V12("<trans-unit id=\"1\"><source>a. b.</source><seg-source><mrk mtype=\"seg\" "
		    "mid=\"0\">a.</mrk> <mrk mtype=\"seg\" mid=\"1\">b.</mrk></seg-source></trans-unit>"),
		(const char *[]){ "A.", "B." },
		(const char *[]){ "<mrk mtype=\"seg\" mid=\"0\">A.</mrk> <mrk mtype=\"seg\" "
				  "mid=\"1\">B.</mrk></target>",
				  NULL });
}

static void assert_refused(const char *text, int error)
{
	struct translate_failure f = { 0 };
	struct translate_xliff *x = NULL;

	assert_int_equal(translate_xliff_read(str_of(text), &x, &f), -1);
	assert_int_equal(f.error, error);
}

static void what_cannot_be_read_is_refused(void **state)
{
	(void)state;
	assert_refused("", DOCUMENT_INPUT_CORRUPT);
	assert_refused("<xliff version=\"1.2\"><file>", DOCUMENT_INPUT_CORRUPT);
	assert_refused("<xlif version=\"1.2\"/>", DOCUMENT_INPUT_CORRUPT);
	assert_refused("<xliff/>", DOCUMENT_INPUT_UNSUPPORTED);
	assert_refused("<xliff version=\"3.0\"/>", DOCUMENT_INPUT_UNSUPPORTED);
	assert_true(translate_xliff_is(STR("<?xml version=\"1.0\"?>\n<!-- a --><xliff version=\"1.2\">")));
	assert_false(translate_xliff_is(STR("<html><xliff>")));
}

/* A thousand entities within entities: none is expanded, and they come back by name. */
static void entities_stay_names(void **state)
{
	(void)state;
	assert_translated("<!DOCTYPE xliff [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\">]>" V12(
				  "<trans-unit id=\"1\"><source>say &b; now</source></trans-unit>"),
			  (const char *[]){ "di <x id=\"1\"/> ya" },
			  (const char *[]){ ">di &b; ya</target>", NULL });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inline_elements_are_marks),
		cmocka_unit_test(what_is_done_or_protected_is_no_segment),
		cmocka_unit_test(targets_are_written),
		cmocka_unit_test(what_cannot_be_read_is_refused),
		cmocka_unit_test(entities_stay_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
