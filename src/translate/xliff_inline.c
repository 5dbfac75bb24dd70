/* xliff_inline.c — the content of a source as marked text and back. Elements around text that is to
 * be translated (g, pc, mrk) are pairs; those that stand for code (x, ph, bpt …), and those that
 * must stay as they are, stand alone and are copied whole. */
#include <stdlib.h>

#include "translate/xliff_int.h"

#define SEGMENT_MAX ((size_t)16 << 20)

bool translate_xliff_has_words(const xmlNode *node)
{
	for (const xmlNode *n = node->children; n != NULL; n = n->next) {
		if (n->type == XML_ENTITY_REF_NODE)
			return true;
		if (n->type == XML_TEXT_NODE && !xmlIsBlankNode(n))
			return true;
		if (n->type == XML_ELEMENT_NODE && translate_xliff_has_words(n))
			return true;
	}
	return false;
}

static bool is_pair(const xmlNode *node)
{
	if (translate_xliff_named(node, "mrk"))
		return !translate_xliff_attribute_is(node, "mtype", "protected") &&
		       !translate_xliff_attribute_is(node, "translate", "no") &&
		       translate_xliff_has_words(node);
	return (translate_xliff_named(node, "g") || translate_xliff_named(node, "pc")) &&
	       translate_xliff_has_words(node);
}

/* A new number for an element; 0: too many, or no memory. */
static unsigned add_mark(struct translate_xliff_segment *s, xmlNode *node)
{
	if (s->nmarks == TRANSLATE_MARKS_MAX)
		return 0;
	if (s->marks == NULL)
		s->marks = calloc(TRANSLATE_MARKS_MAX, sizeof(xmlNode *));
	if (s->marks == NULL)
		return 0;
	s->marks[s->nmarks++] = node;
	return s->nmarks;
}

static int take_children(struct translate_xliff_segment *s, const xmlNode *parent)
{
	for (xmlNode *n = parent->children; n != NULL; n = n->next) {
		unsigned mark = 0;

		if (n->type == XML_TEXT_NODE) {
			translate_put_text(&s->text, str_of((const char *)n->content));
			continue;
		}
		if (n->type != XML_ELEMENT_NODE && n->type != XML_ENTITY_REF_NODE)
			continue; /* comments stay in the source */
		mark = add_mark(s, n);
		if (mark == 0)
			return -1;
		if (n->type == XML_ENTITY_REF_NODE || !is_pair(n)) {
			translate_put_alone(&s->text, mark);
			continue;
		}
		translate_put_open(&s->text, mark);
		if (take_children(s, n) < 0)
			return -1;
		translate_put_close(&s->text);
	}
	return s->text.failed ? -1 : 0;
}

int translate_xliff_take(struct translate_xliff *x, struct translate_xliff_segment *s)
{
	xmlNode **fitting;

	buf_init(&s->text, SEGMENT_MAX);
	if (take_children(s, s->source) < 0)
		return translate_fail(x->failure, DOCUMENT_INPUT_TOO_LONG,
				      "A segment (line %ld) is too long or has more than %d inline elements.",
				      xmlGetLineNo(s->source), TRANSLATE_MARKS_MAX);
	/* Most segments have a few marks: what is kept is as long as it must be. */
	fitting = s->nmarks == 0 ? NULL : realloc(s->marks, s->nmarks * sizeof(xmlNode *));
	if (fitting != NULL)
		s->marks = fitting;
	return 0;
}

static xmlNode *copy_mark(const struct translate_xliff *x, const struct translate_xliff_segment *s,
			  unsigned mark, xmlNode *parent, bool deep)
{
	xmlNode *copy = NULL;

	if (mark == 0 || mark > s->nmarks)
		return NULL;
	if (s->marks[mark - 1]->type == XML_ENTITY_REF_NODE)
		copy = xmlNewReference(x->doc, s->marks[mark - 1]->name);
	else if (xmlDOMWrapCloneNode(NULL, x->doc, s->marks[mark - 1], &copy, x->doc, parent, deep, 0) != 0)
		copy = NULL;
	if (copy != NULL)
		xmlAddChild(parent, copy);
	return copy;
}

static void clear(xmlNode *node)
{
	while (node->children != NULL) {
		xmlNode *child = node->children;

		xmlUnlinkNode(child);
		xmlFreeNode(child);
	}
}

static int put_text(const struct translate_xliff *x, xmlNode *at, struct str text)
{
	xmlNode *node = xmlNewDocTextLen(x->doc, (const xmlChar *)text.p, (int)text.n);

	return node == NULL || xmlAddChild(at, node) == NULL ? -1 : 0;
}

int translate_xliff_fill(struct translate_xliff *x, const struct translate_xliff_segment *s, xmlNode *target,
			 struct str marked)
{
	xmlNode *at = target;
	struct translate_token t;

	clear(target);
	while (translate_next_token(&marked, &t)) {
		xmlNode *made = NULL;

		switch (t.kind) {
		case TRANSLATE_TEXT:
			if (put_text(x, at, t.text) < 0)
				return -1;
			break;
		case TRANSLATE_OPEN:
			made = copy_mark(x, s, t.mark, at, false);
			if (made == NULL)
				return -1;
			at = made;
			break;
		case TRANSLATE_CLOSE: at = at == target ? at : at->parent; break;
		case TRANSLATE_ALONE:
			if (copy_mark(x, s, t.mark, at, true) == NULL)
				return -1;
			break;
		}
	}
	return 0;
}
