/* tls_ctx.c — certificate, key and the rules of TLS, for many streams. A new certificate is a
 * new context; streams keep theirs by reference. */
#include "net/net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "net/net_int.h"
#include "net/tls_rules.h"

/* [MS-TDS] 2.2.6.5 and TDS 8.0: the only name this server answers to. */
static const unsigned char alpn_tds8[] = { 't', 'd', 's', '/', '8', '.', '0' };

static int select_alpn(SSL *ssl, const unsigned char **out, unsigned char *outlen, const unsigned char *in,
		       unsigned inlen, void *arg)
{
	const struct net_tls *t = SSL_get_app_data(ssl);

	(void)arg;
	if (t->mode == NET_TLS_WRAPPED)
		return SSL_TLSEXT_ERR_NOACK; /* has no meaning inside TDS 7 */
	for (unsigned i = 0; i < inlen && in[i] <= inlen - i - 1; i += in[i] + 1u)
		if (in[i] == sizeof(alpn_tds8) && memcmp(in + i + 1, alpn_tds8, sizeof(alpn_tds8)) == 0) {
			*out = in + i + 1;
			*outlen = in[i];
			return SSL_TLSEXT_ERR_OK;
		}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* OpenSSL would ask for the password of an encrypted key on the terminal. */
static int no_password(char *buf, int size, int rwflag, void *arg)
{
	(void)buf;
	(void)size;
	(void)rwflag;
	*(bool *)arg = true;
	return -1;
}

static const char *openssl_reason(void)
{
	unsigned long e = ERR_peek_error();
	const char *text = ERR_reason_error_string(e);

	if (ERR_SYSTEM_ERROR(e))
		return strerror(ERR_GET_REASON(e));
	return text != NULL ? text : "unknown error";
}

static int load_files(SSL_CTX *c, const char *cert_file, const char *key_file, struct err *reterr)
{
	bool encrypted = false;

	ERR_clear_error();
	if (access(cert_file, R_OK) < 0)
		return net_fail(reterr,
				"Cannot read the certificate %s: %s. Check tls_certificate and the file's "
				"owner and mode.",
				cert_file, strerror(errno));
	if (SSL_CTX_use_certificate_chain_file(c, cert_file) != 1)
		return net_fail(reterr,
				"The certificate %s cannot be used: %s. It must be a chain in PEM, the "
				"server's certificate first, with a key of 2048 bits or more (RSA).",
				cert_file, openssl_reason());
	if (access(key_file, R_OK) < 0)
		return net_fail(
			reterr,
			"Cannot read the private key %s: %s. Check tls_key and the file's owner and mode.",
			key_file, strerror(errno));
	SSL_CTX_set_default_passwd_cb(c, no_password);
	SSL_CTX_set_default_passwd_cb_userdata(c, &encrypted);
	if (SSL_CTX_use_PrivateKey_file(c, key_file, SSL_FILETYPE_PEM) != 1) {
		SSL_CTX_set_default_passwd_cb_userdata(c, NULL);
		if (encrypted)
			return net_fail(reterr,
					"The private key %s is encrypted. Decrypt it ('openssl pkey -in %s') "
					"and protect the file by its mode.",
					key_file, key_file);
		return net_fail(reterr,
				"The private key %s cannot be used with the certificate %s: %s. They must be "
				"a pair, both in PEM.",
				key_file, cert_file, openssl_reason());
	}
	SSL_CTX_set_default_passwd_cb(c, NULL);
	SSL_CTX_set_default_passwd_cb_userdata(c, NULL);
	if (SSL_CTX_check_private_key(c) != 1)
		return net_fail(reterr,
				"The private key %s does not belong to the certificate %s. Give a pair, or "
				"remove both to have a new one made.",
				key_file, cert_file);
	return 0;
}

static void set_options(SSL_CTX *c)
{
	SSL_CTX_set_options(c, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
				       SSL_OP_CIPHER_SERVER_PREFERENCE);
	/* after its Finished a TDS client expects nothing but TDS */
	SSL_CTX_set_num_tickets(c, 0);
	SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_mode(c, SSL_MODE_RELEASE_BUFFERS); /* an idle connection holds no record buffers */
	SSL_CTX_set_read_ahead(c, 0);
	SSL_CTX_set_verify(c, SSL_VERIFY_NONE, NULL);
	SSL_CTX_set_alpn_select_cb(c, select_alpn, NULL);
}

int net_tls_ctx_new(const char *cert_file, const char *key_file, const struct net_tls_rules *rules,
		    struct net_tls_ctx **ret, struct err *reterr)
{
	static const struct net_tls_rules usual = { .min_version = NET_TLS_1_2 };
	struct net_tls_ctx *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return err_nomem(reterr);
	atomic_init(&c->refs, 1);
	c->ssl_ctx = SSL_CTX_new(TLS_server_method());
	c->bio_method = net_tls_bio_method();
	if (c->ssl_ctx == NULL || c->bio_method == NULL) {
		err_nomem(reterr);
		goto fail;
	}
	set_options(c->ssl_ctx);
	if (net_tls_set_rules(c->ssl_ctx, rules != NULL ? rules : &usual, reterr) < 0 ||
	    load_files(c->ssl_ctx, cert_file, key_file, reterr) < 0)
		goto fail;
	*ret = c;
	return 0;
fail:
	ERR_clear_error();
	net_tls_ctx_unref(c);
	return -1;
}

static int64_t unix_seconds(const ASN1_TIME *t)
{
	struct tm tm = { 0 };

	return ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) : INT64_MAX;
}

void net_tls_ctx_validity(const struct net_tls_ctx *c, int64_t *ret_from, int64_t *ret_until)
{
	const X509 *x = SSL_CTX_get0_certificate(c->ssl_ctx);

	*ret_from = unix_seconds(X509_get0_notBefore(x));
	*ret_until = unix_seconds(X509_get0_notAfter(x));
}

struct net_tls_ctx *net_tls_ctx_ref(struct net_tls_ctx *c)
{
	if (c != NULL)
		atomic_fetch_add(&c->refs, 1);
	return c;
}

void net_tls_ctx_unref(struct net_tls_ctx *c)
{
	if (c == NULL || atomic_fetch_sub(&c->refs, 1) != 1)
		return;
	SSL_CTX_free(c->ssl_ctx);
	BIO_meth_free(c->bio_method);
	free(c);
}
