/* test_worker.c — what a worker keeps on the disk and how it is configured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "worker/history.h"
#include "worker/settings.h"
#include "worker/worker_int.h"

static char dir[] = "/tmp/procession-worker-XXXXXX";

static int setup(void **state)
{
	(void)state;
	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
	return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void claims_survive_with_their_instance(void **state)
{
	const struct queue_key a = { 1, 2, 3 }, b = { INT64_MIN, -5, 7 };
	struct claims *c;
	struct claim *found;
	struct err e = { 0 };
	char instance[37];

	(void)state;
	assert_int_equal(worker_claims_open(dir, false, &c, &e), 0);
	memcpy(instance, worker_claims_instance(c), 37);
	assert_int_equal(worker_claims_add(c, &a, "/srv/a \"b\"", "x\ny.pdf", &e), 0);
	assert_int_equal(worker_claims_add(c, &b, NULL, NULL, &e), 0);
	assert_int_equal(worker_claims_save(c, &e), 0);
	worker_claims_close(c);
	assert_int_equal(worker_claims_open(dir, false, &c, &e), 0);
	assert_string_equal(worker_claims_instance(c), instance);
	found = worker_claims_find(c, &a);
	assert_non_null(found);
	assert_string_equal(found->output_root, "/srv/a \"b\"");
	assert_string_equal(found->output, "x\ny.pdf");
	assert_false(found->in_hand);
	assert_non_null(worker_claims_find(c, &b));
	worker_claims_remove(c, &a);
	assert_null(worker_claims_find(c, &a));
	worker_claims_close(c);
}

static void one_folder_has_one_worker(void **state)
{
	struct claims *c, *other;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(worker_claims_open(dir, false, &c, &e), 0);
	assert_int_equal(worker_claims_open(dir, false, &other, &e), -1);
	assert_non_null(strstr(e.text, "--state"));
	assert_int_equal(worker_claims_open(dir, true, &other, &e), 0); /* c has it for this one */
	worker_claims_close(other);
	assert_int_equal(worker_claims_open(dir, false, &other, &e), -1);
	worker_claims_close(c);
	assert_int_equal(worker_claims_open(dir, false, &other, &e), 0);
	worker_claims_close(other);
}

static void a_damaged_line_of_the_journal_is_left_out(void **state)
{
	struct claims *c;
	struct err e = { 0 };
	char path[128];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/journal", dir);
	f = fopen(path, "we");
	fputs("[1, 1, 1, \"r\", \"o\"]\n[2, 1, \n[3, 1, 1, \"r\", \"open]\nrubbish\n[4, 1, 1, \"r\", "
	      "\"o\"]\n",
	      f);
	fclose(f);
	assert_int_equal(worker_claims_open(dir, false, &c, &e), 0);
	assert_non_null(worker_claims_find(c, &(struct queue_key){ 1, 1, 1 }));
	assert_null(worker_claims_find(c, &(struct queue_key){ 2, 1, 1 }));
	assert_null(worker_claims_find(c, &(struct queue_key){ 3, 1, 1 }));
	assert_non_null(worker_claims_find(c, &(struct queue_key){ 4, 1, 1 }));
	worker_claims_close(c);
}

static void the_newest_failure_of_an_item_is_shown(void **state)
{
	struct history_line l = {
		.service = "convert", .key = { 5, 1, 1 }, .error = 11, .input = "a\"b", .text = "first"
	};
	struct history *h;
	struct err e = { 0 };

	(void)state;
	worker_history_append(dir, &l);
	l.text = "second, \"quoted\"";
	worker_history_append(dir, &l);
	l.key.job = 6;
	l.text = "another job";
	worker_history_append(dir, &l);
	l.key.job = 5;
	l.service = "translate";
	worker_history_append(dir, &l);
	assert_int_equal(worker_history_read(dir, "convert", 5, &h, &e), 0);
	assert_string_equal(worker_history_text(h, 1, 1), "second, \"quoted\"");
	assert_null(worker_history_text(h, 1, 2));
	worker_history_free(h);
	assert_int_equal(worker_history_read("/nowhere", "convert", 5, &h, &e), 0);
	assert_null(worker_history_text(h, 1, 1));
	worker_history_free(h);
}

static int load(const char *text, struct worker_settings *s, struct err *e)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/worker.ini", dir);
	f = fopen(path, "we");
	fputs(text, f);
	fclose(f);
	assert_int_equal(worker_settings_init(s, e), 0);
	return worker_settings_load(s, path, NULL, NULL, e);
}

static void settings_are_read(void **state)
{
	struct worker_settings s;
	struct document_places *p;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(
		load("[worker]\nslots = 3\nroots = /tmp /usr\nhosts = a.example, *.b.example\njail = off\n",
		     &s, &e),
		0);
	assert_int_equal(worker_settings_slots(&s), 3);
	assert_false(s.jail);
	assert_int_equal(worker_settings_check(&s, &e), 0);
	assert_int_equal(worker_settings_places(&s, &p, &e), 0);
	document_places_free(p);
	worker_settings_fini(&s);
}

static void wrong_settings_are_refused_with_their_line(void **state)
{
	static const char *const wrong[] = { "[worker]\nslots = 65\n", "[worker]\nslots = many\n",
					     "[worker]\nslot = 1\n",   "[worker]\njail = maybe\n",
					     "[other]\nx = 1\n",       "[worker]\nlog_level = loud\n" };
	struct worker_settings s;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct err e = { 0 };

		assert_int_equal(load(wrong[i], &s, &e), -1);
		assert_non_null(strstr(e.text, "worker.ini:2: "));
		worker_settings_fini(&s);
	}
}

static void a_limit_near_the_stale_threshold_is_refused(void **state)
{
	struct worker_settings s;
	struct document_places *p;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(load("[worker]\ntime_limit = 100\nstale_after = 124\nroots = /nowhere\n", &s, &e),
			 0);
	assert_int_equal(worker_settings_check(&s, &e), -1);
	assert_non_null(strstr(e.text, "stale_after"));
	assert_int_equal(worker_settings_places(&s, &p, &e), -1);
	assert_non_null(strstr(e.text, "/nowhere"));
	worker_settings_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(claims_survive_with_their_instance, setup, teardown),
		cmocka_unit_test_setup_teardown(one_folder_has_one_worker, setup, teardown),
		cmocka_unit_test_setup_teardown(a_damaged_line_of_the_journal_is_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(the_newest_failure_of_an_item_is_shown, setup, teardown),
		cmocka_unit_test_setup_teardown(settings_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_settings_are_refused_with_their_line, setup, teardown),
		cmocka_unit_test_setup_teardown(a_limit_near_the_stale_threshold_is_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
