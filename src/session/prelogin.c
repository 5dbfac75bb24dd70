/* prelogin.c — PRELOGIN is answered, and the TLS handshake that may follow travels inside
 * packets of the same type (wire notes 3, 4.2). */
#include "session/session_int.h"

static enum tds_policy policy_of(const struct session *s)
{
	switch ((enum encrypt_mode)s->server->config->encrypt) {
	case ENCRYPT_NONE: return TDS_POLICY_NO_TLS;
	case ENCRYPT_OPTIONAL: return TDS_POLICY_OPTIONAL;
	default: return TDS_POLICY_REQUIRED;
	}
}

/* "" and the default instance name are ours. */
static bool instance_matches(const struct tds_prelogin *p)
{
	return p->instance[0] == '\0' || str_eq_nocase(str_of(p->instance), STR("MSSQLServer"));
}

static void answer(struct session *s, const struct tds_prelogin *p, uint8_t encryption)
{
	struct buf body;

	buf_init(&body, 256);
	tds_put_prelogin_answer(&body, encryption, instance_matches(p));
	tds_out_begin(&s->out, TDS_MSG_RESPONSE);
	tds_put(&s->out, body.data, body.len);
	tds_out_end(&s->out);
	buf_fini(&body);
	session_send(s);
}

static void start_tls(struct session *s)
{
	struct net_tls_ctx *ctx = session_server_tls(s->server);
	struct err e;

	session_move(s, PHASE_TLS);
	if (ctx == NULL || net_stream_start_tls(s->stream, ctx, NET_TLS_WRAPPED, &e) < 0)
		session_abort(s, "TLS cannot be started");
	net_tls_ctx_unref(ctx);
}

void session_prelogin_message(struct session *s)
{
	struct tds_prelogin p;
	uint8_t encryption = TDS_ENCRYPT_NOT_SUP;
	enum tds_tls_mode mode = TDS_TLS_NONE;

	if (tds_get_prelogin(tds_cursor_of(s->in.body.data, s->in.body.len), &p) != TDS_OK) {
		session_abort(s, "malformed PRELOGIN");
		return;
	}
	/* Inside TDS 8.0 everything is encrypted already. */
	if (!s->wire.strict)
		mode = tds_negotiate(p.has_encryption ? p.encryption : TDS_ENCRYPT_NOT_SUP, policy_of(s),
				     &encryption);
	answer(s, &p, encryption);
	if (!s->wire.strict)
		s->wire.tls_mode = mode;
	if (mode == TDS_TLS_REFUSE) {
		LOG(LOG_INFO, &s->log, "refused",
		    F_STR("reason", "encryption settings of client and server exclude each other"));
		session_end(s, "encryption settings exclude each other");
	} else if (mode == TDS_TLS_NONE) {
		session_move(s, PHASE_LOGIN);
	} else {
		start_tls(s);
	}
}

/* One flight of the handshake becomes one message (tedious waits for its end). */
void session_prelogin_handshake_out(struct session *s, const uint8_t *p, size_t n)
{
	tds_out_begin(&s->out, TDS_MSG_PRELOGIN);
	tds_put(&s->out, p, n);
	tds_out_end(&s->out);
	session_send(s);
}
