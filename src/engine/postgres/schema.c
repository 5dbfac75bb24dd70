/* schema.c — a database as a schema of PostgreSQL: found or made, brought up to date by whoever
 * comes first, refused when it is newer than this program. Functions and views are in a schema of
 * their own that is named after their text: programs of two versions can serve the same tables. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "catalogue/meta.h"
#include "engine/postgres/postgres_int.h"

#define SYSTEM_SCHEMA "procession_system"
#define CODE_DIGITS 8 /* of the hash, in the name of the schema with functions and views */
#define OLDEST 140000 /* that can do what is asked of it: pipelines */

/* ---- names ---- */

/* Names of databases have ASCII letters, digits, blanks, _ and -, and differ by more than case. */
static void make_name(const char *database, char *dst)
{
	struct str name = str_of(database);
	char plain[PG_SCHEMA];
	bool same = name.n <= 36;
	size_t n = 0;

	for (size_t i = 0; i < name.n && n < 36; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (!isalnum(c))
			same = false;
		plain[n++] = isalnum(c) ? (char)tolower(c) : '_';
	}
	plain[n] = '\0';
	if (same)
		snprintf(dst, PG_SCHEMA, "procession_%s", plain);
	else
		snprintf(dst, PG_SCHEMA, "procession_%.30s_%08x", plain, str_hash_nocase(name));
}

static void name_schemas(struct pg_database *db, const struct engine_open *o)
{
	if (o->service == SERVICE_SYSTEM)
		snprintf(db->schema, sizeof(db->schema), "%s", SYSTEM_SCHEMA);
	else if (o->place[0] != '\0')
		snprintf(db->schema, sizeof(db->schema), "%.52s", o->place);
	else
		make_name(o->name, db->schema);
	snprintf(db->code, sizeof(db->code), "%.52s_%.*s", db->schema, CODE_DIGITS, db->sql->hash);
}

/* ---- small questions ---- */

