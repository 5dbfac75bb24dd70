/* login.c — LOGIN7: who is it, which database, what is agreed; the password is checked on a work
 * thread. Failures tell the client one thing only (18456); the log has the reason. */
#include "session/login_int.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "metrics/metrics.h"

/* jTDS with ssl=request loses an answer that comes at once (wire notes 4.4). */
#define LOGIN_ONLY_DELAY_MS 10u
#define SSPI_TOKEN_MAX (128u << 10)
/* Logins that wait for their turn: how often each asks again, and how many of them there are at
 * once. */
#define LATER_TRIES 16u
#define LATER_MAX 256u

#define FROM(state) (1u << LOGIN_##state)

/* Every change of hands goes through here. */
static void login_enter(struct login_work *w, enum login_state to)
{
	static const unsigned from[LOGIN_STATES] = {
		[LOGIN_IDLE] = FROM(CHECKING) | FROM(LATER),
		[LOGIN_CHECKING] = FROM(IDLE) | FROM(LATER),
		[LOGIN_HELD] = FROM(IDLE),
		[LOGIN_LATER] = FROM(IDLE),
	};

	assert((from[to] & (1u << w->state)) != 0);
	if (w->state == LOGIN_LATER)
		atomic_fetch_sub(&w->session->server->logins_later, 1);
	if (to == LOGIN_LATER)
		atomic_fetch_add(&w->session->server->logins_later, 1);
	w->state = to;
}

void session_login_forget(struct session *s)
{
	struct login_work *w = s->login.work;

	free(s->login.bindings);
	s->login.bindings = NULL;
	if (w == NULL)
		return;
	assert(w->state != LOGIN_CHECKING);
	if (w->state == LOGIN_LATER)
		login_enter(w, LOGIN_IDLE);
	tds_login7_wipe(&w->login7);
	arena_fini(&w->arena);
	auth_exchange_free(w->exchange);
	buf_fini(&w->token);
	free(w);
	s->login.work = NULL;
}

bool session_login_is_checking(const struct session *s)
{
	return s->login.work != NULL && s->login.work->state == LOGIN_CHECKING;
}

bool session_login_is_pending(const struct session *s)
{
	return s->login.work != NULL && s->login.work->state != LOGIN_IDLE;
}

void session_login_leave(struct session *s)
{
	/* What has not begun is taken back, so that nothing is hashed for those who have gone;
	 * else done comes, and releases the session. */
	if (session_login_is_checking(s) && net_work_cancel(s->server->net, &s->login.work->work))
		login_enter(s->login.work, LOGIN_IDLE);
}

/* For the log. An exchange that a work thread still has is not asked. */
static const char *login_mechanism(const struct login_work *w)
{
	return w->exchange == NULL          ? "sql"
	       : w->state == LOGIN_CHECKING ? NULL
					    : auth_exchange_mechanism(w->exchange);
}

/* The same as CONNECTIONPROPERTY names it. */
static const char *auth_scheme(const char *mechanism)
{
	return mechanism == NULL || strcmp(mechanism, "sql") == 0 ? "SQL"
	       : strcmp(mechanism, "ntlm") == 0                   ? "NTLM"
								  : "KERBEROS";
}

/* By what the client is told last. */
static enum metrics_counter outcome_of(const struct err *e)
{
	if (err_is(e, ERR_LOGIN_SLOWED))
		return METRICS_LOGIN_THROTTLED;
	return err_is(e, ERR_LOGIN) || err_is(e, ERR_UNTRUSTED) ? METRICS_LOGIN_REFUSED
								: METRICS_LOGIN_FAILED;
}

