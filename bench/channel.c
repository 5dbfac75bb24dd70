/* channel.c — see channel.h. */
#include "channel.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOURCES 200
/* What one read may bring, several records of the largest size. */
#define READ_AHEAD 65536

/* OpenSSL's way to the socket: the system calls of clear text, so that both differ by TLS alone.
 * (Its own BIO uses read and write, which cost more.) */
static int bio_recv(BIO *b, char *dst, size_t size, size_t *ret)
{
	const struct channel *ch = BIO_get_data(b);
	ssize_t n = recv(ch->fd, dst, size, 0);

	BIO_clear_retry_flags(b);
	if (n < 0 && errno == EAGAIN)
		BIO_set_retry_read(b);
	*ret = n > 0 ? (size_t)n : 0;
	return n > 0;
}

static int bio_send(BIO *b, const char *p, size_t n, size_t *ret)
{
	const struct channel *ch = BIO_get_data(b);
	ssize_t k = send(ch->fd, p, n, MSG_NOSIGNAL);

	BIO_clear_retry_flags(b);
	if (k < 0 && errno == EAGAIN)
		BIO_set_retry_write(b);
	*ret = k > 0 ? (size_t)k : 0;
	return k > 0;
}

static long bio_ctrl(BIO *b, int cmd, long num, void *ptr)
{
	(void)b, (void)num, (void)ptr;
	return cmd == BIO_CTRL_FLUSH;
}

static BIO *bio_new(struct channel *ch)
{
	static BIO_METHOD *method;
	BIO *b;

	if (method == NULL) {
		method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "channel");
		if (method == NULL)
			return NULL;
		BIO_meth_set_read_ex(method, bio_recv);
		BIO_meth_set_write_ex(method, bio_send);
		BIO_meth_set_ctrl(method, bio_ctrl);
	}
	b = BIO_new(method);
	if (b == NULL)
		return NULL;
	BIO_set_data(b, ch);
	BIO_set_init(b, 1);
	return b;
}

static SSL_CTX *context(void)
{
	static const unsigned char alpn[] = "\x07tds/8.0";
	static SSL_CTX *ctx;

	if (ctx == NULL) {
		ctx = SSL_CTX_new(TLS_client_method());
		if (ctx == NULL)
			return NULL;
		/* The server's certificate is its own; a benchmark of loopback has nobody to
		 * fear. Every handshake is a full one. */
		SSL_CTX_set_verify(ctx, SSL_VERIFY_NONE, NULL);
		SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
		SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
		/* Otherwise each record is two reads: its header, then the rest. */
		SSL_CTX_set_read_ahead(ctx, 1);
		SSL_CTX_set_default_read_buffer_len(ctx, READ_AHEAD);
		SSL_CTX_set_alpn_protos(ctx, alpn, sizeof(alpn) - 1);
	}
	return ctx;
}

bool channel_open(struct channel *ch, const struct sockaddr_in *to, bool tls, unsigned nth)
{
	struct sockaddr_in from = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(0x7F000002u + nth % SOURCES) };
	BIO *bio;
	int on = 1;

	ch->ssl = NULL;
	ch->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ch->fd < 0)
		return false;
	setsockopt(ch->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	if (bind(ch->fd, (struct sockaddr *)&from, sizeof(from)) < 0 ||
	    connect(ch->fd, (const struct sockaddr *)to, sizeof(*to)) < 0)
		return false;
	setsockopt(ch->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	fcntl(ch->fd, F_SETFL, O_NONBLOCK);
	if (!tls)
		return true;
	ch->ssl = context() == NULL ? NULL : SSL_new(context());
	bio = bio_new(ch);
	if (ch->ssl == NULL || bio == NULL)
		return false;
	SSL_set_bio(ch->ssl, bio, bio);
	return true;
}

void channel_close(struct channel *ch)
{
	if (ch->ssl != NULL)
		SSL_free(ch->ssl);
	close(ch->fd);
	*ch = (struct channel){ .fd = -1 };
}

static enum channel_status ssl_status(struct channel *ch, int rc)
{
	switch (SSL_get_error(ch->ssl, rc)) {
	case SSL_ERROR_WANT_READ: return CHANNEL_WANT_READ;
	case SSL_ERROR_WANT_WRITE: return CHANNEL_WANT_WRITE;
	case SSL_ERROR_ZERO_RETURN: return CHANNEL_OK;
	default: return CHANNEL_FAILED;
	}
}

enum channel_status channel_handshake(struct channel *ch)
{
	int rc = SSL_connect(ch->ssl);

	return rc == 1 ? CHANNEL_OK : ssl_status(ch, rc);
}

enum channel_status channel_send(struct channel *ch, const void *p, size_t n, size_t *ret)
{
	ssize_t k;

	*ret = 0;
	if (ch->ssl != NULL) {
		int rc = SSL_write_ex(ch->ssl, p, n, ret);
		return rc == 1 ? CHANNEL_OK : ssl_status(ch, rc);
	}
	k = send(ch->fd, p, n, MSG_NOSIGNAL);
	if (k < 0)
		return errno == EAGAIN ? CHANNEL_WANT_WRITE : CHANNEL_FAILED;
	*ret = (size_t)k;
	return CHANNEL_OK;
}

enum channel_status channel_recv(struct channel *ch, void *p, size_t n, size_t *ret)
{
	ssize_t k;

	*ret = 0;
	if (ch->ssl != NULL) {
		int rc = SSL_read_ex(ch->ssl, p, n, ret);
		return rc == 1 ? CHANNEL_OK : ssl_status(ch, rc);
	}
	k = recv(ch->fd, p, n, 0);
	if (k < 0)
		return errno == EAGAIN ? CHANNEL_WANT_READ : CHANNEL_FAILED;
	*ret = (size_t)k;
	return CHANNEL_OK;
}

bool channel_pending(const struct channel *ch)
{
	return ch->ssl != NULL && SSL_has_pending(ch->ssl) == 1;
}
