/* err.c — the error table and the functions that fill the record from it.
 * The table is built from errors.def, so that a number, its class and its text have one place. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

struct err_entry {
	int32_t number;
	uint8_t severity, state;
	const char *text;
};

static const struct err_entry entries[ERR_COUNT] = {
#define ERR(id, number, severity, state, text) [id] = { number, severity, state, text },
#include "base/errors.def"
#undef ERR
};

static void err_fill(struct err *e, int32_t number, uint8_t severity, uint8_t state, const char *fmt,
		     va_list ap)
{
	char text[sizeof(e->text) + 4];

	err_clear(e);
	e->number = number;
	e->severity = severity;
	e->state = state;
	if (vsnprintf(text, sizeof(text), fmt, ap) < 0)
		text[0] = '\0';
	str_copy(e->text, sizeof(e->text), str_of(text));
}

int err_set(struct err *reterr, enum err_id id, ...)
{
	const struct err_entry *entry;
	va_list ap;

	if (reterr == NULL)
		return -1;
	if ((int)id <= ERR_NONE || id >= ERR_COUNT)
		id = ERR_OUT_OF_MEMORY; /* our own mistake; its text takes no argument */
	entry = &entries[id];
	va_start(ap, id);
	err_fill(reterr, entry->number, entry->severity, entry->state, entry->text, ap);
	va_end(ap);
	return -1;
}

bool err_is(const struct err *e, enum err_id id)
{
	return e->number == entries[id].number && e->state == entries[id].state;
}

int err_raise(struct err *reterr, int32_t number, uint8_t severity, uint8_t state, const char *fmt, ...)
{
	va_list ap;

	if (reterr == NULL)
		return -1;
	va_start(ap, fmt);
	err_fill(reterr, number, severity, state, fmt, ap);
	va_end(ap);
	return -1;
}

int err_nomem(struct err *reterr)
{
	return err_set(reterr, ERR_OUT_OF_MEMORY);
}

void err_clear(struct err *e)
{
	e->number = 0;
	e->severity = 0;
	e->state = 0;
	e->line = 0;
	e->proc[0] = '\0';
	e->text[0] = '\0';
}
