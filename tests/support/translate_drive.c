/* translate_drive.c — the translation engine without a server, for tests:
 *   translate-drive [--slots N] [--seconds N] [--off] [--apertium DIR] [--cancel-after MS]
 *                   [--engine PAIR=ENGINE]… (SETTINGS INPUT OUTPUT)…
 * A line of JSON for each result, in the order in which they come. */
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "translate/engine.h"

static struct translate_rules rules;
static struct translate_options options = { .slots = 1, .rules = &rules, .programs = TRANSLATE_PROGRAMS };
static int cancel_after = -1;

static int complain(const char *what)
{
	fprintf(stderr, "translate-drive: %s\n", what);
	return 2;
}

static int add_rule(char *rule)
{
	char *equals = strchr(rule, '=');
	struct err e = { 0 };

	if (equals == NULL)
		return complain("--engine takes PAIR=ENGINE");
	*equals = '\0';
	return translate_rules_add(&rules, rule, equals + 1, &e) < 0 ? complain(e.text) : 0;
}

/* Returns the number of the first argument that is no option; negative: a mistake. */
static int read_options(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && strncmp(argv[i], "--", 2) == 0; i++) {
		if (strcmp(argv[i], "--off") == 0) {
			options.jail_off = true;
			continue;
		}
		if (i + 1 == argc)
			return -complain("an option without its value");
		if (strcmp(argv[i], "--slots") == 0)
			options.slots = (unsigned)atoi(argv[++i]);
		else if (strcmp(argv[i], "--seconds") == 0)
			options.seconds = (unsigned)atoi(argv[++i]);
		else if (strcmp(argv[i], "--apertium") == 0)
			options.apertium = argv[++i];
		else if (strcmp(argv[i], "--cancel-after") == 0)
			cancel_after = atoi(argv[++i]);
		else if (strcmp(argv[i], "--engine") != 0 || add_rule(argv[++i]) != 0)
			return -complain("an option that is not known");
	}
	return i;
}

static int submit(const struct document_engine *e, char **argv, int i)
{
	struct document_task task = {
		.id = (uint64_t)i,
		.input = open(argv[i + 1], O_RDONLY | O_CLOEXEC),
		.output = open(argv[i + 2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644),
		.input_name = argv[i + 1],
		.output_name = argv[i + 2],
		.settings = argv[i],
		.settings_len = strlen(argv[i]),
		.attempt = 1,
	};
	struct err err = { 0 };

	if (task.input < 0 || task.output < 0)
		return complain("a file cannot be opened");
	return e->ops->submit(e->engine, &task, &err) < 0 ? complain(err.text) : 0;
}

static void show(const struct document_result *r, char **argv)
{
	json_t *line = json_pack("{s:s, s:i, s:s, s:s, s:i, s:i, s:i}", "input", argv[r->id + 1], "error",
				 r->error, "name", document_error_name(r->error), "text", r->text, "size",
				 (int)r->output_size, "cpu_ms", (int)r->cpu_ms, "wall_ms", (int)r->wall_ms);

	json_dumpf(line, stdout, JSON_COMPACT);
	puts("");
	fflush(stdout);
	json_decref(line);
}

/* Waits for one result; 0: it came. */
static int wait_one(const struct document_engine *e, char **argv)
{
	struct document_result r;
	int rc;

	while ((rc = e->ops->next(e->engine, &r)) == 0) {
		struct pollfd p = { .fd = e->ops->fd(e->engine), .events = POLLIN };

		if (poll(&p, 1, cancel_after) == 0) {
			for (int i = 1; argv[i] != NULL; i++)
				e->ops->cancel(e->engine, (uint64_t)i);
		}
	}
	if (rc < 0)
		return complain("the engine died");
	show(&r, argv);
	return 0;
}

int main(int argc, char **argv)
{
	struct document_engine e;
	struct err err = { 0 };
	unsigned running = 0;
	int i = read_options(argc, argv), rc = 0;

	if (i < 0 || (argc - i) % 3 != 0)
		return complain("see the head of translate_drive.c");
	if (translate_start(&options, &e, &err) < 0)
		return complain(err.text);
	for (; i < argc && rc == 0; i += 3) {
		if (running == options.slots) {
			rc = wait_one(&e, argv);
			running--;
		}
		if (rc == 0)
			rc = submit(&e, argv, i);
		running++;
	}
	for (; running > 0 && rc == 0; running--)
		rc = wait_one(&e, argv);
	e.ops->stop(e.engine);
	translate_rules_fini(&rules);
	return rc;
}
