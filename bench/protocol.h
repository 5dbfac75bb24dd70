/* protocol.h — how the answers of a kind of server are cut and read, and whether it wants a
 * login first. */
#ifndef BENCH_PROTOCOL_H
#define BENCH_PROTOCOL_H

#include "wire.h"

struct protocol {
	bool login; /* PRELOGIN and LOGIN7 come first */
	/* Length of the whole answer at p, or 0 when it is not complete yet. *at is the
	 * protocol's own mark, 0 at first. */
	size_t (*length)(const uint8_t *p, size_t n, size_t *at);
	/* Reads it; false: the bytes make no sense. scratch: at least n bytes. */
	bool (*read)(const uint8_t *p, size_t n, uint8_t *scratch, struct answer *ret);
};

extern const struct protocol protocol_tds;
extern const struct protocol protocol_resp; /* Redis */
extern const struct protocol protocol_echo; /* bench/peers/echo.c */

/* Builds a RESP request: an array of n strings. */
void resp_begin(struct message *m, unsigned n);
/* Returns the offset of the string's bytes. */
size_t resp_string(struct message *m, const void *p, size_t n);

/* A request of n bytes that is answered with n_answer bytes; both at least 8. */
void echo_request(struct message *m, size_t n, size_t n_answer);

#endif
