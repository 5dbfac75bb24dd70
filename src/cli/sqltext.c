/* sqltext.c — see sqltext.h. */
#include "cli/sqltext.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BATCH_MAX (64u << 20)
#define TIMES_MAX 1000000

void cli_sqltext_init(struct cli_sqltext *t)
{
	memset(t, 0, sizeof(*t));
	buf_init(&t->text, BATCH_MAX);
}

void cli_sqltext_fini(struct cli_sqltext *t)
{
	buf_fini(&t->text);
}

void cli_sqltext_reset(struct cli_sqltext *t)
{
	buf_reset(&t->text, 4096);
	t->inside = 0;
	t->depth = 0;
}

bool cli_sqltext_is_empty(const struct cli_sqltext *t)
{
	for (size_t i = 0; i < t->text.len; i++)
		if (isspace(t->text.data[i]) == 0)
			return false;
	return true;
}

const char *cli_sqltext_batch(struct cli_sqltext *t)
{
	buf_put_u8(&t->text, '\0');
	if (t->text.failed)
		return NULL;
	t->text.len--;
	return (const char *)t->text.data;
}

/* "GO", "go 5": the whole line. */
static bool is_go(const char *line, unsigned *ret_times)
{
	char *end;
	unsigned long n = 1;

	line += strspn(line, " \t");
	if (strncasecmp(line, "GO", 2) != 0 || (line[2] != '\0' && isspace((unsigned char)line[2]) == 0))
		return false;
	line += 2 + strspn(line + 2, " \t\r");
	if (*line != '\0') {
		n = strtoul(line, &end, 10);
		if (end == line || end[strspn(end, " \t\r;")] != '\0' || n > TIMES_MAX)
			return false;
	}
	*ret_times = (unsigned)n;
	return true;
}

/* Inside of a comment; gives where to go on. */
static const char *step_comment(struct cli_sqltext *t, const char *p)
{
	assert(t->inside == '*' && t->depth > 0);
	if (p[0] == '/' && p[1] == '*') {
		t->depth++;
		return p + 2;
	}
	if (p[0] == '*' && p[1] == '/') {
		t->inside = --t->depth == 0 ? 0 : '*';
		return p + 2;
	}
	return p + 1;
}

/* Outside of everything: whether something begins here. NULL: the rest of the line is a comment. */
static const char *step_outside(struct cli_sqltext *t, const char *p)
{
	assert(t->inside == 0 && t->depth == 0);
	if (p[0] == '-' && p[1] == '-')
		return NULL;
	if (p[0] == '/' && p[1] == '*') {
		t->inside = '*';
		t->depth = 1;
		return p + 2;
	}
	if (*p == '\'' || *p == '"')
		t->inside = *p;
	else if (*p == '[')
		t->inside = ']';
	return p + 1;
}

/* Goes over a line. True: its last character outside of comments is a semicolon, outside of strings
 * and names. A doubled quotation mark ends a string and begins another, which comes to the same. */
static bool scan(struct cli_sqltext *t, const char *p)
{
	bool semicolon = false;

	while (p != NULL && *p != '\0') {
		if (t->inside == '*') {
			p = step_comment(t, p);
		} else if (t->inside != 0) {
			if (*p == t->inside)
				t->inside = 0;
			semicolon = false;
			p++;
		} else {
			bool comment = (p[0] == '-' && p[1] == '-') || (p[0] == '/' && p[1] == '*');

			if (*p == ';')
				semicolon = true;
			else if (!comment && isspace((unsigned char)*p) == 0)
				semicolon = false;
			p = step_outside(t, p);
		}
	}
	return semicolon && t->inside == 0;
}

enum cli_sqltext_end cli_sqltext_add(struct cli_sqltext *t, const char *line, unsigned *ret_times)
{
	bool semicolon;

	if (t->inside == 0 && is_go(line, ret_times))
		return CLI_SQLTEXT_GO;
	semicolon = scan(t, line);
	buf_put(&t->text, line, strlen(line));
	buf_put_u8(&t->text, '\n');
	if (t->text.failed)
		return CLI_SQLTEXT_NOMEM;
	*ret_times = 1;
	return semicolon ? CLI_SQLTEXT_SEMICOLON : CLI_SQLTEXT_MORE;
}
