/* drop.c — databases that are dropped. What one holds is put away first, then its row is
 * deleted, then what was put away is deleted for good: whenever the server ends in between, the
 * next start finds the row, and all of the database, or neither. */
#include <string.h>

#include "base/log.h"
#include "databases/databases_int.h"
#include "engine/ask.h"

int databases_retire(struct databases *d, struct database_entry *e, bool elsewhere, struct err *reterr)
{
	atomic_store(&e->dropped, true);
	e->settled = elsewhere;
	if (elsewhere && d->tell_dropped != NULL)
		d->tell_dropped(d->arg, e->db.name);
	if (e->elsewhere) /* nothing of it is here */
		return 0;
	return engine_retire(e->other ? d->other : d->engine, e->db.engine, elsewhere ? NULL : e->place,
			     reterr);
}

int databases_drop(struct databases *d, struct str name, struct err *reterr)
{
	struct database *db;
	int rc = 0;

	lock_take(&d->adding);
	db = databases_find(d, name);
	/* none: the same call is run a second time */
	if (db != NULL && CONTAINER_OF(db, struct database_entry, db)->moving)
		rc = err_set(reterr, ERR_ADMIN,
			     "The database is being moved to another engine. End that first (procession "
			     "database move ends when it is broken off).");
	else if (db != NULL && db->service == SERVICE_SYSTEM)
		rc = err_set(reterr, ERR_ADMIN, "The system database cannot be dropped.");
	else if (db != NULL)
		rc = databases_retire(d, CONTAINER_OF(db, struct database_entry, db), false, reterr);
	lock_give(&d->adding);
	return rc;
}

/* Asked of the writer, so that it comes after the transaction that drops. -1: nobody answers. */
static int has_row(struct databases *d, const struct database_entry *e)
{
	const struct argument args[] = {
		{ .name = STR("@id"), .value = value_int(TYPE_INT, atomic_load(&e->db.id)) },
		{ .name = STR("@identity"), .value = value_nvarchar(e->identity) },
	};
	struct engine_answer a;
	struct err err;
	int rc;

	if (engine_ask(databases_system(d)->engine, "procession_database_there", args, ARRAY_LEN(args), NULL,
		       &a, &err) < 0)
		return -1;
	rc = a.status;
	engine_answer_fini(&a);
	return rc;
}

static void settle(struct databases *d, struct database_entry *e)
{
	const struct log_ctx ctx = { .database = e->db.name };
	int there = has_row(d, e);
	struct err err;

	if (there < 0)
		return;
	lock_take(&d->adding);
	e->settled = true;
	lock_give(&d->adding);
	if (there == 0) {
		if (!e->elsewhere)
			engine_discard(e->other ? d->other : d->engine, e->place, NULL, NULL);
		databases_forget_elsewhere(d, e);
		LOG(LOG_INFO, &ctx, "database_dropped", F_STR("place", e->place));
	} else if (databases_refresh(d, &err) < 0) {
		LOG(LOG_ERROR, &ctx, "drop_not_undone", F_STR("reason", err.text),
		    F_STR("remedy", "start the server again"));
	}
}

/* One that was created here: once its row is there, another server may drop it. Not while a refresh
 * is under way, which may have read the rows before there was this one, and would take it for one
 * that is gone. */
static void note_row(struct databases *d, struct database_entry *e)
{
	lock_take(&d->refreshing);
	if (has_row(d, e) == 1) {
		lock_take(&d->adding);
		e->listed = true;
		e->seen = d->looks;
		lock_give(&d->adding);
	}
	lock_give(&d->refreshing);
}

enum open_question { NOTHING, WHETHER_KEPT, WHETHER_DROPPED, WHAT_IS_LEFT };

static enum open_question question_of(struct databases *d, const struct database_entry *e)
{
	enum open_question q = NOTHING;

	lock_take(&d->adding);
	if (atomic_load(&e->dropped))
		q = e->settled ? NOTHING : WHETHER_DROPPED;
	else if (!e->listed && e->db.service != SERVICE_SYSTEM)
		q = WHETHER_KEPT;
	else if (e->rest[0] != '\0' && !e->moving)
		q = WHAT_IS_LEFT;
	lock_give(&d->adding);
	return q;
}

void databases_settle(struct databases *d)
{
	size_t n = atomic_load_explicit(&d->count, memory_order_acquire);

	for (size_t i = 0; i < n; i++) {
		enum open_question q = question_of(d, d->entries[i]);

		if (q == WHETHER_DROPPED)
			settle(d, d->entries[i]);
		else if (q == WHETHER_KEPT)
			note_row(d, d->entries[i]);
		else if (q == WHAT_IS_LEFT)
			databases_settle_rest(d, d->entries[i]);
	}
}

static bool is_known(void *arg, const char *place)
{
	struct databases *d = arg;
	size_t n = atomic_load(&d->count);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(d->entries[i]->place, place) == 0 && !d->entries[i]->other &&
		    !atomic_load(&d->entries[i]->dropped))
			return true;
	}
	return false;
}

void databases_discard_rest(struct databases *d)
{
	engine_discard(d->engine, NULL, is_known, d);
}
