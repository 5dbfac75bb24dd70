/* auth_int.h — what the files of this folder know about each other.
 *
 * auth.c: the gate (throttle, login, remembered password, hash, in this order). throttle.c: who
 * failed how often of late. password.c: argon2id. logins.c: logins and rights, asked of the
 * system database. cache.c: passwords that were right, rights that were looked up. known.c: who
 * was let in of late. share.c: what several servers tell each other of that. */
#ifndef AUTH_AUTH_INT_H
#define AUTH_AUTH_INT_H

#include <pthread.h>

#include "auth/auth.h"
#include "base/list.h"
#include "base/lock.h"

#define AUTH_DIGEST 32
/* of an administrator */
#define AUTH_ALL_RIGHTS (RIGHT_EXECUTE | RIGHT_SELECT | RIGHT_ADMIN | RIGHT_MONITOR)
#define AUTH_CACHE_SETS 256u
#define AUTH_CACHE_WAYS 4u
#define AUTH_CACHE_MS (10 * 60 * 1000) /* then the password is hashed again */
#define AUTH_RIGHTS_SLOTS 256u
#define AUTH_THROTTLE_MAX 16384u /* addresses, logins, and logins from an address remembered */
#define AUTH_THROTTLE_BUCKETS 8192u
#define AUTH_TRICKLE_MS 1000 /* who has failed too often is tried so often */
/* With so many logins over the limit, the address itself is slowed down. */
#define AUTH_PEER_LOGINS 4
#define AUTH_KNOWN_SETS 128u
#define AUTH_KNOWN_WAYS 64u /* addresses remembered for a login */
#define AUTH_KNOWN_MS (24 * 60 * 60 * 1000)
#define AUTH_KNOWN_TELL_MS (60 * 60 * 1000) /* so often other servers hear of it */
#define AUTH_PENALTY_MAX_MS 2000u
#define AUTH_PASSWORD_MAX 4096u

struct auth_digest {
	uint8_t bytes[AUTH_DIGEST];
};

typedef int64_t auth_clock(void); /* milliseconds, never going back */

struct auth_verified {
	uint8_t digest[AUTH_DIGEST]; /* of login, password and stored hash, keyed */
	int64_t since, used;         /* 0: free */
};

struct auth_seen {
	uint8_t key[16];
	int64_t until; /* ms; 0: free */
	int64_t told;  /* when other servers heard of it, ms */
};

struct auth_known {
	struct auth_seen *seen; /* AUTH_KNOWN_SETS * AUTH_KNOWN_WAYS; owned */
};

struct auth_right {
	char login[129], database[129];
	uint8_t rights;
	unsigned generation; /* 0: free */
};

/* Failures of one address or login, in two adjoining windows: the older one counts less the
 * further it is gone. */
struct auth_failures {
	struct list by_age;         /* oldest first */
	struct auth_failures *next; /* in its bucket */
	uint8_t key[16];
	int64_t window; /* start of the present one, ms */
	unsigned now, before;
	int64_t trickle; /* of a login under attack: when the next stranger is tried, ms */
};

struct auth_bucket {
	struct auth_failures *first; /* owned, with those behind it */
};

struct auth_throttle {
	struct auth_bucket *buckets; /* owned */
	struct list by_age;
	unsigned count;
	unsigned limit; /* failures */
	int64_t window_ms;
};

struct auth_row { /* a login as stored */
	struct auth_login login;
	char hash[256];
	bool disabled;
};

struct auth {
	auth_clock *clock;
	unsigned fail_delay_ms;
	uint8_t key[AUTH_DIGEST]; /* of this process: digests are worth nothing elsewhere */
	/* of addresses and logins: the same, or that of all servers of an installation */
	uint8_t peer_key[AUTH_DIGEST];
	char dummy_hash[256]; /* verified for logins that do not exist, to take the same time */

	char *principal_map; /* owned */

	struct engine_database *system; /* borrowed: where logins are asked for */

