/* test_txn.c — what explicit transactions of all engines share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/implement.h"

static void the_latest_of_a_name_is_found(void **state)
{
	struct engine_savepoints s = { 0 };
	struct err e = { 0 };
	size_t n;

	(void)state;
	assert_int_equal(engine_savepoints_push(&s, "a", &e), 0);
	assert_int_equal(engine_savepoints_push(&s, "b", &e), 0);
	assert_int_equal(engine_savepoints_push(&s, "a", &e), 0);
	assert_int_equal(engine_savepoints_find(&s, "a", &n, &e), 0);
	assert_int_equal(n, 3);
	engine_savepoints_cut(&s, 2);
	assert_int_equal(engine_savepoints_find(&s, "a", &n, &e), 0);
	assert_int_equal(n, 1);
	assert_int_equal(engine_savepoints_find(&s, "A", &n, &e), -1);
	assert_true(err_is(&e, ERR_NO_SAVEPOINT));
	engine_savepoints_fini(&s);
	assert_int_equal(s.n, 0);
}

static void their_number_is_bounded(void **state)
{
	struct engine_savepoints s = { 0 };
	struct err e = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(engine_savepoints_push(&s, "same", &e), 0);
	assert_int_equal(engine_savepoints_push(&s, "same", &e), -1);
	assert_non_null(strstr(e.text, "1000 savepoints"));
	assert_int_equal(s.n, 1000);
	engine_savepoints_fini(&s);
}

static void what_need_not_run_is_answered(void **state)
{
	struct txn t = { 0 };
	struct call c = { .kind = CALL_COMMIT, .txn = &t, .rc = 7 };
	struct err lost = { .number = 1222 };

	(void)state;
	assert_false(engine_txn_answers(&c, false, NULL));
	assert_int_equal(c.rc, 7);
	assert_true(engine_txn_answers(&c, true, NULL)); /* nothing ran: nothing to commit */
	assert_true(c.rc == 0 && !c.txn_lost);
	assert_true(engine_txn_answers(&c, false, &lost));
	assert_true(c.rc == -1 && c.txn_lost && c.err.number == 1222);
	c.kind = CALL_ROLLBACK; /* it was undone already */
	assert_true(engine_txn_answers(&c, false, &lost));
	assert_true(c.rc == 0 && !c.txn_lost);
	c.kind = CALL_SAVE; /* the first call of a transaction: it begins */
	assert_false(engine_txn_answers(&c, true, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_of_a_name_is_found),
		cmocka_unit_test(their_number_is_bounded),
		cmocka_unit_test(what_need_not_run_is_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
