/* bell.c — see bell.h. */
#include "session/bell.h"

#include <assert.h>

#include "base/clock.h"

/* Numbers of two lives of a server differ, so that who saw one in the last looks in this. */
void session_bell_init(struct bell *b)
{
	lock_init(&b->lock);
	list_init(&b->waiters);
	b->first = (uint32_t)(clock_ticks() * 2654435761u);
}

void session_bell_fini(struct bell *b)
{
	assert(list_empty(&b->waiters));
	lock_fini(&b->lock);
}

/* Under the lock. */
static int32_t number_of(const struct bell *b, const struct database *db)
{
	assert(lock_is_mine(&b->lock));
	return (int32_t)((b->first + db->announced) & INT32_MAX);
}

int32_t session_bell_number(struct bell *b, const struct database *db)
{
	int32_t n;

	lock_take(&b->lock);
	n = number_of(b, db);
	lock_give(&b->lock);
	return n;
}

/* Under the lock. */
static void take_out(struct bell_waiter *w)
{
	list_remove(&w->link);
	w->waits = false;
}

void session_bell_ring(struct bell *b, struct database *db)
{
	struct list *it, *next;

	lock_take(&b->lock);
	db->announced++;
	for (it = b->waiters.next; it != &b->waiters; it = next) {
		struct bell_waiter *w = CONTAINER_OF(it, struct bell_waiter, link);

		next = it->next;
		if (w->database != db)
			continue;
		take_out(w);
		w->comes = true;
		net_loop_post(w->loop, &w->post);
	}
	lock_give(&b->lock);
}

bool session_bell_enter(struct bell *b, struct bell_waiter *w, struct database *db, int32_t seen)
{
	bool enters;

	lock_take(&b->lock);
	assert(!w->waits);
	enters = !w->comes && number_of(b, db) == seen;
	if (enters) {
		w->database = db;
		w->waits = true;
		list_append(&b->waiters, &w->link);
	}
	lock_give(&b->lock);
	return enters;
}

bool session_bell_leave(struct bell *b, struct bell_waiter *w)
{
	bool comes;

	lock_take(&b->lock);
	if (w->waits)
		take_out(w);
	comes = w->comes;
	lock_give(&b->lock);
	return comes;
}

void session_bell_came(struct bell *b, struct bell_waiter *w)
{
	lock_take(&b->lock);
	assert(w->comes && !w->waits);
	w->comes = false;
	lock_give(&b->lock);
}
