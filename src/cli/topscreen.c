/* topscreen.c — the terminal as a screen of its own (the second one that terminals have),
 * without a cursor, with keys that arrive at once. What is done to it is undone by close, which
 * whoever opened it calls on every way out; ^C and ^Z are keys here, so that no signal comes in
 * between. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/top.h"

#define ENTER "\033[?1049h\033[?25l\033[?7l" /* second screen, no cursor, no wrapping */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

struct top_screen {
	struct termios before;
};

static void write_all(const char *text, size_t n)
{
	while (n > 0) {
		ssize_t took = write(STDOUT_FILENO, text, n);

		if (took < 0 && errno == EINTR)
			continue;
		if (took <= 0)
			return; /* the terminal is gone: reading says so */
		text += took;
		n -= (size_t)took;
	}
}

static int enter(const struct top_screen *s)
{
	struct termios raw = s->before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
	raw.c_iflag &= ~(tcflag_t)(IXON | ICRNL);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw) < 0)
		return -1;
	write_all(ENTER, strlen(ENTER));
	return 0;
}

static void leave(const struct top_screen *s)
{
	write_all(LEAVE, strlen(LEAVE));
	(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &s->before);
}

int cli_top_screen_open(struct top_screen **ret, struct err *reterr)
{
	struct top_screen *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return err_nomem(reterr);
	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &s->before) < 0 || enter(s) < 0) {
		free(s);
		return err_raise(
			reterr, 50000, CLI_USAGE_SEVERITY, 1,
			"top needs a terminal; --once shows one screen, --json the same for programs");
	}
	*ret = s;
	return 0;
}

void cli_top_screen_close(struct top_screen *s)
{
	if (s == NULL)
		return;
	leave(s);
	free(s);
}

void cli_top_screen_size(size_t *ret_lines, size_t *ret_columns)
{
	struct winsize w = { 0 };

	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
	*ret_lines = w.ws_row > 0 ? w.ws_row : 24;
	*ret_columns = w.ws_col > 0 ? w.ws_col : 80;
}

/* Line by line over the old ones, each erased to its end, then what is below. */
void cli_top_screen_draw(struct top_screen *s, const char *text)
{
	char *out = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&out, &size);

	(void)s;
	if (f == NULL)
		return;
	fputs("\033[H", f);
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");

		fprintf(f, "%.*s\033[K", (int)n, text);
		text += n;
		if (text[0] == '\n' && text[1] != '\0') /* none behind the last, which would scroll */
			fputs("\r\n", f);
		text += *text == '\n';
	}
	fputs("\033[J", f);
	fclose(f);
	write_all(out, size);
	free(out);
}

void cli_top_screen_suspend(struct top_screen *s)
{
	leave(s);
	raise(SIGSTOP);
	(void)enter(s);
}
