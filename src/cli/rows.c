/* rows.c — see rows.h. */
#include "cli/rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

void cli_rows_init(struct cli_rows *r, const char *const *names, size_t n)
{
	memset(r, 0, sizeof(*r));
	r->table.names = calloc(n, sizeof(char *));
	r->table.numeric = calloc(n, sizeof(bool));
	if (r->table.names == NULL || r->table.numeric == NULL) {
		r->failed = true;
		return;
	}
	r->table.ncols = n;
	for (size_t i = 0; i < n; i++) {
		r->table.numeric[i] = names[i][0] == '#';
		r->table.names[i] = strdup(names[i] + (names[i][0] == '#'));
		r->failed = r->failed || r->table.names[i] == NULL;
	}
}

static bool grow(struct cli_rows *r)
{
	size_t capacity = r->table.capacity == 0 ? 16 * r->table.ncols : 2 * r->table.capacity;
	char **grown = realloc(r->table.cells, capacity * sizeof(char *));

	if (grown == NULL)
		return false;
	memset(grown + r->table.capacity, 0, (capacity - r->table.capacity) * sizeof(char *));
	r->table.cells = grown;
	r->table.capacity = capacity;
	return true;
}

void cli_rows_text(struct cli_rows *r, const char *text)
{
	if (r->failed || (r->next == r->table.capacity && !grow(r))) {
		r->failed = true;
		return;
	}
	if (text != NULL) {
		r->table.cells[r->next] = strdup(text);
		r->failed = r->table.cells[r->next] == NULL;
	}
	r->next++;
	r->table.nrows = (r->next + r->table.ncols - 1) / r->table.ncols;
}

void cli_rows_number(struct cli_rows *r, long long n)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", n);
	cli_rows_text(r, text);
}

int cli_rows_show(struct cli_rows *r, bool json, struct err *reterr)
{
	bool failed = r->failed;

	assert(failed || r->next % r->table.ncols == 0); /* rows are whole */
	if (!failed)
		cli_output_table(&r->table, json);
	cli_rows_fini(r);
	return failed ? err_nomem(reterr) : 0;
}

void cli_rows_fini(struct cli_rows *r)
{
	for (size_t i = 0; r->table.names != NULL && i < r->table.ncols; i++)
		free(r->table.names[i]);
	for (size_t i = 0; i < r->next; i++)
		free(r->table.cells[i]);
	free(r->table.names);
	free(r->table.numeric);
	free(r->table.cells);
	memset(r, 0, sizeof(*r));
}