void session_login_refuse(struct session *s, const struct err *errors, size_t n, const char *reason)
{
	metrics_count(s->server->metrics, n == 0 ? METRICS_LOGIN_FAILED : outcome_of(&errors[n - 1]), 1);
	LOG(LOG_WARN, &s->log, "login_failed", F_STR("reason", reason),
	    F_INT("number", n > 0 ? errors[n - 1].number : 0),
	    F_STR("mechanism", s->login.work == NULL ? NULL : login_mechanism(s->login.work)));
	session_response_begin(s);
	for (size_t i = 0; i < n; i++) {
		struct err e = errors[i];
		e.line = 1;
		tds_put_message(&s->out, &e);
	}
	tds_put_done(&s->out, TDS_DONE, TDS_DONE_ERROR, 0, 0);
	tds_out_end(&s->out);
	session_send(s);
	session_end(s, reason);
}

static void refuse_one(struct session *s, enum err_id id, const char *arg, const char *reason)
{
	struct err e;

	(void)err_set(&e, id, arg);
	session_login_refuse(s, &e, 1, reason);
}

/* ---- success ---- */

static void put_environment(struct session *s, const struct tds_login7 *l, size_t packet_size)
{
	struct tds_out *o = &s->out;
	char size[16];
	struct err e;

	tds_put_envchange_text(o, 1, str_of(s->database_name), STR("master"));
	(void)err_set(&e, ERR_CONTEXT, s->database_name);
	e.state = 2;
	e.line = 1;
	tds_put_message(o, &e);
	tds_put_envchange_bytes(o, 7, tds_collation_default, 5, NULL, 0);
	tds_put_envchange_text(o, 2, STR("us_english"), STR(""));
	(void)err_set(&e, ERR_LANGUAGE, "us_english");
	e.line = 1;
	tds_put_message(o, &e);
	tds_put_loginack(o, l->tds_version_wire);
	snprintf(size, sizeof(size), "%zu", packet_size);
	tds_put_envchange_text(o, 4, str_of(size), STR("4096"));
	if (s->wire.utf8)
		tds_put_featureextack_utf8(o);
	tds_put_done(o, TDS_DONE, 0, 0, 0);
}

static size_t agreed_packet_size(uint32_t wish)
{
	if (wish < TDS_PACKET_MIN || wish > TDS_PACKET_MAX)
		return TDS_PACKET_DEFAULT;
	return wish;
}

static void log_success(struct session *s, const struct login_work *w)
{
	const struct tds_login7 *l = &w->login7;
	char app[80], library[80];

	if (!atomic_load(&s->server->log_logins))
		return;
	str_copy(app, sizeof(app), l->app);
	str_copy(library, sizeof(library), l->library);
	LOG(LOG_INFO, &s->log, "login", F_STR("mechanism", login_mechanism(w)),
	    F_STR("principal", w->exchange == NULL ? NULL : auth_exchange_principal(w->exchange)),
	    F_STR("tds", tds_version_name(s->wire.version)),
	    F_STR("tls", s->wire.tls_mode == TDS_TLS_ALL          ? net_stream_tls_version(s->stream)
			 : s->wire.tls_mode == TDS_TLS_LOGIN_ONLY ? "login"
								  : "no"),
	    F_STR("app", app), F_STR("library", library), F_STR("host", s->login.host));
}

static void accept_login(struct session *s, const struct login_work *w)
{
	const struct tds_login7 *l = &w->login7;
	size_t packet_size = agreed_packet_size(l->packet_size);

	s->login.admin = w->login.admin;
	s->login.scheme = auth_scheme(login_mechanism(w));
	s->login.odbc = l->odbc;
	s->wire.utf8 = l->wants_utf8 && s->wire.version >= TDS_74;
	str_copy(s->login.host, sizeof(s->login.host), l->host);
	str_copy(s->login.app, sizeof(s->login.app), l->app);
	tsql_session_init(&s->vars, s->login.odbc);
	s->out.utf8 = s->wire.utf8;
	session_account(s);
	s->entry.scheme = s->login.scheme; /* nobody sees it before the next line */
	s->entry.process = l->client_pid;
	s->entry.encrypted = s->wire.tls_mode == TDS_TLS_ALL;
	session_registry_show(&s->server->registry, &s->entry); /* before the client can know that it is in */

	/* The answer itself still goes in packets of the default size; ENVCHANGE announces the
	 * new one. */
	session_response_begin(s);
	put_environment(s, l, packet_size);
	tds_out_end(&s->out);
	session_send(s);
	s->out.packet_size = packet_size;

	tds_message_fini(&s->in);
	tds_message_init(&s->in, (size_t)s->server->config->max_request_size);
	buf_charge(&s->in.body, &s->memory);
	net_stream_set_limit(s->stream, 2 * TDS_PACKET_MAX);
	metrics_count(s->server->metrics, METRICS_LOGIN_ACCEPTED, 1);
	log_success(s, w);
	session_move(s, PHASE_READY);
}

