/* connect.c — which server, who, and with which password: options, then the environment, then
 * the data folder, then defaults. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Of errors by which a server says no, or we do in its place. */
#define REFUSED_SEVERITY 11

static const char *first_of(const char *option, const char *variable)
{
	const char *value = option != NULL ? option : getenv(variable);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* DIR/address, written by the server when it is ready. */
static int read_address(const char *dir, char *dst, size_t size, struct err *reterr)
{
	char path[4096];
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/address", dir) >= (int)sizeof(path))
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
				 "the name of the data folder is too long");
	f = fopen(path, "re");
	if (f == NULL)
		return err_raise(reterr, 50000, 16, 1,
				 "cannot read '%s': %s. Is a server running on that folder?", path,
				 strerror(errno));
	if (fgets(dst, (int)size, f) == NULL)
		dst[0] = '\0';
	fclose(f);
	dst[strcspn(dst, "\r\n")] = '\0';
	return 0;
}

/* "host", "host:port", "[::1]:port" taken apart in place. */
static int split_address(char *text, const char **ret_host, unsigned *ret_port, struct err *reterr)
{
	char *host = text, *colon = strrchr(text, ':'), *end = NULL;
	unsigned long port = 1433;

	if (text[0] == '[' && strchr(text, ']') != NULL) {
		char *close = strchr(text, ']');
		host = text + 1;
		*close = '\0';
		colon = close[1] == ':' ? close + 1 : NULL;
	} else if (colon != NULL && strchr(text, ':') != colon) {
		colon = NULL; /* a bare IPv6 address */
	}
	if (colon != NULL) {
		*colon = '\0';
		port = strtoul(colon + 1, &end, 10);
	}
	if (host[0] == '\0' || port == 0 || port > 65535 ||
	    (end != NULL && (*end != '\0' || end == colon + 1)))
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
				 "the server must be given as HOST:PORT, for example 127.0.0.1:1433");
	*ret_host = host;
	*ret_port = (unsigned)port;
	return 0;
}

static int find_address(const struct cli *cli, char *dst, size_t size, struct err *reterr)
{
	const char *given = cli->server != NULL || cli->data == NULL
				    ? first_of(cli->server, "PROCESSION_SERVER")
				    : NULL;

	if (given == NULL && cli->data != NULL)
		return read_address(cli->data, dst, size, reterr);
	if (snprintf(dst, size, "%s", given != NULL ? given : "127.0.0.1:1433") >= (int)size)
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1, "the name of the server is too long");
	return 0;
}

static int find_password(const struct cli *cli, const char *user, char dst[PASSWORD_MAX], struct err *reterr)
{
	const char *file = cli->password_file != NULL || cli->data == NULL
				   ? first_of(cli->password_file, "PROCESSION_PASSWORD_FILE")
				   : NULL;
	char path[4096], prompt[200];

	if (file != NULL)
		return cli_password_from_file(file, dst, reterr);
	if (cli->data != NULL && strcmp(user, "sa") == 0) {
		if (snprintf(path, sizeof(path), "%s/sa-password", cli->data) >= (int)sizeof(path))
			return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
					 "the name of the data folder is too long");
		if (cli_password_from_file(path, dst, reterr) == 0)
			return 0;
	}
	snprintf(prompt, sizeof(prompt), "Password of %.100s", user);
	return cli_password_ask(prompt, dst, reterr);
}

static int parse_timeout(const char *text, unsigned *ret, struct err *reterr)
{
	char *end = NULL;
	unsigned long n = text != NULL ? strtoul(text, &end, 10) : 60;

	if (text != NULL && (text[0] < '0' || text[0] > '9' || *end != '\0' || n == 0 || n > 86400))
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
				 "--timeout takes a number of seconds, 1 to 86400");
	*ret = (unsigned)n;
	return 0;
}

