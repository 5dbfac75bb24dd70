/* password.c — passwords: from a file, from standard input, from the terminal without echo, or
 * made from the kernel's random numbers. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <termios.h>
#include <unistd.h>

/* The first line of a stream, without its end. */
static int read_line(FILE *f, const char *what, char dst[PASSWORD_MAX], struct err *reterr)
{
	size_t n;

	if (fgets(dst, PASSWORD_MAX, f) == NULL)
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
				 "%s is empty; its first line should be the password", what);
	n = strcspn(dst, "\r\n");
	if (dst[n] == '\0' && n == PASSWORD_MAX - 1)
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
				 "the password in %s is longer than %d bytes", what, PASSWORD_MAX - 2);
	dst[n] = '\0';
	if (n == 0)
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1, "the password in %s is empty", what);
	return 0;
}

int cli_password_from_file(const char *path, char dst[PASSWORD_MAX], struct err *reterr)
{
	FILE *f = fopen(path, "re");
	int rc;

	if (f == NULL)
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
				 "cannot read the password file '%s': %s", path, strerror(errno));
	setvbuf(f, NULL, _IONBF, 0); /* no copy of the secret in a buffer of the library */
	rc = read_line(f, path, dst, reterr);
	fclose(f);
	return rc;
}

int cli_password_ask(const char *prompt, char dst[PASSWORD_MAX], struct err *reterr)
{
	FILE *tty = fopen("/dev/tty", "r+e");
	struct termios before, silent;
	int rc;

	if (tty == NULL || tcgetattr(fileno(tty), &before) != 0) {
		if (tty != NULL)
			fclose(tty);
		return err_raise(
			reterr, 50000, CLI_USAGE_SEVERITY, 1,
			"a password is needed and there is no terminal to ask; use --password-file FILE");
	}
	setvbuf(tty, NULL, _IONBF, 0);
	silent = before;
	silent.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK);
	fprintf(tty, "%s: ", prompt);
	tcsetattr(fileno(tty), TCSAFLUSH, &silent);
	rc = read_line(tty, "your answer", dst, reterr);
	tcsetattr(fileno(tty), TCSAFLUSH, &before);
	fputc('\n', tty);
	fclose(tty);
	return rc;
}

/* 24 characters of 64: 144 bits. No character that a shell or a connection string would take for
 * its own. */
static int generate(char dst[PASSWORD_MAX], struct err *reterr)
{
	static const char alphabet[64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned char bytes[24];

	_Static_assert(sizeof(alphabet) == 64 && sizeof(bytes) < PASSWORD_MAX, "six bits a character");
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
				 "the kernel gave no random numbers: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		dst[i] = alphabet[bytes[i] & 63];
	dst[sizeof(bytes)] = '\0';
	explicit_bzero(bytes, sizeof(bytes));
	return 0;
}

static int ask_twice(char dst[PASSWORD_MAX], struct err *reterr)
{
	char again[PASSWORD_MAX];
	int rc = cli_password_ask("New password", dst, reterr);

	if (rc == 0)
		rc = cli_password_ask("Once more", again, reterr);
	if (rc == 0 && strcmp(dst, again) != 0)
		rc = err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
			       "the two passwords differ; nothing was changed");
	explicit_bzero(again, sizeof(again));
	return rc;
}

int cli_password_choose(const struct cli *cli, char dst[PASSWORD_MAX], bool *ret_generated,
			struct err *reterr)
{
	*ret_generated = cli->generate;
	if (cli->generate && cli->password_stdin)
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
				 "--generate and --password-stdin exclude each other");
	if (cli->generate)
		return generate(dst, reterr);
	if (cli->password_stdin || isatty(STDIN_FILENO) == 0) {
		setvbuf(stdin, NULL, _IONBF, 0);
		return read_line(stdin, "standard input", dst, reterr);
	}
	return ask_twice(dst, reterr);
}
