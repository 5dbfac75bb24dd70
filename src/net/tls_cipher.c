/* tls_cipher.c — a shorter way to OpenSSL's AES-GCM.
 * libssl 3.0 speaks to the ciphers of a provider in parameters that are found by name: twice a record, each time compared with every name that the cipher
 * knows. For a record of 50 bytes that costs nearly as much as to encrypt it. The library still has the same code as it was called before there were
 * providers, and libssl uses it when an engine says so. This engine brings no code of its own: it says so.
 * Other versions of OpenSSL are left alone (their providers became faster), and so is one whose administrator chose another provider (FIPS) or engine. */
#define OPENSSL_SUPPRESS_DEPRECATED     /* engines are, from 3.0 on */
#include "net/tls_cipher.h"

#include <stdbool.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/opensslconf.h>

#if OPENSSL_VERSION_MAJOR == 3 && !defined(OPENSSL_NO_ENGINE)
#include <openssl/engine.h>
#include <openssl/provider.h>

static int ciphers(ENGINE *e, const EVP_CIPHER **ret, const int **ret_nids, int nid)
{
	static const int nids[] = { NID_aes_128_gcm, NID_aes_256_gcm };

	(void)e;
	if (ret == NULL) {
		*ret_nids = nids;
		return sizeof(nids) / sizeof(nids[0]);
	}
	*ret = nid == NID_aes_128_gcm ? EVP_aes_128_gcm() : nid == NID_aes_256_gcm ? EVP_aes_256_gcm() : NULL;
	return *ret != NULL;
}

/* The code behind both ways is the same one only if it is the default provider's. */
static bool is_default(const char *name)
{
	EVP_CIPHER *c = EVP_CIPHER_fetch(NULL, name, NULL);
	bool ok = c != NULL && strcmp(OSSL_PROVIDER_get0_name(EVP_CIPHER_get0_provider(c)), "default") == 0;

	EVP_CIPHER_free(c);
	return ok;
}

static bool is_taken(int nid)
{
	ENGINE *e = ENGINE_get_cipher_engine(nid);

	ENGINE_finish(e);
	return e != NULL;
}

static bool applies(void)
{
	/* The library that runs may be newer than the one that was compiled for. */
	return OPENSSL_version_major() == 3 && OPENSSL_version_minor() == 0 && is_default("AES-128-GCM") && is_default("AES-256-GCM") &&
	       !is_taken(NID_aes_128_gcm) && !is_taken(NID_aes_256_gcm);
}

void net_tls_cipher_shortcut(void)
{
	ENGINE *e = applies() ? ENGINE_new() : NULL;

	if (e != NULL && ENGINE_set_id(e, "aes-gcm-shortcut") == 1 && ENGINE_set_name(e, "AES-GCM of this library, called directly") == 1 &&
	    ENGINE_set_ciphers(e, ciphers) == 1)
		ENGINE_set_default_ciphers(e);
	ENGINE_free(e);                         /* the table of ciphers keeps it */
	ERR_clear_error();                      /* without it all works as well */
}
#else
void net_tls_cipher_shortcut(void)
{
}
#endif
