/* From principals to logins: their own, and the rules of principal_map. */
#include "fixture.h"

static int setup(void **state)
{
	struct fixture *f = fixture_new();

	run_sql(f, "INSERT INTO login (name, password_hash, admin, disabled, default_database) VALUES"
		   " ('EXAMPLE.ORG\\alice', '', 0, 0, 'StateService'), ('EXAMPLE.ORG\\gone', '', 0, 1, ''),"
		   " ('staff', 'x', 0, 0, 'Translation'), ('others', 'x', 0, 0, ''), ('old', 'x', 0, 1, ''),"
		   " ('root', 'x', 1, 0, '')");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	fixture_free(*state);
	return 0;
}

/* The login that a principal gets under these rules, or how it fails. */
static void expect(struct fixture *f, const char *rules, const char *principal, enum auth_result result,
		   const char *login)
{
	struct auth_options o = { .system = f->system,
				  .fail_delay_ms = 100,
				  .fail_limit = 3,
				  .fail_window_s = 60,
				  .principal_map = rules };
	struct auth_login who = { .name = "" };
	struct auth *a;
	struct err e;

	assert_int_equal(auth_open(&o, &a, &e), 0);
	assert_int_equal(auth_find_principal(a, principal, &who), result);
	if (result == AUTH_OK)
		assert_string_equal(who.name, login);
	auth_close(a);
}

static void a_login_of_its_own_comes_first(void **state)
{
	expect(*state, NULL, "EXAMPLE.ORG\\alice", AUTH_OK, "EXAMPLE.ORG\\alice");
	expect(*state, "", "EXAMPLE.ORG\\ALICE", AUTH_OK, "EXAMPLE.ORG\\alice");
	expect(*state, "*=staff", "EXAMPLE.ORG\\alice", AUTH_OK, "EXAMPLE.ORG\\alice");
	expect(*state, "", "OTHER.ORG\\alice", AUTH_NO_LOGIN, NULL);
	expect(*state, "", "alice", AUTH_NO_LOGIN, NULL);
}

static void a_disabled_login_is_not_helped_by_a_rule(void **state)
{
	expect(*state, "*=staff", "EXAMPLE.ORG\\gone", AUTH_DISABLED, NULL);
	expect(*state, "*=old", "EXAMPLE.ORG\\bob", AUTH_DISABLED, NULL);
}

static void the_first_rule_that_fits_counts(void **state)
{
	const char *rules =
		"EXAMPLE.ORG\\*=staff;  OTHER.ORG\\* = others ; *\\root=root;=staff;nonsense;*=others";

	expect(*state, rules, "EXAMPLE.ORG\\bob", AUTH_OK, "staff");
	expect(*state, rules, "example.org\\Bob", AUTH_OK, "staff");
	expect(*state, rules, "EXAMPLE.ORG\\root", AUTH_OK, "staff");
	expect(*state, rules, "OTHER.ORG\\bob", AUTH_OK, "others");
	expect(*state, rules, "THIRD.ORG\\root", AUTH_OK, "root");
	expect(*state, rules, "THIRD.ORG\\bob", AUTH_OK, "others");
}

static void a_backslash_is_a_letter_of_the_pattern(void **state)
{
	expect(*state, "EXAMPLE.ORG\\b?b=staff", "EXAMPLE.ORG\\bob", AUTH_OK, "staff");
	expect(*state, "EXAMPLE.ORGb?b=staff", "EXAMPLE.ORG\\bob", AUTH_NO_LOGIN, NULL);
	expect(*state, "EXAMPLE.ORG\\[ab]*=staff", "EXAMPLE.ORG\\carol", AUTH_NO_LOGIN, NULL);
}

static void a_rule_to_a_missing_login_fits_all_the_same(void **state)
{
	expect(*state, "*=nobody;*=staff", "EXAMPLE.ORG\\bob", AUTH_NO_LOGIN, NULL);
	expect(*state, "*=", "EXAMPLE.ORG\\bob", AUTH_NO_LOGIN, NULL);
	expect(*state, ";;;", "EXAMPLE.ORG\\bob", AUTH_NO_LOGIN, NULL);
}

static void long_patterns_fit_nothing_by_accident(void **state)
{
	char rules[1000];

	memset(rules, '*', sizeof(rules));
	memcpy(rules + sizeof(rules) - 7, "=staff", 7);
	rules[400] = 'x'; /* beyond what a principal can have */
	expect(*state, rules, "EXAMPLE.ORG\\bob", AUTH_NO_LOGIN, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_login_of_its_own_comes_first, setup, teardown),
		cmocka_unit_test_setup_teardown(a_disabled_login_is_not_helped_by_a_rule, setup, teardown),
		cmocka_unit_test_setup_teardown(the_first_rule_that_fits_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(a_backslash_is_a_letter_of_the_pattern, setup, teardown),
		cmocka_unit_test_setup_teardown(a_rule_to_a_missing_login_fits_all_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(long_patterns_fit_nothing_by_accident, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
