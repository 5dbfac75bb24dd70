/* The TLS of TDS 7: handshake inside 0x12 packets, then records; for the whole connection, or
 * for the login packet only. The owner here plays the session: it unwraps, feeds, and takes
 * TDS-like packets of 8 header bytes and a big-endian length. */
#include "net_test.h"

#include <openssl/ssl.h>

#include "tls_files.h"

enum { LOGIN = 0x10, REQUEST = 0x01 };

static struct tls_files files;

static size_t packet_length(const uint8_t *p, size_t n)
{
	size_t len;

	if (n < 8)
		return 0;
	len = (size_t)(p[2] << 8 | p[3]);
	return len >= 8 && n >= len ? len : 0;
}

/* PRELOGIN answered by TLS at once; then every packet is echoed as it is. */
static size_t tds_data(struct conn *c, const uint8_t *p, size_t n)
{
	size_t len = packet_length(p, n);
	struct err e;

	if (len == 0)
		return 0;
	if (atomic_load(&c->h->secures) == 0 && p[0] != 0x12) {
		net_stream_close(c->s, false, "clear bytes were taken");
		return 0;
	}
	if (p[0] == 0x12) {
		if (c->number == 0 && net_stream_start_tls(c->s, c->h->tls, NET_TLS_WRAPPED, &e) < 0)
			net_stream_close(c->s, false, e.text);
		c->number = 1;
		(void)net_stream_tls_feed(c->s, p + 8, len - 8);
		return len;
	}
	if (p[0] == LOGIN && atomic_load(&c->h->number) != 0)
		net_stream_end_tls(c->s);
	stream_write(c->s, p, len);
	return len;
}

/* The client: OpenSSL between two memory BIOs, and a socket. */
struct client {
	int fd;
	SSL *ssl;
	BIO *in, *out;
	int flights; /* messages of the server in the handshake */
};

static void client_start(struct client *c, struct harness *h)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	assert_int_equal(SSL_CTX_load_verify_locations(ctx, files.cert, NULL), 1);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	c->ssl = SSL_new(ctx);
	SSL_CTX_free(ctx);
	c->in = BIO_new(BIO_s_mem());
	c->out = BIO_new(BIO_s_mem());
	SSL_set_bio(c->ssl, c->in, c->out);
	SSL_set_connect_state(c->ssl);
	c->fd = client_connect(h);
	c->flights = 0;
}

static void client_end(struct client *c)
{
	SSL_free(c->ssl);
	close(c->fd);
}

/* Sends what OpenSSL has to say as 0x12 packets of at most `size` bytes, header and body apart
 * if `split`. */
static void send_wrapped(struct client *c, size_t size, bool split)
{
	uint8_t packet[4096];
	int n;

	while ((n = BIO_read(c->out, packet + 8, (int)size)) > 0) {
		uint8_t header[8] = { 0x12, BIO_pending(c->out) == 0, (uint8_t)((n + 8) >> 8),
				      (uint8_t)(n + 8) };

		memcpy(packet, header, 8);
		if (split) {
			send_all(c->fd, packet, 8);
			usleep(1000);
			send_all(c->fd, packet + 8, (size_t)n);
		} else {
			send_all(c->fd, packet, (size_t)n + 8);
		}
	}
}

/* One message of 0x12 packets goes to OpenSSL. */
static void recv_wrapped(struct client *c)
{
	uint8_t header[8], body[4096];

	do {
		size_t n;

		recv_all(c->fd, header, 8);
		assert_int_equal(header[0], 0x12);
		n = (size_t)(header[2] << 8 | header[3]) - 8;
		assert_true(n <= sizeof(body));
		recv_all(c->fd, body, n);
		BIO_write(c->in, body, (int)n);
	} while (header[1] == 0);
	c->flights++;
}

static void client_handshake(struct client *c, size_t size, bool split)
{
	int rc;

	while ((rc = SSL_do_handshake(c->ssl)) != 1) {
		assert_int_equal(SSL_get_error(c->ssl, rc), SSL_ERROR_WANT_READ);
		send_wrapped(c, size, split);
		recv_wrapped(c);
	}
	assert_int_equal(BIO_pending(c->out), 0);
	/* ServerHello … Done; ChangeCipherSpec, Finished. One message each */
	assert_int_equal(c->flights, 2);
	assert_int_equal(SSL_version(c->ssl), TLS1_2_VERSION);
}

static size_t make_packet(uint8_t *dst, uint8_t type, uint8_t fill, size_t len)
{
	memset(dst, fill, len);
	dst[0] = type;
	dst[1] = 1;
	dst[2] = (uint8_t)(len >> 8);
	dst[3] = (uint8_t)len;
	return len;
}

