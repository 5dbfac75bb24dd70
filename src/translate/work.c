/* work.c — see work.h. */
#include "translate/work.h"

#include <stdlib.h>
#include <strings.h>

#include "translate/bytes.h"
#include "translate/format.h"
#include "translate/marked.h"
#include "translate/stream.h"
#include "translate/transfuse.h"
#include "translate/xliff.h"
#include "translate/xlsx.h"

#define INPUT_MAX ((size_t)256 << 20)
#define TARGETS_MAX ((size_t)1 << 30)

static struct str bytes_of(const struct buf *b)
{
	return (struct str){ b->len == 0 ? "" : (const char *)b->data, b->len };
}

static int unchanged(struct translate_failure *f)
{
	return translate_fail(f, DOCUMENT_UNCHANGED,
			      "The translation is the same as the document: there is nothing in it that this "
			      "engine translates.");
}

/* --- documents that we take apart ourselves: a list of texts
 * ----------------------------------------------------------- */

/* What xliff.h and xlsx.h have in common. */
struct reader {
	size_t (*count)(const void *doc);
	struct str (*source)(const void *doc, size_t i);
	int (*set_target)(void *doc, size_t i, struct str marked, struct translate_failure *f);
};

static size_t xliff_count(const void *doc)
{
	return translate_xliff_count(doc);
}
static struct str xliff_source(const void *doc, size_t i)
{
	return translate_xliff_source(doc, i);
}
static int xliff_set_target(void *doc, size_t i, struct str marked, struct translate_failure *f)
{
	return translate_xliff_set_target(doc, i, marked, f);
}
static size_t xlsx_count(const void *doc)
{
	return translate_xlsx_count(doc);
}
static struct str xlsx_source(const void *doc, size_t i)
{
	return translate_xlsx_source(doc, i);
}
static int xlsx_set_target(void *doc, size_t i, struct str marked, struct translate_failure *f)
{
	return translate_xlsx_set_target(doc, i, marked, f);
}

static const struct reader xliff_reader = { xliff_count, xliff_source, xliff_set_target };
static const struct reader xlsx_reader = { xlsx_count, xlsx_source, xlsx_set_target };

static int set_targets(const struct reader *r, void *doc, const struct translate_text *texts, size_t n,
		       struct str targets, struct translate_failure *f)
{
	bool changed = false;

	for (size_t i = 0; i < n; i++) {
		struct str target = { targets.p + texts[i].target, texts[i].target_len };

		changed = changed || !translate_same_text(texts[i].source, target);
		if (r->set_target(doc, i, target, f) < 0)
			return -1;
	}
	return changed ? 0 : unchanged(f);
}

static int translate_list(struct translate_work *w, const struct reader *r, void *doc,
			  struct translate_failure *f)
{
	size_t n = r->count(doc);
	struct translate_text *texts = calloc(n + 1, sizeof(*texts));
	struct buf targets;
	int rc = -1;

	if (texts == NULL)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	buf_init(&targets, TARGETS_MAX);
	for (size_t i = 0; i < n; i++)
		texts[i].source = r->source(doc, i);
	if (n == 0)
		(void)unchanged(f);
	else if (translate_channel_texts(&w->channel, texts, n, &targets, f) == 0)
		rc = set_targets(r, doc, texts, n, bytes_of(&targets), f);
	buf_fini(&targets);
	free(texts);
	return rc;
}

/* en and en-GB are one language here: what a document says must not contradict what the job
 * says. */
static bool is_same_language(const char *a, const char *b)
{
	size_t na = strcspn(a, "-_"), nb = strcspn(b, "-_");

	return na == nb && strncasecmp(a, b, na) == 0;
}

static int work_xliff(struct translate_work *w, struct str file, struct buf *out, struct translate_failure *f)
{
	struct translate_xliff *x = NULL;
	const char *from;
	int rc = -1;

	if (translate_xliff_read(file, &x, f) < 0)
		return -1;
	from = translate_xliff_source_language(x);
	if (from[0] != '\0' && !is_same_language(from, w->from))
		(void)translate_fail(f, DOCUMENT_CANNOT_TRANSLATE,
				     "The document says that it is in %.40s, the job that it is in %.40s.",
				     from, w->from);
	else if (translate_list(w, &xliff_reader, x, f) == 0)
		rc = translate_xliff_write(x, w->to, out, f);
	translate_xliff_free(x);
	return rc;
}

