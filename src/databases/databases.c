/* databases.c — the databases of this server: opened at the start, added and dropped while it runs.
 * The list only grows, so that finding one takes no lock: an entry is complete before the counter
 * says that it is there, and one that was dropped (drop.c) stays, and is passed over. */
#include "databases/databases.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "databases/databases_int.h"

/* ---- names ---- */

static bool is_reserved(struct str name)
{
	static const char *const names[] = { "master", "tempdb", "model", "msdb", "system" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_eq_nocase(name, str_of(names[i])))
			return true;
	}
	return false;
}

static bool is_name(struct str name)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_- ";

	if (name.n < 1 || name.n > 128 || name.p[0] == ' ' || name.p[name.n - 1] == ' ')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		if (name.p[i] == '\0' || strchr(letters, name.p[i]) == NULL)
			return false;
	}
	return true;
}

static int check_name(struct str name, struct err *reterr)
{
	if (!is_name(name))
		return err_set(reterr, ERR_ADMIN,
			       "A database name has 1 to 128 ASCII letters, digits, blanks, _ and -, and no "
			       "blank at either end.");
	if (is_reserved(name))
		return err_set(reterr, ERR_ADMIN,
			       "This database name is kept for the server itself. Choose another one.");
	return 0;
}

/* ---- finding ---- */

static struct database_entry *find(struct databases *d, struct str name)
{
	size_t n = atomic_load_explicit(&d->count, memory_order_acquire);

	for (size_t i = 0; i < n; i++) {
		if (str_eq_nocase(str_of(d->entries[i]->db.name), name) &&
		    !atomic_load(&d->entries[i]->dropped))
			return d->entries[i];
	}
	return NULL;
}

/* The one that is named, or the system's; *reterr says that there is none. */
static struct database_entry *find_or_say(struct databases *d, struct str name, struct err *reterr)
{
	struct database_entry *e = name.n == 0 ? d->entries[0] : find(d, name);
	char shown[129];

	if (e == NULL) {
		str_copy(shown, sizeof(shown), name);
		(void)err_set(reterr, ERR_NO_DATABASE_USE, shown);
	}
	return e;
}

struct database *databases_system(struct databases *d)
{
	assert(atomic_load(&d->count) > 0 && d->entries[0]->db.service == SERVICE_SYSTEM);
	return &d->entries[0]->db;
}

struct database *databases_find(struct databases *d, struct str name)
{
	struct database_entry *e = name.n == 0 ? d->entries[0] : find(d, name);

	return e == NULL ? NULL : &e->db;
}

/* The latest first: a number whose row was not kept is given again. */
struct database *databases_by_id(struct databases *d, int64_t id)
{
	for (size_t n = atomic_load_explicit(&d->count, memory_order_acquire); n > 0; n--) {
		if (atomic_load(&d->entries[n - 1]->db.id) == id && !atomic_load(&d->entries[n - 1]->dropped))
			return &d->entries[n - 1]->db;
	}
	return NULL;
}

void databases_each(struct databases *d, void (*fn)(struct database *db, void *arg), void *arg)
{
	size_t n = atomic_load_explicit(&d->count, memory_order_acquire);

	for (size_t i = 0; i < n; i++) {
		if (!atomic_load(&d->entries[i]->dropped))
			fn(&d->entries[i]->db, arg);
	}
}

/* ---- adding ---- */

struct database_entry *databases_entry_new(const struct database_row *r)
{
	struct database_entry *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	str_copy(e->db.name, sizeof(e->db.name), str_of(r->name));
	atomic_init(&e->db.id, r->id);
	e->db.service = r->service;
	str_copy(e->identity, sizeof(e->identity), str_of(r->identity));
	str_copy(e->place, sizeof(e->place), str_of(r->place));
	str_copy(e->rest, sizeof(e->rest), str_of(r->rest));
	e->listed = r->known;
	return e;
}

void databases_entry_free(struct database_entry *e)
{
	if (e == NULL)
		return;
	engine_close(e->db.engine);
	for (size_t i = e->nold; i > 0; i--)
		engine_close(e->old[i - 1]);
	free(e->old);
	free(e->damage);
	free(e);
}

