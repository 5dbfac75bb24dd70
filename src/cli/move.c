/* move.c — `procession database move`: lets the server move a database to the other engine, shows
 * how far it has come, and breaks it off when it is told to end. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/answer.h"

#define LOOK_NS 200000000 /* between two looks */

/* global: a signal handler can tell nobody else */
static volatile sig_atomic_t told_to_end;

static void on_signal(int sig)
{
	(void)sig;
	told_to_end = 1;
}

static void catch_signals(void)
{
	struct sigaction a = { .sa_handler = on_signal };

	sigemptyset(&a.sa_mask);
	sigaction(SIGINT, &a, NULL);
	sigaction(SIGTERM, &a, NULL);
}

/* What the server says of the move. */
struct look {
	char state[16], phase[16], note[600], reason[1024];
	unsigned long long rows, total, bytes, changed, held_ms, seconds;
};

static const char *cell(const struct client_table *t, const char *name)
{
	int column = client_column(t, name);

	return column < 0 || t->cells[column] == NULL ? "" : t->cells[column];
}

static unsigned long long number(const struct client_table *t, const char *name)
{
	return strtoull(cell(t, name), NULL, 10);
}

static int look(struct client *c, const char *id, struct look *ret, struct err *reterr)
{
	struct client_result r;
	int rc = client_call(c, "procession_database_move_state", NULL, 0, &r, reterr);
	const struct client_table *t = r.ntables > 0 ? &r.tables[0] : NULL;

	if (rc == 0 && (t == NULL || t->nrows == 0 || strcmp(cell(t, "id"), id) != 0))
		rc = err_raise(reterr, 50000, 16, 1,
			       "the server knows of no such move any more; was it restarted?");
	if (rc == 0) {
		*ret = (struct look){ .rows = number(t, "rows"),
				      .total = number(t, "total"),
				      .bytes = number(t, "bytes"),
				      .changed = number(t, "changed"),
				      .held_ms = number(t, "held_ms"),
				      .seconds = number(t, "seconds") };
		snprintf(ret->state, sizeof(ret->state), "%s", cell(t, "state"));
		snprintf(ret->phase, sizeof(ret->phase), "%s", cell(t, "phase"));
		snprintf(ret->note, sizeof(ret->note), "%s", cell(t, "note"));
		snprintf(ret->reason, sizeof(ret->reason), "%s", cell(t, "reason"));
	}
	client_result_fini(&r);
	return rc;
}

/* ---- what people see ---- */

struct shown {
	bool terminal, quiet;
	char phase[16];
	unsigned long long begun_s; /* this phase */
};

static void put_left(const struct look *l, const struct shown *s)
{
	unsigned long long spent = l->seconds - s->begun_s;

	if (l->rows > 0 && l->rows < l->total && spent >= 2)
		fprintf(stderr, ", about %llu s left", spent * (l->total - l->rows) / l->rows + 1);
}

static void put_words(const struct look *l, const struct shown *s)
{
	if (strcmp(l->phase, "copying") == 0 || strcmp(l->phase, "verifying") == 0) {
		fprintf(stderr, "%s: %llu of %llu rows", l->phase, l->rows, l->total);
		if (l->phase[0] == 'c')
			fprintf(stderr, ", %.1f MB", (double)l->bytes / 1e6);
		put_left(l, s);
	} else if (strcmp(l->phase, "following") == 0) {
		fprintf(stderr, "following: %llu rows copied again", l->changed);
	} else if (strcmp(l->phase, "switching") == 0) {
		fputs("switching: waiting for transactions and calls that are under way", stderr);
	} else {
		fputs("moved; removing what is left behind", stderr);
	}
}

/* One line that changes on a terminal, a line a phase elsewhere. */
static void show(const struct look *l, struct shown *s)
{
	bool fresh = strcmp(s->phase, l->phase) != 0;

	if (fresh) {
		snprintf(s->phase, sizeof(s->phase), "%s", l->phase);
		s->begun_s = l->seconds;
	}
	if (s->quiet || (!s->terminal && !fresh))
		return;
	if (s->terminal)
		fputs("\r\033[K", stderr);
	put_words(l, s);
	if (!s->terminal)
		fputc('\n', stderr);
	fflush(stderr);
}

static void show_end(const struct cli *cli, const struct look *l, const struct shown *s)
{
	if (s->terminal && !s->quiet)
		fputs("\r\033[K", stderr);
	if (cli->json) {
		fputs("{\"ok\": true, \"database\": ", stdout);
		json_put_string(stdout, cli->args[0]);
		fputs(", \"to\": ", stdout);
		json_put_string(stdout, cli->to);
		printf(", \"rows\": %llu, \"bytes\": %llu, \"changed\": %llu, \"seconds\": %llu, "
		       "\"held_ms\": %llu, "
		       "\"note\": ",
		       l->total, l->bytes, l->changed, l->seconds, l->held_ms);
		json_put_string(stdout, l->note);
		fputs("}\n", stdout);
		return;
	}
	cli_output_text(stdout, cli->args[0]);
	printf(": moved to %s, %llu rows compared, in %llu s; calls were held for %llu ms\n", cli->to,
	       l->total, l->seconds, l->held_ms);
	if (l->note[0] != '\0') {
		fputs("note: ", stdout);
		cli_output_text(stdout, l->note);
		fputc('\n', stdout);
	}
}

/* ---- the command ---- */

static int begin(const struct cli *cli, struct client *c, char *ret_id, size_t size, struct err *reterr)
{
	const struct client_arg args[] = { client_text("@name", cli->args[0]), client_text("@to", cli->to) };

	return cli_answer_begin(c, "procession_database_move_begin", args, ARRAY_LEN(args), ret_id, size,
				reterr);
}

/* Until it is over, one way or the other. */
static int watch(struct client *c, const char *id, struct look *l, struct shown *s, struct err *reterr)
{
	const struct timespec pause = { 0, LOOK_NS };
	bool said = false;

	while (look(c, id, l, reterr) == 0) {
		if (strcmp(l->state, "running") != 0)
			return strcmp(l->state, "moved") == 0
				       ? 0
				       : err_raise(reterr, 50021, 16, 1, "%s",
						   told_to_end ? "broken off; the database is where it was"
							       : l->reason);
		show(l, s);
		if (told_to_end && !said) {
			cli_answer_end(
				c, "procession_database_move_end", id,
				"procession: the server was not told; it breaks the move off in ten seconds");
			said = true;
		}
		nanosleep(&pause, NULL);
	}
	return -1;
}

int cli_run_database_move(struct cli *cli, const struct command *cmd)
{
	struct shown s = { .terminal = isatty(STDERR_FILENO) == 1, .quiet = cli->json };
	struct look l = { .rows = 0 };
	struct err e = { 0 };
	struct client *c;
	char id[64];
	int rc;

	(void)cmd;
	if (cli->to == NULL) {
		fputs("procession: --to is missing: postgres or sqlite\n", stderr);
		return EXIT_USAGE;
	}
	if (cli_connect(cli, &c, &e) < 0)
		return cli_answer_failed(cli, &e, cli_connect_status(&e));
	catch_signals();
	rc = begin(cli, c, id, sizeof(id), &e);
	if (rc == 0)
		rc = watch(c, id, &l, &s, &e);
	client_close(c);
	if (rc == 0) {
		show_end(cli, &l, &s);
		return EXIT_OK;
	}
	if (s.terminal && !s.quiet)
		fputs("\r\033[K", stderr);
	return cli_answer_failed(cli, &e, EXIT_REFUSED);
}
