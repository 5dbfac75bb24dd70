/* sqltext.h — T-SQL text that comes line by line, cut into batches: by GO on a line of its own and,
 * for somebody who types, by a semicolon at the end of a line. Strings, quoted names and comments
 * that go over several lines are seen through. */
#ifndef CLI_SQLTEXT_H
#define CLI_SQLTEXT_H

#include "base/buf.h"

struct cli_sqltext {
	struct buf text; /* of the batch so far, with line ends */
	char inside;     /* ' " ] for a string or name, * for a comment; 0: none of these */
	unsigned depth;  /* comments within comments */
};

enum cli_sqltext_end {
	CLI_SQLTEXT_MORE,      /* the batch goes on */
	CLI_SQLTEXT_GO,        /* it is whole: GO; *ret_times is its number, or 1 */
	CLI_SQLTEXT_SEMICOLON, /* the line ends with one, outside of everything */
	CLI_SQLTEXT_NOMEM,
};

void cli_sqltext_init(struct cli_sqltext *t);
void cli_sqltext_fini(struct cli_sqltext *t);
/* One line without its end. */
enum cli_sqltext_end cli_sqltext_add(struct cli_sqltext *t, const char *line, unsigned *ret_times);
/* The batch, ended by a NUL; NULL: no memory. Valid until the next call. */
const char *cli_sqltext_batch(struct cli_sqltext *t);
/* Whether there is more than blanks in it. */
bool cli_sqltext_is_empty(const struct cli_sqltext *t);
void cli_sqltext_reset(struct cli_sqltext *t);

#endif
