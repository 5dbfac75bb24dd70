/* known.c — who was let in of late: addresses, and logins from an address. Only a success writes
 * here, so that strangers cannot push anybody out, and each set is chosen by what is known (the
 * login, the address): whoever has one login can fill the places of that one only. Keys are
 * digests; the size is fixed. */
#include "auth/auth_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int auth_known_init(struct auth_known *k)
{
	k->seen = calloc((size_t)AUTH_KNOWN_SETS * AUTH_KNOWN_WAYS, sizeof(*k->seen));
	return k->seen == NULL ? -1 : 0;
}

void auth_known_fini(struct auth_known *k)
{
	free(k->seen);
	k->seen = NULL;
}

static struct auth_seen *set_of(struct auth_known *k, const struct auth_digest *set)
{
	return k->seen + (size_t)(set->bytes[0] % AUTH_KNOWN_SETS) * AUTH_KNOWN_WAYS;
}

static struct auth_seen *find(struct auth_known *k, const struct auth_digest *set,
			      const struct auth_digest *key)
{
	struct auth_seen *s = set_of(k, set);

	for (unsigned i = 0; i < AUTH_KNOWN_WAYS; i++)
		if (s[i].until != 0 && memcmp(s[i].key, key->bytes, sizeof(s[i].key)) == 0)
			return &s[i];
	return NULL;
}

bool auth_known_find(struct auth_known *k, const struct auth_digest *set, const struct auth_digest *key,
		     int64_t now)
{
	const struct auth_seen *s = find(k, set, key);

	return s != NULL && now < s->until;
}

bool auth_known_put(struct auth_known *k, const struct auth_digest *set, const struct auth_digest *key,
		    int64_t now)
{
	struct auth_seen *s = find(k, set, key), *first = set_of(k, set);
	bool news = s == NULL || now >= s->until || now - s->told >= AUTH_KNOWN_TELL_MS;

	if (s == NULL) {
		s = first;
		for (unsigned i = 1; i < AUTH_KNOWN_WAYS; i++)
			/* free, or least recently used: all live equally long */
			if (first[i].until < s->until)
				s = &first[i];
		memcpy(s->key, key->bytes, sizeof(s->key));
	}
	assert(s >= first && s < first + AUTH_KNOWN_WAYS);
	s->until = now + AUTH_KNOWN_MS;
	if (news)
		s->told = now;
	return news;
}