bool databases_row_is_elsewhere(const struct databases *d, const struct database_row *r)
{
	return strcmp(r->engine, "sqlite") == 0 && strcmp(d->engine_name, "postgres") == 0 &&
	       strcmp(r->server, d->server) != 0;
}

bool databases_row_is_other(const struct databases *d, const struct database_row *r)
{
	return r->engine[0] != '\0' && strcmp(r->engine, d->engine_name) != 0;
}

struct engine *databases_engine_of(struct databases *d, const struct database_row *r, struct err *reterr)
{
	struct engine_database *system;

	if (!databases_row_is_other(d, r))
		return d->engine;
	if (databases_row_is_elsewhere(d, r)) {
		(void)err_raise(
			reterr, 50021, 16, 1,
			"The database '%s' has been moved to SQLite at the server '%s', which alone serves "
			"it. "
			"Connect there; procession database move %s --to postgres, there, brings it back.",
			r->name, r->server, r->name);
		return NULL;
	}
	if (d->other == NULL || strcmp(r->engine, d->other_name) != 0) {
		(void)err_raise(
			reterr, 50021, 16, 1,
			"The database '%s' is kept by the engine '%s', and the setting postgres, which says "
			"where that is, is missing. Set it again.",
			r->name, r->engine);
		return NULL;
	}
	/* what all databases of an engine share is made with its system database */
	return databases_other_system(d, &system, reterr) < 0 ? NULL : d->other;
}

const char *databases_engine_name(struct databases *d, const struct database *db)
{
	const struct database_entry *e = CONTAINER_OF(db, const struct database_entry, db);

	return e->elsewhere ? "sqlite" : e->other ? d->other_name : d->engine_name;
}

bool databases_is_elsewhere(const struct database *db)
{
	return CONTAINER_OF(db, const struct database_entry, db)->elsewhere;
}

uint8_t databases_sql(const struct database *db)
{
	struct engine_database *engine = db->engine;

	return engine == NULL ? 0 : (uint8_t)engine_sql(engine);
}

int databases_entry_open(struct databases *d, const struct database_row *r, struct database_entry **ret,
			 struct err *reterr)
{
	const struct engine_open o = { .name = r->name,
				       .service = r->service,
				       .settings = r->settings,
				       .place = r->place,
				       .identity = r->identity,
				       .known = r->known,
				       .accept = databases_listed(d->accept, r->name),
				       .set_aside = databases_listed(d->set_aside, r->name) };
	struct engine *engine = databases_engine_of(d, r, reterr);
	struct database_entry *e = engine == NULL ? NULL : databases_entry_new(r);
	struct engine_database *db;

	if (engine == NULL)
		return -1;
	if (e == NULL)
		return err_nomem(reterr);
	if (engine_open(engine, &o, &db, reterr) < 0) {
		databases_entry_free(e);
		return -1;
	}
	e->db.engine = db;
	e->other = engine != d->engine;
	str_copy(e->identity, sizeof(e->identity), str_of(engine_identity(e->db.engine)));
	str_copy(e->place, sizeof(e->place), str_of(engine_place(e->db.engine)));
	*ret = e;
	return 0;
}

int databases_publish(struct databases *d, struct database_entry *e, struct err *reterr)
{
	size_t n = atomic_load(&d->count);

	assert((e->db.engine == NULL) == (e->damage != NULL)); /* invariant 2 */
	assert((n == 0) == (e->db.service == SERVICE_SYSTEM));
	if (n == DATABASES_MAX)
		return err_set(reterr, ERR_ADMIN,
			       "The server has 1024 databases already. It can have no more.");
	d->entries[n] = e;
	atomic_store_explicit(&d->count, n + 1, memory_order_release);
	return 0;
}

/* A copy of another database, which is to become a database of its own, must be told from it later.
 * One that is known already has its number. */
