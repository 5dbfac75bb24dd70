/* fuzz_xliff.c — XLIFF documents: reading, targets, writing, and that what was written can be read
 * again. Input: the document. Each segment is translated by itself, with its marks turned round. */
#include <string.h>

#include "fuzz.h"
#include "translate/fragment.h"
#include "translate/marked.h"
#include "translate/xliff.h"

/* The marks of a text in the order of their coming, and how many of each. */
static size_t count_marks(struct str marked)
{
	struct translate_token t;
	size_t n = 0;

	while (translate_next_token(&marked, &t))
		n += t.kind == TRANSLATE_OPEN || t.kind == TRANSLATE_ALONE;
	return n;
}

static void translate_one(struct translate_xliff *x, size_t i, struct translate_failure *f)
{
	struct str source = translate_xliff_source(x, i);
	struct buf fragment, target;

	buf_init(&fragment, 64 << 20);
	buf_init(&target, 64 << 20);
	translate_fragment_put(&fragment, source);
	if (translate_fragment_get((struct str){ (const char *)fragment.data, fragment.len }, source,
				   &target) == 0) {
		struct str got = { (const char *)target.data, target.len };

		HOLDS(count_marks(got) == count_marks(source)); /* each mark once */
		HOLDS(translate_xliff_set_target(x, i, got, f) == 0);
	}
	buf_fini(&fragment);
	buf_fini(&target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str document = { (const char *)data, size };
	struct translate_failure f = { 0 };
	struct translate_xliff *x = NULL, *again = NULL;
	struct buf out;

	(void)translate_xliff_is(document);
	if (translate_xliff_read(document, &x, &f) < 0) {
		HOLDS(f.error != 0 && f.text[0] != '\0');
		return 0;
	}
	(void)translate_xliff_source_language(x);
	for (size_t i = 0; i < translate_xliff_count(x) && i < 100; i++)
		translate_one(x, i, &f);
	buf_init(&out, 256 << 20);
	HOLDS(translate_xliff_write(x, "es", &out, &f) == 0);
	HOLDS(translate_xliff_read((struct str){ (const char *)out.data, out.len }, &again, &f) == 0);
	translate_xliff_free(again);
	buf_fini(&out);
	translate_xliff_free(x);
	return 0;
}
