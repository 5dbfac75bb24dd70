/* host.c — what the language asks a local batch: who, where, which rights. The answers are those
 * that a session of the same login would give. */
#include "local/local_int.h"
#include "session/asker.h"
#include "session/kill.h"

static struct local_run *run_of(struct tsql_host *h)
{
	return CONTAINER_OF(h, struct local_run, host);
}

uint8_t local_rights(const struct local_run *r, const struct database *db)
{
	const struct metadata_client who = { .auth = r->client.server->auth,
					     .login = r->client.login,
					     .admin = r->client.admin };

	return metadata_rights_in(&who, db);
}

static void statement_done(struct tsql_host *h, enum tsql_command cmd, bool has_count, uint64_t count,
			   bool error)
{
	(void)h, (void)cmd, (void)has_count, (void)count, (void)error;
}

/* ---- values ---- */

static struct asker asker_of(struct local_run *r)
{
	const struct metadata_client who = { .database = r->database,
					     .login = r->client.login,
					     .host = "",
					     .program = r->client.program,
					     .address = r->client.address,
					     .scheme = "SQL",
					     .admin = r->client.admin,
					     .spid = r->client.spid,
					     .vars = &r->vars };

	return session_asker(r->client.server, NULL, &who);
}

static int value(struct tsql_host *h, const char *name, const struct value *args, size_t nargs,
		 struct arena *a, struct value *ret, struct err *reterr)
{
	const struct asker who = asker_of(run_of(h));

	return metadata_value(&who.client, name, args, nargs, a, ret, reterr);
}

static int rows(struct tsql_host *h, const char *name, struct arena *a, struct str *ret, struct err *reterr)
{
	const struct asker who = asker_of(run_of(h));

	return metadata_rows(&who.client, name, a, ret, reterr);
}

/* ---- the rest ---- */

static int use(struct tsql_host *h, struct str database, struct err *reterr)
{
	(void)h, (void)database;
	return err_set(reterr, ERR_NOT_SUPPORTED, "USE in a local batch",
		       "Name the database with the batch.");
}

static void language(struct tsql_host *h, const char *old_name, const char *new_name)
{
	(void)h, (void)old_name, (void)new_name;
}

static int database(struct tsql_host *h, struct str name, struct tsql_database *ret, struct err *reterr)
{
	struct local_run *r = run_of(h);
	struct database *db = name.n == 0 ? r->database : databases_find(r->client.server->databases, name);
	uint8_t rights;

	if (db == NULL)
		return err_set(reterr, ERR_NO_OBJECT, "");
	rights = local_rights(r, db);
	if (db->service != SERVICE_SYSTEM && rights == 0)
		return err_set(reterr, ERR_NO_ACCESS, r->client.login, db->name);
	if (db->engine == NULL)
		return err_set(reterr, ERR_NOT_SERVED, db->name);
	*ret = (struct tsql_database){ .name = db->name,
				       .service = db->service,
				       .may_select = (rights & RIGHT_SELECT) != 0,
				       .sql = databases_sql(db) };
	return 0;
}

static int kill_session(struct tsql_host *h, int64_t spid, struct err *reterr)
{
	struct local_run *r = run_of(h);

	if (!r->client.admin)
		return err_set(reterr, ERR_KILL_PERMISSION);
	return session_kill_number(r->client.server, &r->log, r->client.spid, spid, reterr);
}

const struct tsql_host_ops local_host_ops = {
	.statement_done = statement_done,
	.value = value,
	.rows = rows,
	.use = use,
	.language = language,
	.database = database,
	.kill = kill_session,
};
