/* session.c — the life of one client: which phase it is in, which moves are allowed, what
 * arrives, how it ends. */
#include "session/session_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define PRELOGIN_PACKET_MAX TDS_PACKET_DEFAULT
/* Before the login a client gets no more than this; a Kerberos ticket with many groups needs
 * more. */
#define LOGIN_MESSAGE_MAX (16u << 10)
#define LOGIN_TICKET_MAX (128u << 10)
#define ARENA_SLACK (64u << 20)
#define IDLE_BUFFER_KEEP 4096u
#define UNREAD_MAX ((size_t)512 << 10) /* above the low-water mark of net, so that drained() follows */

#define TO(phase) (1u << PHASE_##phase)

/* The whole life at a glance; every move goes through session_move. */
static const struct {
	const char *name;
	unsigned next;
	void (*message)(struct session *s);
} phases[PHASE_COUNT] = {
	[PHASE_OPEN] = { "open", TO(STRICT) | TO(PRELOGIN) | TO(LOGIN) | TO(CLOSED), NULL },
	/* TDS 8.0: TLS before all else */
	[PHASE_STRICT] = { "strict", TO(PRELOGIN) | TO(LOGIN) | TO(CLOSED), NULL },
	[PHASE_PRELOGIN] = { "prelogin", TO(TLS) | TO(LOGIN) | TO(CLOSED), session_prelogin_message },
	[PHASE_TLS] = { "tls", TO(LOGIN) | TO(CLOSED), NULL },
	[PHASE_LOGIN] = { "login", TO(SSPI) | TO(READY) | TO(CLOSED), session_login_message },
	[PHASE_SSPI] = { "sspi", TO(READY) | TO(CLOSED), session_login_sspi_message },
	[PHASE_READY] = { "ready", TO(BUSY) | TO(CLOSED), session_ready_message },
	[PHASE_BUSY] = { "busy", TO(READY) | TO(CLOSED), NULL },
	[PHASE_CLOSED] = { "closed", 0, NULL },
};

void session_move(struct session *s, enum session_phase to)
{
	assert(net_loop_is_here(s->loop));
	if (s->phase == to)
		return;
	assert((phases[s->phase].next & (1u << to)) != 0);
	s->phase = to;
	session_registry_doing(&s->entry, to == PHASE_BUSY ? ACTIVITY_BATCH : ACTIVITY_IDLE);
	if (to == PHASE_BUSY)
		session_registry_request(&s->entry, clock_ticks());
	if (to == PHASE_READY)
		session_unread_arm(s);
}

struct net_tls_ctx *session_server_tls(struct server *srv)
{
	struct net_tls_ctx *ctx = NULL;

	pthread_mutex_lock(&srv->tls_lock);
	if (srv->tls != NULL)
		ctx = net_tls_ctx_ref(srv->tls);
	pthread_mutex_unlock(&srv->tls_lock);
	return ctx;
}

static void close_stream(struct session *s, const char *reason, bool gracefully)
{
	if (s->phase == PHASE_CLOSED)
		return;
	s->end.reason = reason;
	session_move(s, PHASE_CLOSED);
	net_stream_close(s->stream, gracefully, reason);
}

void session_end(struct session *s, const char *reason)
{
	close_stream(s, reason, true);
}

static void session_end_now(struct session *s, const char *reason)
{
	close_stream(s, reason, false);
}

void session_abort(struct session *s, const char *reason)
{
	LOG(LOG_WARN, &s->log, "protocol_error", F_STR("reason", reason),
	    F_STR("phase", phases[s->phase].name));
	close_stream(s, reason, false);
}

void session_send(struct session *s)
{
	struct output *wire = &s->out.wire;

	assert(net_loop_is_here(s->loop) && !s->inflight && !s->out.open);
	if (tds_out_failed(&s->out)) /* half a message helps nobody */
		net_stream_close(s->stream, false, "no memory for the answer");
	else if (s->phase != PHASE_CLOSED)
		net_stream_send(s->stream, wire);
	output_reset(wire, IDLE_BUFFER_KEEP);
}

