/* copier.c — see copier.h. Every look at the source is one moment, so that after each round the
 * target is the source as it was then: no row of one moment ever meets another one's. */
#include "engine/copier.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_ROWS 10000
#define BATCH_BYTES ((uint64_t)8 << 20)

struct copier {
	struct copy_side *from, *to; /* borrowed */
	struct copy_tables tables;
	struct copy_keys changed; /* that are to be copied again */
	uint64_t batch_rows, batch_bytes;
	atomic_ullong rows, rows_total, bytes, again;
};

/* Columns of which each engine has its own value. */
static const struct {
	enum service service;
	const char *table, *column, *value;
} own_columns[] = {
	/* the checksums of the engines differ */
	{ SERVICE_STATE, "item", "sum", "checksum((SELECT body.data FROM body WHERE body.n = item.n))" },
	/* all renewals are durable in a database that was just made */
	{ SERVICE_STATE, "promise", "until", "0" },
};

/* ---- what is compared ---- */

/* Of some rows of a table, whatever their order. */
struct sum {
	uint64_t rows, sum;
};

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

static uint64_t mix_bytes(uint64_t h, struct str s)
{
	uint64_t word;

	while (s.n >= sizeof(word)) {
		memcpy(&word, s.p, sizeof(word));
		h = mix(h, word);
		s.p += sizeof(word);
		s.n -= sizeof(word);
	}
	word = 0;
	if (s.n > 0)
		memcpy(&word, s.p, s.n);
	return mix(h, word);
}

static void sum_add(struct sum *s, const struct copy_table *t, const struct copy_cell *cells)
{
	uint64_t h = 1;

	for (unsigned i = 0; i < t->ncolumns; i++) {
		if (t->columns[i].own != NULL)
			continue;
		h = mix(h, cells[i].kind);
		if (cells[i].kind == COPY_NUMBER)
			h = mix(h, (uint64_t)cells[i].number);
		else if (cells[i].kind != COPY_NULL)
			h = mix_bytes(mix(h, cells[i].bytes.n), cells[i].bytes);
	}
	s->rows++;
	s->sum += h;
}

static int compare(const struct copy_table *t, const struct sum *from, const struct sum *to,
		   struct err *reterr)
{
	if (from->rows == to->rows && from->sum == to->sum)
		return 0;
	return err_raise(
		reterr, 50021, 16, 1,
		"The copy is not what was copied: table '%s' has %" PRIu64 " rows with the sum %016" PRIx64
		" there, and %" PRIu64 " with the sum %016" PRIx64
		" in the copy. Something else changes one of the two databases. Nothing was moved; find "
		"out what, then try again.",
		t->name, from->rows, from->sum, to->rows, to->sum);
}

/* ---- rows on their way ---- */

struct passing {
	struct copier *copier;
	const struct copy_table *table;
	struct sum sum;
	bool counted, batched; /* it is progress; it is committed now and then */
};

static bool is_stopped(const struct copier *c)
{
	return engine_copy_is_stopped(c->from);
}

static int read_row(void *arg, const struct copy_cell *cells, struct err *reterr)
{
	struct passing *p = arg;

	sum_add(&p->sum, p->table, cells);
	if (p->counted)
		atomic_fetch_add(&p->copier->rows, 1);
	return p->sum.rows % 64 == 0 && is_stopped(p->copier) ? err_set(reterr, ERR_CANCELLED) : 0;
}

static int begin_again(struct copier *c, struct err *reterr)
{
	c->batch_rows = c->batch_bytes = 0;
	return c->to->ops->commit(c->to, false, reterr) < 0 ? -1 : c->to->ops->begin(c->to, reterr);
}

static int copy_row_over(void *arg, const struct copy_cell *cells, struct err *reterr)
{
	struct passing *p = arg;
	struct copier *c = p->copier;
	struct copy_cell out[COPY_COLUMNS];
	uint64_t bytes = 0;

	for (unsigned i = 0; i < p->table->ncolumns; i++) {
		out[i] = cells[i];
		if (p->table->columns[i].own != NULL)
			out[i] = (struct copy_cell){ .kind = COPY_NUMBER };
		bytes += out[i].kind == COPY_NUMBER ? sizeof(out[i].number) : out[i].bytes.n;
	}
	if (c->to->ops->put(c->to, p->table, out, reterr) < 0)
		return -1;
	atomic_fetch_add(&c->bytes, bytes);
	c->batch_rows++;
	c->batch_bytes += bytes;
	if (p->batched && (c->batch_rows >= BATCH_ROWS || c->batch_bytes >= BATCH_BYTES) &&
	    begin_again(c, reterr) < 0)
		return -1;
	return read_row(p, cells, reterr);
}

static bool has_own(const struct copy_table *t)
{
	for (unsigned i = 0; i < t->ncolumns; i++) {
		if (t->columns[i].own != NULL)
			return true;
	}
	return false;
}

/* ---- all of it ---- */

