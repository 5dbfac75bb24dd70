/* text.c — see text.h. */
#define _GNU_SOURCE /* memmem, mempcpy */
#include "value/text.h"

#include <assert.h>
#include <string.h>

#include "base/utf.h"

/* How many bytes are searched at once: the first time, and at most. */
#define FIND_FIRST 1024u
#define FIND_WINDOW ((size_t)1 << 20)

/* Window by window: memmem is linear, but nobody can stop it. */
int text_find(struct str where, size_t from, struct str what, struct meter *m, size_t *ret_at)
{
	size_t window = 4 * what.n + FIND_FIRST;

	assert(what.n > 0);
	while (what.n <= where.n && from <= where.n - what.n) {
		size_t left = where.n - from, n = left > window ? window : left;
		const char *at = memmem(where.p + from, n, what.p, what.n);

		if (!meter_spend(m, at == NULL ? n : (size_t)(at - where.p) - from + what.n))
			return -1;
		if (at != NULL) {
			*ret_at = (size_t)(at - where.p);
			return 1;
		}
		from += n - what.n + 1;
		if (window < FIND_WINDOW)
			window *= 2;
	}
	return 0;
}

int text_replace(struct str s, struct str searched, struct str what, struct str with, struct meter *m,
		 char *dst, size_t *ret_n)
{
	size_t from = 0, at, n = 0;
	int rc;

	/* as every value is: n cannot overflow */
	assert(s.n == searched.n && s.n <= UINT32_MAX && with.n <= UINT32_MAX);
	while ((rc = text_find(searched, from, what, m, &at)) > 0) {
		if (dst != NULL)
			dst = mempcpy(mempcpy(dst, s.p + from, at - from), with.p, with.n);
		n += at - from + with.n;
		from = at + what.n;
	}
	if (rc < 0)
		return -1;
	if (dst != NULL)
		memcpy(dst, s.p + from, s.n - from);
	*ret_n = n + s.n - from;
	return 0;
}

void text_fold(struct str s, char *dst)
{
	for (size_t i = 0; i < s.n; i++)
		dst[i] = s.p[i] >= 'A' && s.p[i] <= 'Z' ? (char)(s.p[i] + 32) : s.p[i];
}

/* The UTF-8 forms of the letters of Latin-1 (C3 80 … C3 BF) have the same length in both cases. */
void text_change_case(struct str s, bool upper, char *dst)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i], before = i > 0 ? (unsigned char)s.p[i - 1] : 0;

		if (upper &&
		    ((c >= 'a' && c <= 'z') || (before == 0xC3 && c >= 0xA0 && c <= 0xBE && c != 0xB7)))
			c -= 0x20;
		else if (!upper &&
			 ((c >= 'A' && c <= 'Z') || (before == 0xC3 && c >= 0x80 && c <= 0x9E && c != 0x97)))
			c += 0x20;
		dst[i] = (char)c;
	}
}

struct str text_trim(struct str s, bool left, bool right)
{
	while (left && s.n > 0 && s.p[0] == ' ') {
		s.p++;
		s.n--;
	}
	while (right && s.n > 0 && s.p[s.n - 1] == ' ')
		s.n--;
	return s;
}

size_t text_length(struct str s)
{
	s = text_trim(s, false, true);
	return utf16_units(s.p, s.n);
}

struct str text_part(struct str s, int64_t start, int64_t n)
{
	size_t from;

	assert(n >= 0);
	if (start < 1) {
		n = start + n > 1 ? start + n - 1 : 0;
		start = 1;
	}
	from = utf8_prefix(s.p, s.n, (size_t)(start - 1));
	s.p += from;
	s.n -= from;
	s.n = utf8_prefix(s.p, s.n, (size_t)n);
	return s;
}

struct str text_right(struct str s, int64_t n)
{
	int64_t all = (int64_t)utf16_units(s.p, s.n);

	return text_part(s, n >= all ? 1 : all - n + 1, n);
}
