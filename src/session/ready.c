/* ready.c — requests of a logged-in client: which kind, which reset bits; and the database the
 * session stands in. */
#include "session/session_int.h"

#include <assert.h>

uint8_t session_rights(struct session *s, const struct database *db)
{
	if (s->login.admin)
		return RIGHT_EXECUTE | RIGHT_SELECT | RIGHT_ADMIN | RIGHT_MONITOR;
	return auth_rights(s->server->auth, s->login.name, db->name);
}

/* Everybody may stand in the system database; the others need a right. Who has none does not
 * learn in which state a database is. */
enum entry session_enter_database(struct session *s, struct database *db)
{
	if (db->service != SERVICE_SYSTEM && session_rights(s, db) == 0)
		return ENTRY_DENIED;
	if (db->engine == NULL)
		return ENTRY_NOT_SERVED;
	session_stand_in(s, db);
	return ENTRY_OK;
}

/* A reset of the connection stays where it is, and takes no lock for it. */
void session_stand_in(struct session *s, struct database *db)
{
	if (s->database != db)
		session_registry_text(&s->server->registry, s->database_name, sizeof(s->database_name),
				      str_of(db->name));
	s->database = db;
}

/* Wire notes 10.4: options, prepared statements and database as after the login; the isolation
 * level stays. */
void session_ready_reset(struct session *s, bool keep_transaction)
{
	uint8_t isolation = s->vars.isolation;
	int32_t trancount = keep_transaction ? s->vars.trancount : 0;
	struct database *db;

	tsql_session_init(&s->vars, s->login.odbc);
	s->vars.isolation = isolation;
	s->vars.trancount = trancount;
	session_prepared_fini(&s->prepared);
	session_cursors_fini(&s->cursors);
	db = databases_find(s->server->databases, str_of(s->login.database));
	if (db != NULL)
		(void)session_enter_database(s, db);
}

static void too_big(struct session *s)
{
	struct err e;

	if (s->in.denied)
		(void)err_nomem(&e);
	else
		(void)err_set(&e, ERR_TOO_LARGE, "The request",
			      (unsigned long long)s->server->config->max_request_size, "max_request_size");
	session_request_fail(s, &e);
}

/* The client gave its request up while sending it (wire notes 11.2). */
static void ignored(struct session *s)
{
	session_response_begin(s);
	tds_put_done(&s->out, TDS_DONE, TDS_DONE_ERROR, 0, 0);
	tds_out_end(&s->out);
	session_send(s);
}

static void bulk(struct session *s)
{
	struct err e;

	(void)err_set(&e, ERR_BULK_STREAM);
	session_request_fail(s, &e);
}

void session_ready_message(struct session *s)
{
	const uint8_t both = TDS_STATUS_RESET | TDS_STATUS_RESET_SKIPTRAN;
	struct tds_cursor body = tds_cursor_of(s->in.body.data, s->in.body.len);
	struct err e;

	assert(s->phase == PHASE_READY && s->request == NULL && !s->in.started);
	if (s->in.ignored) {
		ignored(s);
		return;
	}
	session_move(s, PHASE_BUSY);
	net_stream_set_timer(s->stream, 0);
	if (s->in.too_big) {
		too_big(s);
	} else if ((s->in.flags & both) == both) {
		(void)err_set(&e, ERR_BOTH_RESET);
		session_request_fail(s, &e);
	} else if (s->in.type == TDS_MSG_BATCH) {
		session_request_batch(s, body);
	} else if (s->in.type == TDS_MSG_RPC) {
		session_request_rpc(s, body);
	} else if (s->in.type == TDS_MSG_TM) {
		session_request_tm(s, body);
	} else {
		bulk(s);
	}
}
