/* accounts.c — see accounts.h. An account is there as long as its login has sessions. */
#include "session/accounts.h"

#include <assert.h>
#include <stdlib.h>

#define STRANGERS_PART 8 /* of the whole: an eighth */

static size_t share(size_t limit, unsigned percent)
{
	return limit / 100 * percent;
}

void session_accounts_init(struct accounts *a, size_t limit, unsigned login_share, unsigned session_share)
{
	lock_init(&a->lock);
	block_spares_init(&a->spares);
	budget_init(&a->server, NULL, limit);
	budget_keep(&a->server, &a->spares);
	budget_init(&a->strangers, &a->server, limit / STRANGERS_PART);
	a->login_limit = share(limit, login_share);
	a->session_limit = share(limit, session_share);
	for (size_t i = 0; i < ACCOUNTS_BUCKETS; i++)
		list_init(&a->logins[i]);
}

void session_accounts_fini(struct accounts *a)
{
	block_spares_fini(&a->spares);
	lock_fini(&a->lock);
}

/* Names of logins differ in more than ASCII case, or they are the same login. */
static struct list *bucket(struct accounts *a, struct str name)
{
	unsigned h = 5381;

	for (size_t i = 0; i < name.n; i++)
		h = h * 33 + (unsigned char)(name.p[i] | 0x20);
	return &a->logins[h % ACCOUNTS_BUCKETS];
}

static struct account *find(struct list *in, struct str name)
{
	LIST_EACH (it, in) {
		struct account *one = CONTAINER_OF(it, struct account, link);

		if (str_eq_nocase(str_of(one->name), name))
			return one;
	}
	return NULL;
}

static struct account *add(struct accounts *a, struct list *in, struct str name)
{
	struct account *one = calloc(1, sizeof(*one));

	if (one == NULL)
		return NULL;
	str_copy(one->name, sizeof(one->name), name);
	budget_init(&one->budget, &a->server, a->login_limit);
	list_append(in, &one->link);
	return one;
}

struct account *session_accounts_enter(struct accounts *a, struct str login)
{
	struct list *in = bucket(a, login);
	struct account *one;

	lock_take(&a->lock);
	one = find(in, login);
	if (one == NULL)
		one = add(a, in, login);
	if (one != NULL)
		one->sessions++;
	lock_give(&a->lock);
	return one;
}

void session_accounts_leave(struct accounts *a, struct account *one)
{
	if (one == NULL)
		return;
	lock_take(&a->lock);
	assert(one->sessions > 0);
	if (--one->sessions == 0) {
		list_remove(&one->link);
		budget_fini(&one->budget);
		free(one);
	}
	lock_give(&a->lock);
}
