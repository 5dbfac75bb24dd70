/* commands.c — each command is one administration procedure of the server; what it answers is
 * shown. */
#include <string.h>

#include "cli/answer.h"

/* ---- logins ---- */

/* login add and login passwd differ in their procedure and further arguments. args[0] and
 * args[1] are the name and the password. */
static int call_with_password(struct cli *cli, const char *proc, struct client_arg *args, size_t nargs,
			      const char *done)
{
	char password[PASSWORD_MAX];
	struct cli_outcome o = { .done = done, .login = cli->args[0] };
	struct err e = { 0 };
	bool generated;
	int status;

	if (cli_password_choose(cli, password, &generated, &e) < 0)
		return cli_answer_failed(cli, &e, EXIT_USAGE);
	args[0] = client_text("@name", cli->args[0]);
	args[1] = client_text("@password", password);
	if (generated)
		o.password = password;
	status = cli_answer_call(cli, proc, args, nargs, &o);
	explicit_bzero(password, sizeof(password));
	return status;
}

static int add_windows_login(struct cli *cli)
{
	const struct client_arg args[] = { client_text("@name", cli->args[0]), client_bit("@windows", true),
					   client_bit("@admin", cli->admin),
					   client_text("@default_database", cli->database) };
	struct err e;

	if (cli->generate || cli->password_stdin) {
		err_raise(&e, 50000, 16, 1,
			  "--windows excludes --generate and --password-stdin: such a login has no password");
		return cli_answer_failed(cli, &e, EXIT_USAGE);
	}
	return cli_answer_call(cli, "procession_login_add", args, ARRAY_LEN(args),
			       &(struct cli_outcome){ .done = "login added" });
}

int cli_run_login_add(struct cli *cli, const struct command *cmd)
{
	struct client_arg args[] = { { 0 },
				     { 0 },
				     client_bit("@admin", cli->admin),
				     client_text("@default_database", cli->database) };

	(void)cmd;
	if (cli->windows)
		return add_windows_login(cli);
	return call_with_password(cli, "procession_login_add", args, ARRAY_LEN(args), "login added");
}

int cli_run_login_passwd(struct cli *cli, const struct command *cmd)
{
	struct client_arg args[] = { { 0 }, { 0 } };

	(void)cmd;
	return call_with_password(cli, "procession_login_passwd", args, ARRAY_LEN(args), "password changed");
}

static int set_disabled(struct cli *cli, bool disabled)
{
	const struct client_arg args[] = { client_text("@name", cli->args[0]),
					   client_bit("@disabled", disabled) };

	return cli_answer_call(
		cli, "procession_login_disable", args, ARRAY_LEN(args),
		&(struct cli_outcome){ .done = disabled ? "login disabled" : "login enabled" });
}

int cli_run_login_disable(struct cli *cli, const struct command *cmd)
{
	(void)cmd;
	return set_disabled(cli, true);
}

int cli_run_login_enable(struct cli *cli, const struct command *cmd)
{
	(void)cmd;
	return set_disabled(cli, false);
}

int cli_run_login_remove(struct cli *cli, const struct command *cmd)
{
	const struct client_arg args[] = { client_text("@name", cli->args[0]) };

	(void)cmd;
	return cli_answer_call(cli, "procession_login_remove", args, ARRAY_LEN(args),
			       &(struct cli_outcome){ .done = "login removed" });
}

int cli_run_login_list(struct cli *cli, const struct command *cmd)
{
	(void)cmd;
	return cli_answer_call(cli, "procession_login_list", NULL, 0, NULL);
}

/* ---- databases and rights ---- */

int cli_run_database_create(struct cli *cli, const struct command *cmd)
{
	const struct client_arg args[] = { client_text("@name", cli->args[0]),
					   client_text("@service", cli->service),
					   client_text("@errata", cli->errata),
					   client_text("@commit", cli->commit),
					   client_text("@commit_interval", cli->commit_interval),
					   client_text("@renewal_slack", cli->renewal_slack) };

	(void)cmd;
	if (cli->service == NULL) {
		fputs("procession: --service is missing: word, translation, schedule or state\n", stderr);
		return EXIT_USAGE;
	}
	return cli_answer_call(cli, "procession_database_create", args, ARRAY_LEN(args),
			       &(struct cli_outcome){ .done = "database created" });
}

