/* sniff_package.c — documents that are zip files: Open XML by its list of content types,
 * OpenDocument by its mimetype. libzip reads the directory; of the contents we read two short
 * files at most, and of those only so much. */
#include <stdlib.h>
#include <zip.h>

#include "convert/sniff_int.h"

#define PART_MAX (1 << 20)

static int damaged(struct err *reterr, const char *why)
{
	return err_raise(reterr, DOCUMENT_INPUT_CORRUPT, 16, 1, "the package is damaged: %s", why);
}

static int too_large(struct err *reterr, uint64_t unpacked_max)
{
	return err_raise(reterr, DOCUMENT_UNPACKED_TOO_LARGE, 16, 1, "it unpacks to more than %llu MiB",
			 (unsigned long long)(unpacked_max >> 20));
}

/* The beginning of a part, without zero bytes (so that UTF-16 is searched like UTF-8). NULL: it
 * is not there or cannot be read. */
static uint8_t *read_part(zip_t *z, const char *name, size_t *ret_n)
{
	zip_file_t *f = zip_fopen(z, name, 0);
	uint8_t *text = f != NULL ? malloc(PART_MAX) : NULL;
	zip_int64_t got = text != NULL ? zip_fread(f, text, PART_MAX) : -1;
	size_t n = 0;

	if (f != NULL)
		zip_fclose(f);
	if (got < 0) {
		free(text);
		return NULL;
	}
	for (zip_int64_t i = 0; i < got; i++)
		if (text[i] != 0)
			text[n++] = text[i];
	*ret_n = n;
	return text;
}

/* What the directory says, before anything is unpacked. */
static int check_directory(zip_t *z, uint64_t unpacked_max, struct err *reterr)
{
	zip_int64_t n = zip_get_num_entries(z, 0);
	uint64_t sum = 0;

	for (zip_int64_t i = 0; i < n; i++) {
		zip_stat_t st;

		if (zip_stat_index(z, (zip_uint64_t)i, 0, &st) < 0 || (st.valid & ZIP_STAT_SIZE) == 0)
			return damaged(reterr, "an entry has no size");
		if ((st.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && st.encryption_method != ZIP_EM_NONE)
			return err_raise(reterr, DOCUMENT_INPUT_ENCRYPTED, 16, 1,
					 "the package has a password");
		if (st.size > unpacked_max - sum)
			return too_large(reterr, unpacked_max);
		sum += st.size;
	}
	return 0;
}

/* Unpacks an entry to nowhere, which compares its checksum and finds out who lies about sizes. */
static int check_entry(zip_t *z, zip_int64_t i, uint64_t *left, uint64_t unpacked_max, struct err *reterr)
{
	zip_file_t *f = zip_fopen_index(z, (zip_uint64_t)i, 0);
	uint8_t piece[16384];
	zip_int64_t got = -1;

	while (f != NULL && (got = zip_fread(f, piece, sizeof(piece))) > 0) {
		if ((uint64_t)got > *left) {
			zip_fclose(f);
			return too_large(reterr, unpacked_max);
		}
		*left -= (uint64_t)got;
	}
	if (f != NULL)
		zip_fclose(f);
	return got < 0 ? damaged(reterr, "an entry cannot be unpacked") : 0;
}

/* LibreOffice makes an empty page of a text that cannot be unpacked, so we look. */
static int check_contents(zip_t *z, uint64_t unpacked_max, struct err *reterr)
{
	zip_int64_t n = zip_get_num_entries(z, 0);
	uint64_t left = unpacked_max;

	for (zip_int64_t i = 0; i < n; i++)
		if (check_entry(z, i, &left, unpacked_max, reterr) < 0)
			return -1;
	return 0;
}

static int open_xml(zip_t *z, struct convert_sniffed *ret, struct err *reterr)
{
	static const struct {
		const char *part, *extension;
	} types[] = {
		{ "wordprocessingml.document.main+xml", "docx" },
		{ "ms-word.document.macroEnabled.main+xml", "docm" },
		{ "wordprocessingml.template.main+xml", "dotx" },
		{ "ms-word.template.macroEnabledTemplate.main+xml", "dotm" },
	};
	size_t n = 0;
	uint8_t *text = read_part(z, "[Content_Types].xml", &n);
	int rc;

	if (text == NULL)
		return damaged(reterr, "its list of content types cannot be read");
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (convert_sniff_has(text, n, types[i].part)) {
			*ret = (struct convert_sniffed){ .type = CONVERT_IS_OPEN_XML,
							 .extension = types[i].extension };
			free(text);
			return 0;
		}
	if (convert_sniff_has(text, n, "spreadsheetml"))
		rc = err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
			       "it is a spreadsheet; text documents are converted");
	else if (convert_sniff_has(text, n, "presentationml"))
		rc = err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
			       "it is a presentation; text documents are converted");
	else
		rc = err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
			       "it is an Open XML package without a text document");
	free(text);
	return rc;
}

static int open_document(zip_t *z, struct convert_sniffed *ret, struct err *reterr)
{
	static const char text_type[] = "application/vnd.oasis.opendocument.text";
	size_t n = 0;
	uint8_t *part = read_part(z, "mimetype", &n);
	bool text = part != NULL && n >= sizeof(text_type) - 1 &&
		    memcmp(part, text_type, sizeof(text_type) - 1) == 0;
	bool template = text && convert_sniff_has(part, n, "-template");
	bool encrypted;

	free(part);
	if (!text)
		return err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
				 "it is an OpenDocument file of another kind than text");
	part = read_part(z, "META-INF/manifest.xml", &n);
	if (part == NULL)
		return damaged(reterr, "its manifest cannot be read");
	encrypted = convert_sniff_has(part, n, "encryption-data");
	free(part);
	if (encrypted)
		return err_raise(reterr, DOCUMENT_INPUT_ENCRYPTED, 16, 1, "the document has a password");
	*ret = (struct convert_sniffed){ .type = CONVERT_IS_ODF, .extension = template ? "ott" : "odt" };
	return 0;
}

static int look(zip_t *z, uint64_t unpacked_max, struct convert_sniffed *ret, struct err *reterr)
{
	int rc;

	if (check_directory(z, unpacked_max, reterr) < 0)
		return -1;
	if (zip_name_locate(z, "[Content_Types].xml", 0) >= 0)
		rc = open_xml(z, ret, reterr);
	else if (zip_name_locate(z, "mimetype", 0) >= 0)
		rc = open_document(z, ret, reterr);
	else
		rc = err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
			       "it is a zip file, but no document");
	return rc < 0 ? rc : check_contents(z, unpacked_max, reterr);
}

int convert_sniff_package(const uint8_t *p, size_t n, uint64_t unpacked_max, struct convert_sniffed *ret,
			  struct err *reterr)
{
	zip_error_t why;
	zip_source_t *source;
	zip_t *z = NULL;
	int rc;

	zip_error_init(&why);
	source = zip_source_buffer_create(p, n, 0, &why);
	if (source != NULL)
		z = zip_open_from_source(source, ZIP_RDONLY, &why);
	if (z == NULL) {
		rc = damaged(reterr, zip_error_strerror(&why));
		zip_source_free(source);
	} else {
		rc = look(z, unpacked_max, ret, reterr);
		zip_discard(z);
	}
	zip_error_fini(&why);
	return rc;
}