void session_cleanup(struct session *s)
{
	if (s->tran.txn != NULL)
		s->tran.cleanup = true;
	else if (s->server->cleanup != NULL)
		s->server->cleanup(s->server);
}

/* ---- opening ---- */

static void split_peer(struct session *s)
{
	const char *colon;
	struct str host;

	str_copy(s->peer, sizeof(s->peer), str_of(net_stream_peer(s->stream)));
	colon = strrchr(s->peer, ':');
	host = (struct str){ s->peer, colon == NULL ? strlen(s->peer) : (size_t)(colon - s->peer) };
	str_copy(s->peer_host, sizeof(s->peer_host), host);
}

static void session_init(struct session *s)
{
	lock_init(&s->streaming.lock);
	lock_cond_init(&s->streaming.wake);
	budget_init(&s->memory, &s->server->accounts.strangers, s->server->accounts.session_limit);
	net_stream_set_budget(s->stream, &s->memory);
	output_init(&s->finished, (size_t)s->server->config->max_result_size);
	tds_message_init(&s->in, s->server->gss != NULL ? LOGIN_TICKET_MAX : LOGIN_MESSAGE_MAX);
	arena_init(&s->arena, (size_t)s->server->config->max_request_size * 3 + ARENA_SLACK);
	session_prepared_init(&s->prepared, &s->memory);
	session_cursors_init(&s->cursors, &s->memory);
	s->results = &s->sink;
	session_response_init(s);
	arena_charge(&s->arena, &s->memory);
	buf_charge(&s->in.body, &s->memory);
	output_charge(&s->out.wire, &s->memory);
	output_charge(&s->finished, &s->memory);
}

void session_account(struct session *s)
{
	assert(s->account == NULL && s->phase < PHASE_READY);
	s->account = session_accounts_enter(&s->server->accounts, str_of(s->login.name));
	if (s->account != NULL)
		budget_move(&s->memory, &s->account->budget);
}

static void kill_entry(struct registry_entry *e);
static void rung(struct net_post *post);

static bool session_enrol(struct session *s)
{
	s->entry = (struct registry_entry){
		.login = s->login.name,
		.host = s->login.host,
		.program = s->login.app,
		.database = s->database_name,
		.address = s->peer_host,
		.kill = kill_entry,
	};
	if (session_registry_add(&s->server->registry, &s->entry))
		return true;
	LOG(LOG_WARN, NULL, "connect_refused", F_STR("reason", "all session numbers are in use"),
	    F_INT("sessions", atomic_load(&s->server->sessions)));
	return false;
}

static void *session_opened(struct net_stream *stream, void *arg)
{
	struct server *srv = arg;
	struct session *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->server = srv;
	s->stream = stream;
	s->loop = net_stream_loop(stream);
	s->waiter = (struct bell_waiter){ .loop = s->loop, .post.fn = rung };
	if (!session_enrol(s)) {
		free(s);
		return NULL;
	}
	split_peer(s);
	s->log = (struct log_ctx){ .session = s->entry.spid,
				   .peer = s->peer,
				   .login = s->login.name,
				   .database = s->database_name };
	s->wire.version = TDS_74;
	session_init(s);
	atomic_fetch_add(&srv->sessions, 1);
	net_stream_set_limit(stream, PRELOGIN_PACKET_MAX + LOGIN_MESSAGE_MAX);
	s->login.deadline = clock_mono_ms() + srv->config->login_timeout * 1000;
	net_stream_set_timer(stream, (uint64_t)srv->config->login_timeout * 1000);
	LOG(LOG_DEBUG, &s->log, "connect", F_INT("sessions", atomic_load(&srv->sessions)));
	return s;
}

/* ---- closing ---- */

