/* databases.c — the databases of this server: opened at the start, added while it runs, never removed. The list only grows, so that finding one takes
 * no lock: an entry is complete before the counter says that it is there. */
#include "databases/databases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "catalogue/catalogue.h"
#include "databases/databases_int.h"

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

int databases_file(struct str name, char *dst, size_t size, struct err *reterr)
{
	if (!is_name(name))
		return err_set(reterr, ERR_ADMIN,
			       "A database name has 1 to 128 ASCII letters, digits, blanks, _ and -, and no "
			       "blank at either end.");
	if (is_reserved(name))
		return err_set(reterr, ERR_ADMIN,
			       "This database name is kept for the server itself. Choose another one.");
	if ((size_t)snprintf(dst, size, "%.*s.db", STR_ARG(name)) >= size)
		return err_set(reterr, ERR_ADMIN, "The database name is too long.");
	return 0;
}

int databases_path(const struct databases *d, const char *file, char *dst, struct err *reterr)
{
	if (strchr(file, '/') != NULL ||
	    snprintf(dst, DATABASES_PATH, "%s/%s", d->dir, file) >= DATABASES_PATH)
		return err_raise(reterr, 50021, 16, 1,
				 "The file name '%.200s' of a database will not do: it must be a name in the "
				 "data folder.",
				 file);
	return 0;
}

static struct database_entry *find(struct databases *d, struct str name)
{
	size_t n = atomic_load_explicit(&d->count, memory_order_acquire);

	for (size_t i = 0; i < n; i++) {
		if (str_eq_nocase(str_of(d->entries[i]->db.name), name))
			return d->entries[i];
	}
	return NULL;
}

struct database *databases_system(struct databases *d)
{
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
		if (atomic_load(&d->entries[n - 1]->db.id) == id)
			return &d->entries[n - 1]->db;
	}
	return NULL;
}

void databases_each(struct databases *d, void (*fn)(struct database *db, void *arg), void *arg)
{
	size_t n = atomic_load_explicit(&d->count, memory_order_acquire);

	for (size_t i = 0; i < n; i++)
		fn(&d->entries[i]->db, arg);
}

struct database_entry *databases_entry_new(const struct database_row *r)
{
	struct database_entry *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	str_copy(e->db.name, sizeof(e->db.name), str_of(r->name));
	atomic_init(&e->db.id, r->id);
	e->db.service = r->service;
	e->settings = r->settings;
	str_copy(e->identity, sizeof(e->identity), str_of(r->identity));
	return e;
}

void databases_entry_free(struct database_entry *e)
{
	if (e == NULL)
		return;
	executor_stop(e->db.executor);
	store_close(e->store);
	free(e->damage);
	free(e);
}

int databases_entry_start(struct databases *d, struct database_entry *e, struct err *reterr)
{
	struct executor_options o = d->options;

	o.name = e->db.name;
	o.store = e->store;
	o.errata_literal = e->settings.errata_literal;
	o.relaxed = e->settings.relaxed;
	o.commit_interval_ms = e->settings.commit_interval_ms;
	o.promise = catalogue_find(e->db.service, STR("dbo"), STR("procession_promise"));
	return executor_start(&o, &e->db.executor, reterr);
}

/* Two databases in one file, by links, would each keep a log of their own for it. */
static int is_own_file(struct databases *d, const char *path, const char *name, struct err *reterr)
{
	size_t n = atomic_load(&d->count);
	struct stat s;

	if (stat(path, &s) < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (d->entries[i]->store != NULL && d->entries[i]->device == s.st_dev &&
		    d->entries[i]->inode == s.st_ino)
			return err_raise(reterr, 50021, 16, 1,
					 "The file '%s' of database '%s' is that of database '%s', too, by a "
					 "link. Put the right file in its place.",
					 path, name, d->entries[i]->db.name);
	}
	return 0;
}

static int open_store(struct databases *d, const struct database_row *r, const char *path, struct store **ret,
		      struct err *reterr)
{
	struct store_options o = { .path = path,
				   .name = r->name,
				   .service = &service_procs[r->service],
				   .cache_mib = d->cache_mib,
				   .known = r->known,
				   .identity = r->identity,
				   .accept = databases_listed(d->accept, r->name) };

	if (is_own_file(d, path, r->name, reterr) < 0)
		return -1;
	if (store_open(&o, ret, reterr) == 0)
		return 0;
	if (!databases_listed(d->set_aside, r->name) || !databases_may_set_aside(reterr))
		return -1;
	if (databases_set_aside(path, r->name, reterr, reterr) < 0)
		return -1;
	o.known = false;
	o.identity = NULL;
	return store_open(&o, ret, reterr);
}

/* Opens the store of an entry that is not published yet. */
int databases_entry_open(struct databases *d, const struct database_row *r, struct database_entry **ret,
			 struct err *reterr)
{
	struct database_entry *e = databases_entry_new(r);
	char path[DATABASES_PATH];
	struct stat s;

