/* copier.h — copies a database from one side to another (copy.h) while it is used: all of it as of
 * one moment, then what has changed since, again and again, until little is left; and looks whether
 * both have the same rows. One thread; progress may be looked at by any. */
#ifndef ENGINE_COPIER_H
#define ENGINE_COPIER_H

#include <stdatomic.h>

#include "engine/copy.h"

struct copier;

struct copier_progress {
	uint64_t rows, rows_total; /* of the copy; then of the verification */
	uint64_t bytes;            /* of values that were copied */
	uint64_t changed;          /* rows that were copied again */
};

/* The sides are borrowed. */
MUST_CHECK int engine_copier_new(enum service service, struct copy_side *from, struct copy_side *to,
				 struct copier **ret, struct err *reterr);
void engine_copier_free(struct copier *c);                              /* NULL is welcome */
void engine_copier_look(struct copier *c, struct copier_progress *ret); /* thread-safe */

/* From now on changes are noted; all rows of one moment are copied. */
MUST_CHECK int engine_copier_copy(struct copier *c, struct err *reterr);
/* What has changed since the last one is copied, read back and compared. *ret: so many rows. */
MUST_CHECK int engine_copier_follow(struct copier *c, uint64_t *ret, struct err *reterr);
/* The same; then all rows of both sides are read and compared. */
MUST_CHECK int engine_copier_verify(struct copier *c, struct err *reterr);
/* Nobody uses the source any more: the rest, what is no row, and a target that may be opened. The
 * time that this takes does not grow with the size of the database. */
MUST_CHECK int engine_copier_finish(struct copier *c, struct err *reterr);

#endif
