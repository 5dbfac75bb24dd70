/* histogram.h — latencies in 32 steps for each power of two nanoseconds, so that any percentile
 * is right to 3 %. */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

#include <stdint.h>
#include <stdio.h>

#define HISTOGRAM_BUCKETS 2048

struct histogram {
	uint64_t count, sum_ns, max_ns;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t ns);
double histogram_percentile_us(const struct histogram *h, double p);
/* The members "calls", "mean_us", "p50_us" … "max_us" of a JSON object, without its braces. */
void histogram_print_members(const struct histogram *h, FILE *f);
/* A JSON array of [microseconds, calls], four steps for each power of two. */
void histogram_print_steps(const struct histogram *h, FILE *f);

#endif
