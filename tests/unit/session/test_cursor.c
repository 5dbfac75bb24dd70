/* test_cursor.c — server cursors: the rows that they take, where each fetch leaves them, their
 * table and their bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "session/cursor.h"

#define ROOM ((size_t)1 << 20)

static struct budget account;
static struct cursor_table table;

static int set_up(void **state)
{
	(void)state;
	budget_init(&account, NULL, ROOM);
	session_cursors_init(&table, &account);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	session_cursors_fini(&table);
	assert_int_equal(account.used, 0);
	budget_fini(&account);
	return 0;
}

static struct cursor *make(uint32_t scroll, size_t limit)
{
	struct cursor *c = NULL;
	struct err e;

	assert_int_equal(session_cursor_new(&table, NULL, limit, &c, &e), 0);
	c->scroll = scroll;
	return c;
}

static const struct column column = { "n", TYPE_OF(TYPE_INT), false };

static int take(struct cursor *c, int rows)
{
	if (call_sink_columns(&c->sink, &column, 1) < 0)
		return -1;
	for (int i = 1; i <= rows; i++) {
		struct value v = value_int(TYPE_INT, i);

		if (call_sink_row(&c->sink, &v, 1) < 0)
			return -1;
	}
	return call_sink_rows_done(&c->sink, (uint64_t)rows);
}

static struct cursor *filled(uint32_t scroll, int rows)
{
	struct cursor *c = make(scroll, ROOM);

	assert_int_equal(take(c, rows), 0);
	return c;
}

/* One fetch: what it was asked, which rows it gives (from 0), and where it says that it is. */
struct fetch {
	int type;
	int row, n;
	size_t first, rows;
	int where;
};

static void check(uint32_t scroll, int rows, const struct fetch *fetches, size_t n)
{
	struct cursor *c = filled(scroll, rows);

	assert_int_equal(session_cursor_where(c), 0);
	for (size_t i = 0; i < n; i++) {
		const struct fetch *f = &fetches[i];
		size_t first, got;

		assert_int_equal(session_cursor_move(c, f->type, f->row, f->n, &first, &got), 0);
		if (got != f->rows || (got > 0 && first != f->first) || session_cursor_where(c) != f->where)
			fail_msg("fetch %zu: %zu rows from %zu, at %d", i, got, first,
				 (int)session_cursor_where(c));
	}
	session_cursor_give_up(&table);
}
#define CHECK(scroll, rows, ...) \
	do { \
		const struct fetch fetches[] = { __VA_ARGS__ }; \
		check(scroll, rows, fetches, sizeof(fetches) / sizeof(fetches[0])); \
	} while (0)

static void next_goes_on_after_the_last_rowset(void **state)
{
	(void)state;
	CHECK(CURSOR_STATIC, 5, { FETCH_NEXT, 0, 2, 0, 2, 1 }, { FETCH_NEXT, 0, 2, 2, 2, 3 },
	      { FETCH_NEXT, 0, 2, 4, 1, 5 }, { FETCH_NEXT, 0, 2, 0, 0, -1 }, { FETCH_NEXT, 0, 2, 0, 0, -1 });
	CHECK(CURSOR_STATIC, 0, { FETCH_NEXT, 0, 2, 0, 0, -1 });
	/* another size: it goes on after what the last one wanted */
	CHECK(CURSOR_STATIC, 9, { FETCH_NEXT, 0, 3, 0, 3, 1 }, { FETCH_NEXT, 0, 1, 3, 1, 4 },
	      { FETCH_NEXT, 0, 4, 4, 4, 5 });
}

