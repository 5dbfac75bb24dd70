/* text.c — see text.h. */
#define _GNU_SOURCE         /* memmem, mempcpy */
#include "value/text.h"

#include <assert.h>
#include <string.h>

#define FIND_FIRST 1024u                /* bytes that are searched at once, at first … */
#define FIND_WINDOW ((size_t)1 << 20)   /* … and at last */

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

int text_replace(struct str s, struct str searched, struct str what, struct str with, struct meter *m, char *dst, size_t *ret_n)
{
	size_t from = 0, at, n = 0;
	int rc;

	assert(s.n == searched.n && s.n <= UINT32_MAX && with.n <= UINT32_MAX);      /* as every value is: n cannot overflow */
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
