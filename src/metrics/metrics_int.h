/* metrics_int.h — the slots. A thread adds to the slot that its name hashes to, with relaxed
 * atomics: two threads that meet in one are slower, never wrong. */
#ifndef METRICS_METRICS_INT_H
#define METRICS_METRICS_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/list.h"
#include "base/lock.h"
#include "metrics/metrics.h"
#include "metrics/snapshot.h"

#define METRICS_SLOTS 8 /* a power of two */
#define CACHE_LINE 64
#define COLLECTORS_MAX 8

struct metrics_histogram {
	atomic_ullong counts[METRICS_BUCKETS];
	atomic_ullong sum; /* of what was observed, in the unit of the bounds */
};

/* Of one procedure in one slot. Its calls are the count of waited. */
struct metrics_call {
	_Alignas(CACHE_LINE) atomic_ullong errors;
	struct metrics_histogram waited, ran;
};

struct metrics_slot {
	_Alignas(CACHE_LINE) atomic_ullong counters[METRICS_COUNTERS];
};

struct metrics {
	struct metrics_slot slots[METRICS_SLOTS];
	struct lock lock; /* of what follows; nobody who counts takes it */
	struct list databases;
	struct metrics_collector collectors[COLLECTORS_MAX];
	size_t ncollectors;
};

struct metrics_database {
	struct list link;
	struct metrics *metrics;
	bool hidden; /* under the registry's lock */
	char name[129];
	const char *service;
	const char *(*call_name)(const void *arg, size_t i);
	const void *arg;
	size_t n;
	struct metrics_call *calls; /* owned: METRICS_SLOTS times n */
	/* counted by one thread at a time as a rule: a slot suffices */
	_Alignas(CACHE_LINE) struct metrics_histogram groups;
	struct metrics_histogram flushes;
	atomic_ullong clean_steps, clean_rows;
	atomic_bool clean_more;
};

extern const struct metrics_bounds metrics_times, metrics_sizes;

/* For the hot path: which slot is this thread's. Stacks of threads lie far apart, so the address
 * that pthread_self() is, spreads well. */
static inline size_t metrics_my_slot(void)
{
	uint64_t self = (uint64_t)pthread_self();

	return (size_t)((self >> 12) * UINT64_C(0x9E3779B97F4A7C15) >> 61) % METRICS_SLOTS;
}

#endif
