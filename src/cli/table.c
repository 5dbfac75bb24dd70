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
	{ "--database", "NAME", OF_NEW_LOGIN, FIELD(database), "database in which the login's sessions begin" },
	{ "--password-stdin", NULL, OF_PASSWORD, FIELD(password_stdin), "first line of standard input is the new password" },
	{ "--generate", NULL, OF_PASSWORD, FIELD(generate), "make a password and show it" },
	{ "--service", "SERVICE", OF_NEW_DATABASE, FIELD(service), "word, translation, schedule or state" },
	{ "--errata", "READING", OF_NEW_DATABASE, FIELD(errata), "corrected (default) or literal: how contradictions of the specification are read" },
};
const size_t options_count = ARRAY_LEN(options);

const struct command commands[] = {
	{ "status", "", "", 0, 0, run_status, "shows whether the server answers, who it is and its databases" },
	{ "login", "add", "NAME", 1, OF_NEW_LOGIN | OF_PASSWORD, run_login_add, "adds a login; its password is asked for, read or generated" },
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
	{ "help", "", "", 0, 0, run_help, "this text; procession COMMAND --help for one command" },
};
const size_t commands_count = ARRAY_LEN(commands);
