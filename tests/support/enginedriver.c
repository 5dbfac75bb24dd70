/* enginedriver.c — drives the converter through the seam of document/engine.h, as the worker
 * does, for tests and the benchmark: without a server.
 *
 *   enginedriver [slots=N] [jail=off] [seconds=N] [renew=N] [memory=MB] [unpacked=MB]
 *                [output=MB] [office=DIR]
 *
 * Lines on standard input, fields separated by tabs; each is answered by a line:
 *   convert ID INPUT OUTPUT ATTEMPT SECONDS SETTINGS      result ID ERROR SIZE CPU_MS WALL_MS TEXT
 *   cancel ID
 * At the end of the input it waits for what runs. "ready" comes first, or "refused TEXT" and
 * status 3. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "convert/convert.h"

#define FIELDS 7

struct waiting {
	struct waiting *next;
	char *line, *fields[FIELDS];
};

struct driver {
	struct document_engine engine;
	struct waiting *first, **last;
	unsigned running;
	bool ended;
};

static unsigned long long option(int argc, char **argv, const char *name, const char **ret_text)
{
	for (int i = 1; i < argc; i++)
		if (strncmp(argv[i], name, strlen(name)) == 0 && argv[i][strlen(name)] == '=') {
			const char *value = argv[i] + strlen(name) + 1;

			if (ret_text != NULL)
				*ret_text = value;
			return strtoull(value, NULL, 10);
		}
	return 0;
}

static void split(struct waiting *w)
{
	char *at = w->line;

	at[strcspn(at, "\n")] = '\0';
	for (size_t i = 0; i < FIELDS; i++) {
		w->fields[i] = at != NULL ? at : (char *)"";
		at = at != NULL ? strchr(at, '\t') : NULL;
		if (at != NULL && i < FIELDS - 1)
			*at++ = '\0';
	}
}

static void read_line(struct driver *d)
{
	struct waiting *w = calloc(1, sizeof(*w));
	size_t size = 0;

	if (w == NULL || getline(&w->line, &size, stdin) <= 0) {
		if (w != NULL)
			free(w->line);
		free(w);
		d->ended = true;
		return;
	}
	split(w);
	if (strcmp(w->fields[0], "cancel") == 0) {
		d->engine.ops->cancel(d->engine.engine, strtoull(w->fields[1], NULL, 10));
		free(w->line);
		free(w);
		return;
	}
	*d->last = w;
	d->last = &w->next;
}

static void submit(struct driver *d)
{
	struct waiting *w = d->first;
	struct document_task t = { .id = strtoull(w->fields[1], NULL, 10) };
	struct err e = { 0 };

	d->first = w->next;
	if (d->first == NULL)
		d->last = &d->first;
	t.input = open(w->fields[2], O_RDONLY | O_CLOEXEC);
	t.output = open(w->fields[3], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	t.input_name = w->fields[2];
	t.output_name = w->fields[3];
	t.attempt = atoi(w->fields[4]);
	t.seconds = (unsigned)atoi(w->fields[5]);
	t.settings = w->fields[6];
	t.settings_len = strlen(t.settings);
	if (t.input < 0 || t.output < 0 || d->engine.ops->submit(d->engine.engine, &t, &e) < 0)
		printf("unsubmitted\t%s\t%s\n", w->fields[1], e.text[0] != '\0' ? e.text : strerror(errno));
	else
		d->running++;
	free(w->line);
	free(w);
}

static bool take_results(struct driver *d)
{
	struct document_result r;
	int rc;

	while ((rc = d->engine.ops->next(d->engine.engine, &r)) > 0) {
		printf("result\t%llu\t%d\t%llu\t%u\t%u\t%s\n", (unsigned long long)r.id, r.error,
		       (unsigned long long)r.output_size, r.cpu_ms, r.wall_ms, r.text);
		d->running--;
	}
	return rc == 0;
}

static int run(struct driver *d)
{
	for (;;) {
		struct pollfd fds[2] = { { .fd = d->engine.ops->fd(d->engine.engine), .events = POLLIN },
					 { .fd = d->ended ? -1 : 0, .events = POLLIN } };

		while (d->first != NULL && d->running < d->engine.slots)
			submit(d);
		fflush(stdout);
		if (d->ended && d->running == 0 && d->first == NULL)
			return 0;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return 4;
		if (fds[1].revents != 0)
			read_line(d);
		if (fds[0].revents != 0 && !take_results(d)) {
			printf("gone\n");
			return 5;
		}
	}
}

int main(int argc, char **argv)
{
	struct driver d = { .last = &d.first };
	struct convert_options o = { 0 };
	const char *jail = "";
	struct err e = { 0 };
	int status;

	setvbuf(stdin, NULL, _IONBF, 0); /* poll() and getline() see the same */
	o.slots = (unsigned)option(argc, argv, "slots", NULL);
	o.seconds = (unsigned)option(argc, argv, "seconds", NULL);
	o.renew_after = (unsigned)option(argc, argv, "renew", NULL);
	o.memory = option(argc, argv, "memory", NULL) << 20;
	o.unpacked_max = option(argc, argv, "unpacked", NULL) << 20;
	o.output_max = option(argc, argv, "output", NULL) << 20;
	(void)option(argc, argv, "office", &o.office);
	(void)option(argc, argv, "jail", &jail);
	o.jail_off = strcmp(jail, "off") == 0;
	if (convert_start(&o, &d.engine, &e) < 0) {
		printf("refused\t%s\n", e.text);
		return 3;
	}
	printf("ready\n");
	status = run(&d);
	d.engine.ops->stop(d.engine.engine);
	return status;
}
