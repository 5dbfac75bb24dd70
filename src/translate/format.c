/* format.c — see format.h. */
#include "translate/format.h"

#include <stdlib.h>
#include <strings.h>
#include <zip.h>

#include "base/utf.h"
#include "translate/xliff.h"

#define UNPACKED_MAX ((zip_uint64_t)1 << 30)
#define ENTRIES_MAX 20000

/* What a zip file is, by a part that only this kind has. */
static const struct {
	const char *part;
	enum translate_format format;
} parts[] = {
	{ "word/document.xml", TRANSLATE_FORMAT_DOCX },
	{ "ppt/presentation.xml", TRANSLATE_FORMAT_PPTX },
	{ "xl/workbook.xml", TRANSLATE_FORMAT_XLSX },
};

static bool begins(struct str s, const char *with)
{
	return s.n >= strlen(with) && memcmp(s.p, with, strlen(with)) == 0;
}

static bool ends(const char *name, const char *with)
{
	size_t n = strlen(name), m = strlen(with);

	return n >= m && strcasecmp(name + n - m, with) == 0;
}

/* Reads a small part of the file into a text that ends with NUL; false: it is not there, or too
 * long to be what is looked for. */
static bool read_small(zip_t *zip, const char *name, char *ret, size_t size)
{
	zip_file_t *file = zip_fopen(zip, name, 0);
	zip_int64_t n = file == NULL ? -1 : zip_fread(file, ret, size - 1);

	if (file != NULL)
		(void)zip_fclose(file);
	if (n < 0)
		return false;
	ret[n] = '\0';
	return true;
}

static int check_size(zip_t *zip, struct translate_failure *f)
{
	zip_int64_t n = zip_get_num_entries(zip, 0);
	zip_uint64_t sum = 0;
	zip_stat_t st;

	if (n > ENTRIES_MAX)
		return translate_fail(f, DOCUMENT_UNPACKED_TOO_LARGE, "The document has %lld parts.",
				      (long long)n);
	for (zip_int64_t i = 0; i < n; i++) {
		if (zip_stat_index(zip, (zip_uint64_t)i, 0, &st) < 0 || (st.valid & ZIP_STAT_SIZE) == 0)
			continue;
		if ((st.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && st.encryption_method != ZIP_EM_NONE)
			return translate_fail(f, DOCUMENT_INPUT_ENCRYPTED, "The document has a password.");
		if (st.size > UNPACKED_MAX - sum)
			return translate_fail(f, DOCUMENT_UNPACKED_TOO_LARGE,
					      "The document unpacks to more than %llu MiB.",
					      (unsigned long long)(UNPACKED_MAX >> 20));
		sum += st.size;
	}
	return 0;
}

static int find_open_document(zip_t *zip, const char *type, enum translate_format *ret,
			      struct translate_failure *f)
{
	char manifest[65536];

	if (read_small(zip, "META-INF/manifest.xml", manifest, sizeof(manifest)) &&
	    strstr(manifest, "encryption-data") != NULL)
		return translate_fail(f, DOCUMENT_INPUT_ENCRYPTED, "The document has a password.");
	if (strncmp(type, "application/vnd.oasis.opendocument.text", 39) == 0)
		*ret = TRANSLATE_FORMAT_ODT;
	else if (strncmp(type, "application/vnd.oasis.opendocument.presentation", 47) == 0)
		*ret = TRANSLATE_FORMAT_ODP;
	else
		return translate_fail(f, DOCUMENT_INPUT_UNSUPPORTED,
				      "Documents of type %.100s cannot be translated.", type);
	return 0;
}

static int find_in_zip(zip_t *zip, enum translate_format *ret, struct translate_failure *f)
{
	char type[128];

	if (check_size(zip, f) < 0)
		return -1;
	if (read_small(zip, "mimetype", type, sizeof(type)))
		return find_open_document(zip, type, ret, f);
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		if (zip_name_locate(zip, parts[i].part, 0) >= 0) {
			*ret = parts[i].format;
			return 0;
		}
	}
	return translate_fail(f, DOCUMENT_INPUT_UNSUPPORTED,
			      "This zip file is no document that can be translated.");
}

static int find_zip(struct str file, enum translate_format *ret, struct translate_failure *f)
{
	zip_error_t e;
	zip_source_t *source;
	zip_t *zip = NULL;
	int rc;

	zip_error_init(&e);
	source = zip_source_buffer_create(file.p, file.n, 0, &e);
	if (source != NULL)
		zip = zip_open_from_source(source, ZIP_RDONLY, &e);
	if (zip == NULL) {
		(void)translate_fail(f, DOCUMENT_INPUT_CORRUPT, "The document is damaged: %.200s.",
				     zip_error_strerror(&e));
		zip_source_free(source);
		zip_error_fini(&e);
		return -1;
	}
	rc = find_in_zip(zip, ret, f);
	zip_discard(zip);
	return rc;
}

static bool is_html(struct str file, const char *name)
{
	struct str s = str_trim((struct str){ file.p, file.n < 1024 ? file.n : 1024 });

	if (ends(name, ".html") || ends(name, ".htm") || ends(name, ".xhtml"))
		return true;
	return s.n > 14 && (strncasecmp(s.p, "<!doctype html", 14) == 0 || strncasecmp(s.p, "<html", 5) == 0);
}

/* A text has no zero byte, unless it is UTF-16, and few controls; anything else is a kind of file
 * that we do not know. */
static bool is_text(struct str file)
{
	size_t odd = 0, n = file.n < 65536 ? file.n : 65536;

	if (begins(file, "\xff\xfe") || begins(file, "\xfe\xff"))
		return true;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)file.p[i];

		if (c == 0)
			return false;
		odd += c < 0x20 && strchr("\t\n\r\f\x1b", c) == NULL;
	}
	return odd * 50 <= n;
}

int translate_format_find(struct str file, const char *name, enum translate_format *ret,
			  struct translate_failure *f)
{
	if (file.n == 0)
		return translate_fail(f, DOCUMENT_INPUT_CORRUPT, "The document is empty.");
	if (begins(file, "PK\003\004"))
		return find_zip(file, ret, f);
	if (begins(file, "\xd0\xcf\x11\xe0") || begins(file, "%PDF") || begins(file, "{\\rtf"))
		return translate_fail(f, DOCUMENT_INPUT_UNSUPPORTED,
				      "Documents of this type cannot be translated without the converter.");
	if (translate_xliff_is(file))
		*ret = TRANSLATE_FORMAT_XLIFF;
	else if (ends(name, ".docx") || ends(name, ".xlsx") || ends(name, ".pptx") || ends(name, ".odt") ||
		 ends(name, ".odp"))
		return translate_fail(f, DOCUMENT_INPUT_CORRUPT,
				      "The document is damaged: it is no zip file, as its name says.");
	else if (ends(name, ".xlf") || ends(name, ".xliff"))
		return translate_fail(f, DOCUMENT_INPUT_CORRUPT,
				      "The document is no XLIFF, as its name says.");
	else if (!is_text(file))
		return translate_fail(
			f, DOCUMENT_INPUT_UNSUPPORTED,
			"This is neither a text nor a document of a type that can be translated.");
	else
		*ret = is_html(file, name) ? TRANSLATE_FORMAT_HTML : TRANSLATE_FORMAT_TEXT;
	return 0;
}
