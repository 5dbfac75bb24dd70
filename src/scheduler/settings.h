/* settings.h — the scheduler's configuration: an INI file with a section [scheduler] and one
 * [handler:CLASS] for each class it runs. */
#ifndef SCHEDULER_SETTINGS_H
#define SCHEDULER_SETTINGS_H

#include <stdatomic.h>

#include "base/err.h"
#include "base/log.h"
#include "schedule/job_class.h"

#define HANDLERS_MAX 8

struct handler {
	const struct job_class *class;
	char *line;         /* the command as it was written */
	char **argv;        /* its words, NULL at the end */
	unsigned timeout_s; /* 0: the setting of [scheduler] */
};

struct settings {
	unsigned interval_s;   /* the pending-jobs timer, [MS-SSPSJ] 3.2.2 */
	unsigned timeout_s;    /* time limit of handlers; 0: none */
	unsigned kill_after_s; /* from SIGTERM to SIGKILL */
	unsigned max_running;
	unsigned clock_check_ms; /* how soon a clock that was set is noticed */
	bool run_in_doubt;       /* see docs/scheduler.md */
	enum log_level log_level;
	char *state;    /* folder; NULL: nothing is kept */
	char *database; /* NULL: not set */
	struct handler handlers[HANDLERS_MAX];
	size_t nhandlers;
	atomic_uint refs; /* of those made by scheduler_settings_new */
	/* whose handlers are still needed for what was taken under them; NULL: none */
	struct settings *previous;
};

/* Counted: two threads use them, and SIGHUP brings new ones. The last scheduler_settings_unref
 * also gives up the previous ones. NULL: no memory. */
struct settings *scheduler_settings_new(void);
struct settings *scheduler_settings_ref(struct settings *s);
void scheduler_settings_unref(struct settings *s);
void scheduler_settings_init(struct settings *s);
MUST_CHECK int scheduler_settings_load(struct settings *s, const char *path, struct err *reterr);
void scheduler_settings_fini(struct settings *s);
/* NULL: none is configured. */
const struct handler *scheduler_settings_handler(const struct settings *s, const struct job_class *class);

#endif