static int copy_table(struct copier *c, const struct copy_table *t, struct err *reterr)
{
	struct passing p = { .copier = c, .table = t, .counted = true, .batched = true };

	return c->to->ops->begin(c->to, reterr) < 0 || c->to->ops->remove(c->to, t, NULL, 0, reterr) < 0 ||
			       c->from->ops->each(c->from, t, copy_row_over, &p, reterr) < 0 ||
			       c->to->ops->commit(c->to, false, reterr) < 0
		       ? -1
		       : 0;
}

/* After all rows: they are made of those of other tables. */
static int make_own(struct copier *c, struct err *reterr)
{
	for (unsigned i = 0; i < c->tables.n; i++) {
		const struct copy_table *t = &c->tables.table[i];

		if (has_own(t) &&
		    (c->to->ops->begin(c->to, reterr) < 0 || c->to->ops->own(c->to, t, NULL, 0, reterr) < 0 ||
		     c->to->ops->commit(c->to, false, reterr) < 0))
			return -1;
	}
	return 0;
}

static int count_all(struct copier *c, struct err *reterr)
{
	uint64_t all = 0, n;

	for (unsigned i = 0; i < c->tables.n; i++) {
		if (c->from->ops->count(c->from, &c->tables.table[i], &n, reterr) < 0)
			return -1;
		all += n;
	}
	atomic_store(&c->rows, 0);
	atomic_store(&c->rows_total, all);
	return 0;
}

int engine_copier_copy(struct copier *c, struct err *reterr)
{
	if (c->from->ops->note(c->from, &c->tables, reterr) < 0 ||
	    c->from->ops->look(c->from, &c->changed, reterr) < 0 || count_all(c, reterr) < 0)
		return -1;
	c->changed.n = 0; /* changed before that moment */
	for (unsigned i = 0; i < c->tables.n; i++) {
		if (copy_table(c, &c->tables.table[i], reterr) < 0)
			return -1;
	}
	return make_own(c, reterr) < 0 ? -1 : c->from->ops->looked(c->from, reterr);
}

/* ---- what has changed ---- */

static int compare_keys(const void *a, const void *b)
{
	const struct copy_key *x = a, *y = b;
	int rc = (int)x->table - (int)y->table;

	if (rc == 0)
		rc = memcmp(x->bytes, y->bytes, sizeof(x->bytes));
	if (rc == 0)
		rc = (int)x->nbytes - (int)y->nbytes;
	for (unsigned i = 0; rc == 0 && i < COPY_KEY_NUMBERS; i++)
		rc = (x->numbers[i] > y->numbers[i]) - (x->numbers[i] < y->numbers[i]);
	return rc;
}

/* Each once, those of a table together. */
static void put_in_order(struct copy_keys *k)
{
	size_t n = 0;

	if (k->n == 0)
		return;
	qsort(k->list, k->n, sizeof(*k->list), compare_keys);
	for (size_t i = 1; i < k->n; i++) {
		if (compare_keys(&k->list[n], &k->list[i]) != 0)
			k->list[++n] = k->list[i];
	}
	k->n = n + 1;
}

/* Those of table number i: the first, and how many. */
static const struct copy_key *keys_of(const struct copier *c, unsigned table, size_t *ret_n)
{
	size_t first = 0, n = 0;

	while (first < c->changed.n && c->changed.list[first].table < table)
		first++;
	while (first + n < c->changed.n && c->changed.list[first + n].table == table)
		n++;
	*ret_n = n;
	return c->changed.list + first;
}

typedef int for_table(struct copier *c, unsigned table, const struct copy_key *keys, size_t n,
		      struct sum *sum, struct err *reterr);

static int each_changed(struct copier *c, for_table *fn, struct sum *sums, struct err *reterr)
{
	for (unsigned i = 0; i < c->tables.n; i++) {
		size_t n;
		const struct copy_key *keys = keys_of(c, i, &n);

		if (n > 0 && fn(c, i, keys, n, &sums[i], reterr) < 0)
			return -1;
	}
	return 0;
}

static int remove_old(struct copier *c, unsigned table, const struct copy_key *keys, size_t n,
		      struct sum *sum, struct err *reterr)
{
	(void)sum;
	return c->to->ops->remove(c->to, &c->tables.table[table], keys, n, reterr);
}

static int copy_new(struct copier *c, unsigned table, const struct copy_key *keys, size_t n, struct sum *sum,
		    struct err *reterr)
{
	struct passing p = { .copier = c, .table = &c->tables.table[table] };
	int rc = c->from->ops->find(c->from, p.table, keys, n, copy_row_over, &p, reterr);

	*sum = p.sum;
	return rc;
}

static int own_new(struct copier *c, unsigned table, const struct copy_key *keys, size_t n, struct sum *sum,
		   struct err *reterr)
{
	const struct copy_table *t = &c->tables.table[table];

	(void)sum;
	return has_own(t) ? c->to->ops->own(c->to, t, keys, n, reterr) : 0;
}

static int read_back(struct copier *c, unsigned table, const struct copy_key *keys, size_t n, struct sum *sum,
		     struct err *reterr)
{
	struct passing p = { .copier = c, .table = &c->tables.table[table] };

