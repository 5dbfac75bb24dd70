/* settings.c — see settings.h. What is unknown or out of bounds is an error that names its line:
 * a typing mistake must not turn a handler off. */
#include "scheduler/settings.h"

#include <ini.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"

static const struct {
	const char *name;
	size_t offset;
	unsigned low, high;
} numbers[] = {
	{ "interval", offsetof(struct settings, interval_s), 1, 86400 },
	{ "timeout", offsetof(struct settings, timeout_s), 0, 31536000 },
	{ "kill_after", offsetof(struct settings, kill_after_s), 1, 3600 },
	{ "max_running", offsetof(struct settings, max_running), 1, 1000 },
	{ "clock_check", offsetof(struct settings, clock_check_ms), 1, 60000 },
};

void scheduler_settings_init(struct settings *s)
{
	*s = (struct settings){ .interval_s = 60,
				.timeout_s = 3600,
				.kill_after_s = 10,
				.max_running = 16,
				.clock_check_ms = 1000,
				.run_in_doubt = true,
				.log_level = LOG_INFO };
}

struct settings *scheduler_settings_new(void)
{
	struct settings *s = malloc(sizeof(*s));

	if (s == NULL)
		return NULL;
	scheduler_settings_init(s);
	atomic_init(&s->refs, 1);
	return s;
}

struct settings *scheduler_settings_ref(struct settings *s)
{
	atomic_fetch_add(&s->refs, 1);
	return s;
}

void scheduler_settings_unref(struct settings *s)
{
	while (s != NULL && atomic_fetch_sub(&s->refs, 1) == 1) {
		struct settings *previous = s->previous;

		scheduler_settings_fini(s);
		free(s);
		s = previous;
	}
}

struct reading {
	struct settings *s;
	struct err *reterr;
	bool failed;
};

static bool parse_number(const char *text, unsigned low, unsigned high, unsigned *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || n < low || n > high)
		return false;
	*ret = (unsigned)n;
	return true;
}

static int replace(char **dst, const char *value, struct err *reterr)
{
	char *copy = strdup(value);

	if (copy == NULL)
		return err_nomem(reterr);
	free(*dst);
	*dst = copy;
	return 0;
}

static int set_scheduler(struct settings *s, const char *name, const char *value, struct err *reterr)
{
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		if (strcmp(name, numbers[i].name) != 0)
			continue;
		if (!parse_number(value, numbers[i].low, numbers[i].high,
				  (unsigned *)(void *)((char *)s + numbers[i].offset)))
			return err_raise(reterr, 50000, 16, 1, "%s takes a number from %u to %u, not '%s'",
					 name, numbers[i].low, numbers[i].high, value);
		return 0;
	}
	if (strcmp(name, "state") == 0)
		return replace(&s->state, value, reterr);
	if (strcmp(name, "database") == 0)
		return replace(&s->database, value, reterr);
	if (strcmp(name, "in_doubt") == 0 && (strcmp(value, "run") == 0 || strcmp(value, "skip") == 0)) {
		s->run_in_doubt = value[0] == 'r';
		return 0;
	}
	if (strcmp(name, "log_level") == 0)
		return log_parse_level(value, &s->log_level)
			       ? 0
			       : err_raise(reterr, 50000, 16, 1,
					   "log_level takes error, warn, info or debug, not '%s'", value);
	if (strcmp(name, "in_doubt") == 0)
		return err_raise(reterr, 50000, 16, 1, "in_doubt takes run or skip, not '%s'", value);
	return err_raise(reterr, 50000, 16, 1, "[scheduler] has no setting '%s'", name);
}

static int find_handler(struct settings *s, const char *class_name, struct handler **ret, struct err *reterr)
{
	const struct job_class *class = schedule_class_by_name(str_of(class_name));

	if (class == NULL)
		return err_raise(reterr, 50000, 16, 1, "'%s' is no class of scheduled jobs", class_name);
	if (class->ignored)
		return err_raise(reterr, 50000, 16, 1,
				 "jobs of the class %s are left to the program that owns them ([MS-SSPSJ] "
				 "3.2.4.1): no handler is possible",
				 class->name);
	for (size_t i = 0; i < s->nhandlers; i++) {
		if (s->handlers[i].class == class) {
			*ret = &s->handlers[i];
			return 0;
		}
	}
	*ret = &s->handlers[s->nhandlers++]; /* no more of them than classes */
	**ret = (struct handler){ .class = class };
	return 0;
}

static int set_handler(struct settings *s, const char *class_name, const char *name, const char *value,
		       struct err *reterr)
{
	struct handler *h;

	if (find_handler(s, class_name, &h, reterr) < 0)
		return -1;
	if (strcmp(name, "timeout") == 0) {
		if (!parse_number(value, 1, 31536000, &h->timeout_s))
			return err_raise(reterr, 50000, 16, 1,
					 "timeout takes a number of seconds, 1 to 31536000, not '%s'", value);
		return 0;
	}
	if (strcmp(name, "command") != 0)
		return err_raise(reterr, 50000, 16, 1, "[handler:%s] has no setting '%s'", class_name, name);
	words_free(h->argv);
	h->argv = words_split(value);
	if (h->argv == NULL || h->argv[0][0] != '/')
		return err_raise(reterr, 50000, 16, 1,
				 "the command of %s must begin with a whole path, such as "
				 "/usr/local/bin/import, and close its quotations: '%s'",
				 class_name, value);
	return replace(&h->line, value, reterr);
}

static int on_setting(void *arg, const char *section, const char *name, const char *value)
{
	struct reading *r = arg;
	int rc;

	if (strcmp(section, "scheduler") == 0)
		rc = set_scheduler(r->s, name, value, r->reterr);
	else if (strncmp(section, "handler:", 8) == 0)
		rc = set_handler(r->s, section + 8, name, value, r->reterr);
	else
		rc = err_raise(r->reterr, 50000, 16, 1, "unknown section [%s]", section);
	r->failed = r->failed || rc < 0;
	return rc == 0;
}

int scheduler_settings_load(struct settings *s, const char *path, struct err *reterr)
{
	struct err e = { 0 };
	struct reading r = { .s = s, .reterr = &e };
	int line = ini_parse(path, on_setting, &r);

	if (line < 0)
		return err_raise(reterr, 50000, 16, 1, "cannot read '%s'", path);
	if (line > 0)
		return err_raise(reterr, 50000, 16, 1, "%s:%d: %s", path, line,
				 r.failed ? e.text : "neither [section] nor name = value");
	for (size_t i = 0; i < s->nhandlers; i++)
		if (s->handlers[i].argv == NULL)
			return err_raise(reterr, 50000, 16, 1, "%s: [handler:%s] has no command", path,
					 s->handlers[i].class->name);
	return 0;
}

void scheduler_settings_fini(struct settings *s)
{
	for (size_t i = 0; i < s->nhandlers; i++) {
		words_free(s->handlers[i].argv);
		free(s->handlers[i].line);
	}
	free(s->state);
	free(s->database);
	memset(s, 0, sizeof(*s));
}

const struct handler *scheduler_settings_handler(const struct settings *s, const struct job_class *class)
{
	for (size_t i = 0; i < s->nhandlers; i++)
		if (s->handlers[i].class == class)
			return &s->handlers[i];
	return NULL;
}
