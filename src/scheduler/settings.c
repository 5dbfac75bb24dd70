/* settings.c — see settings.h. What is unknown or out of bounds is an error that names its line:
 * a typing mistake must not turn a handler off. */
#include "scheduler/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/words.h"

static const struct setting table[] = {
#define SETTINGS "scheduler/settings.def"
#define SETTINGS_OF struct settings
#include "config/rows.inc"
};
const struct config_table scheduler_settings_table = { table, ARRAY_LEN(table) };

int scheduler_settings_init(struct settings *s, struct err *reterr)
{
	memset(s, 0, sizeof(*s));
	return config_table_defaults(&scheduler_settings_table, s, reterr);
}

struct settings *scheduler_settings_new(void)
{
	struct settings *s = malloc(sizeof(*s));
	struct err e;

	if (s == NULL)
		return NULL;
	if (scheduler_settings_init(s, &e) < 0) {
		scheduler_settings_fini(s);
		free(s);
		return NULL;
	}
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

int scheduler_settings_set(struct settings *s, const char *name, const char *value, struct err *reterr)
{
	const struct setting *one = config_table_find(&scheduler_settings_table, name);

	if (one == NULL)
		return err_raise(reterr, 50000, 16, 1,
				 "[scheduler] has no setting '%.60s'; procession scheduler --help lists them",
				 name);
	return config_table_assign(s, one, value, "", reterr);
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

static int on_setting(void *arg, const char *section, const char *name, const char *value, struct err *reterr)
{
	if (strcmp(section, "scheduler") == 0)
		return scheduler_settings_set(arg, name, value, reterr);
	if (strncmp(section, "handler:", 8) == 0)
		return set_handler(arg, section + 8, name, value, reterr);
	return err_raise(reterr, 50000, 16, 1, "unknown section [%.60s]", section);
}

int scheduler_settings_load(struct settings *s, const char *path, struct err *reterr)
{
	if (config_file_read(path, on_setting, s, reterr) < 0)
		return -1;
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
	s->nhandlers = 0;
	config_table_fini(&scheduler_settings_table, s);
}

const struct handler *scheduler_settings_handler(const struct settings *s, const struct job_class *class)
{
	for (size_t i = 0; i < s->nhandlers; i++)
		if (s->handlers[i].class == class)
			return &s->handlers[i];
	return NULL;
}