/* Its number is given back already. */
static void session_destroy(struct session *s)
{
	assert(s->phase == PHASE_CLOSED && s->end.stream_gone && !s->inflight &&
	       !session_login_is_checking(s));
	session_login_forget(s);
	if (s->tran.txn != NULL)
		engine_txn_free(s->tran.txn);
	session_prepared_fini(&s->prepared);
	session_cursors_fini(&s->cursors);
	tds_out_fini(&s->out);
	tds_message_fini(&s->in);
	output_fini(&s->finished);
	arena_fini(&s->arena);
	budget_fini(&s->memory);
	session_accounts_leave(&s->server->accounts, s->account);
	pthread_cond_destroy(&s->streaming.wake);
	lock_fini(&s->streaming.lock);
	if (s->login.reserved)
		atomic_fetch_sub(&s->server->reserved, 1);
	atomic_fetch_sub(&s->server->sessions, 1);
	free(s);
}

/* Posts that are on their way to this loop must still find the session. */
static void session_free(struct session *s)
{
	bool kill_comes = session_registry_remove(&s->server->registry, &s->entry) && !s->end.kill_seen;
	bool bell_comes = session_bell_leave(&s->server->bell, &s->waiter);

	s->end.awaited = (kill_comes ? 1 : 0) + (bell_comes ? 1 : 0);
	if (s->end.awaited == 0)
		session_destroy(s);
}

/* One of them has come. False: the session lives. */
static bool was_awaited(struct session *s)
{
	if (s->end.awaited == 0)
		return false;
	s->end.awaited--;
	if (s->end.awaited == 0)
		session_destroy(s);
	return true;
}

static void rung(struct net_post *post)
{
	struct session *s = CONTAINER_OF(post, struct session, waiter.post);

	assert(net_loop_is_here(s->loop));
	session_bell_came(&s->server->bell, &s->waiter);
	if (!was_awaited(s))
		session_await_rung(s);
}

static void killed(struct net_post *post)
{
	struct session *s = CONTAINER_OF(post, struct session, end.kill);

	assert(net_loop_is_here(s->loop) && !s->end.kill_seen);
	s->end.kill_seen = true;
	if (!was_awaited(s))
		session_end_now(s, "killed by an administrator");
}

/* On the thread of whoever says KILL. */
static void kill_entry(struct registry_entry *e)
{
	struct session *s = CONTAINER_OF(e, struct session, entry);

	s->end.kill.fn = killed;
	net_loop_post(s->loop, &s->end.kill);
}

/* Frees the session once net, the engine and the login check have all let go; an open
 * transaction is rolled back first. */
void session_release(struct session *s)
{
	assert(net_loop_is_here(s->loop));
	if (!s->end.stream_gone || s->inflight || session_login_is_checking(s))
		return;
	session_request_abandon(s);
	if (session_tran_abandon(s))
		return;
	session_free(s);
}

static void session_closed(void *owner, const char *reason)
{
	struct session *s = owner;
	bool planned = s->phase == PHASE_CLOSED;

	assert(net_loop_is_here(s->loop) && !s->end.stream_gone);
	if (!planned)
		session_move(s, PHASE_CLOSED);
	if (atomic_load(&s->server->log_logins) || s->database == NULL)
		LOG(s->database == NULL ? LOG_DEBUG : LOG_INFO, &s->log, "disconnect",
		    F_STR("reason", planned ? s->end.reason : reason));
	lock_take(&s->streaming.lock);
	s->end.stream_gone = true;
	lock_give(&s->streaming.lock);
	if (s->inflight)
		session_call_cancel(s);
	session_login_leave(s);
	session_release(s);
}

/* ---- arriving bytes ---- */

static void session_pause(struct session *s)
{
	s->paused = true;
	net_stream_pause(s->stream);
}

void session_resume(struct session *s)
{
	if (!s->paused || s->phase == PHASE_CLOSED)
		return;
	s->paused = false;
	net_stream_resume(s->stream);
}

static size_t packet_limit(const struct session *s)
{
	return s->phase < PHASE_READY ? PRELOGIN_PACKET_MAX : TDS_PACKET_MAX;
}

