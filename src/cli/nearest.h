/* nearest.h — what somebody who mistyped a word may have meant. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

/* How many letters must be put in, left out, changed or swapped with their neighbour to make the
 * one word the other. Words of more than 40 bytes are as far as can be from all others. */
unsigned cli_nearest_distance(const char *a, const char *b);

/* Looks at one candidate after another: begin with { word }. best is NULL while none was near
 * enough. */
struct cli_nearest {
	const char *word;
	const char *best;
	unsigned distance; /* of best */
};
void cli_nearest_offer(struct cli_nearest *n, const char *candidate);

#endif
