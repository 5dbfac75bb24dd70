/* xliff.c — reading and writing XLIFF as a whole. See xliff_units.c for what is a segment and
 * xliff_inline.c for its content. */
#include "translate/xliff.h"

#include <libxml/parser.h>
#include <stdlib.h>

#include "translate/xliff_int.h"

/* Nothing from elsewhere, no entities put in place of their names, no messages on standard error;
 * depth and sizes as libxml2 bounds them. */
#define PARSE_OPTIONS (XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_NOCDATA)

bool translate_xliff_named(const xmlNode *node, const char *name)
{
	return node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0;
}

xmlNode *translate_xliff_child(const xmlNode *parent, const char *name)
{
	for (xmlNode *n = parent->children; n != NULL; n = n->next) {
		if (translate_xliff_named(n, name))
			return n;
	}
	return NULL;
}

bool translate_xliff_attribute_is(const xmlNode *node, const char *name, const char *value)
{
	xmlChar *v = xmlGetNoNsProp(node, (const xmlChar *)name);
	bool is = v != NULL && strcmp((const char *)v, value) == 0;

	xmlFree(v);
	return is;
}

bool translate_xliff_is(struct str document)
{
	struct str head = { document.p, document.n < 4096 ? document.n : 4096 };

	while (head.n > 0) {
		const char *tag = memchr(head.p, '<', head.n);

		if (tag == NULL || (size_t)(tag - head.p) + 8 > head.n)
			return false;
		head.n -= (size_t)(tag + 1 - head.p);
		head.p = tag + 1;
		if (*head.p != '!' && *head.p != '?')
			return memcmp(head.p, "xliff", 5) == 0 &&
			       (head.p[5] == ' ' || head.p[5] == '>' || head.p[5] == '\n' ||
				head.p[5] == '\r' || head.p[5] == '\t');
	}
	return false;
}

static int check_root(struct translate_xliff *x, struct translate_failure *f)
{
	xmlNode *root = xmlDocGetRootElement(x->doc);
	xmlChar *version;

	if (root == NULL || !translate_xliff_named(root, "xliff"))
		return translate_fail(f, DOCUMENT_INPUT_CORRUPT,
				      "This is no XLIFF document: its root element is not xliff.");
	version = xmlGetNoNsProp(root, (const xmlChar *)"version");
	if (version == NULL ||
	    (strcmp((const char *)version, "1.2") != 0 && strcmp((const char *)version, "1.1") != 0 &&
	     strncmp((const char *)version, "2.", 2) != 0)) {
		(void)translate_fail(f, DOCUMENT_INPUT_UNSUPPORTED,
				     "XLIFF of version %.20s cannot be read: 1.2 and 2.0 can.",
				     version == NULL ? "(none)" : (const char *)version);
		xmlFree(version);
		return -1;
	}
	x->is_v2 = version[0] == '2';
	xmlFree(version);
	return 0;
}

int translate_xliff_read(struct str document, struct translate_xliff **ret, struct translate_failure *f)
{
	struct translate_xliff *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	x->failure = f;
	if (document.n <= INT32_MAX)
		x->doc = xmlReadMemory(document.p, (int)document.n, NULL, NULL, PARSE_OPTIONS);
	if (x->doc == NULL) {
		const xmlError *e = xmlGetLastError();

		(void)translate_fail(f, DOCUMENT_INPUT_CORRUPT,
				     "This XML is not well formed, line %d: %.200s", e == NULL ? 0 : e->line,
				     e == NULL || e->message == NULL ? "" : e->message);
		goto fail;
	}
	if (check_root(x, f) < 0 || translate_xliff_find(x) < 0)
		goto fail;
	x->failure = NULL;
	*ret = x;
	return 0;
fail:
	translate_xliff_free(x);
	return -1;
}

void translate_xliff_free(struct translate_xliff *x)
{
	if (x == NULL)
		return;
	for (size_t i = 0; i < x->n; i++) {
		free(x->segment[i].marks);
		buf_fini(&x->segment[i].text);
	}
	free(x->segment);
	xmlFreeDoc(x->doc);
	free(x);
}

