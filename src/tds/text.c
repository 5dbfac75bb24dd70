/* text.c — text of the wire becomes UTF-8 in an arena. Small texts get the room of the worst
 * case; large ones are measured first and converted piece by piece, so that a document of many
 * megabytes does not cost three times its size. */
#include <string.h>

#include "base/utf.h"
#include "tds/tds_int.h"

#define SMALL 65536 /* below: one conversion into room for the worst case */
#define PIECE 8192  /* source bytes of one step; even */

bool tds_is_ascii(struct tds_cursor b)
{
	uint64_t w;

	for (; tds_left(&b) >= sizeof(w); b.pos += sizeof(w)) {
		memcpy(&w, b.pos, sizeof(w));
		if ((w & UINT64_C(0x8080808080808080)) != 0)
			return false;
	}
	for (; b.pos < b.end; b.pos++)
		if (*b.pos >= 0x80)
			return false;
	return true;
}

static unsigned unit_at(const uint8_t *p)
{
	return (unsigned)(p[0] | p[1] << 8);
}
static bool is_high(unsigned u)
{
	return (u & 0xFC00) == 0xD800;
}
static bool is_low(unsigned u)
{
	return (u & 0xFC00) == 0xDC00;
}

/* Bytes of UTF-8 that n bytes of UTF-16LE become. A pair is four bytes where two lone halves
 * would be six. */
static size_t measure_utf16(const uint8_t *p, size_t n)
{
	size_t bytes = 0;
	unsigned before = 0;

	for (size_t i = 0; i < n; i += 2) {
		unsigned u = unit_at(p + i);
		bytes += 1 + (u >= 0x80) + (u >= 0x800);
		if (is_low(u) && is_high(before)) {
			bytes -= 2;
			u = 0;
		}
		before = u;
	}
	return bytes;
}

static size_t measure_cp1252(const uint8_t *p, size_t n)
{
	size_t high = 0;

	for (size_t i = 0; i < n; i++)
		high += p[i] >> 7;
	return n + 2 * high;
}

/* The next piece of UTF-16 that does not end in the middle of a pair. */
static size_t cut_utf16(const uint8_t *p, size_t n)
{
	if (n <= PIECE)
		return n;
	return is_high(unit_at(p + PIECE - 2)) ? PIECE - 2 : PIECE;
}

static size_t cut_cp1252(const uint8_t *p, size_t n)
{
	(void)p;
	return n < PIECE ? n : PIECE;
}

struct code_page {
	size_t num, den; /* worst growth */
	size_t (*measure)(const uint8_t *p, size_t n);
	size_t (*cut)(const uint8_t *p, size_t n);
	size_t (*convert)(char *dst, const uint8_t *src, size_t n);
};
static const struct code_page utf16 = { 3, 2, measure_utf16, cut_utf16, utf8_from_utf16le };
static const struct code_page cp1252 = { 3, 1, measure_cp1252, cut_cp1252, utf8_from_cp1252 };

static int convert_large(const struct code_page *cp, struct tds_cursor b, char *dst, size_t room, size_t *ret,
			 struct err *reterr)
{
	char piece[PIECE * 3];
	size_t used = 0;

	while (tds_left(&b) > 0) {
		size_t n = cp->cut(b.pos, tds_left(&b)), made = cp->convert(piece, b.pos, n);
		if (made > room - used) /* measured wrongly: our mistake, but never past the end */
			return err_nomem(reterr);
		memcpy(dst + used, piece, made);
		used += made;
		b.pos += n;
	}
	*ret = used;
	return 0;
}

static int convert(const struct code_page *cp, struct tds_cursor b, struct arena *a, struct str *ret,
		   struct err *reterr)
{
	size_t n = tds_left(&b), room, made;
	char *dst;

	room = n <= SMALL ? n * cp->num / cp->den : cp->measure(b.pos, n);
	dst = arena_alloc_raw(a, room + 1);
	if (dst == NULL)
		return err_nomem(reterr);
	if (n <= SMALL)
		made = cp->convert(dst, b.pos, n);
	else if (convert_large(cp, b, dst, room, &made, reterr) < 0)
		return -1;
	dst[made] = '\0';
	*ret = (struct str){ dst, made };
	return 0;
}

int tds_text_from_utf16(struct tds_cursor b, struct arena *a, struct str *ret, struct err *reterr)
{
	return convert(&utf16, b, a, ret, reterr);
}

int tds_text_from_cp1252(struct tds_cursor b, struct arena *a, struct str *ret, struct err *reterr)
{
	return convert(&cp1252, b, a, ret, reterr);
}
