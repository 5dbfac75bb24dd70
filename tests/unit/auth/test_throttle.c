/* The throttle's table by itself: sliding window, bound, keys of addresses. */
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
	assert_int_equal(auth_throttle_count(&t, &k, 61000), 4);        /* the next window: all of the old one overlaps */
	assert_int_equal(auth_throttle_count(&t, &k, 91000), 2);        /* half of it */
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
	auth_throttle_add(&t, &first, AUTH_THROTTLE_MAX);       /* now the youngest */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_window_slides),
		cmocka_unit_test(forgetting_is_complete),
		cmocka_unit_test(the_table_is_bounded_and_forgets_the_oldest),
		cmocka_unit_test(an_ipv6_client_counts_by_its_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
