/* sspi.c — integrated logins: tokens go back and forth until the mechanism knows who it is (crib 7). Each leg runs on a work thread. */
#include "session/login_int.h"

static void leg_run(struct net_work *work)
{
	struct login_work *w = CONTAINER_OF(work, struct login_work, work);

	w->step = auth_exchange_step(w->exchange, w->token.data, w->token.len, &w->answer);
	if (w->step == AUTH_STEP_DONE) {
		w->mechanism = auth_exchange_mechanism(w->exchange);
		w->result = auth_find_principal(w->auth, auth_exchange_principal(w->exchange), &w->login);
	}
}

/* A token is a message of its own: some clients drop what follows it. */
static void send_token(struct session *s, struct str token)
{
	tds_out_begin(&s->resp.out, TDS_MSG_RESPONSE);
	tds_put_sspi(&s->resp.out, token.p, token.n);
	tds_out_end(&s->resp.out);
	session_send(s);
}

static void done(struct session *s, struct login_work *w)
{
	if (w->answer.n > 0)
		send_token(s, w->answer);
	str_copy(s->login_name, sizeof(s->login_name), str_of(auth_exchange_principal(w->exchange)));
	login_checked(s);
}

static void leg_done(struct net_work *work)
{
	struct login_work *w = CONTAINER_OF(work, struct login_work, work);
	struct session *s = w->session;

	w->working = false;
	if (s->phase == PHASE_CLOSED) {
		session_release(s);
	} else if (w->step == AUTH_STEP_MORE) {
		send_token(s, w->answer);
		session_resume(s);
	} else if (w->step == AUTH_STEP_DONE) {
		done(s, w);
	} else {
		w->result = AUTH_WRONG_PASSWORD;
		auth_failed(w->auth, w->peer);
		login_checked(s);
	}
}

static bool next_leg(struct session *s, const uint8_t *token, size_t n)
{
	struct login_work *w = s->login;

	buf_reset(&w->token, 0);
	buf_put(&w->token, token, n);
	if (w->token.failed)
		return false;
	login_submit(s, leg_run, leg_done);
	return true;
}

bool sspi_start(struct session *s, const uint8_t *token, size_t n)
{
	s->login->exchange = auth_exchange_new(s->server->gss);
	if (s->login->exchange == NULL)
		return false;
	session_move(s, PHASE_SSPI);
	return next_leg(s, token, n);
}

void login_sspi_message(struct session *s)
{
	if (s->login == NULL || !next_leg(s, s->in.body.data, s->in.body.len))
		session_abort(s, "SSPI message that nobody waits for");
}

/* Nobody of ours: 18452. Refused by the mechanism, or disabled: 18456. */
enum err_id sspi_error(const struct login_work *w)
{
	return w->step == AUTH_STEP_DONE && w->result == AUTH_NO_LOGIN ? ERR_UNTRUSTED : ERR_LOGIN;
}
