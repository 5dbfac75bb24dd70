/* test_errors.c — the numbers of documents' errors: each once, each with a name and a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "document/errors.h"

static const int numbers[] = {
#define DOCUMENT_ERROR(id, number, name, retry, text) number,
#include "document/errors.def"
#undef DOCUMENT_ERROR
};

static void every_number_is_there_once_with_name_and_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		assert_true(numbers[i] > 1); /* 0 is success here, 1 in the published list */
		assert_true(strlen(document_error_name(numbers[i])) > 3);
		assert_true(strlen(document_error_text(numbers[i])) > 10);
		for (size_t k = 0; k < i; k++) {
			assert_int_not_equal(numbers[i], numbers[k]);
			assert_string_not_equal(document_error_name(numbers[i]),
						document_error_name(numbers[k]));
		}
	}
}

/* The first 24 are the members of a published enumeration: their places are given. */
static void published_names_have_their_places(void **state)
{
	(void)state;
	assert_string_equal(document_error_name(2), "InputFileNotFound");
	assert_string_equal(document_error_name(11), "Timeout");
	assert_string_equal(document_error_name(17), "InputFileCorrupt");
	assert_string_equal(document_error_name(19), "InputFileEncrypted");
	assert_string_equal(document_error_name(24), "TranslationServiceUnavailable");
}

static void whether_to_try_again(void **state)
{
	(void)state;
	assert_false(document_error_retry(DOCUMENT_INPUT_CORRUPT));
	assert_true(document_error_retry(DOCUMENT_TIMEOUT));
	assert_true(document_error_retry(424242));
	assert_string_equal(document_error_name(424242), "Error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_number_is_there_once_with_name_and_text),
		cmocka_unit_test(published_names_have_their_places),
		cmocka_unit_test(whether_to_try_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
