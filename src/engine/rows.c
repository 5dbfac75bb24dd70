/* rows.c — see rows.h. */
#include "engine/rows.h"

#include <assert.h>

int engine_rows_add(struct engine_rows *rows, struct arena *a, const struct value *values, size_t n)
{
	struct engine_row *row = arena_alloc(a, sizeof(*row));

	if (row == NULL)
		return -1;
	*row = (struct engine_row){ .values = arena_array(a, n, sizeof(*row->values)), .n = n };
	if (row->values == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (value_copy(&values[i], a, &row->values[i], NULL) < 0)
			return -1;
	}
	if (rows->last == NULL)
		rows->first = row;
	else
		rows->last->next = row;
	rows->last = row;
	rows->n++;
	return 0;
}

void engine_rows_cut(struct engine_rows *rows, uint64_t n)
{
	assert(n <= rows->n);
	rows->n = n;
	rows->last = NULL;
	for (struct engine_row *row = rows->first; n > 0; row = row->next, n--)
		rows->last = row;
	if (rows->last == NULL)
		rows->first = NULL;
	else
		rows->last->next = NULL;
}