static void first_and_last(void **state)
{
	(void)state;
	CHECK(CURSOR_STATIC, 5, { FETCH_LAST, 0, 2, 3, 2, 4 }, { FETCH_FIRST, 0, 2, 0, 2, 1 },
	      { FETCH_LAST, 0, 9, 0, 5, 1 });
	/* no rows wanted: before all, and after them */
	CHECK(CURSOR_STATIC, 5, { FETCH_LAST, 0, 0, 0, 0, -1 }, { FETCH_FIRST, 0, 0, 0, 0, 0 },
	      { FETCH_NEXT, 0, 1, 0, 1, 1 });
	CHECK(CURSOR_STATIC, 0, { FETCH_LAST, 0, 2, 0, 0, 0 }, { FETCH_FIRST, 0, 2, 0, 0, -1 });
}

static void prior_comes_back(void **state)
{
	(void)state;
	CHECK(CURSOR_STATIC, 5, { FETCH_LAST, 0, 2, 3, 2, 4 }, { FETCH_PRIOR, 0, 2, 1, 2, 2 },
	      { FETCH_PRIOR, 0, 2, 0, 2, 1 }, /* one row is left: the rowset begins with the first */
	      { FETCH_PRIOR, 0, 2, 0, 0, 0 }, { FETCH_NEXT, 0, 2, 0, 2, 1 });
	CHECK(CURSOR_STATIC, 5, { FETCH_LAST, 0, 0, 0, 0, -1 }, { FETCH_PRIOR, 0, 2, 3, 2, 4 });
}

static void absolute_counts_from_either_end(void **state)
{
	(void)state;
	CHECK(CURSOR_STATIC, 5, { FETCH_ABSOLUTE, 3, 1, 2, 1, 3 }, { FETCH_ABSOLUTE, -1, 1, 4, 1, 5 },
	      { FETCH_ABSOLUTE, -5, 2, 0, 2, 1 }, { FETCH_ABSOLUTE, 0, 1, 0, 0, 0 },
	      { FETCH_ABSOLUTE, 6, 1, 0, 0, -1 }, { FETCH_ABSOLUTE, -6, 1, 0, 0, 0 },
	      { FETCH_ABSOLUTE, -6, 9, 0, 5, 1 }, { FETCH_ABSOLUTE, INT32_MAX, 1, 0, 0, -1 },
	      { FETCH_ABSOLUTE, INT32_MIN, 1, 0, 0, 0 });
}

static void relative_counts_from_where_it_is(void **state)
{
	(void)state;
	CHECK(CURSOR_STATIC, 5, { FETCH_RELATIVE, 1, 1, 0, 1, 1 }, { FETCH_RELATIVE, 3, 1, 3, 1, 4 },
	      { FETCH_RELATIVE, -2, 2, 1, 2, 2 }, { FETCH_RELATIVE, 0, 1, 1, 1, 2 },
	      { FETCH_RELATIVE, -9, 1, 0, 0, 0 }, { FETCH_RELATIVE, INT32_MAX, 1, 0, 0, -1 },
	      { FETCH_RELATIVE, -1, 1, 4, 1, 5 });
}

static void refresh_stays(void **state)
{
	(void)state;
	CHECK(CURSOR_STATIC, 5, { FETCH_NEXT, 0, 2, 0, 2, 1 }, { FETCH_NEXT, 0, 2, 2, 2, 3 },
	      { FETCH_REFRESH, 0, 1, 2, 1, 3 }, { FETCH_NEXT, 0, 2, 4, 1, 5 });
}

static void forward_only_goes_forward_only(void **state)
{
	static const int types[] = { FETCH_PRIOR, FETCH_LAST, FETCH_ABSOLUTE, FETCH_RELATIVE };
	static const uint32_t kinds[] = { CURSOR_FORWARD, CURSOR_FAST_FORWARD };
	size_t first, n;

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct cursor *c = filled(kinds[k], 3);

		for (size_t i = 0; i < 4; i++)
			assert_int_equal(session_cursor_move(c, types[i], 1, 1, &first, &n), -1);
		assert_int_equal(session_cursor_move(c, FETCH_FIRST, 0, 1, &first, &n), 0);
		assert_int_equal(session_cursor_move(c, FETCH_FIRST, 0, 1, &first, &n), -1);
		assert_int_equal(session_cursor_move(c, FETCH_NEXT, 0, 5, &first, &n), 0);
		assert_true(first == 1 && n == 2);
		session_cursor_give_up(&table);
	}
}

