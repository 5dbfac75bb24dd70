/* proc.h — what a procedure is. The instances are generated from procedures/ by tools/procgen.py
 * into constant tables. */
#ifndef CATALOGUE_PROC_H
#define CATALOGUE_PROC_H

#include "call/call.h"
#include "call/sink.h"

/* The services; a database belongs to one. SYSTEM procedures can be called from every database
 * and run in the system store. */
enum service {
	SERVICE_SYSTEM,
	SERVICE_WORD,
	SERVICE_TRANSLATION,
	SERVICE_SCHEDULE,
	SERVICE_STATE,
	SERVICE_COUNT
};

enum null_rule {
	NULL_OK,    /* NULL is a value like others, or matches nothing */
	NULL_ERROR, /* 515 [E-COM-02] */
};

struct param {
	const char *name; /* "@id" */
	struct type type;
	bool output;
	bool has_default; /* the default is NULL, or default_int for 0/1-like ones */
	bool default_is_null;
	int64_t default_int;
	enum null_rule null_rule;
	/* Range of an integer parameter, checked in the gate; range_error 0: none. */
	int64_t min, max;
	int32_t range_error;    /* number */
	const char *range_text; /* message */
	uint8_t range_severity; /* class; 0: 16 */
	bool any_length;        /* text longer than declared is the procedure's own matter, not 8152 */
};

/* One SQL statement with the places where values go in. Text differs by store dialect only
 * inside the store. */
enum bind_source {
	BIND_PARAM,   /* index: parameter (outputs and locals included: locals follow the parameters) */
	BIND_TRIMMED, /* index: text parameter or local, without its trailing spaces */
	BIND_NOW,     /* clock reading of the call, ticks */
	BIND_LITERAL, /* 1 when errata = literal, else 0 */
	BIND_SLACK,   /* renewal_slack of the database, in ticks */
	BIND_FIELD,   /* index: field of the current row of an EACH step */
	BIND_LOGIN,
	BIND_DATABASE, /* who calls, and from where (system procedures) */
};
struct bind {
	uint8_t source;
	uint16_t index;
};
struct statement {
	const char *sql; /* SQL with ?1, ?2 … in the order of binds */
	const struct bind *binds;
	uint16_t nbinds;
	/* dense number within the service: index of the store's cache of prepared statements */
	uint16_t id;
	bool writes;
};

enum step_kind {
	STEP_RUN, /* run the statement, drop its rows */
	/* first column of the first row must be true (non-zero), else error
	 * number/severity/text; no statement: always fails */
	STEP_CHECK,
	/* first column true: go on, else jump (nsteps: the end); no statement: always jumps */
	STEP_IF,
	/* first row's columns become the values of targets[]; no row: unchanged (NULL for
	 * outputs) */
	STEP_SET,
	/* a large binary value of table and column becomes that of targets[0]; args[0] is the
	 * number of its row */
	STEP_FETCH,
	/* a result set with columns[]; with native: the statement runs for each row of fields,
	 * as STEP_EACH */
	STEP_ROWS,
	/* first column, or without a statement number, becomes the return status; the procedure
	 * ends */
	STEP_RETURN,
	STEP_NATIVE, /* a C function of a service, by name */
	STEP_EACH,   /* native function yields rows of fields; the statement runs for each */
	/* an informational message (number, text) when the condition holds, or there is none */
	STEP_MESSAGE,
};
/* Conditions that need no SQL. */
/* the last two: of the rows that the last RUN changed or ROWS sent */
enum step_test { TEST_NONE, TEST_NULL, TEST_NOT_NULL, TEST_NOTHING, TEST_SOMETHING };
struct step {
	uint8_t kind;
	const struct statement *stmt;
	const struct column *columns; /* STEP_ROWS */
	uint16_t ncolumns;
	const char *table, *column; /* STEP_FETCH */
	const uint16_t *targets;    /* STEP_SET, STEP_FETCH: indexes of parameters/locals */
	uint16_t ntargets;
	uint16_t jump;  /* STEP_IF: index of the step to go to when false */
	int32_t number; /* STEP_CHECK, STEP_MESSAGE, STEP_RETURN */
	uint8_t severity;
	/* "{@name}" in it stands for the value of that parameter or local */
	const char *text;
	/* STEP_IF, STEP_CHECK without a statement: enum step_test, of args[0] */
	uint8_t test;
	const char *native;      /* STEP_NATIVE, STEP_EACH: registered name */
	const struct bind *args; /* of the native function */
	uint16_t nargs;
};

struct proc {
	const char *name;
	const char *section; /* "[MS-SPSTATE] 3.1.5.4" */
	const char *summary; /* one sentence of our own */
	const char *source;  /* the declaration as written: sp_helptext */
	int32_t object_id;   /* as sys.objects shows it; 0: not shown to clients */
	uint8_t service;
	uint8_t needs;  /* enum call_right */
	bool read_only; /* no step writes: may run on a reader connection */
	/* what it changes may be lost with the power, though it was answered: procession_promise
	 * makes that harmless */
	bool flush_later;
	/* one item or job, and no more rows than that: may run on the thread that read the
	 * request */
	bool is_short;
	/* it reads and changes rows of the one item that it names, and no others; it adds and
	 * deletes none: a snapshot is enough for it, see engine/postgres/README.md */
	bool one_item;
	/* ScheduledJobs: an error while it runs is followed by status 1 [E-COM-03] */
	bool fails_with_status;
	bool cleanup_later;  /* leaves rows behind that procession_clean removes in small steps */
	bool announces_work; /* wakes those of its database that wait for work */
	bool waits_for_work; /* how one waits for it: it has no steps, the session waits */
	const struct param *params;
	uint16_t nparams;
	const struct param *locals; /* follow the parameters in call->values */
	uint16_t nlocals;
	const struct step *steps;
	uint16_t nsteps;
	uint16_t nresults; /* number of STEP_ROWS */
};

/* What a client is told when a constraint of the store is violated; the key is SQLite's own
 * wording after "constraint failed: ": "item.id", "word_group.job, word_group.id"; "FOREIGN KEY"
 * for 547. The first entry that fits wins; no entry: a general text. */
struct constraint_text {
	int32_t number; /* 2627 or 547 */
	const char *key;
	const char *text;
};

/* A number that is kept for each database of a service: how many it has of something. */
#define SERVICE_NUMBERS_MAX 8
struct service_number {
	const char *family; /* the name that the server tells it by (metrics/families.def) */
	const char *state;  /* what tells it from others of that name; NULL: nothing */
};

/* All procedures of one service, sorted by name (ASCII, no case); generated. */
struct service_procs {
	const char *name; /* "state" */
	const struct proc *procs;
	uint16_t nprocs;
	uint16_t nstatements;
	const char *const *migrations; /* schema: migration i brings the store from version i to i + 1 */
	uint16_t nmigrations;
	const struct view *views; /* what SELECT may read; see query.h */
	uint16_t nviews;
	/* script that drops and creates the store's views; run after the migrations, whenever a
	 * store is opened. Never NULL */
	const char *views_sql;
	const struct service_number *numbers;
	uint16_t nnumbers;
	/* counts all of them from nothing; and the script of triggers that keep them, for the
	 * connection that writes: they call tally(index, added …). NULL: no numbers */
	const char *numbers_sql, *numbers_kept_sql;
	const struct constraint_text *constraints; /* texts of the -- ERROR lines of schema.sql */
	uint16_t nconstraints;
};
extern const struct service_procs catalogue_service_procs[SERVICE_COUNT];

#endif
