/* table.c — how the text of a value becomes a field; what is said about a setting. */
#include "config/config_int.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

size_t config_setting_flag_len(const struct setting *s)
{
	return strcspn(s->flag, " =");
}

static bool same_name(const char *a, const char *b)
{
	for (; *a != '\0' && *b != '\0'; a++, b++) {
		char x = *a == '-' ? '_' : *a;
		if (x != *b)
			return false;
	}
	return *a == *b;
}

const struct setting *config_table_find(const struct config_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->settings[i].kind != KIND_GROUP && same_name(name, t->settings[i].name))
			return &t->settings[i];
	return NULL;
}

static void describe(const struct setting *s, char *dst, size_t size)
{
	switch (s->kind) {
	case KIND_INT:
		snprintf(dst, size, "a number of %s, %lld to %lld%s", s->unit, s->min, s->max,
			 strcmp(s->unit, "bytes") == 0 ? ", also with K, M or G" : "");
		break;
	case KIND_BOOL: snprintf(dst, size, "yes or no"); break;
	case KIND_CHOICE: snprintf(dst, size, "one of %s", s->choices); break;
	default: snprintf(dst, size, "text");
	}
}

/* The one message for a value that cannot be: which setting, where, what was given, what it
 * takes, an example. */
static int refuse(const struct setting *s, const char *value, const char *where, struct err *reterr)
{
	char takes[160];

	describe(s, takes, sizeof(takes));
	return err_raise(reterr, 50000, 16, 1,
			 "%s%s'%.100s' is not a value for '%s'; it takes %s. Example: %s = %s", where,
			 where[0] != '\0' ? ": " : "", value, s->name, takes, s->name,
			 s->def[0] != '\0' ? s->def : "text");
}

/* A decimal number; with a suffix when it counts bytes. Everything must be consumed, nothing may
 * wrap. */
static bool parse_int(const struct setting *s, const char *value, long long *ret)
{
	long long factor = 1, n;
	char *end;

	if (value[0] < '0' || value[0] > '9')
		return false;
	errno = 0;
	n = strtoll(value, &end, 10);
	if (errno != 0)
		return false;
	if (*end != '\0' && strcmp(s->unit, "bytes") == 0) {
		switch (*end++) {
		case 'k':
		case 'K': factor = 1LL << 10; break;
		case 'm':
		case 'M': factor = 1LL << 20; break;
		case 'g':
		case 'G': factor = 1LL << 30; break;
		default: return false;
		}
	}
	if (*end != '\0' || __builtin_mul_overflow(n, factor, &n) || n < s->min || n > s->max)
		return false;
	*ret = n;
	return true;
}

static bool parse_bool(const char *value, bool *ret)
{
	static const char *const yes[] = { "yes", "true", "on", "1" }, *const no[] = { "no", "false", "off",
										       "0" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_eq_nocase(str_of(value), str_of(yes[i]))) {
			*ret = true;
			return true;
		}
		if (str_eq_nocase(str_of(value), str_of(no[i]))) {
			*ret = false;
			return true;
		}
	}
	return false;
}

static bool parse_choice(const char *choices, const char *value, int *ret)
{
	int index = 0;

	for (const char *p = choices;; p++, index++) {
		size_t n = strcspn(p, "|");
		if (str_eq_nocase((struct str){ p, n }, str_of(value))) {
			*ret = index;
			return true;
		}
		p += n;
		if (*p == '\0')
			return false;
	}
}

int config_table_assign(void *to, const struct setting *s, const char *value, const char *where,
			struct err *reterr)
{
	char *field = (char *)to + s->offset;
	bool ok = false;

	assert(s->kind != KIND_GROUP);
	switch (s->kind) {
	case KIND_STRING: {
		char **text = (char **)(void *)field, *copy = strdup(value);
		if (copy == NULL)
			return err_nomem(reterr);
		free(*text);
		*text = copy;
		return 0;
	}
	case KIND_INT: ok = parse_int(s, value, (long long *)(void *)field); break;
	case KIND_BOOL: ok = parse_bool(value, (bool *)field); break;
	case KIND_CHOICE: ok = parse_choice(s->choices, value, (int *)(void *)field); break;
	case KIND_GROUP: break;
	}
	assert(!ok || s->kind != KIND_INT ||
	       (*(long long *)(void *)field >= s->min && *(long long *)(void *)field <= s->max)); /* 1 */
	return ok ? 0 : refuse(s, value, where, reterr);
}

int config_table_defaults(const struct config_table *t, void *to, struct err *reterr)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->settings[i].kind != KIND_GROUP &&
		    config_table_assign(to, &t->settings[i], t->settings[i].def, "default", reterr) < 0)
			return -1;
	return 0;
}

void config_table_fini(const struct config_table *t, void *to)
{
	for (size_t i = 0; i < t->n; i++) {
		char **text = (char **)(void *)((char *)to + t->settings[i].offset);

		if (t->settings[i].kind != KIND_STRING)
			continue;
		free(*text);
		*text = NULL;
	}
}
