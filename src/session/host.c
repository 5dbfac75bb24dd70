/* host.c — what the language asks the session: who, where, which server; USE; the DONE of a
 * statement. */
#include <string.h>

#include "session/asker.h"
#include "session/kill.h"
#include "session/request_int.h"

static struct frame *frame_of(struct tsql_host *h)
{
	return CONTAINER_OF(h, struct frame, host);
}

static struct session *session_of(struct tsql_host *h)
{
	return frame_of(h)->session;
}

/* NOCOUNT in a batch clears the count; inside a procedure only result sets and errors keep their
 * DONE (wire notes 13.4). */
static void host_statement_done(struct tsql_host *h, enum tsql_command cmd, bool has_count, uint64_t count,
				bool error)
{
	struct session *s = session_of(h);
	bool in_proc = frame_of(h)->in_proc;
	uint16_t status = error ? TDS_DONE_ERROR : 0;

	if (s->results != &s->sink && !error)
		return; /* a cursor takes it */

	if (s->vars.nocount) {
		if (in_proc && !error && !s->resp.result_open)
			return;
		has_count = false;
	}
	if (has_count && !error)
		status |= TDS_DONE_COUNT;
	session_response_done(s, in_proc ? TDS_DONEINPROC : TDS_DONE, status, (uint16_t)cmd,
			      has_count ? count : 0);
}

/* ---- values ---- */

static struct asker asker_of(struct session *s)
{
	const struct metadata_client who = { .database = s->database,
					     .login = s->login.name,
					     .host = s->login.host,
					     .program = s->login.app,
					     .address = s->peer_host,
					     .scheme = s->login.scheme,
					     .admin = s->login.admin,
					     .spid = s->entry.spid,
					     .vars = &s->vars };

	return session_asker(s->server, s->request, &who);
}

static int host_value(struct tsql_host *h, const char *name, const struct value *args, size_t nargs,
		      struct arena *a, struct value *ret, struct err *reterr)
{
	const struct asker who = asker_of(session_of(h));

	return metadata_value(&who.client, name, args, nargs, a, ret, reterr);
}

static int host_rows(struct tsql_host *h, const char *name, struct arena *a, struct str *ret,
		     struct err *reterr)
{
	const struct asker who = asker_of(session_of(h));

	return metadata_rows(&who.client, name, a, ret, reterr);
}

/* ---- USE, SET LANGUAGE ---- */

static int host_use(struct tsql_host *h, struct str name, struct err *reterr)
{
	struct session *s = session_of(h);
	struct database *db = databases_find(s->server->databases, name);
	char old[129], given[129];
	enum entry entry;
	struct err e;

	str_copy(given, sizeof(given), name);
	str_copy(old, sizeof(old), str_of(s->database_name));
	if (db == NULL)
		return err_set(reterr, ERR_NO_DATABASE_USE, given);
	entry = session_enter_database(s, db);
	if (entry == ENTRY_NOT_SERVED)
		return err_set(reterr, ERR_NOT_SERVED, given);
	if (entry == ENTRY_DENIED)
		return err_set(reterr, ERR_NO_ACCESS, s->login.name, given);
	session_response_touch(s);
	s->told_database = s->database;
	tds_put_envchange_text(&s->out, 1, str_of(s->database_name), str_of(old));
	(void)err_set(&e, ERR_CONTEXT, s->database_name);
	e.line = 1;
	tds_put_message(&s->out, &e);
	tds_put_envchange_bytes(&s->out, 7, tds_collation_default, 5, NULL, 0);
	return 0;
}

static void host_language(struct tsql_host *h, const char *old_name, const char *new_name)
{
	struct session *s = session_of(h);
	struct err e;

	session_response_touch(s);
	tds_put_envchange_text(&s->out, 2, str_of(new_name), str_of(old_name));
	(void)err_set(&e, ERR_LANGUAGE, new_name);
	e.line = 1;
	tds_put_message(&s->out, &e);
}

/* A name in FROM. Who has no right in a database does not learn more than that; the system
 * views of the master are everybody's. */
static int host_database(struct tsql_host *h, struct str name, struct tsql_database *ret, struct err *reterr)
{
	const struct frame *f = frame_of(h);
	struct session *s = session_of(h);
	struct database *db = f->elsewhere != NULL ? f->elsewhere : s->database;

	if (name.n > 0)
		db = databases_find(s->server->databases, name);
	if (db == NULL)
		return err_set(reterr, ERR_NO_OBJECT, "");
	*ret = (struct tsql_database){ .name = db->name,
				       .service = db->service,
				       .may_select = (session_rights(s, db) & RIGHT_SELECT) != 0,
				       .sql = databases_sql(db) };
	if (db == s->database)
		return 0;
	if (db->service != SERVICE_SYSTEM && session_rights(s, db) == 0)
		return err_set(reterr, ERR_NO_ACCESS, s->login.name, db->name);
	return db->engine == NULL ? err_set(reterr, ERR_NOT_SERVED, db->name) : 0;
}

static int host_kill(struct tsql_host *h, int64_t spid, struct err *reterr)
{
	struct session *s = session_of(h);

	if (!s->login.admin)
		return err_set(reterr, ERR_KILL_PERMISSION);
	if (s->vars.trancount > 0)
		return err_set(reterr, ERR_KILL_IN_TRAN);
	return session_kill_number(s->server, &s->log, s->entry.spid, spid, reterr);
}

const struct tsql_host_ops session_host_ops = {
	.statement_done = host_statement_done,
	.value = host_value,
	.rows = host_rows,
	.use = host_use,
	.language = host_language,
	.database = host_database,
	.kill = host_kill,
};
