/* rows.h — a result set that the command makes itself, to be shown as those of a server are. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "client/client.h"

struct cli_rows {
	struct client_table table;
	size_t next; /* cell */
	bool failed; /* without memory; looked at once, at the end */
};

/* names: "Name" or, for a column of numbers, "#Name". */
void cli_rows_init(struct cli_rows *r, const char *const *names, size_t n);
/* The next cell, row by row; NULL is none. */
void cli_rows_text(struct cli_rows *r, const char *text);
void cli_rows_number(struct cli_rows *r, long long n);
/* Shows and frees. -1: no memory. */
MUST_CHECK int cli_rows_show(struct cli_rows *r, bool json, struct err *reterr);
void cli_rows_fini(struct cli_rows *r);

#endif