static int work_xlsx(struct translate_work *w, struct str file, struct buf *out, struct translate_failure *f)
{
	struct translate_xlsx *x = NULL;
	int rc = -1;

	if (translate_xlsx_read(file, &x, f) < 0)
		return -1;
	if (translate_list(w, &xlsx_reader, x, f) == 0)
		rc = translate_xlsx_write(x, out, f);
	translate_xlsx_free(x);
	return rc;
}

/* --- documents that tf-extract takes apart: blocks
 * ---------------------------------------------------------------------- */

static size_t count_blocks(struct str blocks)
{
	struct str block;
	size_t n = 0;

	while (translate_cut(&blocks, '\0', &block))
		n++;
	return n;
}

/* One block with its text and the names of its marks. */
struct block {
	struct str whole;
	struct buf text, names;
	bool has_text;
};

static void free_blocks(struct block *b, size_t n)
{
	for (size_t i = 0; b != NULL && i < n; i++) {
		buf_fini(&b[i].text);
		buf_fini(&b[i].names);
	}
	free(b);
}

static void read_blocks(struct str blocks, struct block *b, struct translate_text *texts)
{
	for (size_t i = 0; translate_cut(&blocks, '\0', &b[i].whole); i++) {
		buf_init(&b[i].text, INPUT_MAX);
		buf_init(&b[i].names, INPUT_MAX);
		b[i].has_text = translate_block_get(b[i].whole, &b[i].text, &b[i].names);
		texts[i].source = b[i].has_text ? bytes_of(&b[i].text) : STR("");
	}
}

static void write_blocks(const struct block *b, const struct translate_text *texts, size_t n,
			 struct str targets, struct buf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (b[i].has_text)
			translate_block_put(out, b[i].whole,
					    (struct str){ targets.p + texts[i].target, texts[i].target_len },
					    &b[i].names);
		else
			buf_put(out, b[i].whole.p, b[i].whole.n);
		buf_put_u8(out, '\0');
	}
}

/* Engines other than Apertium get the texts of the blocks, not the blocks. */
static int translate_block_texts(struct translate_channel *c, struct str blocks, size_t n, struct buf *out,
				 struct translate_failure *f)
{
	struct block *b = calloc(n + 1, sizeof(*b));
	struct translate_text *texts = calloc(n + 1, sizeof(*texts));
	struct buf targets;
	int rc = -1;

	buf_init(&targets, TARGETS_MAX);
	if (b == NULL || texts == NULL) {
		(void)translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	} else {
		read_blocks(blocks, b, texts);
		rc = translate_channel_texts(c, texts, n, &targets, f);
		if (rc == 0)
			write_blocks(b, texts, n, bytes_of(&targets), out);
	}
	buf_fini(&targets);
	free_blocks(b, n);
	free(texts);
	if (rc == 0 && out->failed)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "The translation is longer than the limit.");
	return rc;
}

static int work_blocks(struct translate_work *w, enum translate_format format, struct translate_failure *f)
{
	struct buf before, after;
	size_t n;
	int rc = -1;

	buf_init(&before, TARGETS_MAX);
	buf_init(&after, TARGETS_MAX);
	if (translate_extract(format, w->input, w->folder, &before, f) < 0)
		goto done;
	n = count_blocks(bytes_of(&before));
	if (w->channel.kind == TRANSLATE_BLOCKS)
		rc = translate_channel_ask(&w->channel, bytes_of(&before), n, &after, f);
	else
		rc = translate_block_texts(&w->channel, bytes_of(&before), n, &after, f);
	if (rc == 0 && translate_same_text(bytes_of(&before), bytes_of(&after)))
		rc = unchanged(f);
	if (rc == 0)
		rc = translate_inject(bytes_of(&after), w->folder, w->output, f);
done:
	buf_fini(&before);
	buf_fini(&after);
	return rc;
}

int translate_work(struct translate_work *w, struct translate_failure *f)
{
	enum translate_format format;
	struct buf file, out;
	int rc = -1;

	buf_init(&file, INPUT_MAX);
	buf_init(&out, TARGETS_MAX);
	if (translate_bytes_read(w->input, &file, f) < 0 ||
	    translate_format_find(bytes_of(&file), w->name, &format, f) < 0)
		goto done;
	if (format == TRANSLATE_FORMAT_XLIFF)
		rc = work_xliff(w, bytes_of(&file), &out, f);
	else if (format == TRANSLATE_FORMAT_XLSX)
		rc = work_xlsx(w, bytes_of(&file), &out, f);
	else
		rc = work_blocks(w, format, f);
	if (rc == 0 && out.len > 0)
		rc = translate_bytes_write(w->output, bytes_of(&out), f);
done:
	buf_fini(&file);
	buf_fini(&out);
	return rc;
}
