/* help.c — the texts of --help and of the manual page, from the tables. */
#include "cli/cli.h"

#include <limits.h>
#include <string.h>

#include "scheduler/settings.h"
#include "worker/settings.h"

static void command_words(const struct command *c, char *dst, size_t size)
{
	snprintf(dst, size, "%s%s%s%s%s", c->group, c->name[0] ? " " : "", c->name, c->args[0] ? " " : "",
		 c->args);
}

static void print_option(FILE *f, const struct option *o)
{
	char words[80];

	snprintf(words, sizeof(words), "%s%s%s", o->flag, o->value ? " " : "", o->value ? o->value : "");
	fprintf(f, "  %-24s %s\n", words, o->help);
}

static void print_options(FILE *f, const char *title, unsigned groups)
{
	fprintf(f, "\n%s:\n", title);
	for (size_t i = 0; i < cli_options_count; i++)
		if (groups == OF_ALL ? cli_options[i].group == OF_ALL : (cli_options[i].group & groups) != 0)
			print_option(f, &cli_options[i]);
}

/* Settings that stand in the file of --config. */
static const struct file_settings {
	const char *group, *section;
	const struct config_table *table;
} file_settings[] = { { "scheduler", "scheduler", &scheduler_settings_table },
		      { "worker", "worker", &worker_settings_table } };

static void print_file_settings(FILE *f, const char *group)
{
	for (size_t i = 0; group != NULL && i < ARRAY_LEN(file_settings); i++) {
		if (strcmp(group, file_settings[i].group) != 0)
			continue;
		fprintf(f, "\nSettings of the file (--config), section [%s]:\n", file_settings[i].section);
		config_table_print(f, file_settings[i].table, true);
	}
}

void cli_help_print(FILE *f, const char *group)
{
	unsigned takes = 0;

	fprintf(f, "Usage: procession %s [option ...]\n%s:\n", group ? group : "COMMAND",
		group ? "Commands" : "Administers a Procession server. Commands");
	for (size_t i = 0; i < cli_commands_count; i++) {
		const struct command *c = &cli_commands[i];
		char words[120];

		if (group != NULL && strcmp(group, c->group) != 0)
			continue;
		takes |= c->takes;
		command_words(c, words, sizeof(words));
		fprintf(f, strlen(words) > 26 ? "  %s\n%30s%s\n" : "  %-26s%.0s  %s\n", words, "", c->help);
	}
	if (takes != 0)
		print_options(f, group ? "Options of these commands" : "Options of single commands", takes);
	print_options(f, "Options of all commands", OF_ALL);
	print_file_settings(f, group);
	fputs("\nExit status: 0 done, 1 refused by the server, 2 wrong usage, 3 the server cannot be "
	      "reached.\n"
	      "Example: procession --data ./procession-data login add web --generate\n",
	      f);
}

static void print_mdoc_text(FILE *f, const char *text)
{
	for (; *text != '\0'; text++)
		fputs(*text == '-' ? "\\-" : (char[]){ *text, '\0' }, f);
	fputc('\n', f);
}

/* Those of these commands; OF_ALL: of every command; OF_ANY: all there are. */
#define OF_ANY UINT_MAX
static void print_mdoc_options(FILE *f, unsigned groups)
{
	fputs(".Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < cli_options_count; i++) {
		const struct option *o = &cli_options[i];

		if (groups != OF_ANY && (groups == OF_ALL ? o->group != OF_ALL : (o->group & groups) == 0))
			continue;
		fprintf(f, ".It Fl \\-%s%s%s\n", o->flag + 2, o->value ? " Ar " : "",
			o->value ? o->value : "");
		print_mdoc_text(f, o->help);
	}
	fputs(".El\n", f);
}

