/* str.c — comparing, trimming and copying slices. Case is ASCII case only: names of procedures
 * and settings need no more [E-COM-09]. */
#include "base/str.h"

static unsigned char lower(unsigned char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c | 0x20) : c;
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_eq_nocase(struct str a, struct str b)
{
	return str_eq(a, b) || (a.n == b.n && str_cmp_nocase(a, b) == 0);
}

/* How many whole words of both are the same; names that are looked up begin alike. */
static size_t same_words(struct str a, struct str b, size_t n)
{
	size_t i = 0;

	for (uint64_t x, y; n - i >= sizeof(x); i += sizeof(x)) {
		memcpy(&x, a.p + i, sizeof(x));
		memcpy(&y, b.p + i, sizeof(y));
		if (x != y)
			break;
	}
	return i;
}

int str_cmp_nocase(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;

	for (size_t i = same_words(a, b, n); i < n; i++) {
		unsigned char x = (unsigned char)a.p[i], y = (unsigned char)b.p[i];

		if (x != y && lower(x) != lower(y))
			return lower(x) < lower(y) ? -1 : 1;
	}
	if (a.n == b.n)
		return 0;
	return a.n < b.n ? -1 : 1;
}

static bool blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.n > 0 && blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

void str_copy(char *dst, size_t size, struct str s)
{
	size_t n = s.n;

	if (size == 0)
		return;
	if (n >= size) {
		n = size - 1;
		/* Back to the beginning of the character that is cut: at most three trailing
		 * bytes. */
		for (int i = 0; i < 3 && n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80; i++)
			n--;
	}
	if (n != 0)
		memcpy(dst, s.p, n);
	dst[n] = '\0';
}

uint32_t str_hash_nocase(struct str s)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ lower((unsigned char)s.p[i])) * 16777619u;
	return h;
}
