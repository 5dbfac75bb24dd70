/* echo.c — the physical limit of the network part: the same message sizes through the same event
 * loop as the server (libuv, as many loops as it has threads), and nothing done in between. A
 * request says how long it is and how long its answer shall be. Prints "ready HOST:PORT". With
 * TLS it keeps the server's rules: what TLS costs here is OpenSSL's and the kernel's.
 *
 *   echo [LOOPS [--tls CERTIFICATE KEY]] (two files in PEM; every connection then begins with
 *   TLS) */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <uv.h>

#define LOOPS_MAX 16
#define REQUEST_MAX (256u << 20)

/* All answers are pieces of these zeros, but for their first eight bytes. */
static uint8_t *zeros;

static SSL_CTX *context; /* NULL: clear text */
static BIO_METHOD *input_method;

/* What the loop has just read: OpenSSL takes all of it before the next read. A loop is a thread. */
static _Thread_local struct {
	uint8_t data[65536];
	size_t at, len;
} input;

struct peer {
	uv_tcp_t tcp;
	SSL *ssl;
	uint8_t *in;
	size_t in_len, in_cap;
};

static void on_close(uv_handle_t *h)
{
	struct peer *p = (struct peer *)h;

	SSL_free(p->ssl);
	free(p->in);
	free(p);
}

static void on_written(uv_write_t *w, int status)
{
	(void)status;
	free(w);
}

/* OpenSSL's way to the input. */
static int input_read(BIO *b, char *dst, size_t size, size_t *ret)
{
	size_t left = input.len - input.at;

	*ret = left < size ? left : size;
	memcpy(dst, input.data + input.at, *ret);
	input.at += *ret;
	BIO_clear_retry_flags(b);
	if (*ret == 0)
		BIO_set_retry_read(b);
	return *ret > 0;
}

static int choose_protocol(SSL *ssl, const unsigned char **ret, unsigned char *ret_n,
			   const unsigned char *offered, unsigned n, void *arg)
{
	static const unsigned char ours[] = "\x07tds/8.0";
	int found = SSL_select_next_proto((unsigned char **)ret, ret_n, ours, sizeof(ours) - 1, offered, n);

	(void)ssl, (void)arg;
	return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

static bool tls_init(const char *certificate, const char *key)
{
	context = SSL_CTX_new(TLS_server_method());
	input_method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "input");
	if (context == NULL || input_method == NULL)
		return false;
	BIO_meth_set_read_ex(input_method, input_read);
	/* OpenSSL asks it things, and takes a missing answer for an error. */
	BIO_meth_set_ctrl(input_method, BIO_meth_get_ctrl(BIO_s_null()));
	SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
	SSL_CTX_set_num_tickets(context, 0);
	SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
	return SSL_CTX_use_certificate_chain_file(context, certificate) == 1 &&
	       SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) == 1;
}

/* OpenSSL writes to the socket itself: a record is one write, and so is a flight of the
 * handshake. */
static void tls_begin(struct peer *p)
{
	BIO *input_bio = BIO_new(input_method), *output_bio;
	uv_os_fd_t fd = -1;

	uv_fileno((uv_handle_t *)&p->tcp, &fd);
	output_bio = BIO_new_socket(fd, BIO_NOCLOSE);
	p->ssl = SSL_new(context);
	if (input_bio == NULL || output_bio == NULL || p->ssl == NULL)
		abort();
	BIO_set_init(input_bio, 1);
	SSL_set_bio(p->ssl, input_bio, output_bio);
	SSL_set_accept_state(p->ssl);
}

/* One record: no longer ones are measured, and the socket's buffer has room for it. */
static void tls_answer(struct peer *p, uint32_t n)
{
	static _Thread_local uint8_t record[SSL3_RT_MAX_PLAIN_LENGTH];

	memcpy(record, &n, sizeof(n));
	if (n > sizeof(record) || SSL_write(p->ssl, record, (int)n) != (int)n)
		abort();
}

/* Most answers fit the socket's buffer at once; only the rest of a long one is queued. */
static void answer(struct peer *p, uint32_t n)
{
	uint8_t head[8] = { 0 };
	uv_buf_t bufs[2] = { uv_buf_init((char *)head, 8), uv_buf_init((char *)zeros, n - 8) };
	uv_write_t *w;
	int done;

	if (n < 8 || n > REQUEST_MAX)
		abort();
	if (p->ssl != NULL) {
		tls_answer(p, n);
		return;
	}
	memcpy(head, &n, sizeof(n));
	done = uv_try_write((uv_stream_t *)&p->tcp, bufs, 2);
	if (done == (int)n)
		return;
	w = calloc(1, sizeof(*w));
	/* A peer that does not read eight bytes is none of ours. */
	if (w == NULL || done < 8)
		abort();
	bufs[1] = uv_buf_init((char *)zeros, n - (uint32_t)done);
	uv_write(w, (uv_stream_t *)&p->tcp, &bufs[1], 1, on_written);
}

