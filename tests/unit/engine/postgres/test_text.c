/* test_text.c — every text goes to PostgreSQL as one that it takes, and comes back as it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "engine/postgres/postgres_int.h"

static struct arena arena;

static int up(void **state)
{
	(void)state;
	arena_init(&arena, 1 << 20);
	return 0;
}

static int down(void **state)
{
	(void)state;
	arena_fini(&arena);
	return 0;
}

static struct str stored(struct str s)
{
	struct err err;
	struct str ret;

	assert_int_equal(postgres_text_out(s, &arena, &ret, &err), 0);
	return ret;
}

static struct str shown(struct str s)
{
	struct err err;
	struct str ret;

	assert_int_equal(postgres_text_in(s, &arena, &ret, &err), 0);
	return ret;
}

static void same(struct str a, struct str b)
{
	assert_int_equal(a.n, b.n);
	if (a.n > 0)
		assert_memory_equal(a.p, b.p, a.n);
}

static size_t put(char *dst, uint32_t c)
{
	if (c < 0x80) {
		dst[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		dst[0] = (char)(0xc0 | c >> 6);
		dst[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		dst[0] = (char)(0xe0 | c >> 12);
		dst[1] = (char)(0x80 | (c >> 6 & 63));
		dst[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	dst[0] = (char)(0xf0 | c >> 18);
	dst[1] = (char)(0x80 | (c >> 12 & 63));
	dst[2] = (char)(0x80 | (c >> 6 & 63));
	dst[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* Neither U+0000 nor a surrogate. */
static bool is_taken(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\0' || ((uint8_t)s.p[i] == 0xed && i + 1 < s.n && (uint8_t)s.p[i + 1] >= 0xa0))
			return false;
	}
	return true;
}

static void every_character_there_and_back(void **state)
{
	(void)state;
	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		char text[8] = "a";
		size_t n = 1 + put(text + 1, c);
		struct str s, out;

		text[n++] = 'z';
		s = (struct str){ text, n };
		out = stored(s);
		if (!is_taken(out))
			fail_msg("U+%04X goes out as it is", c);
		if (shown(out).n != n || memcmp(shown(out).p, text, n) != 0)
			fail_msg("U+%04X does not come back", c);
		/* ordinary ones cost nothing */
		if (c != 0 && (c < 0xd800 || c > 0xdfff) && c < 0x10f7fe)
			assert_ptr_equal(out.p, text);
		arena_reset(&arena);
	}
}

static void what_stands_for_what(void **state)
{
	(void)state;
	same(stored((struct str){ "\0", 1 }), STR("\xf4\x8f\x9f\xbf"));
	same(stored(STR("\xed\xa0\x80")), STR("\xf4\x8f\xa0\x80"));
	same(stored(STR("\xed\xbf\xbf")), STR("\xf4\x8f\xbf\xbf"));
	same(stored(STR("\xf4\x8f\x9f\xbe")), STR("\xf4\x8f\x9f\xbe\xf4\x8f\x9f\xbe"));
	same(stored(STR("\xf4\x8f\xbf\xbf")), STR("\xf4\x8f\x9f\xbe\xf4\x8f\xbf\xbf"));
	same(stored((struct str){ NULL, 0 }), STR(""));
	assert_non_null(stored((struct str){ NULL, 0 }).p);
}

/* Different texts stay different, whatever they are made of. */
static void mixtures_there_and_back(void **state)
{
	static const uint32_t parts[] = { 0,        'a',      0xd83d,   0xde00,   0x10f7fd,
					  0x10f7fe, 0x10f7ff, 0x10f800, 0x10ffff, 0x1f600 };
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[64];
		size_t n = 0;
		struct str out;

		while (n < 40) {
			seed = seed * 1103515245 + 12345;
			n += put(text + n, parts[(seed >> 16) % ARRAY_LEN(parts)]);
		}
		out = stored((struct str){ text, n });
		assert_true(is_taken(out));
		same(shown(out), (struct str){ text, n });
		arena_reset(&arena);
	}
}

/* Nobody else writes such texts; and if somebody did, nothing would be read beyond their end. */
static void what_we_never_wrote_is_read_safely(void **state)
{
	static const char *const texts[] = { "\xf4\x8f\x9f\xbe",
					     "a\xf4\x8f\x9f\xbe"
					     "b",
					     "\xf4", "\xf4\x8f\x9f" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		size_t n = strlen(texts[i]);
		char *copy = malloc(n); /* so that a sanitizer sees its end */

		assert_non_null(copy);
		memcpy(copy, texts[i], n);
		assert_true(shown((struct str){ copy, n }).n <= n);
		free(copy);
	}
}

static void a_full_arena_is_told(void **state)
{
	struct arena none;
	struct err err;
	struct str ret;

	(void)state;
	arena_init(&none, 0);
	assert_int_equal(postgres_text_out((struct str){ "\0", 1 }, &none, &ret, &err), -1);
	assert_int_equal(postgres_text_in(STR("\xf4\x8f\x9f\xbf"), &none, &ret, &err), -1);
	arena_fini(&none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_character_there_and_back, up, down),
		cmocka_unit_test_setup_teardown(what_stands_for_what, up, down),
		cmocka_unit_test_setup_teardown(mixtures_there_and_back, up, down),
		cmocka_unit_test_setup_teardown(what_we_never_wrote_is_read_safely, up, down),
		cmocka_unit_test(a_full_arena_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
