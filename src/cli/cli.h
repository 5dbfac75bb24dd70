/* cli.h — what the files of the command `procession` share: the table of commands, the options,
 * output and passwords. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdio.h>

#include "base/err.h"
#include "base/json.h"
#include "client/client.h"

enum { EXIT_OK = 0, EXIT_REFUSED = 1 /* the server said no */, EXIT_USAGE = 2, EXIT_UNREACHABLE = 3 };

#define ARGS_MAX 4
#define ARGS_ANY 99      /* any number of words; see struct cli, paths */
#define PASSWORD_MAX 129 /* with its NUL */

struct cli {
	/* where and who */
	const char *server, *user, *password_file, *data, *encrypt, *ca_file, *timeout;
	bool json;
	/* of single commands */
	const char *database, *service, *errata, *commit, *commit_interval, *renewal_slack;
	bool admin, windows, password_stdin, generate;
	/* of scheduled jobs */
	const char *recurrence, *job_data, *name, *due, *count, *from;
	bool disabled;
	/* of the scheduler */
	const char *config, *state, *interval;
	bool once;
	/* of documents and their jobs */
	const char *to, *out, *jobs, *root, *jail, *partition, *engine, *max_items;
	bool recursive, skip_existing, queue, resume, active, failed_only;
	const char *const *paths; /* of a command that takes any number of them */
	size_t npaths;
	/* of people who look after a server */
	const char *text, *keep, *confirm;
	bool force, locked;
	/* set by a command: where it connects; NULL: the login's own database */
	const char *connect_database;
	const struct cli_kind *connect_kind; /* what the database must be; NULL: anything */
	int connect_status; /* of scheduler and workers: how the last connection failed; 0: it did not */
	/* what stands for itself */
	const char *args[ARGS_MAX];
	size_t nargs;
};

/* Options that only some commands know; a command's mask says which. */
enum option_group {
	OF_ALL = 0,
	OF_NEW_LOGIN = 1,
	OF_PASSWORD = 2,
	OF_NEW_DATABASE = 4,
	OF_SCHEDULE = 8,
	OF_JOB = 16,
	OF_DUE = 32,
	OF_NEW_JOB = 64,
	OF_NEXT = 128,
	OF_SCHEDULER = 256,
	OF_DATABASE = 512,
	OF_DOCUMENTS = 1024,
	OF_WORKER = 2048,
	OF_JOBS = 4096,
	OF_ITEMS = 8192,
	OF_TRANSLATE = 16384,
	OF_LANGUAGES = 32768,
	OF_STATE = 1 << 16,
	OF_FORCE = 1 << 17,
	OF_LIST = 1 << 18,
	OF_SQL = 1 << 19,
	OF_BACKUP = 1 << 20,
	OF_TOP = 1 << 21,
	OF_DROP = 1 << 22,
	OF_MOVE = 1 << 23
};
struct option {
	const char *flag;  /* "--server" */
	const char *value; /* "HOST:PORT", or NULL: a switch */
	unsigned group;    /* those of whose commands it is an option; OF_ALL: of all */
	size_t offset;     /* const char * or bool in struct cli */
	const char *help;
};
extern const struct option cli_options[];
extern const size_t cli_options_count;

struct command {
	const char *group, *name; /* "login", "add"; name may be empty */
	const char *args;         /* "NAME" */
	size_t nargs;
	unsigned takes;                                         /* enum option_group */
	int (*run)(struct cli *cli, const struct command *cmd); /* → exit status */
	const char *help;
};
extern const struct command cli_commands[];
extern const size_t cli_commands_count;

/* The commands of one first word: a page of the manual. */
struct command_group {
	const char *name, *summary;
	const char *needs; /* of whom: "It needs …"; NULL: it asks no server */
};
extern const struct command_group cli_groups[];
extern const size_t cli_groups_count;

