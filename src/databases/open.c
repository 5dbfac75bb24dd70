/* open.c — the start: the system store first, the tables that describe the catalogue, then every database that the system store knows. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "catalogue/catalogue.h"
#include "catalogue/meta.h"
#include "databases/databases_int.h"

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

static const struct statement list_statement = {
	.sql = "SELECT name, service, file, errata = 'literal', id, commit_mode = 'relaxed', "
	       "commit_interval, coalesce(identity, '') FROM database WHERE service <> 'system' ORDER BY id",
	.id = STATEMENT_ONCE
};
static const struct statement insert_statement = {
	.sql = "INSERT INTO database (name, service, file, created, id) VALUES (?1, ?2, ?3, ?4, ?5)",
	.nbinds = 5,
	.id = STATEMENT_ONCE,
	.writes = true
};
static const struct statement found_statement = {
	.sql = "UPDATE database SET identity = ?2, damage = ?3 WHERE id = ?1 AND (identity IS NOT ?2 OR "
	       "damage IS NOT ?3)",
	.nbinds = 3,
	.id = STATEMENT_ONCE,
	.writes = true
};
static const struct statement login_statement = { .sql = "SELECT count(*) FROM login", .id = STATEMENT_ONCE };
static const struct statement hash_statement = { .sql = "SELECT count(*) FROM meta_hash WHERE hash = ?1",
						 .nbinds = 1,
						 .id = STATEMENT_ONCE };

static int count_of(struct store_conn *c, const struct statement *s, const struct value *v, int64_t *ret,
		    struct err *reterr)
{
	const struct type bigint = TYPE_OF(TYPE_BIGINT);
	struct store_stmt *st;
	struct value count = value_int(TYPE_BIGINT, 0);
	int rc;

	if (store_statement(c, s, &st, reterr) < 0)
		return -1;
	rc = v == NULL ? 0 : store_bind(st, 1, v, reterr);
	if (rc == 0)
		rc = store_step(st, reterr);
	if (rc > 0)
		rc = store_column(st, 0, &bigint, &count, reterr);
	store_finish(st);
	*ret = count.u.i;
	return rc;
}

/* The tables that describe the catalogue follow the program, not the file. */
static int load_metadata(struct store_conn *c, struct err *reterr)
{
	struct value hash = value_varchar(catalogue_meta_hash);
	int64_t same = 0;

	if (count_of(c, &hash_statement, &hash, &same, reterr) < 0)
		return -1;
	if (same > 0)
		return 0;
	if (store_begin(c, reterr) < 0)
		return -1;
	if (store_script(c, catalogue_meta_sql, reterr) < 0 || store_commit(c, reterr) < 0) {
		store_rollback(c);
		return -1;
	}
	return 0;
}

static int row_read(struct store_stmt *st, struct database_row *ret, struct err *reterr)
{
	const struct type text = TYPE_LEN(TYPE_NVARCHAR, 260), bit = TYPE_OF(TYPE_BIT),
			  integer = TYPE_OF(TYPE_INT);
	struct value name, service, file, literal, id, relaxed, interval, identity;

	if (store_column(st, 0, &text, &name, reterr) < 0 ||
	    store_column(st, 1, &text, &service, reterr) < 0 ||
	    store_column(st, 2, &text, &file, reterr) < 0 ||
	    store_column(st, 3, &bit, &literal, reterr) < 0 ||
	    store_column(st, 4, &integer, &id, reterr) < 0 ||
	    store_column(st, 5, &bit, &relaxed, reterr) < 0 ||
	    store_column(st, 6, &integer, &interval, reterr) < 0 ||
	    store_column(st, 7, &text, &identity, reterr) < 0)
		return -1;
	ret->known = true;
	str_copy(ret->identity, sizeof(ret->identity), identity.u.s);
	ret->id = (int)id.u.i;
	str_copy(ret->name, sizeof(ret->name), name.u.s);
	str_copy(ret->file, sizeof(ret->file), file.u.s);
	ret->settings = (struct database_settings){ literal.u.i != 0, relaxed.u.i != 0, (int)interval.u.i };
	if (!service_by_name(service.u.s, &ret->service) || ret->service == SERVICE_SYSTEM)
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
	if (databases_entry_start(d, e, reterr) < 0 || databases_publish(d, e, reterr) < 0) {
		databases_entry_free(e);
		return -1;
	}
	return 0;
}

static int add_all_known(struct databases *d, struct store_conn *c, struct err *reterr)
{
	struct store_stmt *st;
	struct database_row r;
	int rc;

	if (store_statement(c, &list_statement, &st, reterr) < 0)
		return -1;
	while ((rc = store_step(st, reterr)) > 0) {
		rc = row_read(st, &r, reterr);
		if (rc == 0)
			rc = add_known(d, &r, reterr);
		if (rc < 0)
			break;
	}
	store_finish(st);
	return rc;
}

/* A statement without rows, with a value for each of its binds. */
static int run_once(struct store_conn *c, const struct statement *s, const struct value *values,
		    struct err *reterr)
{
	struct store_stmt *st;
	int rc = 0;

