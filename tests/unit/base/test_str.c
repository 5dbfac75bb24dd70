/* test_str.c — slices: equality without ASCII case, trimming, copies that are cut at a
 * character; and the intrusive list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/list.h"
#include "base/str.h"

static void case_is_ascii_case(void **state)
{
	(void)state;
	assert_true(str_eq_nocase(STR("Proc_AddJob"), STR("PROC_ADDJOB")));
	assert_false(str_eq_nocase(STR("a"), STR("ab")));
	assert_false(str_eq_nocase(STR("ä"), STR("Ä")));
	assert_false(str_eq_nocase(STR("["), STR("{")));
	assert_true(str_eq((struct str){ NULL, 0 }, STR("")));
	assert_int_equal(str_cmp_nocase(STR("abc"), STR("ABD")), -1);
	assert_int_equal(str_cmp_nocase(STR("abc"), STR("AB")), 1);
	assert_int_equal(str_cmp_nocase(STR(""), STR("")), 0);
	assert_int_equal(str_hash_nocase(STR("aBc")), str_hash_nocase(STR("AbC")));
	assert_int_not_equal(str_hash_nocase(STR("abc")), str_hash_nocase(STR("abd")));
}

static void trim_takes_both_ends(void **state)
{
	(void)state;
	assert_true(str_eq(str_trim(STR(" \t a b \r\n")), STR("a b")));
	assert_int_equal(str_trim(STR("   ")).n, 0);
	assert_int_equal(str_trim((struct str){ NULL, 0 }).n, 0);
}

static void copies_are_cut_at_a_character(void **state)
{
	static const char *const expected[] = { "", "", "a", "a", "aé", "aé", "aé", "aé€", "aé€" };
	char dst[16];

	(void)state;
	for (size_t size = 1; size < ARRAY_LEN(expected); size++) {
		str_copy(dst, size, STR("aé€"));
		assert_string_equal(dst, expected[size]);
	}
	dst[0] = 'x';
	str_copy(dst, 0, STR("abc"));
	assert_int_equal(dst[0], 'x');
}

static void lists_keep_their_order(void **state)
{
	struct list head, items[3];

	(void)state;
	list_init(&head);
	assert_true(list_empty(&head));
	assert_null(list_pop(&head));
	for (int i = 0; i < 3; i++)
		list_append(&head, &items[i]);
	list_remove(&items[1]);
	assert_ptr_equal(list_pop(&head), &items[0]);
	assert_ptr_equal(list_pop(&head), &items[2]);
	assert_true(list_empty(&head));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(case_is_ascii_case),
		cmocka_unit_test(trim_takes_both_ends),
		cmocka_unit_test(copies_are_cut_at_a_character),
		cmocka_unit_test(lists_keep_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