const struct cli_kind cli_kind_state = { "StateService", "proc_AddItem", "", "items" };
const struct cli_kind cli_kind_convert = { "WordAutomation", "proc_GetConversionBatch", "proc_GetItemCount",
					   "conversion jobs" };
const struct cli_kind cli_kind_translate = { "Translation", "proc_GetItemCount", "", "translation jobs" };
const struct cli_kind cli_kind_schedule = { "ScheduledJobs", "proc_MIP_GetScheduledJobs", "",
					    "scheduled jobs" };

void cli_connect_to(struct cli *cli, const struct cli_kind *kind, const char *database)
{
	cli->connect_database = database != NULL && database[0] != '\0' ? database : kind->database;
	cli->connect_kind = kind;
}

/* A database that somebody named may be of another kind: better said here than by the first
 * procedure that is not there. */
static int check_kind(const struct cli *cli, struct client *c, struct err *reterr)
{
	const struct cli_kind *k = cli->connect_kind;
	const struct client_arg args[] = { client_text(NULL, "SELECT OBJECT_ID(@has), OBJECT_ID(@lacks)"),
					   client_text(NULL, "@has nvarchar(128), @lacks nvarchar(128)"),
					   client_text("@has", k->has), client_text("@lacks", k->lacks) };
	struct client_result r;
	int rc = client_call(c, "sp_executesql", args, ARRAY_LEN(args), &r, reterr);

	if (rc == 0 && r.ntables > 0 && r.tables[0].nrows > 0 &&
	    (r.tables[0].cells[0] == NULL || r.tables[0].cells[1] != NULL))
		rc = err_raise(reterr, 2812, REFUSED_SEVERITY, 1,
			       "the database '%.128s' has no %s: give --database one of the kind %s "
			       "(procession database list shows them)",
			       cli->connect_database, k->things, k->database);
	client_result_fini(&r);
	return rc;
}

static int open_kind(const struct cli *cli, const struct client_options *o, struct client **ret,
		     struct err *reterr)
{
	struct client *c;

	if (client_open(o, &c, reterr) < 0)
		return -1;
	if (cli->connect_kind != NULL && strcmp(cli->connect_database, cli->connect_kind->database) != 0 &&
	    check_kind(cli, c, reterr) < 0) {
		client_close(c);
		return -1;
	}
	*ret = c;
	return 0;
}

int cli_connect(struct cli *cli, struct client **ret, struct err *reterr)
{
	char address[300], password[PASSWORD_MAX];
	const char *user = first_of(cli->user, "PROCESSION_USER");
	struct client_options o = { .application = "procession",
				    .encryption = cli->encrypt,
				    .ca_file = cli->ca_file,
				    .database = cli->connect_database };
	int rc;

	o.login = user != NULL ? user : "sa";
	o.password = password;
	if (cli->encrypt != NULL && strcmp(cli->encrypt, "off") != 0 &&
	    strcmp(cli->encrypt, "request") != 0 && strcmp(cli->encrypt, "require") != 0)
		return err_raise(reterr, 50000, CLI_USAGE_SEVERITY, 1,
				 "--encrypt takes off, request or require");
	if (parse_timeout(cli->timeout, &o.call_timeout_s, reterr) < 0 ||
	    find_address(cli, address, sizeof(address), reterr) < 0 ||
	    split_address(address, &o.host, &o.port, reterr) < 0 ||
	    find_password(cli, o.login, password, reterr) < 0)
		return -1;
	o.login_timeout_s = o.call_timeout_s < 15 ? o.call_timeout_s : 15;
	rc = open_kind(cli, &o, ret, reterr);
	explicit_bzero(password, sizeof(password));
	return rc;
}

int cli_connect_status(const struct err *e)
{
	return e->severity == CLI_USAGE_SEVERITY                      ? EXIT_USAGE
	       : e->severity == 14 || e->severity == REFUSED_SEVERITY ? EXIT_REFUSED
								      : EXIT_UNREACHABLE;
}
