/* Passwords: what is stored, and what it matches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "auth/auth.h"

static void a_hash_matches_its_password_only(void **state)
{
	char hash[256];
	struct err e;

	(void)state;
	assert_int_equal(auth_hash_password(STR("p\xc3\xa4ssword"), hash, &e), 0);
	assert_memory_equal(hash, "$argon2id$v=19$m=19456,t=2,p=1$",
			    strlen("$argon2id$v=19$m=19456,t=2,p=1$"));
	assert_int_equal(auth_verify_password(STR("p\xc3\xa4ssword"), hash), 1);
	assert_int_equal(auth_verify_password(STR("P\xc3\xa4ssword"), hash), 0);
	assert_int_equal(auth_verify_password(STR("p\xc3\xa4sswor"), hash), 0);
	assert_int_equal(auth_verify_password((struct str){ NULL, 0 }, hash), 0);
}

static void equal_passwords_have_different_hashes(void **state)
{
	char one[256], two[256];
	struct err e;

	(void)state;
	assert_int_equal(auth_hash_password(STR(""), one, &e), 0);
	assert_int_equal(auth_hash_password(STR(""), two, &e), 0);
	assert_string_not_equal(one, two);
	assert_int_equal(auth_verify_password(STR(""), one), 1);
}

static void what_is_no_hash_matches_nothing(void **state)
{
	static const char *const bad[] = {
		"",
		"x",
		"$argon2id$",
		"$argon2id$v=19$m=19456,t=2,p=1$AAAA",
		"$argon2i$v=19$m=8,t=1,p=1$c29tZXNhbHQ$AAAAAAAA",
		"password",
		"$argon2id$v=19$m=99999999999,t=2,p=1$c29tZXNhbHQ$AAAAAAAAAAAAAAAAAAAAAA"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(auth_verify_password(STR("password"), bad[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_hash_matches_its_password_only),
		cmocka_unit_test(equal_passwords_have_different_hashes),
		cmocka_unit_test(what_is_no_hash_matches_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
