/* str.h — a slice of UTF-8 text that somebody else owns. Not NUL-terminated. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <string.h>

#include "base/base.h"

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })
/* For "%.*s" */
#define STR_ARG(s) (int)(s).n, (s).p

static inline struct str str_of(const char *s)
{
	return (struct str){ s, s == NULL ? 0 : strlen(s) };
}
bool str_eq(struct str a, struct str b);
/* ASCII letters compare without case; other bytes exactly. */
bool str_eq_nocase(struct str a, struct str b);
int str_cmp_nocase(struct str a, struct str b);
struct str str_trim(struct str s);
/* Copies into a fixed array, cut at a character, always NUL-terminated. */
void str_copy(char *dst, size_t size, struct str s);
/* Case-insensitive ASCII hash, for name tables. */
uint32_t str_hash_nocase(struct str s);

#endif