static int own_identity(struct databases *d, struct database_entry *e, struct err *reterr)
{
	size_t n = atomic_load(&d->count);

	assert(e->db.engine != NULL && e->identity[0] != '\0');
	for (size_t i = 0; i < n; i++) {
		if (strcmp(d->entries[i]->identity, e->identity) != 0 || atomic_load(&d->entries[i]->dropped))
			continue;
		if (engine_identity_renew(e->db.engine, reterr) < 0)
			return -1;
		str_copy(e->identity, sizeof(e->identity), str_of(engine_identity(e->db.engine)));
		return 0;
	}
	return 0;
}

int databases_add(struct databases *d, const struct database_row *r, struct err *reterr)
{
	struct database_entry *e;

	assert(!r->known && r->service != SERVICE_SYSTEM);
	if (databases_entry_open(d, r, &e, reterr) < 0)
		return -1;
	if (own_identity(d, e, reterr) < 0 || databases_publish(d, e, reterr) < 0) {
		databases_entry_free(e);
		return -1;
	}
	return 0;
}

/* Under `adding`. Nobody creates a database whose row is there: another server has dropped one
 * whose row has been seen, and this server has not heard of it yet. One that was created before,
 * but whose row was not kept, gets the number that its row has now. */
static int create(struct databases *d, const struct database_row *r, struct err *reterr)
{
	struct database_entry *e = find(d, str_of(r->name));

	if (e != NULL && e->listed) {
		if (databases_retire(d, e, true, reterr) < 0)
			return -1;
		e = NULL;
	}
	if (e == NULL)
		return databases_add(d, r, reterr);
	if (e->db.service != r->service || e->db.engine == NULL)
		return err_raise(reterr, 50020, 16, 1,
				 "The database '%s' exists already. Choose another name.", e->db.name);
	engine_set(e->db.engine, &r->settings);
	atomic_store(&e->db.id, r->id);
	return 0;
}

int databases_create(struct databases *d, struct str name, enum service service, bool literal, int id,
		     struct databases_created *ret, struct err *reterr)
{
	struct database_row r = { .id = id,
				  .service = service,
				  .settings = { .errata_literal = literal,
						.commit_interval_ms = DATABASES_COMMIT_INTERVAL_MS } };
	const struct database_entry *e;
	int rc;

	if (check_name(name, reterr) < 0)
		return -1;
	if (service <= SERVICE_SYSTEM || service >= SERVICE_COUNT)
		return err_set(reterr, ERR_ADMIN,
			       "The service of a database is word, translation, schedule or state.");
	str_copy(r.name, sizeof(r.name), name);
	lock_take(&d->adding);
	rc = create(d, &r, reterr);
	e = rc == 0 ? find(d, name) : NULL;
	lock_give(&d->adding);
	if (e == NULL)
		return -1;
	assert(e->db.engine != NULL && e->db.service == service);
	*ret = (struct databases_created){ e->identity, engine_place(e->db.engine) };
	return 0;
}

/* ---- settings, checks ---- */

int databases_set(struct databases *d, struct str name, const struct engine_settings *s, struct err *reterr)
{
	struct database_entry *e = find_or_say(d, name, reterr);

	if (e == NULL)
		return -1;
	if (e->db.engine != NULL) /* else the row counts when it is served again */
		engine_set(e->db.engine, s);
	return 0;
}

int databases_check(struct databases *d, struct str name, char **ret_report, struct err *reterr)
{
	struct database_entry *e = find_or_say(d, name, reterr);

	if (e == NULL)
		return -1;
	if (e->db.engine != NULL)
		return engine_check(e->db.engine, ret_report, reterr);
	*ret_report = strdup(e->damage);
	return *ret_report == NULL ? err_nomem(reterr) : 0;
}

/* The system's first: its procedures may create databases. */
void databases_close(struct databases *d)
{
	size_t n;

	if (d == NULL)
		return;
	if (atomic_load(&d->count) > 0) {
		engine_close(d->entries[0]->db.engine);
		d->entries[0]->db.engine = NULL;
	}
	for (n = atomic_load(&d->count); n > 0; n--)
		databases_entry_free(d->entries[n - 1]);
	engine_close(d->other_system);
	lock_fini(&d->opening);
	lock_fini(&d->refreshing);
	lock_fini(&d->adding);
	free(d->set_aside);
	free(d->accept);
	free(d);
}
