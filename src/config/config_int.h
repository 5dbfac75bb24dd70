/* config_int.h — the server's table of settings, for the files of this folder. */
#ifndef CONFIG_CONFIG_INT_H
#define CONFIG_CONFIG_INT_H

#include "config/config.h"
#include "config/table.h"

extern const struct config_table config_table;
#define SETTINGS_MAX 96 /* bound on its length, for small bitmaps */

/* Length of the flag without the name of its value. */
size_t config_setting_flag_len(const struct setting *s);

/* manual.c: what the program says about itself. */
void config_manual_print_help(FILE *f);
void config_manual_print_version(FILE *f);
void config_manual_print_man(FILE *f);

#endif
