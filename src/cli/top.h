/* top.h — `procession top`: what the numbers of a server say about the time between two looks at
 * them, on a screen that changes. topsample.c takes looks and compares them, topshow.c writes what
 * came of it, topscreen.c has the terminal, top.c is the command. */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "cli/cli.h"

#define TOP_BUCKETS 32
#define TOP_NAME 129
#define TOP_STATES 8 /* of documents; those that a server tells beyond are left out */

/* How long calls took, by upper bounds in seconds; counts are of all up to a bound. */
struct top_times {
	double bounds[TOP_BUCKETS], counts[TOP_BUCKETS];
	size_t n;
};

struct top_procedure {
	char database[TOP_NAME], name[TOP_NAME];
	double calls, errors, run_s; /* since the start; after top_compare(): a second */
	struct top_times waited, ran;
};

struct top_database {
	char name[TOP_NAME];
	bool up, has_items;
	double queue, transactions, file_bytes, log_bytes;
	double items, bytes, locks; /* of a state database */
	struct top_state {
		char name[32];
		double n;
	} jobs[TOP_STATES]; /* what there is of jobs, by state */
	size_t njobs;
	const char *jobs_of; /* what these are: documents, or scheduled_jobs; NULL: it has none */
	double calls;        /* of its procedures */
	struct top_times ran;
};

struct top_session {
	long number;
	char login[TOP_NAME], address[64], program[TOP_NAME], database[TOP_NAME], status[32], command[40];
	char since[40]; /* with the number, tells it from an earlier one */
	double requests;
};

/* One look, or what is between two: then counters are a second's. */
struct top_sample {
	char server[256], version[32];
	double uptime_s, elapsed_s;
	double calls, errors, queue, connections, connections_limit, cpu_s, memory, memory_limit, received,
		sent, logins, refused;
	double idle, running, logging_in; /* sessions by state */
	struct top_times waited, ran;
	struct top_procedure *procedures; /* owned */
	struct top_database *databases;   /* owned */
	struct top_session *sessions;     /* owned */
	size_t nprocedures, ndatabases, nsessions;
};

/* Looks once; ret is to be finished either way. */
MUST_CHECK int cli_top_look(struct client *c, struct top_sample *ret, struct err *reterr);
void cli_top_sample_fini(struct top_sample *s);
/* What happened between two: rates, times of that time alone; procedures by their slowest calls
 * first, sessions by their requests. Procedures that were not called are left out. ret is to be
 * finished either way. */
MUST_CHECK int cli_top_compare(const struct top_sample *before, const struct top_sample *after,
			       struct top_sample *ret, struct err *reterr);
/* The time, in ms, below which this part of the calls was; negative: there were none. */
double cli_top_quantile_ms(const struct top_times *t, double part);

/* As a screen of so many lines and columns; 0 lines: as many as there are. note: a last line. */
void cli_top_show(FILE *f, const struct top_sample *s, size_t lines, size_t columns, const char *note);
void cli_top_show_json(FILE *f, const struct top_sample *s);

/* The terminal as a whole screen, with keys that come at once. */
struct top_screen;
MUST_CHECK int cli_top_screen_open(struct top_screen **ret, struct err *reterr);
void cli_top_screen_close(struct top_screen *s); /* it is as it was; NULL is welcome */
void cli_top_screen_size(size_t *ret_lines, size_t *ret_columns);
/* Replaces what is shown, without flicker. */
void cli_top_screen_draw(struct top_screen *s, const char *text);
/* The terminal is given back, the program stops, and all is as before when it goes on. */
void cli_top_screen_suspend(struct top_screen *s);

#endif
