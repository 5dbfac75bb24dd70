/* channel.h — a TCP connection, in clear text or with TLS from the first byte (TDS 8.0,
 * "strict"). Nothing here waits. */
#ifndef BENCH_CHANNEL_H
#define BENCH_CHANNEL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/types.h>

struct channel {
	int fd;
	struct ssl_st *ssl; /* NULL: clear text */
};

/* nth: which connection of this process it is; spreads them over the addresses of loopback, so
 * that their ports do not run out. */
bool channel_open(struct channel *ch, const struct sockaddr_in *to, bool tls, unsigned nth);
void channel_close(struct channel *ch);

enum channel_status { CHANNEL_OK, CHANNEL_WANT_READ, CHANNEL_WANT_WRITE, CHANNEL_FAILED };
/* Goes on with the handshake; CHANNEL_OK: it is done. */
enum channel_status channel_handshake(struct channel *ch);
enum channel_status channel_send(struct channel *ch, const void *p, size_t n, size_t *ret);
/* CHANNEL_OK with *ret 0: the peer has closed. */
enum channel_status channel_recv(struct channel *ch, void *p, size_t n, size_t *ret);
/* Bytes have been read from the socket and not yet received: epoll says nothing of them. */
bool channel_pending(const struct channel *ch);

#endif
