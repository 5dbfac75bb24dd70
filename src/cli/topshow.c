/* topshow.c — what `procession top` shows: a screen for people, an object for programs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/top.h"

#define HEAD_LINES 4
#define LEAST_LINES 3 /* of a table: title and two rows */

struct page {
	FILE *f;
	size_t lines, columns; /* 0 lines: any number */
	size_t used;
};

/* ---- numbers in few characters ---- */

static const char *short_number(char dst[24], double n)
{
	if (n < 0)
		snprintf(dst, 24, "-");
	else if (n < 9.995)
		snprintf(dst, 24, n > 0 && n < 0.995 ? "%.2f" : "%.1f", n);
	else if (n < 99.95)
		snprintf(dst, 24, "%.1f", n);
	else if (n < 1e6)
		snprintf(dst, 24, "%.0f", n);
	else if (n < 1e9)
		snprintf(dst, 24, "%.1f M", n / 1e6);
	else
		snprintf(dst, 24, "%.1f G", n / 1e9);
	return dst;
}

static const char *count(char dst[24], double n)
{
	snprintf(dst, 24, "%.0f", n);
	return dst;
}

static const char *bytes(char dst[24], double n)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	while (n >= 1023.5 && unit + 1 < ARRAY_LEN(units)) {
		n /= 1024;
		unit++;
	}
	snprintf(dst, 24, unit == 0 || n >= 99.5 ? "%.0f %s" : "%.1f %s", n, units[unit]);
	return dst;
}

/* ---- lines ---- */

/* A line of the screen, cut at its edge; text that came from a server is escaped. */
static void put_line(struct page *p, const char *text)
{
	if (p->lines != 0 && p->used == p->lines)
		return;
	cli_output_cell(p->f, text, p->columns, CLI_CUT);
	fputc('\n', p->f);
	p->used++;
}

struct cell {
	const char *text;
	int width; /* negative: to the right */
};

static void put_cells(struct page *p, const struct cell *cells, size_t n)
{
	char *line = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&line, &size);

	if (f == NULL)
		return;
	for (size_t i = 0; i < n; i++) {
		int width = cells[i].width;

		if (i > 0)
			fputs("  ", f);
		cli_output_cell(f, cells[i].text, (size_t)abs(width), width < 0 ? CLI_RIGHT : CLI_LEFT);
	}
	fclose(f);
	while (size > 0 && line[size - 1] == ' ')
		line[--size] = '\0';
	put_line(p, line);
	free(line);
}

/* ---- the head ---- */

static void put_title(struct page *p, const struct top_sample *s)
{
	time_t now = time(NULL);
	struct tm local;
	char clock[16] = "", line[512];
	long long up = (long long)s->uptime_s;

	if (localtime_r(&now, &local) != NULL)
		strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	snprintf(line, sizeof(line), "%s  %s  up %lld d %02lld:%02lld:%02lld  %s  q quits", s->server,
		 s->version, up / 86400, up / 3600 % 24, up / 60 % 60, up % 60, clock);
	put_line(p, line);
}

static void put_head(struct page *p, const struct top_sample *s)
{
	char a[24], b[24], c[24], d[24], e[24], f[24], line[512];

	put_title(p, s);
	snprintf(line, sizeof(line), "calls/s %s  errors/s %s  waited p50 %s p99 %s ms  ran p50 %s p99 %s ms",
		 short_number(a, s->calls), short_number(b, s->errors),
		 short_number(c, cli_top_quantile_ms(&s->waited, 0.5)),
		 short_number(d, cli_top_quantile_ms(&s->waited, 0.99)),
		 short_number(e, cli_top_quantile_ms(&s->ran, 0.5)),
		 short_number(f, cli_top_quantile_ms(&s->ran, 0.99)));
	put_line(p, line);
	snprintf(line, sizeof(line), "queue %.0f  sessions %.0f at work, %.0f idle  connections %.0f of %.0f",
		 s->queue, s->running, s->idle + s->logging_in, s->connections, s->connections_limit);
	put_line(p, line);
	snprintf(line, sizeof(line), "cpu %.0f %%  memory %s of %s  in %s/s  out %s/s  logins/s %s%s%s",
		 s->cpu_s * 100, bytes(a, s->memory), bytes(b, s->memory_limit), bytes(c, s->received),
		 bytes(d, s->sent), short_number(e, s->logins), s->refused > 0 ? " refused " : "",
		 s->refused > 0 ? short_number(f, s->refused) : "");
	put_line(p, line);
}

/* ---- tables ---- */

static void put_state(FILE *f, double n, const char *name, const char **between)
{
	if (n <= 0)
		return;
	fprintf(f, "%s%.0f %s", *between, n, name);
	*between = ", ";
}

