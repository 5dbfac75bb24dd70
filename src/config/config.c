/* config.c — the settings from their four places. Each place is applied on top of the one
 * before: default, file, environment, flags; so the order of the calls in apply_all() is the
 * rule itself. The arguments of the start are kept, so that a reload goes through the same
 * steps. */
#include "config/config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_int.h"

static const struct setting settings[] = {
#define SETTINGS "config/settings.def"
#define SETTINGS_OF struct config
#include "config/rows.inc"
};
const struct config_table config_table = { settings, ARRAY_LEN(settings) };
_Static_assert(ARRAY_LEN(settings) <= SETTINGS_MAX, "raise SETTINGS_MAX");

struct config_loaded {
	struct config config; /* what others see */
	int argc;
	char **argv; /* owned copy, without the program's name */
};

/* ---- flags ---- */

/* The setting whose flag is the n bytes at flag ("--io-threads"). */
static const struct setting *find_flag(const char *flag, size_t n)
{
	for (size_t i = 0; i < config_table.n; i++)
		if (settings[i].kind != KIND_GROUP && config_setting_flag_len(&settings[i]) == n &&
		    memcmp(settings[i].flag, flag, n) == 0)
			return &settings[i];
	return NULL;
}

/* What an argument says: setting and value. Advances *i past a value that stands apart. */
static int read_flag(struct config_loaded *l, int *i, const struct setting **ret, const char **ret_value,
		     struct err *reterr)
{
	const char *arg = l->argv[*i];
	size_t n = strcspn(arg, "=");
	const struct setting *s = find_flag(arg, n);

	if (s == NULL)
		return err_raise(reterr, 50000, 16, 1,
				 "unknown %s '%.100s'; processiond --help lists the settings",
				 arg[0] == '-' ? "flag" : "argument", arg);
	*ret = s;
	if (arg[n] == '=') {
		*ret_value = arg + n + 1;
		return 0;
	}
	if (s->kind == KIND_BOOL) {
		*ret_value = "yes";
		return 0;
	}
	if (*i + 1 >= l->argc)
		return err_raise(reterr, 50000, 16, 1, "flag %s: a value is missing; use %s", arg, s->flag);
	*ret_value = l->argv[++*i];
	return 0;
}

static int apply_flags(struct config_loaded *l, struct err *reterr)
{
	for (int i = 0; i < l->argc; i++) {
		const struct setting *s;
		const char *value;
		char where[80];

		if (read_flag(l, &i, &s, &value, reterr) < 0)
			return -1;
		snprintf(where, sizeof(where), "flag %.*s", (int)config_setting_flag_len(s), s->flag);
		if (config_table_assign(&l->config, s, value, where, reterr) < 0)
			return -1;
	}
	return 0;
}

/* ---- environment ---- */

static void environment_name(const struct setting *s, char *dst, size_t size)
{
	snprintf(dst, size, "PROCESSION_%s", s->name);
	for (char *p = dst; *p != '\0'; p++)
		if (*p >= 'a' && *p <= 'z')
			*p = (char)(*p - 'a' + 'A');
}

/* Other PROCESSION_ names are left alone: the command has some of its own, and container
 * platforms invent more. */
static int apply_environment(struct config_loaded *l, struct err *reterr)
{
	for (size_t i = 0; i < config_table.n; i++) {
		char name[80], where[96];
		const char *value;

		if (settings[i].kind == KIND_GROUP)
			continue;
		environment_name(&settings[i], name, sizeof(name));
		value = getenv(name);
		if (value == NULL || value[0] == '\0')
			continue;
		snprintf(where, sizeof(where), "environment %s", name);
		if (config_table_assign(&l->config, &settings[i], value, where, reterr) < 0)
			return -1;
	}
	return 0;
}

/* ---- file ---- */

struct file_reader {
	struct config_loaded *loaded;
	bool seen[SETTINGS_MAX];
};

static int file_entry(void *arg, const char *section, const char *name, const char *value, struct err *reterr)
{
	struct file_reader *r = arg;
	const struct setting *s = config_table_find(&config_table, name);

	if (section[0] != '\0' && strcmp(section, "processiond") != 0)
		return err_raise(
			reterr, 50000, 16, 1,
			"unknown section [%.60s]; settings stand in [processiond] or before any section",
			section);
	if (s == NULL)
		return err_raise(reterr, 50000, 16, 1,
				 "unknown setting '%.60s'; processiond --help lists the settings", name);
	if (s->offset == offsetof(struct config, config))
		return err_raise(
			reterr, 50000, 16, 1,
			"'config' can only be given by flag or environment: a file cannot name another");
	assert(s >= settings && s < settings + ARRAY_LEN(settings));
	if (r->seen[s - settings])
		return err_raise(reterr, 50000, 16, 1, "'%s' is set twice", name);
	r->seen[s - settings] = true;
	return config_table_assign(&r->loaded->config, s, value, "", reterr);
}

static int apply_file(struct config_loaded *l, const char *path, struct err *reterr)
{
	struct file_reader r = { .loaded = l };

	return config_file_read(path, file_entry, &r, reterr);
}

/* ---- all of it ---- */