/* ---- a place ---- */

static void refuse_full(struct session *s)
{
	struct err e;

	(void)err_set(&e, ERR_MAX_CONNECTIONS, (int)s->server->max_connections);
	session_login_refuse(s, &e, 1, "connection limit");
}

/* Above the maximum there are places for administrators, so that somebody can find out who took
 * the others. */
static bool take_place(struct session *s)
{
	unsigned places = (unsigned)s->server->config->admin_reserved_connections;

	if (!net_stream_over_limit(s->stream))
		return true;
	if (s->login.admin && atomic_fetch_add(&s->server->reserved, 1) < places) {
		s->login.reserved = true;
		net_stream_keep(s->stream);
		return true;
	}
	if (s->login.admin)
		atomic_fetch_sub(&s->server->reserved, 1);
	refuse_full(s);
	return false;
}

/* ---- the database ---- */

static void refuse_database(struct session *s, const char *name, const char *reason)
{
	struct err errors[2];

	(void)err_set(&errors[0], ERR_NO_DATABASE, name);
	(void)err_set(&errors[1], ERR_LOGIN, s->login.name);
	session_login_refuse(s, errors, 2, reason);
}

static void refuse_access(struct session *s, const char *name)
{
	struct err errors[3];

	(void)err_set(&errors[0], ERR_NO_ACCESS, s->login.name, name);
	(void)err_set(&errors[1], ERR_NO_DATABASE, name);
	(void)err_set(&errors[2], ERR_LOGIN, s->login.name);
	session_login_refuse(s, errors, 3, "no access to the database");
}

static void refuse_damaged(struct session *s, const char *name)
{
	struct err errors[3];

	(void)err_set(&errors[0], ERR_NOT_SERVED, name);
	(void)err_set(&errors[1], ERR_NO_DATABASE, name);
	(void)err_set(&errors[2], ERR_LOGIN, s->login.name);
	session_login_refuse(s, errors, 3, "the database is damaged");
}

static bool choose_database(struct session *s, const struct login_work *w)
{
	char name[129];
	struct database *db;
	enum entry entry;

	str_copy(name, sizeof(name),
		 w->login7.database.n > 0 ? w->login7.database : str_of(w->login.default_database));
	db = databases_find(s->server->databases, str_of(name));
	if (db == NULL) {
		refuse_database(s, name, "no such database");
		return false;
	}
	entry = session_enter_database(s, db);
	if (entry != ENTRY_OK) {
		(entry == ENTRY_DENIED ? refuse_access : refuse_damaged)(s, name);
		return false;
	}
	str_copy(s->login.database, sizeof(s->login.database), str_of(s->database_name));
	return true;
}

/* ---- the check ---- */

static void password_run(struct net_work *work)
{
	struct login_work *w = CONTAINER_OF(work, struct login_work, work);

	w->result = auth_check_password(w->auth, w->login7.user, w->login7.password, w->peer, &w->login);
}