/* The first byte of a connection decides (wire notes 2). */
static bool first_byte(struct session *s, uint8_t b)
{
	enum encrypt_mode mode = (enum encrypt_mode)s->server->config->encrypt;
	struct net_tls_ctx *ctx;
	struct err e;

	if (b == 0x16 && mode != ENCRYPT_NONE) {
		ctx = session_server_tls(s->server);
		session_move(s, PHASE_STRICT);
		s->wire.strict = true;
		s->wire.tls_mode = TDS_TLS_ALL;
		if (ctx == NULL || net_stream_start_tls(s->stream, ctx, NET_TLS_DIRECT, &e) < 0)
			session_abort(s, "TLS cannot be started");
		net_tls_ctx_unref(ctx);
		return false;
	}
	if (mode == ENCRYPT_STRICT) {
		session_abort(s, "only strict (TDS 8.0) connections are accepted");
		return false;
	}
	if (b != TDS_MSG_PRELOGIN && b != TDS_MSG_LOGIN7) {
		session_abort(s, "not a TDS client");
		return false;
	}
	session_move(s, b == TDS_MSG_PRELOGIN ? PHASE_PRELOGIN : PHASE_LOGIN);
	return true;
}

/* Which message types a phase can take; everything else ends the session. */
static bool type_fits(const struct session *s, uint8_t type)
{
	switch (s->phase) {
	case PHASE_PRELOGIN:
	case PHASE_TLS: return type == TDS_MSG_PRELOGIN;
	case PHASE_LOGIN: return type == TDS_MSG_LOGIN7;
	case PHASE_SSPI: /* tiberius goes on with LOGIN7 packets (wire notes 7) */
		return type == TDS_MSG_SSPI || type == TDS_MSG_LOGIN7;
	case PHASE_READY:
		return type == TDS_MSG_BATCH || type == TDS_MSG_RPC || type == TDS_MSG_TM ||
		       type == TDS_MSG_BULK || type == TDS_MSG_ATTENTION;
	default: return false;
	}
}

/* The message's bytes stay while a request runs on them, or its answer may point to them;
 * session_request_drained lets go of them then. */
static void message_arrived(struct session *s)
{
	assert(phases[s->phase].message != NULL && !s->sending);
	phases[s->phase].message(s);
	if (s->phase != PHASE_BUSY && !s->sending)
		tds_message_reset(&s->in);
}

static void packet_arrived(struct session *s, const struct tds_packet *p)
{
	enum tds_status status;

	if (!type_fits(s, p->type)) {
		session_abort(s, "message type does not fit the phase");
		return;
	}
	if (s->phase == PHASE_TLS) {
		if (!net_stream_tls_feed(s->stream, p->body.pos, tds_left(&p->body)) &&
		    s->phase != PHASE_CLOSED) {
			LOG(LOG_WARN, &s->log, "protocol_error", F_STR("reason", "TLS handshake failed"),
			    F_STR("phase", "tls"));
			session_end(s, "TLS handshake failed"); /* the alert is on its way */
		}
		return;
	}
	if (p->type == TDS_MSG_ATTENTION) {
		tds_message_reset(&s->in);
		session_attention_arrived(s);
		return;
	}
	/* Login-only encryption covers the first packet of LOGIN7 (wire notes 4.4). */
	if (s->phase == PHASE_LOGIN && s->wire.tls_mode == TDS_TLS_LOGIN_ONLY && !s->wire.login_packet_seen) {
		s->wire.login_packet_seen = true;
		net_stream_end_tls(s->stream);
	}
	status = tds_message_add(&s->in, p);
	if (status != TDS_OK && status != TDS_MORE)
		session_abort(s, "packet of another message type");
	/* a stranger is not read to the end of what he likes to send */
	else if (s->phase < PHASE_READY && s->in.too_big)
		session_abort(s, s->in.denied ? "no memory is left for those who log in"
					      : "login message too large");
	else if (status == TDS_OK)
		message_arrived(s);
}

/* While a request runs only an attention is taken; anything else waits in the socket. */
static bool busy_take(struct session *s, struct tds_cursor *in)
{
	struct tds_packet p;

	if (tds_left(in) == 0)
		return false;
	if (in->pos[0] != TDS_MSG_ATTENTION) {
		session_pause(s);
		return false;
	}
	switch (tds_get_packet(in, TDS_PACKET_MAX, &p)) {
	case TDS_OK: session_attention_arrived(s); return true;
	case TDS_MORE: return false;
	default: session_abort(s, "malformed packet"); return false;
	}
}

