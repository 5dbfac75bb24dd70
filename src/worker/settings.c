/* settings.c — see settings.h. What is unknown or out of bounds is an error that names its line. */
#include "worker/settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct setting settings[] = {
#define SETTINGS "worker/settings.def"
#define SETTINGS_OF struct worker_settings
#include "config/rows.inc"
};
const struct config_table worker_settings_table = { settings, ARRAY_LEN(settings) };

int worker_settings_init(struct worker_settings *s, struct err *reterr)
{
	memset(s, 0, sizeof(*s));
	return config_table_defaults(&worker_settings_table, s, reterr);
}

int worker_settings_set(struct worker_settings *s, const char *name, const char *value, struct err *reterr)
{
	const struct setting *one = config_table_find(&worker_settings_table, name);

	if (one == NULL)
		return err_raise(reterr, 50000, 16, 1,
				 "[worker] has no setting '%.60s'; procession worker --help lists them",
				 name);
	return config_table_assign(s, one, value, "", reterr);
}

struct reading {
	struct worker_settings *s;
	config_entry *others;
	void *arg;
};

static int on_setting(void *arg, const char *section, const char *name, const char *value, struct err *reterr)
{
	struct reading *r = arg;

	if (strcmp(section, "worker") == 0)
		return worker_settings_set(r->s, name, value, reterr);
	if (r->others != NULL)
		return r->others(r->arg, section, name, value, reterr);
	return err_raise(reterr, 50000, 16, 1, "unknown section [%.60s]", section);
}

int worker_settings_load(struct worker_settings *s, const char *path, config_entry *others, void *arg,
			 struct err *reterr)
{
	struct reading r = { .s = s, .others = others, .arg = arg };

	return config_file_read(path, on_setting, &r, reterr);
}

int worker_settings_check(const struct worker_settings *s, struct err *reterr)
{
	/* After 9/10 of the threshold nothing is published; the limit must lie before that. */
	if (s->time_limit * 5 > s->stale_after * 4)
		return err_raise(reterr, 50000, 16, 1,
				 "stale_after (%lld s) must be at least 5/4 of time_limit (%lld s): else "
				 "others take what still runs",
				 s->stale_after, s->time_limit);
	return 0;
}

/* Each word of a list. */
static int each_word(const char *list, int (*add)(struct document_places *, const char *, struct err *),
		     struct document_places *p, struct err *reterr)
{
	char *copy = strdup(list), *rest = copy, *word;
	int rc = copy == NULL ? err_nomem(reterr) : 0;

	while (rc == 0 && rest != NULL && (word = strsep(&rest, " \t,")) != NULL)
		if (word[0] != '\0')
			rc = add(p, word, reterr);
	free(copy);
	return rc;
}

int worker_settings_places(const struct worker_settings *s, struct document_places **ret, struct err *reterr)
{
	const struct document_limits limits = { .max_bytes = (uint64_t)s->max_input << 20,
						.seconds = (unsigned)s->transfer_limit };
	struct document_places *p;

	if (document_places_new(&limits, &p, reterr) < 0)
		return -1;
	if (each_word(s->roots, document_places_add_root, p, reterr) < 0 ||
	    each_word(s->hosts, document_places_add_host, p, reterr) < 0 ||
	    (s->netrc[0] != '\0' && document_places_set_netrc(p, s->netrc, reterr) < 0)) {
		document_places_free(p);
		return -1;
	}
	*ret = p;
	return 0;
}

unsigned worker_settings_slots(const struct worker_settings *s)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	return s->slots > 0 ? (unsigned)s->slots : cores < 1 ? 1 : cores > 64 ? 64 : (unsigned)cores;
}

void worker_settings_fini(struct worker_settings *s)
{
	config_table_fini(&worker_settings_table, s);
}
