/* TLS: from the first byte (TDS 8.0), inside TDS packets, and for the login only. */
#include "net_test.h"

#include <malloc.h>
#include <sys/wait.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "tls_files.h"

static struct tls_files files;

static void load_tls(struct harness *h)
{
	struct err e;

	if (net_tls_ctx_new(files.cert, files.key, NULL, &h->tls, &e) < 0)
		fail_msg("%s", e.text);
}

/* What the session does with a first byte 0x16: TLS, and nothing consumed. */
static size_t direct_data(struct conn *c, const uint8_t *p, size_t n)
{
	struct err e;

	if (!net_stream_is_tls(c->s)) {
		if (p[0] != 0x16 || net_stream_start_tls(c->s, c->h->tls, NET_TLS_DIRECT, &e) < 0)
			net_stream_close(c->s, false, "no TLS");
		return 0;
	}
	return echo_data(c, p, n);
}

static SSL *client_ssl(int max_version, const char *alpn)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL *ssl;

	assert_int_equal(SSL_CTX_load_verify_locations(ctx, files.cert, NULL), 1);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_max_proto_version(ctx, max_version);
	ssl = SSL_new(ctx);
	SSL_CTX_free(ctx);
	assert_int_equal(SSL_set1_host(ssl, "localhost"), 1);
	if (alpn != NULL)
		SSL_set_alpn_protos(ssl, (const unsigned char *)alpn, (unsigned)strlen(alpn));
	return ssl;
}

static void ssl_recv_all(SSL *ssl, uint8_t *p, size_t n)
{
	size_t got = 0;

	while (got < n) {
		int k = SSL_read(ssl, p + got, (int)(n - got));

		assert_true(k > 0);
		got += (size_t)k;
	}
}

static void direct_echo(struct harness *h, int version, const char *alpn)
{
	static uint8_t bytes[100000], got[100000];
	const unsigned char *chosen = NULL;
	unsigned chosen_len = 0;
	SSL *ssl = client_ssl(version, alpn);
	int fd = client_connect(h);

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 13 + i / 777);
	SSL_set_fd(ssl, fd);
	assert_int_equal(SSL_connect(ssl), 1);
	assert_int_equal(SSL_version(ssl), version);
	SSL_get0_alpn_selected(ssl, &chosen, &chosen_len);
	assert_int_equal(chosen_len, alpn != NULL ? 7 : 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(SSL_write(ssl, bytes, sizeof(bytes)), sizeof(bytes));
		ssl_recv_all(ssl, got, sizeof(got));
		assert_memory_equal(bytes, got, sizeof(got));
	}
	assert_int_equal(SSL_write(ssl, bytes, 1), 1);
	ssl_recv_all(ssl, got, 1);
	SSL_shutdown(ssl);
	assert_true(SSL_read(ssl, got, 1) <= 0);
	/* the server said goodbye too */
	assert_int_equal(SSL_get_error(ssl, 0), SSL_ERROR_ZERO_RETURN);
	SSL_free(ssl);
	close(fd);
}

static void tls_from_the_first_byte(void **state)
{
	struct harness h = { .data = direct_data };

	(void)state;
	load_tls(&h);
	harness_start(&h, 2, 100);
	direct_echo(&h, TLS1_3_VERSION, "\x07tds/8.0");
	direct_echo(&h, TLS1_2_VERSION, "\x08http/1.1\x07tds/8.0");
	direct_echo(&h, TLS1_3_VERSION, NULL);
	assert_int_equal(atomic_load(&h.secures), 3);
	harness_stop(&h);
}

static void only_other_alpn_names_are_refused(void **state)
{
	struct harness h = { .data = direct_data };
	SSL *ssl = client_ssl(TLS1_3_VERSION, "\x08http/1.1");
	int fd;

	(void)state;
	load_tls(&h);
	harness_start(&h, 1, 100);
	fd = client_connect(&h);
	SSL_set_fd(ssl, fd);
	ERR_clear_error();
	assert_true(SSL_connect(ssl) <= 0);
	assert_int_equal(ERR_GET_REASON(ERR_peek_error()), SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL);
	SSL_free(ssl);
	close(fd);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "TLS handshake"));
	harness_stop(&h);
}

