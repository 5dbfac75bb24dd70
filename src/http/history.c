/* history.c — see history.h. Counters become rates, and histograms quantiles of what came since the
 * last point. */
#include "http/history.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"

struct point {
	double time, calls, p50, p99, errors, queue, sessions;
};

struct http_history {
	struct lock lock;
	struct point points[HISTORY_POINTS];
	size_t n, next;
	/* of the last time */
	bool begun;
	int64_t at_ms;
	double calls, errors;
	struct metrics_totals run;
};

struct http_history *http_history_new(void)
{
	struct http_history *h = calloc(1, sizeof(*h));

	if (h != NULL)
		lock_init(&h->lock);
	return h;
}

void http_history_free(struct http_history *h)
{
	if (h == NULL)
		return;
	lock_fini(&h->lock);
	free(h);
}

static double sum(const struct metrics_snapshot *s, enum metrics_family f)
{
	double all = 0;

	for (const struct metrics_sample *x = metrics_samples(s, f); x != NULL; x = x->next)
		all += x->value;
	return all;
}

static void add_up(const struct metrics_snapshot *s, enum metrics_family f, struct metrics_totals *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (const struct metrics_sample *x = metrics_samples(s, f); x != NULL; x = x->next) {
		if (x->totals == NULL)
			continue;
		ret->bounds = x->totals->bounds;
		ret->count += x->totals->count;
		ret->sum += x->totals->sum;
		for (size_t i = 0; i < METRICS_BUCKETS; i++)
			ret->counts[i] += x->totals->counts[i];
	}
}

static struct metrics_totals difference(const struct metrics_totals *now, const struct metrics_totals *before)
{
	struct metrics_totals d = *now;

	d.count -= before->count;
	d.sum -= before->sum;
	for (size_t i = 0; i < METRICS_BUCKETS; i++)
		d.counts[i] -= before->counts[i];
	return d;
}

/* Under the lock. */
static void add_point(struct http_history *h, const struct point *p)
{
	assert(lock_is_mine(&h->lock));
	h->points[h->next] = *p;
	h->next = (h->next + 1) % HISTORY_POINTS;
	if (h->n < HISTORY_POINTS)
		h->n++;
}

void http_history_take(struct http_history *h, const struct metrics_snapshot *s)
{
	double calls = sum(s, METRICS_FAMILY_CALLS), errors = sum(s, METRICS_FAMILY_CALL_ERRORS), seconds;
	struct metrics_totals run, since;
	int64_t now = clock_mono_ms(), second = clock_unix_us() / 1000000;

	add_up(s, METRICS_FAMILY_CALL_RUN, &run);
	lock_take(&h->lock);
	seconds = (double)(now - h->at_ms) / 1000;
	if (h->begun && seconds > 0) {
		since = difference(&run, &h->run);
		add_point(h, &(struct point){
				     .time = (double)second,
				     .calls = (calls - h->calls) / seconds,
				     .p50 = since.bounds == NULL ? 0 : metrics_quantile(&since, 0.5),
				     .p99 = since.bounds == NULL ? 0 : metrics_quantile(&since, 0.99),
				     .errors = (errors - h->errors) / seconds,
				     .queue = sum(s, METRICS_FAMILY_QUEUE_LENGTH),
				     .sessions = sum(s, METRICS_FAMILY_SESSIONS),
			     });
	}
	h->begun = true;
	h->at_ms = now;
	h->calls = calls;
	h->errors = errors;
	h->run = run;
	lock_give(&h->lock);
}

void http_history_write(struct http_history *h, size_t n, struct buf *b)
{
	buf_put_u8(b, '[');
	lock_take(&h->lock);
	if (n > h->n)
		n = h->n;
	for (size_t i = 0; i < n; i++) {
		const struct point *p = &h->points[(h->next + HISTORY_POINTS - n + i) % HISTORY_POINTS];

		buf_printf(b, "%s[%.0f,%.2f,%.6f,%.6f,%.2f,%.0f,%.0f]", i > 0 ? "," : "", p->time, p->calls,
			   p->p50, p->p99, p->errors, p->queue, p->sessions);
	}
	lock_give(&h->lock);
	buf_put_u8(b, ']');
}
