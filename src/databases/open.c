/* open.c — the start: the system database first, then every database that it knows. What it
 * knows is asked and told by procedures that only the server itself may call. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "catalogue/catalogue.h"
#include "databases/databases_int.h"
#include "engine/ask.h"

#define FIRST_ID 5 /* tempdb, model and msdb have 2 to 4 in SQL Server */

static const struct {
	const char *name;
	enum service service;
} defaults[] = {
	{ "WordAutomation", SERVICE_WORD },
	{ "Translation", SERVICE_TRANSLATION },
	{ "ScheduledJobs", SERVICE_SCHEDULE },
	{ "StateService", SERVICE_STATE },
};

static struct engine_database *system_of(struct databases *d)
{
	return databases_system(d)->engine;
}

/* ---- those that it knows ---- */

/* Columns of procession_database_known. */
enum {
	KNOWN_ID,
	KNOWN_NAME,
	KNOWN_SERVICE,
	KNOWN_PLACE,
	KNOWN_IDENTITY,
	KNOWN_LITERAL,
	KNOWN_RELAXED,
	KNOWN_INTERVAL,
	KNOWN_SLACK,
	KNOWN_ENGINE,
	KNOWN_SERVER,
	KNOWN_REST,
	KNOWN_COLUMNS
};

void databases_read_settings(const struct engine_row *row, const char *name, struct engine_settings *ret)
{
	const struct value *v = row->values;

	if (!str_eq_nocase(v[KNOWN_NAME].u.s, str_of(name)))
		return;
	*ret = (struct engine_settings){ .errata_literal = v[KNOWN_LITERAL].u.i != 0,
					 .relaxed = v[KNOWN_RELAXED].u.i != 0,
					 .commit_interval_ms = (int)v[KNOWN_INTERVAL].u.i,
					 .renewal_slack_s = (int)v[KNOWN_SLACK].u.i };
}

static int row_read(const struct databases *d, const struct engine_row *row, struct database_row *ret,
		    struct err *reterr)
{
	const struct value *v = row->values;

	assert(row->n == KNOWN_COLUMNS);
	*ret = (struct database_row){ .known = true, .id = (int)v[KNOWN_ID].u.i };
	str_copy(ret->name, sizeof(ret->name), v[KNOWN_NAME].u.s);
	databases_read_settings(row, ret->name, &ret->settings);
	str_copy(ret->place, sizeof(ret->place), v[KNOWN_PLACE].u.s);
	str_copy(ret->identity, sizeof(ret->identity), v[KNOWN_IDENTITY].u.s);
	str_copy(ret->engine, sizeof(ret->engine), v[KNOWN_ENGINE].u.s);
	str_copy(ret->server, sizeof(ret->server), v[KNOWN_SERVER].u.s);
	/* of a data folder: only its own server sees to it */
	if (strcmp(d->engine_name, "sqlite") == 0 || strcmp(ret->server, d->server) == 0)
		str_copy(ret->rest, sizeof(ret->rest), v[KNOWN_REST].u.s);
	if (!catalogue_service_by_name(v[KNOWN_SERVICE].u.s, &ret->service) || ret->service == SERVICE_SYSTEM)
		return err_raise(reterr, 50021, 16, 1,
				 "The database '%s' belongs to a service that this program does not know. "
				 "Use a newer program.",
				 ret->name);
	return 0;
}

static int add_known(struct databases *d, const struct database_row *r, struct err *reterr)
{
	struct database_entry *e;
	struct err why;

	if (databases_entry_open(d, r, &e, &why) < 0)
		return databases_add_damaged(d, r, &why, reterr);
	if (databases_publish(d, e, reterr) < 0) {
		databases_entry_free(e);
		return -1;
	}
	return 0;
}

static int each_known(struct databases *d,
		      int (*one)(struct databases *d, const struct database_row *r, struct err *reterr),
		      struct err *reterr)
{
	struct engine_answer a;
	struct database_row r;
	int rc = 0;

	if (engine_ask(system_of(d), "procession_database_known", NULL, 0, NULL, &a, reterr) < 0)
		return -1;
	for (const struct engine_row *row = a.rows.first; rc == 0 && row != NULL; row = row->next) {
		rc = row_read(d, row, &r, reterr);
		if (rc == 0)
			rc = one(d, &r, reterr);
	}
	engine_answer_fini(&a);
	return rc;
}

