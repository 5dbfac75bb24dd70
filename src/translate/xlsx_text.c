/* xlsx_text.c — a text of a spreadsheet as marked text and back. ISO/IEC 29500-1, 18.4: CT_Rst is
 * one t, or runs r, each with rPr and t. */
#include <stdlib.h>

#include "translate/xlsx_int.h"

#define TEXT_MAX ((size_t)1 << 20)

static bool named(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

static xmlNode *child(const xmlNode *parent, const char *name)
{
	for (xmlNode *n = parent->children; n != NULL; n = n->next) {
		if (named(n, name))
			return n;
	}
	return NULL;
}

/* The text of a t. */
static void put_content(struct buf *b, const xmlNode *t)
{
	xmlChar *text = t == NULL ? NULL : xmlNodeGetContent(t);

	if (text != NULL)
		translate_put_text(b, str_of((const char *)text));
	xmlFree(text);
}

static int take(struct translate_xlsx_segment *s)
{
	unsigned runs = 0;

	buf_init(&s->text, TEXT_MAX);
	for (const xmlNode *n = s->holder->children; n != NULL; n = n->next) {
		if (named(n, "t")) {
			put_content(&s->text, n);
		} else if (named(n, "r")) {
			if (++runs > TRANSLATE_MARKS_MAX)
				return -1;
			translate_put_open(&s->text, runs);
			put_content(&s->text, child(n, "t"));
			translate_put_close(&s->text);
		}
	}
	return s->text.failed ? -1 : 0;
}

/* A name of a column is kept; it is a plain text, never runs. */
static bool is_kept(const struct translate_xlsx *x, const struct translate_xlsx_segment *s)
{
	xmlChar *text = xmlNodeGetContent(s->holder);
	bool kept = text != NULL && xmlHashLookup(x->names, text) != NULL;

	xmlFree(text);
	return kept;
}

int translate_xlsx_take(struct translate_xlsx *x, xmlNode *holder, struct translate_failure *f)
{
	struct translate_xlsx_segment s = { .holder = holder };

	if (take(&s) < 0) {
		buf_fini(&s.text);
		return translate_fail(
			f, DOCUMENT_INPUT_TOO_LONG,
			"A text of the spreadsheet is too long, or formatted in more than %d ways.",
			TRANSLATE_MARKS_MAX);
	}
	if (!translate_has_letters((struct str){ (const char *)s.text.data, s.text.len }) || is_kept(x, &s)) {
		buf_fini(&s.text);
		return 0;
	}
	if (x->n == x->cap) {
		size_t cap = x->cap == 0 ? 64 : x->cap * 2;
		struct translate_xlsx_segment *grown = realloc(x->segment, cap * sizeof(*grown));

		if (grown == NULL) {
			buf_fini(&s.text);
			return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
		}
		x->segment = grown;
		x->cap = cap;
	}
	x->segment[x->n++] = s;
	return 0;
}

/* A t of its own; blanks at its ends count. */
static int add_text(xmlNode *parent, struct str text)
{
	xmlNode *t = xmlNewChild(parent, parent->ns, (const xmlChar *)"t", NULL);

	if (t == NULL)
		return -1;
	xmlNodeSetSpacePreserve(t, 1);
	xmlNodeAddContentLen(t, (const xmlChar *)text.p, (int)text.n);
	return 0;
}

static int add_run(xmlNode *holder, const xmlNode *old, struct str text)
{
	xmlNode *run = xmlNewChild(holder, holder->ns, (const xmlChar *)"r", NULL);
	xmlNode *format = old == NULL ? NULL : child(old, "rPr"), *copy = NULL;

	if (run == NULL)
		return -1;
	if (format != NULL &&
	    (xmlDOMWrapCloneNode(NULL, holder->doc, format, &copy, holder->doc, run, 1, 0) != 0 ||
	     copy == NULL))
		return -1;
	if (copy != NULL)
		xmlAddChild(run, copy);
	return add_text(run, text);
}

static const xmlNode *nth_run(const xmlNode *first, unsigned mark)
{
	for (const xmlNode *n = first; n != NULL; n = n->next) {
		if (named(n, "r") && --mark == 0)
			return n;
	}
	return NULL;
}

static int put_runs(xmlNode *holder, const xmlNode *old, struct str marked)
{
	struct translate_token t;
	unsigned open = 0;
	bool runs = nth_run(old, 1) != NULL;

	while (translate_next_token(&marked, &t)) {
		int rc = 0;

		if (t.kind == TRANSLATE_OPEN)
			open = t.mark;
		else if (t.kind == TRANSLATE_CLOSE)
			open = 0;
		else if (t.kind == TRANSLATE_TEXT)
			rc = runs ? add_run(holder, open == 0 ? NULL : nth_run(old, open), t.text)
				  : add_text(holder, t.text);
		if (rc < 0)
			return -1;
	}
	return 0;
}

int translate_xlsx_fill(const struct translate_xlsx_segment *s, struct str marked)
{
	xmlNode *old = xmlNewDocNode(s->holder->doc, NULL, (const xmlChar *)"old", NULL);
	int rc;

	if (old == NULL)
		return -1;
	/* The old content is taken off whole: new runs copy their formatting from it. Readings of
	 * Japanese words (rPh) go with it. */
	while (s->holder->children != NULL) {
		xmlNode *n = s->holder->children;

		xmlUnlinkNode(n);
		xmlAddChild(old, n);
	}
	rc = put_runs(s->holder, old->children, marked);
	xmlFreeNode(old);
	return rc;
}
