/* sessions.c — whether the server answers, who is there, and ending a session. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/answer.h"

/* Any login may do this. The database is read from, so that a server whose threads hang does not
 * look well. */
static int ask(struct client *c, char *ret_name, size_t size, struct err *reterr)
{
	const struct client_arg args[] = { client_text(
		NULL, "SELECT @@SERVERNAME AS server, COUNT(*) AS databases FROM sys.databases") };
	struct client_result r;
	int rc = client_call(c, "sp_executesql", args, ARRAY_LEN(args), &r, reterr);

	if (rc == 0 && (r.ntables == 0 || r.tables[0].nrows != 1))
		rc = err_raise(reterr, 50000, 16, 1, "the server answered without a result");
	if (rc == 0)
		snprintf(ret_name, size, "%s", r.tables[0].cells[0] != NULL ? r.tables[0].cells[0] : "");
	client_result_fini(&r);
	return rc;
}

int cli_run_ping(struct cli *cli, const struct command *cmd)
{
	int64_t began_ms = clock_mono_ms();
	char name[256] = "";
	struct client *c;
	struct err e = { 0 };
	long long ms;
	int rc;

	(void)cmd;
	cli->connect_database = cli->database;
	if (cli_connect(cli, &c, &e) < 0)
		return cli_answer_failed(cli, &e, cli_connect_status(&e));
	rc = ask(c, name, sizeof(name), &e);
	client_close(c);
	if (rc < 0)
		return cli_answer_failed(cli, &e, EXIT_REFUSED);
	ms = clock_mono_ms() - began_ms;
	if (cli->json) {
		fputs("{\"ok\": true, \"server\": ", stdout);
		json_put_string(stdout, name);
		printf(", \"milliseconds\": %lld}\n", ms);
	} else {
		cli_output_text(stdout, name);
		printf(" answers (login and one question: %lld ms)\n", ms);
	}
	return EXIT_OK;
}

int cli_run_session_list(struct cli *cli, const struct command *cmd)
{
	const struct client_arg args[] = { client_text(
		NULL,
		"SELECT s.session_id AS session, s.login_name AS login, c.client_net_address AS address, "
		"s.host_name AS host, s.program_name AS program, DB_NAME(s.database_id) AS [database], "
		"s.status, r.command AS doing, DATEDIFF(second, s.last_request_start_time, GETUTCDATE()) AS "
		"seconds, r.blocking_session_id AS waits_for, s.login_time AS since FROM "
		"sys.dm_exec_sessions s LEFT JOIN sys.dm_exec_connections c ON c.session_id = s.session_id "
		"LEFT JOIN sys.dm_exec_requests r ON r.session_id = s.session_id ORDER BY s.session_id") };

	(void)cmd;
	return cli_answer_call(cli, "sp_executesql", args, ARRAY_LEN(args), NULL);
}

int cli_run_session_end(struct cli *cli, const struct command *cmd)
{
	char text[40];
	struct client_arg args[1];
	char *end;
	long n = strtol(cli->args[0], &end, 10);
	struct err e = { 0 };

	(void)cmd;
	if (*end != '\0' || n < 1 || n > 32767) {
		err_raise(&e, 50000, CLI_USAGE_SEVERITY, 1,
			  "'%s' is no number of a session; procession session list shows them", cli->args[0]);
		return cli_answer_failed(cli, &e, EXIT_USAGE);
	}
	snprintf(text, sizeof(text), "KILL %ld", n);
	args[0] = client_text(NULL, text);
	return cli_answer_call(cli, "sp_executesql", args, 1,
			       &(struct cli_outcome){ .done = "session ended" });
}
