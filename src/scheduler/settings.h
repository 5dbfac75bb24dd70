/* settings.h — the scheduler's configuration: an INI file with a section [scheduler] and one
 * [handler:CLASS] for each class it runs. */
#ifndef SCHEDULER_SETTINGS_H
#define SCHEDULER_SETTINGS_H

#include <stdatomic.h>

#include "base/err.h"
#include "base/log.h"
#include "config/table.h"
#include "schedule/job_class.h"

#define HANDLERS_MAX 8

struct handler {
	const struct job_class *class;
	char *line;         /* the command as it was written */
	char **argv;        /* its words, NULL at the end */
	unsigned timeout_s; /* 0: the setting of [scheduler] */
};

enum in_doubt { IN_DOUBT_RUN, IN_DOUBT_SKIP }; /* see docs/scheduler.md */

struct settings {
#define SETTINGS "scheduler/settings.def"
#include "config/fields.inc"
	struct handler handlers[HANDLERS_MAX];
	size_t nhandlers;
	atomic_uint refs; /* of those made by scheduler_settings_new */
	/* whose handlers are still needed for what was taken under them; NULL: none */
	struct settings *previous;
};
extern const struct config_table scheduler_settings_table;

/* Counted: two threads use them, and SIGHUP brings new ones. The last scheduler_settings_unref
 * also gives up the previous ones. NULL: no memory. */
struct settings *scheduler_settings_new(void);
struct settings *scheduler_settings_ref(struct settings *s);
void scheduler_settings_unref(struct settings *s);
/* The defaults. After a failure it is for scheduler_settings_fini(), too. */
MUST_CHECK int scheduler_settings_init(struct settings *s, struct err *reterr);
/* As a line of [scheduler] would: for options of the command. */
MUST_CHECK int scheduler_settings_set(struct settings *s, const char *name, const char *value,
				      struct err *reterr);
MUST_CHECK int scheduler_settings_load(struct settings *s, const char *path, struct err *reterr);
void scheduler_settings_fini(struct settings *s);
/* NULL: none is configured. */
const struct handler *scheduler_settings_handler(const struct settings *s, const struct job_class *class);

#endif