	if (e == NULL)
		return err_nomem(reterr);
	if (databases_path(d, r->file, path, reterr) < 0 || open_store(d, r, path, &e->store, reterr) < 0) {
		databases_entry_free(e);
		return -1;
	}
	str_copy(e->identity, sizeof(e->identity), str_of(store_identity(e->store)));
	if (stat(path, &s) == 0) {
		e->device = s.st_dev;
		e->inode = s.st_ino;
	}
	*ret = e;
	return 0;
}

int databases_publish(struct databases *d, struct database_entry *e, struct err *reterr)
{
	size_t n = atomic_load(&d->count);

	if (n == DATABASES_MAX)
		return err_set(reterr, ERR_ADMIN,
			       "The server has 1024 databases already. It can have no more.");
	d->entries[n] = e;
	atomic_store_explicit(&d->count, n + 1, memory_order_release);
	return 0;
}

/* A copy of another database's file, which is to become a database of its own, must be told from it later. One that is known already has its number. */
static int own_identity(struct databases *d, struct database_entry *e, struct err *reterr)
{
	size_t n = atomic_load(&d->count);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(d->entries[i]->identity, e->identity) != 0)
			continue;
		if (store_identity_renew(e->store, reterr) < 0)
			return -1;
		str_copy(e->identity, sizeof(e->identity), str_of(store_identity(e->store)));
		return 0;
	}
	return 0;
}

int databases_add(struct databases *d, const struct database_row *r, struct err *reterr)
{
	struct database_entry *e;

	if (databases_entry_open(d, r, &e, reterr) < 0)
		return -1;
	if (own_identity(d, e, reterr) < 0 || databases_entry_start(d, e, reterr) < 0 ||
	    databases_publish(d, e, reterr) < 0) {
		databases_entry_free(e);
		return -1;
	}
	return 0;
}

/* Created before, but its row was not kept: it gets the number that its row has now. */
static void take_over(struct database_entry *e, bool literal, int id)
{
	executor_set_errata(e->db.executor, literal);
	atomic_store(&e->db.id, id);
}

int databases_create(struct databases *d, struct str name, enum service service, bool literal, int id,
		     const char **ret_identity, struct err *reterr)
{
	struct database_row r = { .id = id,
				  .service = service,
				  .settings = { .errata_literal = literal,
						.commit_interval_ms = COMMIT_INTERVAL_MS } };
	struct database_entry *e;
	int rc = 0;

	if (databases_file(name, r.file, sizeof(r.file), reterr) < 0)
		return -1;
	if (service <= SERVICE_SYSTEM || service >= SERVICE_COUNT)
		return err_set(reterr, ERR_ADMIN,
			       "The service of a database is word, translation, schedule or state.");
	str_copy(r.name, sizeof(r.name), name);
	pthread_mutex_lock(&d->adding);
	e = find(d, name);
	if (e == NULL)
		rc = databases_add(d, &r, reterr);
	else if (e->db.service != service || e->store == NULL)
		rc = err_raise(reterr, 50020, 16, 1, "The database '%s' exists already. Choose another name.",
			       e->db.name);
	else
		take_over(e, literal, id);
	if (rc == 0)
		*ret_identity = find(d, name)->identity;
	pthread_mutex_unlock(&d->adding);
	return rc;
}

int databases_set(struct databases *d, struct str name, const struct database_settings *s, struct err *reterr)
{
	struct database_entry *e = find(d, name);
	char shown[129];

	if (e == NULL) {
		str_copy(shown, sizeof(shown), name);
		return err_set(reterr, ERR_NO_DATABASE_USE, shown);
	}
	if (e->db.executor == NULL) /* the row counts when it is served again */
		return 0;
	executor_set_errata(e->db.executor, s->errata_literal);
	executor_set_commit(e->db.executor, s->relaxed, s->commit_interval_ms);
	return 0;
}

int databases_check(struct databases *d, struct str name, char **ret_report, struct err *reterr)
{
	struct database_entry *e = name.n == 0 ? d->entries[0] : find(d, name);
	char shown[129];

	if (e == NULL) {
		str_copy(shown, sizeof(shown), name);
		return err_set(reterr, ERR_NO_DATABASE_USE, shown);
	}
	if (e->store != NULL)
		return store_check(e->store, ret_report, reterr);
	*ret_report = strdup(e->damage);
	return *ret_report == NULL ? err_nomem(reterr) : 0;
}

void databases_close(struct databases *d)
{
	size_t n;

	if (d == NULL)
		return;
	n = atomic_load(&d->count);
	if (n > 0) { /* first: its procedures may create databases */
		executor_stop(d->entries[0]->db.executor);
		d->entries[0]->db.executor = NULL;
		n = atomic_load(&d->count);
	}
	while (n > 0)
		databases_entry_free(d->entries[--n]);
	pthread_mutex_destroy(&d->adding);
	free(d->dir);
	free(d->set_aside);
	free(d->accept);
	free(d);
}
