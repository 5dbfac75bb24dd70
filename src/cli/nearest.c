/* nearest.c — see nearest.h. The distance is that of Damerau and Levenshtein, in its restricted
 * form: three rows of the table are enough. */
#include "cli/nearest.h"

#include <limits.h>
#include <string.h>

#define WORD_MAX 40

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned cli_nearest_distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *now = rows[2];
	size_t na = strlen(a), nb = strlen(b);

	if (na > WORD_MAX || nb > WORD_MAX)
		return UINT_MAX;
	for (size_t j = 0; j <= nb; j++)
		last[j] = (unsigned)j;
	memset(before, 0, sizeof(rows[0]));
	for (size_t i = 1; i <= na; i++) {
		unsigned *oldest = before;

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = least(now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = oldest;
	}
	return last[nb];
}

/* One slip in a short word, two in a longer one, three in a long one; the beginning of a word
 * counts, too. */
void cli_nearest_offer(struct cli_nearest *n, const char *candidate)
{
	size_t length = strlen(n->word);
	unsigned d = cli_nearest_distance(n->word, candidate), bound = length < 4 ? 1 : length < 9 ? 2 : 3;

	if (length >= 3 && strncmp(candidate, n->word, length) == 0)
		d = 1;
	if (d <= bound && (n->best == NULL || d < n->distance)) {
		n->best = candidate;
		n->distance = d;
	}
}
