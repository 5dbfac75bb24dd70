/* test_ledger.c — what was taken survives the end of the process, whatever is in its texts;
 * nothing starts before its time or in doubt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scheduler/ledger.h"

static char dir[] = "/tmp/procession-ledger-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
	static const char *const names[] = { "journal", "journal.new", "history", "lock" };
	char path[100];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	return rmdir(dir);
}

static struct taken *one(const char *id, int64_t due, const char *data)
{
	struct job_row row = { .assembly = "a",
			       .class = "c\\N",
			       .id = id,
			       .data = data,
			       .display_name = "tab\tline\nback\\slash \"q\" ü",
			       .due = 7 };
	struct taken *t = scheduler_taken_new(&row, due, due + 5);

	assert_non_null(t);
	t->next = 99;
	return t;
}

static struct ledger *opened(const char *where)
{
	struct ledger *l;
	struct err e = { 0 };

	assert_int_equal(scheduler_ledger_open(where, NULL, &l, &e), 0);
	return l;
}

/* As the scheduler does it: what is due is marked. */
static struct taken *start(struct ledger *l, int64_t now)
{
	bool withdrawn;
	struct taken *t = scheduler_ledger_due(l, now, &withdrawn);

	assert_false(withdrawn);
	if (t != NULL)
		scheduler_ledger_mark(l, t, TAKEN_RUNS);
	return t;
}

static void nothing_starts_before_its_time_or_in_doubt(void **state)
{
	struct ledger *l = opened(NULL);
	struct err e = { 0 };
	struct taken *t;

	(void)state;
	assert_int_equal(scheduler_ledger_add(l, one("x", 10, NULL), &e), 0);
	assert_null(start(l, 1000));
	scheduler_ledger_confirm(l);
	assert_int_equal(scheduler_ledger_next_start(l), 15);
	assert_null(start(l, 14));
	t = start(l, 15);
	assert_non_null(t);
	assert_null(start(l, 1000));
	assert_true(scheduler_ledger_runs(l, "x", NULL));
	assert_false(scheduler_ledger_runs(l, "x", t));
	scheduler_ledger_finish(l, t, "ok", 0, 15, 16);
	assert_int_equal(scheduler_ledger_count(l, TAKEN_RUNS), 0);
	assert_int_equal(scheduler_ledger_next_start(l), INT64_MAX);
	scheduler_ledger_close(l);
}

static void doubts_are_settled_by_row(void **state)
{
	struct ledger *l = opened(NULL);
	struct err e = { 0 };
	struct taken *list = one("x", 10, NULL), *doubt;

	(void)state;
	list->link = one("x", 20, NULL);
	list->link->link = one("y", 10, NULL);
	assert_int_equal(scheduler_ledger_add(l, list, &e), 0);
	doubt = scheduler_ledger_doubt(l);
	assert_string_equal(doubt->row.id, "x");
	scheduler_taken_free_list(doubt);
	scheduler_ledger_settle(l, "x", 7, true);
	assert_int_equal(scheduler_ledger_count(l, TAKEN_WAITS), 2);
	scheduler_ledger_settle(l, "y", 8, false); /* read at another time: not this one */
	assert_int_equal(scheduler_ledger_count(l, TAKEN_DOUBT), 1);
	scheduler_ledger_settle(l, "y", 7, false);
	assert_null(scheduler_ledger_doubt(l));
	scheduler_ledger_close(l);
}

static void all_of_it_is_there_after_a_restart(void **state)
{
	struct ledger *l = opened(dir);
	struct err e = { 0 };
	struct taken *t;

	(void)state;
	assert_int_equal(scheduler_ledger_add(l, one("waits", 10, "d"), &e), 0);
	assert_int_equal(scheduler_ledger_add(l, one("runs", 5, NULL), &e), 0);
	scheduler_ledger_confirm(l);
	assert_int_equal(scheduler_ledger_add(l, one("doubt", 30, ""), &e), 0);
	assert_string_equal(start(l, 10)->row.id, "runs");
	scheduler_ledger_close(l);

	l = opened(dir);
	assert_int_equal(scheduler_ledger_count(l, TAKEN_RUNS), 0); /* interrupted: in the history */
	assert_int_equal(scheduler_ledger_count(l, TAKEN_DOUBT), 1);
	t = start(l, 1000);
	assert_string_equal(t->row.id, "waits");
	assert_string_equal(t->row.data, "d");
	assert_string_equal(t->row.class, "c\\N");
	assert_string_equal(t->row.display_name, "tab\tline\nback\\slash \"q\" ü");
	assert_null(t->row.recurrence);
	assert_int_equal(t->row.due, 7);
	assert_int_equal(t->due, 10);
	assert_int_equal(t->start, 15);
	assert_int_equal(t->next, 99);
	scheduler_ledger_finish(l, t, "ok", 0, 15, 16);
	t = scheduler_ledger_doubt(l);
	assert_string_equal(t->row.data, "");
	scheduler_taken_free_list(t);
	scheduler_ledger_close(l);
}

static bool is_x(const void *arg, const struct job_row *row)
{
	return arg == NULL && strcmp(row->id, "x") == 0;
}

/* What runs once and has no handler is there after any number of restarts, and waits again when
 * one can run it. */
