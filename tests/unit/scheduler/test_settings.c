/* test_settings.c — the scheduler's configuration: defaults, mistakes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "scheduler/settings.h"

static int load(const char *text, struct settings *s, struct err *e)
{
	char path[] = "/tmp/procession-settings-XXXXXX";
	int fd = mkstemp(path), rc;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	rc = scheduler_settings_init(s, e);
	assert_int_equal(rc, 0);
	rc = scheduler_settings_load(s, path, e);
	unlink(path);
	return rc;
}

static void defaults_and_values(void **state)
{
	struct settings s;
	struct err e = { 0 };
	const struct handler *h;

	(void)state;
	assert_int_equal(load("", &s, &e), 0);
	assert_int_equal(s.interval, 60);
	assert_int_equal(s.nhandlers, 0);
	scheduler_settings_fini(&s);
	assert_int_equal(load("[scheduler]\ninterval = 5 ; short\nstate=/x\nstate=/y\nin_doubt = "
			      "skip\n[handler:dlimportjob]\ncommand=/bin/true a\ntimeout = 7\n",
			      &s, &e),
			 0);
	assert_int_equal(s.interval, 5);
	assert_string_equal(s.state, "/y");
	assert_int_equal(s.in_doubt, IN_DOUBT_SKIP);
	h = scheduler_settings_handler(&s, schedule_class_by_name(STR("DLImportJob")));
	assert_non_null(h);
	assert_int_equal(h->timeout_s, 7);
	assert_string_equal(h->argv[1], "a");
	assert_null(scheduler_settings_handler(&s, schedule_class_by_name(STR("UserProfileImportJob"))));
	scheduler_settings_fini(&s);
}

static void mistakes_name_their_line(void **state)
{
	static const char *const wrong[] = { "[scheduler]\nmax_running = 0\n",
					     "[scheduler]\nmax_running = 1001\n",
					     "[scheduler]\ninterval = -1\n",
					     "[scheduler]\ninterval = 6x\n",
					     "[scheduler]\nx = 1\n",
					     "[handler:X]\ncommand = /a\n",
					     "[handler:DLImportJob]\ncommand = a\n",
					     "[handler:DLImportJob]\nx = /a\n",
					     "nothing\n",
					     "[x]\ny = z\n" };
	struct settings s;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		memset(&e, 0, sizeof(e));
		assert_int_equal(load(wrong[i], &s, &e), -1);
		assert_non_null(strstr(e.text, wrong[i][0] == 'n' ? ":1:" : ":2:"));
		scheduler_settings_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_and_values),
		cmocka_unit_test(mistakes_name_their_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
