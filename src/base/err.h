/* err.h — the one error record. The place that knows most fills it; everyone above passes it on.
 * All errors are declared in errors.def; functions return 0 or a negative number. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/base.h"

enum err_id {
	ERR_NONE = 0,
#define ERR(id, number, severity, state, text) id,
#include "base/errors.def"
#undef ERR
	ERR_COUNT
};

/* Their numbers as clients see them, for those who compare: ERR_CANCELLED_NUMBER. Several errors
 * may have one number; they differ in state. */
enum err_number {
#define ERR(id, number, severity, state, text) id##_NUMBER = (number),
#include "base/errors.def"
#undef ERR
	ERR_OWN_NUMBER = 50000 /* of our own programs, which say it in words only */
};

struct err {
	int32_t number;
	uint8_t severity;
	uint8_t state;
	int32_t line;    /* 1-based line in the batch; 0: none */
	char proc[130];  /* procedure in which it happened; empty in a batch */
	char text[1024]; /* UTF-8, cut at a character */
};

/* Fills *reterr (which may be NULL) from the table and returns -1; arguments as the entry's text
 * wants them. */
int err_set(struct err *reterr, enum err_id id, ...);
/* The same for a number and text that are not in the table (texts declared by procedures, XML
 * messages). */
int err_raise(struct err *reterr, int32_t number, uint8_t severity, uint8_t state, const char *fmt, ...)
	PRINTF_LIKE(5, 6);
int err_nomem(struct err *reterr);
void err_clear(struct err *e);
/* True for what goes out as ERROR (class 11 and up), false for INFO. */
static inline bool err_is_error(const struct err *e)
{
	return e->severity > 10;
}

/* Whether it is this one of the table, by number and state. */
bool err_is(const struct err *e, enum err_id id);

#ifdef __clang_analyzer__
/* The static analyzer sees one file at a time and does not know that these always fail: without
 * this it follows paths that cannot be. */
#define err_set(...) ((void)err_set(__VA_ARGS__), -1)
#define err_raise(...) ((void)err_raise(__VA_ARGS__), -1)
#define err_nomem(e) ((void)err_nomem(e), -1)
#endif

#endif