	if (c->to->ops->find(c->to, p.table, keys, n, read_row, &p, reterr) < 0)
		return -1;
	return compare(p.table, sum, &p.sum, reterr);
}

/* All that has to go goes first: a row may have taken another one's place. */
static int follow(struct copier *c, bool flushed, struct err *reterr)
{
	struct sum sums[COPY_TABLES];

	put_in_order(&c->changed);
	memset(sums, 0, sizeof(sums));
	if (c->changed.n > 0 &&
	    (c->to->ops->begin(c->to, reterr) < 0 || each_changed(c, remove_old, sums, reterr) < 0 ||
	     each_changed(c, copy_new, sums, reterr) < 0 || each_changed(c, own_new, sums, reterr) < 0 ||
	     c->to->ops->commit(c->to, flushed, reterr) < 0 || each_changed(c, read_back, sums, reterr) < 0))
		return -1;
	atomic_fetch_add(&c->again, c->changed.n);
	return 0;
}

int engine_copier_follow(struct copier *c, uint64_t *ret, struct err *reterr)
{
	if (c->from->ops->look(c->from, &c->changed, reterr) < 0 || follow(c, false, reterr) < 0)
		return -1;
	*ret = c->changed.n;
	c->changed.n = 0;
	return c->from->ops->looked(c->from, reterr);
}

/* ---- whether it is the same ---- */

static int verify_table(struct copier *c, const struct copy_table *t, struct err *reterr)
{
	struct passing from = { .copier = c, .table = t, .counted = true }, to = { .copier = c, .table = t };

	if (c->from->ops->each(c->from, t, read_row, &from, reterr) < 0 ||
	    c->to->ops->each(c->to, t, read_row, &to, reterr) < 0)
		return -1;
	return compare(t, &from.sum, &to.sum, reterr);
}

int engine_copier_verify(struct copier *c, struct err *reterr)
{
	if (c->from->ops->look(c->from, &c->changed, reterr) < 0 || follow(c, false, reterr) < 0 ||
	    count_all(c, reterr) < 0 || c->from->ops->sound(c->from, reterr) < 0)
		return -1;
	c->changed.n = 0;
	for (unsigned i = 0; i < c->tables.n; i++) {
		if (verify_table(c, &c->tables.table[i], reterr) < 0)
			return -1;
	}
	return c->from->ops->looked(c->from, reterr);
}

/* ---- the end ---- */

static int copy_numbers(struct copier *c, struct err *reterr)
{
	int64_t last;

	for (unsigned i = 0; i < c->tables.n; i++) {
		const struct copy_table *t = &c->tables.table[i];

		if (t->counts && (c->from->ops->last(c->from, t, &last, reterr) < 0 ||
				  c->to->ops->set_last(c->to, t, last, reterr) < 0))
			return -1;
	}
	return 0;
}

int engine_copier_finish(struct copier *c, struct err *reterr)
{
	int64_t ticks;

	if (c->from->ops->settle(c->from, reterr) < 0 ||
	    c->from->ops->look(c->from, &c->changed, reterr) < 0 || follow(c, false, reterr) < 0 ||
	    c->from->ops->clock(c->from, &ticks, reterr) < 0 || c->to->ops->begin(c->to, reterr) < 0 ||
	    copy_numbers(c, reterr) < 0 || c->to->ops->set_clock(c->to, ticks, reterr) < 0 ||
	    c->to->ops->commit(c->to, true, reterr) < 0)
		return -1;
	c->changed.n = 0;
	return c->to->ops->finish(c->to, reterr);
}

/* ---- life ---- */

static void mark_own(struct copy_tables *t, enum service service)
{
	for (size_t i = 0; i < ARRAY_LEN(own_columns); i++) {
		for (unsigned k = 0; own_columns[i].service == service && k < t->n; k++) {
			struct copy_table *one = &t->table[k];

			for (unsigned j = 0;
			     strcmp(one->name, own_columns[i].table) == 0 && j < one->ncolumns; j++) {
				if (strcmp(one->columns[j].name, own_columns[i].column) == 0)
					one->columns[j].own = own_columns[i].value;
			}
		}
	}
}

int engine_copier_new(enum service service, struct copy_side *from, struct copy_side *to, struct copier **ret,
		      struct err *reterr)
{
	struct copier *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return err_nomem(reterr);
	c->from = from;
	c->to = to;
	if (from->ops->tables(from, &c->tables, reterr) < 0 ||
	    (c->tables.n == 0 && to->ops->tables(to, &c->tables, reterr) < 0)) {
		engine_copier_free(c);
		return -1;
	}
	mark_own(&c->tables, service);
	*ret = c;
	return 0;
}

void engine_copier_free(struct copier *c)
{
	if (c == NULL)
		return;
	catalogue_copy_keys_fini(&c->changed);
	free(c);
}

void engine_copier_look(struct copier *c, struct copier_progress *ret)
{
	*ret = (struct copier_progress){ .rows = atomic_load(&c->rows),
					 .rows_total = atomic_load(&c->rows_total),
					 .bytes = atomic_load(&c->bytes),
					 .changed = atomic_load(&c->again) };
}
