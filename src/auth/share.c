/* share.c — what the servers of one installation tell each other of logins, so that a limit of
 * failures is one for all of them, and who was let in by one is known to all. An event has the
 * digests of address, login and both, under a key that the servers share; no password, in no form.
 * What finds no room is not told: each server has counted it for itself. */
#include <string.h>

#include "auth/auth_int.h"

#define PART 16 /* of a digest: as much as the tables keep */

void auth_event_note(struct auth *a, enum auth_event kind, const struct auth_digest *peer,
		     const struct auth_digest *login, const struct auth_digest *pair)
{
	uint8_t *e = a->outbox == NULL ? NULL : a->outbox + a->outbox_n * AUTH_EVENT_SIZE;

	if (e == NULL || a->outbox_n == AUTH_OUTBOX)
		return;
	e[0] = (uint8_t)kind;
	memcpy(e + 1, peer->bytes, PART);
	memcpy(e + 1 + PART, login->bytes, PART);
	memcpy(e + 1 + 2 * PART, pair->bytes, PART);
	a->outbox_n++;
}

size_t auth_take_events(struct auth *a, uint8_t *dst, size_t size)
{
	size_t n;

	lock_take(&a->lock);
	n = a->outbox_n < size / AUTH_EVENT_SIZE ? a->outbox_n : size / AUTH_EVENT_SIZE;
	if (n > 0)
		memcpy(dst, a->outbox, n * AUTH_EVENT_SIZE);
	a->outbox_n = 0;
	lock_give(&a->lock);
	return n * AUTH_EVENT_SIZE;
}

/* The lock is held. */
static void take(struct auth *a, const uint8_t *e)
{
	struct auth_keys k = { 0 };

	memcpy(k.peer.bytes, e + 1, PART);
	memcpy(k.login.bytes, e + 1 + PART, PART);
	memcpy(k.pair.bytes, e + 1 + 2 * PART, PART);
	switch (e[0]) {
	case AUTH_EVENT_FAILURE: auth_count_failure(a, &k.peer, &k.login, &k.pair); break;
	case AUTH_EVENT_PEER: auth_count_failure(a, &k.peer, NULL, NULL); break;
	case AUTH_EVENT_SUCCESS: (void)auth_count_success(a, &k); break;
	default: break; /* of a newer program */
	}
}

void auth_give_events(struct auth *a, const uint8_t *bytes, size_t n)
{
	lock_take(&a->lock);
	for (; n >= AUTH_EVENT_SIZE; n -= AUTH_EVENT_SIZE, bytes += AUTH_EVENT_SIZE)
		take(a, bytes);
	lock_give(&a->lock);
}
