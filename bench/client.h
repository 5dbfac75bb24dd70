/* client.h — many connections from one thread: each runs the script of a workload, and every
 * answer is checked. */
#ifndef BENCH_CLIENT_H
#define BENCH_CLIENT_H

#include <netinet/in.h>

#include "histogram.h"
#include "workload.h"

struct options {
	struct sockaddr_in address;
	char password[256];
	const char *user;
	const struct workload *workload;
	struct sizes sizes;
	unsigned connections; /* that work */
	unsigned idle;        /* that are only logged in */
	double seconds, warmup;
	unsigned part, parts; /* which of how many loads at once this is: each has keys of its own */
	int pid;              /* of the server, to measure it */
	int behind;           /* a PostgreSQL, or 0 */
	bool storm;           /* a connection for every call */
	bool tls;
};

struct totals {
	struct histogram all, kinds[KINDS_MAX];
	uint64_t sent_bytes, received_bytes;
};

extern struct options opt;
extern struct totals totals;
extern bool measuring; /* answers are counted while this is set */

uint64_t now_ns(void);
__attribute__((noreturn)) void die(const char *what, const char *why);

/* Connects and logs in all of them; returns when all are, or at once for workloads that end by
 * themselves. */
void clients_open(void);
/* Lets them work for a time, or until the workload has ended. */
void clients_run(double seconds);

#endif