/* The records of p, appended to dst. */
static size_t encrypt(struct client *c, uint8_t *dst, size_t room, const uint8_t *p, size_t n)
{
	int k;

	assert_int_equal(SSL_write(c->ssl, p, (int)n), (int)n);
	k = BIO_read(c->out, dst, (int)room);
	assert_true(k > 0 && BIO_pending(c->out) == 0);
	return (size_t)k;
}

static void ssl_recv(struct client *c, uint8_t *dst, size_t n)
{
	uint8_t bytes[4096];
	size_t got = 0;

	while (got < n) {
		int k = SSL_read(c->ssl, dst + got, (int)(n - got));

		if (k > 0) {
			got += (size_t)k;
			continue;
		}
		assert_int_equal(SSL_get_error(c->ssl, k), SSL_ERROR_WANT_READ);
		k = (int)recv(c->fd, bytes, sizeof(bytes), 0);
		assert_true(k > 0);
		BIO_write(c->in, bytes, k);
	}
}

static void start(struct harness *h, bool login_only)
{
	struct err e;

	h->data = tds_data;
	atomic_store(&h->number, login_only);
	if (net_tls_ctx_new(files.cert, files.key, NULL, &h->tls, &e) < 0)
		fail_msg("%s", e.text);
	harness_start(h, 1, 10);
}

static void whole_connection(size_t size, bool split)
{
	struct harness h = { 0 };
	struct client c;
	uint8_t packet[3000], got[3000], records[8000];
	size_t n, k;

	start(&h, false);
	client_start(&c, &h);
	client_handshake(&c, size, split);
	assert_int_equal(SSL_get_session(c.ssl) != NULL && SSL_SESSION_has_ticket(SSL_get_session(c.ssl)), 0);
	n = make_packet(packet, LOGIN, 'l', 3000);
	for (int i = 0; i < 3; i++) {
		k = encrypt(&c, records, sizeof(records), packet, n);
		send_all(c.fd, records, k);
		ssl_recv(&c, got, n);
		assert_memory_equal(packet, got, n);
	}
	client_end(&c);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	harness_stop(&h);
}

static void the_handshake_travels_in_packets(void **state)
{
	(void)state;
	whole_connection(4088, false);
	whole_connection(4088, true); /* as jTDS does */
	whole_connection(50, false);  /* records across packets */
}

/* The client's last handshake packet and its first record in one segment. */
static void records_glued_to_the_handshake_are_records(void **state)
{
	struct harness h = { 0 };
	struct client c;
	uint8_t packet[100], got[100], all[8000];
	size_t n, k;

	(void)state;
	start(&h, false);
	client_start(&c, &h);
	client_handshake(&c, 4088, false);
	n = make_packet(packet, LOGIN, 'l', 100);
	k = encrypt(&c, all, sizeof(all), packet, n);
	k += encrypt(&c, all + k, sizeof(all) - k, packet, n);
	send_all(c.fd, all, k); /* two records, one segment */
	ssl_recv(&c, got, n);
	ssl_recv(&c, got, n);
	assert_memory_equal(packet, got, n);
	client_end(&c);
	harness_stop(&h);
}

/* A packet in clear behind the handshake must not be taken for one that came through TLS. */
static void clear_bytes_behind_the_handshake_end_the_stream(void **state)
{
	struct harness h = { 0 };
	struct client c;
	uint8_t packet[100], got[1];

	(void)state;
	start(&h, false);
	client_start(&c, &h);
	client_handshake(&c, 4088, false);
	make_packet(packet, LOGIN, 'l', 100);
	send_all(c.fd, packet, 100);
	assert_true(recv(c.fd, got, 1, 0) <= 0);
	client_end(&c);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "not a TLS record"));
	harness_stop(&h);
}

/* The same, but sent before the handshake's end, glued to its last packet. */
static void clear_bytes_glued_to_the_last_handshake_packet_end_the_stream(void **state)
{
	struct harness h = { 0 };
	struct client c;
	uint8_t all[8192], clear[100];
	size_t n;
	int rc;

	(void)state;
	start(&h, false);
	client_start(&c, &h);
	rc = SSL_do_handshake(c.ssl);
	send_wrapped(&c, 4088, false);
	recv_wrapped(&c);
	rc = SSL_do_handshake(c.ssl);
	assert_int_equal(SSL_get_error(c.ssl, rc), SSL_ERROR_WANT_READ);
	n = (size_t)BIO_read(c.out, all + 8, 4000) + 8;
	memcpy(all, ((uint8_t[]){ 0x12, 1, (uint8_t)(n >> 8), (uint8_t)n, 0, 0, 0, 0 }), 8);
	make_packet(clear, LOGIN, 'l', 100);
	memcpy(all + n, clear, 100);
	send_all(c.fd, all, n + 100);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "not a TLS record"));
	client_end(&c);
	harness_stop(&h);
}