/* What is in a database; of documents that have ended only those that failed. */
static char *contents(const struct top_database *d)
{
	char *text = NULL, size[24];
	size_t n = 0;
	const char *between = "";
	FILE *f = open_memstream(&text, &n);

	if (f == NULL)
		return NULL;
	if (!d->up)
		fputs("DAMAGED: procession database list", f);
	if (d->has_items)
		fprintf(f, "%.0f items, %s, %.0f locked", d->items, bytes(size, d->bytes), d->locks);
	for (size_t i = 0; i < d->njobs; i++) {
		if (strcmp(d->jobs[i].name, "succeeded") != 0)
			put_state(f, d->jobs[i].n, d->jobs[i].name, &between);
	}
	if (d->jobs_of != NULL && between[0] == '\0')
		fputs("nothing waits", f);
	fclose(f);
	return text;
}

static void put_database(struct page *p, const struct top_database *d)
{
	char calls[24], queue[24], p99[24], size[24], log[24], *what = contents(d);

	put_cells(p,
		  (const struct cell[]){ { d->name, 14 },
					 { short_number(calls, d->calls), -7 },
					 { count(queue, d->queue), -5 },
					 { short_number(p99, cli_top_quantile_ms(&d->ran, 0.99)), -7 },
					 { bytes(size, d->file_bytes), -8 },
					 { bytes(log, d->log_bytes), -8 },
					 { what == NULL ? "" : what, 60 } },
		  7);
	free(what);
}

static void put_databases(struct page *p, const struct top_sample *s, size_t rows)
{
	put_cells(p,
		  (const struct cell[]){ { "DATABASE", 14 },
					 { "CALLS/S", -7 },
					 { "QUEUE", -5 },
					 { "P99 MS", -7 },
					 { "SIZE", -8 },
					 { "LOG", -8 },
					 { "CONTENTS", 40 } },
		  7);
	for (size_t i = 0; i < s->ndatabases && i < rows; i++)
		put_database(p, &s->databases[i]);
}

/* Names have what a screen of more than 80 columns has more. */
static int procedure_width(const struct page *p)
{
	return p->columns <= 80 ? 25 : p->columns < 89 ? (int)p->columns - 55 : 34;
}

static int database_width(const struct page *p)
{
	return p->columns <= 89 ? 12 : p->columns < 97 ? (int)p->columns - 77 : 20;
}

static void put_procedure(struct page *p, const struct top_procedure *q)
{
	char calls[24], errors[24], waited[24], median[24], ran[24];

	put_cells(p,
		  (const struct cell[]){ { q->name, procedure_width(p) },
					 { q->database, database_width(p) },
					 { short_number(calls, q->calls), -7 },
					 { short_number(errors, q->errors), -5 },
					 { short_number(waited, cli_top_quantile_ms(&q->waited, 0.99)), -6 },
					 { short_number(median, cli_top_quantile_ms(&q->ran, 0.5)), -6 },
					 { short_number(ran, cli_top_quantile_ms(&q->ran, 0.99)), -7 } },
		  7);
}

static void put_procedures(struct page *p, const struct top_sample *s, size_t rows)
{
	put_cells(p,
		  (const struct cell[]){ { "SLOWEST PROCEDURES", procedure_width(p) },
					 { "DATABASE", database_width(p) },
					 { "CALLS/S", -7 },
					 { "ERR/S", -5 },
					 { "WAITED", -6 },
					 { "P50 MS", -6 },
					 { "P99 MS", -7 } },
		  7);
	for (size_t i = 0; i < s->nprocedures && i < rows; i++)
		put_procedure(p, &s->procedures[i]);
}

static void put_session(struct page *p, const struct top_session *t)
{
	char number[24], requests[24];

	put_cells(p,
		  (const struct cell[]){ { count(number, (double)t->number), -7 },
					 { t->login, 14 },
					 { t->address, 15 },
					 { t->database, 14 },
					 { short_number(requests, t->requests), -6 },
					 { t->command[0] != '\0' ? t->command : t->status, 14 } },
		  6);
}

static void put_sessions(struct page *p, const struct top_sample *s, size_t rows)
{
	put_cells(p,
		  (const struct cell[]){ { "SESSION", -7 },
					 { "LOGIN", 14 },
					 { "FROM", 15 },
					 { "DATABASE", 14 },
					 { "REQ/S", -6 },
					 { "DOING", 14 } },
		  6);
	for (size_t i = 0; i < s->nsessions && i < rows; i++)
		put_session(p, &s->sessions[i]);
}

/* Lines for three tables: what one does not need the others have. */
static void share(size_t room, const size_t wanted[3], size_t ret[3])
{
	for (size_t i = 0; i < 3; i++) {
		size_t part = room / (3 - i), rest = 0;

		for (size_t k = i + 1; k < 3; k++)
			rest += wanted[k];
		if (room > rest && room - rest > part)
			part = room - rest;
		ret[i] = wanted[i] < part ? wanted[i] : part;
		room -= ret[i];
	}
}

void cli_top_show(FILE *f, const struct top_sample *s, size_t lines, size_t columns, const char *note)
{
	struct page p = { .f = f, .lines = lines, .columns = columns };
	const size_t wanted[] = { s->ndatabases, s->nprocedures, s->nsessions };
	size_t fixed = HEAD_LINES + 2 * LEAST_LINES + (note != NULL), rows[3];

	share(lines == 0      ? s->ndatabases + s->nprocedures + s->nsessions
	      : lines > fixed ? lines - fixed
			      : 0,
	      wanted, rows);
	put_head(&p, s);
	put_line(&p, "");
	put_databases(&p, s, rows[0]);
	put_line(&p, "");
	put_procedures(&p, s, rows[1]);
	put_line(&p, "");
	put_sessions(&p, s, rows[2]);
	if (note != NULL)
		put_line(&p, note);
}

