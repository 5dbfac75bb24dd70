/* rows.h — rows of a result that are kept: in an arena, in their order, and taken back from the end
 * when a call is run once more. */
#ifndef ENGINE_ROWS_H
#define ENGINE_ROWS_H

#include "base/arena.h"
#include "value/value.h"

struct engine_row {
	struct engine_row *next;
	struct value *values;
	size_t n;
};
struct engine_rows {
	struct engine_row *first, *last; /* in the arena, as everything they point to */
	uint64_t n;
};

/* Copies the values. -1: no memory, and nothing was added. */
MUST_CHECK int engine_rows_add(struct engine_rows *rows, struct arena *a, const struct value *values,
			       size_t n);
/* Only the first n stay. */
void engine_rows_cut(struct engine_rows *rows, uint64_t n);

#endif
