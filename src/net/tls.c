/* tls.c — one TLS connection of a stream. OpenSSL never sees the socket. It is given exactly one
 * record at a time (the handshake inside TDS packets excepted, where the packets are the frame),
 * so that clear bytes behind the last record of a login-only encryption cannot vanish in its
 * buffers. What it wants to send collects in the loop's scratch buffer and leaves when its call
 * returns: a whole flight at once. */
#include "net/net.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/err.h>

#include "net/net_int.h"

enum { RECORD_ALERT = 0x15, RECORD_DATA = 0x17, RECORD_FIRST = 0x14, RECORD_LAST = 0x17 };
#define RECORD_HEADER ((size_t)5)
#define RECORD_MAX ((size_t)16384 + 2048)
#define WRITE_STEP ((size_t)65536)
#define CIPHER_KEEP ((size_t)81920)

/* OpenSSL judges its calls by the thread's queue of errors, where others may have left theirs.
 * To look is quick; to clear it walks the whole queue. */
static void forget_errors(void)
{
	if (ERR_peek_error() != 0)
		ERR_clear_error();
}

/* What OpenSSL has written goes out: to the owner while it must be wrapped, else to the socket. */
static void send_cipher(struct net_stream *s)
{
	struct net_loop *l = s->loop;
	struct buf out = l->cipher;

	if (out.len == 0)
		return;
	assert(net_loop_is_here(l));
	buf_init(&l->cipher, out.max); /* the owner may write to another stream meanwhile */
	if (s->tls->mode == NET_TLS_WRAPPED && !s->tls->secured)
		l->net->handler->handshake_out(s->owner, out.data, out.len);
	else
		net_output_put(s, out.data, out.len);
	buf_fini(&l->cipher);
	buf_reset(&out, CIPHER_KEEP);
	l->cipher = out;
}

/* The alert, if there is one, still goes out: it tells the client why. */
static void tls_fail(struct net_stream *s, const char *what)
{
	unsigned long e = ERR_peek_error();
	const char *detail = ERR_reason_error_string(e);
	char text[sizeof(s->reason)];

	snprintf(text, sizeof(text), detail != NULL ? "%s: %s" : "%s", what, detail);
	ERR_clear_error();
	send_cipher(s);
	s->tls->ended = true;       /* no close_notify after an error */
	net_loop_defer(s->loop, s); /* what waits to be encrypted is to be dropped */
	net_stream_close(s, true, text);
}

/* One step of the handshake. True: go on (perhaps with more bytes); false: the stream is
 * closing. */
static bool handshake(struct net_stream *s)
{
	struct net_tls *t = s->tls;
	int rc, e;

	ERR_clear_error();
	rc = SSL_do_handshake(t->ssl);
	if (rc != 1) {
		e = SSL_get_error(t->ssl, rc);
		if (e != SSL_ERROR_WANT_READ) {
			tls_fail(s, "TLS handshake");
			return false;
		}
		send_cipher(s);
		return s->state == NET_OPEN;
	}
	send_cipher(s);
	if (s->state != NET_OPEN)
		return false;
	t->secured = true;
	if (t->mode == NET_TLS_WRAPPED) {
		if (t->in_n > 0) {
			tls_fail(s, "bytes after the TLS handshake in its packet");
			return false;
		}
		net_input_to_tls(s);
	}
	s->loop->net->handler->secured(s->owner);
	return s->state == NET_OPEN;
}

int net_stream_start_tls(struct net_stream *s, struct net_tls_ctx *ctx, enum net_tls_mode mode,
			 struct err *reterr)
{
	struct net_tls *t;
	BIO *bio;

	if (s->had_tls || s->state != NET_OPEN)
		return net_fail(reterr, "TLS was begun twice on one connection.");
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return err_nomem(reterr);
	t->ssl = SSL_new(ctx->ssl_ctx);
	bio = BIO_new(ctx->bio_method);
	if (t->ssl == NULL || bio == NULL) {
		BIO_free(bio);
		SSL_free(t->ssl);
		free(t);
		ERR_clear_error();
		return err_nomem(reterr);
	}
	BIO_set_data(bio, t);
	SSL_set_bio(t->ssl, bio, bio); /* now the SSL's */
	SSL_set_app_data(t->ssl, t);
	SSL_set_accept_state(t->ssl);
	if (mode == NET_TLS_WRAPPED)
		/* clients hang with 1.3 inside TDS packets */
		SSL_set_max_proto_version(t->ssl, TLS1_2_VERSION);
	t->mode = mode;
	t->stream = s;
	t->ctx = net_tls_ctx_ref(ctx);
	s->tls = t;
	s->had_tls = true;
	if (mode == NET_TLS_DIRECT)
		net_input_to_tls(s);
	return 0;
}

