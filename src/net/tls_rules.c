/* tls_rules.c — versions and cipher suites as the settings say. OpenSSL leaves out the names it
 * does not know without a word; here each must mean something. */
#include "net/tls_rules.h"

#include <stdio.h>
#include <string.h>

#include <openssl/err.h>

#include "net/net_int.h"

#define NAMES_MAX 4000

/* Calls each for every name of a list that adds suites; what takes away (!, -) or reorders (+,
 * @) may name anything. NULL, or the name that was refused. */
static char *first_unknown(const char *list, char *names, int (*accepts)(SSL_CTX *c, const char *name))
{
	char *save = NULL, *unknown = NULL;
	SSL_CTX *scratch = SSL_CTX_new(TLS_server_method());

	if (scratch == NULL)
		return NULL; /* without memory the real one will say so */
	snprintf(names, NAMES_MAX, "%s", list);
	for (char *name = strtok_r(names, ":, ", &save); name != NULL && unknown == NULL;
	     name = strtok_r(NULL, ":, ", &save))
		if (strchr("!-+@", name[0]) == NULL && accepts(scratch, name) != 1)
			unknown = name;
	SSL_CTX_free(scratch);
	ERR_clear_error();
	return unknown;
}

static int set_list(SSL_CTX *c, const char *what, const char *list, int (*set)(SSL_CTX *c, const char *list),
		    struct err *reterr)
{
	char names[NAMES_MAX];
	const char *unknown;

	if (list == NULL)
		return 0;
	if (strlen(list) >= sizeof(names))
		return net_fail(reterr, "The setting %s is too long.", what);
	unknown = first_unknown(list, names, set);
	if (unknown != NULL)
		return net_fail(reterr,
				"The setting %s names '%.100s', which is no cipher suite that this OpenSSL "
				"has. 'openssl ciphers -v' lists them.",
				what, unknown);
	if (set(c, list) != 1) {
		ERR_clear_error();
		return net_fail(reterr,
				"The setting %s leaves no cipher suite. 'openssl ciphers -v LIST' shows what "
				"a list means.",
				what);
	}
	return 0;
}

/* Suites that came with TLS 1.2 (their hash or their mode) cannot be used before it. */
static bool has_old_suite(SSL_CTX *c)
{
	STACK_OF(SSL_CIPHER) *all = SSL_CTX_get_ciphers(c);

	for (int i = 0; i < sk_SSL_CIPHER_num(all); i++) {
		const char *version = SSL_CIPHER_get_version(sk_SSL_CIPHER_value(all, i));

		if (strcmp(version, "TLSv1.0") == 0 || strcmp(version, "TLSv1") == 0 ||
		    strcmp(version, "SSLv3") == 0)
			return true;
	}
	return false;
}

int net_tls_set_rules(SSL_CTX *c, const struct net_tls_rules *rules, struct err *reterr)
{
	static const int versions[] = { [NET_TLS_1_0] = TLS1_VERSION,
					[NET_TLS_1_1] = TLS1_1_VERSION,
					[NET_TLS_1_2] = TLS1_2_VERSION,
					[NET_TLS_1_3] = TLS1_3_VERSION };

	SSL_CTX_set_min_proto_version(c, versions[rules->min_version]);
	if (rules->min_version < NET_TLS_1_2)
		/* OpenSSL's levels above it have no signatures for them */
		SSL_CTX_set_security_level(c, 0);
	if (set_list(c, "tls_ciphers", rules->ciphers, SSL_CTX_set_cipher_list, reterr) < 0 ||
	    set_list(c, "tls_ciphersuites", rules->ciphersuites, SSL_CTX_set_ciphersuites, reterr) < 0)
		return -1;
	if (rules->min_version < NET_TLS_1_2 && !has_old_suite(c))
		return net_fail(reterr, "TLS 1.0 and 1.1 have none of the cipher suites of tls_ciphers. Add "
					"some (ECDHE+AES+SHA1), or set tls_min_version = 1.2.");
	return 0;
}
