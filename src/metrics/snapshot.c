/* snapshot.c — see snapshot.h: sums the slots up, and asks the collectors for the rest. */
#include "metrics/snapshot.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "metrics/metrics_int.h"

#define SNAPSHOT_MOST ((size_t)64 << 20) /* bytes: thousands of databases */

struct metrics_snapshot {
	struct arena arena;
	struct metrics_sample *first[METRICS_FAMILIES], *last[METRICS_FAMILIES];
	bool failed; /* no memory */
};

static const struct {
	const char *name, *help;
	enum metrics_type type;
} families[] = {
#define FAMILY(id, type, name, help) { name, help, METRICS_##type },
#include "metrics/families.def"
#undef FAMILY
};

const char *metrics_family_name(enum metrics_family f)
{
	return families[f].name;
}

const char *metrics_family_help(enum metrics_family f)
{
	return families[f].help;
}

enum metrics_type metrics_family_type(enum metrics_family f)
{
	return families[f].type;
}

/* ---- samples ---- */

static struct metrics_sample *sample(struct metrics_snapshot *s, enum metrics_family f,
				     const struct metrics_label *labels, unsigned n)
{
	struct metrics_sample *m = arena_alloc(&s->arena, sizeof(*m));

	assert(n <= METRICS_LABELS);
	if (m == NULL) {
		s->failed = true;
		return NULL;
	}
	m->nlabels = n;
	for (unsigned i = 0; i < n; i++) {
		m->labels[i].name = labels[i].name;
		m->labels[i].value = arena_strndup(&s->arena, labels[i].value, strlen(labels[i].value));
		s->failed |= m->labels[i].value == NULL;
	}
	if (s->last[f] == NULL)
		s->first[f] = m;
	else
		s->last[f]->next = m;
	s->last[f] = m;
	return m;
}

void metrics_add(struct metrics_snapshot *s, enum metrics_family f, double value,
		 const struct metrics_label *labels, unsigned nlabels)
{
	struct metrics_sample *m = sample(s, f, labels, nlabels);

	assert(families[f].type != METRICS_HISTOGRAM);
	if (m != NULL)
		m->value = value;
}

static void add_totals(struct metrics_snapshot *s, enum metrics_family f, const struct metrics_totals *t,
		       const struct metrics_label *labels, unsigned nlabels)
{
	struct metrics_totals *copy = arena_alloc(&s->arena, sizeof(*copy));
	struct metrics_sample *m = sample(s, f, labels, nlabels);

	assert(families[f].type == METRICS_HISTOGRAM);
	if (copy == NULL || m == NULL) {
		s->failed = true;
		return;
	}
	*copy = *t;
	m->totals = copy;
}

const struct metrics_sample *metrics_samples(const struct metrics_snapshot *s, enum metrics_family f)
{
	return s->first[f];
}

const char *metrics_label(const struct metrics_sample *s, const char *name)
{
	for (unsigned i = 0; i < s->nlabels; i++) {
		if (strcmp(s->labels[i].name, name) == 0)
			return s->labels[i].value;
	}
	return NULL;
}

/* ---- summing up ---- */

static uint64_t read_one(const atomic_ullong *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

static void sum_histogram(struct metrics_totals *t, const struct metrics_histogram *h)
{
	for (unsigned i = 0; i <= t->bounds->n; i++) {
		uint64_t n = read_one(&h->counts[i]);

		t->counts[i] += n;
		t->count += n;
	}
	t->sum += read_one(&h->sum);
}

/* What was never called is left out: a server has some hundred pairs of procedure and database. */
static void take_call(struct metrics_snapshot *s, const struct metrics_database *d, size_t call)
{
	const struct metrics_label labels[] = { { "database", d->name },
						{ "procedure", d->call_name(d->arg, call) } };
	struct metrics_totals waited = { .bounds = &metrics_times }, ran = waited;
	uint64_t errors = 0;

	for (size_t slot = 0; slot < METRICS_SLOTS; slot++) {
		const struct metrics_call *c = &d->calls[slot * d->n + call];

		errors += read_one(&c->errors);
		sum_histogram(&waited, &c->waited);
		sum_histogram(&ran, &c->ran);
	}
	if (waited.count == 0)
		return;
	metrics_add(s, METRICS_FAMILY_CALLS, (double)waited.count, labels, 2);
	metrics_add(s, METRICS_FAMILY_CALL_ERRORS, (double)errors, labels, 2);
	add_totals(s, METRICS_FAMILY_CALL_QUEUE, &waited, labels, 2);
	add_totals(s, METRICS_FAMILY_CALL_RUN, &ran, labels, 2);
}

static void take_database(struct metrics_snapshot *s, const struct metrics_database *d)
{
	const struct metrics_label label = { "database", d->name };
	struct metrics_totals groups = { .bounds = &metrics_sizes }, flushes = { .bounds = &metrics_times };

	for (size_t i = 0; i < d->n; i++)
		take_call(s, d, i);
	sum_histogram(&groups, &d->groups);
	sum_histogram(&flushes, &d->flushes);
	add_totals(s, METRICS_FAMILY_COMMIT_GROUP, &groups, &label, 1);
	add_totals(s, METRICS_FAMILY_FLUSH, &flushes, &label, 1);
	metrics_add(s, METRICS_FAMILY_CLEAN_RUNS, (double)read_one(&d->clean_steps), &label, 1);
	metrics_add(s, METRICS_FAMILY_CLEAN_ROWS, (double)read_one(&d->clean_rows), &label, 1);
	metrics_add(s, METRICS_FAMILY_CLEAN_DUE, atomic_load(&d->clean_more), &label, 1);
}

static double sum_counter(const struct metrics *m, enum metrics_counter c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < METRICS_SLOTS; i++)
		n += read_one(&m->slots[i].counters[c]);
	return (double)n;
}

