/* test_words.c — a command line of a configuration as words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/words.h"

static void assert_words(const char *line, const char *const *want)
{
	char **words = words_split(line);
	size_t n = 0;

	assert_non_null(words);
	for (; want[n] != NULL; n++)
		assert_string_equal(words[n], want[n]);
	assert_null(words[n]);
	words_free(words);
}

static void commands_are_split_like_a_shell_does(void **state)
{
	(void)state;
	assert_words("/bin/a", (const char *[]){ "/bin/a", NULL });
	assert_words("  /bin/a \t b  c ", (const char *[]){ "/bin/a", "b", "c", NULL });
	assert_words("/bin/a 'b c' \"d 'e'\" f\\ g ''",
		     (const char *[]){ "/bin/a", "b c", "d 'e'", "f g", "", NULL });
	assert_words("/bin/a x'y'\"z\" '\\' \"\\\"\"", (const char *[]){ "/bin/a", "xyz", "\\", "\"", NULL });
	assert_words("/bin/a \\", (const char *[]){ "/bin/a", "\\", NULL });
	assert_null(words_split(""));
	assert_null(words_split("   "));
	assert_null(words_split("/bin/a 'open"));
	assert_null(words_split("/bin/a \"open"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_split_like_a_shell_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
