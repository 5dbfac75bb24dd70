/* convert_text.c — whatever becomes text: its form, the code page of varchar, the declared
 * length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf.h"
#include "value/guid.h"
#include "value/value_int.h"

/* ---- numbers ---- */

/* Like SQL Server: three digits of exponent at least. */
static size_t float_text(double f, int digits, bool scientific, char *dst, size_t size)
{
	char text[64];
	char *e;
	int exponent;

	if (scientific)
		snprintf(text, sizeof(text), "%.*e", digits - 1, f);
	else
		snprintf(text, sizeof(text), "%.*g", digits, f);
	e = strchr(text, 'e');
	if (e == NULL)
		return (size_t)snprintf(dst, size, "%s", text);
	exponent = (int)strtol(e + 1, NULL, 10);
	*e = '\0';
	return (size_t)snprintf(dst, size, "%se%c%03d", text, exponent < 0 ? '-' : '+', abs(exponent));
}

static size_t float_format(const struct value *v, int style, char *dst, size_t size)
{
	bool real = v->type.id == TYPE_REAL;

	switch (style) {
	case -1:
	case 0: return float_text(v->u.f, 6, false, dst, size);
	case 1: return float_text(v->u.f, 8, true, dst, size);
	case 2: return float_text(v->u.f, 16, true, dst, size);
	case 3: return float_text(v->u.f, real ? 9 : 17, true, dst, size);
	default: return 0;
	}
}

/* 1234567.89 → 1,234,567.89 */
static size_t with_commas(const char *plain, char *dst, size_t size)
{
	const char *start = plain[0] == '-' ? plain + 1 : plain;
	size_t whole = strcspn(start, "."), n = 0;

	if (start != plain && n + 1 < size)
		dst[n++] = '-';
	for (size_t i = 0; start[i] != '\0' && n + 2 < size; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			dst[n++] = ',';
		dst[n++] = start[i];
	}
	dst[n] = '\0';
	return n;
}

static size_t money_format(const struct value *v, int style, char *dst, size_t size)
{
	struct decimal d = decimal_from_int(v->u.i), cents;
	char text[DECIMAL_TEXT];

	if (style == 2 || style == 126)
		return decimal_format(&d, 4, dst, size);
	if (style > 1)
		return 0;
	if (!decimal_rescale(&d, 4, 2, &cents))
		return 0;
	if (style != 1)
		return decimal_format(&cents, 2, dst, size);
	decimal_format(&cents, 2, text, sizeof(text));
	return with_commas(text, dst, size);
}

size_t number_format(const struct value *v, int style, char *dst, size_t size)
{
	switch ((enum type_id)v->type.id) {
	case TYPE_REAL:
	case TYPE_FLOAT: return float_format(v, style, dst, size);
	case TYPE_MONEY:
	case TYPE_SMALLMONEY: return money_format(v, style, dst, size);
	case TYPE_DECIMAL:
	case TYPE_NUMERIC: return decimal_format(&v->u.dec, v->type.scale, dst, size);
	default: return (size_t)snprintf(dst, size, "%lld", (long long)v->u.i);
	}
}

/* ---- fitting text into its type ---- */

static bool blank_from(struct str s, size_t i)
{
	for (; i < s.n; i++) {
		if (s.p[i] != ' ')
			return false;
	}
	return true;
}

/* varchar holds the characters of code page 1252 only. An argument with another one is refused
 * [E-STATE-08]; elsewhere it becomes '?'. */
static int fit_code_page(struct conv *c, struct str *s)
{
	size_t lost;
	uint8_t *bytes;
	char *text;

	cp1252_count(s->p, s->n, &lost);
	if (lost == 0)
		return 0;
	if (c->mode == CONVERT_ARGUMENT)
		return err_set(c->err, ERR_CODE_PAGE, c->what != NULL ? c->what : conv_type_name(c->to->id));
	bytes = arena_alloc_raw(c->arena, s->n);
	/* each '?' stands for two bytes or more: it cannot grow */
	text = arena_alloc_raw(c->arena, s->n);
	if (bytes == NULL || text == NULL)
		return err_nomem(c->err);
	s->n = utf8_from_cp1252(text, bytes, cp1252_from_utf8(bytes, s->p, s->n, NULL));
	s->p = text;
	return 0;
}

/* char(n) and nchar(n) are filled up with blanks. */
static int pad(struct conv *c, struct str *s)
{
	size_t have = utf16_units(s->p, s->n), want = (size_t)c->to->length;
	char *text;

	if (have >= want)
		return 0;
	text = arena_alloc_raw(c->arena, s->n + (want - have));
	if (text == NULL)
		return err_nomem(c->err);
	if (s->n != 0)
		memcpy(text, s->p, s->n);
	memset(text + s->n, ' ', want - have);
	s->p = text;
	s->n += want - have;
	return 0;
}

/* The last step: any text into the target, cut or refused as the place wants. */
static int put_text(struct conv *c, struct str s)
{
	const struct type_info *info = type_info(c->to->id);

	if (!info->is_unicode && fit_code_page(c, &s) < 0)
		return -1;
	if (info->has_length && !type_is_max(c->to)) {
		size_t most = (size_t)c->to->length;
		size_t cut = s.n <= most ? s.n : utf8_prefix(s.p, s.n, most);

		if (cut < s.n && c->mode == CONVERT_ARGUMENT && !blank_from(s, cut))
			return conv_too_long(c); /* [E-COM-07] */
		s.n = cut;
		if ((c->to->id == TYPE_CHAR || c->to->id == TYPE_NCHAR) && pad(c, &s) < 0)
			return -1;
	}
	c->out.u.s = s;
	return 0;
}

