/* sql.c — `procession sql`: a small client for a machine that has no other. Batches come from -c,
 * from standard input, or from somebody at a terminal (sqlprompt.c); results are tables or JSON. */
#include "cli/sql.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/answer.h"

/* ---- what comes back ---- */

static void show_error(const struct sql *q, const struct err *e)
{
	int line = e->line > 0 && e->proc[0] == '\0' && q->numbered ? e->line + (int)q->first_line - 1
								    : e->line;

	if (q->cli->json) {
		fprintf(stderr, "{\"error\": %d, \"line\": %d, \"text\": ", (int)e->number, line);
		json_put_string(stderr, e->text);
		fputs("}\n", stderr);
		return;
	}
	fprintf(stderr, "procession: error %d", (int)e->number);
	if (e->proc[0] != '\0') {
		fputs(" in ", stderr);
		cli_output_text(stderr, e->proc);
	}
	if (line > 0)
		fprintf(stderr, ", line %d", line);
	fputs(": ", stderr);
	cli_output_text(stderr, e->text);
	fputc('\n', stderr);
}

static void show_as_tables(const struct client_result *r)
{
	for (size_t i = 0; i < r->ntables; i++) {
		cli_output_table(&r->tables[i], false);
		printf("(%zu row%s)\n\n", r->tables[i].nrows, r->tables[i].nrows == 1 ? "" : "s");
	}
	fflush(stdout);
	for (size_t i = 0; i < r->nmessages; i++)
		cli_output_note(r->messages[i].text);
	if (r->has_status && r->status != 0)
		fprintf(stderr, "status %d\n", (int)r->status);
}

/* One value a batch. */
static void show_as_json(const struct client_result *r)
{
	fputs("{\"results\": [", stdout);
	for (size_t i = 0; i < r->ntables; i++) {
		fputs(i > 0 ? "," : "", stdout);
		cli_output_table(&r->tables[i], true);
	}
	fputs("], \"messages\": [", stdout);
	for (size_t i = 0; i < r->nmessages; i++) {
		fputs(i > 0 ? ", " : "", stdout);
		json_put_string(stdout, r->messages[i].text);
	}
	fputs("]", stdout);
	if (r->has_status)
		printf(", \"status\": %d", (int)r->status);
	fputs("}\n", stdout);
	fflush(stdout);
}

/* ---- sending ---- */

static int send_once(struct sql *q, const char *text)
{
	struct client_result r = { 0 };
	struct err e = { 0 };
	int rc = 0;

	if (q->client == NULL && cli_connect(q->cli, &q->client, &e) < 0) {
		q->status = cli_connect_status(&e);
		show_error(q, &e);
		return -1;
	}
	rc = client_batch(q->client, text, &r, &e);
	if (rc == 0 || r.ntables > 0 || r.nmessages > 0)
		(q->cli->json ? show_as_json : show_as_tables)(&r);
	client_result_fini(&r);
	if (rc == 0)
		return 0;
	show_error(q, &e);
	q->status = client_is_lost(&e) ? EXIT_UNREACHABLE : EXIT_REFUSED;
	if (client_is_lost(&e)) {
		client_close(q->client);
		q->client = NULL;
	}
	return -1;
}

int cli_sql_send(struct sql *q, unsigned times)
{
	const char *text = cli_sqltext_is_empty(&q->text) ? NULL : cli_sqltext_batch(&q->text);
	int rc = 0;

	for (; text != NULL && rc == 0 && times > 0; times--)
		rc = send_once(q, text);
	cli_sqltext_reset(&q->text);
	q->first_line = q->line + 1;
	return rc;
}

/* ---- texts that nobody types ---- */

static int too_long(struct sql *q)
{
	fputs("procession: a batch is longer than 64 MiB, or there is no memory for it\n", stderr);
	q->status = EXIT_USAGE;
	return -1;
}

/* A script has semicolons inside of its batches: only GO ends one. What follows a batch that failed
 * is not run. */
static int run_line(struct sql *q, const char *line)
{
	unsigned times = 1;
	enum cli_sqltext_end end = cli_sqltext_add(&q->text, line, &times);

	q->line++;
	if (end == CLI_SQLTEXT_NOMEM)
		return too_long(q);
	return end == CLI_SQLTEXT_GO ? cli_sql_send(q, times) : 0;
}

static int run_script(struct sql *q, FILE *f)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	int rc = 0;

	q->numbered = true;
	while (rc == 0 && (n = getline(&line, &size, f)) >= 0) {
		if (n > 0 && line[n - 1] == '\n')
			line[--n] = '\0';
		if (strlen(line) != (size_t)n) {
			fputs("procession: the input is no text: it has a NUL in it\n", stderr);
			q->status = EXIT_USAGE;
			rc = -1;
		} else {
			rc = run_line(q, line);
		}
	}
	free(line);
	return rc < 0 ? -1 : cli_sql_send(q, 1);
}

static int run_text(struct sql *q, const char *text)
{
	FILE *f = text[0] == '\0' ? NULL : fmemopen((void *)text, strlen(text), "r");
	int rc;

	if (f == NULL) {
		fputs("procession: -c needs a text\n", stderr);
		q->status = EXIT_USAGE;
		return -1;
	}
	rc = run_script(q, f);
	fclose(f);
	return rc;
}

int cli_run_sql(struct cli *cli, const struct command *cmd)
{
	struct sql q = { .cli = cli, .first_line = 1 };
	struct err e = { 0 };
	int rc;

	(void)cmd;
	cli->connect_database = cli->database;
	if (cli_connect(cli, &q.client, &e) < 0)
		return cli_answer_failed(cli, &e, cli_connect_status(&e));
	cli_sqltext_init(&q.text);
	if (cli->text != NULL)
		rc = run_text(&q, cli->text);
	else if (isatty(STDIN_FILENO) != 0 && !cli->json)
		rc = cli_sql_prompt(&q);
	else
		rc = run_script(&q, stdin);
	cli_sqltext_fini(&q.text);
	client_close(q.client);
	return rc < 0 ? q.status : EXIT_OK;
}
