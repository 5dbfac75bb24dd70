/* test_job_class.c — classes are found by their exact names, and JobData picks the action. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schedule/job_class.h"

static void each_pair_is_found_and_no_mixture(void **state)
{
	(void)state;
	assert_int_equal(schedule_classes_count, 8);
	for (size_t i = 0; i < schedule_classes_count; i++) {
		const struct job_class *c = &schedule_classes[i], *other = &schedule_classes[i < 2 ? 2 : 0];
		char padded[300];

		snprintf(padded, sizeof(padded), "%s  ", c->class);
		assert_ptr_equal(schedule_class_find(str_of(c->assembly), str_of(c->class)), c);
		assert_ptr_equal(schedule_class_find(str_of(c->assembly), str_of(padded)), c);
		assert_null(schedule_class_find(str_of(other->assembly), str_of(c->class)));
		assert_ptr_equal(schedule_class_by_name(str_of(c->name)), c);
		assert_ptr_equal(schedule_class_by_name(str_of(c->class)), c);
	}
	assert_null(schedule_class_find(STR(""), STR("")));
	assert_non_null(schedule_class_by_name(STR("dlimportjob")));
	assert_null(schedule_class_by_name(STR("ImportJob")));
}

static void six_classes_have_seven_actions(void **state)
{
	unsigned actions = 0;

	(void)state;
	for (size_t i = 0; i < schedule_classes_count; i++) {
		const struct job_class *c = &schedule_classes[i];

		if (c->ignored)
			assert_null(schedule_class_action(c, STR("")));
		else if (c->data == JOB_DATA_INCREMENTAL)
			actions += schedule_class_action(c, STR("IsIncremental#True")) != NULL &&
						   schedule_class_action(c, STR("IsIncremental#False")) !=
							   NULL
					   ? 2
					   : 0;
		else
			actions += schedule_class_action(c, STR("")) != NULL;
	}
	assert_int_equal(actions, 7);
	assert_null(schedule_class_action(schedule_class_by_name(STR("UserProfileImportJob")),
					  STR("isincremental#true")));
}

static void data_is_checked(void **state)
{
	(void)state;
	assert_null(schedule_class_check_data(schedule_class_by_name(STR("DLImportJob")), STR("")));
	assert_non_null(schedule_class_check_data(schedule_class_by_name(STR("DLImportJob")), STR("x")));
	assert_non_null(
		schedule_class_check_data(schedule_class_by_name(STR("UserProfileImportJob")), STR("")));
	assert_null(schedule_class_check_data(schedule_class_by_name(STR("UserProfileImportJob")),
					      STR("IsIncremental#True")));
	assert_null(schedule_class_check_data(
		schedule_class_by_name(STR("UserProfileGradualUpgradeChangeJob")), STR("1;2026-01-01;t")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_pair_is_found_and_no_mixture),
		cmocka_unit_test(six_classes_have_seven_actions),
		cmocka_unit_test(data_is_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