static void tls_before_1_2_is_refused(void **state)
{
	struct harness h = { .data = direct_data };
	SSL *ssl = client_ssl(TLS1_1_VERSION, NULL);
	int fd;

	(void)state;
	load_tls(&h);
	harness_start(&h, 1, 100);
	fd = client_connect(&h);
	SSL_set_min_proto_version(ssl, TLS1_VERSION);
	SSL_set_security_level(ssl, 0);
	SSL_set_fd(ssl, fd);
	assert_true(SSL_connect(ssl) <= 0);
	SSL_free(ssl);
	close(fd);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "TLS handshake"));
	harness_stop(&h);
}

/* Nonsense in place of records: the stream ends, whatever it was. */
static void what_is_no_record_ends_the_stream(void **state)
{
	static const uint8_t nonsense[][9] = {
		{ 0x16, 2, 1, 0, 5, 1, 2, 3 },       /* not version 3 */
		{ 0x16, 3, 1, 0xff, 0xff, 1, 2, 3 }, /* too long */
		{ 0x16, 3, 1, 0, 4, 9, 0, 0, 0 },    /* no ClientHello */
	};
	struct harness h = { .data = direct_data };
	char got[64];

	(void)state;
	load_tls(&h);
	harness_start(&h, 1, 100);
	for (size_t i = 0; i < ARRAY_LEN(nonsense); i++) {
		int fd = client_connect(&h);

		send_all(fd, nonsense[i], sizeof(nonsense[i]));
		while (recv(fd, got, sizeof(got), 0) > 0) /* perhaps an alert */
			;
		close(fd);
		WAIT_FOR(atomic_load(&h.closes) == (int)i + 1);
		assert_true(reason_has(&h, "TLS"));
	}
	harness_stop(&h);
}

static void a_direct_handshake_may_come_byte_by_byte(void **state)
{
	struct harness h = { .data = direct_data };
	SSL *ssl = client_ssl(TLS1_2_VERSION, NULL);
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	uint8_t bytes[8192];
	int fd, rc;

	(void)state;
	load_tls(&h);
	harness_start(&h, 1, 100);
	fd = client_connect(&h);
	SSL_set_bio(ssl, in, out);
	while ((rc = SSL_connect(ssl)) != 1) {
		int n = BIO_read(out, bytes, sizeof(bytes));

		assert_int_equal(SSL_get_error(ssl, rc), SSL_ERROR_WANT_READ);
		for (int i = 0; i < n; i++)
			send_all(fd, bytes + i, 1);
		n = (int)recv(fd, bytes, sizeof(bytes), 0);
		assert_true(n > 0);
		BIO_write(in, bytes, n);
	}
	assert_int_equal(SSL_write(ssl, "x", 1), 1);
	rc = BIO_read(out, bytes, sizeof(bytes));
	for (int i = 0; i < rc; i++)
		send_all(fd, bytes + i, 1);
	rc = (int)recv(fd, bytes, sizeof(bytes), 0);
	BIO_write(in, bytes, rc);
	assert_int_equal(SSL_read(ssl, bytes, 1), 1);
	SSL_free(ssl);
	close(fd);
	harness_stop(&h);
}

static void back_pressure_holds_under_tls(void **state)
{
	struct harness h = { .data = direct_data };
	SSL *ssl = client_ssl(TLS1_3_VERSION, NULL);
	size_t sent = 0, back = 0;
	static uint8_t bytes[16384];
	struct timeval soon = { .tv_usec = 200000 }, later = { .tv_sec = 10 };
	int fd, n;

	(void)state;
	load_tls(&h);
	harness_start(&h, 1, 100);
	fd = client_connect(&h);
	SSL_set_fd(ssl, fd);
	assert_int_equal(SSL_connect(ssl), 1);
	SSL_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	while ((n = SSL_write(ssl, bytes, sizeof(bytes))) > 0) {
		sent += (size_t)n;
		assert_true(sent < (size_t)256 * 1024 * 1024);
	}
	assert_in_range(atomic_load(&h.most_pending), 512 * 1024, 700 * 1024);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &later, sizeof(later));
	while (back < sent) {
		n = SSL_read(ssl, bytes, sizeof(bytes));
		assert_true(n > 0);
		back += (size_t)n;
	}
	SSL_free(ssl);
	close(fd);
	harness_stop(&h);
}

