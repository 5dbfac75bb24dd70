/* settings.h — the configuration of a worker: an INI file with a section [worker]; other
 * sections are the engine's. */
#ifndef WORKER_SETTINGS_H
#define WORKER_SETTINGS_H

#include "base/err.h"
#include "base/log.h"
#include "document/places.h"

struct worker_settings {
	unsigned slots; /* documents at once; 0: as many as there are processors */
	unsigned limit_s, stale_s, interval_ms, grace_s; /* see struct worker_options */
	unsigned max_input_mib, transfer_s;
	char *roots, *hosts;            /* between blanks; NULL: none */
	char *netrc, *state, *database; /* NULL: not set */
	bool jail;
	enum log_level log_level;
};

/* A setting of another section. -1: unknown or wrong, and *reterr says why. */
typedef int worker_section(void *arg, const char *section, const char *name, const char *value,
			   struct err *reterr);

void worker_settings_init(struct worker_settings *s);
/* others may be NULL: then there is no other section. */
MUST_CHECK int worker_settings_load(struct worker_settings *s, const char *path, worker_section *others,
				    void *arg, struct err *reterr);
/* As a line of the file would: for options of a command. */
MUST_CHECK int worker_settings_set(struct worker_settings *s, const char *name, const char *value,
				   struct err *reterr);
/* Whether the numbers go together. */
MUST_CHECK int worker_settings_check(const struct worker_settings *s, struct err *reterr);
MUST_CHECK int worker_settings_places(const struct worker_settings *s, struct document_places **ret,
				      struct err *reterr);
unsigned worker_settings_slots(const struct worker_settings *s);
void worker_settings_fini(struct worker_settings *s);

#endif
