/* xliff_units.c — which texts of an XLIFF document are to be translated: those without
 * translate="no" whose target is missing, empty, a copy of the source, or marked as new. A target
 * that somebody made is never replaced. */
#include <stdlib.h>

#include "translate/xliff_int.h"

static int add_segment(struct translate_xliff *x, xmlNode *source, xmlNode *target, xmlNode *after)
{
	if (x->n == x->cap) {
		size_t cap = x->cap == 0 ? 64 : x->cap * 2;
		struct translate_xliff_segment *grown = realloc(x->segment, cap * sizeof(*grown));

		if (grown == NULL)
			return translate_fail(x->failure, DOCUMENT_OUT_OF_MEMORY,
					      "There was not enough memory.");
		x->segment = grown;
		x->cap = cap;
	}
	x->segment[x->n] = (struct translate_xliff_segment){ .source = source,
							     .target = target,
							     .after = after };
	return translate_xliff_take(x, &x->segment[x->n++]);
}

static bool is_same_content(const xmlNode *a, const xmlNode *b)
{
	xmlChar *ta = xmlNodeGetContent(a), *tb = xmlNodeGetContent(b);
	bool same = ta != NULL && tb != NULL && xmlStrEqual(ta, tb);

	xmlFree(ta);
	xmlFree(tb);
	return same;
}

/* What people and other tools have done stays: the target says so by its state, or by being another
 * text than the source. */
static bool is_done(const struct translate_xliff *x, const xmlNode *source, const xmlNode *target)
{
	const char *const initial = x->is_v2 ? "initial" : "new";
	const xmlNode *holder = x->is_v2 ? source->parent : target;

	if (target == NULL || !translate_xliff_has_words(target))
		return false;
	if (translate_xliff_attribute_is(holder, "state", initial) ||
	    translate_xliff_attribute_is(holder, "state", "needs-translation"))
		return false;
	if (xmlHasProp(holder, (const xmlChar *)"state") == NULL)
		return !is_same_content(source, target);
	return true;
}

/* The parts of a seg-source, each a segment; the target gets the same parts. */
static int take_parts(struct translate_xliff *x, xmlNode *from, xmlNode *to)
{
	xmlNode *b = to->children;

	for (xmlNode *a = from->children; a != NULL && b != NULL; a = a->next, b = b->next) {
		if (a->type != XML_ELEMENT_NODE)
			continue;
		if (translate_xliff_named(a, "mrk") && translate_xliff_attribute_is(a, "mtype", "seg")) {
			if (translate_xliff_has_words(a) && add_segment(x, a, b, NULL) < 0)
				return -1;
		} else if (take_parts(x, a, b) < 0) {
			return -1;
		}
	}
	return 0;
}

static bool has_parts(const xmlNode *node)
{
	for (const xmlNode *n = node->children; n != NULL; n = n->next) {
		if (n->type == XML_ELEMENT_NODE &&
		    (translate_xliff_attribute_is(n, "mtype", "seg") || has_parts(n)))
			return true;
	}
	return false;
}

/* A target that has the parts of the seg-source: it is made of a copy of it. */
static int take_segmented(struct translate_xliff *x, xmlNode *seg_source, xmlNode *target)
{
	xmlNode *copy = NULL;

	if (xmlDOMWrapCloneNode(NULL, x->doc, seg_source, &copy, x->doc, seg_source->parent, 1, 0) != 0 ||
	    copy == NULL)
		return translate_fail(x->failure, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	xmlNodeSetName(copy, (const xmlChar *)"target");
	if (target != NULL) {
		xmlReplaceNode(target, copy);
		xmlFreeNode(target);
	} else {
		xmlAddNextSibling(seg_source, copy);
	}
	xmlSetProp(copy, (const xmlChar *)"state", (const xmlChar *)"needs-review-translation");
	xmlSetProp(copy, (const xmlChar *)"state-qualifier", (const xmlChar *)"mt-suggestion");
	return take_parts(x, seg_source, copy);
}

/* A trans-unit of 1.2, or a segment of 2.x. */
static int take_unit(struct translate_xliff *x, xmlNode *unit)
{
	xmlNode *source = translate_xliff_child(unit, "source"),
		*target = translate_xliff_child(unit, "target");
	xmlNode *seg_source = x->is_v2 ? NULL : translate_xliff_child(unit, "seg-source");

	if (source == NULL || !translate_xliff_has_words(source) || is_done(x, source, target) ||
	    translate_xliff_attribute_is(unit, "approved", "yes"))
		return 0;
	if (seg_source != NULL && has_parts(seg_source))
		return take_segmented(x, seg_source, target);
	return add_segment(x, source, target, seg_source != NULL ? seg_source : source);
}

static int take_below(struct translate_xliff *x, xmlNode *parent, bool translate)
{
	const char *const unit = x->is_v2 ? "segment" : "trans-unit";

	for (xmlNode *n = parent->children; n != NULL; n = n->next) {
		bool here = translate;

		if (n->type != XML_ELEMENT_NODE)
			continue;
		if (xmlHasProp(n, (const xmlChar *)"translate") != NULL)
			here = !translate_xliff_attribute_is(n, "translate", "no");
		if (translate_xliff_named(n, unit)) {
			if (here && take_unit(x, n) < 0)
				return -1;
		} else if (!translate_xliff_named(n, "alt-trans") && take_below(x, n, here) < 0) {
			return -1;
		}
	}
	return 0;
}

int translate_xliff_find(struct translate_xliff *x)
{
	return take_below(x, xmlDocGetRootElement(x->doc), true);
}
