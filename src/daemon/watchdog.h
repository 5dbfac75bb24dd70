/* watchdog.h — systemd's watchdog is told that the server lives only while each of its event
 * loops does. */
#ifndef DAEMON_WATCHDOG_H
#define DAEMON_WATCHDOG_H

#include "base/base.h"

/* How it asks the loops, and tells systemd; apart, so that a test can stand in. */
struct watchdog_ops {
	void (*ask)(void *arg);      /* every loop for a sign of life */
	bool (*answered)(void *arg); /* have all answered since they were asked? */
	void (*alive)(void *arg);    /* tell systemd */
	void *arg;
};

struct watchdog {
	struct watchdog_ops ops;
	int64_t period_ms; /* a quarter of what systemd allows; 0: it wants nothing */
	int64_t next_ms;
};

/* limit_us: within that systemd wants to hear something; 0: never. Begins to ask. */
void daemon_watchdog_init(struct watchdog *w, const struct watchdog_ops *ops, uint64_t limit_us,
			  int64_t now_ms);
/* Call it when daemon_watchdog_wait_ms is over, or more often. Loops that have not answered
 * since the last time keep it silent: they are asked no more, and it goes on as soon as they
 * have. */
void daemon_watchdog_tick(struct watchdog *w, int64_t now_ms);
/* Milliseconds until the next tick, at most `most` of them. */
int daemon_watchdog_wait_ms(const struct watchdog *w, int64_t now_ms, int most);

#endif
