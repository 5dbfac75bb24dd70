/* table.c — the commands and options of `procession`, once. Parser, help and manual pages read
 * these tables. */
#include "cli/cli.h"

#define FIELD(name) offsetof(struct cli, name)

const struct option cli_options[] = {
	{ "--server", "HOST:PORT", OF_ALL, FIELD(server),
	  "the server; default PROCESSION_SERVER, else DIR/address, else 127.0.0.1:1433" },
	{ "--user", "LOGIN", OF_ALL, FIELD(user), "who connects; default PROCESSION_USER, else sa" },
	{ "--password-file", "FILE", OF_ALL, FIELD(password_file),
	  "first line is the password; default PROCESSION_PASSWORD_FILE, else DIR/sa-password; else it is "
	  "asked for" },
	{ "--data", "DIR", OF_ALL, FIELD(data),
	  "data folder of a server on this machine: its address and the password of sa are read from there" },
	{ "--encrypt", "MODE", OF_ALL, FIELD(encrypt),
	  "off, request (the login at least) or require; default require, request on this machine" },
	{ "--ca-file", "FILE", OF_ALL, FIELD(ca_file),
	  "certificates (PEM) that the server's must be signed by; default: any is taken" },
	{ "--timeout", "SECONDS", OF_ALL, FIELD(timeout), "give up after so long; default 60" },
	{ "--json", NULL, OF_ALL, FIELD(json), "results as JSON" },
	{ "--admin", NULL, OF_NEW_LOGIN, FIELD(admin),
	  "the login may administer the server and use every database" },
	{ "--windows", NULL, OF_NEW_LOGIN, FIELD(windows),
	  "NAME is REALM\\name or DOMAIN\\name, proved by Kerberos or NTLM; the login has no password" },
	{ "--database", "NAME",
	  OF_NEW_LOGIN | OF_SCHEDULE | OF_DOCUMENTS | OF_WORKER | OF_JOBS | OF_STATE | OF_SQL | OF_BACKUP,
	  FIELD(database),
	  "login add: where its sessions begin; sql, ping: where they are; backup: names, between commas, "
	  "default all; else the database of the jobs or "
	  "items, default ScheduledJobs, WordAutomation, Translation or StateService" },
	{ "--password-stdin", NULL, OF_PASSWORD, FIELD(password_stdin),
	  "first line of standard input is the new password" },
	{ "--generate", NULL, OF_PASSWORD, FIELD(generate), "make a password and show it" },
	{ "--service", "SERVICE", OF_NEW_DATABASE | OF_JOBS, FIELD(service),
	  "database create: word, translation, schedule or state; jobs: convert or translate, default both" },
	{ "--errata", "READING", OF_DATABASE, FIELD(errata),
	  "corrected (default) or literal: how contradictions of the specification are read" },
	{ "--commit", "WHEN", OF_DATABASE, FIELD(commit),
	  "durable (default): answers when a change is on the disk; relaxed: before, a loss of power may "
	  "undo the last ones" },
	{ "--commit-interval", "MS", OF_DATABASE, FIELD(commit_interval),
	  "how often a relaxed database flushes, and so what it can lose; default 1000" },
	{ "--renewal-slack", "SECONDS", OF_DATABASE, FIELD(renewal_slack),
	  "how much ahead reads store an expiration, so that most of them write nothing; "
	  "0 (default): exact" },
	{ "--recurrence", "TEXT", OF_JOB, FIELD(recurrence),
	  "when it runs, such as 'daily at 01:00:00'; once (default): one time" },
	{ "--job-data", "TEXT", OF_JOB, FIELD(job_data),
	  "what the class needs besides, such as IsIncremental#True" },
	{ "--name", "TEXT", OF_JOB | OF_DOCUMENTS, FIELD(name), "a name for people" },
	{ "--due", "TIME", OF_JOB | OF_DUE, FIELD(due),
	  "when it is due first, in UTC, or now; default: the next occurrence" },
	{ "--disabled", NULL, OF_NEW_JOB, FIELD(disabled), "stored, but not run until it is enabled" },
	{ "--count", "N", OF_NEXT | OF_JOBS | OF_LIST, FIELD(count),
	  "schedule next: how many occurrences, default 5; jobs list: how many of each service, the newest, "
	  "default 50; state list: how many items, default 50" },
	{ "--from", "TIME|LANGUAGE", OF_NEXT | OF_LANGUAGES, FIELD(from),
	  "schedule next: occurrences after this time, in UTC, default now; translate: the language of the "
	  "documents, such as en or pt-BR" },
	{ "--config", "FILE", OF_SCHEDULER | OF_WORKER, FIELD(config),
	  "settings of the scheduler with its handlers, or of the worker; --help of these lists them" },
	{ "--state", "DIR", OF_SCHEDULER | OF_WORKER | OF_DOCUMENTS | OF_ITEMS, FIELD(state),
	  "folder that remembers what was taken and how it ended; default: the setting state" },
	{ "--interval", "SECONDS", OF_SCHEDULER | OF_TOP, FIELD(interval),
	  "time between two questions for due jobs; default: the setting interval, else 60; top: between two "
	  "looks, default 1" },
	{ "--once", NULL, OF_SCHEDULER | OF_WORKER | OF_TOP, FIELD(once),
	  "ask once, run what is due, end; status 1 when a handler failed; top: one screen, of one "
	  "interval" },
	{ "--to", "FORMAT|LANGUAGE|ENGINE", OF_DOCUMENTS | OF_MOVE, FIELD(to),
	  "what the documents become; convert: pdf (default), pdfa, docx, docm, doc, dotx, dotm, dot, rtf, "
	  "odt, "
	  "xml, mht; translate: a language, such as es; database move: postgres or sqlite" },
	{ "--out", "DIR", OF_DOCUMENTS, FIELD(out),
	  "folder for what is made; default: beside each document" },
	{ "--recursive", NULL, OF_DOCUMENTS, FIELD(recursive),
	  "of folders also what is in the folders below" },
	{ "--skip-existing", NULL, OF_DOCUMENTS, FIELD(skip_existing),
	  "leave out documents whose output is there; else it is replaced" },
	{ "--queue", NULL, OF_DOCUMENTS, FIELD(queue), "only add the job, and do not wait: workers do it" },
	{ "--resume", NULL, OF_DOCUMENTS, FIELD(resume), "go on with the last job, after an interruption" },
	{ "--jobs", "N", OF_DOCUMENTS | OF_WORKER, FIELD(jobs),
	  "documents at once; default: the number of processors" },
	{ "--jail", "on|off", OF_DOCUMENTS | OF_WORKER, FIELD(jail),
	  "off: documents are worked on without a jail, where the system does not allow one; default on" },
	{ "--root", "DIR", OF_WORKER, FIELD(root),
	  "folders, between blanks, that documents are read from and written to; nothing else is touched" },
	{ "--engine", "PAIR=ENGINE", OF_TRANSLATE, FIELD(engine),
	  "what translates a pair of languages, such as en-de=http://127.0.0.1:5000/translate; default: "
	  "Apertium" },
	{ "--max-items-per-day", "N", OF_LANGUAGES, FIELD(max_items),
	  "refuse the job if more documents than that would have been added to the database in 24 hours" },
	{ "--partition", "GUID", OF_JOBS, FIELD(partition), "jobs of this partition" },
	{ "--active", NULL, OF_JOBS, FIELD(active), "jobs list: only those that are not finished" },
	{ "--failed", NULL, OF_ITEMS, FIELD(failed_only), "jobs items: only those that failed" },
	{ "--keep", "N", OF_BACKUP, FIELD(keep),
	  "backup: TARGET is a folder, and only the last N backups stay in it" },
	{ "--locked", NULL, OF_LIST, FIELD(locked), "state list: only items that are locked" },
	{ "--force", NULL, OF_FORCE | OF_DROP, FIELD(force),
	  "state delete: also a locked item; database drop: also the last database of its service" },
	{ "--confirm", "NAME", OF_DROP, FIELD(confirm),
	  "the name once more, where nobody can be asked for it" },
	{ "--command", "TEXT", OF_SQL, FIELD(text),
	  "run this T-SQL, batches between lines with GO, and end; -c TEXT is the same" },
};
const size_t cli_options_count = ARRAY_LEN(cli_options);