int cli_run_database_set(struct cli *cli, const struct command *cmd)
{
	const struct client_arg args[] = { client_text("@name", cli->args[0]),
					   client_text("@commit", cli->commit),
					   client_text("@commit_interval", cli->commit_interval),
					   client_text("@errata", cli->errata),
					   client_text("@renewal_slack", cli->renewal_slack) };

	(void)cmd;
	if (cli->commit == NULL && cli->errata == NULL && cli->commit_interval == NULL &&
	    cli->renewal_slack == NULL) {
		fputs("procession: nothing to set: give --commit, --commit-interval, --errata or "
		      "--renewal-slack\n",
		      stderr);
		return EXIT_USAGE;
	}
	return cli_answer_call(cli, "procession_database_set", args, ARRAY_LEN(args),
			       &(struct cli_outcome){ .done = "database changed" });
}

int cli_run_database_list(struct cli *cli, const struct command *cmd)
{
	(void)cmd;
	return cli_answer_call(cli, "procession_database_list", NULL, 0, NULL);
}

/* The report is "ok", or says what is damaged. */
static int judge_report(const struct client_result *r)
{
	for (size_t i = 0; i < r->ntables; i++) {
		const struct client_table *t = &r->tables[i];
		int column = client_column(t, "report");
		const char *report = column >= 0 && t->nrows > 0 ? t->cells[column] : NULL;
		if (report == NULL || strncmp(report, "ok", 2) != 0 ||
		    report[2 + strspn(report + 2, " \r\n")] != '\0')
			return EXIT_REFUSED;
	}
	return EXIT_OK;
}

int cli_run_database_check(struct cli *cli, const struct command *cmd)
{
	const struct client_arg args[] = { client_text("@name", cli->args[0]) };

	(void)cmd;
	return cli_answer_call(cli, "procession_database_check", args, ARRAY_LEN(args),
			       &(struct cli_outcome){ .judge = judge_report });
}

int cli_run_grant(struct cli *cli, const struct command *cmd)
{
	const struct client_arg args[] = { client_text("@login", cli->args[0]),
					   client_text("@database", cli->args[1]),
					   client_text("@rights", cli->args[2]) };

	(void)cmd;
	return cli_answer_call(cli, "procession_grant", args, ARRAY_LEN(args),
			       &(struct cli_outcome){ .done = "rights set" });
}

int cli_run_grant_list(struct cli *cli, const struct command *cmd)
{
	(void)cmd;
	return cli_answer_call(cli, "procession_grant_list", NULL, 0, NULL);
}

/* Whoever watches over a server by this command's status learns that a database is not as it
 * should be. */
static int judge_states(const struct client_result *r)
{
	for (size_t i = 0; i < r->ntables; i++) {
		const struct client_table *t = &r->tables[i];
		int column = client_column(t, "state");

		for (size_t row = 0; column >= 0 && row < t->nrows; row++) {
			const char *state = t->cells[row * t->ncols + (size_t)column];
			if (state != NULL && strcmp(state, "online") != 0 && strcmp(state, "elsewhere") != 0)
				return EXIT_REFUSED;
		}
	}
	return EXIT_OK;
}

int cli_run_status(struct cli *cli, const struct command *cmd)
{
	static const char *const titles[] = {
		"server", "servers", "databases", "numbers", "certificate", NULL
	};
	const struct client_arg args[] = { client_text(
		NULL, "SELECT @@SERVERNAME AS server, @@VERSION AS version, SUSER_SNAME() AS login; EXEC "
		      "procession_server_list; EXEC procession_database_list; "
		      "SELECT SUBSTRING(name, 12, 60) AS name, database_name AS [database], label, "
		      "CAST(value AS bigint) AS value "
		      "FROM sys.procession_numbers WHERE name IN ('procession_uptime_seconds', "
		      "'procession_queue_length', 'procession_sessions', 'procession_connections', "
		      "'procession_connections_limit', 'procession_logins_waiting', "
		      "'procession_memory_used_bytes', 'procession_memory_limit_bytes', "
		      "'procession_database_file_bytes', 'procession_wal_bytes', 'procession_job_items', "
		      "'procession_state_items', 'procession_state_bytes', 'procession_state_locks', "
		      "'procession_scheduled_jobs', "
		      "'procession_cleanup_pending'); "
		      "SELECT DATEADD(day, CAST(value / 86400 AS int), '1970-01-01') AS expires, "
		      "CAST(value / 86400 AS int) - DATEDIFF(day, '1970-01-01', GETUTCDATE()) AS days_left, "
		      "CASE WHEN value / 86400 - DATEDIFF(day, '1970-01-01', GETUTCDATE()) < 30 "
		      "THEN 'replace it soon, then send SIGHUP' ELSE '' END AS warning "
		      "FROM sys.procession_numbers WHERE name = "
		      "'procession_certificate_expiry_timestamp_seconds'") };

	(void)cmd;
	return cli_answer_call(cli, "sp_executesql", args, ARRAY_LEN(args),
			       &(struct cli_outcome){ .titles = titles, .judge = judge_states });
}
