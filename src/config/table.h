/* table.h — tables of settings: the server's, the scheduler's, the workers'. Each is a file
 * settings.def; fields.inc makes a struct of it and rows.inc an array of struct setting, by which
 * the functions here fill the struct and tell people what there is. */
#ifndef CONFIG_TABLE_H
#define CONFIG_TABLE_H

#include <stdio.h>

#include "base/err.h"

enum setting_kind { KIND_GROUP, KIND_STRING, KIND_INT, KIND_BOOL, KIND_CHOICE };

struct setting {
	enum setting_kind kind;
	const char *name;    /* "io_threads"; of a group: its title */
	const char *flag;    /* "--io-threads N"; empty: it has none */
	const char *def;     /* default, in the form a user would write */
	const char *choices; /* "off|on|required|strict" */
	const char *unit;    /* "bytes" */
	const char *help;
	long long min, max;
	size_t offset; /* of the field */
};

struct config_table {
	const struct setting *settings;
	size_t n;
};

/* By name as in the file; '-' counts as '_'. NULL: none. */
const struct setting *config_table_find(const struct config_table *t, const char *name);
/* Puts the value into its field of the struct at `to`. where says who set it, for the message;
 * empty when the caller puts that in front. */
MUST_CHECK int config_table_assign(void *to, const struct setting *s, const char *value, const char *where,
				   struct err *reterr);
/* All fields of a struct that is zeroed. After a failure it is for config_table_fini(), too. */
MUST_CHECK int config_table_defaults(const struct config_table *t, void *to, struct err *reterr);
/* Frees the strings. */
void config_table_fini(const struct config_table *t, void *to);
/* For --help: each by its flag, or by its name in a file. */
void config_table_print(FILE *f, const struct config_table *t, bool by_name);
/* The same for a manual page, in mdoc. */
void config_table_print_mdoc(FILE *f, const struct config_table *t, bool by_name);

/* file.c: a line of a file with settings; -1 and *reterr says why it is refused. */
typedef int config_entry(void *arg, const char *section, const char *name, const char *value,
			 struct err *reterr);
/* Gives each line to entry(), until one is refused: that error names file and line. */
MUST_CHECK int config_file_read(const char *path, config_entry *entry, void *arg, struct err *reterr);

#endif