static void refuse_result(struct session *s, const struct login_work *w)
{
	if (w->result == AUTH_ERROR)
		refuse_one(s, ERR_LOGIN_BUSY, "the login cannot be checked now", auth_result_text(w->result));
	else if (w->result == AUTH_THROTTLED || w->result == AUTH_LATER)
		refuse_one(s, ERR_LOGIN_SLOWED, s->login.name, auth_result_text(w->result));
	else if (w->exchange == NULL)
		refuse_one(s, ERR_LOGIN, s->login.name, auth_result_text(w->result));
	else
		refuse_one(s, session_sspi_error(w), s->login.name,
			   w->result == AUTH_WRONG_PASSWORD ? auth_exchange_reason(w->exchange)
							    : auth_result_text(w->result));
}

static void login_answer(struct session *s)
{
	struct login_work *w = s->login.work;

	if (w->result != AUTH_OK) {
		refuse_result(s, w);
	} else if (atomic_load(&s->server->draining)) {
		refuse_one(s, ERR_SHUTDOWN, NULL, "server is shutting down");
	} else {
		str_copy(s->login.name, sizeof(s->login.name), str_of(w->login.name));
		s->login.admin = w->login.admin;
		if (take_place(s) && choose_database(s, w))
			accept_login(s, w);
	}
	session_login_forget(s);
	if (s->phase == PHASE_READY)
		session_resume(s);
}

/* There were too many failures: this one waits for its turn, within the time that a login may
 * take. False: it has waited long enough, or too many wait. */
static bool wait_for_turn(struct session *s)
{
	struct login_work *w = s->login.work;

	if (w->tries++ >= LATER_TRIES || clock_mono_ms() + AUTH_LATER_MS >= s->login.deadline ||
	    atomic_load(&s->server->logins_later) >= LATER_MAX)
		return false;
	if (w->tries == 1)
		LOG(LOG_WARN, &s->log, "login_slowed",
		    F_STR("remedy", "find the client whose password is wrong; limit: login_fail_limit"));
	login_enter(w, LOGIN_LATER);
	net_stream_set_timer(s->stream, AUTH_LATER_MS);
	return true;
}

void session_login_checked(struct session *s)
{
	struct login_work *w = s->login.work;
	unsigned delay = 0;

	if (w->result == AUTH_LATER && wait_for_turn(s))
		return;
	if (w->result != AUTH_OK)
		delay = auth_penalty_ms(s->server->auth, s->peer_host);
	else if (s->wire.tls_mode == TDS_TLS_LOGIN_ONLY && s->wire.version <= TDS_71R1)
		delay = LOGIN_ONLY_DELAY_MS;
	if (delay == 0) {
		login_answer(s);
		return;
	}
	login_enter(w, LOGIN_HELD);
	net_stream_set_timer(s->stream, delay);
}

static void refuse_busy(struct session *s)
{
	struct err e;

	(void)err_set(&e, ERR_LOGIN_BUSY, "too many logins wait to be checked");
	session_login_refuse(s, &e, 1, "too many logins wait (setting login_queue)");
	session_login_forget(s);
}

bool session_login_returned(struct session *s)
{
	assert(net_loop_is_here(s->loop));
	login_enter(s->login.work, LOGIN_IDLE);
	if (s->phase == PHASE_CLOSED) {
		session_release(s);
		return false;
	}
	if (!s->login.work->work.dropped)
		return true;
	refuse_busy(s);
	return false;
}

static void password_done(struct net_work *work)
{
	struct login_work *w = CONTAINER_OF(work, struct login_work, work);

	if (session_login_returned(w->session))
		session_login_checked(w->session);
}

void session_login_submit(struct session *s, void (*run)(struct net_work *work),
			  void (*done)(struct net_work *work))
{
	struct login_work *w = s->login.work;

	assert(net_loop_is_here(s->loop) && w->session == s && s->phase < PHASE_READY);
	login_enter(w, LOGIN_CHECKING);
	w->work = (struct net_work){ .run = run,
				     .done = done,
				     .loop = s->loop,
				     .key = auth_peer_number(w->auth, w->peer),
				     .lane = auth_knows_peer(w->auth, w->peer) ? NET_LANE_KNOWN
									       : NET_LANE_STRANGER };
	net_work_submit(s->server->net, &w->work);
}

