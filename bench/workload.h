/* workload.h — what a connection does: requests encoded once, patched and sent again. */
#ifndef BENCH_WORKLOAD_H
#define BENCH_WORKLOAD_H

#include "wire.h"

#define MESSAGES_MAX 8
#define KEYS 100000

/* State of one connection's script. */
struct script {
	unsigned connection, connections;
	uint64_t random;
	unsigned step;
	uint64_t round;
	struct message messages[MESSAGES_MAX];
	size_t at[MESSAGES_MAX][16];        /* places to patch */
	int32_t cookie;
	uint64_t key;
};

struct workload {
	const char *name, *database;
	void (*prepare)(struct script *s);
	/* The next request; last is the answer before it (NULL at first). */
	const struct message *(*next)(struct script *s, const struct answer *last);
	/* Is this answer right? NULL: no error is enough. */
	const char *(*check)(const struct script *s, const struct answer *a);
	bool once;                          /* runs each key once and stops (fill) */
};

const struct workload *workload_find(const char *name);
void workload_list(void);

#endif
