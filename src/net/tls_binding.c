/* tls_binding.c — what identifies a TLS connection to both of its ends (RFC 5929), so that a
 * login can be bound to it. */
#include "net/net.h"

#include <string.h>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "net/net_int.h"

static const char unique_prefix[] = "tls-unique:";
static const char end_point_prefix[] = "tls-server-end-point:";

/* The first Finished message of the handshake: the client's, unless the session was resumed. TLS
 * 1.3 has no such binding. */
static size_t tls_unique(SSL *ssl, uint8_t *dst, size_t size)
{
	if (SSL_version(ssl) >= TLS1_3_VERSION)
		return 0;
	return SSL_session_reused(ssl) ? SSL_get_finished(ssl, dst, size)
				       : SSL_get_peer_finished(ssl, dst, size);
}

/* The certificate's digest, by the algorithm of its signature; SHA-256 in place of the weak ones
 * and where the signature names none. */
static size_t tls_end_point(SSL *ssl, uint8_t *dst, size_t size)
{
	X509 *cert = SSL_get_certificate(ssl); /* the SSL's */
	int nid = NID_undef;
	const EVP_MD *md;
	unsigned n = 0;

	if (cert == NULL)
		return 0;
	if (X509_get_signature_info(cert, &nid, NULL, NULL, NULL) != 1 || nid == NID_md5 || nid == NID_sha1 ||
	    nid == NID_md5_sha1)
		nid = NID_sha256;
	md = EVP_get_digestbynid(nid);
	if (md == NULL)
		md = EVP_sha256();
	if ((size_t)EVP_MD_get_size(md) > size || X509_digest(cert, md, dst, &n) != 1)
		return 0;
	return n;
}

size_t net_stream_tls_binding(const struct net_stream *s, enum net_tls_binding kind, uint8_t *dst,
			      size_t size)
{
	bool unique = kind == NET_TLS_UNIQUE;
	const char *prefix = unique ? unique_prefix : end_point_prefix;
	size_t k = strlen(prefix), n;

	if (!net_stream_is_tls(s) || size < k)
		return 0;
	n = (unique ? tls_unique : tls_end_point)(s->tls->ssl, dst + k, size - k);
	if (n == 0 || n > size - k)
		return 0;
	for (size_t i = 0; i < k; i++)
		dst[i] = (uint8_t)prefix[i];
	return k + n;
}
