/* client.h — the client library of our own programs: connects to a server by TDS (FreeTDS db-lib
 * beneath), calls procedures by RPC, gives results as text. A client is used by one thread at a
 * time. Errors have the server's number, class, state and text, or say which host could not be
 * reached and why. */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include "base/err.h"

struct client;

struct client_options {
	const char *host; /* name or address */
	unsigned port;
	const char *login, *password;
	const char *database;    /* NULL: the login's own */
	const char *application; /* name shown to the server */
	/* "off", "request" (the login at least), "require" (everything); NULL: see
	 * client_default_encryption */
	const char *encryption;
	/* NULL: any certificate; else the server's must be signed by one of these and name the
	 * host */
	const char *ca_file;
	unsigned login_timeout_s; /* 0: 15 */
	unsigned call_timeout_s;  /* 0: none. Holds for all clients of the process */
};

MUST_CHECK int client_open(const struct client_options *o, struct client **ret, struct err *reterr);
void client_close(struct client *c); /* NULL is welcome */
/* Everything is encrypted on the way to another machine; on this machine the login is. */
const char *client_default_encryption(const char *host);

enum client_type { CLIENT_TEXT, CLIENT_INT, CLIENT_BIT, CLIENT_BIGINT, CLIENT_BINARY };
struct client_arg {
	const char *name; /* "@name"; NULL: by position */
	enum client_type type;
	/* CLIENT_TEXT: UTF-8; NULL or empty is SQL NULL (db-lib cannot tell them apart) */
	const char *text;
	/* CLIENT_INT (of 32 bits), CLIENT_BIT, CLIENT_BIGINT; CLIENT_BINARY: the length of text */
	int64_t number;
};
static inline struct client_arg client_text(const char *name, const char *text)
{
	return (struct client_arg){ name, CLIENT_TEXT, text, 0 };
}
static inline struct client_arg client_int(const char *name, int32_t n)
{
	return (struct client_arg){ name, CLIENT_INT, NULL, n };
}
static inline struct client_arg client_bit(const char *name, bool b)
{
	return (struct client_arg){ name, CLIENT_BIT, NULL, b };
}
static inline struct client_arg client_bigint(const char *name, int64_t n)
{
	return (struct client_arg){ name, CLIENT_BIGINT, NULL, n };
}
/* At least one byte: db-lib cannot say an empty value. */
static inline struct client_arg client_binary(const char *name, const void *data, uint32_t n)
{
	return (struct client_arg){ name, CLIENT_BINARY, data, n };
}

/* A result set as text. cells[row * ncols + column]; NULL is SQL NULL. Times are ISO 8601,
 * binary is 0x…, GUIDs as SQL Server writes them. */
struct client_table {
	size_t ncols, nrows;
	char **names;
	bool *numeric; /* per column: a number, for right alignment and JSON */
	char **cells;
	size_t capacity; /* of cells */
};

/* All that an answer holds; owned by the caller, see client_result_fini. */
struct client_result {
	struct client_table *tables;
	size_t ntables;
	struct err *messages; /* informational ones, in order */
	size_t nmessages;
	bool has_status;
	int32_t status;
};

/* Runs a procedure. -1: the first error of the answer is in *reterr; *ret holds what came before
 * it either way and must be freed. */
MUST_CHECK int client_call(struct client *c, const char *proc, const struct client_arg *args, size_t nargs,
			   struct client_result *ret, struct err *reterr);
/* Sends a batch of T-SQL text, such as BEGIN TRANSACTION; the same contract. Texts with values
 * in them are no business of a batch: see client_call. */
MUST_CHECK int client_batch(struct client *c, const char *text, struct client_result *ret,
			    struct err *reterr);
/* The same for a batch that waits for something: 1 when it was cancelled, because `stir` (an
 * eventfd) could be read, before its answer began. limit_ms: when the server has been silent for so
 * long it is taken for lost. */
MUST_CHECK int client_batch_unless(struct client *c, const char *text, int stir, int limit_ms,
				   struct client_result *ret, struct err *reterr);
/* Whether an error of these functions is one of the client library, after which the connection is
 * of no use; the others are the server's answers. */
bool client_is_lost(const struct err *e);
void client_result_fini(struct client_result *r);
/* Column of that name (any case) in a table, or -1. */
int client_column(const struct client_table *t, const char *name);

#endif
