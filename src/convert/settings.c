/* settings.c — see settings.h. libxml2 reads the document into a tree that is bounded by its
 * length; DTDs are refused and nothing is fetched. A table says what each element means. An
 * element that is not in it is an error: what was asked for and is not understood must not be
 * left out silently. */
#include "convert/settings.h"

#include <ctype.h>
#include <libxml/parser.h>
#include <string.h>

#include "base/str.h"
#include "convert/order.h"

#define VALUE_MAX 256

struct element {
	const char *name;
	bool fixed;                                                 /* inside FixedFormatSettings */
	bool (*set)(struct convert_settings *s, const char *value); /* false: no such value */
};

/* --- values ------------------------------------------------------------------------------- */

static bool is(const char *value, const char *name)
{
	return str_eq_nocase(str_of(value), str_of(name));
}

static bool set_bool(const char *value, bool *ret)
{
	if (is(value, "true") || is(value, "1"))
		*ret = true;
	else if (is(value, "false") || is(value, "0"))
		*ret = false;
	else
		return false;
	return true;
}

static bool set_format(struct convert_settings *s, const char *value)
{
	const struct convert_format_row *row = convert_format_by_name(value);

	if (row != NULL)
		s->format = row->id;
	else if (is(value, "Automatic"))
		s->format = CONVERT_AUTOMATIC;
	else if (is(value, "XPS"))
		s->format = CONVERT_XPS;
	else if (is(value, "DocumentStrict"))
		s->format = CONVERT_STRICT;
	else
		return false;
	return true;
}

/* The position of the value in the list, or -1. */
static int choice(const char *value, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (is(value, names[i]))
			return i;
	return -1;
}

static bool set_save(struct convert_settings *s, const char *value)
{
	static const char *const names[] = { "AppendIfPossible", "AlwaysOverwrite", "AppendOnly",
					     "NeverOverwrite" };
	int i = choice(value, names, 4);

	if (i >= 0)
		s->save = (enum convert_save)i;
	return i >= 0;
}

static bool set_revisions(struct convert_settings *s, const char *value)
{
	static const char *const names[] = { "Final", "FinalShowingMarkup", "Original",
					     "OriginalShowingMarkup" };
	int i = choice(value, names, 4);

	if (i >= 0)
		s->revisions = (enum convert_revisions)(CONVERT_FINAL + i);
	return i >= 0;
}

static bool set_balloons(struct convert_settings *s, const char *value)
{
	static const char *const names[] = { "OnlyCommentsAndFormatting", "Inline", "AlwaysUse" };
	int i = choice(value, names, 3);

	s->balloons_other = i > 0;
	return i >= 0;
}

static bool set_compatibility(struct convert_settings *s, const char *value)
{
	static const char *const names[] = {
		"MaintainCurrentSetting", "Word2003", "Word2007", "Word2010", "Word2013", "Current"
	};
	int i = choice(value, names, 6);

	s->compatibility_other = i > 0;
	return i >= 0;
}

/* A list with spaces between, as flags of .NET are written; with commas, too. */
static bool set_markup(struct convert_settings *s, const char *value)
{
	static const char *const names[] = { "Comments", "Ink", "Text", "Formatting" };
	char word[VALUE_MAX];
	size_t n;

	s->markup = CONVERT_MARKUP_GIVEN;
	for (;;) {
		int i;

		value += strspn(value, " ,");
		n = strcspn(value, " ,");
		if (n == 0)
			return true;
		str_copy(word, sizeof(word), (struct str){ value, n });
		i = choice(word, names, 4);
		if (i < 0 && !is(word, "None"))
			return false;
		if (i >= 0)
			s->markup |= CONVERT_MARKUP_COMMENTS << i;
		value += n;
	}
}

/* A language tag: letters, digits and hyphens. */
static bool set_language(struct convert_settings *s, const char *value)
{
	if (strlen(value) >= sizeof(s->language))
		return false;
	for (const char *p = value; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && *p != '-')
			return false;
	str_copy(s->language, sizeof(s->language), str_of(value));
	return true;
}

/* "3", "2-5", "1,4-6": nothing but digits, commas and hyphens between them. */
static bool set_pages(struct convert_settings *s, const char *value)
{
	bool digit = false;

	if (strlen(value) >= sizeof(s->pages))
		return false;
	for (const char *p = value; *p != '\0'; p++) {
		if (!isdigit((unsigned char)*p) && (!digit || (*p != ',' && *p != '-')))
			return false;
		digit = isdigit((unsigned char)*p);
	}
	str_copy(s->pages, sizeof(s->pages), str_of(value));
	return digit;
}

static bool set_bookmarks(struct convert_settings *s, const char *value)
{
	static const char *const names[] = { "None", "Headings", "Bookmarks" };
	int i = choice(value, names, 3);

	s->headings = i == 1;
	s->word_bookmarks = i == 2;
	return i >= 0;
}

static bool set_quality(struct convert_settings *s, const char *value)
{
	s->small = is(value, "Minimum");
	return s->small || is(value, "Standard");
}

static bool set_properties(struct convert_settings *s, const char *value)
{
	bool keep = true, known = set_bool(value, &keep);

	s->no_properties = !keep;
	return known;
}

/* Says something only together with another one that we refuse, or nothing that LibreOffice does
 * otherwise. */
static bool set_nothing(struct convert_settings *s, const char *value)
{
	bool ignored;

	(void)s;
	return set_bool(value, &ignored);
}

#define BOOL_SETTER(name, field) \
	static bool name(struct convert_settings *s, const char *value) \
	{ \
		return set_bool(value, &s->field); \
	}
