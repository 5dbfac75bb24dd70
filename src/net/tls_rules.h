/* tls_rules.h — versions and cipher suites of a context. */
#ifndef NET_TLS_RULES_H
#define NET_TLS_RULES_H

#include <openssl/ssl.h>

#include "net/net.h"

MUST_CHECK int net_tls_set_rules(SSL_CTX *c, const struct net_tls_rules *rules, struct err *reterr);

#endif
