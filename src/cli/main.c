/* main.c — the command `procession`: reads the arguments by the tables and runs the command they
 * name. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/completion.h"
#include "cli/nearest.h"

/* Where it went wrong decides what is asked for: the text of one command, or of all. */
static int usage(const char *group, const char *fmt, const char *word)
{
	fputs("procession: ", stderr);
	fprintf(stderr, fmt, word);
	fprintf(stderr, "; try procession %s%s--help\n", group ? group : "", group ? " " : "");
	return EXIT_USAGE;
}

/* The same for a word that is unknown, with the one that may have been meant. */
static int unknown(const char *what, const char *word, const char *group, const char *nearest)
{
	if (nearest == NULL)
		return usage(group,
			     strcmp(what, "option") == 0 ? "unknown option '%s'" : "unknown command '%s'",
			     word);
	fprintf(stderr, "procession: unknown %s '%s'; did you mean '%s%s%s'?\n", what, word,
		group ? group : "", group ? " " : "", nearest);
	return EXIT_USAGE;
}

static int unknown_option(const char *arg, size_t n)
{
	char flag[64];
	struct cli_nearest nearest = { .word = flag };

	snprintf(flag, sizeof(flag), "%.*s", (int)(n < sizeof(flag) ? n : sizeof(flag) - 1), arg);
	for (size_t i = 0; i < cli_options_count; i++)
		cli_nearest_offer(&nearest, cli_options[i].flag);
	return unknown("option", arg, NULL, nearest.best);
}

/* Of the first words, or of those that may follow the group. */
static int unknown_command(const char *word, const char *group)
{
	struct cli_nearest nearest = { .word = word };

	for (size_t i = 0; i < cli_commands_count; i++) {
		if (group == NULL)
			cli_nearest_offer(&nearest, cli_commands[i].group);
		else if (strcmp(cli_commands[i].group, group) == 0)
			cli_nearest_offer(&nearest, cli_commands[i].name);
	}
	return unknown("command", word, group, nearest.best);
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
		assert(p->nwords < (size_t)argc);
		p->words[p->nwords++] = arg;
		return 0;
	}
	if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
		p->help = true;
		return 0;
	}
	o = strcmp(arg, "-c") == 0 ? find_option("--command", strlen("--command")) : find_option(arg, n);
	if (o == NULL)
		return unknown_option(arg, n);
	assert(o->offset < sizeof(p->cli));
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
		return unknown_command(group, NULL);
	if (p->help) {
		cli_help_print(stdout, group);
		return EXIT_OK;
	}
	c = find_command(p, &used);
	if (c == NULL)
		return p->nwords > 1 ? unknown_command(p->words[1], group)
				     : usage(group, "'%s' needs a further word", group);
	for (size_t i = 0; i < p->nspecial; i++)
		if ((p->special[i]->group & c->takes) == 0)
			return usage(group, "%s is no option of this command", p->special[i]->flag);
	assert(used <= p->nwords && (c->nargs == ARGS_ANY || c->nargs <= ARGS_MAX));
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
			const char *group = i + 1 < argc ? argv[i + 1] : NULL;

			return cli_help_print_man(stdout, group)
				       ? EXIT_OK
				       : usage(NULL, "there is no manual page of '%s'", group);
		}
		if (strcmp(argv[i], "--completion") == 0 && i + 1 < argc)
			return cli_completion_print(stdout, argv[i + 1])
				       ? EXIT_OK
				       : usage(NULL, "there is completion for bash and zsh, not for '%s'",
					       argv[i + 1]);
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