static bool take_packet(struct session *s, struct tds_cursor *in)
{
	enum session_phase before = s->phase;
	struct tds_packet p;

	switch (tds_get_packet(in, packet_limit(s), &p)) {
	case TDS_OK:
		packet_arrived(s, &p);
		/* After the handshake what follows is TLS records: net decrypts them first. */
		return !(before == PHASE_TLS && s->phase == PHASE_LOGIN);
	case TDS_MORE: return false;
	case TDS_TOO_BIG: session_abort(s, "packet larger than allowed"); return false;
	default: session_abort(s, "malformed packet"); return false;
	}
}

/* A client that sends request after request and reads no answer is not served further: its
 * answers would pile up here. */
static bool unread_answers(const struct session *s)
{
	return s->phase == PHASE_READY && (s->sending || net_stream_pending(s->stream) >= UNREAD_MAX);
}

static size_t session_data(void *owner, const uint8_t *p, size_t n)
{
	struct session *s = owner;
	struct tds_cursor in = tds_cursor_of(p, n);
	bool more = true;

	assert(net_loop_is_here(s->loop) && !s->end.stream_gone);
	if (s->phase == PHASE_READY) /* a long request that is still arriving is not idleness */
		session_unread_arm(s);
	while (more && s->phase != PHASE_CLOSED && tds_left(&in) > 0) {
		if (s->phase == PHASE_OPEN && !first_byte(s, in.pos[0]))
			break;
		if (s->phase == PHASE_STRICT)
			session_move(s, in.pos[0] == TDS_MSG_LOGIN7 ? PHASE_LOGIN : PHASE_PRELOGIN);
		if (session_login_is_pending(s) || unread_answers(s)) {
			session_pause(s);
			break;
		}
		more = s->phase == PHASE_BUSY ? busy_take(s, &in) : take_packet(s, &in);
	}
	return s->phase == PHASE_CLOSED ? n : n - tds_left(&in);
}

static void session_secured(void *owner)
{
	struct session *s = owner;

	LOG(LOG_DEBUG, &s->log, "tls", F_STR("version", net_stream_tls_version(s->stream)),
	    F_INT("strict", s->wire.strict));
	if (s->phase == PHASE_TLS)
		session_move(s, PHASE_LOGIN);
	session_sspi_bind(s);
}

static void session_handshake_out(void *owner, const uint8_t *p, size_t n)
{
	session_prelogin_handshake_out(owner, p, n);
}

static void session_drained(void *owner)
{
	struct session *s = owner;

	session_stream_drained(s);
	session_request_drained(s);
	session_answer_drained(s);
	if (s->phase == PHASE_READY && !s->sending) { /* paused by unread_answers */
		session_unread_arm(s);
		session_resume(s);
	}
}

static void session_timeout(void *owner)
{
	struct session *s = owner;

	if (s->phase >= PHASE_READY && s->phase != PHASE_CLOSED && session_unread_timeout(s))
		return;
	if (s->phase == PHASE_BUSY)
		session_request_timer(s);
	else if (s->phase == PHASE_READY)
		session_end(s, "idle time-out");
	else if (s->login.work != NULL)
		session_login_timer(s);
	else if (s->phase != PHASE_CLOSED)
		session_abort(s, "login time-out");
}

void session_drain(void *owner)
{
	struct session *s = owner;

	if (s->sending || session_await_drain(s)) /* it ends with its request */
		return;
	if (s->phase == PHASE_READY || (s->phase < PHASE_READY && !session_login_is_checking(s)))
		session_end(s, "server is shutting down");
}

void session_kill(void *owner)
{
	session_end_now(owner, "server is shutting down");
}

const struct net_handler session_handler = {
	.opened = session_opened,
	.data = session_data,
	.secured = session_secured,
	.handshake_out = session_handshake_out,
	.drained = session_drained,
	.timeout = session_timeout,
	.closed = session_closed,
};
