/* order.c — see order.h. */
#include "convert/order.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/str.h"

static const struct convert_format_row rows[] = {
#define CONVERT_FORMAT(id, name, extension, filter, kit, finish) { id, name, extension, filter, kit, finish },
#include "convert/formats.def"
#undef CONVERT_FORMAT
};

const struct convert_format_row *convert_format_of(enum convert_format f)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].id == f)
			return &rows[i];
	return NULL;
}

const struct convert_format_row *convert_format_by_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_eq_nocase(str_of(name), str_of(rows[i].name)))
			return &rows[i];
	return NULL;
}

const struct convert_format_row *convert_format_by_file(const char *file)
{
	const char *dot = strrchr(file, '.');

	for (size_t i = 0; dot != NULL && i < ARRAY_LEN(rows); i++)
		if (str_eq_nocase(str_of(dot + 1), str_of(rows[i].extension)))
			return &rows[i];
	return NULL;
}

static int refuse(struct err *reterr, const char *what, const char *why)
{
	return err_raise(reterr, DOCUMENT_SETTING_UNSUPPORTED, 16, 1, "the setting %s cannot be done: %s",
			 what, why);
}

/* The formats that have no row here and the names that lead to none. */
static int find_format(const struct convert_settings *s, const char *output_name,
		       const struct convert_format_row **ret, struct err *reterr)
{
	const struct convert_format_row *row;

	if (s->format == CONVERT_XPS)
		return err_raise(reterr, DOCUMENT_OUTPUT_UNSUPPORTED, 16, 1,
				 "LibreOffice cannot make XPS; take PDF");
	if (s->format == CONVERT_STRICT)
		return err_raise(reterr, DOCUMENT_OUTPUT_UNSUPPORTED, 16, 1,
				 "LibreOffice cannot make strict Open XML (DocumentStrict); take Document");
	row = s->format == CONVERT_AUTOMATIC ? convert_format_by_file(output_name)
					     : convert_format_of(s->format);
	if (row == NULL)
		return err_raise(reterr, DOCUMENT_OUTPUT_UNSUPPORTED, 16, 1,
				 "the output's name has no extension that says its format: pdf, docx, docm, "
				 "doc, dotx, dotm, dot, rtf, "
				 "odt, xml, mht");
	*ret = row;
	return 0;
}

/* What no format of LibreOffice can do. */
static int check(const struct convert_settings *s, const struct convert_format_row *row, struct err *reterr)
{
	const bool pdf = row->id == CONVERT_PDF;
	const bool open_xml = strstr(row->filter, "2007") != NULL;
	const unsigned text = s->markup & CONVERT_MARKUP_TEXT,
		       formatting = s->markup & CONVERT_MARKUP_FORMATTING;

	if (s->thumbnail)
		return refuse(reterr, "AddThumbnail", "LibreOffice adds none");
	if (s->embed_fonts && !pdf) /* a PDF has its fonts in any case */
		return refuse(reterr, "EmbedFonts", "only in PDF are fonts embedded");
	if (s->compatibility_other && open_xml)
		return refuse(reterr, "CompatibilityMode", "only MaintainCurrentSetting is possible");
	if (!pdf && s->revisions != CONVERT_AS_STORED)
		return refuse(reterr, "RevisionState",
			      "in formats other than PDF tracked changes stay as they are");
	if (!pdf && (s->markup & CONVERT_MARKUP_GIVEN) != 0)
		return refuse(reterr, "MarkupView",
			      "in formats other than PDF comments and tracked changes stay as they are");
	if (!pdf)
		return 0;
	if (s->revisions == CONVERT_ORIGINAL_MARKED)
		return refuse(reterr, "RevisionState",
			      "OriginalShowingMarkup is a view that LibreOffice does not have");
	if (s->balloons_other)
		return refuse(reterr, "BalloonState", "only OnlyCommentsAndFormatting is possible");
	if ((text == 0) != (formatting == 0))
		return refuse(reterr, "MarkupView",
			      "changes of text and of formatting are shown together or not at all");
	if (s->no_properties)
		return refuse(reterr, "IncludeDocumentProperties", "LibreOffice always writes them");
	if (s->word_bookmarks)
		return refuse(reterr, "Bookmarks", "None and Headings are possible");
	return 0;
}

static void put_option(struct buf *b, const char *name, const char *type, const char *value)
{
	buf_printf(b, "%s\"%s\":{\"type\":\"%s\",\"value\":\"%s\"}", b->len > 1 ? "," : "", name, type,
		   value);
}

static void put_flag(struct buf *b, const char *name, bool value)
{
	put_option(b, name, "boolean", value ? "true" : "false");
}

/* What the PDF filter is told. Named where LibreOffice's own default differs between versions. */
static int make_options(const struct convert_settings *s, struct convert_order *o, struct err *reterr)
{
	const bool marked = s->revisions != CONVERT_FINAL && s->revisions != CONVERT_ORIGINAL;
	const bool comments = marked && (s->markup == 0 || (s->markup & CONVERT_MARKUP_COMMENTS) != 0);
	struct buf b;

	buf_init(&b, sizeof(o->options) - 1);
	buf_put_u8(&b, '{');
	put_option(&b, "SelectPdfVersion", "long", s->pdfa ? "2" : "0");
	put_flag(&b, "UseTaggedPDF", s->tags);
	put_flag(&b, "ExportBookmarks", s->headings);
	put_flag(&b, "ExportNotes", comments);
	if (s->small) {
		put_option(&b, "Quality", "long", "70");
		put_flag(&b, "ReduceImageResolution", true);
		put_option(&b, "MaxImageResolution", "long", "150");
	}
	assert(strspn(s->pages, "0123456789-,") == strlen(s->pages)); /* invariant 2 */
	if (s->pages[0] != '\0')
		put_option(&b, "PageRange", "string", s->pages);
	buf_put_u8(&b, '}');
	if (b.failed) {
		buf_fini(&b);
		return err_nomem(reterr);
	}
	memcpy(o->options, b.data, b.len);
	o->options[b.len] = '\0';
	buf_fini(&b);
	return 0;
}

int convert_order_make(const struct convert_settings *s, const char *output_name, struct convert_order *ret,
		       struct err *reterr)
{
	struct convert_order o = { 0 };
	const struct convert_format_row *row;
	bool unmarked = (s->markup & CONVERT_MARKUP_GIVEN) != 0 && (s->markup & CONVERT_MARKUP_TEXT) == 0;

	if (find_format(s, output_name, &row, reterr) < 0 || check(s, row, reterr) < 0)
		return -1;
	o.format = row->id;
	o.update_fields = s->update_fields;
	o.hide_changes = s->revisions == CONVERT_FINAL || (s->revisions != CONVERT_ORIGINAL && unmarked);
	o.reject_changes = s->revisions == CONVERT_ORIGINAL;
	memcpy(o.language, s->language, sizeof(o.language));
	if (row->id == CONVERT_PDF && make_options(s, &o, reterr) < 0)
		return -1;
	*ret = o;
	return 0;
}
