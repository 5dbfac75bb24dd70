/* work.c — threads for work that blocks or takes long. They start when first needed. The number
 * of threads bounds how much of it happens at once, and each lane bounds how much of it may
 * wait.
 *
 * A lane is a stochastic fair queue: the key says whose the work is, a bucket holds the keys
 * that hash to it, and the buckets take turns. So one client who asks for a thousand things
 * delays another one by one of them. When the lane is full, the longest bucket loses its
 * youngest. Work that cannot be divided may hold its thread for long; so a bucket may have a
 * share of the threads only, and there is always one for somebody else. */
#include "net/net.h"

#include <assert.h>

#include "base/thread.h"
#include "net/net_int.h"

/* ---- one lane ---- */

static void lane_init(struct net_lane_queue *q, unsigned max)
{
	for (unsigned i = 0; i < NET_BUCKETS; i++)
		list_init(&q->buckets[i].waiting);
	q->max = max;
}

static struct net_work *work_of(struct list *link)
{
	return CONTAINER_OF(link, struct net_work, post.link);
}

static unsigned bucket_of(const struct net_work *w)
{
	return (unsigned)(w->key % NET_BUCKETS);
}

static void lane_put(struct net_lane_queue *q, struct net_work *w)
{
	unsigned b = bucket_of(w);

	assert(!w->queued && bucket_of(w) < NET_BUCKETS);
	assert(!w->queued);
	list_append(&q->buckets[b].waiting, &w->post.link);
	q->buckets[b].count++;
	q->filled |= UINT64_C(1) << b;
	q->count++;
	w->queued = true;
}

static void lane_remove(struct net_lane_queue *q, struct net_work *w)
{
	unsigned b = bucket_of(w);

	assert(w->queued && q->count > 0 && q->buckets[b].count > 0);
	list_remove(&w->post.link);
	if (--q->buckets[b].count == 0)
		q->filled &= ~(UINT64_C(1) << b);
	q->count--;
	w->queued = false;
}

/* The oldest of the bucket whose turn it is; NULL: none waits, but such as have their share of
 * threads already. */
static struct net_work *lane_take(struct net_lane_queue *q)
{
	uint64_t ready = q->filled & ~q->served, later = ready & ~UINT64_C(0) << q->turn;
	struct net_work *w;
	unsigned b;

	if (ready == 0)
		return NULL;
	b = (unsigned)__builtin_ctzll(later != 0 ? later : ready);
	assert(q->buckets[b].count > 0 && !list_empty(&q->buckets[b].waiting));
	if (++q->buckets[b].running == q->share)
		q->served |= UINT64_C(1) << b;
	q->turn = (b + 1) % NET_BUCKETS;
	w = work_of(q->buckets[b].waiting.next);
	lane_remove(q, w);
	return w;
}

/* A thread has done a bucket's work. */
static void lane_done(struct net_lane_queue *q, unsigned b)
{
	assert(q->buckets[b].running > 0);
	q->buckets[b].running--;
	q->served &= ~(UINT64_C(1) << b);
}

/* The youngest of the longest bucket, taken out; NULL: the lane is not over its bound. */
static struct net_work *lane_overflow(struct net_lane_queue *q)
{
	unsigned longest = 0;
	struct net_work *w;

	if (q->max == 0 || q->count <= q->max)
		return NULL;
	for (unsigned b = 1; b < NET_BUCKETS; b++)
		if (q->buckets[b].count > q->buckets[longest].count)
			longest = b;
	w = work_of(q->buckets[longest].waiting.prev);
	lane_remove(q, w);
	return w;
}

/* ---- crews: threads and the lanes that they serve ---- */

#define KNOWN_TURNS 4u /* one turn in so many is the strangers', while both wait */

static struct net_crew *crew_of(struct net *n, enum net_lane lane)
{
	return &n->crews[lane == NET_LANE_REQUEST ? NET_CREW_REQUEST : NET_CREW_LOGIN];
}

static struct net_work *crew_take(struct net *n, struct net_crew *c)
{
	bool strangers_first;
	struct net_work *w;

	assert(lock_is_mine(&n->work_lock));
	if (c == &n->crews[NET_CREW_REQUEST])
		return lane_take(&n->lanes[NET_LANE_REQUEST]);
	strangers_first = c->turn++ % KNOWN_TURNS == 0;
	w = lane_take(&n->lanes[strangers_first ? NET_LANE_STRANGER : NET_LANE_KNOWN]);
	return w != NULL ? w : lane_take(&n->lanes[strangers_first ? NET_LANE_KNOWN : NET_LANE_STRANGER]);
}

static bool crew_has_work(const struct net *n, const struct net_crew *c)
{
	if (c == &n->crews[NET_CREW_REQUEST])
		return n->lanes[NET_LANE_REQUEST].count > 0;
	return n->lanes[NET_LANE_KNOWN].count > 0 || n->lanes[NET_LANE_STRANGER].count > 0;
}

