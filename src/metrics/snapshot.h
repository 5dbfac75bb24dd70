/* snapshot.h — all numbers of one moment, family by family. The three ways of reading them
 * (procedures and views, Prometheus text, and through these the command) all begin here, so that
 * they agree. */
#ifndef METRICS_SNAPSHOT_H
#define METRICS_SNAPSHOT_H

#include "base/buf.h"
#include "base/err.h"
#include "metrics/metrics.h"

enum metrics_type { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM };
enum metrics_family {
#define FAMILY(id, type, name, help) METRICS_FAMILY_##id,
#include "metrics/families.def"
#undef FAMILY
	METRICS_FAMILIES
};
const char *metrics_family_name(enum metrics_family f);
const char *metrics_family_help(enum metrics_family f);
enum metrics_type metrics_family_type(enum metrics_family f);

/* Buckets of a histogram: what is not above upto[i] belongs to bucket i, what is above all to the
 * last one, n. unit: of upto and sums, in the unit that the family's name tells. */
#define METRICS_BUCKETS 20
struct metrics_bounds {
	const uint64_t *upto;
	unsigned n;
	double unit;
};
struct metrics_totals {
	const struct metrics_bounds *bounds;
	uint64_t counts[METRICS_BUCKETS]; /* of each bucket, not of all up to it */
	uint64_t count, sum;
};
/* The value below which this part of what was observed lies, as Prometheus estimates it; 0: nothing
 * was. */
double metrics_quantile(const struct metrics_totals *t, double part);

#define METRICS_LABELS 2
struct metrics_label {
	const char *name, *value;
};
struct metrics_sample {
	struct metrics_sample *next; /* of the same family */
	struct metrics_label labels[METRICS_LABELS];
	unsigned nlabels;
	double value;
	const struct metrics_totals *totals; /* of a histogram, else NULL */
};

struct metrics_snapshot;
/* ret is to be freed. Thread-safe, takes no lock that a call waits for. */
MUST_CHECK int metrics_take(struct metrics *m, struct metrics_snapshot **ret, struct err *reterr);
void metrics_snapshot_free(struct metrics_snapshot *s);
/* The samples of a family; NULL: none. */
const struct metrics_sample *metrics_samples(const struct metrics_snapshot *s, enum metrics_family f);
/* The value of the label; NULL: it has none of this name. */
const char *metrics_label(const struct metrics_sample *s, const char *name);

/* All samples as plain numbers, histograms taken apart: name_count, name_sum and, with buckets,
 * name_bucket with the label le (its sums: of all up to le). Ends when row() returns other than 0,
 * with that. */
struct metrics_row {
	enum metrics_family family;
	const char *name, *suffix; /* "", "_count", "_sum", "_bucket" */
	const struct metrics_label *labels;
	unsigned nlabels;
	const char *le; /* of a bucket, else NULL */
	double value;
};
/* What tells it apart beside database and procedure: the bound of a bucket, a state, an outcome;
 * NULL: nothing. */
const char *metrics_row_label(const struct metrics_row *r);
const char *metrics_row_value(const struct metrics_row *r, const char *name); /* NULL: it has none */
int metrics_each(const struct metrics_snapshot *s, bool buckets,
		 int (*row)(const struct metrics_row *r, void *arg), void *arg);

/* As Prometheus reads it, to the end of out: text format 0.0.4. */
#define METRICS_PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"
void metrics_write_prometheus(const struct metrics_snapshot *s, struct buf *out);
/* Both at once. */
MUST_CHECK int metrics_prometheus(struct metrics *m, struct buf *out, struct err *reterr);

/* ---- for those who know numbers that nobody counts: lengths, sizes, ages ---- */

/* Asked by each metrics_take(), on its thread, and calls metrics_add() for what it knows. */
struct metrics_collector {
	void (*collect)(struct metrics_snapshot *s, void *arg);
	void *arg;
};
/* Before the first metrics_take(), and at most eight. */
void metrics_collect_from(struct metrics *m, const struct metrics_collector *c);
/* Values of labels are copied, names stay. No memory: metrics_take() fails. */
void metrics_add(struct metrics_snapshot *s, enum metrics_family f, double value,
		 const struct metrics_label *labels, unsigned nlabels);

#endif
