/* cursor.c — see cursor.h: rows, positions, and the table of a session's cursors. */
#include "session/cursor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- taking rows ---- */

static struct cursor *of_sink(struct sink *s)
{
	return CONTAINER_OF(s, struct cursor, sink);
}

static int full(struct cursor *c)
{
	c->full = true;
	return -1;
}

/* ROWSTAT comes last. */
static int take_columns(struct sink *s, const struct column *cols, size_t n)
{
	static const struct column rowstat = { "ROWSTAT", TYPE_OF(TYPE_INT), false };
	struct cursor *c = of_sink(s);

	if (c->complete || c->columns != NULL) {
		c->complete = true;
		return 0;
	}
	c->columns = arena_array(&c->arena, n + 1, sizeof(*c->columns));
	if (c->columns == NULL)
		return full(c);
	for (size_t i = 0; i < n; i++) {
		c->columns[i] = cols[i];
		c->columns[i].name = arena_strndup(&c->arena, cols[i].name, strlen(cols[i].name));
		if (c->columns[i].name == NULL)
			return full(c);
	}
	c->columns[n] = rowstat;
	c->ncolumns = n + 1;
	return 0;
}

static int grow(struct cursor *c)
{
	size_t cap = c->cap == 0 ? 64 : c->cap * 2;
	struct value **rows = arena_array(&c->arena, cap, sizeof(struct value *));

	if (rows == NULL)
		return full(c);
	if (c->nrows > 0)
		memcpy(rows, c->rows, c->nrows * sizeof(struct value *));
	c->rows = rows;
	c->cap = cap;
	return 0;
}

static int take_row(struct sink *s, const struct value *vals, size_t n)
{
	struct cursor *c = of_sink(s);
	struct value *row;

	if (c->complete)
		return 0;
	if (c->nrows == c->cap && grow(c) < 0)
		return -1;
	row = arena_array(&c->arena, n + 1, sizeof(*row));
	if (row == NULL)
		return full(c);
	for (size_t i = 0; i < n; i++) {
		if (value_copy(&vals[i], &c->arena, &row[i], NULL) < 0)
			return full(c);
	}
	row[n] = value_int(TYPE_INT, 1); /* the row is there */
	c->rows[c->nrows++] = row;
	return 0;
}

static int take_rows_done(struct sink *s, uint64_t rows)
{
	(void)rows;
	of_sink(s)->complete = true;
	return 0;
}

static int take_message(struct sink *s, const struct err *e)
{
	return call_sink_message(of_sink(s)->messages, e);
}

static size_t take_mark(struct sink *s)
{
	return of_sink(s)->nrows;
}

static bool take_back(struct sink *s, size_t mark)
{
	struct cursor *c = of_sink(s);

	c->nrows = mark;
	c->complete = false;
	if (mark == 0)
		c->columns = NULL;
	return true;
}

static const struct sink_ops ops = {
	.columns = take_columns,
	.row = take_row,
	.rows_done = take_rows_done,
	.message = take_message,
	.mark = take_mark,
	.rewind = take_back,
};

/* ---- the table ---- */

static void cursor_free(struct cursor *c)
{
	if (c == NULL)
		return;
	arena_fini(&c->arena);
	free(c);
}

void session_cursors_init(struct cursor_table *t, struct budget *b)
{
	*t = (struct cursor_table){ .next = 180150001, .budget = b }; /* where SQL Server's begin */
}

void session_cursors_fini(struct cursor_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		cursor_free(t->items[i]);
	free(t->items);
	session_cursor_give_up(t);
	*t = (struct cursor_table){ .next = t->next, .budget = t->budget };
}

void session_cursor_give_up(struct cursor_table *t)
{
	cursor_free(t->opening);
	t->opening = NULL;
}

int session_cursor_new(struct cursor_table *t, struct sink *messages, size_t limit, struct cursor **ret,
		       struct err *reterr)
{
	struct cursor *c = calloc(1, sizeof(*c));

	assert(t->opening == NULL);
	if (c == NULL)
		return err_nomem(reterr);
	c->sink.ops = &ops;
	c->messages = messages;
	arena_init(&c->arena, limit);
	arena_charge(&c->arena, t->budget);
	*ret = t->opening = c;
	return 0;
}

int session_cursor_keep(struct cursor_table *t, size_t most, struct err *reterr)
{
	struct cursor *c = t->opening;
	size_t cap = t->cap == 0 ? 8 : t->cap * 2;
	struct cursor **items;

	assert(c != NULL);
	if (t->n >= most)
		return err_set(reterr, ERR_TOO_LARGE, "The number of cursors", (unsigned long long)most,
			       "max_prepared");
	if (t->n == t->cap) {
		items = realloc(t->items, cap * sizeof(struct cursor *));
		if (items == NULL)
			return err_nomem(reterr);
		t->items = items;
		t->cap = cap;
	}
	c->handle = t->next;
	t->next = t->next == INT32_MAX ? 1 : t->next + 2;
	t->items[t->n++] = c;
	t->opening = NULL;
	return 0;
}

struct cursor *session_cursor_find(const struct cursor_table *t, int32_t handle)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->items[i]->handle == handle)
			return t->items[i];
	}
	return NULL;
}

bool session_cursor_drop(struct cursor_table *t, int32_t handle)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->items[i]->handle != handle)
			continue;
		cursor_free(t->items[i]);
		t->items[i] = t->items[--t->n];
		return true;
	}
	return false;
}

/* ---- positions ---- */

/* The rowset before the current one; where less rows are left than a rowset has, it begins with
 * the first. */
static int64_t prior(const struct cursor *c, int64_t n)
{
	if (c->position <= 1)
		return 0;
	return c->position - n < 1 ? 1 : c->position - n;
}

/* From the end: -1 is the last row. */
static int64_t absolute(int64_t end, int64_t row, int64_t n)
{
	if (row >= 0)
		return row;
	if (end + row >= 1)
		return end + row;
	return -row <= n ? 1 : 0;
}

/* Where the rowset begins; the caller keeps it between 0 and the end. */
static int64_t target(const struct cursor *c, int type, int64_t row, int64_t n)
{
	int64_t end = (int64_t)c->nrows + 1;

	switch (type) {
	case FETCH_FIRST: return n == 0 ? 0 : 1;
	case FETCH_NEXT: return c->position == 0 ? 1 : c->position + c->fetched;
	case FETCH_PRIOR: return prior(c, n);
	case FETCH_LAST: return n == 0 ? end : end - n < 1 ? (c->nrows > 0) : end - n;
	case FETCH_ABSOLUTE: return absolute(end, row, n);
	case FETCH_RELATIVE: return c->position + row;
	default: return c->position; /* FETCH_REFRESH */
	}
}

int session_cursor_move(struct cursor *c, int type, int64_t row, int64_t n, size_t *ret_first, size_t *ret_n)
{
	int64_t end = (int64_t)c->nrows + 1, at;
	bool scrolls = c->scroll == CURSOR_STATIC;

	if (!scrolls && type != FETCH_NEXT && type != FETCH_REFRESH &&
	    !(type == FETCH_FIRST && c->position == 0))
		return -1;
	at = target(c, type, row, n);
	at = at < 0 ? 0 : at > end ? end : at;
	c->position = at;
	if (type != FETCH_REFRESH)
		c->fetched = n;
	*ret_first = at < 1 ? 0 : (size_t)at - 1;
	*ret_n = at < 1 || at >= end ? 0 : (size_t)(n < end - at ? n : end - at);
	return 0;
}

int64_t session_cursor_where(const struct cursor *c)
{
	return c->position > (int64_t)c->nrows ? -1 : c->position;
}
