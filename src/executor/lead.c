/* lead.c — short calls that are run by the thread that brought them.
 *
 * One that only reads: on a connection beside the writer, as the readers do it. Handing it to one of them and taking it back costs more than running it.
 *
 * One that comes alone. While the writer sleeps and nothing else waits, waking it would only cost time, twice: to get
 * there and to get back. That thread has the lead then: all that is the writer's is its own, and the writer, should something wake it, waits until the lead is over. Whatever
 * the call leaves to be done, the writer is woken for.
 *
 * Whoever leads does nothing else until the flush is over. So only procedures that say SHORT are led, with small values; and where one took long after all, a slow disk as a
 * rule, none for a while.
 *
 * Renewals, which wait for no flush: however many have come, also by a thread that has others to serve. The commit of what is held is left to the writer. */
#include "base/clock.h"
#include "executor/executor_int.h"

#define VALUES_MOST ((size_t)2 << 20)
#define LONG_MS 5
#define AGAIN_MS 1000                       /* after one that took long */

static bool is_short(const struct call *c)
{
	size_t bytes = 0;

	if (c->kind != CALL_PROC || c->txn != NULL || !c->proc->is_short)
		return false;
	for (size_t i = 0; i < c->nvalues && bytes <= VALUES_MOST; i++) {
		const struct type_info *t = type_info(c->values[i].type.id);

		if (!c->values[i].null && (t->is_binary || t->is_text))
			bytes += c->values[i].u.s.n;
	}
	return bytes <= VALUES_MOST;
}

/* NULL: all are taken, or renewals that were answered are not committed yet, which a reader can wait for. */
static struct runner *near_take(struct executor *ex)
{
	struct runner *r = NULL;

	pthread_mutex_lock(&ex->lock);
	for (unsigned i = 0; i < NEAR_MAX && r == NULL && !ex->hold.open && !ex->stopping; i++) {
		if (!ex->near_taken[i]) {
			ex->near_taken[i] = true;
			r = &ex->near[i];
			r->ex = ex;
		}
	}
	pthread_mutex_unlock(&ex->lock);
	return r;
}

static void near_give(struct executor *ex, const struct runner *r)
{
	pthread_mutex_lock(&ex->lock);
	ex->near_taken[r - ex->near] = false;
	pthread_mutex_unlock(&ex->lock);
}

bool lead_read(struct executor *ex, struct call *c)
{
	struct runner *r = is_short(c) ? near_take(ex) : NULL;

	if (r == NULL)
		return false;
	reader_run(r, c);
	near_give(ex, r);
	return true;
}

bool lead_goes_on(const struct executor *ex)
{
	if (ex->promise == NULL || clock_ticks() >= ex->promised_until || hold_is_due(ex))
		return false;
	LIST_EACH(it, &ex->queue) {
		const struct call *c = CONTAINER_OF(it, struct call, link);

		if (!is_short(c) || !c->proc->flush_later)
			return false;
	}
	return true;
}

bool lead_may(const struct executor *ex, bool alone)
{
	if (!ex->dozing || ex->led || ex->stopping || ex->pinned != NULL || list_empty(&ex->queue) || clock_mono_ms() < ex->lead_again_ms)
		return false;
	return (alone && ex->waiting == 1 && is_short(CONTAINER_OF(ex->queue.next, struct call, link))) || lead_goes_on(ex);
}

void lead_run(struct executor *ex)
{
	int64_t began = clock_mono_ms(), ended;

	ex->led = true;
	group_take(ex);
	pthread_mutex_unlock(&ex->lock);
	group_run(ex);
	pthread_mutex_lock(&ex->lock);
	ex->led = false;
	ended = ex->led_ms = clock_mono_ms();
	if (ended - began >= LONG_MS)
		ex->lead_again_ms = ended + AGAIN_MS;
	ex->asleep = ex->dozing && !writer_is_wanted(ex);
	if (!ex->asleep)
		pthread_cond_signal(&ex->wake);
}