/* It is the same database, and is still where it was. */
static bool is_of(const struct databases *d, const struct database_entry *e, const struct database_row *r)
{
	if (e->moving)
		return true;
	return (r->identity[0] == '\0' || strcmp(e->identity, r->identity) == 0) &&
	       e->other == databases_row_is_other(d, r) && strcmp(e->place, r->place) == 0 &&
	       e->elsewhere == databases_row_is_elsewhere(d, r);
}

/* Under `adding`. The entry of this row, if it is not that of an earlier one of its name. */
static int find_current(struct databases *d, const struct database_row *r, struct database **ret,
			struct err *reterr)
{
	struct database *db = databases_find(d, str_of(r->name));
	struct database_entry *e = db == NULL ? NULL : CONTAINER_OF(db, struct database_entry, db);

	*ret = db;
	if (e == NULL || !e->listed || is_of(d, e, r))
		return 0;
	*ret = NULL;
	return databases_retire(d, e, true, reterr);
}

/* Under `adding`. The row was read before a drop that is under way here. */
static bool is_being_dropped(struct databases *d, const struct database_row *r)
{
	size_t n = atomic_load(&d->count);

	assert(r != NULL && r->known);
	for (size_t i = 0; i < n; i++) {
		const struct database_entry *e = d->entries[i];

		if (atomic_load(&e->dropped) && !e->settled && strcmp(e->identity, r->identity) == 0)
			return true;
	}
	return false;
}

/* One that was created here and there at the same time has the number that its row has. */
static int refresh_one(struct databases *d, const struct database_row *r, struct err *reterr)
{
	struct database *db;
	int rc;

	lock_take(&d->adding);
	rc = find_current(d, r, &db, reterr);
	if (rc == 0 && db == NULL && !is_being_dropped(d, r)) {
		rc = add_known(d, r, reterr);
		db = databases_find(d, str_of(r->name));
	} else if (rc == 0 && db != NULL) {
		atomic_store(&db->id, r->id);
		if (db->engine != NULL)
			engine_set(db->engine, &r->settings);
	}
	if (db != NULL) {
		CONTAINER_OF(db, struct database_entry, db)->listed = true;
		CONTAINER_OF(db, struct database_entry, db)->seen = d->looks;
	}
	lock_give(&d->adding);
	return rc;
}

/* Those whose row was there and is gone. One that is being created has had none yet. */
static int retire_unseen(struct databases *d, struct err *reterr)
{
	size_t n = atomic_load(&d->count);
	int rc = 0;

	lock_take(&d->adding);
	for (size_t i = 1; rc == 0 && i < n; i++) {
		struct database_entry *e = d->entries[i];

		if (e->listed && e->seen != d->looks && !atomic_load(&e->dropped))
			rc = databases_retire(d, e, true, reterr);
	}
	lock_give(&d->adding);
	return rc;
}

/* One at a time: whoever hears of others, or settles a drop. */
int databases_refresh(struct databases *d, struct err *reterr)
{
	int rc;

	lock_take(&d->refreshing);
	lock_take(&d->adding);
	d->looks++;
	lock_give(&d->adding);
	rc = each_known(d, refresh_one, reterr);
	if (rc == 0)
		rc = retire_unseen(d, reterr);
	lock_give(&d->refreshing);
	return rc;
}

/* ---- telling it ---- */

/* One call that is part of a transaction. */
static int tell(struct txn *t, const char *proc, const struct argument *args, size_t nargs,
		struct err *reterr)
{
	struct engine_answer a;

	if (engine_ask(engine_txn_database(t), proc, args, nargs, t, &a, reterr) < 0)
		return -1;
	engine_answer_fini(&a);
	return 0;
}

int databases_tell(struct engine_database *system, const char *proc, const struct argument *args,
		   size_t nargs, int *ret_status, struct err *reterr)
{
	struct engine_answer a;

	if (engine_ask(system, proc, args, nargs, NULL, &a, reterr) < 0)
		return -1;
	if (ret_status != NULL)
		*ret_status = a.status;
	engine_answer_fini(&a);
	return 0;
}

/* All databases, in one transaction. */
static int tell_all(struct databases *d,
		    int (*one)(struct txn *t, struct database_entry *e, struct err *reterr),
		    struct err *reterr)
{
	struct txn *t = engine_begin(system_of(d), false);
	size_t n = atomic_load(&d->count);
	int rc = 0;

	if (t == NULL)
		return err_nomem(reterr);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = one(t, d->entries[i], reterr);
	if (rc == 0)
		return engine_ask_commit(t, reterr);
	engine_ask_rollback(t);
	return -1;
}

