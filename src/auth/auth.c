/* auth.c — the gate. A login passes the throttle (cheap), is read from the store (cheap),
 * compared with what was right a moment ago (cheap), and only then hashed (dear, on purpose).
 * Whoever has no login, or a disabled one, costs the same time and is told the same. */
#include "auth/auth.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/rand.h>

#include "auth/auth_int.h"
#include "base/clock.h"

int auth_open(const struct auth_options *o, struct auth **ret, struct err *reterr)
{
	struct auth *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return err_nomem(reterr);
	a->clock = clock_mono_ms;
	a->fail_delay_ms = o->fail_delay_ms;
	a->generation = 1;
	a->principal_map = strdup(o->principal_map == NULL ? "" : o->principal_map);
	a->system = o->system;
	lock_init(&a->lock);
	a->verified = calloc((size_t)AUTH_CACHE_SETS * AUTH_CACHE_WAYS, sizeof(*a->verified));
	a->rights = calloc(AUTH_RIGHTS_SLOTS, sizeof(*a->rights));
	if (a->principal_map == NULL || a->verified == NULL || a->rights == NULL ||
	    auth_throttle_init(&a->throttle, o->fail_limit, o->fail_window_s) < 0 ||
	    auth_known_init(&a->logins) < 0 || auth_known_init(&a->peers) < 0) {
		err_nomem(reterr);
		goto fail;
	}
	if (o->shared_key != NULL) {
		memcpy(a->peer_key, o->shared_key, sizeof(a->peer_key));
		a->outbox = calloc(AUTH_OUTBOX, AUTH_EVENT_SIZE);
		if (a->outbox == NULL) {
			err_nomem(reterr);
			goto fail;
		}
	}
	if (RAND_bytes(a->key, sizeof(a->key)) != 1 ||
	    (o->shared_key == NULL && RAND_bytes(a->peer_key, sizeof(a->peer_key)) != 1)) {
		err_set(reterr, ERR_START, "No random bytes. Check the system's random number generator.");
		goto fail;
	}
	if (auth_hash_password((struct str){ (const char *)a->key, sizeof(a->key) }, a->dummy_hash, reterr) <
	    0)
		goto fail;
	*ret = a;
	return 0;
fail:
	auth_close(a);
	return -1;
}

void auth_close(struct auth *a)
{
	if (a == NULL)
		return;
	auth_throttle_fini(&a->throttle);
	auth_known_fini(&a->logins);
	auth_known_fini(&a->peers);
	if (a->verified != NULL)
		auth_cache_clear(a);
	free(a->verified);
	free(a->rights);
	free(a->principal_map);
	free(a->outbox);
	lock_fini(&a->lock);
	explicit_bzero(a->key, sizeof(a->key));
	free(a);
}

void auth_reload(struct auth *a)
{
	lock_take(&a->lock);
	auth_cache_clear(a);
	if (++a->generation == 0)
		a->generation = 1;
	lock_give(&a->lock);
}

void auth_set_clock(struct auth *a, auth_clock *clock)
{
	a->clock = clock;
}

unsigned auth_hashed(struct auth *a)
{
	unsigned n;

	lock_take(&a->lock);
	n = a->hashed;
	lock_give(&a->lock);
	return n;
}

const char *auth_result_text(enum auth_result r)
{
	switch (r) {
	case AUTH_OK: return "ok";
	case AUTH_NO_LOGIN: return "no such login";
	case AUTH_DISABLED: return "the login is disabled";
	case AUTH_WRONG_PASSWORD: return "wrong password";
	case AUTH_THROTTLED: return "too many failures, refused for a while";
	case AUTH_LATER: return "too many failures, waited for its turn in vain";
	case AUTH_ERROR: return "the login cannot be checked now";
	}
	return "unknown";
}

struct attempt {
	struct auth_keys keys;
	struct auth_digest password; /* in the cache of verified ones */
	bool local;                  /* from this machine */
};

static void peer_key(const struct auth *a, const char *peer, struct auth_digest *ret)
{
	char address[64];

	auth_throttle_peer(peer, address);
	auth_digest(a->peer_key, (const struct str[]){ STR("peer"), str_of(address) }, 2, ret);
}

