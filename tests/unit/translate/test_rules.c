/* test_rules.c — which engine for which pair; what the Settings of a job say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "translate/job.h"
#include "translate/languages.h"
#include "translate/rules.h"

static void tags(void **state)
{
	(void)state;
	assert_true(translate_tag_matches("en", "en"));
	assert_true(translate_tag_matches("en", "en-GB"));
	assert_true(translate_tag_matches("eng", "EN-gb"));
	assert_true(translate_tag_matches("en_GB", "en-gb"));
	assert_false(translate_tag_matches("en-GB", "en"));
	assert_false(translate_tag_matches("en", "es"));
	assert_true(translate_tag_matches("*", "es"));
	assert_true(translate_tag_is_valid("ca-valencia"));
	assert_false(translate_tag_is_valid("../en"));
	assert_false(translate_tag_is_valid("e"));
	assert_false(translate_tag_is_valid("english"));
	assert_false(translate_tag_is_valid("en-"));
	assert_false(translate_tag_is_valid("en-abcdefghijklmnopqrstuvwxyzabcdefghijklmnop"));
}

static void the_first_rule_that_matches_counts(void **state)
{
	struct translate_rules r = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(translate_rules_add(&r, "pt_BR-es", "apertium por-spa", &e), 0);
	assert_int_equal(
		translate_rules_add(&r, "en-*", "http://127.0.0.1:5000/translate key-file=/etc/key", &e), 0);
	assert_int_equal(translate_rules_add(&r, "*-*", "lines /usr/bin/mt {from} {to}", &e), 0);
	assert_string_equal(translate_rules_find(&r, "pt-BR", "es")->words[0], "por-spa");
	assert_int_equal(translate_rules_find(&r, "en-US", "de")->kind, TRANSLATE_BY_HTTP);
	assert_string_equal(translate_rules_find(&r, "en-US", "de")->key_file, "/etc/key");
	assert_string_equal(translate_rules_find(&r, "pt", "es")->words[0], "/usr/bin/mt");
	translate_rules_fini(&r);
	assert_null(translate_rules_find(&r, "en", "es"));
}

static void mistakes_are_named(void **state)
{
	static const char *const wrong[][2] = {
		{ "en", "apertium" },          { "en-", "apertium" },
		{ "english-es", "apertium" },  { "en-es", "" },
		{ "en-es", "apertum" },        { "en-es", "apertium ../x" },
		{ "en-es", "lines mt" },       { "en-es", "lines" },
		{ "en-es", "document 'open" }, { "en-es", "http://x/ key=1" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct translate_rules r = { 0 };
		struct err e = { 0 };

		assert_int_equal(translate_rules_add(&r, wrong[i][0], wrong[i][1], &e), -1);
		assert_true(e.text[0] != '\0');
		translate_rules_fini(&r);
	}
}

static int read_job(const char *settings, struct translate_job *job, struct translate_failure *f)
{
	*f = (struct translate_failure){ 0 };
	return translate_job_read(str_of(settings), job, f);
}

static void settings_of_a_job(void **state)
{
	struct translate_failure f;
	struct translate_job job;

	(void)state;
	assert_int_equal(read_job("<settings><SourceLanguage>en</SourceLanguage><TargetLanguage> es "
				  "</TargetLanguage></settings>",
				  &job, &f),
			 0);
	assert_string_equal(job.from, "en");
	assert_string_equal(job.to, "es");
	assert_int_equal(read_job("<a SourceLanguage='pt-BR' TargetLanguage='spa' "
				  "OutputSaveBehavior='AlwaysOverwrite'/>",
				  &job, &f),
			 0);
	assert_string_equal(job.from, "pt-BR");
	assert_int_equal(read_job("<settings/>", &job, &f), -1);
	assert_int_equal(f.error, DOCUMENT_SETTINGS_INVALID);
	assert_non_null(strstr(f.text, "TargetLanguage"));
	assert_int_equal(read_job("<s SourceLanguage='en' TargetLanguage='es' Glossary='x'/>", &job, &f), -1);
	assert_non_null(strstr(f.text, "Glossary"));
	assert_int_equal(read_job("<s SourceLanguage='en/../..' TargetLanguage='es'/>", &job, &f), -1);
	assert_int_equal(read_job("", &job, &f), -1);
	assert_int_equal(read_job("en to es", &job, &f), -1);
	assert_int_equal(
		read_job("<!DOCTYPE s [<!ENTITY a 'en'>]><s SourceLanguage='&a;' TargetLanguage='es'/>", &job,
			 &f),
		-1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tags),
		cmocka_unit_test(the_first_rule_that_matches_counts),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(settings_of_a_job),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
