/* utf.c — UTF-16LE and Windows-1252 to UTF-8 and back. Nearly all text is ASCII, so each
 * direction first moves runs of ASCII eight bytes a step, and looks at single characters only
 * where a run ends. */
#include "base/utf.h"

#include <string.h>

#define ASCII8 UINT64_C(0x8080808080808080)   /* any of 8 bytes above 7F */
#define ASCII4X2 UINT64_C(0xFF80FF80FF80FF80) /* any of 4 UTF-16 units above 7F */
#define REPLACEMENT 0xFFFDu

/* Loads and stores in wire order (little-endian); compilers make one instruction of it. */
static uint64_t load64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static uint32_t load32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	return v;
}

static void store64(void *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, sizeof(v));
}

static void store32(void *p, uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap32(v);
#endif
	memcpy(p, &v, sizeof(v));
}

/* 4 ASCII units in 8 bytes → 4 bytes (the low half). */
static uint64_t squeeze(uint64_t v)
{
	v = (v | v >> 8) & UINT64_C(0x0000FFFF0000FFFF);
	return (v | v >> 16) & 0xFFFFFFFFu;
}

/* The reverse: the low 4 bytes → 4 units. */
static uint64_t spread(uint64_t v)
{
	v = (v | v << 16) & UINT64_C(0x0000FFFF0000FFFF);
	return (v | v << 8) & UINT64_C(0x00FF00FF00FF00FF);
}

/* Eight at once, and back; of ASCII only. Compilers make vector instructions of it where there
 * are any. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
typedef uint8_t bytes8 __attribute__((vector_size(8)));
typedef uint16_t units8 __attribute__((vector_size(16)));

static void squeeze8(char *to, const uint8_t *src)
{
	units8 units;
	bytes8 bytes;

	memcpy(&units, src, sizeof(units));
	bytes = __builtin_convertvector(units, bytes8);
	memcpy(to, &bytes, sizeof(bytes));
}

static void spread8(uint8_t *to, const char *src)
{
	units8 units;
	bytes8 bytes;

	memcpy(&bytes, src, sizeof(bytes));
	units = __builtin_convertvector(bytes, units8);
	memcpy(to, &units, sizeof(units));
}
#else
static void squeeze8(char *to, const uint8_t *src)
{
	store64(to, squeeze(load64(src)) | squeeze(load64(src + 8)) << 32);
}

static void spread8(uint8_t *to, const char *src)
{
	uint64_t v = load64(src);

	store64(to, spread(v & 0xFFFFFFFFu));
	store64(to + 8, spread(v >> 32));
}
#endif

static size_t ascii_run(const char *s, size_t n)
{
	size_t i = 0;

	while (n - i >= 8 && (load64(s + i) & ASCII8) == 0)
		i += 8;
	while (i < n && (unsigned char)s[i] < 0x80)
		i++;
	return i;
}

static size_t put_utf8(char *dst, uint32_t c)
{
	if (c < 0x80) {
		dst[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		dst[0] = (char)(0xC0 | c >> 6);
		dst[1] = (char)(0x80 | (c & 0x3F));
		return 2;
	}
	if (c < 0x10000) {
		dst[0] = (char)(0xE0 | c >> 12);
		dst[1] = (char)(0x80 | (c >> 6 & 0x3F));
		dst[2] = (char)(0x80 | (c & 0x3F));
		return 3;
	}
	dst[0] = (char)(0xF0 | c >> 18);
	dst[1] = (char)(0x80 | (c >> 12 & 0x3F));
	dst[2] = (char)(0x80 | (c >> 6 & 0x3F));
	dst[3] = (char)(0x80 | (c & 0x3F));
	return 4;
}

/* Decodes one character; its length, or 0 when the bytes are no character. Surrogates (lone
 * ones, kept) are characters here. */
static size_t get_utf8(const char *s, size_t n, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c = p[0], least;
	size_t len;

	if (c < 0x80) {
		*ret = c;
		return 1;
	}
	if (c >= 0xC2 && c < 0xE0) {
		len = 2;
		least = 0x80;
		c &= 0x1F;
	} else if (c >= 0xE0 && c < 0xF0) {
		len = 3;
		least = 0x800;
		c &= 0x0F;
	} else if (c >= 0xF0 && c < 0xF5) {
		len = 4;
		least = 0x10000;
		c &= 0x07;
	} else {
		return 0;
	}
	if (n < len)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3F);
	}
	if (c < least || c > 0x10FFFF)
		return 0;
	*ret = c;
	return len;
}

/* The same for readers that may not fail: a bad byte is one U+FFFD. */
static size_t next_utf8(const char *s, size_t n, uint32_t *ret)
{
	size_t len = get_utf8(s, n, ret);

	if (len != 0)
		return len;
	*ret = REPLACEMENT;
	return 1;
}

static uint32_t unit_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

size_t utf8_from_utf16le(char *dst, const uint8_t *src, size_t n)
{
	const uint8_t *begin = src, *end;
	char *to = dst;

	if (n < 2)
		return 0;
	end = src + (n & ~(size_t)1);
	while (src < end) {
		uint32_t c;

		while (end - src >= 16) {
			if (((load64(src) | load64(src + 8)) & ASCII4X2) != 0)
				break;
			squeeze8(to, src);
			src += 16;
			to += 8;
		}
		if (end - src >= 8 && (load64(src) & ASCII4X2) == 0) { /* names are short */
			store32(to, (uint32_t)squeeze(load64(src)));
			src += 8;
			to += 4;
		}
		if (end - src < 8 && src - begin >= 8 && (load64(end - 8) & ASCII4X2) == 0) {
			/* the last ones, with some of those before */
			size_t rest = (size_t)(end - src) / 2;

			store32(to + rest - 4, (uint32_t)squeeze(load64(end - 8)));
			to += rest;
			break;
		}
		if (src == end)
			break;
		c = unit_at(src);
		src += 2;
		if (c >= 0xD800 && c < 0xDC00 && src < end) {
			uint32_t low = unit_at(src);

			if (low >= 0xDC00 && low < 0xE000) {
				c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
				src += 2;
			}
		}
		to += put_utf8(to, c);
	}
	return (size_t)(to - dst);
}

