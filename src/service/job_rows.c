/* job_rows.c — rows of a job document: gathered, and reduced to the last mention of each item. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "service/jobs_int.h"

int service_job_rows_add(struct job_rows *r, struct arena *a, const struct value *fields, size_t n,
			 struct err *reterr)
{
	if (r->n == r->cap) {
		size_t cap = r->cap == 0 ? 16 : r->cap * 2;
		struct value(*rows)[4] = arena_array(a, cap, sizeof(*rows));
		bool *changed = arena_array(a, cap, sizeof(bool));

		if (rows == NULL || changed == NULL)
			return err_nomem(reterr);
		if (r->n > 0)
			memcpy(rows, r->rows, r->n * sizeof(*rows));
		r->rows = rows;
		r->changed = changed;
		r->cap = cap;
	}
	assert(r->n < r->cap);
	memcpy(r->rows[r->n], fields, (n < 4 ? n : 4) * sizeof(struct value));
	r->n++;
	return 0;
}

void service_job_rows_begin(struct job_rows *r)
{
	if (r->n > 0)
		memset(r->changed, 0, r->n * sizeof(*r->changed));
}

int service_job_key_compare(const struct value *a, const struct value *b, size_t columns)
{
	for (size_t i = 0; i < columns; i++)
		if (a[i].u.i != b[i].u.i)
			return a[i].u.i < b[i].u.i ? -1 : 1;
	return 0;
}

/* Rows lie in one array, so of two equal keys the later address is the later mention. */
static int compare_rows(const void *pa, const void *pb)
{
	const struct value *a = *(const struct value *const *)pa, *b = *(const struct value *const *)pb;
	int c = service_job_key_compare(a, b, 3);

	return c != 0 ? c : (a > b) - (a < b);
}

int service_job_rows_last_only(struct job_rows *r, struct err *reterr)
{
	const struct value **order;
	struct value(*kept)[4];
	size_t n = 0;

	if (r->n < 2)
		return 0;
	order = calloc(r->n, sizeof(*order));
	kept = calloc(r->n, sizeof(*kept));
	if (order == NULL || kept == NULL) {
		free(order);
		free(kept);
		return err_nomem(reterr);
	}
	for (size_t i = 0; i < r->n; i++)
		order[i] = r->rows[i];
	qsort(order, r->n, sizeof(*order), compare_rows);
	for (size_t i = 0; i < r->n; i++)
		if (i + 1 == r->n || service_job_key_compare(order[i], order[i + 1], 3) != 0)
			memcpy(kept[n++], order[i], sizeof(*kept));
	assert(n > 0 && n <= r->n); /* of each item one mention stays */
	memcpy(r->rows, kept, n * sizeof(*kept));
	r->n = n;
	free(order);
	free(kept);
	return 0;
}
