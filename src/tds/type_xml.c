/* type_xml.c — xml comes as UTF-16 (with a byte order mark from SqlClient) or as bytes with
 * their own declaration, and goes out as UTF-16LE without mark and without declaration (wire
 * notes 12.8). */
#define _GNU_SOURCE
#include <string.h>

#include "tds/tds_int.h"

#define UTF8_MARK "\xEF\xBB\xBF"

static bool has_utf16_mark(struct tds_cursor b)
{
	return tds_left(&b) >= 2 && b.pos[0] == 0xFF && b.pos[1] == 0xFE;
}

/* XML begins with '<' or white space: in UTF-16LE the second byte is then zero, in any other
 * encoding that drivers send it is not. */
static bool looks_like_utf16(struct tds_cursor b)
{
	return tds_left(&b) >= 2 && tds_left(&b) % 2 == 0 && b.pos[0] != 0 && b.pos[1] == 0;
}

int tds_read_xml(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret)
{
	bool marked = has_utf16_mark(b);
	struct str s = { (const char *)b.pos, tds_left(&b) };
	uint8_t encoding = XML_BYTES;

	if (tds_left(&b) == 0)
		encoding = XML_UTF8_FROM_UNICODE;
	if (marked && tds_left(&b) % 2 != 0)
		return tds_read_bad_length(r);
	/* The mark says how to read the rest and is no part of it. Two are a mistake, which is
	 * left for who reads the document. */
	if (marked && !has_utf16_mark((struct tds_cursor){ b.pos + 2, b.end }))
		b.pos += 2;
	if (marked || looks_like_utf16(b)) {
		if (tds_text_from_utf16(b, r->arena, &s, r->reterr) < 0)
			return -1;
		encoding = XML_UTF8_FROM_UNICODE;
	}
	*ret = (struct value){ .type = w->type, .xml_encoding = encoding, .u.s = s };
	return 0;
}

static bool starts_with(struct str s, const char *with, size_t n)
{
	return s.n >= n && memcmp(s.p, with, n) == 0;
}

struct str tds_xml_text(struct str s)
{
	const char *end;

	if (starts_with(s, UTF8_MARK, 3))
		s = (struct str){ s.p + 3, s.n - 3 };
	if (!starts_with(s, "<?xml", 5) || s.n < 6 || strchr(" \t\r\n", s.p[5]) == NULL)
		return s;
	end = memmem(s.p, s.n, "?>", 2);
	if (end == NULL)
		return s;
	return (struct str){ end + 2, s.n - (size_t)(end + 2 - s.p) };
}
