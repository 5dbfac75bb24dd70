/* sspi.c — integrated logins: tokens go back and forth until the mechanism knows who it is (wire
 * notes 7). Each leg runs on a work thread. */
#include "session/login_int.h"

#include <stdlib.h>

static void bind_to(struct session *s, enum net_tls_binding kind)
{
	struct auth_binding *b = &s->login.bindings->list[s->login.bindings->n];

	b->n = net_stream_tls_binding(s->stream, kind, b->data, sizeof(b->data));
	if (b->n > 0)
		s->login.bindings->n++;
}

/* TDS clients bind to the handshake; to the certificate where TLS 1.3 leaves no choice. */
void session_sspi_bind(struct session *s)
{
	if (s->server->gss == NULL || !s->server->config->channel_binding)
		return;
	s->login.bindings = calloc(1, sizeof(*s->login.bindings));
	if (s->login.bindings == NULL) {
		session_abort(s, "out of memory");
		return;
	}
	bind_to(s, NET_TLS_UNIQUE);
	bind_to(s, NET_TLS_END_POINT);
}

/* One turn is good for all legs. Every leg is asked until there was one: else many exchanges begun
 * before the limit was reached could all end after it. */
static void leg_run(struct net_work *work)
{
	struct login_work *w = CONTAINER_OF(work, struct login_work, work);

	w->result = w->turn ? AUTH_OK : auth_admit_peer(w->auth, w->peer, &w->turn);
	if (w->result != AUTH_OK)
		return;
	w->step = auth_exchange_step(w->exchange, w->token.data, w->token.len, &w->answer);
	if (w->step == AUTH_STEP_DONE) {
		w->result = auth_find_principal(w->auth, auth_exchange_principal(w->exchange), &w->login);
		if (w->result == AUTH_OK)
			auth_succeeded(w->auth, w->login.name, w->peer);
	}
}

/* A token is a message of its own: some clients drop what follows it. */
static void send_token(struct session *s, struct str token)
{
	tds_out_begin(&s->out, TDS_MSG_RESPONSE);
	tds_put_sspi(&s->out, token.p, token.n);
	tds_out_end(&s->out);
	session_send(s);
}

static void done(struct session *s, struct login_work *w)
{
	if (w->answer.n > 0)
		send_token(s, w->answer);
	str_copy(s->login.name, sizeof(s->login.name), str_of(auth_exchange_principal(w->exchange)));
	session_login_checked(s);
}

static void leg_done(struct net_work *work)
{
	struct login_work *w = CONTAINER_OF(work, struct login_work, work);
	struct session *s = w->session;

	if (!session_login_returned(s))
		return;
	if (w->result == AUTH_LATER) {
		session_login_checked(s);
	} else if (w->step == AUTH_STEP_MORE) {
		send_token(s, w->answer);
		session_resume(s);
	} else if (w->step == AUTH_STEP_DONE) {
		done(s, w);
	} else {
		w->result = w->step == AUTH_STEP_ERROR ? AUTH_ERROR : AUTH_WRONG_PASSWORD;
		if (w->result == AUTH_WRONG_PASSWORD)
			auth_failed(w->auth, w->peer);
		session_login_checked(s);
	}
}

static bool next_leg(struct session *s, const uint8_t *token, size_t n)
{
	struct login_work *w = s->login.work;

	buf_reset(&w->token, 0);
	buf_put(&w->token, token, n);
	if (w->token.failed)
		return false;
	session_sspi_check(s);
	return true;
}

void session_sspi_check(struct session *s)
{
	session_login_submit(s, leg_run, leg_done);
}

bool session_sspi_start(struct session *s, const uint8_t *token, size_t n)
{
	s->login.work->exchange = auth_exchange_new(s->server->gss, s->login.bindings);
	if (s->login.work->exchange == NULL)
		return false;
	session_move(s, PHASE_SSPI);
	return next_leg(s, token, n);
}

void session_login_sspi_message(struct session *s)
{
	if (s->login.work == NULL || !next_leg(s, s->in.body.data, s->in.body.len))
		session_abort(s, "SSPI message that nobody waits for");
}

/* Nobody of ours: 18452. Refused by the mechanism, or disabled: 18456. */
enum err_id session_sspi_error(const struct login_work *w)
{
	return w->step == AUTH_STEP_DONE && w->result == AUTH_NO_LOGIN ? ERR_UNTRUSTED : ERR_LOGIN;
}
