/* test_registry.c — numbers of sessions: unique, in turn, none beyond a smallint; and the list
 * that sp_who shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "session/registry.h"

#define ALL (SPID_LAST - SPID_FIRST + 1)

static void numbers_are_given_in_turn(void **state)
{
	struct registry_entry a = { 0 }, b = { 0 }, c = { 0 };
	struct registry r;

	(void)state;
	session_registry_init(&r);
	assert_true(session_registry_add(&r, &a));
	assert_true(session_registry_add(&r, &b));
	assert_int_equal(a.spid, 51);
	assert_int_equal(b.spid, 52);
	session_registry_remove(&r, &a);
	assert_true(session_registry_add(&r, &c));
	assert_int_equal(c.spid, 53);
	assert_int_equal(session_registry_added(&r), 3);
	session_registry_fini(&r);
}

static void after_the_last_number_the_free_ones_come_again(void **state)
{
	struct registry_entry *all = calloc(ALL, sizeof(*all)), more = { 0 };
	struct registry r;

	(void)state;
	assert_non_null(all);
	session_registry_init(&r);
	for (size_t i = 0; i < ALL; i++) {
		assert_true(session_registry_add(&r, &all[i]));
		assert_int_equal(all[i].spid, SPID_FIRST + i);
	}
	assert_false(session_registry_add(&r, &more)); /* none is left */
	session_registry_remove(&r, &all[1000]);
	assert_true(session_registry_add(&r, &more));
	assert_int_equal(more.spid, SPID_FIRST + 1000);
	assert_false(session_registry_add(&r, &all[1000]));
	session_registry_remove(&r, &all[0]);
	session_registry_remove(&r, &all[ALL - 1]);
	assert_true(session_registry_add(&r, &all[0])); /* the search goes on where it was */
	assert_int_equal(all[0].spid, SPID_LAST);
	assert_true(session_registry_add(&r, &all[ALL - 1]));
	assert_int_equal(all[ALL - 1].spid, SPID_FIRST);
	session_registry_fini(&r);
	free(all);
}

static void the_list_has_those_who_are_logged_in(void **state)
{
	char database[129] = "master";
	struct registry_entry a = { .login = "sa", .host = "h", .database = database },
			      b = { .login = "shop", .host = "", .database = "StateService" },
			      stranger = { .login = "x", .host = "x", .database = "x" };
	struct registry_row *rows;
	struct registry r;
	struct arena arena;
	struct err e;
	size_t n;

	(void)state;
	arena_init(&arena, 1 << 20);
	session_registry_init(&r);
	/* so that the list is not in the order of the numbers */
	r.next = SPID_LAST;
	assert_true(session_registry_add(&r, &b) && session_registry_add(&r, &stranger) &&
		    session_registry_add(&r, &a));
	session_registry_show(&r, &a);
	session_registry_show(&r, &b);
	session_registry_doing(&b, ACTIVITY_WAITFOR);
	session_registry_text(&r, database, sizeof(database), STR("Translation"));
	assert_int_equal(session_registry_list(&r, 0, &arena, &rows, &n, &e), 0);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0].spid, SPID_FIRST + 1);
	assert_string_equal(rows[0].login, "sa");
	assert_string_equal(rows[0].database, "Translation");
	assert_string_equal(session_activity_name(rows[0].activity), "AWAITING COMMAND");
	assert_int_equal(rows[1].spid, SPID_LAST);
	assert_string_equal(session_activity_name(rows[1].activity), "WAITFOR");
	assert_int_equal(session_registry_list(&r, SPID_LAST, &arena, &rows, &n, &e), 0);
	assert_int_equal(n, 1);
	assert_string_equal(rows[0].login, "shop");
	assert_int_equal(session_registry_list(&r, stranger.spid, &arena, &rows, &n, &e), 0);
	assert_int_equal(n, 0);
	session_registry_fini(&r);
	arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_given_in_turn),
		cmocka_unit_test(after_the_last_number_the_free_ones_come_again),
		cmocka_unit_test(the_list_has_those_who_are_logged_in),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