/* group NULL: all. */
static void print_mdoc_commands(FILE *f, const char *group)
{
	fputs(".Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < cli_commands_count; i++) {
		char words[120];

		if (group != NULL && strcmp(cli_commands[i].group, group) != 0)
			continue;
		command_words(&cli_commands[i], words, sizeof(words));
		fprintf(f, ".It Cm %s\n", words);
		print_mdoc_text(f, cli_commands[i].help);
	}
	fputs(".El\n", f);
}

static void print_mdoc_schedule(FILE *f)
{
	fputs(".Sh SCHEDULED JOBS\n.Cm schedule\nand\n.Cm scheduler\nwork with any server that has the "
	      "procedures of [MS\\-SSPSJ]; all times are UTC.\nA recurrence is one of\n"
	      ".Bd -literal -offset indent\nevery NN seconds\nevery NN minutes at SS\nhourly at MM\ndaily at "
	      "HH:MM:SS\nweekly at fri HH:MM:SS\nmonthly at DD HH:MM:SS\n"
	      "yearly at jan DD HH:MM:SS\n.Ed\n.Pp\nwith two digits in every number;\n.Ql between A and "
	      "B\nin place of\n.Ql at A\nis a window in which the job starts.\n"
	      ".Pp\n.Cm scheduler\nasks every 60 seconds for the jobs of the next interval and runs, for "
	      "each class, the\n.Ql command\nof its section\n"
	      ".Ql [handler:CLASS]\nin the file of\n.Fl \\-config .\n"
	      "The handler has the job in its environment, PROCESSION_JOB_ID, PROCESSION_JOB_ACTION and "
	      "others; its output goes to the log on standard error,\n"
	      "its exit status to the folder of\n.Fl \\-state .\nSIGTERM finishes what was taken; a second "
	      "one ends the handlers.\n"
	      "SIGHUP reads the file again; with a mistake in it, the old settings stay.\n",
	      f);
}

/* group NULL: of all. */
static void print_mdoc_files(FILE *f, const char *group)
{
	bool begun = false;

	for (size_t i = 0; i < ARRAY_LEN(file_settings); i++) {
		if (group != NULL && strcmp(group, file_settings[i].group) != 0)
			continue;
		if (!begun)
			fputs(".Sh FILES OF SETTINGS\nThe file of\n.Fl \\-config\nhas lines\n.Ql name = "
			      "value .\n",
			      f);
		begun = true;
		fprintf(f, ".Ss Section [%s]\n.Bl -tag -width Ds\n", file_settings[i].section);
		config_table_print_mdoc(f, file_settings[i].table, true);
		fputs(".El\n", f);
	}
}

static void print_mdoc_head(FILE *f, const char *name, const char *summary)
{
	fputs(".\\\" Generated by procession --help-man from src/cli/table.c.\n.Dd November 16, 2026\n.Dt ",
	      f);
	for (const char *c = name; *c != '\0'; c++)
		fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, f);
	fprintf(f, " 1\n.Os Procession " PROCESSION_VERSION "\n.Sh NAME\n.Nm %s\n.Nd ", name);
	print_mdoc_text(f, summary);
}

static void print_mdoc_environment(FILE *f)
{
	fputs(".Sh ENVIRONMENT\n.Ev PROCESSION_SERVER , PROCESSION_USER , PROCESSION_PASSWORD_FILE "
	      ":\ndefaults of the options of these names.\n",
	      f);
}

static void print_mdoc_status(FILE *f)
{
	fputs(".Sh EXIT STATUS\n0 done, 1 refused by the server, 2 wrong usage, 3 the server cannot be "
	      "reached.\n",
	      f);
}

/* What each group of commands needs, and where it is described. */
static void print_mdoc_needs(FILE *f)
{
	fputs(".Sh RIGHTS\nEach command has a page of its own; what it needs:\n.Bl -tag -width Ds\n", f);
	for (size_t i = 0; i < cli_groups_count; i++) {
		const struct command_group *g = &cli_groups[i];

		fprintf(f, ".It Xr procession-%s 1\n", g->name);
		print_mdoc_text(f, g->needs != NULL ? g->needs : "asks no server");
	}
	fputs(".El\n", f);
}