/* Has the declared length no room for n characters? */
static bool no_room(const struct conv *c, size_t n)
{
	return type_info(c->to->id)->has_length && !type_is_max(c->to) && n > (size_t)c->to->length;
}

static int put_short(struct conv *c, const char *text, size_t n)
{
	char *p = arena_strndup(c->arena, text, n);

	if (p == NULL)
		return err_nomem(c->err);
	return put_text(c, (struct str){ p, n });
}

/* A number is shown whole or not at all. */
static int number_no_room(struct conv *c)
{
	enum type_id from = (enum type_id)c->v->type.id;

	if (c->mode == CONVERT_ARGUMENT)
		return conv_too_long(c);
	if (c->mode == CONVERT_OUTPUT)
		return conv_fail(c, FAULT_RANGE);
	if (from == TYPE_MONEY || from == TYPE_SMALLMONEY)
		return err_set(c->err, ERR_MONEY_SPACE, conv_type_name(c->to->id));
	if (type_info(from)->is_integer && from != TYPE_BIGINT && !type_info(c->to->id)->is_unicode)
		return put_short(c, "*", 1);
	return conv_fail(c, FAULT_RANGE);
}

static int bad_style(const struct conv *c)
{
	return err_set(c->err, ERR_STYLE, c->style, conv_type_name(c->v->type.id), "a character string");
}

static int text_from_number(struct conv *c)
{
	char text[128];
	size_t n = number_format(c->v, c->style, text, sizeof(text));

	if (n == 0)
		return bad_style(c);
	return no_room(c, n) ? number_no_room(c) : put_short(c, text, n);
}

static int text_from_time(struct conv *c)
{
	char text[64];
	size_t n = c->style < 0 ? datetime_format(c->v, text, sizeof(text))
				: datetime_format_style(c->v, c->style, text, sizeof(text));

	return n == 0 ? bad_style(c) : put_short(c, text, n);
}

static int text_from_guid(struct conv *c)
{
	char text[37];

	guid_format(c->v->u.guid, text);
	if (no_room(c, 36) && (c->mode == CONVERT_CAST || c->mode == CONVERT_ASSIGN))
		return err_set(c->err, ERR_GUID_SPACE);
	return put_short(c, text, 36);
}

/* CONVERT(varchar, 0x1F, 1) is '0x1F', style 2 is '1F'. */
static int text_from_hex(struct conv *c)
{
	static const char digits[] = "0123456789ABCDEF";
	struct str s = c->v->u.s;
	char *text = s.n > SIZE_MAX / 2 - 2 ? NULL : arena_alloc_raw(c->arena, s.n * 2 + 2);
	size_t n = 0;

	if (text == NULL)
		return err_nomem(c->err);
	if (c->style == 1) {
		text[n++] = '0';
		text[n++] = 'x';
	}
	for (size_t i = 0; i < s.n; i++) {
		text[n++] = digits[(uint8_t)s.p[i] >> 4];
		text[n++] = digits[(uint8_t)s.p[i] & 15];
	}
	return put_text(c, (struct str){ text, n });
}

/* Bytes are taken for what the target holds: code page 1252, or UTF-16. */
static int text_from_binary(struct conv *c)
{
	struct str s = c->v->u.s;
	const uint8_t *bytes = (const uint8_t *)s.p;
	char *text;
	size_t n;

	if (c->style == 1 || c->style == 2)
		return text_from_hex(c);
	if (c->style > 2)
		return bad_style(c);
	text = s.n > SIZE_MAX / 3 - 3 ? NULL : arena_alloc_raw(c->arena, s.n * 3 + 3);
	if (text == NULL)
		return err_nomem(c->err);
	if (!type_info(c->to->id)->is_unicode) {
		n = utf8_from_cp1252(text, bytes, s.n);
	} else {
		n = utf8_from_utf16le(text, bytes, s.n & ~(size_t)1);
		if (s.n % 2 != 0) { /* half a character is its low byte */
			const uint8_t last[2] = { bytes[s.n - 1], 0 };

			n += utf8_from_utf16le(text + n, last, 2);
		}
	}
	return put_text(c, (struct str){ text, n });
}

/* xml that arrived as bytes in an encoding of its own: UTF-16 with its mark, UTF-8, or else the
 * code page. */
static int text_from_xml(struct conv *c)
{
	struct str s = c->v->u.s;
	char *text;
	size_t n;

	if (c->v->xml_encoding == XML_UTF8_FROM_UNICODE)
		return put_text(c, s);
	if (s.n >= 3 && memcmp(s.p, "\xEF\xBB\xBF", 3) == 0)
		s = (struct str){ s.p + 3, s.n - 3 };
	if (utf8_valid(s.p, s.n, false))
		return put_text(c, s);
	text = s.n > SIZE_MAX / 3 ? NULL : arena_alloc_raw(c->arena, s.n * 3);
	if (text == NULL)
		return err_nomem(c->err);
	if (s.n >= 2 && memcmp(s.p, "\xFF\xFE", 2) == 0)
		n = utf8_from_utf16le(text, (const uint8_t *)s.p + 2, (s.n - 2) & ~(size_t)1);
	else
		n = utf8_from_cp1252(text, (const uint8_t *)s.p, s.n);
	return put_text(c, (struct str){ text, n });
}

int conv_to_text(struct conv *c)
{
	const struct type_info *info = type_info(c->v->type.id);

	if (info->is_text)
		return put_text(c, c->v->u.s);
	if (info->is_binary)
		return text_from_binary(c);
	if (info->is_time)
		return text_from_time(c);
	if (c->v->type.id == TYPE_GUID)
		return text_from_guid(c);
	if (c->v->type.id == TYPE_XML)
		return text_from_xml(c);
	return text_from_number(c);
}
