/* usage.h — what a process has used so far, from /proc. */
#ifndef BENCH_USAGE_H
#define BENCH_USAGE_H

#include <stdint.h>

struct usage {
	double cpu_s;
	uint64_t written; /* bytes sent to the disk */
	long rss_kb, peak_kb;
};

/* All zero for pid 0 or a process that has gone. */
struct usage usage_of(int pid);
/* CPU seconds of a process and of its children, also of those that have ended: PostgreSQL. */
double usage_of_family(int pid);
/* The peak counts from now on. */
void usage_reset_peak(int pid);

#endif
