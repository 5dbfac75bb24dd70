/* confcheck.c — `procession config check`: whether processiond would take its configuration file,
 * before somebody restarts it. Nothing is asked of a server. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/rows.h"
#include "config/config.h"

#define DEFAULT_FILE "/etc/procession/processiond.ini"
#define DEFAULT_DATA "/var/lib/procession"

/* The unit gives the data folder as a flag, so that the file need not. */
static int load(const struct cli *cli, const char *file, struct config **ret, struct err *reterr)
{
	char *argv[] = { "processiond", "--data",     (char *)(cli->data != NULL ? cli->data : DEFAULT_DATA),
			 "--config",    (char *)file, NULL };

	return config_load(file != NULL ? 5 : 3, argv, ret, reterr);
}

/* Files that the settings name, which the server would miss only when it starts. */
static int check_files(const struct config *c, struct err *reterr)
{
	const char *const files[][2] = { { "tls_certificate", c->tls_certificate },
					 { "tls_key", c->tls_key },
					 { "keytab", c->keytab },
					 { "ntlm_user_file", c->ntlm_user_file },
					 { "sa_password_file", c->sa_password_file } };

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (files[i][1][0] != '\0' && access(files[i][1], R_OK) != 0)
			return err_raise(reterr, 50000, 16, 1,
					 "%s names a file that cannot be read: '%.300s': %s", files[i][0],
					 files[i][1], strerror(errno));
	return 0;
}

static int show_changes(const struct cli *cli, const struct config *plain, const struct config *c,
			struct err *reterr)
{
	static const char *const names[] = { "setting", "value", "default" };
	char value[300], usual[300];
	struct cli_rows rows;
	const char *name;

	cli_rows_init(&rows, names, ARRAY_LEN(names));
	for (size_t i = 0; (name = config_next_change(plain, c, &i)) != NULL;) {
		config_value_text(c, name, value, sizeof(value));
		config_value_text(plain, name, usual, sizeof(usual));
		cli_rows_text(&rows, name);
		cli_rows_text(&rows, value);
		cli_rows_text(&rows, usual);
	}
	return cli_rows_show(&rows, cli->json, reterr);
}

int cli_run_config_check(struct cli *cli, const struct command *cmd)
{
	const char *file = cli->npaths > 0 ? cli->paths[0] : DEFAULT_FILE;
	struct config *plain = NULL, *c = NULL;
	struct err e = { 0 };
	int rc;

	(void)cmd;
	if (cli->npaths > 1) {
		fputs("procession: config check takes one file\n", stderr);
		return EXIT_USAGE;
	}
	rc = load(cli, file, &c, &e);
	if (rc == 0)
		rc = check_files(c, &e);
	if (rc == 0)
		rc = load(cli, NULL, &plain, &e);
	if (rc == 0 && !cli->json)
		printf("%s: processiond takes it; what differs from the defaults:\n", file);
	if (rc == 0)
		rc = show_changes(cli, plain, c, &e);
	config_free(plain);
	config_free(c);
	return rc == 0 ? EXIT_OK : cli_answer_failed(cli, &e, EXIT_REFUSED);
}
