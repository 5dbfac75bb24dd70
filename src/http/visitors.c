/* visitors.c — see visitors.h. One lock; what asks the store does so without it. */
#include "http/visitors.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "base/clock.h"
#include "base/lock.h"

struct visitor {
	struct http_who who;
	struct registry_entry entry;
	atomic_bool killed;
	int64_t since_ms, used_ms;
};

struct http_visitors {
	struct server *server;
	struct lock lock;
	struct visitor *all[VISITORS_MOST]; /* under the lock; NULL: free */
};

static int random_text(char dst[VISITOR_TOKEN])
{
	uint8_t bytes[(VISITOR_TOKEN - 1) / 2];

	if (RAND_bytes(bytes, sizeof(bytes)) != 1)
		return -1;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		dst[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		dst[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	dst[VISITOR_TOKEN - 1] = '\0';
	return 0;
}

static void on_kill(struct registry_entry *e)
{
	atomic_store(&CONTAINER_OF(e, struct visitor, entry)->killed, true);
}

struct http_visitors *http_visitors_new(struct server *srv)
{
	struct http_visitors *v = calloc(1, sizeof(*v));

	if (v == NULL)
		return NULL;
	v->server = srv;
	lock_init(&v->lock);
	return v;
}

/* Under the lock. */
static void drop(struct http_visitors *v, size_t i)
{
	(void)session_registry_remove(&v->server->registry, &v->all[i]->entry);
	explicit_bzero(&v->all[i]->who, sizeof(v->all[i]->who));
	free(v->all[i]);
	v->all[i] = NULL;
}

void http_visitors_free(struct http_visitors *v)
{
	if (v == NULL)
		return;
	for (size_t i = 0; i < VISITORS_MOST; i++) {
		if (v->all[i] != NULL)
			drop(v, i);
	}
	lock_fini(&v->lock);
	free(v);
}

static bool is_over(const struct visitor *x, int64_t now)
{
	return atomic_load(&x->killed) || now - x->used_ms > VISITOR_IDLE_MS ||
	       now - x->since_ms > VISITOR_AGE_MS;
}

/* Under the lock. Those whose time is over go; then a free place, if need be of the one of this
 * login, or of all, that was idle longest. */
static size_t make_place(struct http_visitors *v, const char *login)
{
	size_t free_place = VISITORS_MOST, oldest = 0, oldest_own = VISITORS_MOST, own = 0;
	int64_t now = clock_mono_ms();

	assert(lock_is_mine(&v->lock));
	for (size_t i = 0; i < VISITORS_MOST; i++) {
		if (v->all[i] != NULL && is_over(v->all[i], now))
			drop(v, i);
		if (v->all[i] == NULL) {
			free_place = i;
			continue;
		}
		if (v->all[oldest] == NULL || v->all[i]->used_ms < v->all[oldest]->used_ms)
			oldest = i;
		if (!str_eq_nocase(str_of(v->all[i]->who.login), str_of(login)))
			continue;
		own++;
		if (oldest_own == VISITORS_MOST || v->all[i]->used_ms < v->all[oldest_own]->used_ms)
			oldest_own = i;
	}
	if (own < VISITORS_A_LOGIN && free_place < VISITORS_MOST)
		return free_place;
	if (own >= VISITORS_A_LOGIN)
		oldest = oldest_own;
	drop(v, oldest);
	return oldest;
}

static struct visitor *visitor_new(struct http_visitors *v, const struct auth_login *login,
				   const char *address, bool encrypted)
{
	struct visitor *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return NULL;
	str_copy(x->who.login, sizeof(x->who.login), str_of(login->name));
	str_copy(x->who.address, sizeof(x->who.address), str_of(address));
	x->who.admin = login->admin;
	x->since_ms = x->used_ms = clock_mono_ms();
	x->entry.kill = on_kill;
	x->entry.login = x->who.login;
	x->entry.address = x->who.address;
	x->entry.program = "dashboard";
	x->entry.host = "";
	x->entry.scheme = "SQL";
	x->entry.database = "master";
	x->entry.encrypted = encrypted;
	if (random_text(x->who.token) < 0 || random_text(x->who.proof) < 0 ||
	    !session_registry_add(&v->server->registry, &x->entry)) {
		free(x);
		return NULL;
	}
	x->who.spid = x->entry.spid;
	session_registry_show(&v->server->registry, &x->entry);
	return x;
}

int http_visitors_enter(struct http_visitors *v, const struct auth_login *login, const char *address,
			bool encrypted, struct http_who *ret)
{
	struct visitor *x = visitor_new(v, login, address, encrypted);

	if (x == NULL)
		return -1;
	*ret = x->who;
	lock_take(&v->lock);
	v->all[make_place(v, login->name)] = x;
	lock_give(&v->lock);
	return 0;
}

/* Under the lock; VISITORS_MOST: nobody. Compared in constant time. */
static size_t place_of(const struct http_visitors *v, const char *token)
{
	assert(lock_is_mine(&v->lock));
	if (strlen(token) != VISITOR_TOKEN - 1)
		return VISITORS_MOST;
	for (size_t i = 0; i < VISITORS_MOST; i++) {
		if (v->all[i] != NULL && CRYPTO_memcmp(v->all[i]->who.token, token, VISITOR_TOKEN - 1) == 0)
			return i;
	}
	return VISITORS_MOST;
}

bool http_visitors_find(struct http_visitors *v, const char *token, struct http_who *ret)
{
	int64_t now = clock_mono_ms();
	struct auth_login login;
	bool found = false;
	size_t i;

	lock_take(&v->lock);
	i = place_of(v, token);
	if (i < VISITORS_MOST && is_over(v->all[i], now)) {
		drop(v, i);
	} else if (i < VISITORS_MOST) {
		found = true;
		v->all[i]->used_ms = now;
		*ret = v->all[i]->who;
	}
	lock_give(&v->lock);
	if (!found)
		return false;
	if (auth_look_up(v->server->auth, str_of(ret->login), &login) != AUTH_OK) {
		http_visitors_leave(v, token);
		return false;
	}
	ret->admin = login.admin;
	return true;
}

void http_visitors_leave(struct http_visitors *v, const char *token)
{
	size_t i;

	lock_take(&v->lock);
	i = place_of(v, token);
	if (i < VISITORS_MOST)
		drop(v, i);
	lock_give(&v->lock);
}
