/* test_settings.c — Settings become an order: what LibreOffice is told, to the letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "convert/order.h"

#define ROOT(inner) "<ConversionJobSettings>" inner "</ConversionJobSettings>"

/* 0, or the number of the error. */
static int order(const char *xml, const char *output, struct convert_order *ret)
{
	struct convert_settings s;
	struct err e = { 0 };

	if (convert_settings_read(xml, strlen(xml), &s, &e) < 0 ||
	    convert_order_make(&s, output, ret, &e) < 0)
		return e.number;
	return 0;
}

static void test_nothing_asked_for(void **state)
{
	struct convert_order o;

	(void)state;
	assert_int_equal(order("", "a/b.c/letter.PDF", &o), 0);
	assert_int_equal(o.format, CONVERT_PDF);
	assert_false(o.update_fields || o.hide_changes || o.reject_changes);
	assert_string_equal(o.language, "");
	assert_string_equal(o.options, "{\"SelectPdfVersion\":{\"type\":\"long\",\"value\":\"0\"},"
				       "\"UseTaggedPDF\":{\"type\":\"boolean\",\"value\":\"true\"},"
				       "\"ExportBookmarks\":{\"type\":\"boolean\",\"value\":\"true\"},"
				       "\"ExportNotes\":{\"type\":\"boolean\",\"value\":\"true\"}}");
	assert_int_equal(order("<settings/>", "a.mhtml", &o), 0);
	assert_string_equal(convert_format_of(o.format)->name, "MHTML");
	assert_string_equal(o.options, "");
}

static void test_everything_asked_for(void **state)
{
	struct convert_order o;

	(void)state;
	assert_int_equal(
		order(ROOT("<OutputFormat> pdf </OutputFormat><UpdateFields>1</UpdateFields>"
			   "<RevisionState>Original</RevisionState><DefaultLanguage>de-DE</DefaultLanguage>"
			   "<FixedFormatSettings><UsePDFA>true</UsePDFA><Bookmarks>None</Bookmarks>"
			   "<IncludeDocumentStructure>false</IncludeDocumentStructure>"
			   "<OutputQuality>Minimum</OutputQuality><PageRange>2-3</PageRange></"
			   "FixedFormatSettings>"),
		      "a.bin", &o),
		0);
	assert_true(o.update_fields && o.reject_changes && !o.hide_changes);
	assert_string_equal(o.language, "de-DE");
	assert_non_null(strstr(o.options, "\"SelectPdfVersion\":{\"type\":\"long\",\"value\":\"2\"}"));
	assert_non_null(strstr(o.options, "\"PageRange\":{\"type\":\"string\",\"value\":\"2-3\"}"));
	assert_non_null(strstr(o.options, "\"ExportNotes\":{\"type\":\"boolean\",\"value\":\"false\"}"));
}

/* The longest that can be asked for still fits. */
static void test_bounds(void **state)
{
	char pages[CONVERT_PAGES_MAX], xml[CONVERT_SETTINGS_MAX + 64];
	struct convert_order o;

	(void)state;
	memset(pages, '1', sizeof(pages));
	pages[sizeof(pages) - 1] = '\0';
	snprintf(xml, sizeof(xml),
		 ROOT("<FixedFormatSettings><OutputQuality>Minimum</OutputQuality><PageRange>%s</PageRange></"
		      "FixedFormatSettings>"),
		 pages);
	assert_int_equal(order(xml, "a.pdf", &o), 0);
	snprintf(xml, sizeof(xml),
		 ROOT("<FixedFormatSettings><PageRange>1%s</PageRange></FixedFormatSettings>"), pages);
	assert_int_equal(order(xml, "a.pdf", &o), DOCUMENT_SETTINGS_INVALID);
	memset(xml, ' ', sizeof(xml));
	xml[CONVERT_SETTINGS_MAX + 1] = '\0';
	assert_int_equal(order(xml, "a.pdf", &o), DOCUMENT_SETTINGS_INVALID);
}

static void test_every_format_is_found_by_name_and_extension(void **state)
{
	static const char *const names[] = { "PDF",        "Document", "DocumentMacroEnabled",
					     "Document97", "Template", "TemplateMacroEnabled",
					     "Template97", "RTF",      "ODT",
					     "XML",        "MHTML" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const struct convert_format_row *row = convert_format_by_name(names[i]);
		char file[32];

		assert_non_null(row);
		snprintf(file, sizeof(file), "x.%s", row->extension);
		assert_ptr_equal(convert_format_by_file(file), row);
		assert_ptr_equal(convert_format_of(row->id), row);
	}
	assert_null(convert_format_by_file("pdf"));
	assert_null(convert_format_by_file("a.pdf.x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_asked_for),
		cmocka_unit_test(test_everything_asked_for),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_every_format_is_found_by_name_and_extension),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
