/* test_guid.c — uniqueidentifier: text, order, random. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "value/guid.h"

static const uint8_t wire[16] = { 0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66,
				  0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF };

static void text_and_wire_order(void **state)
{
	uint8_t guid[16];
	char text[37];

	(void)state;
	assert_true(guid_parse(STR("00112233-4455-6677-8899-aabbccddeeff"), guid));
	assert_memory_equal(guid, wire, 16);
	guid_format(guid, text);
	assert_string_equal(text, "00112233-4455-6677-8899-AABBCCDDEEFF");
	assert_true(guid_parse(STR("{00112233-4455-6677-8899-AABBCCDDEEFF}"), guid));
	assert_true(guid_parse(STR("00112233-4455-6677-8899-AABBCCDDEEFF   "), guid));
}

static void what_is_no_guid(void **state)
{
	static const char *const bad[] = {
		"",
		"{",
		"{}",
		"00112233-4455-6677-8899-AABBCCDDEEF",
		"00112233-4455-6677-8899-AABBCCDDEEFG",
		"00112233445566778899AABBCCDDEEFF0000",
		"{00112233-4455-6677-8899-AABBCCDDEEFF",
		"00112233-4455-6677-8899-AABBCCDDEEFF}",
		" 00112233-4455-6677-8899-AABBCCDDEEFF",
		"00112233-4455-6677-8899-AABBCCDDEEFFx",
		"{00112233-4455-6677-8899-AABBCCDDEEFF}x",
		"0011223-34455-6677-8899-AABBCCDDEEFF",
		"00112233_4455-6677-8899-AABBCCDDEEFF",
	};
	uint8_t guid[16] = { 7 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(guid_parse(str_of(bad[i]), guid));
	assert_int_equal(guid[0], 7);
}

static void the_last_six_bytes_decide_first(void **state)
{
	static const char *const rising[] = {
		"FFFFFFFF-FFFF-FFFF-FFFF-000000000001", "00000001-0000-0000-0000-010000000000",
		"00000000-0000-0000-0100-010000000000", "00000000-0000-0100-0100-010000000000",
		"00000000-0000-0001-0100-010000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
	};
	uint8_t a[16], b[16];

	(void)state;
	for (size_t i = 0; i + 1 < ARRAY_LEN(rising); i++) {
		assert_true(guid_parse(str_of(rising[i]), a) && guid_parse(str_of(rising[i + 1]), b));
		assert_int_equal(guid_compare(a, a), 0);
		assert_int_equal(guid_compare(a, b), -1);
		assert_int_equal(guid_compare(b, a), 1);
	}
}

static void random_ones_are_version_4_and_differ(void **state)
{
	uint8_t a[16], b[16];
	char text[37];

	(void)state;
	guid_random(a);
	guid_random(b);
	assert_memory_not_equal(a, b, 16);
	guid_format(a, text);
	assert_int_equal(text[14], '4');
	assert_non_null(strchr("89AB", text[19]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_and_wire_order),
		cmocka_unit_test(what_is_no_guid),
		cmocka_unit_test(the_last_six_bytes_decide_first),
		cmocka_unit_test(random_ones_are_version_4_and_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