const char *translate_xliff_source_language(const struct translate_xliff *x)
{
	const xmlNode *root = xmlDocGetRootElement(x->doc),
		      *at = x->is_v2 ? root : translate_xliff_child(root, "file");
	const xmlAttr *a = at == NULL ? NULL
				      : xmlHasProp(at, (const xmlChar *)(x->is_v2 ? "srcLang"
										  : "source-language"));

	return a == NULL || a->children == NULL || a->children->content == NULL
		       ? ""
		       : (const char *)a->children->content;
}

size_t translate_xliff_count(const struct translate_xliff *x)
{
	return x->n;
}

struct str translate_xliff_source(const struct translate_xliff *x, size_t i)
{
	return (struct str){ x->segment[i].text.len == 0 ? "" : (const char *)x->segment[i].text.data,
			     x->segment[i].text.len };
}

/* A new target after what it translates, on a line of its own if that is. */
static xmlNode *make_target(const struct translate_xliff_segment *s)
{
	xmlNode *target = xmlNewDocNode(s->after->doc, s->after->ns, (const xmlChar *)"target", NULL);
	xmlNode *blank = s->after->prev;

	if (target == NULL)
		return NULL;
	if (blank != NULL && xmlIsBlankNode(blank)) {
		xmlNode *copy = xmlDocCopyNode(blank, s->after->doc, 1);

		if (copy != NULL) {
			/* xmlAddNextSibling joins neighbouring texts, so the blank goes in while an
			 * element stands on both sides. */
			xmlAddNextSibling(s->after, target);
			xmlAddPrevSibling(target, copy);
			return target;
		}
	}
	xmlAddNextSibling(s->after, target);
	return target;
}

/* Says how the target came to be, as each version does. */
static void set_state(const struct translate_xliff *x, xmlNode *target)
{
	if (x->is_v2) {
		xmlSetProp(target->parent, (const xmlChar *)"state", (const xmlChar *)"translated");
	} else if (translate_xliff_named(target, "target")) {
		xmlSetProp(target, (const xmlChar *)"state", (const xmlChar *)"needs-review-translation");
		xmlSetProp(target, (const xmlChar *)"state-qualifier", (const xmlChar *)"mt-suggestion");
	}
}

int translate_xliff_set_target(struct translate_xliff *x, size_t i, struct str marked,
			       struct translate_failure *f)
{
	struct translate_xliff_segment *s = &x->segment[i];

	if (s->target == NULL)
		s->target = make_target(s);
	if (s->target == NULL || translate_xliff_fill(x, s, s->target, marked) < 0)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	set_state(x, s->target);
	return 0;
}

static void set_target_language(const struct translate_xliff *x, const char *language)
{
	xmlNode *root = xmlDocGetRootElement(x->doc);

	if (x->is_v2) {
		xmlSetProp(root, (const xmlChar *)"trgLang", (const xmlChar *)language);
		return;
	}
	for (xmlNode *n = root->children; n != NULL; n = n->next) {
		if (translate_xliff_named(n, "file"))
			xmlSetProp(n, (const xmlChar *)"target-language", (const xmlChar *)language);
	}
}

int translate_xliff_write(struct translate_xliff *x, const char *target_language, struct buf *out,
			  struct translate_failure *f)
{
	xmlChar *text = NULL;
	int n = 0;

	set_target_language(x, target_language);
	/* UTF-8 whatever it was: what libxml2 reads it cannot always write (UTF-7), and the other
	 * language may need letters that the old encoding lacks. */
	xmlDocDumpMemoryEnc(x->doc, &text, &n, "UTF-8");
	if (text == NULL)
		return translate_fail(f, DOCUMENT_OUT_OF_MEMORY, "There was not enough memory.");
	buf_put(out, text, (size_t)n);
	xmlFree(text);
	return out->failed ? translate_fail(f, DOCUMENT_OUT_OF_MEMORY,
					    "The translation is longer than the limit.")
			   : 0;
}
