/* xml_valid.c — the content model: which element may come next, which attributes it has, what
 * they hold. The numbers and texts are SQL Server's (wire notes 16.5). */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "service/xml_int.h"

/* Every step is written with its number among its namesakes, as SQL Server does. */
static void location(const struct xml_reader *r, const char *last, unsigned number, const char *attribute,
		     char *dst, size_t size)
{
	size_t n = 0;

	dst[0] = '\0';
	for (unsigned i = 0; i < r->depth && n < size; i++)
		n += (size_t)snprintf(dst + n, size - n, "/*:%s[%u]", r->stack[i].rule->name,
				      r->stack[i].number);
	if (last != NULL && n < size)
		n += (size_t)snprintf(dst + n, size - n, "/*:%.100s[%u]", last, number);
	if (attribute != NULL && n < size)
		snprintf(dst + n, size - n, "/@*:%.100s", attribute);
}

static void fail(struct xml_reader *r, int number, uint8_t state, const char *text)
{
	r->failed = r->invalid = true;
	(void)err_raise(r->reterr, number, 16, state, "XML Validation: %s", text);
}

static void qualified(const char *uri, const char *name, char *dst, size_t size)
{
	if (uri != NULL && uri[0] != '\0')
		snprintf(dst, size, "{%.200s}%.100s", uri, name);
	else
		snprintf(dst, size, "%.100s", name);
}

static void unknown_root(struct xml_reader *r, const char *name, const char *uri)
{
	char q[320], where[300], text[700];

	qualified(uri, name, q, sizeof(q));
	location(r, name, 1, NULL, where, sizeof(where));
	snprintf(text, sizeof(text),
		 "Declaration not found for element '%s'. Location: %s. The root must be <%s xmlns=\"%s\">.",
		 q, where, r->model->root->name, r->model->uri);
	fail(r, 6913, 1, text);
}

static const struct xml_element_rule *expected_child(const struct xml_open *o)
{
	return o->child < o->rule->nchildren ? &o->rule->children[o->child] : NULL;
}

static void wrong_element(struct xml_reader *r, const char *name, const char *uri)
{
	const struct xml_open *o = &r->stack[r->depth - 1];
	const struct xml_element_rule *want = expected_child(o);
	char q[320], w[320], where[300], text[1000];

	assert(r->depth > 0 && !r->failed);
	qualified(uri, name, q, sizeof(q));
	location(r, name, 1, NULL, where, sizeof(where));
	if (want == NULL) {
		snprintf(text, sizeof(text), "Unexpected element(s): %s. Location: %s", q, where);
		fail(r, 6923, 1, text);
		return;
	}
	qualified(r->model->uri, want->name, w, sizeof(w));
	snprintf(text, sizeof(text),
		 "Invalid content. Expected element(s): '%s'. Found: element '%s' instead. Location: %s.", w,
		 q, where);
	fail(r, 6965, 1, text);
}

/* Moves along the list of children until the name fits; NULL: it does not fit here. */
static const struct xml_element_rule *match_child(struct xml_reader *r, struct xml_open *o, const char *name,
						  const char *uri)
{
	if (uri == NULL || strcmp(uri, r->model->uri) != 0)
		return NULL;
	assert(o->child <= o->rule->nchildren);
	while (o->child < o->rule->nchildren) {
		const struct xml_element_rule *c = &o->rule->children[o->child];

		if (strcmp(c->name, name) == 0) {
			if (o->count < c->max)
				return c;
		} else if (o->count < c->min) {
			return NULL;
		}
		/* One too many of the last kind leaves nothing to expect. */
		o->child++;
		o->count = 0;
	}
	return NULL;
}

static void bad_attribute(struct xml_reader *r, const char *uri, const char *name)
{
	char q[320], where[300], text[700];

	qualified(uri, name, q, sizeof(q));
	location(r, NULL, 0, name, where, sizeof(where));
	snprintf(text, sizeof(text), "Attribute '%s' is not permitted in this context. Location: %s", q,
		 where);
	fail(r, 6905, 3, text);
}

int service_xml_too_many_attributes(struct xml_reader *r)
{
	char text[200];

	snprintf(text, sizeof(text),
		 "An element has more than %d attributes, which are not permitted in this context.",
		 XML_TAG_ATTRIBUTES_MAX);
	fail(r, 6905, 3, text);
	return -1;
}

static void missing_attribute(struct xml_reader *r, const char *name)
{
	char where[300], text[500];

	location(r, NULL, 0, NULL, where, sizeof(where));
	snprintf(text, sizeof(text), "Required attribute '%s' is missing. Location: %s", name, where);
	fail(r, 6906, 1, text);
}

static void bad_value(struct xml_reader *r, const char *name, struct str v)
{
	char shown[129], where[300], text[600];

	str_copy(shown, sizeof(shown), v);
	location(r, NULL, 0, name, where, sizeof(where));
	snprintf(text, sizeof(text), "Invalid simple type value: '%s'. Location: %s", shown, where);
	fail(r, 6926, 1, text);
}

