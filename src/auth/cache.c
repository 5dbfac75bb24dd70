/* cache.c — what need not be worked out again: passwords that were right a moment ago (as keyed
 * digests, never the passwords), and rights. A digest includes the stored hash, so a changed
 * password does not match its old entry. Both tables have a fixed size. */
#include "auth/auth_int.h"

#include <assert.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

void auth_digest(const uint8_t key[AUTH_DIGEST], const struct str *parts, size_t n, struct auth_digest *ret)
{
	uint8_t inner[8 * (4 + AUTH_DIGEST)];
	unsigned len = AUTH_DIGEST;
	size_t at = 0;

	/* A digest of each part, then one of all: the parts may be long, and cannot run into
	 * each other. */
	memset(ret->bytes, 0, sizeof(ret->bytes));
	for (size_t i = 0; i < n && at + AUTH_DIGEST <= sizeof(inner); i++) {
		HMAC(EVP_sha256(), key, AUTH_DIGEST, (const uint8_t *)(parts[i].n > 0 ? parts[i].p : ""),
		     parts[i].n, inner + at, &len);
		at += AUTH_DIGEST;
	}
	HMAC(EVP_sha256(), key, AUTH_DIGEST, inner, at, ret->bytes, &len);
	explicit_bzero(inner, sizeof(inner));
}

static struct auth_verified *set_of(struct auth *a, const struct auth_digest *d)
{
	return a->verified + (d->bytes[0] % AUTH_CACHE_SETS) * AUTH_CACHE_WAYS;
}

static struct auth_verified *find(struct auth *a, const struct auth_digest *d)
{
	struct auth_verified *set = set_of(a, d);
	int64_t now = a->clock();

	for (unsigned i = 0; i < AUTH_CACHE_WAYS; i++) {
		struct auth_verified *v = &set[i];

		if (v->used != 0 && CRYPTO_memcmp(v->digest, d->bytes, AUTH_DIGEST) == 0) {
			if (now - v->since < AUTH_CACHE_MS)
				return v;
			*v = (struct auth_verified){ .used = 0 };
		}
	}
	return NULL;
}

bool auth_cache_find(struct auth *a, const struct auth_digest *d)
{
	assert(lock_is_mine(&a->lock));
	return find(a, d) != NULL;
}

/* Puts in, or uses again, an entry; the least recently used one of its set makes room. */
void auth_cache_put(struct auth *a, const struct auth_digest *d)
{
	struct auth_verified *v = find(a, d), *set = set_of(a, d);
	int64_t now = a->clock();

	assert(lock_is_mine(&a->lock));
	if (v == NULL) {
		v = &set[0];
		for (unsigned i = 1; i < AUTH_CACHE_WAYS; i++)
			if (set[i].used < v->used)
				v = &set[i];
		memcpy(v->digest, d->bytes, AUTH_DIGEST);
		v->since = now;
	}
	v->used = now + 1; /* 0 means free, also at the clock's beginning */
}

void auth_cache_clear(struct auth *a)
{
	explicit_bzero(a->verified, AUTH_CACHE_SETS * AUTH_CACHE_WAYS * sizeof(*a->verified));
}

struct auth_right *auth_rights_slot(struct auth *a, const char *login, const char *database)
{
	assert(lock_is_mine(&a->lock));
	return &a->rights[(str_hash_nocase(str_of(login)) * 31 + str_hash_nocase(str_of(database))) %
			  AUTH_RIGHTS_SLOTS];
}
