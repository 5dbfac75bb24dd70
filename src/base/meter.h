/* meter.h — counts the steps of a computation whose length a client decides. When the steps at
 * hand are used up, somebody is asked whether to go on: on a work thread that is who knows of
 * cancellation and time limits; without anybody the computation is given up, and whoever began
 * it may begin it again elsewhere. Whatever is given up has changed nothing yet: it is the
 * computation's duty to spend before it acts. */
#ifndef BASE_METER_H
#define BASE_METER_H

#include "base/base.h"

struct meter {
	uint64_t left;           /* steps until the question */
	bool gave_up;            /* stays: all that is spent afterwards fails at once */
	bool (*stop)(void *arg); /* the question; NULL: the answer is yes */
	void *arg;
};

/* The slow path of meter_spend. */
bool meter_ask(struct meter *m);

/* A step is about a byte that is looked at, or a node of a tree. NULL: nobody counts. False:
 * give up. */
static inline bool meter_spend(struct meter *m, uint64_t steps)
{
	if (m == NULL)
		return true;
	if (steps < m->left && !m->gave_up) {
		m->left -= steps;
		return true;
	}
	return meter_ask(m);
}

static inline bool meter_gave_up(const struct meter *m)
{
	return m != NULL && m->gave_up;
}

#endif
