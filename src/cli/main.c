/* main.c — the command `procession`: reads the arguments by the tables and runs the command they
 * name. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Where it went wrong decides what is asked for: the text of one command, or of all. */
static int usage(const char *group, const char *fmt, const char *word)
{
	fputs("procession: ", stderr);
	fprintf(stderr, fmt, word);
	fprintf(stderr, "; try procession %s%s--help\n", group ? group : "", group ? " " : "");
	return EXIT_USAGE;
}

static const struct option *find_option(const char *arg, size_t n)
{
	for (size_t i = 0; i < cli_options_count; i++)
		if (strlen(cli_options[i].flag) == n && memcmp(cli_options[i].flag, arg, n) == 0)
			return &cli_options[i];
	return NULL;
}

struct parsed {
	struct cli cli;
	const char **words; /* as many as there are arguments */
	size_t nwords;
	bool help, only_words;            /* after -- */
	const struct option *special[32]; /* the options given that not every command knows */
	size_t nspecial;
};

/* One argument; advances *i past a value that stands apart. 0 or an exit status. */
static int parse_argument(struct parsed *p, int argc, char **argv, int *i)
{
	const char *arg = argv[*i], *value;
	size_t n = strcspn(arg, "=");
	const struct option *o;
	char *field;

	if (strcmp(arg, "--") == 0 && !p->only_words) {
		p->only_words = true;
		return 0;
	}
	if (p->only_words || arg[0] != '-' || arg[1] == '\0') {
		p->words[p->nwords++] = arg;
		return 0;
	}
	if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
		p->help = true;
		return 0;
	}
	o = find_option(arg, n);
	if (o == NULL)
		return usage(NULL, "unknown option '%s'", arg);
	field = (char *)&p->cli + o->offset;
	if (o->group != OF_ALL && p->nspecial < ARRAY_LEN(p->special))
		p->special[p->nspecial++] = o;
	if (o->value == NULL) {
		if (arg[n] == '=')
			return usage(NULL, "%s takes no value", o->flag);
		*(bool *)field = true;
		return 0;
	}
	if (arg[n] == '=')
		value = arg + n + 1;
	else if (*i + 1 < argc)
		value = argv[++*i];
	else
		return usage(NULL, "%s needs a value", o->flag);
	*(const char **)(void *)field = value;
	return 0;
}

static bool group_exists(const char *group)
{
	for (size_t i = 0; i < cli_commands_count; i++)
		if (strcmp(cli_commands[i].group, group) == 0)
			return true;
	return false;
}

/* The command that the words name: "login add" before "grant". ret_used: words that are its
 * name. */
static const struct command *find_command(const struct parsed *p, size_t *ret_used)
{
	for (size_t i = 0; i < cli_commands_count; i++) {
		const struct command *c = &cli_commands[i];
		if (strcmp(c->group, p->words[0]) != 0)
			continue;
		if (c->name[0] == '\0') {
			*ret_used = 1;
			return c;
		}
		if (p->nwords > 1 && strcmp(c->name, p->words[1]) == 0) {
			*ret_used = 2;
			return c;
		}
	}
	return NULL;
}

static int dispatch(struct parsed *p)
{
	const struct command *c;
	const char *group = p->words[0];
	size_t used;

	if (!group_exists(group))
		return usage(NULL, "unknown command '%s'", group);
	if (p->help) {
		cli_help_print(stdout, group);
		return EXIT_OK;
	}
	c = find_command(p, &used);
	if (c == NULL)
		return usage(group, p->nwords > 1 ? "unknown command '%s'" : "'%s' needs a further word",
			     p->nwords > 1 ? p->words[1] : group);
	for (size_t i = 0; i < p->nspecial; i++)
		if ((p->special[i]->group & c->takes) == 0)
			return usage(group, "%s is no option of this command", p->special[i]->flag);
	p->cli.paths = p->words + used;
	p->cli.npaths = p->nwords - used;
	if (c->nargs == ARGS_ANY)
		return c->run(&p->cli, c);
	if (p->nwords - used != c->nargs)
		return usage(group, "this command takes: %s", c->args[0] ? c->args : "nothing further");
	for (; p->cli.nargs < c->nargs; p->cli.nargs++) {
		p->cli.args[p->cli.nargs] = p->words[used + p->cli.nargs];
		if (p->cli.args[p->cli.nargs][0] == '\0')
			return usage(group, "a name is empty; this command takes: %s", c->args);
	}
	return c->run(&p->cli, c);
}

static int run(struct parsed *p, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int status;

		if (strcmp(argv[i], "--version") == 0) {
			puts("procession " PROCESSION_VERSION);
			return EXIT_OK;
		}
		if (strcmp(argv[i], "--help-man") == 0) {
			cli_help_print_man(stdout);
			return EXIT_OK;
		}
		status = parse_argument(p, argc, argv, &i);
		if (status != 0)
			return status;
	}
	if (p->nwords == 0) {
		cli_help_print(p->help ? stdout : stderr, NULL);
		return p->help ? EXIT_OK : EXIT_USAGE;
	}
	return dispatch(p);
}

int main(int argc, char **argv)
{
	struct parsed p = { .words = calloc((size_t)argc + 1, sizeof(char *)) };
	int status;

	if (p.words == NULL)
		return EXIT_USAGE;
	status = run(&p, argc, argv);
	free(p.words);
	return status;
}