/* backup.c, restore.c */
int cli_run_backup(struct cli *cli, const struct command *cmd);
int cli_run_backup_check(struct cli *cli, const struct command *cmd);
int cli_run_restore(struct cli *cli, const struct command *cmd);
/* sessions.c, state.c, sql.c, confcheck.c */
int cli_run_ping(struct cli *cli, const struct command *cmd);
int cli_run_session_list(struct cli *cli, const struct command *cmd);
int cli_run_session_end(struct cli *cli, const struct command *cmd);
int cli_run_state_count(struct cli *cli, const struct command *cmd);
int cli_run_state_list(struct cli *cli, const struct command *cmd);
int cli_run_state_delete(struct cli *cli, const struct command *cmd);
int cli_run_sql(struct cli *cli, const struct command *cmd);
int cli_run_config_check(struct cli *cli, const struct command *cmd);
int cli_run_database_drop(struct cli *cli, const struct command *cmd); /* drop.c */
int cli_run_database_move(struct cli *cli, const struct command *cmd); /* move.c */
int cli_run_top(struct cli *cli, const struct command *cmd);           /* top.c */
/* commands.c: what a command calls on the server. */
int cli_run_login_remove(struct cli *cli, const struct command *cmd);
int cli_run_login_add(struct cli *cli, const struct command *cmd);
int cli_run_login_passwd(struct cli *cli, const struct command *cmd);
int cli_run_login_disable(struct cli *cli, const struct command *cmd);
int cli_run_login_enable(struct cli *cli, const struct command *cmd);
int cli_run_login_list(struct cli *cli, const struct command *cmd);
int cli_run_database_create(struct cli *cli, const struct command *cmd);
int cli_run_database_set(struct cli *cli, const struct command *cmd);
int cli_run_database_list(struct cli *cli, const struct command *cmd);
int cli_run_database_check(struct cli *cli, const struct command *cmd);
int cli_run_grant(struct cli *cli, const struct command *cmd);
int cli_run_grant_list(struct cli *cli, const struct command *cmd);
int cli_run_status(struct cli *cli, const struct command *cmd);
/* schedule.c, schedule_show.c, scheduler.c */
int cli_run_schedule_add(struct cli *cli, const struct command *cmd);
int cli_run_schedule_list(struct cli *cli, const struct command *cmd);
int cli_run_schedule_show(struct cli *cli, const struct command *cmd);
int cli_run_schedule_modify(struct cli *cli, const struct command *cmd);
int cli_run_schedule_disable(struct cli *cli, const struct command *cmd);
int cli_run_schedule_enable(struct cli *cli, const struct command *cmd);
int cli_run_schedule_remove(struct cli *cli, const struct command *cmd);
int cli_run_schedule_next(struct cli *cli, const struct command *cmd);
int cli_run_schedule_run(struct cli *cli, const struct command *cmd);
int cli_run_scheduler(struct cli *cli, const struct command *cmd);
/* convert.c, jobs.c */
int cli_run_convert(struct cli *cli, const struct command *cmd);
int cli_run_worker_convert(struct cli *cli, const struct command *cmd);
int cli_run_translate(struct cli *cli, const struct command *cmd);
int cli_run_worker_translate(struct cli *cli, const struct command *cmd);
int cli_run_jobs(struct cli *cli, const struct command *cmd);
int cli_run_help(struct cli *cli, const struct command *cmd);

/* connect.c */
/* What a command wants its database to be. The databases of a server are told apart by their
 * procedures, because any server that has these will do. */
struct cli_kind {
	const char *database; /* where it looks unless told */
	const char *has, *lacks;
	const char *things; /* what it looks for there, for people */
};
extern const struct cli_kind cli_kind_state, cli_kind_convert, cli_kind_translate, cli_kind_schedule;
/* The next connection goes to the database of this name; NULL or empty: the usual one. */
void cli_connect_to(struct cli *cli, const struct cli_kind *kind, const char *database);
/* Opens with the options, the environment and the data folder, in this order. */
MUST_CHECK int cli_connect(struct cli *cli, struct client **ret, struct err *reterr);
/* Severity of errors of our own that better options would mend. */
#define CLI_USAGE_SEVERITY 15
/* The exit status for a failure of cli_connect: wrong usage, refused, or not reached. */
int cli_connect_status(const struct err *e);

/* password.c. All give at most PASSWORD_MAX - 1 bytes; the caller wipes with explicit_bzero. */
MUST_CHECK int cli_password_from_file(const char *path, char dst[PASSWORD_MAX], struct err *reterr);
MUST_CHECK int cli_password_ask(const char *prompt, char dst[PASSWORD_MAX], struct err *reterr);
/* The new password of a login: generated, from standard input, or asked for twice.
 * ret_generated: it must be shown. */
MUST_CHECK int cli_password_choose(const struct cli *cli, char dst[PASSWORD_MAX], bool *ret_generated,
				   struct err *reterr);

/* output.c. Whatever came from a server is shown with its control characters escaped. */
void cli_output_table(const struct client_table *t, bool json);
void cli_output_text(FILE *f, const char *text);
/* In so many columns: filled up with blanks, on either side, or only cut. */
enum cli_fill { CLI_LEFT, CLI_RIGHT, CLI_CUT };
void cli_output_cell(FILE *f, const char *text, size_t columns, enum cli_fill fill);
void cli_output_note(const char *text); /* a remark, on standard error */
void cli_output_error(const struct err *e, bool json);

/* help.c */
void cli_help_print(FILE *f, const char *group); /* NULL: all */
/* group NULL: the page procession(1). False: there is no such group. */
MUST_CHECK bool cli_help_print_man(FILE *f, const char *group);

#endif