static void what_is_held_stays(void **state)
{
	struct ledger *l = opened(dir);
	struct err e = { 0 };
	bool withdrawn;

	(void)state;
	scheduler_ledger_settle(l, "doubt", 7, false); /* of the test before */
	assert_int_equal(scheduler_ledger_add(l, one("x", 10, NULL), &e), 0);
	assert_int_equal(scheduler_ledger_add(l, one("y", 11, NULL), &e), 0);
	scheduler_ledger_confirm(l);
	for (size_t i = 0; i < 2; i++) {
		scheduler_ledger_mark(l, scheduler_ledger_due(l, 1000, &withdrawn), TAKEN_HELD);
		scheduler_ledger_mark(l, scheduler_ledger_due(l, 1000, &withdrawn), TAKEN_HELD);
		assert_null(scheduler_ledger_due(l, 1000, &withdrawn));
		assert_int_equal(scheduler_ledger_next_start(l), INT64_MAX);
		scheduler_ledger_close(l);
		l = opened(dir);
		assert_int_equal(scheduler_ledger_count(l, TAKEN_WAITS), 2); /* looked at anew */
	}
	scheduler_ledger_mark(l, scheduler_ledger_due(l, 1000, &withdrawn), TAKEN_HELD);
	scheduler_ledger_mark(l, scheduler_ledger_due(l, 1000, &withdrawn), TAKEN_HELD);
	scheduler_ledger_release(l, is_x, l);
	assert_int_equal(scheduler_ledger_count(l, TAKEN_HELD), 2);
	scheduler_ledger_release(l, is_x, NULL);
	assert_int_equal(scheduler_ledger_count(l, TAKEN_HELD), 1);
	scheduler_ledger_finish(l, start(l, 1000), "ok", 0, 15, 16);
	scheduler_ledger_release(l, is_x, NULL);
	assert_int_equal(scheduler_ledger_count(l, TAKEN_HELD), 1);
	scheduler_ledger_close(l);
	l = opened(dir);
	scheduler_ledger_finish(l, start(l, 1000), "ok", 0, 15, 16);
	scheduler_ledger_close(l);
}

/* Of what starts long after it was taken the server is asked again; what is not there any more
 * is not run. */
static void what_was_withdrawn_is_told(void **state)
{
	struct ledger *l = opened(NULL);
	struct err e = { 0 };
	struct taken *t = one("x", 10, NULL);
	bool withdrawn;

	(void)state;
	t->row.recurrence = strdup("hourly at 00");
	t->link = one("once", 10, NULL);
	assert_int_equal(scheduler_ledger_add(l, t, &e), 0);
	scheduler_ledger_confirm(l);
	assert_null(scheduler_ledger_stale(l, 15));
	t = scheduler_ledger_stale(l, 16);
	assert_string_equal(t->row.id, "x");
	scheduler_taken_free_list(t);
	scheduler_ledger_recheck(l, "x", 10, true);
	assert_null(scheduler_ledger_stale(l, 16));
	assert_string_equal(scheduler_ledger_due(l, 15, &withdrawn)->row.id, "x");
	assert_false(withdrawn);
	scheduler_ledger_recheck(l, "x", 10, false);
	assert_non_null(scheduler_ledger_due(l, 15, &withdrawn));
	assert_true(withdrawn);
	assert_int_equal(scheduler_ledger_hurry(l), 2);
	assert_int_equal(scheduler_ledger_next_start(l), 10);
	assert_int_equal(scheduler_ledger_hurry(l), 0);
	scheduler_ledger_close(l);
}

static void a_folder_is_used_by_one(void **state)
{
	struct ledger *l = opened(dir), *second;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(scheduler_ledger_open(dir, NULL, &second, &e), -1);
	assert_non_null(strstr(e.text, "another scheduler"));
	scheduler_ledger_close(l);
}

static void damaged_lines_are_left_out(void **state)
{
	char path[100];
	FILE *f;
	struct ledger *l;

	(void)state;
	snprintf(path, sizeof(path), "%s/journal", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("waits\t1\t2\n\nwaits\t1\t10\t15\t99\tid\ta\tc\t\\N\t\\N\t\\N\nwaits\t1\t1\t1\t1\t\\N\ta\tc\t\\"
	      "N\t\\N\t\\N\nwaits\t1\t10",
	      f);
	fclose(f);
	l = opened(dir);
	assert_int_equal(scheduler_ledger_count(l, TAKEN_WAITS), 1);
	scheduler_ledger_close(l);
}

static void a_folder_that_cannot_be_written_takes_nothing(void **state)
{
	struct ledger *l = opened(dir);
	struct err e = { 0 };
	char path[100];
	size_t before = scheduler_ledger_count(l, TAKEN_DOUBT);

	(void)state;
	snprintf(path, sizeof(path), "%s/journal.new", dir);
	unlink(path);
	assert_int_equal(symlink("/nonexistent/x", path), 0);
	assert_int_equal(scheduler_ledger_add(l, one("x", 10, NULL), &e), -1);
	assert_int_equal(scheduler_ledger_count(l, TAKEN_DOUBT), before);
	unlink(path);
	scheduler_ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_starts_before_its_time_or_in_doubt),
		cmocka_unit_test(doubts_are_settled_by_row),
		cmocka_unit_test(all_of_it_is_there_after_a_restart),
		cmocka_unit_test(what_is_held_stays),
		cmocka_unit_test(what_was_withdrawn_is_told),
		cmocka_unit_test(a_folder_is_used_by_one),
		cmocka_unit_test(damaged_lines_are_left_out),
		cmocka_unit_test(a_folder_that_cannot_be_written_takes_nothing),
	};
	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
