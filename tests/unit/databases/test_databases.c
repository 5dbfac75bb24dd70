/* test_databases.c — a data folder from nothing: the four databases, more of them, and what is
 * refused. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "databases/databases.h"
#include "engine/sqlite/sqlite.h"

static char dir[64];
static struct engine *engine;

static int dir_up(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/procession-dir-XXXXXX");
	if (mkdtemp(dir) == NULL)
		return -1;
	engine = engine_sqlite_new(&(struct engine_sqlite_options){
		.dir = dir,
		.readers = 1,
		.limits = { .execution_timeout_s = 10, .lock_timeout_ms = 1000, .max_queue = 100 } });
	return engine == NULL ? -1 : 0;
}

static int dir_down(void **state)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[400];

	(void)state;
	engine_free(engine);
	while (d != NULL && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (e->d_name[0] != '.')
			unlink(path);
	}
	closedir(d);
	return rmdir(dir);
}

static int open_dir(struct databases **ret, struct err *e)
{
	const struct databases_options o = { .engine = engine };

	return databases_open(&o, ret, e);
}

static void count_one(struct database *db, void *arg)
{
	assert_non_null(db->engine);
	(*(int *)arg)++;
}

static void a_new_folder_gets_the_four_databases(void **state)
{
	struct databases *d;
	struct err e;
	int n = 0;

	(void)state;
	if (open_dir(&d, &e) < 0)
		fail_msg("%s", e.text);
	databases_each(d, count_one, &n);
	assert_int_equal(n, 5);
	assert_int_equal(databases_find(d, STR("stateservice"))->service, SERVICE_STATE);
	assert_ptr_equal(databases_find(d, STR("MASTER")), databases_system(d));
	assert_ptr_equal(databases_find(d, STR("")), databases_system(d));
	assert_null(databases_find(d, STR("nothing")));
	databases_close(d);
	assert_int_equal(open_dir(&d, &e), 0); /* and keeps them */
	n = 0;
	databases_each(d, count_one, &n);
	assert_int_equal(n, 5);
	databases_close(d);
}

static void databases_can_be_added(void **state)
{
	struct databases *d;
	struct err e;
	struct databases_created created;
	char first[ENGINE_IDENTITY];
	char *report;

	(void)state;
	assert_int_equal(open_dir(&d, &e), 0);
	assert_int_equal(databases_create(d, STR("State 2"), SERVICE_STATE, true, 9, &created, &e), 0);
	assert_int_equal(strlen(created.identity), 32);
	assert_string_equal(created.place, "State 2.db");
	snprintf(first, sizeof(first), "%s", created.identity);
	assert_int_equal(databases_set(d, STR("state 2"),
				       &(struct engine_settings){ .errata_literal = true,
								  .relaxed = true,
								  .commit_interval_ms = 10 },
				       &e),
			 0);
	assert_int_equal(databases_set(d, STR("State 9"),
				       &(struct engine_settings){ .errata_literal = true,
								  .relaxed = true,
								  .commit_interval_ms = 10 },
				       &e),
			 -1);
	assert_ptr_equal(databases_by_id(d, 9), databases_find(d, STR("State 2")));
	/* again: its row was not kept */
	assert_int_equal(databases_create(d, STR("State 2"), SERVICE_STATE, true, 10, &created, &e), 0);
	assert_string_equal(created.identity, first);
	assert_ptr_equal(databases_by_id(d, 10), databases_find(d, STR("State 2")));
	assert_null(databases_by_id(d, 9));
	assert_int_equal(databases_create(d, STR("State 3"), SERVICE_STATE, true, 10, &created, &e), 0);
	assert_string_not_equal(created.identity, first);
	assert_ptr_equal(databases_by_id(d, 10), databases_find(d, STR("State 3")));
	assert_int_equal(databases_create(d, STR("State 2"), SERVICE_WORD, true, 9, &created, &e), -1);
	assert_int_equal(databases_create(d, STR("../x"), SERVICE_STATE, false, 9, &created, &e), -1);
	assert_int_equal(databases_create(d, STR("tempdb"), SERVICE_STATE, false, 9, &created, &e), -1);
	assert_int_equal(databases_create(d, STR("System"), SERVICE_STATE, false, 9, &created, &e), -1);
	assert_int_equal(databases_create(d, STR(" x"), SERVICE_STATE, false, 9, &created, &e), -1);
	assert_int_equal(databases_create(d, STR(""), SERVICE_STATE, false, 9, &created, &e), -1);
	assert_int_equal(databases_check(d, STR("State 2"), &report, &e), 0);
	assert_string_equal(report, "ok");
	free(report);
	assert_int_equal(databases_check(d, STR("nothing"), &report, &e), -1);
	assert_int_equal(e.number, 911);
	databases_close(d);
}

static void a_lost_file_is_not_replaced_by_an_empty_one(void **state)
{
	struct databases *d;
	struct database *db;
	struct err e;
	char path[200], *report;

	(void)state;
	assert_int_equal(open_dir(&d, &e), 0);
	databases_close(d);
	snprintf(path, sizeof(path), "%s/Translation.db", dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_dir(&d, &e), 0);
	db = databases_find(d, STR("Translation"));
	assert_null(db->engine);
	assert_non_null(strstr(databases_damage(db), path));
	assert_int_equal(databases_damaged(d), 1);
	assert_non_null(databases_find(d, STR("StateService"))->engine);
	assert_int_equal(databases_check(d, STR("Translation"), &report, &e), 0);
	assert_non_null(strstr(report, "missing"));
	free(report);
	assert_int_equal(databases_set(d, STR("Translation"),
				       &(struct engine_settings){ .errata_literal = true,
								  .relaxed = true,
								  .commit_interval_ms = 10 },
				       &e),
			 0);
	databases_close(d);
	assert_int_equal(access(path, F_OK), -1);
}

static void a_used_folder_without_its_system_store_is_refused(void **state)
{
	struct databases *d;
	struct err e;
	char path[200];

	(void)state;
	assert_int_equal(open_dir(&d, &e), 0);
	databases_close(d);
	snprintf(path, sizeof(path), "%s/system.db", dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(open_dir(&d, &e), -1);
	assert_non_null(strstr(e.text, "--set-aside \"master\""));
	assert_int_equal(access(path, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_folder_gets_the_four_databases, dir_up, dir_down),
		cmocka_unit_test_setup_teardown(databases_can_be_added, dir_up, dir_down),
		cmocka_unit_test_setup_teardown(a_lost_file_is_not_replaced_by_an_empty_one, dir_up,
						dir_down),
		cmocka_unit_test_setup_teardown(a_used_folder_without_its_system_store_is_refused, dir_up,
						dir_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
