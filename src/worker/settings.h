/* settings.h — the configuration of a worker: an INI file with a section [worker]; other
 * sections are the engine's. */
#ifndef WORKER_SETTINGS_H
#define WORKER_SETTINGS_H

#include "base/err.h"
#include "base/log.h"
#include "config/table.h"
#include "document/places.h"

struct worker_settings {
#define SETTINGS "worker/settings.def"
#include "config/fields.inc"
};
extern const struct config_table worker_settings_table;

/* The defaults. After a failure it is for worker_settings_fini(), too. */
MUST_CHECK int worker_settings_init(struct worker_settings *s, struct err *reterr);
/* others: what stands in other sections; may be NULL: then there is none. */
MUST_CHECK int worker_settings_load(struct worker_settings *s, const char *path, config_entry *others,
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