const struct command cli_commands[] = {
	{ "status", "", "", 0, 0, cli_run_status,
	  "shows whether the server answers, who it is and its databases; status 1 when one is damaged" },
	{ "top", "", "", 0, OF_TOP, cli_run_top,
	  "a live screen: calls a second, how long they wait and run, queue, databases, slowest procedures, "
	  "busiest sessions; q quits. With --once one screen, with --json an object a look. The right "
	  "monitor "
	  "is enough" },
	{ "login", "add", "NAME", 1, OF_NEW_LOGIN | OF_PASSWORD, cli_run_login_add,
	  "adds a login; its password is asked for, read or generated, or it is a Windows name" },
	{ "login", "passwd", "NAME", 1, OF_PASSWORD, cli_run_login_passwd, "gives a login a new password" },
	{ "login", "disable", "NAME", 1, 0, cli_run_login_disable,
	  "refuses a login from now on; nothing is deleted" },
	{ "login", "enable", "NAME", 1, 0, cli_run_login_enable, "admits a disabled login again" },
	{ "login", "remove", "NAME", 1, 0, cli_run_login_remove,
	  "removes a login and its rights; its sessions end" },
	{ "login", "list", "", 0, 0, cli_run_login_list, "shows the logins" },
	{ "database", "create", "NAME", 1, OF_NEW_DATABASE | OF_DATABASE, cli_run_database_create,
	  "creates a database of one service" },
	{ "database", "set", "NAME", 1, OF_DATABASE, cli_run_database_set,
	  "changes the settings of a database, at once and for good" },
	{ "database", "move", "NAME", 1, OF_MOVE, cli_run_database_move,
	  "moves a database to PostgreSQL, or back, while it is used; broken off it is where it was" },
	{ "database", "drop", "NAME", 1, OF_DROP, cli_run_database_drop,
	  "deletes a database with all that is in it, after asking for its name; its sessions end" },
	{ "database", "list", "", 0, 0, cli_run_database_list, "shows the databases" },
	{ "database", "check", "NAME", 1, 0, cli_run_database_check,
	  "looks for damage in a database's file; status 1 when there is some" },
	{ "grant", "list", "", 0, 0, cli_run_grant_list, "shows who may do what in which database" },
	{ "grant", "", "LOGIN DATABASE execute|select|execute,select|monitor|none", 3, 0, cli_run_grant,
	  "gives a login its rights in a database, in place of those it had; monitor, in master alone, lets "
	  "it see the numbers and sessions of the server" },
	{ "schedule", "add", "CLASS", 1, OF_SCHEDULE | OF_JOB | OF_NEW_JOB, cli_run_schedule_add,
	  "adds a scheduled job; its identifier is made and shown" },
	{ "schedule", "list", "", 0, OF_SCHEDULE, cli_run_schedule_list, "shows the scheduled jobs" },
	{ "schedule", "show", "ID", 1, OF_SCHEDULE, cli_run_schedule_show, "shows everything about one job" },
	{ "schedule", "modify", "ID", 1, OF_SCHEDULE | OF_JOB, cli_run_schedule_modify,
	  "changes what is given and keeps the rest" },
	{ "schedule", "disable", "ID", 1, OF_SCHEDULE, cli_run_schedule_disable, "keeps a job from running" },
	{ "schedule", "enable", "ID", 1, OF_SCHEDULE | OF_DUE, cli_run_schedule_enable,
	  "lets a disabled job run again, from its next occurrence on" },
	{ "schedule", "remove", "ID", 1, OF_SCHEDULE, cli_run_schedule_remove, "removes a job" },
	{ "schedule", "next", "RECURRENCE|ID", 1, OF_SCHEDULE | OF_NEXT, cli_run_schedule_next,
	  "checks a recurrence and shows its next occurrences (UTC); asks no server" },
	{ "schedule", "run", "ID", 1, OF_SCHEDULE, cli_run_schedule_run, "makes a job due now, out of turn" },
	{ "scheduler", "", "", 0, OF_SCHEDULE | OF_SCHEDULER, cli_run_scheduler,
	  "runs due jobs: a program that stays, takes them from the server and runs the handlers of "
	  "--config" },
	{ "convert", "", "PATH...", ARGS_ANY, OF_DOCUMENTS, cli_run_convert,
	  "converts documents and folders of documents with LibreOffice, or has a worker do it that runs; "
	  "without a server it starts one for itself; status 1 when a document failed" },
	{ "translate", "", "PATH...", ARGS_ANY, OF_DOCUMENTS | OF_TRANSLATE | OF_LANGUAGES, cli_run_translate,
	  "translates documents and folders of documents, --from one language --to another, or has a worker "
	  "do it that runs; without a server it starts one for itself; status 1 when a document failed" },
	{ "worker", "convert", "", 0, OF_WORKER, cli_run_worker_convert,
	  "works on conversion jobs: a program that stays, takes documents from the server and converts "
	  "them" },
	{ "worker", "translate", "", 0, OF_WORKER | OF_TRANSLATE, cli_run_worker_translate,
	  "works on translation jobs: a program that stays, takes documents from the server and translates "
	  "them" },
	{ "jobs", "list", "", 0, OF_JOBS, cli_run_jobs, "shows the jobs of documents, the newest first" },
	{ "jobs", "show", "JOB", 1, OF_JOBS, cli_run_jobs, "shows one job: its counts, settings and groups" },
	{ "jobs", "items", "JOB", 1, OF_JOBS | OF_ITEMS, cli_run_jobs,
	  "shows the documents of a job, and why those that failed did" },
	{ "jobs", "cancel", "JOB", 1, OF_JOBS, cli_run_jobs,
	  "cancels a job: what was not begun is not done" },
	{ "jobs", "watch", "JOB", 1, OF_JOBS, cli_run_jobs,
	  "draws a progress bar until the job is finished; status 1 when a document failed or was canceled" },
	{ "state", "count", "", 0, OF_STATE, cli_run_state_count,
	  "counts the items of StateService, their bytes and locks" },
	{ "state", "list", "[PATTERN]", ARGS_ANY, OF_STATE | OF_LIST, cli_run_state_list,
	  "shows items by name, such as 'basket-%': sizes, locks and when they expire, never their "
	  "contents" },
	{ "state", "delete", "ID", 1, OF_STATE | OF_FORCE, cli_run_state_delete, "deletes one item" },
	{ "session", "list", "", 0, 0, cli_run_session_list,
	  "shows who is connected, from where, and what they do; who is no administrator sees his own" },
	{ "session", "end", "SESSION", 1, 0, cli_run_session_end,
	  "ends a session: what it runs is cancelled, its transaction undone" },
	{ "backup", "check", "FILE", 1, 0, cli_run_backup_check,
	  "reads a whole backup and compares it with its manifest; asks no server" },
	{ "backup", "", "TARGET", 1, OF_BACKUP, cli_run_backup,
	  "saves all databases with logins and rights, as of one moment, into an archive; TARGET is a file, "
	  "or "
	  "a folder in which one is named by the time" },
	{ "restore", "", "FILE FOLDER", 2, 0, cli_run_restore,
	  "puts a backup into an empty folder for a server to start with; asks no server" },
	{ "ping", "", "", 0, OF_SQL, cli_run_ping,
	  "asks one question with any login; the exit status says whether the server answers" },
	{ "sql", "", "", 0, OF_SQL, cli_run_sql,
	  "runs T-SQL: of -c, of standard input, or at a terminal line by line; GO or a semicolon at the end "
	  "of "
	  "a line sends it" },
	{ "config", "check", "[FILE]", ARGS_ANY, 0, cli_run_config_check,
	  "says whether processiond would take its configuration file, and what it changes; asks no server" },
	{ "help", "", "", 0, 0, cli_run_help, "this text; procession COMMAND --help for one command" },
};
const size_t cli_commands_count = ARRAY_LEN(cli_commands);

