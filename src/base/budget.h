/* budget.h — accounts of memory, one above the other: a session's below its login's below the
 * server's. What is taken from one is taken from all above it, and refused where it is more than
 * any of them may have. Whoever allocates asks first. Thread-safe, without a lock. */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <stdatomic.h>

#include "base/base.h"

struct block_spares;

struct budget {
	struct budget *up;           /* outlives this one; NULL: this is the topmost */
	struct block_spares *spares; /* of the topmost: borrowed; NULL: none */
	atomic_size_t used;
	size_t limit;
};

void budget_init(struct budget *b, struct budget *up, size_t limit);
/* Large blocks that are taken from the account, or any below, come from here and go back. */
void budget_keep(struct budget *b, struct block_spares *spares);
struct block_spares *budget_spares(const struct budget *b); /* NULL: none */
/* Everything was given back. */
void budget_fini(struct budget *b);
/* n bytes more, or false and nothing has changed. b NULL: nobody counts. */
MUST_CHECK bool budget_take(struct budget *b, size_t n);
/* The same for what cannot be refused any more: it counts, whatever the limits. */
void budget_take_anyway(struct budget *b, size_t n);
void budget_give(struct budget *b, size_t n);
/* Puts the account below another one, with all that it has. While nobody else uses it. */
void budget_move(struct budget *b, struct budget *up);
size_t budget_used(const struct budget *b);

#endif