/* ---- for programs ---- */

static void put_ms(FILE *f, const char *name, const struct top_times *t)
{
	double median = cli_top_quantile_ms(t, 0.5), most = cli_top_quantile_ms(t, 0.99);

	if (median < 0)
		fprintf(f, ", \"%s\": null", name);
	else
		fprintf(f, ", \"%s\": {\"p50\": %.3f, \"p99\": %.3f}", name, median, most);
}

static void put_text(FILE *f, const char *name, const char *text, const char *before)
{
	fprintf(f, "%s\"%s\": ", before, name);
	json_put_string(f, text);
}

static void put_database_json(FILE *f, const struct top_database *d)
{
	put_text(f, "database", d->name, "{");
	fprintf(f,
		", \"up\": %s, \"calls_per_second\": %.3f, \"queue\": %.0f, \"transactions\": %.0f, "
		"\"file_bytes\": %.0f, \"log_bytes\": %.0f",
		d->up ? "true" : "false", d->calls, d->queue, d->transactions, d->file_bytes, d->log_bytes);
	put_ms(f, "ran_ms", &d->ran);
	if (d->has_items)
		fprintf(f, ", \"items\": %.0f, \"bytes\": %.0f, \"locks\": %.0f", d->items, d->bytes,
			d->locks);
	if (d->jobs_of != NULL)
		fprintf(f, ", \"%s\": {", d->jobs_of);
	for (size_t i = 0; i < d->njobs; i++) {
		fputs(i > 0 ? ", " : "", f);
		json_put_string(f, d->jobs[i].name);
		fprintf(f, ": %.0f", d->jobs[i].n);
	}
	fputs(d->jobs_of != NULL ? "}}" : "}", f);
}

static void put_procedure_json(FILE *f, const struct top_procedure *q)
{
	put_text(f, "procedure", q->name, "{");
	put_text(f, "database", q->database, ", ");
	fprintf(f,
		", \"calls_per_second\": %.3f, \"errors_per_second\": %.3f, \"run_seconds_per_second\": %.6f",
		q->calls, q->errors, q->run_s);
	put_ms(f, "waited_ms", &q->waited);
	put_ms(f, "ran_ms", &q->ran);
	fputc('}', f);
}

static void put_session_json(FILE *f, const struct top_session *t)
{
	fprintf(f, "{\"session\": %ld", t->number);
	put_text(f, "login", t->login, ", ");
	put_text(f, "address", t->address, ", ");
	put_text(f, "program", t->program, ", ");
	put_text(f, "database", t->database, ", ");
	put_text(f, "status", t->status, ", ");
	put_text(f, "command", t->command, ", ");
	fprintf(f, ", \"requests_per_second\": %.3f}", t->requests);
}

static void put_server_json(FILE *f, const struct top_sample *s)
{
	put_text(f, "server", s->server, "{");
	put_text(f, "version", s->version, ", ");
	fprintf(f,
		", \"uptime_seconds\": %.3f, \"interval_seconds\": %.3f, \"calls_per_second\": %.3f, "
		"\"errors_per_second\": %.3f, \"queue\": %.0f, \"connections\": %.0f, \"connections_limit\": "
		"%.0f, \"cpu_percent\": %.1f, \"memory_used_bytes\": %.0f, \"memory_limit_bytes\": %.0f, "
		"\"received_bytes_per_second\": %.0f, \"sent_bytes_per_second\": %.0f, "
		"\"logins_per_second\": %.3f, \"logins_refused_per_second\": %.3f, \"sessions\": {\"login\": "
		"%.0f, \"idle\": %.0f, \"running\": %.0f}",
		s->uptime_s, s->elapsed_s, s->calls, s->errors, s->queue, s->connections,
		s->connections_limit, s->cpu_s * 100, s->memory, s->memory_limit, s->received, s->sent,
		s->logins, s->refused, s->logging_in, s->idle, s->running);
	put_ms(f, "waited_ms", &s->waited);
	put_ms(f, "ran_ms", &s->ran);
}

void cli_top_show_json(FILE *f, const struct top_sample *s)
{
	put_server_json(f, s);
	fputs(", \"databases\": [", f);
	for (size_t i = 0; i < s->ndatabases; i++) {
		fputs(i > 0 ? ", " : "", f);
		put_database_json(f, &s->databases[i]);
	}
	fputs("], \"slowest_procedures\": [", f);
	for (size_t i = 0; i < s->nprocedures; i++) {
		fputs(i > 0 ? ", " : "", f);
		put_procedure_json(f, &s->procedures[i]);
	}
	fputs("], \"busiest_sessions\": [", f);
	for (size_t i = 0; i < s->nsessions; i++) {
		fputs(i > 0 ? ", " : "", f);
		put_session_json(f, &s->sessions[i]);
	}
	fputs("]}\n", f);
}