	if (store_statement(c, s, &st, reterr) < 0)
		return -1;
	for (unsigned i = 0; rc == 0 && i < s->nbinds; i++)
		rc = store_bind(st, i + 1, &values[i], reterr);
	if (rc == 0)
		rc = store_step(st, reterr);
	store_finish(st);
	return rc;
}

static int insert_row(struct store_conn *c, const struct database_row *r, struct err *reterr)
{
	const struct value values[] = { value_nvarchar(r->name), value_nvarchar(service_name(r->service)),
					value_nvarchar(r->file), value_int(TYPE_DATETIME, clock_ticks()),
					value_int(TYPE_INT, r->id) };

	return run_once(c, &insert_statement, values, reterr);
}

/* Files first, then all rows at once: a start that is cut short begins again. */
static int add_defaults(struct databases *d, struct store_conn *c, struct err *reterr)
{
	struct database_row rows[ARRAY_LEN(defaults)];

	memset(rows, 0, sizeof(rows));
	for (size_t i = 0; i < ARRAY_LEN(defaults); i++) {
		rows[i].id = FIRST_ID + (int)i;
		rows[i].service = defaults[i].service;
		rows[i].settings.commit_interval_ms = COMMIT_INTERVAL_MS;
		str_copy(rows[i].name, sizeof(rows[i].name), str_of(defaults[i].name));
		if (databases_file(str_of(defaults[i].name), rows[i].file, sizeof(rows[i].file), reterr) <
			    0 ||
		    databases_add(d, &rows[i], reterr) < 0)
			return -1;
	}
	if (store_begin(c, reterr) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (insert_row(c, &rows[i], reterr) < 0) {
			store_rollback(c);
			return -1;
		}
	}
	return store_commit(c, reterr);
}

/* ---- what was found ---- */

static int write_found(struct store_conn *c, const struct database_entry *e, struct err *reterr)
{
	struct value values[] = { value_int(TYPE_INT, atomic_load(&e->db.id)), value_nvarchar(e->identity),
				  value_nvarchar(e->damage == NULL ? "" : e->damage) };

	values[2].null = e->damage == NULL;
	return run_once(c, &found_statement, values, reterr);
}

/* The identities of files that are new to this server or were accepted, and what is damaged, for the views. As a rule nothing has changed, and nothing is written. */
static int write_all_found(struct databases *d, struct store_conn *c, struct err *reterr)
{
	size_t n = atomic_load(&d->count);
	int rc = store_begin(c, reterr);

	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = write_found(c, d->entries[i], reterr);
	if (rc == 0)
		rc = store_commit(c, reterr);
	if (rc < 0)
		store_rollback(c);
	return rc;
}

static int fill(struct databases *d, struct store_conn *c, bool *ret_new, struct err *reterr)
{
	int64_t logins = 0;

	if (load_metadata(c, reterr) < 0 || count_of(c, &login_statement, NULL, &logins, reterr) < 0)
		return -1;
	*ret_new = logins == 0;
	if (add_all_known(d, c, reterr) < 0 ||
	    (atomic_load(&d->count) == 1 && add_defaults(d, c, reterr) < 0))
		return -1;
	return write_all_found(d, c, reterr);
}

static int open_system(struct databases *d, bool *ret_new, struct err *reterr)
{
	const struct database_row r = { .name = "master",
					.file = SYSTEM_FILE,
					.id = 1,
					.service = SERVICE_SYSTEM,
					.known = databases_folder_is_used(d) };
	struct store_conn *c;
	struct database_entry *e;
	int rc;

	if (databases_entry_open(d, &r, &e, reterr) < 0)
		return -1;
	if (databases_publish(d, e, reterr) < 0 || store_connect(e->store, false, &c, reterr) < 0)
		return -1;
	rc = fill(d, c, ret_new, reterr);
	store_disconnect(c);
	return rc < 0 ? -1 : databases_entry_start(d, e, reterr);
}

int databases_open(const struct databases_options *o, struct databases **ret, bool *ret_new,
		   struct err *reterr)
{
	struct databases *d = calloc(1, sizeof(*d));

	if (d == NULL)
		return err_nomem(reterr);
	pthread_mutex_init(&d->adding, NULL);
	d->options = o->executor;
	d->cache_mib = o->cache_mib;
	d->dir = strdup(o->dir);
	d->set_aside = strdup(o->set_aside == NULL ? "" : o->set_aside);
	d->accept = strdup(o->accept == NULL ? "" : o->accept);
	if (d->dir == NULL || d->set_aside == NULL || d->accept == NULL) {
		err_nomem(reterr);
		goto fail;
	}
	if (open_system(d, ret_new, reterr) < 0)
		goto fail;
	databases_warn_unknown(d, "set_aside", d->set_aside);
	databases_warn_unknown(d, "accept_as_found", d->accept);
	*ret = d;
	return 0;
fail:
	databases_close(d);
	return -1;
}
