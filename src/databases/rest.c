/* rest.c — what a move leaves behind, in the engine in which the database is not: discarded at
 * once, or later, or along with the database. */
#include "base/log.h"
#include "databases/databases_int.h"

/* In the engine in which it is not. */
static int discard(struct databases *d, const struct database_entry *e, const char *place, struct err *reterr)
{
	struct engine *engine = e->other ? d->engine : d->other;
	struct engine_database *system;

	if (engine == NULL)
		return err_raise(reterr, 50021, 16, 1, "the setting postgres is missing");
	if ((engine == d->other && databases_other_system(d, &system, reterr) < 0) ||
	    engine_retire(engine, NULL, place, reterr) < 0)
		return -1;
	engine_discard(engine, place, NULL, NULL);
	return 0;
}

int databases_clear_rest(struct databases *d, struct database_entry *e, struct err *reterr)
{
	if (e->rest[0] == '\0')
		return 0;
	if (discard(d, e, e->rest, reterr) < 0 || databases_tell_rest(d, e, "", reterr) < 0)
		return -1;
	lock_take(&d->adding);
	e->rest[0] = '\0';
	lock_give(&d->adding);
	return 0;
}

void databases_log_rest(const struct database_entry *e, const struct err *why)
{
	const struct log_ctx ctx = { .database = e->db.name };

	LOG(LOG_WARN, &ctx, "move_not_cleaned", F_STR("place", e->rest), F_STR("reason", why->text));
}

bool databases_take_entry(struct databases *d, struct database_entry *e)
{
	bool taken;

	lock_take(&d->adding);
	taken = e->moving || atomic_load(&e->dropped);
	if (!taken)
		e->moving = true;
	lock_give(&d->adding);
	return !taken;
}

void databases_give_entry(struct databases *d, struct database_entry *e)
{
	lock_take(&d->adding);
	e->moving = false;
	lock_give(&d->adding);
}

void databases_settle_rest(struct databases *d, struct database_entry *e)
{
	const struct log_ctx ctx = { .database = e->db.name };
	struct err err;

	if (e->db.engine == NULL || !databases_take_entry(d, e))
		return; /* nobody knows what is still needed */
	if ((d->other != NULL && databases_make_known(d, e, NULL, &err) < 0) ||
	    databases_clear_rest(d, e, &err) < 0)
		databases_log_rest(e, &err);
	else
		LOG(LOG_INFO, &ctx, "move_cleaned");
	databases_give_entry(d, e);
}

void databases_forget_elsewhere(struct databases *d, const struct database_entry *e)
{
	const struct argument args[] = {
		{ .name = STR("@name"), .value = value_nvarchar(e->db.name) },
		{ .name = STR("@identity"), .value = value_nvarchar(e->identity) },
	};
	const struct log_ctx ctx = { .database = e->db.name };
	struct engine_database *there;
	struct err err;

	if (d->other == NULL || e->elsewhere || (!e->other && e->rest[0] == '\0'))
		return;
	if ((e->rest[0] != '\0' && discard(d, e, e->rest, &err) < 0) ||
	    databases_other_system(d, &there, &err) < 0 ||
	    databases_tell(there, "procession_database_forget", args, ARRAY_LEN(args), NULL, &err) < 0)
		LOG(LOG_WARN, &ctx, "drop_not_told", F_STR("engine", d->other_name),
		    F_STR("reason", err.text));
}