static void print_man_all(FILE *f)
{
	print_mdoc_head(f, "procession", "administers a Procession server");
	fputs(".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar option ...\n"
	      ".Sh DESCRIPTION\n.Nm\nconnects to a\n.Xr processiond 8\nas a client: what a command may do is "
	      "what its login may do.\n"
	      ".Sh COMMANDS\n",
	      f);
	print_mdoc_commands(f, NULL);
	print_mdoc_needs(f);
	fputs(".Sh OPTIONS\nOptions may stand before or after the command, as\n.Fl \\-name Ar "
	      "VALUE\nor\n.Fl \\-name=VALUE .\n",
	      f);
	print_mdoc_options(f, OF_ANY);
	print_mdoc_environment(f);
	print_mdoc_schedule(f);
	print_mdoc_files(f, NULL);
	print_mdoc_status(f);
	fputs(".Sh EXAMPLES\n.Dl procession \\-\\-data /var/lib/procession login add web \\-\\-generate\n"
	      ".Dl procession \\-\\-data /var/lib/procession grant web StateService execute\n"
	      ".Dl procession schedule next \"weekly between fri 22:00:00 and sun 06:00:00\"\n"
	      ".Sh SEE ALSO\n.Xr processiond 8\n",
	      f);
}

static void print_mdoc_synopsis(FILE *f, const char *group)
{
	fputs(".Sh SYNOPSIS\n", f);
	for (size_t i = 0; i < cli_commands_count; i++) {
		const struct command *c = &cli_commands[i];

		if (strcmp(c->group, group) != 0)
			continue;
		fprintf(f, ".Nm procession\n.Cm %s%s%s\n", c->group, c->name[0] ? " " : "", c->name);
		if (c->args[0] != '\0')
			fprintf(f, ".Ar %s\n", c->args);
		fputs(".Op Ar option ...\n", f);
	}
}

static void print_man_group(FILE *f, const struct command_group *g)
{
	unsigned takes = 0;
	char name[60];

	for (size_t i = 0; i < cli_commands_count; i++)
		if (strcmp(cli_commands[i].group, g->name) == 0)
			takes |= cli_commands[i].takes;
	snprintf(name, sizeof(name), "procession-%s", g->name);
	print_mdoc_head(f, name, g->summary);
	print_mdoc_synopsis(f, g->name);
	fputs(".Sh DESCRIPTION\n", f);
	print_mdoc_commands(f, g->name);
	fputs(g->needs != NULL ? ".Pp\nIt needs " : ".Pp\nIt asks no server", f);
	print_mdoc_text(f, g->needs != NULL ? g->needs : "");
	if (takes != 0) {
		fputs(".Sh OPTIONS\n", f);
		print_mdoc_options(f, takes);
	}
	fputs(".Sh OPTIONS OF ALL COMMANDS\n", f);
	print_mdoc_options(f, OF_ALL);
	print_mdoc_environment(f);
	if (strncmp(g->name, "schedule", strlen("schedule")) == 0)
		print_mdoc_schedule(f);
	print_mdoc_files(f, g->name);
	print_mdoc_status(f);
	fputs(".Sh SEE ALSO\n.Xr procession 1 ,\n.Xr processiond 8\n", f);
}

bool cli_help_print_man(FILE *f, const char *group)
{
	if (group == NULL) {
		print_man_all(f);
		return true;
	}
	for (size_t i = 0; i < cli_groups_count; i++) {
		if (strcmp(cli_groups[i].name, group) != 0)
			continue;
		print_man_group(f, &cli_groups[i]);
		return true;
	}
	return false;
}

int cli_run_help(struct cli *cli, const struct command *cmd)
{
	(void)cli;
	(void)cmd;
	cli_help_print(stdout, NULL);
	return EXIT_OK;
}