static void the_first_result_set_is_its_own_and_rows_know_that_they_are_there(void **state)
{
	struct cursor *c = filled(CURSOR_STATIC, 100); /* more than the first room for rows */

	(void)state;
	assert_int_equal(take(c, 7), 0);
	assert_int_equal(c->nrows, 100);
	assert_int_equal(c->ncolumns, 2);
	assert_string_equal(c->columns[1].name, "ROWSTAT");
	for (size_t i = 0; i < 100; i++) {
		assert_int_equal(c->rows[i][0].u.i, i + 1);
		assert_int_equal(c->rows[i][1].u.i, 1);
	}
	session_cursor_give_up(&table);
}

static void rows_of_an_attempt_that_is_repeated_are_taken_back(void **state)
{
	struct cursor *c = make(CURSOR_STATIC, ROOM);
	size_t mark = c->sink.ops->mark(&c->sink);

	(void)state;
	assert_int_equal(take(c, 9), 0);
	assert_true(c->sink.ops->rewind(&c->sink, mark));
	assert_null(c->columns);
	assert_int_equal(take(c, 2), 0);
	assert_int_equal(c->nrows, 2);
	session_cursor_give_up(&table);
}

static void a_cursor_has_only_the_room_that_it_was_given(void **state)
{
	struct cursor *c = make(CURSOR_STATIC, 64 * 1024);

	(void)state;
	assert_int_equal(take(c, 100000), -1);
	assert_true(c->full && c->nrows < 10000);
	session_cursor_give_up(&table);
	c = make(CURSOR_STATIC, 64 * ROOM); /* and all of them together what the session has */
	assert_int_equal(take(c, 1000000), -1);
	assert_true(c->full && account.used <= ROOM);
	session_cursor_give_up(&table);
}

static struct cursor *kept(size_t most)
{
	struct cursor *c = filled(CURSOR_STATIC, 1);
	struct err e;

	assert_int_equal(session_cursor_keep(&table, most, &e), 0);
	assert_null(table.opening);
	return c;
}

static void handles_are_found_and_dropped_and_not_given_twice(void **state)
{
	struct cursor *a = kept(9), *b = kept(9);
	int32_t first, second;

	(void)state;
	first = a->handle;
	second = b->handle;
	assert_int_not_equal(first, second);
	assert_ptr_equal(session_cursor_find(&table, first), a);
	assert_true(session_cursor_drop(&table, first));
	assert_false(session_cursor_drop(&table, first));
	assert_null(session_cursor_find(&table, first));
	assert_ptr_equal(session_cursor_find(&table, second), b);
	a = kept(9);
	assert_true(a->handle != first && a->handle != second);
}

static void there_is_a_most_of_them(void **state)
{
	struct err e;

	(void)state;
	for (int i = 0; i < 20; i++)
		(void)kept(20);
	(void)filled(CURSOR_STATIC, 1);
	assert_int_equal(session_cursor_keep(&table, 20, &e), -1);
	assert_non_null(strstr(e.text, "max_prepared"));
	session_cursor_give_up(&table); /* it is still being opened */
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(next_goes_on_after_the_last_rowset),
		T(first_and_last),
		T(prior_comes_back),
		T(absolute_counts_from_either_end),
		T(relative_counts_from_where_it_is),
		T(refresh_stays),
		T(forward_only_goes_forward_only),
		T(the_first_result_set_is_its_own_and_rows_know_that_they_are_there),
		T(rows_of_an_attempt_that_is_repeated_are_taken_back),
		T(a_cursor_has_only_the_room_that_it_was_given),
		T(handles_are_found_and_dropped_and_not_given_twice),
		T(there_is_a_most_of_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