static void login_key(const struct auth *a, struct str login, struct auth_digest *ret)
{
	char lower[129];

	str_copy(lower, sizeof(lower), login);
	for (char *p = lower; *p != '\0'; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	auth_digest(a->peer_key, (const struct str[]){ STR("login"), str_of(lower) }, 2, ret);
}

static struct str bytes_of(const struct auth_digest *d)
{
	return (struct str){ (const char *)d->bytes, sizeof(d->bytes) };
}

static void set_keys(const struct auth *a, struct attempt *at, struct str login, const char *peer)
{
	struct auth_keys *k = &at->keys;

	peer_key(a, peer, &k->peer);
	login_key(a, login, &k->login);
	auth_digest(a->peer_key, (const struct str[]){ STR("pair"), bytes_of(&k->login), bytes_of(&k->peer) },
		    3, &k->pair);
	at->local = auth_throttle_is_local(peer);
}

/* Hashes, whatever the outcome is to be: an attacker learns nothing from the time. */
static int verify(struct auth *a, struct str password, const char *hash)
{
	lock_take(&a->lock);
	a->hashed++;
	lock_give(&a->lock);
	return password.n <= AUTH_PASSWORD_MAX ? auth_verify_password(password, hash) : 0;
}

void auth_count_failure(struct auth *a, const struct auth_digest *peer, const struct auth_digest *login,
			const struct auth_digest *pair)
{
	int64_t now = a->clock();

	/* One program with a wrong password must not use up the patience with its whole address. */
	if (pair == NULL || auth_throttle_count(&a->throttle, pair, now) < a->throttle.limit)
		auth_throttle_add(&a->throttle, peer, now);
	if (login != NULL)
		auth_throttle_add(&a->throttle, login, now);
	if (pair != NULL)
		auth_throttle_add(&a->throttle, pair, now);
}

static enum auth_result failed(struct auth *a, const struct attempt *at, enum auth_result r)
{
	const struct auth_keys *k = &at->keys;

	lock_take(&a->lock);
	auth_count_failure(a, &k->peer, &k->login, &k->pair);
	auth_event_note(a, AUTH_EVENT_FAILURE, &k->peer, &k->login, &k->pair);
	lock_give(&a->lock);
	return r;
}

void auth_failed(struct auth *a, const char *peer)
{
	struct auth_digest key;

	peer_key(a, peer, &key);
	lock_take(&a->lock);
	auth_count_failure(a, &key, NULL, NULL);
	auth_event_note(a, AUTH_EVENT_PEER, &key, &key, &key);
	lock_give(&a->lock);
}

/* Did the address fail so often that no single login can be the reason? The lock is held. */
static bool peer_is_over(struct auth *a, const struct auth_digest *peer, int64_t now)
{
	return auth_throttle_count(&a->throttle, peer, now) >= (uint64_t)a->throttle.limit * AUTH_PEER_LOGINS;
}

enum auth_result auth_admit_peer(struct auth *a, const char *peer, bool *ret_turn)
{
	struct auth_digest key;
	int64_t now = a->clock();
	bool over;

	peer_key(a, peer, &key);
	lock_take(&a->lock);
	over = peer_is_over(a, &key, now);
	*ret_turn = over && auth_throttle_trickle(&a->throttle, &key, now);
	lock_give(&a->lock);
	return over && !*ret_turn ? AUTH_LATER : AUTH_OK;
}

/* The failures for the login stay: they may be somebody else's. */
bool auth_count_success(struct auth *a, const struct auth_keys *k)
{
	int64_t now = a->clock();
	bool had_failed = auth_throttle_count(&a->throttle, &k->peer, now) > 0 ||
			  auth_throttle_count(&a->throttle, &k->pair, now) > 0;

	assert(lock_is_mine(&a->lock));
	auth_throttle_forget(&a->throttle, &k->peer);
	auth_throttle_forget(&a->throttle, &k->pair);
	(void)auth_known_put(&a->peers, &k->peer, &k->peer, now);
	return auth_known_put(&a->logins, &k->login, &k->pair, now) || had_failed;
}

/* The lock is held. */
static void remember(struct auth *a, const struct attempt *at)
{
	const struct auth_keys *k = &at->keys;

	assert(lock_is_mine(&a->lock));
	if (auth_count_success(a, k))
		auth_event_note(a, AUTH_EVENT_SUCCESS, &k->peer, &k->login, &k->pair);
}

static enum auth_result succeeded(struct auth *a, const struct attempt *at, const struct auth_row *row,
				  struct auth_login *ret)
{
	lock_take(&a->lock);
	remember(a, at);
	auth_cache_put(a, &at->password);
	lock_give(&a->lock);
	*ret = row->login;
	return AUTH_OK;
}

void auth_succeeded(struct auth *a, const char *login, const char *peer)
{
	struct attempt at;

	set_keys(a, &at, str_of(login), peer);
	lock_take(&a->lock);
	remember(a, &at);
	lock_give(&a->lock);
}

bool auth_knows_peer(struct auth *a, const char *peer)
{
	struct auth_digest key;
	bool yes;

	peer_key(a, peer, &key);
	lock_take(&a->lock);
	yes = auth_known_find(&a->peers, &key, &key, a->clock());
	lock_give(&a->lock);
	return yes;
}

uint64_t auth_peer_number(const struct auth *a, const char *peer)
{
	struct auth_digest key;
	uint64_t number;

	peer_key(a, peer, &key);
	memcpy(&number, key.bytes, sizeof(number));
	return number;
}

/* May the password be looked at at all? The lock is held. docs/security.md has the reasons for
 * each line. */
static enum auth_result admit(struct auth *a, const struct attempt *at)
{
	struct auth_throttle *t = &a->throttle;
	int64_t now = a->clock();
	unsigned own = auth_throttle_count(t, &at->keys.pair, now);

	if (own >= t->limit)
		return auth_throttle_trickle(t, &at->keys.pair, now) ? AUTH_OK : AUTH_LATER;
	if (auth_known_find(&a->logins, &at->keys.login, &at->keys.pair, now))
		return AUTH_OK;
	if (peer_is_over(a, &at->keys.peer, now))
		return auth_throttle_trickle(t, &at->keys.peer, now) ? AUTH_OK : AUTH_LATER;
	if (at->local || auth_throttle_count(t, &at->keys.login, now) < t->limit)
		return AUTH_OK;
	if (own > 0)
		return AUTH_THROTTLED;
	return auth_throttle_trickle(t, &at->keys.login, now) ? AUTH_OK : AUTH_LATER;
}

/* What the cheap tables say: AUTH_OK with *ret_known, or with the need to hash; or why neither. */
static enum auth_result look(struct auth *a, const struct attempt *at, bool *ret_known)
{
	enum auth_result r;

	lock_take(&a->lock);
	r = admit(a, at);
	*ret_known = r == AUTH_OK && auth_cache_find(a, &at->password);
	lock_give(&a->lock);
	return r;
}

enum auth_result auth_check_password(struct auth *a, struct str login, struct str password, const char *peer,
				     struct auth_login *ret)
{
	struct auth_row row = { .disabled = false };
	enum auth_result r;
	struct attempt at;
	bool known;
	int found, right;

	found = login.n < sizeof(row.login.name) ? auth_store_login(a, login, &row) : 0;
	if (found < 0)
		return AUTH_ERROR;
	set_keys(a, &at, login, peer);
	auth_digest(
		a->key,
		(const struct str[]){ STR("password"), str_of(row.login.name), password, str_of(row.hash) },
		4, &at.password);
	r = look(a, &at, &known);
	if (r != AUTH_OK)
		return r;
	if (known && found && !row.disabled)
		return succeeded(a, &at, &row, ret);
	right = verify(a, password, found ? row.hash : a->dummy_hash);
	if (right < 0)
		return AUTH_ERROR;
	if (right == 0)
		return failed(a, &at, found ? AUTH_WRONG_PASSWORD : AUTH_NO_LOGIN);
	if (!found || row.disabled)
		return failed(a, &at, found ? AUTH_DISABLED : AUTH_NO_LOGIN);
	return succeeded(a, &at, &row, ret);
}

enum auth_result auth_look_up(struct auth *a, struct str login, struct auth_login *ret)
{
	struct auth_row row = { .disabled = false };
	int found = auth_store_login(a, login, &row);

	if (found <= 0)
		return found < 0 ? AUTH_ERROR : AUTH_NO_LOGIN;
	if (row.disabled)
		return AUTH_DISABLED;
	*ret = row.login;
	return AUTH_OK;
}

unsigned auth_penalty_ms(struct auth *a, const char *peer)
{
	struct auth_digest key;
	unsigned n, ms = a->fail_delay_ms;

	if (ms == 0)
		return 0;
	peer_key(a, peer, &key);
	lock_take(&a->lock);
	n = auth_throttle_count(&a->throttle, &key, a->clock());
	lock_give(&a->lock);
	for (; n > 1 && ms < AUTH_PENALTY_MAX_MS; n--)
		ms *= 2;
	return ms < AUTH_PENALTY_MAX_MS ? ms : AUTH_PENALTY_MAX_MS;
}

uint8_t auth_rights(struct auth *a, const char *login, const char *database)
{
	struct auth_right *slot;
	unsigned generation;
	uint8_t rights = 0;
	bool hit;

	if (strlen(login) >= sizeof(slot->login) || strlen(database) >= sizeof(slot->database))
		return 0;
	lock_take(&a->lock);
	generation = a->generation;
	slot = auth_rights_slot(a, login, database);
	hit = slot->generation == generation && str_eq_nocase(str_of(slot->login), str_of(login)) &&
	      str_eq_nocase(str_of(slot->database), str_of(database));
	if (hit)
		rights = slot->rights;
	lock_give(&a->lock);
	if (hit)
		return rights;
	if (auth_store_rights(a, login, database, &rights) < 0)
		return 0;
	/* Kept under the generation in which the reading began: a reload meanwhile makes it
	 * stale at once. */
	lock_take(&a->lock);
	str_copy(slot->login, sizeof(slot->login), str_of(login));
	str_copy(slot->database, sizeof(slot->database), str_of(database));
	slot->rights = rights;
	slot->generation = generation;
	lock_give(&a->lock);
	return rights;
}