static void check_again(struct session *s)
{
	int64_t left = s->login.deadline - clock_mono_ms();

	net_stream_set_timer(s->stream, left > 0 ? (unsigned)left : 1);
	if (s->login.work->exchange != NULL)
		session_sspi_check(s);
	else
		session_login_submit(s, password_run, password_done);
}

void session_login_timer(struct session *s)
{
	if (s->login.work->state == LOGIN_HELD)
		login_answer(s);
	else if (s->login.work->state == LOGIN_LATER)
		check_again(s);
	else
		session_abort(s, "login time-out");
}

/* The login's memory moves to s->login.work, which owns it from here on. */
static bool keep_login(struct session *s, const struct tds_login7 *l, const struct arena *arena)
{
	struct login_work *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return false;
	assert(s->login.work == NULL);
	w->session = s;
	w->auth = s->server->auth;
	w->arena = *arena;
	w->login7 = *l;
	buf_init(&w->token, SSPI_TOKEN_MAX);
	str_copy(w->peer, sizeof(w->peer), str_of(s->peer_host));
	s->login.work = w;
	return true;
}

static bool start_check(struct session *s, const struct tds_login7 *l, const struct arena *arena)
{
	if (!keep_login(s, l, arena))
		return false;
	if (l->integrated)
		return session_sspi_start(s, l->sspi.pos, tds_left(&l->sspi));
	session_login_submit(s, password_run, password_done);
	return true;
}

/* Everything that can be refused before the password is looked at. True: refused. */
static bool refuse_early(struct session *s, const struct tds_login7 *l)
{
	struct err e;

	if (!tds_version_agree(l->tds_version_wire, &s->wire.version)) {
		s->wire.version = TDS_70;
		(void)err_set(&e, ERR_TDS_VERSION, (unsigned)l->tds_version_wire);
		session_login_refuse(s, &e, 1, "TDS version too old");
		return true;
	}
	s->out.version = s->wire.version;
	if (net_stream_over_limit(s->stream) && s->server->config->admin_reserved_connections == 0) {
		refuse_full(s);
		return true;
	}
	if (s->wire.tls_mode == TDS_TLS_NONE && s->server->config->encrypt >= ENCRYPT_REQUIRED) {
		(void)err_set(&e, ERR_ENCRYPTION);
		session_login_refuse(s, &e, 1, "client does not encrypt");
		return true;
	}
	if (l->integrated && s->server->gss == NULL) {
		(void)err_set(&e, ERR_UNTRUSTED);
		session_login_refuse(s, &e, 1, "integrated login is not configured");
		return true;
	}
	if (l->change_password || l->wants_fedauth || l->has_recovery_data) {
		refuse_one(s, ERR_LOGIN, s->login.name,
			   l->change_password ? "password change in the login packet"
			   : l->wants_fedauth ? "federated authentication"
					      : "session recovery");
		return true;
	}
	return false;
}

void session_login_message(struct session *s)
{
	struct tds_login7 l;
	struct arena arena;

	arena_init(&arena, 256u << 10);
	if (tds_get_login7(tds_cursor_of(s->in.body.data, s->in.body.len), &arena, &l) != TDS_OK) {
		arena_fini(&arena);
		session_abort(s, "malformed LOGIN7");
		return;
	}
	str_copy(s->login.name, sizeof(s->login.name), l.user);
	str_copy(s->database_name, sizeof(s->database_name), l.database);
	s->wire.version_asked = l.tds_version_wire;
	if (refuse_early(s, &l) || !start_check(s, &l, &arena)) {
		if (s->login.work != NULL) {
			session_login_forget(s);
		} else {
			tds_login7_wipe(&l);
			arena_fini(&arena);
		}
		if (s->phase != PHASE_CLOSED)
			session_abort(s, "out of memory");
	}
	explicit_bzero(s->in.body.data, s->in.body.len);
}