BOOL_SETTER(set_update_fields, update_fields)
BOOL_SETTER(set_embed_fonts, embed_fonts)
BOOL_SETTER(set_thumbnail, thumbnail)
BOOL_SETTER(set_pdfa, pdfa)
BOOL_SETTER(set_tags, tags)

static const struct element elements[] = {
	{ "OutputFormat", false, set_format },
	{ "SaveFormat", false, set_format },
	{ "OutputSaveBehavior", false, set_save },
	{ "UpdateFields", false, set_update_fields },
	{ "RevisionState", false, set_revisions },
	{ "MarkupView", false, set_markup },
	{ "BalloonState", false, set_balloons },
	{ "CompatibilityMode", false, set_compatibility },
	{ "DefaultLanguage", false, set_language },
	{ "EmbedFonts", false, set_embed_fonts },
	{ "DoNotEmbedSystemFonts", false, set_nothing },
	{ "SubsetEmbeddedFonts", false, set_nothing },
	{ "AddThumbnail", false, set_thumbnail },
	{ "UsePDFA", true, set_pdfa },
	{ "IncludeDocumentStructure", true, set_tags },
	{ "IncludeDocumentProperties", true, set_properties },
	{ "Bookmarks", true, set_bookmarks },
	{ "OutputQuality", true, set_quality },
	{ "BitmapUnembeddableFonts", true, set_nothing },
	{ "BalloonState", true, set_balloons },
	{ "PageRange", true, set_pages },
};

/* --- the document ------------------------------------------------------------------------- */

static const char *name_of(const xmlNode *node)
{
	return (const char *)node->name;
}

/* The text of an element without elements, trimmed. -1: it has other content or is too long. */
static int value_of(const xmlNode *node, char *ret, size_t size)
{
	struct str text;
	char all[VALUE_MAX] = "";
	size_t n = 0;

	for (const xmlNode *c = node->children; c != NULL; c = c->next) {
		size_t len;

		if (c->type == XML_COMMENT_NODE)
			continue;
		if (c->type != XML_TEXT_NODE && c->type != XML_CDATA_SECTION_NODE)
			return -1;
		len = strlen((const char *)c->content);
		if (len >= sizeof(all) - n)
			return -1;
		memcpy(all + n, c->content, len);
		n += len;
	}
	text = str_trim((struct str){ all, n });
	if (text.n >= size)
		return -1;
	str_copy(ret, size, text);
	return 0;
}

static int read_element(const xmlNode *node, bool fixed, struct convert_settings *s, struct err *reterr)
{
	char value[VALUE_MAX];

	for (size_t i = 0; i < ARRAY_LEN(elements); i++) {
		if (elements[i].fixed != fixed || !is(name_of(node), elements[i].name))
			continue;
		if (value_of(node, value, sizeof(value)) == 0 && elements[i].set(s, value))
			return 0;
		return err_raise(reterr, DOCUMENT_SETTINGS_INVALID, 16, 1,
				 "the settings have no such value of %s; see docs/convert.md",
				 elements[i].name);
	}
	return err_raise(reterr, DOCUMENT_SETTINGS_INVALID, 16, 1,
			 "the settings have an element %.80s, which is not known here", name_of(node));
}

static int read_children(const xmlNode *parent, bool fixed, struct convert_settings *s, struct err *reterr)
{
	for (const xmlNode *c = parent->children; c != NULL; c = c->next) {
		int rc;

		if (c->type != XML_ELEMENT_NODE)
			continue;
		if (!fixed && is(name_of(c), "FixedFormatSettings"))
			rc = read_children(c, true, s, reterr);
		else
			rc = read_element(c, fixed, s, reterr);
		if (rc < 0)
			return -1;
	}
	return 0;
}

void convert_settings_default(struct convert_settings *s)
{
	*s = (struct convert_settings){ .tags = true, .headings = true };
}

static int read_tree(const xmlDoc *doc, struct convert_settings *s, struct err *reterr)
{
	const xmlNode *root = xmlDocGetRootElement(doc);

	if (doc->intSubset != NULL)
		return err_raise(reterr, DOCUMENT_SETTINGS_INVALID, 16, 1,
				 "the settings have a DTD, which is not read");
	if (root == NULL || (!is(name_of(root), "ConversionJobSettings") && !is(name_of(root), "settings")))
		return err_raise(reterr, DOCUMENT_SETTINGS_INVALID, 16, 1,
				 "the settings do not begin with an element ConversionJobSettings");
	return read_children(root, false, s, reterr);
}

int convert_settings_read(const char *xml, size_t n, struct convert_settings *ret, struct err *reterr)
{
	struct convert_settings s;
	xmlDoc *doc;
	int rc;

	convert_settings_default(&s);
	if (n > CONVERT_SETTINGS_MAX)
		return err_raise(reterr, DOCUMENT_SETTINGS_INVALID, 16, 1,
				 "the settings are longer than %d bytes", CONVERT_SETTINGS_MAX);
	if (str_trim((struct str){ xml, n }).n == 0) {
		*ret = s;
		return 0;
	}
	doc = xmlReadMemory(xml, (int)n, NULL, NULL,
			    XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING);
	if (doc == NULL)
		return err_raise(reterr, DOCUMENT_SETTINGS_INVALID, 16, 1,
				 "the settings are not well-formed XML");
	rc = read_tree(doc, &s, reterr);
	xmlFreeDoc(doc);
	if (rc == 0)
		*ret = s;
	return rc;
}
