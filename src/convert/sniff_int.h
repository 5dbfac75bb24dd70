/* sniff_int.h — the kinds of files that sniff.c looks into, one file each. */
#ifndef CONVERT_SNIFF_INT_H
#define CONVERT_SNIFF_INT_H

#include "base/str.h"
#include "convert/sniff.h"

MUST_CHECK int convert_sniff_package(const uint8_t *p, size_t n, uint64_t unpacked_max,
				     struct convert_sniffed *ret, struct err *reterr);
MUST_CHECK int convert_sniff_compound(const uint8_t *p, size_t n, struct convert_sniffed *ret,
				      struct err *reterr);
MUST_CHECK int convert_sniff_plain(const uint8_t *p, size_t n, const char *name, struct convert_sniffed *ret,
				   struct err *reterr);

static inline bool convert_sniff_has(const uint8_t *p, size_t n, const char *text)
{
	return memmem(p, n, text, strlen(text)) != NULL;
}

#endif
