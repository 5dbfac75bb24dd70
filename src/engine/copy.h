/* copy.h — a database as rows of tables: what an engine offers so that a database can be moved to
 * another one. A side is one database in one engine, either the source or the target of a move.
 * Nothing here knows which engines there are; copier.h does the copying. */
#ifndef ENGINE_COPY_H
#define ENGINE_COPY_H

#include "catalogue/copyrows.h"
#include "engine/engine.h"

/* Asked again and again by a side while it works or waits; true: it fails with ERR_CANCELLED. */
struct copy_watch {
	bool (*stop)(void *arg);
	void *arg;
};

struct copy_side;
struct copy_ops {
	/* Whatever was noted or not committed is given up. NULL is never given. */
	void (*close)(struct copy_side *s);
	/* Its tables; n is 0 where the other side is to be asked. */
	int (*tables)(struct copy_side *s, struct copy_tables *ret, struct err *reterr);

	/* ---- of a source ---- */

	/* From its return on, the keys of all rows that change are noted. */
	int (*note)(struct copy_side *s, const struct copy_tables *t, struct err *reterr);
	/* Sees one moment from now on, until looked(); adds the keys of what has changed before it,
	 * and that no look before has given. */
	int (*look)(struct copy_side *s, struct copy_keys *add, struct err *reterr);
	int (*looked)(struct copy_side *s, struct err *reterr);
	/* Nobody has calls in it any more: makes what was answered visible, and sees to it that no
	 * other server changes anything until close(). */
	int (*settle)(struct copy_side *s, struct err *reterr);
	/* Values whose checksum is wrong, in the moment that is looked at: refuses them. */
	int (*sound)(struct copy_side *s, struct err *reterr);
	/* The latest clock reading that a call may have had, in ticks. */
	int (*clock)(struct copy_side *s, int64_t *ret, struct err *reterr);
	/* What it takes on the disk, roughly. */
	int (*bytes)(struct copy_side *s, uint64_t *ret, struct err *reterr);

	/* ---- of both ---- */

	/* All rows, in the order of their keys; or those of these keys. */
	int (*each)(struct copy_side *s, const struct copy_table *t, copy_row *row, void *arg,
		    struct err *reterr);
	int (*find)(struct copy_side *s, const struct copy_table *t, const struct copy_key *keys, size_t n,
		    copy_row *row, void *arg, struct err *reterr);
	/* The number that was given last; 0: none. */
	int (*last)(struct copy_side *s, const struct copy_table *t, int64_t *ret, struct err *reterr);
	int (*count)(struct copy_side *s, const struct copy_table *t, uint64_t *ret, struct err *reterr);

	/* ---- of a target ---- */

	int (*begin)(struct copy_side *s, struct err *reterr);
	int (*put)(struct copy_side *s, const struct copy_table *t, const struct copy_cell *cells,
		   struct err *reterr);
	/* keys NULL: all rows. */
	int (*remove)(struct copy_side *s, const struct copy_table *t, const struct copy_key *keys, size_t n,
		      struct err *reterr);
	/* Makes the target's own values of these rows (keys NULL: of all). */
	int (*own)(struct copy_side *s, const struct copy_table *t, const struct copy_key *keys, size_t n,
		   struct err *reterr);
	int (*set_last)(struct copy_side *s, const struct copy_table *t, int64_t last, struct err *reterr);
	/* No clock of a call may be before this. */
	int (*set_clock)(struct copy_side *s, int64_t ticks, struct err *reterr);
	/* flushed: it is durable. */
	int (*commit)(struct copy_side *s, bool flushed, struct err *reterr);
	/* It is whole, and may be opened as a database; then close(). Durable. */
	int (*finish)(struct copy_side *s, struct err *reterr);
};
struct copy_side {
	const struct copy_ops *ops;
	struct copy_watch watch;
};

/* ---- what engines offer; see struct engine_ops ---- */

/* Where a database of this name would be kept. Refuses one that is taken. */
MUST_CHECK int engine_copy_place(struct engine *e, const char *name, char ret[ENGINE_PLACE],
				 struct err *reterr);
/* Reads a database that is served. */
MUST_CHECK int engine_copy_from(struct engine_database *db, const struct copy_watch *w,
				struct copy_side **ret, struct err *reterr);
/* Makes one that nobody serves before it is finished, with place and identity of o. */
MUST_CHECK int engine_copy_to(struct engine *e, const struct engine_open *o, const struct copy_watch *w,
			      struct copy_side **ret, struct err *reterr);

static inline bool engine_copy_is_stopped(const struct copy_side *s)
{
	return s->watch.stop != NULL && s->watch.stop(s->watch.arg);
}

#endif