/* [MS-TDS] login-only: LOGIN7's first packet in TLS, the rest in clear, all in one segment. */
static void login_only_switches_at_the_first_clear_byte(void **state)
{
	struct harness h = { 0 };
	struct client c;
	uint8_t login[300], request[200], all[8000], got[500];
	size_t k;

	(void)state;
	start(&h, true);
	client_start(&c, &h);
	client_handshake(&c, 4088, false);
	make_packet(login, LOGIN, 'l', 300);
	make_packet(request, REQUEST, 'r', 200);
	k = encrypt(&c, all, sizeof(all), login, 300);
	memcpy(all + k, request, 200);
	send_all(c.fd, all, k + 200);
	recv_all(c.fd, got, 500); /* both answers in clear */
	assert_memory_equal(got, login, 300);
	assert_memory_equal(got + 300, request, 200);
	for (int i = 0; i < 2; i++) {
		send_all(c.fd, request, 200);
		recv_all(c.fd, got, 200);
		assert_memory_equal(got, request, 200);
	}
	client_end(&c);
	harness_stop(&h);
}

/* pytds sends all of a long LOGIN7 in TLS; some clients send an alert before they go clear.
 * Every byte arrives alone. */
static void records_and_alerts_after_the_end_are_understood(void **state)
{
	struct harness h = { 0 };
	struct client c;
	uint8_t login[300], request[200], all[8000], got[800];
	size_t k;

	(void)state;
	start(&h, true);
	client_start(&c, &h);
	client_handshake(&c, 4088, false);
	make_packet(login, LOGIN, 'l', 300);
	make_packet(request, REQUEST, 'r', 200);
	k = encrypt(&c, all, sizeof(all), login, 300);
	k += encrypt(&c, all + k, sizeof(all) - k, login, 300); /* still a record */
	SSL_shutdown(c.ssl);
	k += (size_t)BIO_read(c.out, all + k, (int)(sizeof(all) - k)); /* its close_notify */
	memcpy(all + k, request, 200);
	k += 200;
	for (size_t i = 0; i < k; i++)
		send_all(c.fd, all + i, 1);
	recv_all(c.fd, got, 800);
	assert_memory_equal(got, login, 300);
	assert_memory_equal(got + 300, login, 300);
	assert_memory_equal(got + 600, request, 200);
	client_end(&c);
	harness_stop(&h);
}

/* What was sent before the end of the login's encryption is encrypted, though most of it waited;
 * what comes behind it is not. */
#define BEFORE_END ((size_t)4 << 20)
static char lent_bytes[BEFORE_END];

static size_t send_and_end_tls(struct conn *c, const uint8_t *p, size_t n)
{
	struct output o;

	if (p[0] != LOGIN)
		return tds_data(c, p, n);
	output_init(&o, 2 * BEFORE_END);
	output_lend(&o, (struct str){ lent_bytes, sizeof(lent_bytes) });
	net_stream_send(c->s, &o);
	output_lend(&o, (struct str){ lent_bytes, sizeof(lent_bytes) });
	net_stream_send(c->s, &o);
	net_stream_end_tls(c->s);
	buf_put(&o.bytes, "clear", 5);
	net_stream_send(c->s, &o);
	output_fini(&o);
	return n;
}

/* Whole records and nothing behind them, as the clear bytes of the test want it. */
static void recv_records(struct client *c, uint8_t *dst, size_t n)
{
	static uint8_t record[5 + 20000];
	size_t got = 0;

	while (got < n) {
		size_t len;
		int k;

		recv_all(c->fd, record, 5);
		assert_int_equal(record[0], 0x17);
		len = (size_t)(record[3] << 8 | record[4]);
		recv_all(c->fd, record + 5, len);
		BIO_write(c->in, record, (int)(5 + len));
		while (got < n && (k = SSL_read(c->ssl, dst + got, (int)(n - got))) > 0)
			got += (size_t)k;
	}
}

