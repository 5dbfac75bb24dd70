/* texts.c — marked texts through a channel: written as its engine reads them, its answers read
 * back. */
#include "translate/channel.h"
#include "translate/fragment.h"
#include "translate/marked.h"
#include "translate/stream.h"

#define REQUEST_MAX ((size_t)256 << 20)

/* White space at the ends is not sent: engines lose it. Returns how many were sent. */
static size_t put_request(struct translate_channel *c, const struct translate_text *texts, size_t n,
			  struct buf *request)
{
	size_t sent = 0;

	for (size_t i = 0; i < n; i++) {
		struct str before, middle, after;

		if (!translate_has_letters(texts[i].source))
			continue;
		translate_split_ends(texts[i].source, &before, &middle, &after);
		if (c->kind == TRANSLATE_BLOCKS) {
			translate_stream_put(request, middle);
		} else {
			translate_fragment_put(request, middle);
			buf_put_u8(request, '\n');
		}
		sent++;
	}
	return sent;
}

static int get_answer(struct translate_channel *c, struct str piece, struct str source, struct buf *out)
{
	struct str before, middle, after, no_before, answer, no_after;
	int rc;

	translate_split_ends(source, &before, &middle, &after);
	translate_split_ends(piece, &no_before, &answer, &no_after);
	/* Apertium may well drop a word that the other language does not need; anybody else who
	 * says nothing has failed. */
	if (answer.n == 0 && c->kind == TRANSLATE_LINES)
		return -1;
	buf_put(out, before.p, before.n);
	rc = c->kind == TRANSLATE_BLOCKS ? translate_stream_get(answer, middle, out)
					 : translate_fragment_get(answer, middle, out);
	buf_put(out, after.p, after.n);
	return rc;
}

static int get_answers(struct translate_channel *c, struct str answers, struct translate_text *texts,
		       size_t n, struct buf *out, struct translate_failure *f)
{
	char separator = c->kind == TRANSLATE_BLOCKS ? '\0' : '\n';

	for (size_t i = 0; i < n; i++) {
		struct str piece = { "", 0 };

		texts[i].target = out->len;
		if (!translate_has_letters(texts[i].source)) {
			buf_put(out, texts[i].source.p, texts[i].source.n);
		} else {
			if (!translate_cut(&answers, separator, &piece))
				return translate_fail(
					f, DOCUMENT_CANNOT_TRANSLATE,
					"The translation engine answered less than it was asked.");
			if (get_answer(c, piece, texts[i].source, out) < 0)
				return translate_fail(
					f, DOCUMENT_CANNOT_TRANSLATE,
					"The translation engine answered what cannot be understood.");
		}
		texts[i].target_len = out->len - texts[i].target;
	}
	return out->failed ? translate_fail(f, DOCUMENT_OUT_OF_MEMORY,
					    "The translation is longer than the limit.")
			   : 0;
}

int translate_channel_texts(struct translate_channel *c, struct translate_text *texts, size_t n,
			    struct buf *out, struct translate_failure *f)
{
	struct buf request, answer;
	size_t sent;
	int rc = -1;

	buf_init(&request, REQUEST_MAX);
	buf_init(&answer, 0);
	sent = put_request(c, texts, n, &request);
	if (request.failed)
		(void)translate_fail(f, DOCUMENT_INPUT_TOO_LONG,
				     "The text of the document is longer than %zu MiB.", REQUEST_MAX >> 20);
	else if (sent == 0)
		rc = get_answers(c, STR(""), texts, n, out, f);
	else if (translate_channel_ask(c, (struct str){ (const char *)request.data, request.len }, sent,
				       &answer, f) == 0)
		rc = get_answers(c, (struct str){ (const char *)answer.data, answer.len }, texts, n, out, f);
	buf_fini(&request);
	buf_fini(&answer);
	return rc;
}
