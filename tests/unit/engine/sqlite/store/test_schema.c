/* test_schema.c — files are created, migrated, or refused with a text that names the file and
 * what to do. */
#include "fixture.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[] = "/tmp/procession-schema-XXXXXX";

static int file_up(void **state)
{
	int fd;

	(void)state;
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	if (fd < 0)
		return -1;
	close(fd);
	return unlink(path);
}

static int file_down(void **state)
{
	char name[sizeof(path) + 8];

	(void)state;
	unlink(path);
	snprintf(name, sizeof(name), "%s-wal", path);
	unlink(name);
	snprintf(name, sizeof(name), "%s-shm", path);
	unlink(name);
	return 0;
}

static int open_as(const struct service_procs *p, struct fixture *f)
{
	struct store_options o = { .path = path, .name = "Test", .service = p };

	f->conn = NULL;
	if (store_open(&o, &f->store, &f->err) < 0)
		return -1;
	assert_int_equal(store_connect(f->store, false, &f->conn, &f->err), 0);
	return 0;
}

static void close_it(struct fixture *f)
{
	store_disconnect(f->conn);
	store_close(f->store);
}

static void a_new_file_gets_the_schema_and_keeps_others_out(void **state)
{
	struct fixture f;
	struct stat st;

	(void)state;
	assert_int_equal(open_as(&fixture_service, &f), 0);
	assert_int_equal(fixture_number(&f, "SELECT user_version FROM pragma_user_version"), 2);
	assert_int_equal(fixture_number(&f, "SELECT count(size) FROM part"), 0);
	assert_int_equal(fixture_number(&f, "SELECT synchronous FROM pragma_synchronous"), 2);
	assert_int_equal(fixture_number(&f, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
	assert_int_equal(fixture_number(&f, "SELECT foreign_keys FROM pragma_foreign_keys"), 1);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	close_it(&f);
}

static void an_older_file_is_migrated_and_keeps_its_rows(void **state)
{
	struct service_procs old = fixture_service;
	struct fixture f;

	(void)state;
	old.nmigrations = 1;
	assert_int_equal(open_as(&old, &f), 0);
	assert_int_equal(fixture_run(&f, "INSERT INTO part (id) VALUES (9)"), 0);
	close_it(&f);
	assert_int_equal(open_as(&fixture_service, &f), 0);
	assert_int_equal(fixture_number(&f, "SELECT id FROM part WHERE size IS NULL"), 9);
	close_it(&f);
}

static void a_migration_that_fails_leaves_the_file_as_it_was(void **state)
{
	const char *const bad[] = { fixture_migrations[0], "CREATE TABLE half (a); CREATE TABLE item (a)" };
	struct service_procs broken = fixture_service, old = fixture_service;
	struct fixture f;

	(void)state;
	broken.migrations = bad;
	assert_int_equal(open_as(&broken, &f), -1);
	old.nmigrations = 1;
	assert_int_equal(open_as(&old, &f), 0);
	assert_int_equal(fixture_number(&f, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'"), 0);
	close_it(&f);
}

static void a_newer_schema_is_refused(void **state)
{
	struct service_procs old = fixture_service;
	struct fixture f;

	(void)state;
	assert_int_equal(open_as(&fixture_service, &f), 0);
	close_it(&f);
	old.nmigrations = 1;
	assert_int_equal(open_as(&old, &f), -1);
	assert_non_null(strstr(f.err.text, path));
	assert_non_null(strstr(f.err.text, "schema version 2"));
}

static void another_services_file_is_refused(void **state)
{
	static const struct proc procs[] = { { .name = "p", .service = SERVICE_WORD } };
	struct service_procs word = fixture_service;
	struct fixture f;

	(void)state;
	assert_int_equal(open_as(&fixture_service, &f), 0);
	close_it(&f);
	word.name = "word";
	word.procs = procs;
	assert_int_equal(open_as(&word, &f), -1);
	assert_non_null(strstr(f.err.text, "another service"));
}

static void a_strangers_file_is_refused(void **state)
{
	struct fixture f;
	FILE *file = fopen(path, "w");

	(void)state;
	assert_non_null(file);
	for (int i = 0; i < 500; i++)
		fputs("this is not a database\n", file);
	fclose(file);
	assert_int_equal(open_as(&fixture_service, &f), -1);
	assert_string_not_equal(f.err.text, "");
}

static void a_folder_that_is_not_there_is_named(void **state)
{
	struct store_options o = { .path = "/nonexistent/folder/x.db",
				   .name = "Test",
				   .service = &fixture_service };
	struct fixture f;

	(void)state;
	assert_int_equal(store_open(&o, &f.store, &f.err), -1);
	assert_non_null(strstr(f.err.text, "/nonexistent/folder/x.db"));
}

static void a_check_finds_rows_without_parents(void **state)
{
	struct fixture f;
	char *report = NULL;

	(void)state;
	assert_int_equal(open_as(&fixture_service, &f), 0);
	assert_int_equal(store_check(f.store, &report, &f.err), 0);
	assert_string_equal(report, "ok");
	free(report);
	assert_int_equal(store_script(f.conn,
				      "PRAGMA foreign_keys=OFF; INSERT INTO part (item) VALUES ('nobody')",
				      &f.err),
			 0);
	assert_int_equal(store_check(f.store, &report, &f.err), -1);
	assert_non_null(strstr(report, "table part refers to a missing row of item"));
	free(report);
	close_it(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_file_gets_the_schema_and_keeps_others_out, file_up,
						file_down),
		cmocka_unit_test_setup_teardown(an_older_file_is_migrated_and_keeps_its_rows, file_up,
						file_down),
		cmocka_unit_test_setup_teardown(a_migration_that_fails_leaves_the_file_as_it_was, file_up,
						file_down),
		cmocka_unit_test_setup_teardown(a_newer_schema_is_refused, file_up, file_down),
		cmocka_unit_test_setup_teardown(another_services_file_is_refused, file_up, file_down),
		cmocka_unit_test_setup_teardown(a_strangers_file_is_refused, file_up, file_down),
		cmocka_unit_test(a_folder_that_is_not_there_is_named),
		cmocka_unit_test_setup_teardown(a_check_finds_rows_without_parents, file_up, file_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
