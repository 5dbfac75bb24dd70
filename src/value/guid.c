/* guid.c — uniqueidentifier. The text shows the first three groups as numbers, so their bytes
 * stand in reverse on the wire. */
#include "value/guid.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

/* Where the n-th byte of the text stands on the wire. */
static const uint8_t text_order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

static bool dash_before(int i)
{
	return i == 4 || i == 6 || i == 8 || i == 10;
}

void guid_format(const uint8_t guid[16], char dst[37])
{
	static const char digits[] = "0123456789ABCDEF";

	for (int i = 0; i < 16; i++) {
		uint8_t b = guid[text_order[i]];

		if (dash_before(i))
			*dst++ = '-';
		*dst++ = digits[b >> 4];
		*dst++ = digits[b & 15];
	}
	*dst = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool guid_parse(struct str s, uint8_t ret[16])
{
	bool braces = s.n > 0 && s.p[0] == '{';
	uint8_t guid[16];
	size_t pos = braces;

	if (s.n < 36 + (braces ? 2u : 0u))
		return false;
	for (int i = 0; i < 16; i++) {
		int high, low;

		if (dash_before(i) && s.p[pos++] != '-')
			return false;
		high = hex_digit(s.p[pos++]);
		low = hex_digit(s.p[pos++]);
		if (high < 0 || low < 0)
			return false;
		guid[text_order[i]] = (uint8_t)(high << 4 | low);
	}
	if (braces && s.p[pos++] != '}')
		return false;
	for (; pos < s.n; pos++) {
		if (s.p[pos] != ' ')
			return false;
	}
	memcpy(ret, guid, 16);
	return true;
}

void guid_random(uint8_t ret[16])
{
	size_t got = 0;

	while (got < 16) {
		ssize_t n = getrandom(ret + got, 16 - got, 0);

		if (n < 0 && errno != EINTR)
			/* a guessable identifier is worse than none; Linux does not fail here */
			abort();
		if (n > 0)
			got += (size_t)n;
	}
	ret[7] = (uint8_t)((ret[7] & 0x0F) | 0x40); /* version 4 */
	ret[8] = (uint8_t)((ret[8] & 0x3F) | 0x80);
}

int guid_compare(const uint8_t a[16], const uint8_t b[16])
{
	static const uint8_t order[16] = { 10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3 };

	for (int i = 0; i < 16; i++) {
		uint8_t x = a[order[i]], y = b[order[i]];

		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}
