/* test_utf.c — every character and every broken form of it, at every place in an ASCII run.
 * Buffers are exactly as large as promised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/utf.h"

/* UTF-16 → UTF-8 → UTF-16 with heap buffers of the promised size. */
static void round_trip(const uint8_t *src, size_t n)
{
	uint8_t *in = malloc(n + 1), *back;
	char *text = malloc(n / 2 * 3 + 1);
	size_t len, back_len;

	memcpy(in, src, n);
	len = utf8_from_utf16le(text, in, n);
	assert_true(len <= n / 2 * 3);
	assert_true(utf8_valid(text, len, true));
	assert_int_equal(utf16_units(text, len), n / 2);
	text = realloc(text, len + 1);
	back = malloc(len * 2 + 1);
	back_len = utf16le_from_utf8(back, text, len);
	assert_int_equal(back_len, n);
	assert_memory_equal(back, src, n);
	free(in);
	free(text);
	free(back);
}

static void put_unit(uint8_t *p, unsigned unit)
{
	p[0] = (uint8_t)unit;
	p[1] = (uint8_t)(unit >> 8);
}

static void every_unit_survives(void **state)
{
	uint8_t buf[2 * 19];

	(void)state;
	for (unsigned unit = 0; unit < 0x10000; unit++) {
		for (int i = 0; i < 19; i++)
			put_unit(buf + 2 * i, 'a' + (unsigned)i);
		put_unit(buf + 2 * (unit % 19), unit);
		round_trip(buf, sizeof(buf));
	}
}

static void every_place_and_length_survives(void **state)
{
	uint8_t buf[2 * 40];

	(void)state;
	for (size_t n = 0; n <= 40; n++) {
		for (size_t at = 0; at < n; at++) {
			for (size_t i = 0; i < n; i++)
				put_unit(buf + 2 * i, 'A' + (unsigned)i);
			put_unit(buf + 2 * at, 0x20AC);
			round_trip(buf, 2 * n);
			put_unit(buf + 2 * at, 0xD83D);
			if (at + 1 < n)
				put_unit(buf + 2 * at + 2, 0xDE00);
			round_trip(buf, 2 * n);
		}
		for (size_t i = 0; i < n; i++)
			put_unit(buf + 2 * i, 'A' + (unsigned)i);
		round_trip(buf, 2 * n);
	}
}

static void pairs_and_lone_surrogates(void **state)
{
	static const uint16_t units[] = { 0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000, 'a' };
	uint8_t buf[6];
	char text[9];

	(void)state;
	for (size_t a = 0; a < ARRAY_LEN(units); a++)
		for (size_t b = 0; b < ARRAY_LEN(units); b++)
			for (size_t c = 0; c < ARRAY_LEN(units); c++) {
				put_unit(buf, units[a]);
				put_unit(buf + 2, units[b]);
				put_unit(buf + 4, units[c]);
				round_trip(buf, 6);
			}
	assert_int_equal(utf8_from_utf16le(text, (const uint8_t *)"\x3D\xD8\x00\xDE", 4), 4);
	assert_memory_equal(text, "😀", 4);
	assert_int_equal(utf8_from_utf16le(text, (const uint8_t *)"\x3D\xD8", 2), 3);
	assert_memory_equal(text, "\xED\xA0\xBD", 3);
	assert_int_equal(utf8_from_utf16le(text, (const uint8_t *)"a\0b", 3), 1);
}

static void every_character_is_valid_and_counted(void **state)
{
	uint8_t units[4];
	char text[6];

	(void)state;
	for (uint32_t c = 0x10000; c < 0x110000; c++) {
		put_unit(units, 0xD800 + ((c - 0x10000) >> 10));
		put_unit(units + 2, 0xDC00 + ((c - 0x10000) & 0x3FF));
		assert_int_equal(utf8_from_utf16le(text, units, 4), 4);
		assert_true(utf8_valid(text, 4, false));
		assert_int_equal(utf16_units(text, 4), 2);
	}
}

static bool valid(const char *s)
{
	return utf8_valid(s, strlen(s), false);
}

