/* sqlprompt.c — `procession sql` at a terminal: lines are edited and remembered by libedit. A batch
 * ends with GO on a line of its own, or with a line that ends with a semicolon. */
#include <histedit.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/folder.h"
#include "base/poison.h"
#include "cli/batch.h"
#include "cli/sql.h"

#define REMEMBERED 1000 /* lines */

struct prompt {
	struct sql *sql;
	EditLine *el;
	History *history;
	char file[4096]; /* that history is kept in; "": none */
	bool abandoned;  /* by ^C */
};

static struct prompt *prompt_of(EditLine *el)
{
	void *p = NULL;

	el_get(el, EL_CLIENTDATA, &p);
	return p;
}

static char *prompt_text(EditLine *el)
{
	return cli_sqltext_is_empty(&prompt_of(el)->sql->text) ? "sql> " : "  -> ";
}

/* ^C while a line is typed: it and the batch so far are forgotten. */
static unsigned char abandon(EditLine *el, int ch)
{
	(void)ch;
	prompt_of(el)->abandoned = true;
	return CC_NEWLINE;
}

static void find_history(struct prompt *p)
{
	char folder[4000];

	p->file[0] = '\0';
	if (cli_home_state("sql", folder, sizeof(folder)) && folder_make(folder))
		snprintf(p->file, sizeof(p->file), "%s/history", folder);
}

static bool open_prompt(struct prompt *p)
{
	HistEvent event;

	p->el = el_init("procession", stdin, stdout, stderr);
	p->history = history_init();
	if (p->el == NULL || p->history == NULL)
		return false;
	history(p->history, &event, H_SETSIZE, REMEMBERED);
	history(p->history, &event, H_SETUNIQUE, 1);
	find_history(p);
	if (p->file[0] != '\0')
		history(p->history, &event, H_LOAD, p->file);
	el_set(p->el, EL_CLIENTDATA, p);
	el_set(p->el, EL_PROMPT, prompt_text);
	el_set(p->el, EL_EDITOR, "emacs");
	el_set(p->el, EL_HIST, history, p->history);
	LEAKS_BEGIN(); /* libedit never frees the name and the help of a function that was added */
	el_set(p->el, EL_ADDFN, "procession-abandon", "forget what was typed", abandon);
	LEAKS_END();
	el_set(p->el, EL_SETTY, "-d", "-isig", NULL);
	el_set(p->el, EL_BIND, "^C", "procession-abandon", NULL);
	el_source(p->el, NULL);
	return true;
}

static void close_prompt(struct prompt *p)
{
	HistEvent event;

	if (p->history != NULL) {
		if (p->file[0] != '\0')
			history(p->history, &event, H_SAVE, p->file);
		history_end(p->history);
	}
	if (p->el != NULL)
		el_end(p->el);
}

/* The next line without its end; false: the user has left. */
static bool read_line(struct prompt *p, char *dst, size_t size, bool *ret_long)
{
	HistEvent event;
	int n = 0;
	const char *line = el_gets(p->el, &n);

	if (p->abandoned)
		line = "";
	else if (line == NULL || n <= 0)
		return false;
	*ret_long = (size_t)n >= size;
	snprintf(dst, size, "%.*s", (int)strcspn(line, "\r\n"), line);
	if (!p->abandoned && dst[strspn(dst, " \t")] != '\0')
		history(p->history, &event, H_ENTER, dst);
	return true;
}

static bool is_word(const char *line, const char *word)
{
	size_t n = strlen(word);

	return strncasecmp(line, word, n) == 0 && line[n + strspn(line + n, " \t;")] == '\0';
}

static void help(void)
{
	puts("A batch of T-SQL is sent by GO on a line of its own, or by a line that ends with a semicolon.\n"
	     "^C forgets what was typed, quit or ^D leaves. Some beginnings:\n"
	     "  SELECT name FROM sys.databases;\n"
	     "  USE StateService;\n"
	     "  EXEC sp_help;");
}

/* Words that are ours, at the beginning of a batch. False: the user leaves. */
static bool take_line(struct prompt *p, const char *line)
{
	struct sql *q = p->sql;
	unsigned times = 1;
	bool begins = cli_sqltext_is_empty(&q->text);

	if (begins && (is_word(line, "quit") || is_word(line, "exit") || is_word(line, "\\q")))
		return false;
	if (begins && (is_word(line, "help") || is_word(line, "\\h") || is_word(line, "?"))) {
		help();
		return true;
	}
	switch (cli_sqltext_add(&q->text, line, &times)) {
	case CLI_SQLTEXT_MORE: break;
	case CLI_SQLTEXT_NOMEM:
		fputs("procession: that is too long\n", stderr);
		cli_sqltext_reset(&q->text);
		break;
	case CLI_SQLTEXT_GO:
	case CLI_SQLTEXT_SEMICOLON:
		if (cli_sql_send(q, times) < 0)
			break; /* shown; the user goes on */
	}
	return true;
}

static void ask(struct prompt *p)
{
	char line[65536];
	bool more = true, too_long;

	while (more && read_line(p, line, sizeof(line), &too_long)) {
		if (p->abandoned || too_long) {
			if (too_long)
				fputs("procession: that line is too long\n", stderr);
			p->abandoned = false;
			cli_sqltext_reset(&p->sql->text);
		} else {
			more = take_line(p, line);
		}
	}
	putchar('\n');
}

int cli_sql_prompt(struct sql *q)
{
	struct prompt p = { .sql = q };

	if (!open_prompt(&p)) {
		close_prompt(&p);
		fputs("procession: this terminal cannot be used\n", stderr);
		q->status = EXIT_USAGE;
		return -1;
	}
	puts("help tells how; quit leaves");
	ask(&p);
	close_prompt(&p);
	return 0;
}