static void take_server(struct metrics_snapshot *s, const struct metrics *m)
{
	static const struct {
		const char *outcome;
		enum metrics_counter counter;
	} logins[] = { { "accepted", METRICS_LOGIN_ACCEPTED },
		       { "refused", METRICS_LOGIN_REFUSED },
		       { "throttled", METRICS_LOGIN_THROTTLED },
		       { "failed", METRICS_LOGIN_FAILED } };

	for (size_t i = 0; i < ARRAY_LEN(logins); i++) {
		const struct metrics_label label = { "outcome", logins[i].outcome };

		metrics_add(s, METRICS_FAMILY_LOGINS, sum_counter(m, logins[i].counter), &label, 1);
	}
	metrics_add(s, METRICS_FAMILY_SLOW_CALLS, sum_counter(m, METRICS_SLOW_CALLS), NULL, 0);
}

int metrics_take(struct metrics *m, struct metrics_snapshot **ret, struct err *reterr)
{
	struct metrics_snapshot *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return err_nomem(reterr);
	arena_init(&s->arena, SNAPSHOT_MOST);
	take_server(s, m);
	lock_take(&m->lock);
	LIST_EACH (it, &m->databases) {
		const struct metrics_database *d = CONTAINER_OF(it, struct metrics_database, link);

		if (!d->hidden)
			take_database(s, d);
	}
	lock_give(&m->lock);
	for (size_t i = 0; i < m->ncollectors; i++)
		m->collectors[i].collect(s, m->collectors[i].arg);
	if (s->failed) {
		metrics_snapshot_free(s);
		return err_nomem(reterr);
	}
	*ret = s;
	return 0;
}

void metrics_snapshot_free(struct metrics_snapshot *s)
{
	if (s == NULL)
		return;
	arena_fini(&s->arena);
	free(s);
}

/* ---- reading ---- */

/* Within a bucket all values are taken to be as far apart, as Prometheus' histogram_quantile does;
 * what is above the last bound is that bound. */
double metrics_quantile(const struct metrics_totals *t, double part)
{
	const struct metrics_bounds *b = t->bounds;
	double rank = part * (double)t->count, below = 0;

	if (t->count == 0)
		return 0;
	for (unsigned i = 0; i < b->n; i++) {
		double n = (double)t->counts[i], low = i == 0 ? 0 : (double)b->upto[i - 1];

		if (n > 0 && below + n >= rank)
			return (low + ((double)b->upto[i] - low) * (rank - below) / n) * b->unit;
		below += n;
	}
	return (double)b->upto[b->n - 1] * b->unit;
}

const char *metrics_row_value(const struct metrics_row *r, const char *name)
{
	for (unsigned i = 0; i < r->nlabels; i++) {
		if (strcmp(r->labels[i].name, name) == 0)
			return r->labels[i].value;
	}
	return NULL;
}

const char *metrics_row_label(const struct metrics_row *r)
{
	if (r->le != NULL)
		return r->le;
	for (unsigned i = 0; i < r->nlabels; i++) {
		if (strcmp(r->labels[i].name, "database") != 0 && strcmp(r->labels[i].name, "procedure") != 0)
			return r->labels[i].value;
	}
	return NULL;
}

struct rows {
	int (*row)(const struct metrics_row *r, void *arg);
	void *arg;
	bool buckets;
};

static int each_bucket(const struct metrics_totals *t, struct metrics_row *r, const struct rows *to)
{
	char le[32];
	uint64_t n = 0;
	int rc = 0;

	r->suffix = "_bucket";
	r->le = le;
	for (unsigned i = 0; i <= t->bounds->n && rc == 0; i++) {
		n += t->counts[i];
		if (i < t->bounds->n)
			snprintf(le, sizeof(le), "%g", (double)t->bounds->upto[i] * t->bounds->unit);
		else
			snprintf(le, sizeof(le), "+Inf");
		r->value = (double)n;
		rc = to->row(r, to->arg);
	}
	r->le = NULL;
	return rc;
}

static int each_histogram(const struct metrics_totals *t, struct metrics_row *r, const struct rows *to)
{
	int rc = to->buckets ? each_bucket(t, r, to) : 0;

	if (rc != 0)
		return rc;
	r->suffix = "_sum";
	r->value = (double)t->sum * t->bounds->unit;
	rc = to->row(r, to->arg);
	if (rc != 0)
		return rc;
	r->suffix = "_count";
	r->value = (double)t->count;
	return to->row(r, to->arg);
}

int metrics_each(const struct metrics_snapshot *s, bool buckets,
		 int (*row)(const struct metrics_row *r, void *arg), void *arg)
{
	const struct rows to = { row, arg, buckets };
	int rc = 0;

	for (unsigned f = 0; f < METRICS_FAMILIES; f++) {
		for (const struct metrics_sample *m = s->first[f]; m != NULL && rc == 0; m = m->next) {
			struct metrics_row r = { .family = (enum metrics_family)f,
						 .name = families[f].name,
						 .suffix = "",
						 .labels = m->labels,
						 .nlabels = m->nlabels,
						 .value = m->value };

			rc = m->totals == NULL ? row(&r, arg) : each_histogram(m->totals, &r, &to);
		}
	}
	return rc;
}