static size_t make_room(struct peer *p)
{
	if (p->in_cap - p->in_len < 4096) {
		p->in_cap = p->in_cap * 2 + 16384;
		p->in = realloc(p->in, p->in_cap);
		if (p->in == NULL)
			abort();
	}
	return p->in_cap - p->in_len;
}

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *ret)
{
	struct peer *p = (struct peer *)h;
	size_t room = p->ssl != NULL ? sizeof(input.data) : make_room(p);

	(void)suggested;
	*ret = uv_buf_init(p->ssl != NULL ? (char *)input.data : (char *)p->in + p->in_len, (unsigned)room);
}

/* n more bytes have come. */
static void requests(struct peer *p, size_t n)
{
	uint32_t head[2];

	p->in_len += n;
	while (p->in_len >= sizeof(head)) {
		memcpy(head, p->in, sizeof(head));
		if (head[0] < sizeof(head) || p->in_len < head[0])
			break;
		memmove(p->in, p->in + head[0], p->in_len - head[0]);
		p->in_len -= head[0];
		answer(p, head[1]);
	}
}

/* The handshake goes on with every read until there are requests. */
static bool tls_requests(struct peer *p, size_t n)
{
	input.at = 0;
	input.len = n;
	/* OpenSSL is not asked for more than there is: its answer would cost as much as a small
	 * record. */
	while (input.at < input.len || SSL_pending(p->ssl) > 0) {
		size_t room = make_room(p);
		int k = SSL_read(p->ssl, p->in + p->in_len, (int)room);

		if (k <= 0)
			return SSL_get_error(p->ssl, k) == SSL_ERROR_WANT_READ;
		requests(p, (size_t)k);
	}
	return true;
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *buf)
{
	struct peer *p = (struct peer *)s;

	(void)buf;
	if (n >= 0 && p->ssl == NULL)
		requests(p, (size_t)n);
	else if (n < 0 || !tls_requests(p, (size_t)n)) {
		/* it is the thread's, and would be taken for the next peer's */
		ERR_clear_error();
		uv_close((uv_handle_t *)s, on_close);
	}
}

static void on_connection(uv_stream_t *server, int status)
{
	struct peer *p = calloc(1, sizeof(*p));

	if (status < 0 || p == NULL)
		abort();
	uv_tcp_init(server->loop, &p->tcp);
	if (uv_accept(server, (uv_stream_t *)&p->tcp) < 0) {
		uv_close((uv_handle_t *)&p->tcp, on_close);
		return;
	}
	uv_tcp_nodelay(&p->tcp, 1);
	if (context != NULL)
		tls_begin(p);
	uv_read_start((uv_stream_t *)&p->tcp, on_alloc, on_read);
}

/* Every loop has a socket of its own at the same port; the kernel spreads the connections. */
static int listener(struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
	socklen_t len = sizeof(*at);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)at, sizeof(*at)) < 0 ||
	    getsockname(fd, (struct sockaddr *)at, &len) < 0) {
		perror("echo");
		exit(1);
	}
	return fd;
}

static void *run(void *arg)
{
	uv_loop_t *loop = calloc(1, sizeof(*loop));
	uv_tcp_t *tcp = calloc(1, sizeof(*tcp));
	int fd = *(int *)arg;

	if (loop == NULL || tcp == NULL || uv_loop_init(loop) < 0 || uv_tcp_init(loop, tcp) < 0 ||
	    uv_tcp_open(tcp, fd) < 0 || uv_listen((uv_stream_t *)tcp, 1024, on_connection) < 0)
		abort();
	uv_run(loop, UV_RUN_DEFAULT);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	long loops = argc > 1 ? strtol(argv[1], NULL, 10) : 2;
	static int fds[LOOPS_MAX];
	pthread_t thread;

	zeros = calloc(1, REQUEST_MAX);
	if (loops < 1 || loops > LOOPS_MAX || zeros == NULL)
		return 2;
	if (argc > 2 && (argc != 5 || strcmp(argv[2], "--tls") != 0 || !tls_init(argv[3], argv[4]))) {
		ERR_print_errors_fp(stderr);
		return 2;
	}
	for (long i = 0; i < loops; i++)
		fds[i] = listener(&at);
	for (long i = 1; i < loops; i++)
		if (pthread_create(&thread, NULL, run, &fds[i]) != 0)
			return 1;
	printf("ready 127.0.0.1:%d\n", ntohs(at.sin_port));
	fflush(stdout);
	run(&fds[0]);
	return 0;
}