static void bad_utf8_is_known(void **state)
{
	(void)state;
	assert_true(valid("aé€😀"));
	assert_true(valid("\xF4\x8F\xBF\xBF"));
	assert_false(valid("\xF4\x90\x80\x80"));
	assert_false(valid("\xF5\x80\x80\x80"));
	assert_false(valid("\xC0\x80"));
	assert_false(valid("\xC1\xBF"));
	assert_false(valid("\xE0\x9F\xBF"));
	assert_false(valid("\xF0\x8F\xBF\xBF"));
	assert_false(valid("\x80"));
	assert_false(valid("\xE2\x82"));
	assert_false(valid("abcdefgh\xE2"));
	assert_false(valid("\xED\xA0\x80"));
	assert_true(utf8_valid("\xED\xA0\x80", 3, true));
}

static void bad_bytes_become_replacements_and_are_counted_alike(void **state)
{
	char *src = malloc(11);

	(void)state;
	for (unsigned a = 0; a < 256; a++) {
		for (unsigned b = 0; b < 256; b++) {
			uint8_t dst[22];
			size_t n;

			memcpy(src, "aaaaaaaa", 8);
			src[8] = (char)a;
			src[9] = (char)b;
			src[10] = (char)0xBF;
			n = utf16le_from_utf8(dst, src, 11);
			assert_int_equal(n, 2 * utf16_units(src, 11));
			assert_int_equal(utf8_prefix(src, 11, n / 2), 11);
		}
	}
	free(src);
}

static void prefix_does_not_split(void **state)
{
	static const char text[] = "abé😀z";
	static const size_t expected[] = { 0, 1, 2, 4, 4, 8, 9, 9 };

	(void)state;
	for (size_t units = 0; units < ARRAY_LEN(expected); units++)
		assert_int_equal(utf8_prefix(text, 9, units), expected[units]);
	assert_int_equal(utf8_prefix("aaaaaaaaaaaaaaaaaaaa", 20, 13), 13);
}

static void every_byte_of_cp1252_goes_there_and_back(void **state)
{
	(void)state;
	for (int pad = 0; pad < 18; pad += 17) {
		for (int b = 0; b < 256; b++) {
			uint8_t in[18], back[64];
			char text[64];
			size_t n, lost = 9;

			memset(in, 'x', sizeof(in));
			in[pad] = (uint8_t)b;
			n = utf8_from_cp1252(text, in, (size_t)pad + 1);
			assert_true(utf8_valid(text, n, false));
			assert_int_equal(utf16_units(text, n), pad + 1);
			assert_int_equal(cp1252_from_utf8(back, text, n, &lost), pad + 1);
			assert_int_equal(lost, 0);
			assert_memory_equal(back, in, (size_t)pad + 1);
			assert_int_equal(cp1252_count(text, n, &lost), pad + 1);
			assert_int_equal(lost, 0);
		}
	}
}

static void exactly_256_characters_are_in_the_code_page(void **state)
{
	unsigned have = 0;
	char text[3];
	uint8_t unit[2], out[3];
	size_t lost, n;

	(void)state;
	for (unsigned c = 0; c < 0x10000; c++) {
		put_unit(unit, c);
		n = utf8_from_utf16le(text, unit, 2);
		assert_int_equal(cp1252_from_utf8(out, text, n, &lost), 1);
		have += lost == 0;
		if (lost != 0)
			assert_int_equal(out[0], '?');
		assert_int_equal(cp1252_count(text, n, &lost), 1);
	}
	assert_int_equal(have, 256);
	assert_int_equal(cp1252_from_utf8(out, "€", 3, NULL), 1);
	assert_int_equal(out[0], 0x80);
	assert_int_equal(utf8_from_cp1252(text, (const uint8_t *)"\x81", 1), 2);
	assert_memory_equal(text, "\xC2\x81", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_unit_survives),
		cmocka_unit_test(every_place_and_length_survives),
		cmocka_unit_test(pairs_and_lone_surrogates),
		cmocka_unit_test(every_character_is_valid_and_counted),
		cmocka_unit_test(bad_utf8_is_known),
		cmocka_unit_test(bad_bytes_become_replacements_and_are_counted_alike),
		cmocka_unit_test(prefix_does_not_split),
		cmocka_unit_test(every_byte_of_cp1252_goes_there_and_back),
		cmocka_unit_test(exactly_256_characters_are_in_the_code_page),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
