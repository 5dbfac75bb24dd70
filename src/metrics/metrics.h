/* metrics.h — the numbers of a server, counted where things happen. Counting takes no lock and
 * allocates nothing: each counter has a few slots in cache lines of their own, a thread adds to one
 * of them, and whoever reads sums them up (snapshot.h). NULL is welcome as a registry or database
 * everywhere: then nothing is counted. */
#ifndef METRICS_METRICS_H
#define METRICS_METRICS_H

#include "base/base.h"

struct metrics;          /* of a server */
struct metrics_database; /* of one of its databases */

/* Counters of the server as a whole. */
enum metrics_counter {
	METRICS_LOGIN_ACCEPTED,
	METRICS_LOGIN_REFUSED,   /* wrong password, unknown or disabled login, no right to the database */
	METRICS_LOGIN_THROTTLED, /* refused or put off for failures before */
	METRICS_LOGIN_FAILED,    /* anything else: no place, no memory, a broken exchange */
	METRICS_SLOW_CALLS,
	METRICS_COUNTERS
};

/* NULL: no memory. */
struct metrics *metrics_new(void);
/* After its databases are gone. NULL is welcome. */
void metrics_free(struct metrics *m);
/* Thread-safe, as everything below. */
void metrics_count(struct metrics *m, enum metrics_counter c, uint64_t n);

struct metrics_database_options {
	const char *name;    /* copied */
	const char *service; /* stays */
	/* the calls that are told apart, from 0 to n - 1, and their names, which stay */
	size_t n;
	const char *(*call_name)(const void *arg, size_t i);
	const void *arg;
};
/* NULL: no memory, so that nothing is counted. */
struct metrics_database *metrics_database_add(struct metrics *m, const struct metrics_database_options *o);
/* Not told any more, though some may still count for it: another of its name may come. NULL is
 * welcome. */
void metrics_database_hide(struct metrics_database *d);
/* Nobody counts for it any more. NULL is welcome. */
void metrics_database_remove(struct metrics_database *d);

/* A call is over. ran_us: how long it ran; negative: it never did. */
void metrics_call(struct metrics_database *d, size_t call, int64_t waited_us, int64_t ran_us, bool failed);
/* One of them took longer than the operator wants. */
void metrics_count_slow(struct metrics_database *d);
/* So many calls were committed together; and a flush took so long. */
void metrics_commit(struct metrics_database *d, size_t calls);
void metrics_flush(struct metrics_database *d, int64_t us);
/* A step of the clean-up has removed rows; more: it has not come to its end. */
void metrics_cleaned(struct metrics_database *d, uint64_t rows, bool more);

#endif
