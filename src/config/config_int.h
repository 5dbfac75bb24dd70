/* config_int.h — the table of settings as data, for the files of this folder. */
#ifndef CONFIG_CONFIG_INT_H
#define CONFIG_CONFIG_INT_H

#include <stdio.h>

#include "config/config.h"

enum setting_kind { KIND_GROUP, KIND_STRING, KIND_INT, KIND_BOOL, KIND_CHOICE };

struct setting {
	enum setting_kind kind;
	const char *name;    /* "io_threads"; of a group: its title */
	const char *flag;    /* "--io-threads N" */
	const char *def;     /* default, in the form a user would write */
	const char *choices; /* "off|on|required|strict" */
	const char *unit;    /* "bytes" */
	const char *help;
	long long min, max;
	size_t offset; /* of the field in struct config */
};

extern const struct setting config_settings[];
extern const size_t config_settings_count;
#define SETTINGS_MAX 96 /* bound on config_settings_count, for small bitmaps */

/* By name as in the file; '-' counts as '_'. NULL: none. */
const struct setting *config_setting_by_name(const char *name);
/* The setting whose flag is the n bytes at flag ("--io-threads"). */
const struct setting *config_setting_by_flag(const char *flag, size_t n);
/* Length of the flag without the name of its value. */
size_t config_setting_flag_len(const struct setting *s);
/* Puts the value into the field. where says who set it, for the message; empty when the caller
 * puts that in front. */
MUST_CHECK int config_setting_assign(struct config *c, const struct setting *s, const char *value,
				     const char *where, struct err *reterr);
/* "a number of threads, 1 to 64": what the setting takes. */
void config_setting_describe(const struct setting *s, char *dst, size_t size);

/* manual.c: what the program says about itself. */
void config_manual_print_help(FILE *f);
void config_manual_print_version(FILE *f);
void config_manual_print_man(FILE *f);

#endif
