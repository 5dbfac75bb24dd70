/* collect.c — the sink of a local batch: result sets and messages, in the arena of the run. An
 * engine may run a call twice before it is answered: one mark is enough, as for a session. */
#include <assert.h>

#include "local/local_int.h"

static struct local_run *run_of(struct sink *s)
{
	return CONTAINER_OF(s, struct local_run, sink);
}

/* The columns live as long as the call, and the answer longer. */
static const struct column *copy_columns(struct arena *a, const struct column *c, size_t n)
{
	struct column *copy = arena_array(a, n, sizeof(*copy));

	for (size_t i = 0; copy != NULL && i < n; i++) {
		copy[i] = c[i];
		copy[i].name = arena_strndup(a, c[i].name, strlen(c[i].name));
		if (copy[i].name == NULL)
			return NULL;
	}
	return copy;
}

static int keep_columns(struct sink *s, const struct column *c, size_t n)
{
	struct local_run *r = run_of(s);
	struct local_set *set = arena_alloc(&r->arena, sizeof(*set));

	if (set == NULL)
		return -1;
	*set = (struct local_set){ .columns = copy_columns(&r->arena, c, n), .ncolumns = n };
	if (set->columns == NULL)
		return -1;
	if (r->last_set == NULL)
		r->sets = set;
	else
		r->last_set->next = set;
	r->last_set = set;
	r->nsets++;
	return 0;
}

static int keep_row(struct sink *s, const struct value *v, size_t n)
{
	struct local_run *r = run_of(s);
	struct local_set *set = r->last_set;

	assert(set != NULL && set->ncolumns == n);
	return engine_rows_add(&set->rows, &r->arena, v, n);
}

static int keep_done(struct sink *s, uint64_t rows)
{
	(void)s, (void)rows;
	return 0;
}

static int keep_message(struct sink *s, const struct err *e)
{
	struct local_run *r = run_of(s);
	struct local_message *m = arena_alloc(&r->arena, sizeof(*m));

	if (m == NULL)
		return -1;
	m->err = *e;
	if (r->last_message == NULL)
		r->messages = m;
	else
		r->last_message->next = m;
	r->last_message = m;
	r->nmessages++;
	return 0;
}

static size_t keep_mark(struct sink *s)
{
	struct local_run *r = run_of(s);

	r->mark_sets = r->nsets;
	r->mark_messages = r->nmessages;
	r->mark_rows = r->last_set == NULL ? 0 : r->last_set->rows.n;
	return 0;
}

static void cut_sets(struct local_run *r, size_t n)
{
	r->nsets = n;
	r->last_set = NULL;
	for (struct local_set *set = r->sets; n > 0; set = set->next, n--)
		r->last_set = set;
	if (r->last_set == NULL)
		r->sets = NULL;
	else
		r->last_set->next = NULL;
}

static void cut_messages(struct local_run *r, size_t n)
{
	r->nmessages = n;
	r->last_message = NULL;
	for (struct local_message *m = r->messages; n > 0; m = m->next, n--)
		r->last_message = m;
	if (r->last_message == NULL)
		r->messages = NULL;
	else
		r->last_message->next = NULL;
}

static bool keep_rewind(struct sink *s, size_t mark)
{
	struct local_run *r = run_of(s);

	(void)mark;
	assert(r->mark_sets <= r->nsets && r->mark_messages <= r->nmessages);
	cut_sets(r, r->mark_sets);
	cut_messages(r, r->mark_messages);
	if (r->last_set != NULL)
		engine_rows_cut(&r->last_set->rows, r->mark_rows);
	return true;
}

const struct value *local_take_last_row(struct local_run *r, uint64_t *ret_rows)
{
	const struct engine_row *row = r->last_set->rows.last;

	*ret_rows = r->last_set->rows.n;
	cut_sets(r, r->nsets - 1);
	return row == NULL ? NULL : row->values;
}

const struct sink_ops local_sink_ops = {
	.columns = keep_columns,
	.row = keep_row,
	.rows_done = keep_done,
	.message = keep_message,
	.mark = keep_mark,
	.rewind = keep_rewind,
};
