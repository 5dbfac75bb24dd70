/* settings.c — see settings.h. What is unknown or out of bounds is an error that names its line. */
#include "worker/settings.h"

#include <ini.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	size_t offset;
	unsigned low, high;
} numbers[] = {
	{ "slots", offsetof(struct worker_settings, slots), 1, 64 },
	{ "time_limit", offsetof(struct worker_settings, limit_s), 1, 86400 },
	{ "stale_after", offsetof(struct worker_settings, stale_s), 2, 864000 },
	{ "interval", offsetof(struct worker_settings, interval_ms), 10, 3600000 },
	{ "grace", offsetof(struct worker_settings, grace_s), 0, 3600 },
	{ "max_input", offsetof(struct worker_settings, max_input_mib), 1, 65536 },
	{ "transfer_limit", offsetof(struct worker_settings, transfer_s), 1, 86400 },
};

static const struct {
	const char *name;
	size_t offset;
} texts[] = {
	{ "roots", offsetof(struct worker_settings, roots) },
	{ "hosts", offsetof(struct worker_settings, hosts) },
	{ "netrc", offsetof(struct worker_settings, netrc) },
	{ "state", offsetof(struct worker_settings, state) },
	{ "database", offsetof(struct worker_settings, database) },
};

void worker_settings_init(struct worker_settings *s)
{
	*s = (struct worker_settings){ .limit_s = 300,
				       .stale_s = 900,
				       .interval_ms = 1000,
				       .grace_s = 30,
				       .max_input_mib = 256,
				       .transfer_s = 120,
				       .jail = true,
				       .log_level = LOG_INFO };
}

static int set_number(struct worker_settings *s, size_t n, const char *value, struct err *reterr)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end != '\0' || number < numbers[n].low ||
	    number > numbers[n].high)
		return err_raise(reterr, 50000, 16, 1, "%s takes a number from %u to %u, not '%s'",
				 numbers[n].name, numbers[n].low, numbers[n].high, value);
	*(unsigned *)(void *)((char *)s + numbers[n].offset) = (unsigned)number;
	return 0;
}

int worker_settings_set(struct worker_settings *s, const char *name, const char *value, struct err *reterr)
{
	for (size_t n = 0; n < ARRAY_LEN(numbers); n++)
		if (strcmp(name, numbers[n].name) == 0)
			return set_number(s, n, value, reterr);
	for (size_t n = 0; n < ARRAY_LEN(texts); n++) {
		if (strcmp(name, texts[n].name) == 0) {
			char **field = (char **)(void *)((char *)s + texts[n].offset), *copy = strdup(value);

			if (copy == NULL)
				return err_nomem(reterr);
			free(*field);
			*field = copy;
			return 0;
		}
	}
	if (strcmp(name, "jail") == 0) {
		if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
			return err_raise(reterr, 50000, 16, 1, "jail takes on or off, not '%s'", value);
		s->jail = value[1] == 'n';
		return 0;
	}
	if (strcmp(name, "log_level") == 0)
		return log_parse_level(value, &s->log_level)
			       ? 0
			       : err_raise(reterr, 50000, 16, 1,
					   "log_level takes error, warn, info or debug, not '%s'", value);
	return err_raise(reterr, 50000, 16, 1, "[worker] has no setting '%s'", name);
}

struct reading {
	struct worker_settings *s;
	worker_section *others;
	void *arg;
	struct err e;
	bool failed;
};

static int on_setting(void *arg, const char *section, const char *name, const char *value)
{
	struct reading *r = arg;
	int rc;

	if (strcmp(section, "worker") == 0)
		rc = worker_settings_set(r->s, name, value, &r->e);
	else if (r->others != NULL)
		rc = r->others(r->arg, section, name, value, &r->e);
	else
		rc = err_raise(&r->e, 50000, 16, 1, "unknown section [%s]", section);
	r->failed = r->failed || rc < 0;
	return rc == 0;
}

int worker_settings_load(struct worker_settings *s, const char *path, worker_section *others, void *arg,
			 struct err *reterr)
{
	struct reading r = { .s = s, .others = others, .arg = arg };
	int line = ini_parse(path, on_setting, &r);

	if (line < 0)
		return err_raise(reterr, 50000, 16, 1, "cannot read '%s'", path);
	if (line > 0)
		return err_raise(reterr, 50000, 16, 1, "%s:%d: %s", path, line,
				 r.failed ? r.e.text : "neither [section] nor name = value");
	return 0;
}

int worker_settings_check(const struct worker_settings *s, struct err *reterr)
{
	/* After 9/10 of the threshold nothing is published; the limit must lie before that. */
	if ((uint64_t)s->limit_s * 5 > (uint64_t)s->stale_s * 4)
		return err_raise(reterr, 50000, 16, 1,
				 "stale_after (%u s) must be at least 5/4 of time_limit (%u s): else others "
				 "take what still runs",
				 s->stale_s, s->limit_s);
	return 0;
}

/* Each word of a list. */
static int each_word(const char *list, int (*add)(struct document_places *, const char *, struct err *),
		     struct document_places *p, struct err *reterr)
{
	char *copy = list != NULL ? strdup(list) : NULL, *rest = copy, *word;
	int rc = list != NULL && copy == NULL ? err_nomem(reterr) : 0;

	while (rc == 0 && rest != NULL && (word = strsep(&rest, " \t,")) != NULL)
		if (word[0] != '\0')
			rc = add(p, word, reterr);
	free(copy);
	return rc;
}

int worker_settings_places(const struct worker_settings *s, struct document_places **ret, struct err *reterr)
{
	const struct document_limits limits = { .max_bytes = (uint64_t)s->max_input_mib << 20,
						.seconds = s->transfer_s };
	struct document_places *p;

	if (document_places_new(&limits, &p, reterr) < 0)
		return -1;
	if (each_word(s->roots, document_places_add_root, p, reterr) < 0 ||
	    each_word(s->hosts, document_places_add_host, p, reterr) < 0 ||
	    (s->netrc != NULL && document_places_set_netrc(p, s->netrc, reterr) < 0)) {
		document_places_free(p);
		return -1;
	}
	*ret = p;
	return 0;
}

unsigned worker_settings_slots(const struct worker_settings *s)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return s->slots > 0 ? s->slots : cores < 1 ? 1 : cores > 64 ? 64 : (unsigned)cores;
}

void worker_settings_fini(struct worker_settings *s)
{
	for (size_t n = 0; n < ARRAY_LEN(texts); n++)
		free(*(char **)(void *)((char *)s + texts[n].offset));
	memset(s, 0, sizeof(*s));
}