bool net_stream_tls_feed(struct net_stream *s, const uint8_t *p, size_t n)
{
	struct net_tls *t = s->tls;
	bool ok;

	if (t == NULL || t->secured || s->state != NET_OPEN)
		return false;
	t->in = p;
	t->in_n = n;
	ok = handshake(s);
	t->in = NULL;
	t->in_n = 0;
	return ok;
}

bool net_tls_reads(const struct net_stream *s)
{
	return s->tls != NULL && (s->tls->mode == NET_TLS_DIRECT || s->tls->secured);
}

/* What the record made OpenSSL say goes out. */
static ssize_t record_done(struct net_stream *s, size_t record)
{
	send_cipher(s);
	return s->state == NET_OPEN ? (ssize_t)record : -1;
}

/* The plain bytes of the record at hand. Where all of them have been read, OpenSSL is not asked
 * for more: its answer that there is nothing costs as much as a small record. */
static ssize_t decrypt(struct net_stream *s, size_t record)
{
	struct net_tls *t = s->tls;
	int n, e;

	forget_errors();
	for (;;) {
		n = SSL_read(t->ssl, s->loop->plain_buf, (int)NET_PLAIN_SIZE);
		if (n <= 0)
			break;
		net_input_offer(s, s->loop->plain_buf, (size_t)n);
		if (s->state != NET_OPEN)
			return -1;
		if (t->in_n == 0 && SSL_pending(t->ssl) == 0)
			return record_done(s, record);
	}
	e = SSL_get_error(t->ssl, n);
	if (e == SSL_ERROR_ZERO_RETURN) {
		net_stream_close(s, true, "closed by the client");
		return -1;
	}
	if (e != SSL_ERROR_WANT_READ) {
		tls_fail(s, "TLS");
		return -1;
	}
	return record_done(s, record);
}

ssize_t net_tls_record(struct net_stream *s, const uint8_t *p, size_t n)
{
	struct net_tls *t = s->tls;
	size_t len;

	assert(t != NULL && n > 0 && s->delivering);
	if (t->ended && p[0] != RECORD_DATA && p[0] != RECORD_ALERT) {
		net_tls_free(s); /* the first clear byte */
		return 0;
	}
	if (p[0] < RECORD_FIRST || p[0] > RECORD_LAST || (n > 1 && p[1] != 3)) {
		net_stream_fail(s, "TLS", "not a TLS record");
		return -1;
	}
	if (n < RECORD_HEADER)
		return 0;
	len = RECORD_HEADER + (size_t)(p[3] << 8 | p[4]);
	if (len > RECORD_HEADER + RECORD_MAX) {
		net_stream_fail(s, "TLS", "record too long");
		return -1;
	}
	if (n < len)
		return 0;
	if (t->ended && p[0] == RECORD_ALERT)
		return (ssize_t)len;
	t->in = p;
	t->in_n = len;
	if (!t->secured && !handshake(s))
		return -1;
	return t->secured ? decrypt(s, len) : (ssize_t)len;
}

bool net_tls_writes(const struct net_stream *s)
{
	return s->tls != NULL && !s->tls->ended && (s->tls->secured || s->tls->mode == NET_TLS_DIRECT);
}

void net_tls_write(struct net_stream *s, const uint8_t *p, size_t n)
{
	struct net_tls *t = s->tls;

	if (!t->secured) {
		net_stream_fail(s, "TLS", "written before the handshake was over");
		return;
	}
	while (n > 0 && net_stream_sends(s) && !t->ended) {
		size_t k = n < WRITE_STEP ? n : WRITE_STEP;

		forget_errors();
		if (SSL_write(t->ssl, p, (int)k) != (int)k) {
			tls_fail(s, "TLS write");
			return;
		}
		send_cipher(s);
		p += k;
		n -= k;
	}
}

void net_tls_notify_close(struct net_stream *s)
{
	if (s->tls == NULL || !s->tls->secured || s->tls->ended || s->tls->closed)
		return;
	s->tls->closed = true;
	ERR_clear_error();
	SSL_shutdown(s->tls->ssl);
	ERR_clear_error();
	send_cipher(s);
}

void net_tls_free(struct net_stream *s)
{
	struct net_tls *t = s->tls;

	if (t == NULL)
		return;
	s->tls = NULL;
	SSL_free(t->ssl);
	net_tls_ctx_unref(t->ctx);
	free(t);
}

void net_stream_end_tls(struct net_stream *s)
{
	if (s->tls == NULL || !s->tls->secured)
		return;
	net_output_encrypt_all(s);
	s->tls->ended = true;
	if (!s->delivering && s->raw.len > 0)
		net_loop_defer(s->loop, s);
}

bool net_stream_is_tls(const struct net_stream *s)
{
	return s->tls != NULL && s->tls->secured && !s->tls->ended;
}

const char *net_stream_tls_version(const struct net_stream *s)
{
	return net_stream_is_tls(s) ? SSL_get_version(s->tls->ssl) : NULL;
}
