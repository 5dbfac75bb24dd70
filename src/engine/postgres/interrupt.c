/* interrupt.c — calls that are cancelled while a worker has them. Whoever waits on the worker's
 * thread (for an answer, a connection, a proof, a grace) looks at its flag and gives up waiting;
 * then the worker answers those of its calls that are cancelled, and the others go on. Once COMMIT
 * was sent nobody looks. */
#include <unistd.h>

#include "engine/postgres/postgres_int.h"

static bool is_cancelled(const struct pg_slot *s)
{
	return atomic_load_explicit(&s->call->cancelled, memory_order_relaxed);
}

void postgres_interrupt(struct pg_worker *w)
{
	const uint64_t one = 1;

	assert(lock_is_mine(&w->db->lock));
	atomic_store(&w->interrupted, true);
	if (write(w->wake_fd, &one, sizeof(one)) < 0)
		return; /* it has been told already */
}

/* Before calls are looked at, so that none is missed; the end of the database stays. */
static void forget(struct pg_worker *w)
{
	atomic_store(&w->interrupted, false);
	if (atomic_load(&w->db->stopping))
		atomic_store(&w->interrupted, true);
}

const atomic_bool *postgres_stop_of(const struct pg_conn *c)
{
	return c->commits ? &c->db->stopping : &c->worker->interrupted;
}

bool postgres_is_called_off(struct pg_conn *c)
{
	struct pg_worker *w = c->worker;

	if (c->commits || !atomic_load(&w->interrupted))
		return false;
	forget(w);
	for (size_t i = 0; i < w->ngroup; i++) {
		if (is_cancelled(&w->group[i])) {
			atomic_store(&w->interrupted, true); /* until it is answered */
			return true;
		}
	}
	return false; /* it was over when it was cancelled */
}

void postgres_dismiss(struct pg_worker *w)
{
	size_t left = 0;

	if (!atomic_load_explicit(&w->interrupted, memory_order_relaxed))
		return;
	forget(w);
	for (size_t i = 0; i < w->ngroup; i++) {
		struct call *c = w->group[i].call;

		if (!is_cancelled(&w->group[i])) {
			w->group[left++] = w->group[i];
			continue;
		}
		(void)err_set(&c->err, ERR_CANCELLED);
		engine_call_fail(c, &c->err);
		engine_call_complete(c);
	}
	w->ngroup = left;
}
