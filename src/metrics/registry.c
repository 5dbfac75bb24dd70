/* registry.c — the numbers of a server and its databases: made, counted, removed. */
#include <assert.h>
#include <stdlib.h>

#include "base/str.h"
#include "metrics/metrics_int.h"

/* Microseconds: 1, 2.5, 5 of each power of ten, from what an inline call takes to time-outs. */
static const uint64_t times[] = { 10,     25,      50,      100,     250,     500,    1000,
				  2500,   5000,    10000,   25000,   50000,   100000, 250000,
				  500000, 1000000, 2500000, 5000000, 10000000 };
const struct metrics_bounds metrics_times = { times, ARRAY_LEN(times), 1e-6 };

static const uint64_t sizes[] = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512 };
const struct metrics_bounds metrics_sizes = { sizes, ARRAY_LEN(sizes), 1 };

struct metrics *metrics_new(void)
{
	struct metrics *m = aligned_alloc(CACHE_LINE, sizeof(*m));

	static_assert(ARRAY_LEN(times) < METRICS_BUCKETS && ARRAY_LEN(sizes) < METRICS_BUCKETS,
		      "a bucket for each bound, and one above");
	if (m == NULL)
		return NULL;
	memset(m, 0, sizeof(*m));
	lock_init(&m->lock);
	list_init(&m->databases);
	return m;
}

void metrics_free(struct metrics *m)
{
	if (m == NULL)
		return;
	assert(list_empty(&m->databases));
	lock_fini(&m->lock);
	free(m);
}

void metrics_collect_from(struct metrics *m, const struct metrics_collector *c)
{
	if (m == NULL)
		return;
	assert(m->ncollectors < COLLECTORS_MAX);
	m->collectors[m->ncollectors++] = *c;
}

struct metrics_database *metrics_database_add(struct metrics *m, const struct metrics_database_options *o)
{
	struct metrics_database *d = m == NULL ? NULL : aligned_alloc(CACHE_LINE, sizeof(*d));
	size_t size = METRICS_SLOTS * o->n * sizeof(*d->calls);

	if (d == NULL)
		return NULL;
	memset(d, 0, sizeof(*d));
	d->calls = aligned_alloc(CACHE_LINE, size);
	if (d->calls == NULL) {
		free(d);
		return NULL;
	}
	memset(d->calls, 0, size);
	d->metrics = m;
	d->service = o->service;
	d->call_name = o->call_name;
	d->arg = o->arg;
	d->n = o->n;
	str_copy(d->name, sizeof(d->name), str_of(o->name));
	lock_take(&m->lock);
	list_append(&m->databases, &d->link);
	lock_give(&m->lock);
	return d;
}

void metrics_database_hide(struct metrics_database *d)
{
	if (d == NULL)
		return;
	lock_take(&d->metrics->lock);
	d->hidden = true;
	lock_give(&d->metrics->lock);
}

void metrics_database_remove(struct metrics_database *d)
{
	if (d == NULL)
		return;
	lock_take(&d->metrics->lock);
	list_remove(&d->link);
	lock_give(&d->metrics->lock);
	free(d->calls);
	free(d);
}

/* ---- counting ---- */

static void add(atomic_ullong *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* Most of what is observed is short: the search begins there. */
static void observe(struct metrics_histogram *h, const struct metrics_bounds *b, uint64_t what)
{
	unsigned i = 0;

	while (i < b->n && what > b->upto[i])
		i++;
	add(&h->counts[i], 1);
	add(&h->sum, what);
}

static uint64_t not_negative(int64_t us)
{
	return us < 0 ? 0 : (uint64_t)us;
}

void metrics_count(struct metrics *m, enum metrics_counter c, uint64_t n)
{
	if (m != NULL)
		add(&m->slots[metrics_my_slot()].counters[c], n);
}

void metrics_call(struct metrics_database *d, size_t call, int64_t waited_us, int64_t ran_us, bool failed)
{
	struct metrics_call *c;

	if (d == NULL)
		return;
	assert(call < d->n);
	c = &d->calls[metrics_my_slot() * d->n + call];
	observe(&c->waited, &metrics_times, not_negative(waited_us));
	if (ran_us >= 0)
		observe(&c->ran, &metrics_times, (uint64_t)ran_us);
	if (failed)
		add(&c->errors, 1);
}

void metrics_count_slow(struct metrics_database *d)
{
	if (d != NULL)
		metrics_count(d->metrics, METRICS_SLOW_CALLS, 1);
}

void metrics_commit(struct metrics_database *d, size_t calls)
{
	if (d != NULL)
		observe(&d->groups, &metrics_sizes, calls);
}

void metrics_flush(struct metrics_database *d, int64_t us)
{
	if (d != NULL)
		observe(&d->flushes, &metrics_times, not_negative(us));
}

void metrics_cleaned(struct metrics_database *d, uint64_t rows, bool more)
{
	if (d == NULL)
		return;
	add(&d->clean_steps, 1);
	add(&d->clean_rows, rows);
	atomic_store_explicit(&d->clean_more, more, memory_order_relaxed);
}
