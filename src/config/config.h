/* config.h — every setting in one table (settings.def): file, flag, environment, default,
 * bounds, help text, manual. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/err.h"

enum engine_kind { ENGINE_SQLITE, ENGINE_POSTGRES };
enum encrypt_mode { ENCRYPT_NONE /* off */, ENCRYPT_OPTIONAL /* on */, ENCRYPT_REQUIRED, ENCRYPT_STRICT };

struct config {
#define SETTINGS "config/settings.def"
#include "config/fields.inc"
};

/* Order: default < file < environment (PROCESSION_<NAME>) < flag. An unknown name, a bad value
 * or a bad line is an error that names the setting, where it was set, what it takes, and an
 * example. */
MUST_CHECK int config_load(int argc, char **argv, struct config **ret, struct err *reterr);
/* Reads the file again for SIGHUP; flags and environment of the start still win. */
MUST_CHECK int config_reload(const struct config *old, struct config **ret, struct err *reterr);
/* The name of the next setting, from *i on, that the two do not share; NULL: there is none. Begin
 * with *i = 0. */
const char *config_next_change(const struct config *a, const struct config *b, size_t *i);
/* What a setting is, as a file would say it; empty for a name that is none. */
void config_value_text(const struct config *c, const char *name, char *dst, size_t size);
void config_free(struct config *c);
/* --help and --help-man (the manual page in mdoc) are answered by config_load: it returns 1 when
 * something was printed and the program should end. */

#endif
