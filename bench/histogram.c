/* histogram.c — see histogram.h. */
#include "histogram.h"

#include <stddef.h>

#define STEPS 32

static size_t bucket_of(uint64_t ns)
{
	unsigned log = ns < STEPS ? 5 : 63 - (unsigned)__builtin_clzll(ns);
	size_t b = (size_t)(log - 5) * STEPS + (size_t)((ns >> (log - 5)) & (STEPS - 1));

	return b < HISTOGRAM_BUCKETS ? b : HISTOGRAM_BUCKETS - 1;
}

static double bucket_us(size_t b)
{
	return (double)((STEPS + b % STEPS) << (b / STEPS)) / 1000.0;
}

void histogram_add(struct histogram *h, uint64_t ns)
{
	h->count++;
	h->sum_ns += ns;
	h->buckets[bucket_of(ns)]++;
	if (ns > h->max_ns)
		h->max_ns = ns;
}

double histogram_percentile_us(const struct histogram *h, double p)
{
	uint64_t want = (uint64_t)((double)h->count * p), seen = 0;

	for (size_t b = 0; b < HISTOGRAM_BUCKETS; b++) {
		seen += h->buckets[b];
		if (seen > want)
			return bucket_us(b);
	}
	return (double)h->max_ns / 1000.0;
}

void histogram_print_members(const struct histogram *h, FILE *f)
{
	double n = h->count == 0 ? 1 : (double)h->count;

	fprintf(f,
		"\"calls\":%lu,\"mean_us\":%.1f,\"p50_us\":%.1f,\"p95_us\":%.1f,\"p99_us\":%.1f,\"p999_us\":%"
		".1f,\"max_us\":%.1f",
		h->count, (double)h->sum_ns / n / 1000.0, histogram_percentile_us(h, 0.5),
		histogram_percentile_us(h, 0.95), histogram_percentile_us(h, 0.99),
		histogram_percentile_us(h, 0.999), (double)h->max_ns / 1000.0);
}

void histogram_print_steps(const struct histogram *h, FILE *f)
{
	const char *comma = "";

	fputc('[', f);
	for (size_t b = 0; b < HISTOGRAM_BUCKETS; b += STEPS / 4) {
		uint64_t n = 0;

		for (size_t i = 0; i < STEPS / 4; i++)
			n += h->buckets[b + i];
		if (n == 0)
			continue;
		fprintf(f, "%s[%.1f,%lu]", comma, bucket_us(b), n);
		comma = ",";
	}
	fputc(']', f);
}
