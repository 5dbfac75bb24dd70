/* test_pool.c — reader threads: a burst of reads waits for those there are; none is made for a
 * place that no call may take. */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

#define BURST 40
#define READERS 2 /* of the fixture; one thread more is for procedures */

/* Threads of this process that read for the database "Test". */
static unsigned reader_threads(void)
{
	DIR *tasks = opendir("/proc/self/task");
	unsigned n = 0;

	assert_non_null(tasks);
	for (struct dirent *one = readdir(tasks); one != NULL; one = readdir(tasks)) {
		char path[300], name[32] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", one->d_name);
		f = fopen(path, "r");
		if (f == NULL)
			continue;
		if (fgets(name, sizeof(name), f) != NULL)
			n += strcmp(name, "r-Test\n") == 0;
		fclose(f);
	}
	closedir(tasks);
	return n;
}

/* What the threads that were started are called is known once they run; so they are counted
 * after the burst, too. */
static void a_burst_of_reads_makes_no_more_threads_than_there_are_places(void **state)
{
	struct fixture *f = *state;
	struct test_call calls[BURST];

	fixture_start(f);
	for (int round = 0; round < 5; round++) {
		unsigned most = 0;

		for (int i = 0; i < BURST; i++) {
			unsigned now;

			call_init(&calls[i], P_COUNT, 0, 0);
			if (engine_submit_quietly(&f->db, &calls[i].call))
				engine_wake(&f->db, false);
			now = reader_threads();
			most = now > most ? now : most;
		}
		for (int i = 0; i < BURST; i++) {
			assert_int_equal(call_wait(&calls[i]), 0);
			call_fini(&calls[i]);
		}
		assert_in_range(most, 0, READERS + 1);
		assert_in_range(reader_threads(), 1, READERS + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_burst_of_reads_makes_no_more_threads_than_there_are_places,
						fixture_up, fixture_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
