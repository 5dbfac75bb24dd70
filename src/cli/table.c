/* table.c — the commands and options of `procession`, once. Parser, help and manual page read these tables. */
#include "cli/cli.h"

#define FIELD(name) offsetof(struct cli, name)

const struct option options[] = {
	{ "--server", "HOST:PORT", OF_ALL, FIELD(server), "the server; default PROCESSION_SERVER, else DIR/address, else 127.0.0.1:1433" },
	{ "--user", "LOGIN", OF_ALL, FIELD(user), "who connects; default PROCESSION_USER, else sa" },
	{ "--password-file", "FILE", OF_ALL, FIELD(password_file),
	  "first line is the password; default PROCESSION_PASSWORD_FILE, else DIR/sa-password; else it is asked for" },
	{ "--data", "DIR", OF_ALL, FIELD(data), "data folder of a server on this machine: its address and the password of sa are read from there" },
	{ "--encrypt", "MODE", OF_ALL, FIELD(encrypt), "off, request (the login at least) or require; default require, request on this machine" },
	{ "--ca-file", "FILE", OF_ALL, FIELD(ca_file), "certificates (PEM) that the server's must be signed by; default: any is taken" },
	{ "--timeout", "SECONDS", OF_ALL, FIELD(timeout), "give up after so long; default 60" },
	{ "--json", NULL, OF_ALL, FIELD(json), "results as JSON" },
	{ "--admin", NULL, OF_NEW_LOGIN, FIELD(admin), "the login may administer the server and use every database" },
	{ "--windows", NULL, OF_NEW_LOGIN, FIELD(windows), "NAME is REALM\\name or DOMAIN\\name, proved by Kerberos or NTLM; the login has no password" },
	{ "--database", "NAME", OF_NEW_LOGIN | OF_SCHEDULE, FIELD(database),
	  "login add: where its sessions begin; schedule, scheduler: the database of the jobs, default ScheduledJobs" },
	{ "--password-stdin", NULL, OF_PASSWORD, FIELD(password_stdin), "first line of standard input is the new password" },
	{ "--generate", NULL, OF_PASSWORD, FIELD(generate), "make a password and show it" },
	{ "--service", "SERVICE", OF_NEW_DATABASE, FIELD(service), "word, translation, schedule or state" },
	{ "--errata", "READING", OF_NEW_DATABASE, FIELD(errata), "corrected (default) or literal: how contradictions of the specification are read" },
	{ "--recurrence", "TEXT", OF_JOB, FIELD(recurrence), "when it runs, such as 'daily at 01:00:00'; once (default): one time" },
	{ "--job-data", "TEXT", OF_JOB, FIELD(job_data), "what the class needs besides, such as IsIncremental#True" },
	{ "--name", "TEXT", OF_JOB, FIELD(name), "a name for people" },
	{ "--due", "TIME", OF_JOB | OF_DUE, FIELD(due), "when it is due first, in UTC, or now; default: the next occurrence" },
	{ "--disabled", NULL, OF_NEW_JOB, FIELD(disabled), "stored, but not run until it is enabled" },
	{ "--count", "N", OF_NEXT, FIELD(count), "how many occurrences; default 5" },
	{ "--from", "TIME", OF_NEXT, FIELD(from), "occurrences after this time, in UTC; default now" },
	{ "--config", "FILE", OF_SCHEDULER, FIELD(config), "handlers of the classes and settings of the scheduler" },
	{ "--state", "DIR", OF_SCHEDULER, FIELD(state), "folder that remembers what was taken and how it ended; default: the setting state" },
	{ "--interval", "SECONDS", OF_SCHEDULER, FIELD(interval), "time between two questions for due jobs; default: the setting interval, else 60" },
	{ "--once", NULL, OF_SCHEDULER, FIELD(once), "ask once, run what is due, end; status 1 when a handler failed" },
};
const size_t options_count = ARRAY_LEN(options);

const struct command commands[] = {
	{ "status", "", "", 0, 0, run_status, "shows whether the server answers, who it is and its databases" },
	{ "login", "add", "NAME", 1, OF_NEW_LOGIN | OF_PASSWORD, run_login_add, "adds a login; its password is asked for, read or generated, or it is a Windows name" },
	{ "login", "passwd", "NAME", 1, OF_PASSWORD, run_login_passwd, "gives a login a new password" },
	{ "login", "disable", "NAME", 1, 0, run_login_disable, "refuses a login from now on; nothing is deleted" },
	{ "login", "enable", "NAME", 1, 0, run_login_enable, "admits a disabled login again" },
	{ "login", "list", "", 0, 0, run_login_list, "shows the logins" },
	{ "database", "create", "NAME", 1, OF_NEW_DATABASE, run_database_create, "creates a database of one service" },
	{ "database", "list", "", 0, 0, run_database_list, "shows the databases" },
	{ "database", "check", "NAME", 1, 0, run_database_check, "looks for damage in a database's file; status 1 when there is some" },
	{ "grant", "list", "", 0, 0, run_grant_list, "shows who may do what in which database" },
	{ "grant", "", "LOGIN DATABASE execute|select|none", 3, 0, run_grant,
	  "gives a login its rights in a database, in place of those it had (execute,select for both)" },
	{ "schedule", "add", "CLASS", 1, OF_SCHEDULE | OF_JOB | OF_NEW_JOB, run_schedule_add, "adds a scheduled job; its identifier is made and shown" },
	{ "schedule", "list", "", 0, OF_SCHEDULE, run_schedule_list, "shows the scheduled jobs" },
	{ "schedule", "show", "ID", 1, OF_SCHEDULE, run_schedule_show, "shows everything about one job" },
	{ "schedule", "modify", "ID", 1, OF_SCHEDULE | OF_JOB, run_schedule_modify, "changes what is given and keeps the rest" },
	{ "schedule", "disable", "ID", 1, OF_SCHEDULE, run_schedule_disable, "keeps a job from running" },
	{ "schedule", "enable", "ID", 1, OF_SCHEDULE | OF_DUE, run_schedule_enable, "lets a disabled job run again, from its next occurrence on" },
	{ "schedule", "remove", "ID", 1, OF_SCHEDULE, run_schedule_remove, "removes a job" },
	{ "schedule", "next", "RECURRENCE|ID", 1, OF_SCHEDULE | OF_NEXT, run_schedule_next, "checks a recurrence and shows its next occurrences (UTC); asks no server" },
	{ "schedule", "run", "ID", 1, OF_SCHEDULE, run_schedule_run, "makes a job due now, out of turn" },
	{ "scheduler", "", "", 0, OF_SCHEDULE | OF_SCHEDULER, run_scheduler,
	  "runs due jobs: a program that stays, takes them from the server and runs the handlers of --config" },
	{ "help", "", "", 0, 0, run_help, "this text; procession COMMAND --help for one command" },
};
const size_t commands_count = ARRAY_LEN(commands);
