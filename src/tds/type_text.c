/* type_text.c — char, varchar, text in their code page and nchar, nvarchar, ntext in UTF-16LE;
 * UTF-8 inside. */
#include <string.h>

#include "base/utf.h"
#include "tds/tds_int.h"

static void set_text(const struct tds_wire_type *w, struct str s, struct value *ret)
{
	*ret = (struct value){ .type = w->type, .u.s = s };
}

/* Decoded by its own collation: UTF-8 if that says so, else Windows-1252 (ours, and the raw one
 * of go-mssqldb). ASCII is both, and stays where it lies. */
int tds_read_char(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret)
{
	struct str s = { (const char *)b.pos, tds_left(&b) };

	if (!tds_is_ascii(b)) {
		if (tds_collation_is_utf8(w->collation)) {
			if (!utf8_valid(s.p, s.n, false))
				return tds_read_bad_value(r, w->type.id);
		} else if (tds_text_from_cp1252(b, r->arena, &s, r->reterr) < 0) {
			return -1;
		}
	}
	set_text(w, s, ret);
	return 0;
}

int tds_read_nchar(struct tds_read *r, const struct tds_wire_type *w, struct tds_cursor b, struct value *ret)
{
	struct str s;

	if (tds_left(&b) % 2 != 0)
		return tds_read_bad_length(r);
	if (tds_text_from_utf16(b, r->arena, &s, r->reterr) < 0)
		return -1;
	set_text(w, s, ret);
	return 0;
}

/* At most n bytes of s, not ending inside a character. */
static size_t cut_utf8(struct str s, size_t n)
{
	if (s.n <= n)
		return s.n;
	for (size_t back = 0; back < 3 && back < n && ((uint8_t)s.p[n - back] & 0xC0) == 0x80; back++)
		if (((uint8_t)s.p[n - back - 1] & 0xC0) != 0x80)
			return n - back - 1;
	return n;
}

static size_t piece_source(struct str s, enum tds_charset cs)
{
	switch (cs) {
	case CHARSET_BINARY: return s.n < TDS_PIECE ? s.n : TDS_PIECE;
	case CHARSET_UTF16: return cut_utf8(s, TDS_PIECE / 2); /* two bytes for each at most */
	default: return cut_utf8(s, TDS_PIECE);
	}
}

size_t tds_next_piece(struct str *s, enum tds_charset cs, uint8_t dst[TDS_PIECE])
{
	size_t n = piece_source(*s, cs), made = n;

	switch (cs) {
	case CHARSET_UTF16: made = utf16le_from_utf8(dst, s->p, n); break;
	case CHARSET_1252: made = cp1252_from_utf8(dst, s->p, n, NULL); break;
	default: memcpy(dst, s->p, n); break;
	}
	assert(n > 0 && n <= s->n && made <= TDS_PIECE);
	s->p += n;
	s->n -= n;
	return made;
}

/* What the pieces will add up to: the same cuts, so that even text that is not valid UTF-8 gives
 * the same number. */
uint64_t tds_pieces_length(struct str s, enum tds_charset cs)
{
	uint8_t piece[TDS_PIECE];
	uint64_t total = 0;

	if (cs == CHARSET_BINARY || cs == CHARSET_UTF8)
		return s.n;
	if (tds_is_ascii(tds_cursor_of(s.p, s.n)))
		return (uint64_t)s.n * (cs == CHARSET_UTF16 ? 2 : 1);
	while (s.n > 0)
		total += tds_next_piece(&s, cs, piece);
	return total;
}

static void put_pieces(struct tds_out *o, struct str s, enum tds_charset cs)
{
	uint8_t piece[TDS_PIECE];

	if (cs == CHARSET_BINARY || cs == CHARSET_UTF8) {
		tds_put(o, s.p, s.n);
		return;
	}
	while (s.n > 0 && !tds_out_failed(o)) {
		size_t n = tds_next_piece(&s, cs, piece);
		tds_put(o, piece, n);
	}
}

void tds_put_utf16(struct tds_out *o, struct str s)
{
	uint8_t *room = s.n <= TDS_PIECE ? tds_out_room(o, 2 * s.n) : NULL;

	if (room != NULL)
		tds_out_took(o, utf16le_from_utf8(room, s.p, s.n));
	else
		put_pieces(o, s, CHARSET_UTF16);
}

/* A text pointer that leads nowhere: drivers want 16 and 8 bytes and look at none of them. */
void tds_put_pointer(struct tds_out *o, struct str s, enum tds_charset cs)
{
	static const char pointer[1 + 16 + 8] = "\x10"
						"procession text\0"
						"00000001";
	uint64_t n = tds_pieces_length(s, cs);

	if (n > INT32_MAX) {
		tds_out_fail(o);
		return;
	}
	tds_put(o, pointer, sizeof(pointer));
	tds_put_u32(o, (uint32_t)n);
	put_pieces(o, s, cs);
}

static struct str cut_to_max(struct str s, const struct tds_form *f)
{
	switch (f->charset) {
	case CHARSET_UTF16: s.n = s.n <= f->max / 2 ? s.n : utf8_prefix(s.p, s.n, f->max / 2); break;
	case CHARSET_1252: s.n = s.n <= f->max ? s.n : utf8_prefix(s.p, s.n, f->max); break;
	case CHARSET_UTF8: s.n = cut_utf8(s, f->max); break;
	default: s.n = s.n <= f->max ? s.n : f->max; break;
	}
	return s;
}

/* char(n), nchar(n), binary(n) always have their full length. */
static void pad(struct tds_out *o, const struct tds_form *f, size_t have)
{
	static const uint8_t blanks[] = "        ", wide[] = " \0 \0 \0 \0 \0 \0 \0 ", zeros[16] = { 0 };
	const uint8_t *with = f->charset == CHARSET_BINARY  ? zeros
			      : f->charset == CHARSET_UTF16 ? wide
							    : blanks;

	while (have < f->max && !tds_out_failed(o)) {
		size_t n = f->max - have < 8 ? f->max - have : 8;
		tds_put(o, with, n);
		have += n;
	}
}

void tds_put_len16(struct tds_out *o, const struct tds_form *f, struct str s)
{
	struct tds_length l = tds_length_begin(o, 2);
	uint64_t from = o->payload;

	put_pieces(o, cut_to_max(s, f), f->charset);
	if (o->payload - from > f->max) /* a code page that makes two of one */
		tds_out_fail(o);
	if (!f->as_text && (f->type.id == TYPE_CHAR || f->type.id == TYPE_NCHAR || f->type.id == TYPE_BINARY))
		pad(o, f, (size_t)(o->payload - from));
	tds_length_end(o, &l, 1);
}