static int run(const struct pg_plain *h, struct err *reterr, const char *fmt, ...) PRINTF_LIKE(3, 4);
static int run(const struct pg_plain *h, struct err *reterr, const char *fmt, ...)
{
	char sql[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(sql, sizeof(sql), fmt, args);
	va_end(args);
	return postgres_plain_script(h, sql, reterr);
}

/* The first column of the first row as text; "" when there is none. */
static int ask(const struct pg_plain *h, char *dst, size_t size, struct err *reterr, const char *fmt, ...)
	PRINTF_LIKE(5, 6);
static int ask(const struct pg_plain *h, char *dst, size_t size, struct err *reterr, const char *fmt, ...)
{
	char sql[1024];
	va_list args;
	PGresult *r;
	int rc = 0;

	va_start(args, fmt);
	vsnprintf(sql, sizeof(sql), fmt, args);
	va_end(args);
	r = postgres_exec_long(h->engine, h->session, sql);
	dst[0] = '\0';
	if (PQresultStatus(r) != PGRES_TUPLES_OK)
		rc = err_raise(reterr, 50021, 16, 1, "PostgreSQL does not answer: %.400s",
			       PQerrorMessage(h->session));
	else if (PQntuples(r) > 0 && !PQgetisnull(r, 0, 0))
		str_copy(dst, size, str_of(PQgetvalue(r, 0, 0)));
	PQclear(r);
	return rc;
}

static int schema_exists(const struct pg_plain *h, const char *name, bool *ret, struct err *reterr)
{
	char answer[8];
	int rc = ask(h, answer, sizeof(answer), reterr, "SELECT 1 FROM pg_namespace WHERE nspname = '%s'",
		     name);

	*ret = answer[0] == '1';
	return rc;
}

static int make_identity(char *dst, struct err *reterr)
{
	uint8_t random[16];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_raise(reterr, 50021, 16, 1, "The system gives no random numbers: %s",
				 strerror(errno));
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(dst + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* ---- what all databases share ---- */

static int check_cluster(const struct pg_plain *h, struct err *reterr)
{
	const char *encoding = PQparameterStatus(h->session, "server_encoding");

	if (PQserverVersion(h->session) < OLDEST)
		return err_raise(
			reterr, 50021, 16, 1,
			"PostgreSQL %s is too old (setting postgres): version %d or later is needed.",
			PQparameterStatus(h->session, "server_version"), OLDEST / 10000);
	if (encoding == NULL || strcmp(encoding, "UTF8") != 0)
		return err_raise(
			reterr, 50021, 16, 1,
			"The database '%s' of PostgreSQL has the encoding %s, which cannot keep every "
			"text (setting postgres). Use one that was made with ENCODING 'UTF8'.",
			PQdb(h->session), encoding == NULL ? "?" : encoding);
	return 0;
}

/* Two installations in one cluster may want to make it at the same time. */
static const char make_reader[] =
	"DO $$ BEGIN BEGIN CREATE ROLE procession_reader NOLOGIN; EXCEPTION WHEN duplicate_object OR "
	"unique_violation THEN NULL; END; EXECUTE format('GRANT procession_reader TO %I', current_user); "
	"END $$";

/* The role under which clients' SELECTs run. Looked at whenever a server starts: without it they
 * would all fail, and nobody would know before. */
static int have_reader(const struct pg_plain *h, struct err *reterr)
{
	char member[8];
	PGresult *r;
	bool made;

	if (ask(h, member, sizeof(member), reterr,
		"SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = "
		"'procession_reader'") < 0)
		return -1;
	if (member[0] == 't')
		return 0;
	r = postgres_exec_long(h->engine, h->session, make_reader);
	made = PQresultStatus(r) == PGRES_COMMAND_OK;
	PQclear(r);
	if (made)
		return 0;
	return err_raise(reterr, 50021, 16, 1,
			 "SELECTs of clients run in PostgreSQL as the role procession_reader, which its user "
			 "'%s' may not use and may not make. Let an administrator of PostgreSQL say, then "
			 "start again: %sGRANT procession_reader TO \"%s\";",
			 PQuser(h->session),
			 member[0] == '\0' ? "CREATE ROLE procession_reader NOLOGIN; " : "",
			 PQuser(h->session));
}

static int read_key(struct pg_engine *e, const struct pg_plain *h, struct err *reterr)
{
	char hex[2 * sizeof(e->key) + 1];

	if (ask(h, hex, sizeof(hex), reterr, "SELECT encode(key, 'hex') FROM procession.installation") < 0)
		return -1;
	for (size_t i = 0; i < sizeof(e->key); i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		e->key[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return 0;
}

static int make_common(const struct pg_plain *h, struct err *reterr)
{
	char hash[64];
	bool there;

	if (have_reader(h, reterr) < 0 || schema_exists(h, "procession", &there, reterr) < 0)
		return -1;
	if (!there && run(h, reterr, "CREATE SCHEMA procession") < 0)
		return -1;
	if (ask(h, hash, sizeof(hash), reterr,
		"SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = "
		"'procession'") < 0)
		return -1;
	if (strcmp(hash, catalogue_postgres_common_hash) == 0)
		return 0;
	if (run(h, reterr, "SET LOCAL search_path = procession, pg_catalog") < 0 ||
	    postgres_plain_script(h, catalogue_postgres_common_sql, reterr) < 0)
		return -1;
	return run(h, reterr, "COMMENT ON SCHEMA procession IS '%s'", catalogue_postgres_common_hash);
}

static int open_common(struct pg_database *db, const struct pg_plain *h, struct err *reterr)
{
	if (db->base.service != SERVICE_SYSTEM)
		return 0;
	if (check_cluster(h, reterr) < 0 || make_common(h, reterr) < 0)
		return -1;
	return read_key(db->engine, h, reterr);
}

/* ---- one of them ---- */

static int make_store(struct pg_database *db, const struct pg_plain *h, const char *service,
		      const char *identity, struct err *reterr)
{
	if (run(h, reterr, "CREATE SCHEMA \"%s\"", db->schema) < 0 ||
	    run(h, reterr, "SET LOCAL search_path = \"%s\", procession, pg_catalog", db->schema) < 0 ||
	    postgres_plain_script(h, catalogue_postgres_store_sql, reterr) < 0)
		return -1;
	return run(h, reterr,
		   "INSERT INTO store (service, version, identity, hash) VALUES ('%s', 0, '%s', '')", service,
		   identity);
}

static int make_tables(struct pg_database *db, const struct pg_plain *h, const struct engine_open *o,
		       struct err *reterr)
{
	char identity[ENGINE_IDENTITY];

	if (o->known)
		return err_raise(
			reterr, 50021, 16, 1,
			"PostgreSQL has no schema \"%s\", which keeps database '%s'. Restore a backup "
			"of the cluster, or check the setting postgres.",
			db->schema, o->name);
	return make_identity(identity, reterr) < 0 ? -1
						   : make_store(db, h, db->procs->name, identity, reterr);
}

static int check_service(struct pg_database *db, const struct pg_plain *h, struct err *reterr)
{
	char service[40];

	if (ask(h, service, sizeof(service), reterr, "SELECT service FROM store") < 0)
		return -1;
	if (strcmp(service, db->procs->name) != 0)
		return err_raise(reterr, 50021, 16, 1,
				 "The schema \"%s\" of PostgreSQL belongs to the service '%s', not to '%s'.",
				 db->schema, service, db->procs->name);
	return 0;
}

/* A query for the schemas with functions and views of one with tables (%s). Another database may
 * have a name like theirs, but it has tables. */
#define CODE_OF(mark) \
	"SELECT nspname FROM pg_namespace AS n WHERE nspname ~ '^%s" mark "[0-9a-f]{8}$' AND NOT EXISTS " \
	"(SELECT 1 FROM pg_class WHERE relnamespace = n.oid AND relkind = 'r')"

/* Views of other versions of the program may stand in the way of a change of tables. */
static int drop_old_code(struct pg_database *db, const struct pg_plain *h, struct err *reterr)
{
	return run(h, reterr,
		   "DO $$ DECLARE s text; BEGIN FOR s IN " CODE_OF(
			   "_") " LOOP EXECUTE format('DROP SCHEMA %%I CASCADE', s); END LOOP; END $$",
		   db->schema);
}

int postgres_schema_check(const struct pg_database *db, long version, struct err *reterr)
{
	if (version <= db->sql->nmigrations)
		return 0;
	return err_raise(reterr, 50021, 16, 1,
			 "Database '%s' was brought up to version %ld by a newer program; this one knows "
			 "versions up to %d. Use the newer program.",
			 db->base.name, version, db->sql->nmigrations);
}

/* *ret_outdated becomes true where there may be servers that know the tables as they were. */
static int migrate(struct pg_database *db, const struct pg_plain *h, bool *ret_outdated, struct err *reterr)
{
	char text[32];
	long version;

	if (ask(h, text, sizeof(text), reterr, "SELECT version FROM store") < 0)
		return -1;
	version = strtol(text, NULL, 10);
	if (postgres_schema_check(db, version, reterr) < 0)
		return -1;
	*ret_outdated = *ret_outdated || (version > 0 && version < db->sql->nmigrations);
	if (version > 0 && version < db->sql->nmigrations && drop_old_code(db, h, reterr) < 0)
		return -1;
	for (long i = version; i < db->sql->nmigrations; i++) {
		if (postgres_plain_script(h, db->sql->migrations[i], reterr) < 0)
			return -1;
	}
	return version == db->sql->nmigrations
		       ? 0
		       : run(h, reterr, "UPDATE store SET version = %d", db->sql->nmigrations);
}

static int make_code(struct pg_database *db, const struct pg_plain *h, struct err *reterr)
{
	bool there;

	if (schema_exists(h, db->code, &there, reterr) < 0)
		return -1;
	if (there)
		return 0;
	if (run(h, reterr, "CREATE SCHEMA \"%s\"", db->code) < 0 ||
	    run(h, reterr, "SET LOCAL search_path = \"%s\", \"%s\", procession, pg_catalog", db->code,
		db->schema) < 0 ||
	    postgres_plain_script(h, db->sql->functions_sql, reterr) < 0)
		return -1;
	return postgres_plain_script(h, db->sql->views_sql, reterr);
}

/* The tables that describe the catalogue: they follow the program. */
static int load_metadata(struct pg_database *db, const struct pg_plain *h, struct err *reterr)
{
	char count[32];

	if (db->base.service != SERVICE_SYSTEM)
		return 0;
	if (ask(h, count, sizeof(count), reterr, "SELECT 1 FROM meta_hash WHERE hash = '%s'",
		catalogue_meta_hash) < 0)
		return -1;
	return count[0] == '1' ? 0 : postgres_plain_script(h, catalogue_postgres_meta_sql, reterr);
}

static int check_identity(struct pg_database *db, const struct pg_plain *h, const struct engine_open *o,
			  struct err *reterr)
{
	if (ask(h, db->identity, sizeof(db->identity), reterr, "SELECT identity FROM store") < 0)
		return -1;
	if (o->identity != NULL && o->identity[0] != '\0' && strcmp(o->identity, db->identity) != 0 &&
	    !o->accept)
		return err_raise(reterr, 50021, 16, 1,
				 "The schema \"%s\" of PostgreSQL is another database than '%s' was. Restore "
				 "the right one, or start once with --accept-as-found=%s.",
				 db->schema, o->name, o->name);
	return 0;
}

/* ---- dropping one ---- */

/* Put away: the schema with the tables as NAME_dropped, those with functions and views as
 * NAME-HASH, since their names have no room for more. They are bound to those tables, not to a
 * name: the next database of this name needs its own. */
#define DROPPED "_dropped"

/* One whose drop was not finished, since its row is still there: looked at when nobody who drops it
 * is at work, on whichever server. Functions and views are made again. */
static int take_back(struct pg_database *db, const struct pg_plain *h, bool *ret_there, struct err *reterr)
{
	char listed[8];
	bool dropped;

	if (schema_exists(h, db->schema, ret_there, reterr) < 0)
		return -1;
	if (*ret_there || db->base.service == SERVICE_SYSTEM)
		return 0;
	if (run(h, reterr, "LOCK TABLE " SYSTEM_SCHEMA ".gate IN SHARE UPDATE EXCLUSIVE MODE") < 0 ||
	    ask(h, listed, sizeof(listed), reterr,
		"SELECT 1 FROM " SYSTEM_SCHEMA ".database AS d, pg_namespace WHERE d.file = '%s' AND nspname "
		"= '%s" DROPPED "'",
		db->schema, db->schema) < 0)
		return -1;
	dropped = listed[0] == '1';
	if (dropped &&
	    run(h, reterr, "ALTER SCHEMA \"%s" DROPPED "\" RENAME TO \"%s\"", db->schema, db->schema) < 0)
		return -1;
	if (dropped)
		LOG(LOG_WARN, NULL, "drop_undone", F_STR("schema", db->schema),
		    F_STR("reason", "it was not finished"));
	return schema_exists(h, db->schema, ret_there, reterr);
}

static int script_alone(struct pg_engine *e, const char *sql, struct err *reterr)
{
	struct pg_plain h;
	int rc = postgres_plain_open(e, &h, reterr);

	if (rc == 0)
		rc = postgres_plain_script(&h, sql, reterr);
	postgres_plain_close(&h);
	return rc;
}

/* What was put away, and is not wanted any more. Whoever still reads it has a minute to end. */
#define DROP_IT \
	"SET LOCAL lock_timeout = '60s'; DROP SCHEMA IF EXISTS \"%s" DROPPED "\" CASCADE; " \
	"FOR s IN " CODE_OF("-") " LOOP EXECUTE format('DROP SCHEMA %%I CASCADE', s); END LOOP; "

/* What an earlier one of this name has left gives way. */
int postgres_schema_put_away(struct pg_engine *e, const char *schema, struct err *reterr)
{
	char sql[2048];

	snprintf(sql, sizeof(sql),
		 "DO $$ DECLARE s text; BEGIN " DROP_IT "IF EXISTS (SELECT 1 FROM pg_namespace WHERE nspname "
		 "= '%s') THEN ALTER SCHEMA \"%s\" RENAME TO \"%s" DROPPED
		 "\"; END IF; FOR s IN " CODE_OF("_") " LOOP EXECUTE format('ALTER SCHEMA %%I RENAME TO "
						      "%%I', s, left(s, -9) || '-' || right(s, "
						      "8)); END LOOP; END $$",
		 schema, schema, schema, schema, schema, schema);
	return script_alone(e, sql, reterr);
}

int postgres_schema_drop(struct pg_engine *e, const char *schema, struct err *reterr)
{
	char sql[1024];

	snprintf(sql, sizeof(sql), "DO $$ DECLARE s text; BEGIN " DROP_IT "END $$", schema, schema);
	return script_alone(e, sql, reterr);
}

int postgres_schema_each_dropped(struct pg_engine *e,
				 void (*one)(struct pg_engine *e, const char *schema, void *arg), void *arg,
				 struct err *reterr)
{
	struct pg_plain h;
	PGresult *r;

	if (postgres_plain_open(e, &h, reterr) < 0)
		return -1;
	r = postgres_exec_long(
		e, h.session,
		"SELECT left(nspname, -8) FROM pg_namespace n WHERE nspname ~ '_dropped$' AND EXISTS (SELECT "
		"1 FROM pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'store')");
	for (int i = 0; i < PQntuples(r); i++)
		one(e, PQgetvalue(r, i, 0), arg);
	PQclear(r);
	postgres_plain_close(&h);
	return 0;
}

/* Servers of an older program still have sessions, and would go on as if nothing had happened. Each
 * session that is made from now on looks at the version first (conn.c). */
static int end_old_sessions(const struct pg_plain *h, struct err *reterr)
{
	return run(
		h, reterr,
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
		"AND usename = current_user AND application_name ~ '^procession [0-9a-f]+/'");
}

/* A move out of it that was cut short. */
static int forget_notes(struct pg_database *db, const struct pg_plain *h, struct err *reterr)
{
	char noted[8];

	if (ask(h, noted, sizeof(noted), reterr,
		"SELECT 1 WHERE to_regclass('" POSTGRES_NOTE "') IS NOT NULL") < 0)
		return -1;
	return noted[0] == '1' ? run(h, reterr, POSTGRES_FORGET_NOTES, db->schema, db->schema) : 0;
}

/* Marks of servers that have been gone for a day become one row. What is read of all together,
 * their sum and the latest time, stays as it is. */
static int fold_marks(const struct pg_plain *h, struct err *reterr)
{
	return run(
		h, reterr,
		"WITH gone AS (DELETE FROM mark AS m WHERE slot <> 'folded' AND at < ticks() - %lld AND NOT "
		"EXISTS (SELECT 1 FROM server AS s WHERE m.slot LIKE s.id || '/%%') RETURNING seq, at) "
		"INSERT INTO mark (slot, seq, at) SELECT 'folded', sum(seq), max(at) FROM gone "
		"HAVING count(*) > 0 ON CONFLICT (slot) DO UPDATE SET seq = mark.seq + excluded.seq, "
		"at = greatest(mark.at, excluded.at)",
		86400LL * 300);
}

static int open_all(struct pg_database *db, const struct pg_plain *h, const struct engine_open *o,
		    bool *ret_outdated, struct err *reterr)
{
	bool there;

	if (run(h, reterr,
		"BEGIN; SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(%d, hashtext('%s'))",
		PG_ADVISORY, db->schema) < 0 ||
	    open_common(db, h, reterr) < 0 ||
	    (o->known ? take_back(db, h, &there, reterr) : schema_exists(h, db->schema, &there, reterr)) <
		    0 ||
	    (!there && make_tables(db, h, o, reterr) < 0) ||
	    run(h, reterr, "SET LOCAL search_path = \"%s\", procession, pg_catalog", db->schema) < 0 ||
	    check_service(db, h, reterr) < 0 || forget_notes(db, h, reterr) < 0 ||
	    fold_marks(h, reterr) < 0 || migrate(db, h, ret_outdated, reterr) < 0 ||
	    load_metadata(db, h, reterr) < 0 || make_code(db, h, reterr) < 0 ||
	    check_identity(db, h, o, reterr) < 0)
		return -1;
	if (run(h, reterr, "COMMIT") < 0)
		return -1;
	return *ret_outdated ? end_old_sessions(h, reterr) : 0;
}

/* All of it is one transaction: where the primary is lost meanwhile, it is begun again. */
int postgres_schema_open(struct pg_database *db, const struct engine_open *o, struct err *reterr)
{
	int64_t until_ms = clock_mono_ms() + db->engine->failover_ms;
	struct pg_plain h;
	bool outdated = false, again;
	int rc;

	name_schemas(db, o);
	do {
		if (postgres_plain_open(db->engine, &h, reterr) < 0)
			return -1;
		rc = open_all(db, &h, o, &outdated, reterr); /* a commit may have been done, too */
		again = rc < 0 && PQstatus(h.session) != CONNECTION_OK && clock_mono_ms() < until_ms;
		postgres_plain_close(&h);
	} while (again);
	return rc;
}

int postgres_schema_place(struct pg_engine *e, const char *name, char ret[ENGINE_PLACE], struct err *reterr)
{
	char schema[PG_SCHEMA];
	struct pg_plain h;
	bool there;
	int rc;

	make_name(name, schema);
	snprintf(ret, ENGINE_PLACE, "%s", schema);
	if (postgres_plain_open(e, &h, reterr) < 0)
		return -1;
	rc = schema_exists(&h, schema, &there, reterr);
	postgres_plain_close(&h);
	if (rc == 0 && there)
		rc = err_raise(
			reterr, 50021, 16, 1,
			"PostgreSQL has a schema \"%s\" already, where the database would be kept. If an "
			"installation of servers uses it, drop that database there (procession database "
			"drop); if nobody does, drop or rename the schema.",
			schema);
	return rc;
}

int postgres_schema_make(struct pg_database *db, const struct engine_open *o, struct err *reterr)
{
	struct pg_plain h;
	bool outdated = false;
	int rc;

	name_schemas(db, o);
	if (postgres_plain_open(db->engine, &h, reterr) < 0)
		return -1;
	rc = run(&h, reterr,
		 "BEGIN; SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(%d, hashtext('%s'))",
		 PG_ADVISORY, db->schema);
	if (rc == 0)
		rc = make_store(db, &h, "(moving)", o->identity, reterr);
	if (rc == 0)
		rc = migrate(db, &h, &outdated, reterr);
	if (rc == 0)
		rc = make_code(db, &h, reterr);
	if (rc == 0)
		rc = run(&h, reterr, "COMMIT");
	postgres_plain_close(&h);
	return rc;
}

int postgres_schema_renew(struct pg_database *db, struct err *reterr)
{
	struct pg_plain h;
	char identity[ENGINE_IDENTITY];
	int rc;

	if (postgres_plain_open(db->engine, &h, reterr) < 0)
		return -1;
	rc = make_identity(identity, reterr);
	if (rc == 0)
		rc = run(&h, reterr, "UPDATE \"%s\".store SET identity = '%s'", db->schema, identity);
	lock_take(&db->engine->lock); /* counter.c looks at all of them */
	if (rc == 0)
		str_copy(db->identity, sizeof(db->identity), str_of(identity));
	lock_give(&db->engine->lock);
	postgres_plain_close(&h);
	return rc;
}
