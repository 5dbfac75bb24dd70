/* package.c — packages that we look into, and Open XML packages that we write to: a document that
 * becomes a template or loses its macros, and the small document that LibreOffice is warmed up
 * with. */
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "base/buf.h"
#include "base/str.h"
#include "convert/nursery_int.h"

#define TYPES "[Content_Types].xml"
#define RELATIONS "word/_rels/document.xml.rels"
#define PART_MAX (1 << 20)
#define XML_HEAD "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"

static int add(zip_t *z, const char *name, const void *p, size_t n)
{
	zip_source_t *source = zip_source_buffer(z, p, n, 0);

	if (source != NULL && zip_file_add(z, name, source, ZIP_FL_OVERWRITE) >= 0)
		return 0;
	zip_source_free(source);
	return -1;
}

/* The beginning of a part as text, to be freed. NULL: it is not there. */
static char *read_part(zip_t *z, const char *name)
{
	char *text = malloc(PART_MAX);
	zip_file_t *f = text != NULL ? zip_fopen(z, name, 0) : NULL;
	zip_int64_t n = f != NULL ? zip_fread(f, text, PART_MAX - 1) : -1;

	if (f != NULL)
		zip_fclose(f);
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* Writes the package; what was given to it must live until then. */
static int finish(zip_t *z, int rc)
{
	if (rc == 0)
		rc = zip_close(z);
	if (rc != 0 && z != NULL)
		zip_discard(z);
	return rc;
}

/* --- template ----------------------------------------------------------------------------- */

/* Writes the text with one type in place of the other. Failure is the buffer's, or no such type. */
static int exchange(struct buf *b, const char *text, const char *old, const char *new)
{
	const char *at = strstr(text, old);

	if (at == NULL)
		return -1;
	buf_put(b, text, (size_t)(at - text));
	buf_put(b, new, strlen(new));
	buf_put(b, at + strlen(old), strlen(at + strlen(old)));
	return b->failed ? -1 : 0;
}

int convert_make_template(const char *path)
{
	static const char old[] = "application/vnd.ms-word.document.macroEnabled.main+xml";
	static const char new[] = "application/vnd.ms-word.template.macroEnabledTemplate.main+xml";
	zip_t *z = zip_open(path, 0, NULL);
	char *text = z != NULL ? read_part(z, TYPES) : NULL;
	struct buf made;
	int rc = -1;

	buf_init(&made, 2 * PART_MAX);
	if (text != NULL && exchange(&made, text, old, new) == 0)
		rc = add(z, TYPES, made.data, made.len);
	rc = finish(z, rc);
	buf_fini(&made);
	free(text);
	return rc;
}

/* --- macros ------------------------------------------------------------------------------- */

/* Writes the text without the elements that name a part of macros; they are empty elements. */
static void drop_elements(struct buf *b, const char *text)
{
	while (*text != '\0') {
		size_t n = text[0] == '<' ? strcspn(text, ">") + 1 : strcspn(text, "<");
		const char *vba = strstr(text, "vba");

		if (n > strlen(text))
			n = strlen(text);
		if (text[0] != '<' || vba == NULL || vba >= text + n)
			buf_put(b, text, n);
		text += n;
	}
}

static int rewrite(zip_t *z, const char *name, struct buf *made)
{
	char *text = read_part(z, name);

	/* All of it, or it must not be written back. */
	if (text != NULL && strlen(text) < PART_MAX - 1)
		drop_elements(made, text);
	else
		made->failed = true;
	free(text);
	return made->failed ? -1 : add(z, name, made->data, made->len);
}

int convert_drop_macros(const char *path)
{
	zip_t *z = zip_open(path, 0, NULL);
	zip_int64_t at = z != NULL ? zip_name_locate(z, "word/vbaProject.bin", 0) : -1;
	struct buf types, relations;
	int rc = z != NULL ? 0 : -1;

	buf_init(&types, PART_MAX);
	buf_init(&relations, PART_MAX);
	if (at >= 0 && (rewrite(z, TYPES, &types) < 0 || rewrite(z, RELATIONS, &relations) < 0 ||
			zip_delete(z, (zip_uint64_t)at) < 0))
		rc = -1;
	rc = finish(z, rc);
	buf_fini(&types);
	buf_fini(&relations);
	return rc;
}

/* --- protection --------------------------------------------------------------------------- */

/* Whether an element with this name has one of the texts in its tag, and the other, too. */
static bool says(const char *text, const char *element, const char *one, const char *const *others)
{
	const char *at = strstr(text, element);
	char tag[2048];

	if (at == NULL)
		return false;
	str_copy(tag, sizeof(tag), (struct str){ at, strcspn(at, "<") });
	for (; strstr(tag, one) != NULL && *others != NULL; others++)
		if (strstr(tag, *others) != NULL)
			return true;
	return false;
}

bool convert_package_is_read_only(const char *path)
{
	static const char *const on[] = { "enforcement=\"1\"", "enforcement=\"true\"", "enforcement=\"on\"",
					  NULL };
	static const char *const yes[] = { ">true", NULL };
	zip_t *z = zip_open(path, ZIP_RDONLY, NULL);
	char *word = z != NULL ? read_part(z, "word/settings.xml") : NULL;
	char *odf = z != NULL && word == NULL ? read_part(z, "settings.xml") : NULL;
	bool is = (word != NULL && says(word, "documentProtection", "\"readOnly\"", on)) ||
		  (odf != NULL && says(odf, "\"LoadReadonly\"", "", yes));

	free(word);
	free(odf);
	if (z != NULL)
		zip_discard(z);
	return is;
}

/* --- warm-up ------------------------------------------------------------------------------ */

#define PART(name, text) \
	{ \
		name, XML_HEAD text, sizeof(XML_HEAD text) - 1 \
	}
#define OFFICE "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define WORD "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
#define WORD_TYPE "application/vnd.openxmlformats-officedocument.wordprocessingml."

/* A heading, paragraphs with formatting, a list, a table, a header and a footer: the libraries,
 * fonts and tables that most documents need. */
static const struct {
	const char *name, *text;
	size_t n;
} parts[] = {
	PART(TYPES,
	     "<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">"
	     "<Default Extension=\"rels\" "
	     "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
	     "<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
	     "<Override PartName=\"/word/document.xml\" ContentType=\"" WORD_TYPE "document.main+xml\"/>"
	     "<Override PartName=\"/word/styles.xml\" ContentType=\"" WORD_TYPE "styles+xml\"/>"
	     "<Override PartName=\"/word/numbering.xml\" ContentType=\"" WORD_TYPE "numbering+xml\"/>"
	     "<Override PartName=\"/word/header1.xml\" ContentType=\"" WORD_TYPE "header+xml\"/></Types>"),
	PART("_rels/.rels",
	     "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
	     "<Relationship Id=\"r1\" Type=\"" OFFICE
	     "/officeDocument\" Target=\"word/document.xml\"/></Relationships>"),
	PART("word/_rels/document.xml.rels",
	     "<Relationships xmlns=\"http://schemas.openxmlformats.org/package/2006/relationships\">"
	     "<Relationship Id=\"r1\" Type=\"" OFFICE "/styles\" Target=\"styles.xml\"/>"
	     "<Relationship Id=\"r2\" Type=\"" OFFICE "/numbering\" Target=\"numbering.xml\"/>"
	     "<Relationship Id=\"r3\" Type=\"" OFFICE "/header\" Target=\"header1.xml\"/></Relationships>"),
	PART("word/styles.xml",
	     "<w:styles xmlns:w=\"" WORD
	     "\"><w:style w:type=\"paragraph\" w:styleId=\"Heading1\"><w:name w:val=\"heading 1\"/>"
	     "<w:pPr><w:outlineLvl w:val=\"0\"/></w:pPr><w:rPr><w:b/><w:sz "
	     "w:val=\"32\"/></w:rPr></w:style></w:styles>"),
	PART("word/numbering.xml",
	     "<w:numbering xmlns:w=\"" WORD
	     "\"><w:abstractNum w:abstractNumId=\"0\"><w:lvl w:ilvl=\"0\"><w:start w:val=\"1\"/>"
	     "<w:numFmt w:val=\"decimal\"/><w:lvlText w:val=\"%1.\"/></w:lvl></w:abstractNum>"
	     "<w:num w:numId=\"1\"><w:abstractNumId w:val=\"0\"/></w:num></w:numbering>"),
	PART("word/header1.xml",
	     "<w:hdr xmlns:w=\"" WORD "\"><w:p><w:r><w:t>Header</w:t></w:r></w:p></w:hdr>"),
	PART("word/document.xml",
	     "<w:document xmlns:w=\"" WORD "\" xmlns:r=\"" OFFICE "\"><w:body>"
	     "<w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Heading</w:t></w:r></w:p>"
	     "<w:p><w:r><w:t xml:space=\"preserve\">Plain, "
	     "</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>bold</w:t></w:r>"
	     "<w:r><w:rPr><w:i/></w:rPr><w:t>italic</w:t></w:r><w:r><w:rPr><w:rFonts w:ascii=\"Arial\" "
	     "w:hAnsi=\"Arial\"/></w:rPr>"
	     "<w:t>Arial</w:t></w:r></w:p>"
	     "<w:p><w:pPr><w:numPr><w:ilvl w:val=\"0\"/><w:numId "
	     "w:val=\"1\"/></w:numPr></w:pPr><w:r><w:t>List</w:t></w:r></w:p>"
	     "<w:tbl><w:tblPr><w:tblBorders><w:top w:val=\"single\" "
	     "w:sz=\"4\"/></w:tblBorders></w:tblPr><w:tblGrid><w:gridCol w:w=\"2000\"/>"
	     "<w:gridCol "
	     "w:w=\"2000\"/></w:tblGrid><w:tr><w:tc><w:p><w:r><w:t>1</w:t></w:r></w:p></"
	     "w:tc><w:tc><w:p><w:r><w:t>2</w:t></w:r>"
	     "</w:p></w:tc></w:tr></w:tbl><w:p/><w:sectPr><w:headerReference w:type=\"default\" "
	     "r:id=\"r3\"/></w:sectPr>"
	     "</w:body></w:document>"),
};

int convert_write_warmup(const char *path)
{
	zip_t *z = zip_open(path, ZIP_CREATE | ZIP_TRUNCATE, NULL);
	int rc = z != NULL ? 0 : -1;

	for (size_t i = 0; i < ARRAY_LEN(parts) && rc == 0; i++)
		rc = add(z, parts[i].name, parts[i].text, parts[i].n);
	return finish(z, rc);
}