	struct lock lock; /* guards the rest; never held while hashing or asking */
	struct auth_throttle throttle;
	struct auth_known logins;       /* let in from an address */
	struct auth_known peers;        /* addresses from which anybody was let in */
	struct auth_verified *verified; /* AUTH_CACHE_SETS * AUTH_CACHE_WAYS; owned */
	struct auth_right *rights;      /* AUTH_RIGHTS_SLOTS; owned */
	unsigned generation;            /* of rights; never 0 */
	unsigned hashed;                /* passwords hashed so far, for tests */
	uint8_t *outbox;                /* AUTH_OUTBOX events for other servers; owned; NULL: none */
	size_t outbox_n;                /* events in it */
};

/* What is counted of an attempt: its keys in the tables. */
struct auth_keys {
	struct auth_digest peer, login; /* in the throttle */
	struct auth_digest pair;        /* this login from this address */
};

void auth_set_clock(struct auth *a, auth_clock *clock);
unsigned auth_hashed(struct auth *a);

/* logins.c */
/* 1: found, 0: there is none, -1: it cannot be asked (logged). */
int auth_store_login(struct auth *a, struct str name, struct auth_row *ret);
/* Those of a login that exists and is not disabled; 0: none, also when there is no such login. */
int auth_store_rights(struct auth *a, const char *login, const char *database, uint8_t *ret);

/* cache.c; the lock is held, except for the digests */
/* Digest of the parts under a key; their borders count. */
void auth_digest(const uint8_t key[AUTH_DIGEST], const struct str *parts, size_t n, struct auth_digest *ret);
bool auth_cache_find(struct auth *a, const struct auth_digest *d);
void auth_cache_put(struct auth *a, const struct auth_digest *d);
void auth_cache_clear(struct auth *a);
struct auth_right *auth_rights_slot(struct auth *a, const char *login, const char *database);

/* throttle.c; the lock is held */
MUST_CHECK int auth_throttle_init(struct auth_throttle *t, unsigned limit, unsigned window_s);
void auth_throttle_fini(struct auth_throttle *t);
unsigned auth_throttle_count(struct auth_throttle *t, const struct auth_digest *key, int64_t now);
void auth_throttle_add(struct auth_throttle *t, const struct auth_digest *key, int64_t now);
void auth_throttle_forget(struct auth_throttle *t, const struct auth_digest *key);
/* True once in AUTH_TRICKLE_MS, for a key that has failures. */
bool auth_throttle_trickle(struct auth_throttle *t, const struct auth_digest *key, int64_t now);
/* The part of an address that one client cannot change at will: all of IPv4, the network half of
 * IPv6. */
void auth_throttle_peer(const char *peer, char dst[64]);

/* 127.0.0.1 and ::1: this machine. The rest of 127/8 counts like any address: forwarders bind to
 * one of them. */
bool auth_throttle_is_local(const char *peer);

/* known.c; the lock is held. set chooses where it is looked for: what may push each other out. */
MUST_CHECK int auth_known_init(struct auth_known *k);
void auth_known_fini(struct auth_known *k);
bool auth_known_find(struct auth_known *k, const struct auth_digest *set, const struct auth_digest *key,
		     int64_t now);
/* True: other servers have not heard of it for a while. */
bool auth_known_put(struct auth_known *k, const struct auth_digest *set, const struct auth_digest *key,
		    int64_t now);

/* auth.c; the lock is held. A failure, or a success, here or on another server, is counted. login
 * and pair of a failure may be NULL: nobody knows whose it was. True: it is news to others. */
void auth_count_failure(struct auth *a, const struct auth_digest *peer, const struct auth_digest *login,
			const struct auth_digest *pair);
bool auth_count_success(struct auth *a, const struct auth_keys *k);

/* share.c; the lock is held. Kept for the other servers, if there are any and there is room. */
enum auth_event { AUTH_EVENT_FAILURE = 'F', AUTH_EVENT_PEER = 'P', AUTH_EVENT_SUCCESS = 'S' };
#define AUTH_EVENT_SIZE (1 + 3 * 16) /* its kind, the beginnings of the keys of peer, login, pair */
#define AUTH_OUTBOX 1024u
void auth_event_note(struct auth *a, enum auth_event kind, const struct auth_digest *peer,
		     const struct auth_digest *login, const struct auth_digest *pair);

#endif