/* The owner's own use of OpenSSL went wrong, and nobody cleared that away. */
static size_t data_leaving_an_error(struct conn *c, const uint8_t *p, size_t n)
{
	size_t used = direct_data(c, p, n);

	ERR_raise(ERR_LIB_USER, ERR_R_INTERNAL_ERROR);
	return used;
}

static void errors_of_others_are_not_the_streams(void **state)
{
	struct harness h = { .data = data_leaving_an_error };
	SSL *ssl = client_ssl(TLS1_3_VERSION, NULL);
	uint8_t got[4];
	int fd;

	(void)state;
	load_tls(&h);
	harness_start(&h, 1, 100);
	fd = client_connect(&h);
	SSL_set_fd(ssl, fd);
	assert_int_equal(SSL_connect(ssl), 1);
	assert_int_equal(SSL_write(ssl, "four", 4), 4);
	ssl_recv_all(ssl, got, sizeof(got));
	/* a record without data: what OpenSSL says then is looked at */
	SSL_shutdown(ssl);
	assert_true(SSL_read(ssl, got, 1) <= 0);
	WAIT_FOR(atomic_load(&h.closes) == 1);
	assert_true(reason_has(&h, "closed by the client"));
	SSL_free(ssl);
	close(fd);
	harness_stop(&h);
}

/* How much memory an idle connection costs the server, the clients being another process. */
static void idle_clients(int in, int out)
{
	char address[64] = { 0 }, go;
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	if (read(in, address, sizeof(address)) <= 0)
		_exit(1);
	sa.sin_port = htons(port_of(address));
	for (int i = 0; i < 100; i++) {
		SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
		SSL *ssl = SSL_new(ctx);
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		char bytes[10000] = { 0 };

		if (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
			_exit(2);
		SSL_set_fd(ssl, fd);
		if (SSL_connect(ssl) != 1 || SSL_write(ssl, bytes, sizeof(bytes)) <= 0 ||
		    SSL_read(ssl, bytes, sizeof(bytes)) <= 0)
			_exit(3);
	}
	if (write(out, "r", 1) != 1 || read(in, &go, 1) != 1)
		_exit(4);
	_exit(0);
}

static void an_idle_tls_connection_is_small(void **state)
{
	struct harness h = { .data = direct_data };
	int to_child[2], from_child[2], status;
	size_t before, after;
	char c;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(to_child), 0);
	assert_int_equal(pipe(from_child), 0);
	child = fork(); /* before this process has threads */
	assert_true(child >= 0);
	if (child == 0) {
		close(to_child[1]);
		idle_clients(to_child[0], from_child[1]);
	}
	close(from_child[1]);
	load_tls(&h);
	harness_start(&h, 2, 1000);
	before = mallinfo2().uordblks + mallinfo2().hblkhd;
	assert_true(write(to_child[1], net_address(h.net), strlen(net_address(h.net)) + 1) > 0);
	assert_int_equal(read(from_child[0], &c, 1), 1);
	after = mallinfo2().uordblks + mallinfo2().hblkhd;
	print_message("an idle TLS connection costs %zu bytes\n", (after - before) / 100);
	assert_true(after - before < (size_t)100 * 60 * 1024); /* 0 where a sanitizer has malloc */
	assert_int_equal(write(to_child[1], "x", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	for (int i = 0; i < 2; i++) {
		close(to_child[i]);
		if (i == 0)
			close(from_child[0]);
	}
	harness_stop(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_idle_tls_connection_is_small),
		cmocka_unit_test(tls_from_the_first_byte),
		cmocka_unit_test(only_other_alpn_names_are_refused),
		cmocka_unit_test(tls_before_1_2_is_refused),
		cmocka_unit_test(what_is_no_record_ends_the_stream),
		cmocka_unit_test(a_direct_handshake_may_come_byte_by_byte),
		cmocka_unit_test(back_pressure_holds_under_tls),
		cmocka_unit_test(errors_of_others_are_not_the_streams),
	};
	int rc;

	tls_files_make(&files);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	tls_files_remove(&files);
	return rc;
}
