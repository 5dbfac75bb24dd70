/* sniff.c — see sniff.h: which kind of file, then the file of that kind. */
#include "convert/sniff.h"

#include "convert/sniff_int.h"

static bool begins(const uint8_t *p, size_t n, const char *magic, size_t len)
{
	return n >= len && memcmp(p, magic, len) == 0;
}

int convert_sniff(const uint8_t *p, size_t n, const char *name, uint64_t unpacked_max,
		  struct convert_sniffed *ret, struct err *reterr)
{
	if (n == 0)
		return err_raise(reterr, DOCUMENT_INPUT_CORRUPT, 16, 1, "the file is empty");
	if (begins(p, n, "PK\3\4", 4) || begins(p, n, "PK\5\6", 4))
		return convert_sniff_package(p, n, unpacked_max, ret, reterr);
	if (begins(p, n, "\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", 8))
		return convert_sniff_compound(p, n, ret, reterr);
	if (begins(p, n, "%PDF-", 5))
		return err_raise(reterr, DOCUMENT_INPUT_UNSUPPORTED, 16, 1,
				 "it is a PDF, which cannot be converted to other formats");
	if (begins(p, n, "{\\rtf", 5)) {
		*ret = (struct convert_sniffed){ .type = CONVERT_IS_RTF, .extension = "rtf" };
		return 0;
	}
	return convert_sniff_plain(p, n, name, ret, reterr);
}
