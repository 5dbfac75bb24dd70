/* sniff_plain.c — everything that is text: HTML, XML of two kinds, plain text. Bytes that no
 * text has are no text. */
#include <ctype.h>

#include "base/utf.h"
#include "convert/sniff_int.h"

#define HEAD 4096 /* as far as marks of XML and HTML are looked for */

static const char *extension_of(const char *name)
{
	const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');

	return dot == NULL || (slash != NULL && slash > dot) ? "" : dot + 1;
}

static bool is_text_name(const char *name)
{
	static const char *const extensions[] = { "", "txt", "text", "log", "md", "asc" };

	for (size_t i = 0; i < ARRAY_LEN(extensions); i++)
		if (str_eq_nocase(str_of(extension_of(name)), str_of(extensions[i])))
			return true;
	return false;
}

/* A piece of HTML, or a page whose <html> was left out, begins with a tag that many may have. */
static bool is_html_name(const char *name)
{
	const struct str extension = str_of(extension_of(name));

	return str_eq_nocase(extension, STR("html")) || str_eq_nocase(extension, STR("htm"));
}

/* Control characters that texts have: tab, line feed, vertical tab, form feed, return, and the
 * end mark of DOS. */
static bool has_binary(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((p[i] < 0x20 && (p[i] < 0x09 || p[i] > 0x0D) && p[i] != 0x1A) || p[i] == 0x7F)
			return true;
	return false;
}

/* Lower case, in place of the letters that HTML may be written in. */
static size_t lower_head(const uint8_t *p, size_t n, uint8_t *ret)
{
	size_t len = n < HEAD ? n : HEAD;

	for (size_t i = 0; i < len; i++)
		ret[i] = (uint8_t)tolower(p[i]);
	return len;
}

static int markup(const uint8_t *head, size_t n, bool named_html, struct convert_sniffed *ret,
		  struct err *reterr)
{
	if (convert_sniff_has(head, n, "office/word/2003/wordml"))
		*ret = (struct convert_sniffed){ .type = CONVERT_IS_WORD2003, .extension = "xml" };
	else if (convert_sniff_has(head, n, "application/vnd.oasis.opendocument.text"))
		*ret = (struct convert_sniffed){ .type = CONVERT_IS_FLAT_ODF, .extension = "fodt" };
	else if (convert_sniff_has(head, n, "<html") || convert_sniff_has(head, n, "<!doctype html"))
		*ret = (struct convert_sniffed){ .type = CONVERT_IS_HTML, .extension = "html" };
	else if (convert_sniff_has(head, n, "xmlpackage"))
		return err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
				 "it is a Word document as flat XML, which LibreOffice does not read; save "
				 "it as docx");
	else if (named_html && !(n > 5 && memcmp(head, "<?xml", 5) == 0))
		*ret = (struct convert_sniffed){ .type = CONVERT_IS_HTML, .extension = "html" };
	else
		return err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
				 "it is XML of another kind than documents have");
	return 0;
}

int convert_sniff_plain(const uint8_t *p, size_t n, const char *name, struct convert_sniffed *ret,
			struct err *reterr)
{
	bool utf16 = n >= 2 && ((p[0] == 0xFF && p[1] == 0xFE) || (p[0] == 0xFE && p[1] == 0xFF));
	bool utf8 = n >= 3 && memcmp(p, "\xEF\xBB\xBF", 3) == 0;
	uint8_t head[HEAD];
	size_t skip = utf8 ? 3 : 0, len;

	if (!utf16 && has_binary(p, n))
		return err_raise(reterr, DOCUMENT_INPUT_CORRUPT, 16, 1,
				 "its bytes are those of no document that is known");
	while (!utf16 && skip < n && isspace(p[skip]))
		skip++;
	len = lower_head(p + skip, n - skip, head);
	if (!utf16 && len > 0 && head[0] == '<' && !str_eq_nocase(str_of(extension_of(name)), STR("txt")))
		return markup(head, len, is_html_name(name), ret, reterr);
	if (!utf16 && convert_sniff_has(head, len, "mime-version:") &&
	    convert_sniff_has(head, len, "multipart/related"))
		return err_raise(
			reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
			"it is a web archive (MHTML), which LibreOffice does not read; save it as docx");
	if (!is_text_name(name))
		return err_raise(reterr, DOCUMENT_INPUT_CORRUPT, 16, 1,
				 "it is plain text, and not what its name .%.16s says", extension_of(name));
	*ret = (struct convert_sniffed){ .type = CONVERT_IS_TEXT,
					 .extension = "txt",
					 .marked = utf16 || utf8 };
	ret->windows = !utf16 && !utf8_valid((const char *)p, n, false);
	return 0;
}
