/* The throttle's tables by themselves: sliding window, bounds, keys of addresses, who is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include "auth/auth_int.h"

static struct auth_digest key_of(uint32_t n)
{
	struct auth_digest d = { { 0 } };

	memcpy(d.bytes, &n, sizeof(n));
	return d;
}

static void the_window_slides(void **state)
{
	struct auth_throttle t = { .count = 0 };
	struct auth_digest k = key_of(1), other = key_of(2);

	(void)state;
	assert_int_equal(auth_throttle_init(&t, 5, 60), 0);
	assert_int_equal(auth_throttle_count(&t, &k, 1000), 0);
	for (int i = 0; i < 4; i++)
		auth_throttle_add(&t, &k, 1000);
	assert_int_equal(auth_throttle_count(&t, &k, 60999), 4);
	assert_int_equal(auth_throttle_count(&t, &other, 1000), 0);
	/* the next window: all of the old one overlaps */
	assert_int_equal(auth_throttle_count(&t, &k, 61000), 4);
	assert_int_equal(auth_throttle_count(&t, &k, 91000), 2); /* half of it */
	auth_throttle_add(&t, &k, 91000);
	assert_int_equal(auth_throttle_count(&t, &k, 91000), 3);
	assert_int_equal(auth_throttle_count(&t, &k, 121000), 1);
	assert_int_equal(auth_throttle_count(&t, &k, 1000000), 0);
	auth_throttle_fini(&t);
}

static void forgetting_is_complete(void **state)
{
	struct auth_throttle t = { .count = 0 };
	struct auth_digest k = key_of(7);

	(void)state;
	assert_int_equal(auth_throttle_init(&t, 5, 60), 0);
	auth_throttle_forget(&t, &k);
	auth_throttle_add(&t, &k, 0);
	auth_throttle_forget(&t, &k);
	assert_int_equal(auth_throttle_count(&t, &k, 0), 0);
	assert_int_equal(t.count, 0);
	auth_throttle_fini(&t);
}

static void the_table_is_bounded_and_forgets_the_oldest(void **state)
{
	struct auth_throttle t = { .count = 0 };
	struct auth_digest first = key_of(0), second = key_of(1), last = key_of(AUTH_THROTTLE_MAX);

	(void)state;
	assert_int_equal(auth_throttle_init(&t, 5, 60), 0);
	for (uint32_t i = 0; i < AUTH_THROTTLE_MAX; i++) {
		struct auth_digest k = key_of(i);

		auth_throttle_add(&t, &k, i);
	}
	auth_throttle_add(&t, &first, AUTH_THROTTLE_MAX); /* now the youngest */
	auth_throttle_add(&t, &last, AUTH_THROTTLE_MAX);
	assert_int_equal(t.count, AUTH_THROTTLE_MAX);
	assert_int_equal(auth_throttle_count(&t, &first, AUTH_THROTTLE_MAX), 2);
	assert_int_equal(auth_throttle_count(&t, &second, AUTH_THROTTLE_MAX), 0);
	assert_int_equal(auth_throttle_count(&t, &last, AUTH_THROTTLE_MAX), 1);
	auth_throttle_fini(&t);
}

static void an_ipv6_client_counts_by_its_network(void **state)
{
	char a[64], b[64];

	(void)state;
	auth_throttle_peer("[2001:db8:1:2:aaaa::1]", a);
	auth_throttle_peer("2001:db8:1:2:bbbb:cccc:0:2", b);
	assert_string_equal(a, b);
	auth_throttle_peer("2001:db8:1:3::1", b);
	assert_string_not_equal(a, b);
	auth_throttle_peer("192.0.2.7", a);
	assert_string_equal(a, "192.0.2.7");
	auth_throttle_peer("", a);
	assert_string_equal(a, "");
}

static void a_turn_comes_once_a_second(void **state)
{
	struct auth_throttle t = { .count = 0 };
	struct auth_digest k = key_of(3);

	(void)state;
	assert_int_equal(auth_throttle_init(&t, 5, 60), 0);
	assert_false(auth_throttle_trickle(&t, &k, 1000)); /* nobody has failed */
	auth_throttle_add(&t, &k, 1000);
	assert_true(auth_throttle_trickle(&t, &k, 1000));
	assert_false(auth_throttle_trickle(&t, &k, 1000));
	assert_false(auth_throttle_trickle(&t, &k, 1000 + AUTH_TRICKLE_MS - 1));
	assert_true(auth_throttle_trickle(&t, &k, 1000 + AUTH_TRICKLE_MS));
	auth_throttle_fini(&t);
}

static void this_machine_is_two_addresses(void **state)
{
	(void)state;
	assert_true(auth_throttle_is_local("127.0.0.1"));
	assert_true(auth_throttle_is_local("::1"));
	assert_true(auth_throttle_is_local("[::1]"));
	assert_false(auth_throttle_is_local("127.0.0.2"));
	assert_false(auth_throttle_is_local("::"));
	assert_false(auth_throttle_is_local(""));
}

static void the_known_are_bounded_for_each_login(void **state)
{
	struct auth_known k;
	struct auth_digest one = key_of(1), two = key_of(2), first = key_of(1000), theirs = key_of(5000);

	(void)state;
	assert_int_equal(auth_known_init(&k), 0);
	auth_known_put(&k, &two, &theirs, 1);
	for (uint32_t i = 0; i < AUTH_KNOWN_WAYS; i++) {
		struct auth_digest key = key_of(1000 + i);

		auth_known_put(&k, &one, &key, 10 + i);
	}
	auth_known_put(&k, &one, &first, 500); /* used again: the second is now the oldest */
	for (uint32_t i = 0; i < 3; i++) {
		struct auth_digest key = key_of(2000 + i);

		auth_known_put(&k, &one, &key, 600 + i);
		assert_true(auth_known_find(&k, &one, &key, 700));
	}
	for (uint32_t i = 0; i < AUTH_KNOWN_WAYS; i++) {
		struct auth_digest key = key_of(1000 + i);

		assert_true(auth_known_find(&k, &one, &key, 700) == (i < 1 || i > 3));
	}
	assert_true(auth_known_find(&k, &two, &theirs, 700));
	assert_false(auth_known_find(&k, &two, &first, 700));
	assert_false(auth_known_find(&k, &two, &theirs, 1 + AUTH_KNOWN_MS));
	auth_known_fini(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_window_slides),
		cmocka_unit_test(forgetting_is_complete),
		cmocka_unit_test(the_table_is_bounded_and_forgets_the_oldest),
		cmocka_unit_test(an_ipv6_client_counts_by_its_network),
		cmocka_unit_test(a_turn_comes_once_a_second),
		cmocka_unit_test(this_machine_is_two_addresses),
		cmocka_unit_test(the_known_are_bounded_for_each_login),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