#define ADMIN "a login that may administer, such as sa"
#define MONITOR "a login with the right monitor, or one that may administer"
#define JOBS "a login with the right execute in the database of the jobs"
const struct command_group cli_groups[] = {
	{ "status", "shows whether a server and its databases are well", MONITOR },
	{ "top", "shows live what a server does", MONITOR },
	{ "login", "adds, changes, removes and shows logins", ADMIN },
	{ "database", "creates, changes, moves, drops, checks and shows databases",
	  ADMIN "; for database list the right monitor is enough" },
	{ "grant", "gives logins their rights, and shows them", ADMIN },
	{ "schedule", "adds, changes, removes and shows scheduled jobs", JOBS },
	{ "scheduler", "runs scheduled jobs when they are due", JOBS },
	{ "convert", "converts documents", JOBS ", if a server is named" },
	{ "translate", "translates documents", JOBS ", if a server is named" },
	{ "worker", "works on the documents of a server", JOBS },
	{ "jobs", "shows, watches and cancels jobs of documents", JOBS },
	{ "state", "counts, shows and deletes items of StateService",
	  "a login with the right select in the database of the items, and execute for state delete" },
	{ "session", "shows who is connected, and ends sessions",
	  "any login for one's own session, the right monitor to see all, and " ADMIN ", for session end" },
	{ "backup", "saves all databases as of one moment", ADMIN ", and none for backup check" },
	{ "restore", "puts a backup into an empty folder", NULL },
	{ "ping", "asks whether a server answers", "any login" },
	{ "sql", "runs T-SQL", "any login; what it may do is what its rights are" },
	{ "config", "checks the configuration of processiond", NULL },
	{ "help", "tells which commands and options there are", NULL },
};
const size_t cli_groups_count = ARRAY_LEN(cli_groups);
