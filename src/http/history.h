/* history.h — the last hour of the server in numbers, a point every five seconds, for plots. Taken
 * whether somebody looks or not; 720 points are 40 KiB. */
#ifndef HTTP_HISTORY_H
#define HTTP_HISTORY_H

#include "base/buf.h"
#include "metrics/snapshot.h"

#define HISTORY_STEP_S 5
#define HISTORY_POINTS 720u

struct http_history;

struct http_history *http_history_new(void); /* NULL: no memory */
void http_history_free(struct http_history *h);
/* Thread-safe, as below. */
void http_history_take(struct http_history *h, const struct metrics_snapshot *s);
/* [[time, calls/s, p50 s, p99 s, errors/s, queue, sessions], …], the last n of them. */
void http_history_write(struct http_history *h, size_t n, struct buf *b);

#endif
