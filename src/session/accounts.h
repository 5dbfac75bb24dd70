/* accounts.h — the memory of a server, shared out: a session has a part of what its login has,
 * and a login a part of the whole, so that none of them can take it from all others. Clients
 * that are not logged in have a small part together. */
#ifndef SESSION_ACCOUNTS_H
#define SESSION_ACCOUNTS_H

#include <pthread.h>

#include "base/block.h"
#include "base/budget.h"
#include "base/list.h"
#include "base/lock.h"
#include "base/str.h"

#define ACCOUNTS_BUCKETS 64

struct accounts {
	struct lock lock;
	struct budget server, strangers;
	struct block_spares spares; /* large blocks between two requests */
	size_t login_limit, session_limit;
	struct list logins[ACCOUNTS_BUCKETS]; /* under the lock: struct account by name */
};

struct account {
	struct list link;
	struct budget budget;
	unsigned sessions; /* under the lock */
	char name[129];
};

/* Shares in percent of the limit. */
void session_accounts_init(struct accounts *a, size_t limit, unsigned login_share, unsigned session_share);
void session_accounts_fini(struct accounts *a);
/* The account of this login, for one session more; NULL: no memory for it. Thread-safe. */
struct account *session_accounts_enter(struct accounts *a, struct str login);
/* One session less, whose own account is empty. */
void session_accounts_leave(struct accounts *a, struct account *one);

#endif
