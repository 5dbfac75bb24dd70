/* tls_cipher.h — makes short TLS records cheaper with OpenSSL 3.0. The load generator of bench/ uses it too. */
#ifndef NET_TLS_CIPHER_H
#define NET_TLS_CIPHER_H

/* For the SSL_CTXs that the process makes from now on. Where it does not apply it does nothing. */
void net_tls_cipher_shortcut(void);

#endif