/* The path of the file has to be known before the file can be applied beneath the other two. */
static int find_file(struct config_loaded *l, const char **ret, struct err *reterr)
{
	const char *path = getenv("PROCESSION_CONFIG");

	for (int i = 0; i < l->argc; i++) {
		const struct setting *s;
		const char *value;

		if (read_flag(l, &i, &s, &value, reterr) < 0)
			return -1;
		if (s->offset == offsetof(struct config, config))
			path = value;
	}
	*ret = path;
	return 0;
}

static int apply_all(struct config_loaded *l, struct err *reterr)
{
	const char *path;

	if (config_table_defaults(&config_table, &l->config, reterr) < 0 || find_file(l, &path, reterr) < 0)
		return -1;
	if (path != NULL && path[0] != '\0' && apply_file(l, path, reterr) < 0)
		return -1;
	if (apply_environment(l, reterr) < 0 || apply_flags(l, reterr) < 0)
		return -1;
	assert(l->config.listen != NULL); /* strings are never NULL: invariant 1 */
	if (l->config.data == NULL || l->config.data[0] == '\0')
		return err_raise(reterr, 50000, 16, 1,
				 "--data DIR is missing: the folder that holds the databases. Example: "
				 "processiond --data /var/lib/procession");
	if (l->config.listen == NULL || l->config.listen[0] == '\0')
		return err_raise(reterr, 50000, 16, 1, "--listen is empty; example: --listen 127.0.0.1:1433");
	return 0;
}

static int loaded_new(int argc, char *const *argv, struct config_loaded **ret, struct err *reterr)
{
	struct config_loaded *l = calloc(1, sizeof(*l));
	int rc;

	if (l == NULL)
		return err_nomem(reterr);
	l->argv = calloc((size_t)argc + 1, sizeof(*l->argv));
	for (; l->argv != NULL && l->argc < argc; l->argc++) {
		l->argv[l->argc] = strdup(argv[l->argc]);
		if (l->argv[l->argc] == NULL)
			break;
	}
	rc = l->argv == NULL || l->argc < argc ? err_nomem(reterr) : apply_all(l, reterr);
	if (rc < 0) {
		config_free(&l->config);
		return rc;
	}
	*ret = l;
	return 0;
}

/* True when the arguments ask for a text instead of a server. */
static bool answered(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			config_manual_print_help(stdout);
		else if (strcmp(argv[i], "--version") == 0)
			config_manual_print_version(stdout);
		else if (strcmp(argv[i], "--help-man") == 0)
			config_manual_print_man(stdout);
		else
			continue;
		return true;
	}
	return false;
}

int config_load(int argc, char **argv, struct config **ret, struct err *reterr)
{
	struct config_loaded *l;

	if (answered(argc, argv))
		return 1;
	if (loaded_new(argc > 0 ? argc - 1 : 0, argv + (argc > 0), &l, reterr) < 0)
		return -1;
	*ret = &l->config;
	return 0;
}

int config_reload(const struct config *old, struct config **ret, struct err *reterr)
{
	const struct config_loaded *was = CONTAINER_OF(old, struct config_loaded, config);
	struct config_loaded *l;

	if (loaded_new(was->argc, was->argv, &l, reterr) < 0)
		return -1;
	*ret = &l->config;
	return 0;
}

static bool differs(const struct config *a, const struct config *b, const struct setting *s)
{
	const void *x = (const char *)a + s->offset, *y = (const char *)b + s->offset;

	switch (s->kind) {
	case KIND_STRING: return strcmp(*(char *const *)x, *(char *const *)y) != 0;
	case KIND_INT: return *(const long long *)x != *(const long long *)y;
	case KIND_BOOL: return *(const bool *)x != *(const bool *)y;
	case KIND_CHOICE: return *(const int *)x != *(const int *)y;
	case KIND_GROUP: return false;
	}
	return false;
}

const char *config_next_change(const struct config *a, const struct config *b, size_t *i)
{
	while (*i < config_table.n) {
		const struct setting *s = &settings[(*i)++];

		if (differs(a, b, s))
			return s->name;
	}
	return NULL;
}

/* Choices are kept by their number. */
static void choice_text(const struct setting *s, int n, char *dst, size_t size)
{
	const char *p = s->choices;

	for (; n > 0 && p != NULL; n--) {
		p = strchr(p, '|');
		p += p != NULL;
	}
	snprintf(dst, size, "%.*s", p == NULL ? 0 : (int)strcspn(p, "|"), p == NULL ? "" : p);
}

void config_value_text(const struct config *c, const char *name, char *dst, size_t size)
{
	const struct setting *s = config_table_find(&config_table, name);
	const char *field = s == NULL ? NULL : (const char *)c + s->offset;

	dst[0] = '\0';
	if (s == NULL)
		return;
	switch (s->kind) {
	case KIND_STRING: snprintf(dst, size, "%s", *(char *const *)(const void *)field); break;
	case KIND_INT: snprintf(dst, size, "%lld", *(const long long *)(const void *)field); break;
	case KIND_BOOL: snprintf(dst, size, "%s", *(const bool *)field ? "yes" : "no"); break;
	case KIND_CHOICE: choice_text(s, *(const int *)(const void *)field, dst, size); break;
	case KIND_GROUP: break;
	}
}

void config_free(struct config *c)
{
	struct config_loaded *l;

	if (c == NULL)
		return;
	l = CONTAINER_OF(c, struct config_loaded, config);
	config_table_fini(&config_table, c);
	for (int i = 0; i < l->argc; i++)
		free(l->argv[i]);
	free(l->argv);
	free(l);
}