static int find_attribute(const struct xml_element_rule *rule, const char *name, const char *uri)
{
	for (size_t i = 0; uri == NULL && i < rule->nattributes; i++)
		if (strcmp(rule->attributes[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* XML Schema allows the two location hints on every element; nobody follows them [E-COM-15]. */
static bool is_location_hint(const char *name, const char *uri)
{
	return uri != NULL && strcmp(uri, "http://www.w3.org/2001/XMLSchema-instance") == 0 &&
	       (strcmp(name, "schemaLocation") == 0 || strcmp(name, "noNamespaceSchemaLocation") == 0);
}

static void take_attribute(struct xml_reader *r, const struct xml_element_rule *rule, const xmlChar **a,
			   struct value *fields)
{
	const char *name = (const char *)a[0], *uri = (const char *)a[2];
	struct str text = { (const char *)a[3], (size_t)(a[4] - a[3]) };
	int i = find_attribute(rule, name, uri);
	bool nomem;

	if (i < 0 && is_location_hint(name, uri))
		return;
	if (i < 0) {
		bad_attribute(r, uri, name);
	} else if (!service_xml_simple_value(rule->attributes[i].type, text, r->arena, &fields[i], &nomem)) {
		if (nomem) {
			r->failed = true;
			(void)err_nomem(r->reterr);
			xmlStopParser(r->ctxt);
		} else {
			bad_value(r, name, text);
		}
	}
}

/* libxml2 gives five pointers an attribute: name, prefix, uri, begin and end of the value. */
static void take_attributes(struct xml_reader *r, const struct xml_element_rule *rule, int n,
			    const xmlChar **attributes)
{
	struct value fields[XML_ATTRIBUTES_MAX];

	for (size_t i = 0; i < rule->nattributes; i++)
		value_set_null(&fields[i], TYPE_LEN(TYPE_NVARCHAR, TYPE_MAX));
	for (int i = 0; i < n && !r->failed; i++)
		take_attribute(r, rule, attributes + 5 * (ptrdiff_t)i, fields);
	for (size_t i = 0; i < rule->nattributes && !r->failed; i++)
		if (rule->attributes[i].required && fields[i].null)
			missing_attribute(r, rule->attributes[i].name);
	if (!r->failed && rule->row >= 0 &&
	    r->row(r->arg, rule->row, fields, rule->nattributes, r->reterr) != 0) {
		r->failed = true;
		xmlStopParser(r->ctxt);
	}
}

static const struct xml_element_rule *enter_root(struct xml_reader *r, const char *name, const char *uri)
{
	const struct xml_element_rule *root = r->model->root;

	r->root_seen = true;
	if (uri == NULL || strcmp(uri, r->model->uri) != 0 || strcmp(name, root->name) != 0) {
		unknown_root(r, name, uri);
		return NULL;
	}
	return root;
}

static const struct xml_element_rule *enter_child(struct xml_reader *r, const char *name, const char *uri,
						  unsigned *ret_number)
{
	struct xml_open *o = &r->stack[r->depth - 1];
	const struct xml_element_rule *rule = match_child(r, o, name, uri);

	if (rule == NULL) {
		wrong_element(r, name, uri);
		return NULL;
	}
	o->count++;
	*ret_number = ++o->seen[o->child];
	return rule;
}

void service_xml_valid_start(struct xml_reader *r, const char *name, const char *uri, int nattributes,
			     const xmlChar **attributes)
{
	const struct xml_element_rule *rule;
	unsigned number = 1;

	if (r->failed)
		return;
	rule = r->depth == 0 ? enter_root(r, name, uri) : enter_child(r, name, uri, &number);
	if (rule == NULL)
		return;
	assert(r->depth < XML_STACK_MAX); /* a model is at most three deep */
	r->stack[r->depth++] = (struct xml_open){ .rule = rule, .number = number };
	take_attributes(r, rule, nattributes, attributes);
}

void service_xml_valid_end(struct xml_reader *r)
{
	struct xml_open *o;
	char w[320], where[300], text[700];

	if (r->failed || r->depth == 0)
		return;
	o = &r->stack[r->depth - 1];
	for (; o->child < o->rule->nchildren; o->child++, o->count = 0) {
		const struct xml_element_rule *c = &o->rule->children[o->child];

		if (o->count >= c->min)
			continue;
		qualified(r->model->uri, c->name, w, sizeof(w));
		location(r, NULL, 0, NULL, where, sizeof(where));
		snprintf(text, sizeof(text), "Invalid content. Expected element(s): '%s'. Location: %s", w,
			 where);
		fail(r, 6908, 1, text);
		return;
	}
	r->depth--;
}

/* White space between elements is nothing; other text has no place anywhere. */
void service_xml_valid_text(struct xml_reader *r, const char *p, size_t n)
{
	char where[300], text[600];

	for (size_t i = 0; i < n && !r->failed; i++) {
		if (p[i] == ' ' || p[i] == '\t' || p[i] == '\n' || p[i] == '\r')
			continue;
		location(r, NULL, 0, NULL, where, sizeof(where));
		snprintf(text, sizeof(text),
			 "Text node is not allowed at this location, the type was defined with element only "
			 "content or with simple content. Location: %s",
			 where);
		fail(r, 6909, 1, text);
	}
}
