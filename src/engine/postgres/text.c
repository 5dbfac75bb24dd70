/* text.c — texts that PostgreSQL would not take. It knows neither U+0000 nor lone surrogates; both
 * are values that clients may store. They are kept as characters of the last private plane:
 *   U+0000            U+10F7FF
 *   U+D800 + x        U+10F800 + x   (a lone surrogate)
 *   U+10F7FE … 10FFFF U+10F7FE, then the character itself
 * The order of such texts is that of the stored characters. Nothing in SQL knows of it. */
#include <string.h>

#include "engine/postgres/postgres_int.h"

#define ESCAPE_BYTES 4
#define ESCAPE 0x10f7fe
#define STANDS_FOR_NUL 0x10f7ff

/* Of a character of four bytes. */
static uint32_t code_point(const char *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (uint32_t)(b[0] & 7) << 18 | (uint32_t)(b[1] & 63) << 12 | (uint32_t)(b[2] & 63) << 6 |
	       (uint32_t)(b[3] & 63);
}

static bool goes_on(char c)
{
	return ((uint8_t)c & 0xc0) == 0x80;
}

/* U+10F7FE and above, at the beginning of what is left. */
static bool is_reserved(const char *p, size_t left)
{
	return left >= 4 && (uint8_t)p[0] == 0xf4 && (uint8_t)p[1] == 0x8f && goes_on(p[2]) &&
	       goes_on(p[3]) && code_point(p) >= ESCAPE;
}

static bool is_surrogate(const char *p, size_t left)
{
	return left >= 3 && (uint8_t)p[0] == 0xed && (uint8_t)p[1] >= 0xa0 && goes_on(p[1]) && goes_on(p[2]);
}

static size_t put_code_point(char *dst, uint32_t c)
{
	dst[0] = (char)(0xf0 | c >> 18);
	dst[1] = (char)(0x80 | (c >> 12 & 63));
	dst[2] = (char)(0x80 | (c >> 6 & 63));
	dst[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* How many bytes more it takes; 0: it can stay as it is. */
static size_t count_more(struct str s)
{
	size_t more = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\0')
			more += 3;
		else if (is_surrogate(s.p + i, s.n - i))
			more += 1;
		else if (is_reserved(s.p + i, s.n - i))
			more += ESCAPE_BYTES;
	}
	return more;
}

static size_t put_out(char *dst, struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n;) {
		if (s.p[i] == '\0') {
			n += put_code_point(dst + n, STANDS_FOR_NUL);
			i++;
		} else if (is_surrogate(s.p + i, s.n - i)) {
			uint32_t low = (uint32_t)((uint8_t)s.p[i + 1] & 63) << 6 | ((uint8_t)s.p[i + 2] & 63);

			/* 0x0800 … 0x0fff of the low twelve bits */
			n += put_code_point(dst + n, 0x10f800 + (low - 0x800));
			i += 3;
		} else if (is_reserved(s.p + i, s.n - i)) {
			n += put_code_point(dst + n, ESCAPE);
			memcpy(dst + n, s.p + i, 4);
			n += 4, i += 4;
		} else {
			dst[n++] = s.p[i++];
		}
	}
	return n;
}

int postgres_text_out(struct str s, struct arena *a, struct str *ret, struct err *reterr)
{
	size_t more;
	char *dst;

	*ret = s.p == NULL ? STR("") : s;
	more = count_more(*ret);
	if (more == 0)
		return 0;
	dst = arena_alloc_raw(a, s.n + more);
	if (dst == NULL)
		return err_nomem(reterr);
	*ret = (struct str){ dst, put_out(dst, *ret) };
	assert(ret->n == s.n + more);
	return 0;
}

static bool has_reserved(struct str s)
{
	const char *p = s.p, *end = s.p + s.n;

	while ((p = memchr(p, 0xf4, (size_t)(end - p))) != NULL) {
		if (is_reserved(p, (size_t)(end - p)))
			return true;
		p++;
	}
	return false;
}

/* It only gets shorter. */
static size_t put_in(char *dst, struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n;) {
		uint32_t c = is_reserved(s.p + i, s.n - i) ? code_point(s.p + i) : 0;

		if (c == 0) {
			dst[n++] = s.p[i++];
		} else if (c == ESCAPE && s.n - i >= 8) {
			memcpy(dst + n, s.p + i + 4, 4);
			n += 4, i += 8;
		} else if (c == STANDS_FOR_NUL) {
			dst[n++] = '\0';
			i += 4;
		} else {
			uint32_t low = c - 0x10f800 + 0x800;

			dst[n++] = (char)0xed;
			dst[n++] = (char)(0x80 | (low >> 6 & 63));
			dst[n++] = (char)(0x80 | (low & 63));
			i += 4;
		}
	}
	return n;
}

int postgres_text_in(struct str s, struct arena *a, struct str *ret, struct err *reterr)
{
	char *dst;

	*ret = s;
	if (!has_reserved(s))
		return 0;
	dst = arena_alloc_raw(a, s.n);
	if (dst == NULL)
		return err_nomem(reterr);
	*ret = (struct str){ dst, put_in(dst, s) };
	return 0;
}
