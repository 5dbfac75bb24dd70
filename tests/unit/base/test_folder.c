/* test_folder.c — a folder has one user at a time, whatever is deleted in it. */
#include "base/folder.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char top[] = "/tmp/procession-folder-XXXXXX", dir[128];

static int make(void **state)
{
	(void)state;
	if (mkdtemp(top) == NULL)
		return -1;
	snprintf(dir, sizeof(dir), "%s/a/b", top);
	return folder_make(dir) ? 0 : -1;
}

static int clean(void **state)
{
	char command[160];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", top);
	return system(command);
}

static void what_is_made_is_for_this_user(void **state)
{
	char middle[128];
	struct stat s;

	(void)state;
	snprintf(middle, sizeof(middle), "%s/a", top);
	assert_int_equal(stat(middle, &s), 0);
	assert_int_equal(s.st_mode & 0777, 0700);
	assert_true(folder_make(dir)); /* there already */
	assert_false(folder_make(""));
	assert_false(folder_make("/proc/no/such"));
}

static void files_are_opened_and_renamed(void **state)
{
	char longest[5000];
	FILE *f = folder_fopen(dir, "new", "we");

	(void)state;
	assert_non_null(f);
	fclose(f);
	assert_true(folder_rename(dir, "new", "file"));
	assert_null(folder_fopen(dir, "new", "re"));
	assert_false(folder_rename(dir, "new", "file"));
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	assert_null(folder_fopen(dir, longest, "we"));
	assert_int_equal(errno, ENAMETOOLONG);
	assert_false(folder_rename(dir, "file", longest));
}

static void refused(void)
{
	struct folder_lock l;

	errno = 0;
	assert_false(folder_lock(dir, &l));
	assert_int_equal(errno, EWOULDBLOCK);
}

static void one_has_the_lock(void **state)
{
	struct folder_lock l = FOLDER_UNLOCKED;

	(void)state;
	assert_true(folder_lock(dir, &l));
	refused();
	folder_unlock(&l);
	assert_true(folder_lock(dir, &l));
	folder_unlock(&l);
	folder_unlock(&l);
}

static void the_lock_outlives_its_file(void **state)
{
	struct folder_lock l;
	char path[160];

	(void)state;
	assert_true(folder_lock(dir, &l));
	snprintf(path, sizeof(path), "%s/lock", dir);
	assert_int_equal(unlink(path), 0);
	refused();
	folder_unlock(&l);
}

/* Where folders cannot be locked, and with programs that lock the file only. */
static void the_file_alone_is_enough(void **state)
{
	struct folder_lock l;

	(void)state;
	assert_true(folder_lock(dir, &l));
	close(l.dir);
	l.dir = -1;
	refused();
	folder_unlock(&l);
}

static void without_a_folder_errno_says_why(void **state)
{
	struct folder_lock l;

	(void)state;
	assert_false(folder_lock("/proc/no/such", &l));
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_made_is_for_this_user),
		cmocka_unit_test(files_are_opened_and_renamed),
		cmocka_unit_test(one_has_the_lock),
		cmocka_unit_test(the_lock_outlives_its_file),
		cmocka_unit_test(the_file_alone_is_enough),
		cmocka_unit_test(without_a_folder_errno_says_why),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
