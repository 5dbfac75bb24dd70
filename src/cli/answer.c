/* answer.c — see answer.h. */
#include "cli/answer.h"

#include <assert.h>

int cli_answer_failed(const struct cli *cli, const struct err *e, int status)
{
	cli_output_error(e, cli->json);
	return status;
}

/* Remarks of the server go to standard error, so that standard output holds results only. */
static void show_messages(const struct client_result *r)
{
	for (size_t i = 0; i < r->nmessages; i++)
		cli_output_note(r->messages[i].text);
}

static void show_outcome(const struct cli *cli, const struct cli_outcome *o)
{
	if (!cli->json) {
		if (o->password != NULL)
			printf("login %s, password %s\n", o->login, o->password);
		else
			puts(o->done);
		return;
	}
	fputs("{\"ok\": true", stdout);
	if (o->password != NULL) {
		fputs(", \"login\": ", stdout);
		json_put_string(stdout, o->login);
		fputs(", \"password\": ", stdout);
		json_put_string(stdout, o->password);
	}
	fputs("}\n", stdout);
}

void cli_answer_done(const struct cli *cli, const char *text)
{
	show_outcome(cli, &(struct cli_outcome){ .done = text });
}

static void show_tables(const struct cli *cli, const struct client_result *r, const char *const *titles)
{
	bool titled = cli->json && titles != NULL;

	for (size_t i = 0; i < r->ntables && (!titled || titles[i] != NULL); i++) {
		if (titled)
			printf("%s\"%s\": ", i == 0 ? "{" : ",", titles[i]);
		else if (!cli->json && i > 0)
			putchar('\n');
		cli_output_table(&r->tables[i], cli->json);
	}
	if (titled && r->ntables > 0)
		puts("}");
}

int cli_answer_begin(struct client *c, const char *proc, const struct client_arg *args, size_t nargs,
		     char *ret_id, size_t size, struct err *reterr)
{
	struct client_result r;
	int rc = client_call(c, proc, args, nargs, &r, reterr), column = -1;

	if (rc == 0 && r.ntables == 1 && r.tables[0].nrows == 1)
		column = client_column(&r.tables[0], "id");
	assert(column < 0 || (size_t)column < r.tables[0].ncols);
	if (rc == 0 && (column < 0 || r.tables[0].cells[column] == NULL))
		rc = err_raise(reterr, 50000, 16, 1, "the server began nothing");
	if (rc == 0)
		snprintf(ret_id, size, "%s", r.tables[0].cells[column]);
	client_result_fini(&r);
	return rc;
}

void cli_answer_end(struct client *c, const char *proc, const char *id, const char *untold)
{
	const struct client_arg args[] = { client_text("@id", id) };
	struct client_result r;
	struct err ignored;

	if (client_call(c, proc, args, ARRAY_LEN(args), &r, &ignored) < 0)
		cli_output_note(untold);
	client_result_fini(&r);
}

int cli_answer_call(struct cli *cli, const char *proc, const struct client_arg *args, size_t nargs,
		    const struct cli_outcome *o)
{
	struct client *c;
	struct client_result r;
	struct err e = { 0 };
	int status = EXIT_OK;

	if (cli_connect(cli, &c, &e) < 0)
		return cli_answer_failed(cli, &e, cli_connect_status(&e));
	if (client_call(c, proc, args, nargs, &r, &e) < 0)
		status = cli_answer_failed(cli, &e, EXIT_REFUSED);
	show_tables(cli, &r, o != NULL ? o->titles : NULL);
	show_messages(&r);
	if (r.has_status && r.status != 0)
		status = EXIT_REFUSED;
	if (status == EXIT_OK && o != NULL && o->judge != NULL)
		status = o->judge(&r);
	if (status == EXIT_OK && r.ntables == 0 && o != NULL && o->done != NULL)
		show_outcome(cli, o);
	client_result_fini(&r);
	client_close(c);
	return status;
}