static int tell_begin(struct txn *t, struct database_entry *e, struct err *reterr)
{
	const struct argument args[] = {
		{ .name = STR("@id"), .value = value_int(TYPE_INT, atomic_load(&e->db.id)) },
		{ .name = STR("@name"), .value = value_nvarchar(e->db.name) },
		{ .name = STR("@service"), .value = value_nvarchar(catalogue_service_name(e->db.service)) },
		{ .name = STR("@place"), .value = value_nvarchar(engine_place(e->db.engine)) },
	};

	if (e->db.service == SERVICE_SYSTEM) /* its row is made with its table */
		return 0;
	e->listed = true; /* or the start fails */
	return tell(t, "procession_database_begin", args, ARRAY_LEN(args), reterr);
}

static int tell_found(struct txn *t, struct database_entry *e, struct err *reterr)
{
	struct argument args[] = {
		{ .name = STR("@id"), .value = value_int(TYPE_INT, atomic_load(&e->db.id)) },
		{ .name = STR("@identity"), .value = value_nvarchar(e->identity) },
		{ .name = STR("@damage"), .value = value_nvarchar(e->damage == NULL ? "" : e->damage) },
	};

	args[2].value.null = e->damage == NULL || e->elsewhere;
	return tell(t, "procession_database_found", args, ARRAY_LEN(args), reterr);
}

/* The databases first, then all rows at once: a start that is cut short begins again. */
static int add_defaults(struct databases *d, struct err *reterr)
{
	for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
		struct database_row r = { .id = FIRST_ID + (int)i,
					  .service = defaults[i].service,
					  .settings.commit_interval_ms = DATABASES_COMMIT_INTERVAL_MS };

		str_copy(r.name, sizeof(r.name), str_of(defaults[i].name));
		if (databases_add(d, &r, reterr) < 0)
			return -1;
	}
	return tell_all(d, tell_begin, reterr);
}

/* ---- all of it ---- */

static int open_system(struct databases *d, struct err *reterr)
{
	const struct database_row r = { .name = "master", .id = 1, .service = SERVICE_SYSTEM };
	struct database_entry *e;

	if (databases_entry_open(d, &r, &e, reterr) < 0)
		return -1;
	return databases_publish(d, e, reterr);
}

int databases_other_system(struct databases *d, struct engine_database **ret, struct err *reterr)
{
	const struct engine_open o = {
		.name = "master", .service = SERVICE_SYSTEM, .place = "", .identity = ""
	};
	int rc = 0;

	assert(d->other != NULL);
	lock_take(&d->opening);
	if (d->other_system == NULL) {
		rc = engine_open(d->other, &o, &d->other_system, reterr);
		if (d->other_opened != NULL)
			d->other_opened(d->arg);
		if (rc == 0)
			engine_hide(d->other_system);
	}
	*ret = d->other_system;
	lock_give(&d->opening);
	return rc;
}

/* The identities of databases that are new to this server or were accepted, and what is damaged,
 * are written down for the views. As a rule nothing has changed, and nothing is written. */
static int fill(struct databases *d, struct err *reterr)
{
	if (open_system(d, reterr) < 0 || each_known(d, add_known, reterr) < 0 ||
	    (atomic_load(&d->count) == 1 && add_defaults(d, reterr) < 0))
		return -1;
	databases_discard_rest(d);
	return tell_all(d, tell_found, reterr);
}

int databases_open(const struct databases_options *o, struct databases **ret, struct err *reterr)
{
	struct databases *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return err_nomem(reterr);
	lock_init(&d->adding);
	lock_init(&d->refreshing);
	lock_init(&d->opening);
	d->engine = o->engine;
	d->engine_name = o->engine_name == NULL ? "sqlite" : o->engine_name;
	d->other = o->other;
	d->other_name = o->other_name == NULL ? "" : o->other_name;
	d->other_opened = o->other_opened;
	d->server = o->server == NULL ? "" : o->server;
	d->tell_dropped = o->dropped;
	d->arg = o->arg;
	d->set_aside = strdup(o->set_aside == NULL ? "" : o->set_aside);
	d->accept = strdup(o->accept == NULL ? "" : o->accept);
	if (d->set_aside == NULL || d->accept == NULL) {
		err_nomem(reterr);
		goto fail;
	}
	if (fill(d, reterr) < 0)
		goto fail;
	databases_warn_unknown(d, "set_aside", d->set_aside);
	databases_warn_unknown(d, "accept_as_found", d->accept);
	*ret = d;
	return 0;
fail:
	databases_close(d);
	return -1;
}
