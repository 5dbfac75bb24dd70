/* wire.h — just enough of a TDS client to load a server: requests are encoded once, answers are
 * walked token by token and checked. */
#ifndef BENCH_WIRE_H
#define BENCH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request being built; grows as needed, exits the program without memory. */
struct message {
	uint8_t *data;
	size_t len, cap;
};
void message_free(struct message *m);
void message_put(struct message *m, const void *p, size_t n);
void message_prelogin(struct message *m);
void message_login(struct message *m, const char *user, const char *password, const char *database,
		   const char *app);
void message_batch(struct message *m, const char *text);
/* RPC by name; then parameters; then message_end. Each returns the offset of the value's bytes,
 * so that it can be changed before it is sent again. */
void message_rpc(struct message *m, const char *name);
size_t message_int(struct message *m, const char *param, int32_t v);
size_t message_bigint(struct message *m, const char *param, int64_t v);
size_t message_bit(struct message *m, const char *param, bool v);
size_t message_varchar(struct message *m, const char *param, const char *v);
size_t message_nvarchar(struct message *m, const char *param, const char *v); /* ASCII */
size_t message_guid(struct message *m, const char *param, const uint8_t guid[16]);
size_t message_datetime(struct message *m, const char *param, int32_t days, uint32_t ticks);
size_t message_binary(struct message *m, const char *param, const void *p, size_t n); /* varbinary(max) */
void message_output_int(struct message *m, const char *param);
void message_output_bit(struct message *m, const char *param);
void message_output_binary(struct message *m, const char *param); /* varbinary(max) */
void message_end(struct message *m);

/* What an answer said. */
struct answer {
	bool error;
	int32_t number; /* of the last ERROR */
	char text[200];
	int32_t status; /* return status */
	uint64_t rows;
	int32_t last_int; /* value of the last int output */
	bool has_int;
};
/* Length of the whole response message at p, or 0 when it is not complete yet. *at: the packets
 * seen so far, 0 at first. */
size_t answer_length(const uint8_t *p, size_t n, size_t *at);
/* Walks the tokens of one message; false: the stream cannot be read (the benchmark stops).
 * scratch: at least n bytes. */
bool answer_read(const uint8_t *p, size_t n, uint8_t *scratch, struct answer *ret);

#endif