static void what_was_sent_before_the_end_is_encrypted(void **state)
{
	uint8_t *got = malloc(2 * BEFORE_END), login[300], records[8000];
	struct harness h = { 0 };
	struct client c;
	size_t k;

	(void)state;
	for (size_t i = 0; i < sizeof(lent_bytes); i++)
		lent_bytes[i] = (char)(i * 11 + i / 5000);
	start(&h, true);
	h.data = send_and_end_tls;
	client_start(&c, &h);
	client_handshake(&c, 4088, false);
	make_packet(login, LOGIN, 'l', 300);
	k = encrypt(&c, records, sizeof(records), login, 300);
	send_all(c.fd, records, k);
	recv_records(&c, got, 2 * BEFORE_END);
	assert_memory_equal(got, lent_bytes, BEFORE_END);
	assert_memory_equal(got + BEFORE_END, lent_bytes, BEFORE_END);
	recv_all(c.fd, got, 5);
	assert_memory_equal(got, "clear", 5);
	free(got);
	client_end(&c);
	harness_stop(&h);
}

static size_t pause_at_login(struct conn *c, const uint8_t *p, size_t n)
{
	size_t used = tds_data(c, p, n);

	if (used > 0 && p[0] == LOGIN) { /* the session waits for the password's hash */
		net_stream_pause(c->s);
		net_stream_set_timer(c->s, 5);
	}
	return used;
}

static void resume_after_login(struct conn *c)
{
	net_stream_resume(c->s);
}

static void a_pause_keeps_records_and_clear_bytes_in_order(void **state)
{
	struct harness h = { 0 };
	struct client c;
	uint8_t login[300], request[200], all[8000], got[800];
	size_t k;

	(void)state;
	start(&h, true);
	h.data = pause_at_login;
	h.timeout = resume_after_login;
	client_start(&c, &h);
	client_handshake(&c, 4088, false);
	make_packet(login, LOGIN, 'l', 300);
	make_packet(request, REQUEST, 'r', 200);
	k = encrypt(&c, all, sizeof(all), login, 300);
	k += encrypt(&c, all + k, sizeof(all) - k, login, 300);
	memcpy(all + k, request, 200);
	send_all(c.fd, all, k + 200);
	recv_all(c.fd, got, 800);
	assert_memory_equal(got, login, 300);
	assert_memory_equal(got + 300, login, 300);
	assert_memory_equal(got + 600, request, 200);
	client_end(&c);
	harness_stop(&h);
}

static void a_packet_half_in_tls_half_in_clear_is_whole(void **state)
{
	struct harness h = { 0 };
	struct client c;
	uint8_t login[300], all[8000], got[400];
	size_t k;

	(void)state;
	start(&h, true);
	client_start(&c, &h);
	client_handshake(&c, 4088, false);
	make_packet(login, LOGIN, 'l', 300);
	memcpy(all, login, 300);
	make_packet(all + 300, REQUEST, 'r', 100);
	uint8_t records[8000];
	k = encrypt(&c, records, sizeof(records), all, 350); /* the login and half of what follows */
	memcpy(records + k, all + 350, 50);
	send_all(c.fd, records, k + 50);
	recv_all(c.fd, got, 400);
	assert_memory_equal(got, all, 400);
	client_end(&c);
	harness_stop(&h);
}

static void a_failed_handshake_ends_with_its_reason(void **state)
{
	struct harness h = { 0 };
	uint8_t packet[100], got[100];
	int fd;

	(void)state;
	start(&h, false);
	fd = client_connect(&h);
	make_packet(packet, 0x12, 'x', 100);
	send_all(fd, packet, 100);
	while (recv(fd, got, sizeof(got), 0) > 0) /* the alert, wrapped, then the end */
		;
	close(fd);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "TLS handshake"));
	harness_stop(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_handshake_travels_in_packets),
		cmocka_unit_test(records_glued_to_the_handshake_are_records),
		cmocka_unit_test(clear_bytes_behind_the_handshake_end_the_stream),
		cmocka_unit_test(clear_bytes_glued_to_the_last_handshake_packet_end_the_stream),
		cmocka_unit_test(login_only_switches_at_the_first_clear_byte),
		cmocka_unit_test(records_and_alerts_after_the_end_are_understood),
		cmocka_unit_test(a_pause_keeps_records_and_clear_bytes_in_order),
		cmocka_unit_test(what_was_sent_before_the_end_is_encrypted),
		cmocka_unit_test(a_packet_half_in_tls_half_in_clear_is_whole),
		cmocka_unit_test(a_failed_handshake_ends_with_its_reason),
	};
	int rc;

	tls_files_make(&files);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	tls_files_remove(&files);
	return rc;
}
