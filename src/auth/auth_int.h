/* auth_int.h — what the files of this folder know about each other.
 *
 * auth.c      the gate: throttle, login, remembered password, hash — in this order     throttle.c  who failed how often of late
 * password.c  argon2id                                                                logins.c    the tables login and permission
 * cache.c     passwords that were right, rights that were looked up */
#ifndef AUTH_AUTH_INT_H
#define AUTH_AUTH_INT_H

#include <pthread.h>

#include "auth/auth.h"
#include "base/list.h"

struct sqlite3;
struct sqlite3_stmt;

#define AUTH_DIGEST 32
#define AUTH_ALL_RIGHTS 7u              /* every bit of enum call_right */
#define AUTH_CACHE_SETS 256u
#define AUTH_CACHE_WAYS 4u
#define AUTH_CACHE_MS (10 * 60 * 1000)  /* then the password is hashed again */
#define AUTH_RIGHTS_SLOTS 256u
#define AUTH_THROTTLE_MAX 8192u         /* addresses and logins remembered */
#define AUTH_THROTTLE_BUCKETS 4096u
#define AUTH_PENALTY_MAX_MS 2000u
#define AUTH_PASSWORD_MAX 4096u

typedef int64_t auth_clock(void);       /* milliseconds, never going back */

struct auth_verified {
	uint8_t digest[AUTH_DIGEST];    /* of login, password and stored hash, keyed */
	uint8_t peer[AUTH_DIGEST];      /* digest of the address it last came from */
	int64_t since, used;            /* 0: free */
};

struct auth_right {
	char login[129], database[129];
	uint8_t rights;
	unsigned generation;            /* 0: free */
};

/* Failures of one address or login, in two adjoining windows: the older one counts less the further it is gone. */
struct auth_failures {
	struct list by_age;             /* oldest first */
	struct auth_failures *next;     /* in its bucket */
	uint8_t key[16];
	int64_t window;                 /* start of the present one, ms */
	unsigned now, before;
};

struct auth_bucket {
	struct auth_failures *first;    /* owned, with those behind it */
};

struct auth_throttle {
	struct auth_bucket *buckets;    /* owned */
	struct list by_age;
	unsigned count;
	unsigned limit;                 /* failures */
	int64_t window_ms;
};

struct auth_row {                       /* a login as stored */
	struct auth_login login;
	char hash[256];
	bool disabled;
};

struct auth {
	auth_clock *clock;
	unsigned fail_delay_ms;
	uint8_t key[AUTH_DIGEST];       /* of this process: digests are worth nothing elsewhere */
	char dummy_hash[256];           /* verified for logins that do not exist, to take the same time */

	char *principal_map;            /* owned */

	pthread_mutex_t db_lock;        /* guards the connection and its statements */
	struct sqlite3 *db;
	struct sqlite3_stmt *find_login, *find_rights, *identify;

	pthread_mutex_t lock;           /* guards the rest; never held while hashing or reading the store */
	struct auth_throttle throttle;
	struct auth_verified *verified; /* AUTH_CACHE_SETS * AUTH_CACHE_WAYS; owned */
	struct auth_right *rights;      /* AUTH_RIGHTS_SLOTS; owned */
	unsigned generation;            /* of rights; never 0 */
	unsigned hashed;                /* passwords hashed so far, for tests */
};

void auth_set_clock(struct auth *a, auth_clock *clock);
unsigned auth_hashed(struct auth *a);

/* logins.c */
MUST_CHECK int auth_store_open(struct auth *a, const char *file, struct err *reterr);
void auth_store_close(struct auth *a);
/* 1: found, 0: there is none, -1: store trouble (logged). */
int auth_store_login(struct auth *a, struct str name, struct auth_row *ret);
int auth_store_rights(struct auth *a, const char *login, const char *database, uint8_t *ret);

/* cache.c; the lock is held, except for the digests */
struct auth_digest { uint8_t bytes[AUTH_DIGEST]; };
/* Keyed digest of the parts; their borders count. */
void auth_digest(const struct auth *a, const struct str *parts, size_t n, struct auth_digest *ret);
/* from_here tells whether it was right from this peer before. */
bool auth_cache_find(struct auth *a, const struct auth_digest *d, const struct auth_digest *peer, bool *ret_from_here);
void auth_cache_put(struct auth *a, const struct auth_digest *d, const struct auth_digest *peer);
void auth_cache_clear(struct auth *a);
struct auth_right *auth_rights_slot(struct auth *a, const char *login, const char *database);

/* throttle.c; the lock is held */
MUST_CHECK int auth_throttle_init(struct auth_throttle *t, unsigned limit, unsigned window_s);
void auth_throttle_fini(struct auth_throttle *t);
unsigned auth_throttle_count(struct auth_throttle *t, const struct auth_digest *key, int64_t now);
void auth_throttle_add(struct auth_throttle *t, const struct auth_digest *key, int64_t now);
void auth_throttle_forget(struct auth_throttle *t, const struct auth_digest *key);
/* The part of an address that one client cannot change at will: all of IPv4, the network half of IPv6. */
void auth_throttle_peer(const char *peer, char dst[64]);

#endif
