/* auth.h — who is it, and may they. Logins live in the system database; this module asks for
 * them by procedures that only the server itself may call. What it is told, it keeps for a
 * while. */
#ifndef AUTH_AUTH_H
#define AUTH_AUTH_H

#include "base/err.h"
#include "base/str.h"

struct auth;
struct engine_database;

struct auth_options {
	struct engine_database *system; /* borrowed: outlives it */
	unsigned fail_delay_ms;         /* first delay of the throttle */
	/* failures per address and per login; then further ones are looked at once a second */
	unsigned fail_limit;
	unsigned fail_window_s;
	const char *principal_map; /* "PATTERN=LOGIN; …": shell patterns over "REALM\\name" */
	/* 32 bytes that all servers of an installation have, whose failed logins count together.
	 * NULL: this server counts for itself */
	const uint8_t *shared_key;
};
MUST_CHECK int auth_open(const struct auth_options *o, struct auth **ret, struct err *reterr);
void auth_close(struct auth *a);
/* Forgets cached logins: after SIGHUP, and after an administration procedure. Thread-safe. */
void auth_reload(struct auth *a);

enum auth_result {
	AUTH_OK = 0,
	AUTH_NO_LOGIN, /* log: no such login */
	AUTH_DISABLED,
	AUTH_WRONG_PASSWORD,
	AUTH_THROTTLED, /* too many failures */
	/* too many failures, of this client or of others with this login: one attempt a second.
	 * Nothing was looked at; ask again after AUTH_LATER_MS */
	AUTH_LATER,
	AUTH_ERROR, /* trouble with the store or memory: no verdict, and never counted as a failure */
};
#define AUTH_LATER_MS 500u
const char *auth_result_text(enum auth_result r); /* for the log, never for the client */

struct auth_login {
	char name[129]; /* as stored */
	char default_database[129];
	bool admin;
};
/* A login as SUSER_ID and its kin show it. */
struct auth_identity {
	char name[129];
	int32_t id;
	uint8_t sid[16];
	size_t sid_len; /* 1 for sa, 16 for the others */
	bool admin;
};
/* Which login is asked for: by name, by number or by security identifier; what is not asked for
 * is empty. */
struct auth_question {
	struct str name, sid;
	int64_t id;
};
/* 1: found, 0: there is none, -1: store trouble (logged). Reads the store, as quickly as
 * auth_rights does the first time. */
int auth_identify(struct auth *a, const struct auth_question *q, struct auth_identity *ret);
/* Blocks (memory-hard hash): on a work thread only. peer is the address without port. A password
 * that was right a moment ago is recognised by a keyed digest in memory, without hashing again. */
enum auth_result auth_check_password(struct auth *a, struct str login, struct str password, const char *peer,
				     struct auth_login *ret);
/* The login as it is now, without a password: for who has shown one before. AUTH_OK, AUTH_NO_LOGIN,
 * AUTH_DISABLED or AUTH_ERROR. Reads the store. */
enum auth_result auth_look_up(struct auth *a, struct str login, struct auth_login *ret);
/* A failure that another module found (a refused token): counts for the throttle. */
void auth_failed(struct auth *a, const char *peer);
/* A success that another module found (a token that was taken). */
void auth_succeeded(struct auth *a, const char *login, const char *peer);
/* Somebody was let in from there of late. */
bool auth_knows_peer(struct auth *a, const char *peer);
/* A number for the address (IPv6: its network) that clients cannot foresee. */
uint64_t auth_peer_number(const struct auth *a, const char *peer);
/* May a token from there be looked at? Who it is is not known yet: only the address counts.
 * AUTH_OK, or AUTH_LATER; *ret_turn: there were too many failures, and this is the turn of this
 * second. */
enum auth_result auth_admit_peer(struct auth *a, const char *peer, bool *ret_turn);
/* The login of a principal that a mechanism has proved ("REALM\\name"): its own (added with
 * --windows), else the first rule of principal_map whose pattern fits. Blocks for the store.
 * AUTH_NO_LOGIN: nobody knows it. */
enum auth_result auth_find_principal(struct auth *a, const char *principal, struct auth_login *ret);
/* How long the answer to a failed login is held back, in ms. */
unsigned auth_penalty_ms(struct auth *a, const char *peer);
/* Rights (enum call_right) of a login in a database; 0: none. Quick: cached. Admins have all. */
uint8_t auth_rights(struct auth *a, const char *login, const char *database);

/* What has happened here since the last time that other servers should count too, as bytes for them
 * and nobody else; at most size. Addresses and names are digests. And what another one has said:
 * from anybody, whatever it is. Thread-safe. */
size_t auth_take_events(struct auth *a, uint8_t *dst, size_t size);
void auth_give_events(struct auth *a, const uint8_t *bytes, size_t n);

/* PHC string of a new password (argon2id). dst has 256 bytes. */
MUST_CHECK int auth_hash_password(struct str password, char dst[256], struct err *reterr);
/* 1: it is the password, 0: it is not, -1: that cannot be found out now (logged). */
int auth_verify_password(struct str password, const char *hash);

#endif