static uint8_t *put_unit(uint8_t *dst, uint32_t unit)
{
	dst[0] = (uint8_t)unit;
	dst[1] = (uint8_t)(unit >> 8);
	return dst + 2;
}

size_t utf16le_from_utf8(uint8_t *dst, const char *src, size_t n)
{
	uint8_t *to = dst;
	size_t i = 0;

	while (i < n) {
		uint32_t c;

		while (n - i >= 8) {
			if ((load64(src + i) & ASCII8) != 0)
				break;
			spread8(to, src + i);
			i += 8;
			to += 16;
		}
		if (n - i < 8 && i >= 8 && (load64(src + n - 8) & ASCII8) == 0) {
			/* the last ones, with some of those before */
			to += 2 * (n - i);
			spread8(to - 16, src + n - 8);
			break;
		}
		if (n < 8 && n >= 4 && ((load32(src) | load32(src + n - 4)) & (uint32_t)ASCII8) == 0) {
			/* a short name */
			store64(to, spread(load32(src)));
			store64(to + 2 * (n - 4), spread(load32(src + n - 4)));
			to += 2 * n;
			break;
		}
		while (n - i < 8 && i < n && (unsigned char)src[i] < 0x80)
			to = put_unit(to, (unsigned char)src[i++]);
		if (i == n)
			break;
		i += next_utf8(src + i, n - i, &c);
		if (c >= 0x10000) {
			to = put_unit(to, 0xD800 + ((c - 0x10000) >> 10));
			c = 0xDC00 + ((c - 0x10000) & 0x3FF);
		}
		to = put_unit(to, c);
	}
	return (size_t)(to - dst);
}

size_t utf16_units(const char *src, size_t n)
{
	size_t i = 0, units = 0;

	while (i < n) {
		size_t run = ascii_run(src + i, n - i);
		uint32_t c;

		i += run;
		units += run;
		if (i == n)
			break;
		i += next_utf8(src + i, n - i, &c);
		units += c >= 0x10000 ? 2 : 1;
	}
	return units;
}

size_t utf8_prefix(const char *src, size_t n, size_t units)
{
	size_t i = 0;

	while (i < n && units > 0) {
		size_t run = ascii_run(src + i, n - i < units ? n - i : units);
		uint32_t c;
		size_t len;

		i += run;
		units -= run;
		if (i == n || units == 0)
			break;
		len = next_utf8(src + i, n - i, &c);
		if (c >= 0x10000 && units < 2)
			break;
		i += len;
		units -= c >= 0x10000 ? 2 : 1;
	}
	return i;
}

/* Windows-1252 80 … 9F; the five bytes without a character stand for the control of the same
 * number (errata, clarification 13). */
static const uint16_t cp1252_high[32] = {
	0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
	0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
	0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

size_t utf8_from_cp1252(char *dst, const uint8_t *src, size_t n)
{
	char *to = dst;
	size_t i = 0;

	while (i < n) {
		size_t run = ascii_run((const char *)src + i, n - i);
		uint8_t b;

		if (run != 0) {
			memcpy(to, src + i, run);
			to += run;
			i += run;
			continue;
		}
		b = src[i++];
		to += put_utf8(to, b < 0xA0 ? cp1252_high[b - 0x80] : b);
	}
	return (size_t)(to - dst);
}

/* The byte of a character above 7F, or -1. */
static int cp1252_byte(uint32_t c)
{
	if (c > 0x2122)
		return -1;
	if (c >= 0xA0 && c <= 0xFF)
		return (int)c;
	for (int i = 0; i < 32; i++) {
		if (cp1252_high[i] == c)
			return 0x80 + i;
	}
	return -1;
}

size_t cp1252_from_utf8(uint8_t *dst, const char *src, size_t n, size_t *ret_lost)
{
	uint8_t *to = dst;
	size_t i = 0, lost = 0;

	while (i < n) {
		size_t run = ascii_run(src + i, n - i);
		uint32_t c;
		int b;

		if (run != 0) {
			memcpy(to, src + i, run);
			to += run;
			i += run;
			continue;
		}
		i += next_utf8(src + i, n - i, &c);
		b = cp1252_byte(c);
		if (b < 0) {
			lost++;
			b = '?';
		}
		*to++ = (uint8_t)b;
	}
	if (ret_lost != NULL)
		*ret_lost = lost;
	return (size_t)(to - dst);
}

size_t cp1252_count(const char *src, size_t n, size_t *ret_lost)
{
	size_t i = 0, count = 0, lost = 0;

	while (i < n) {
		size_t run = ascii_run(src + i, n - i);
		uint32_t c;

		i += run;
		count += run;
		if (i == n)
			break;
		i += next_utf8(src + i, n - i, &c);
		count++;
		lost += cp1252_byte(c) < 0;
	}
	if (ret_lost != NULL)
		*ret_lost = lost;
	return count;
}

bool utf8_valid(const char *s, size_t n, bool lone_ok)
{
	size_t i = 0;

	while (i < n) {
		uint32_t c;
		size_t len;

		i += ascii_run(s + i, n - i);
		if (i == n)
			break;
		len = get_utf8(s + i, n - i, &c);
		if (len == 0 || (!lone_ok && c >= 0xD800 && c < 0xE000))
			return false;
		i += len;
	}
	return true;
}
