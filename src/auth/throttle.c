/* throttle.c — who failed how often of late. Keys are digests, so an entry is small whatever the
 * name was; the table is bounded and forgets the oldest. The count is that of a sliding window,
 * from two adjoining fixed ones: the older one weighs as much of itself as still overlaps. */
#include "auth/auth_int.h"

#include <assert.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int auth_throttle_init(struct auth_throttle *t, unsigned limit, unsigned window_s)
{
	list_init(&t->by_age);
	t->limit = limit > 0 ? limit : 1;
	t->window_ms = (int64_t)(window_s > 0 ? window_s : 1) * 1000;
	t->buckets = calloc(AUTH_THROTTLE_BUCKETS, sizeof(*t->buckets));
	return t->buckets == NULL ? -1 : 0;
}

static struct auth_failures **bucket(struct auth_throttle *t, const uint8_t *key)
{
	return &t->buckets[(key[0] | (unsigned)key[1] << 8) % AUTH_THROTTLE_BUCKETS].first;
}

/* Where the entry hangs, or where it would. */
static struct auth_failures **find(struct auth_throttle *t, const uint8_t *key)
{
	struct auth_failures **p = bucket(t, key);

	while (*p != NULL && memcmp((*p)->key, key, sizeof((*p)->key)) != 0)
		p = &(*p)->next;
	return p;
}

static void drop(struct auth_throttle *t, struct auth_failures **p)
{
	struct auth_failures *f = *p;

	*p = f->next;
	list_remove(&f->by_age);
	free(f);
	t->count--;
}

void auth_throttle_fini(struct auth_throttle *t)
{
	if (t->buckets == NULL)
		return;
	for (unsigned i = 0; i < AUTH_THROTTLE_BUCKETS; i++) {
		struct auth_failures *f = t->buckets[i].first;

		while (f != NULL) {
			struct auth_failures *next = f->next;

			free(f);
			f = next;
		}
	}
	free(t->buckets);
	t->buckets = NULL;
	t->count = 0;
}

/* Moves the entry's windows to the time now. */
static void advance(const struct auth_throttle *t, struct auth_failures *f, int64_t now)
{
	int64_t gone = (now - f->window) / t->window_ms;

	assert(t->window_ms > 0);
	if (gone <= 0)
		return;
	f->before = gone == 1 ? f->now : 0;
	f->now = 0;
	f->window += gone * t->window_ms;
}

unsigned auth_throttle_count(struct auth_throttle *t, const struct auth_digest *key, int64_t now)
{
	struct auth_failures *f = *find(t, key->bytes);
	int64_t left;

	if (f == NULL)
		return 0;
	advance(t, f, now);
	left = t->window_ms - (now - f->window);
	assert(left > 0);
	/* Rounded up: a failure is forgotten only when all of its window is gone. */
	return f->now + (unsigned)(((int64_t)f->before * left + t->window_ms - 1) / t->window_ms);
}

void auth_throttle_add(struct auth_throttle *t, const struct auth_digest *key, int64_t now)
{
	struct auth_failures **p = find(t, key->bytes), *f = *p;

	if (f == NULL) {
		if (t->count >= AUTH_THROTTLE_MAX)
			drop(t, find(t, CONTAINER_OF(t->by_age.next, struct auth_failures, by_age)->key));
		f = calloc(1, sizeof(*f));
		if (f == NULL)
			return;
		memcpy(f->key, key->bytes, sizeof(f->key));
		f->window = now;
		list_init(&f->by_age);
		p = bucket(t, f->key);
		f->next = *p;
		*p = f;
		t->count++;
		assert(t->count <= AUTH_THROTTLE_MAX);
	}
	advance(t, f, now);
	if (f->now < UINT16_MAX)
		f->now++;
	list_remove(&f->by_age);
	list_append(&t->by_age, &f->by_age);
}

bool auth_throttle_trickle(struct auth_throttle *t, const struct auth_digest *key, int64_t now)
{
	struct auth_failures *f = *find(t, key->bytes);

	if (f == NULL || now < f->trickle)
		return false;
	f->trickle = now + AUTH_TRICKLE_MS;
	return true;
}

void auth_throttle_forget(struct auth_throttle *t, const struct auth_digest *key)
{
	struct auth_failures **p = find(t, key->bytes);

	if (*p != NULL)
		drop(t, p);
}

bool auth_throttle_is_local(const char *peer)
{
	return strcmp(peer, "127.0.0.1") == 0 || strcmp(peer, "::1") == 0 || strcmp(peer, "[::1]") == 0;
}

void auth_throttle_peer(const char *peer, char dst[64])
{
	size_t n = strlen(peer);
	struct in6_addr a;

	if (n >= 2 && peer[0] == '[' && peer[n - 1] == ']')
		str_copy(dst, 64, (struct str){ peer + 1, n - 2 });
	else
		str_copy(dst, 64, str_of(peer));
	if (inet_pton(AF_INET6, dst, &a) != 1)
		return;
	memset(&a.s6_addr[8], 0, 8);
	inet_ntop(AF_INET6, &a, dst, 64);
}