static void run_done(struct net_post *item)
{
	struct net_work *w = CONTAINER_OF(item, struct net_work, post);

	assert(net_loop_is_here(w->loop) && !w->queued);
	w->done(w);
}

static void report(struct net_work *w)
{
	w->post.fn = run_done;
	net_loop_post(w->loop, &w->post);
}

static void run_work(struct net_work *w)
{
	assert(!w->queued);
	w->run(w);
	report(w);
}

static void *worker_main(void *arg)
{
	struct net_crew *c = arg;
	struct net *n = c->net;

	lock_take(&n->work_lock);
	for (;;) {
		struct net_work *w = crew_take(n, c);

		if (w != NULL) {
			struct net_lane_queue *q = &n->lanes[w->lane];
			unsigned b = bucket_of(w);

			lock_give(&n->work_lock);
			run_work(w); /* afterwards it is its owner's */
			lock_take(&n->work_lock);
			lane_done(q, b);
			continue;
		}
		if (n->work_ended)
			break;
		c->idle++;
		lock_wait(&n->work_lock, &c->wake);
		c->idle--;
	}
	lock_give(&n->work_lock);
	return NULL;
}

/* An idle thread counts as taken while earlier work is still in a lane. */
static void want_thread(struct net *n, struct net_crew *c)
{
	assert(lock_is_mine(&n->work_lock));
	if (n->work_ended || c->nthreads >= c->max || (c->idle > 0 && !crew_has_work(n, c)))
		return;
	if (thread_start(&c->threads[c->nthreads], worker_main, c) == 0)
		c->nthreads++;
}

void net_work_submit(struct net *n, struct net_work *w)
{
	struct net_crew *c = crew_of(n, w->lane);
	struct net_work *dropped = NULL;
	bool run_here;

	assert(w->lane < NET_LANES && !w->queued && w->run != NULL && w->done != NULL && w->loop != NULL);
	w->dropped = false;
	lock_take(&n->work_lock);
	want_thread(n, c);
	/* Without a thread (the system has none to give, or we are stopping) it is done here:
	 * late, but done. */
	run_here = n->work_ended || c->nthreads == 0;
	if (!run_here) {
		lane_put(&n->lanes[w->lane], w);
		dropped = lane_overflow(&n->lanes[w->lane]);
		pthread_cond_signal(&c->wake);
	}
	lock_give(&n->work_lock);
	if (run_here)
		run_work(w);
	if (dropped != NULL) {
		dropped->dropped = true;
		report(dropped);
	}
}

bool net_work_cancel(struct net *n, struct net_work *w)
{
	bool waited;

	assert(net_loop_is_here(w->loop));
	lock_take(&n->work_lock);
	waited = w->queued;
	if (waited)
		lane_remove(&n->lanes[w->lane], w);
	lock_give(&n->work_lock);
	return waited;
}

unsigned net_work_waiting(struct net *n, enum net_lane lane)
{
	unsigned count;

	lock_take(&n->work_lock);
	count = n->lanes[lane].count;
	lock_give(&n->work_lock);
	return count;
}

void net_work_init(struct net *n, const struct net_options *o)
{
	const unsigned wanted[NET_CREWS] = {
		[NET_CREW_REQUEST] = o->request_threads, [NET_CREW_LOGIN] = o->login_threads
	};

	lock_init(&n->work_lock);
	/* a session has one request: max_connections bounds them */
	lane_init(&n->lanes[NET_LANE_REQUEST], 0);
	lane_init(&n->lanes[NET_LANE_KNOWN], o->login_queue);
	lane_init(&n->lanes[NET_LANE_STRANGER], o->login_queue);
	for (unsigned i = 0; i < NET_CREWS; i++) {
		struct net_crew *c = &n->crews[i];

		c->net = n;
		c->max = wanted[i] == 0                ? NET_WORKERS
			 : wanted[i] < NET_WORKERS_MAX ? wanted[i]
						       : NET_WORKERS_MAX;
		pthread_cond_init(&c->wake, NULL);
	}
	n->lanes[NET_LANE_REQUEST].share = (n->crews[NET_CREW_REQUEST].max + 1) / 2;
}

/* What was submitted is still run: its owner waits for done. */
void net_work_end(struct net *n)
{
	lock_take(&n->work_lock);
	n->work_ended = true;
	for (unsigned i = 0; i < NET_CREWS; i++)
		pthread_cond_broadcast(&n->crews[i].wake);
	lock_give(&n->work_lock);
	for (unsigned i = 0; i < NET_CREWS; i++) {
		struct net_crew *c = &n->crews[i];

		for (unsigned t = 0; t < c->nthreads; t++)
			pthread_join(c->threads[t], NULL);
		c->nthreads = 0;
	}
}

void net_work_fini(struct net *n)
{
	for (unsigned i = 0; i < NET_CREWS; i++)
		pthread_cond_destroy(&n->crews[i].wake);
	lock_fini(&n->work_lock);
}
