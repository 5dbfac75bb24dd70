/* tls_bio.c — OpenSSL's window to the stream: it reads the bytes that tls.c lays before it and
 * writes into the loop's scratch buffer. OpenSSL's own memory BIOs would do the same but keep a
 * buffer as large as the largest record for each connection, for ever. */
#include "net/net_int.h"

static int bio_read(BIO *b, char *dst, int size)
{
	struct net_tls *t = BIO_get_data(b);
	size_t n;

	BIO_clear_retry_flags(b);
	if (size <= 0)
		return 0;
	if (t->in_n == 0) {
		BIO_set_retry_read(b);
		return -1;
	}
	n = t->in_n < (size_t)size ? t->in_n : (size_t)size;
	memcpy(dst, t->in, n);
	t->in += n;
	t->in_n -= n;
	return (int)n;
}

static int bio_write(BIO *b, const char *p, int n)
{
	struct net_tls *t = BIO_get_data(b);
	struct buf *cipher = &t->stream->loop->cipher;

	BIO_clear_retry_flags(b);
	if (n <= 0)
		return 0;
	buf_put(cipher, p, (size_t)n);
	return cipher->failed ? -1 : n;
}

static long bio_ctrl(BIO *b, int cmd, long num, void *ptr)
{
	(void)b;
	(void)num;
	(void)ptr;
	return cmd == BIO_CTRL_FLUSH ? 1 : 0;
}

static int bio_create(BIO *b)
{
	BIO_set_init(b, 1);
	return 1;
}

BIO_METHOD *net_tls_bio_method(void)
{
	BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "procession stream");

	if (m == NULL)
		return NULL;
	BIO_meth_set_read(m, bio_read);
	BIO_meth_set_write(m, bio_write);
	BIO_meth_set_ctrl(m, bio_ctrl);
	BIO_meth_set_create(m, bio_create);
	return m;
}
