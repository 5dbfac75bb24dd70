/* test_config.c — settings from their four places, and what is said about bad ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/config.h"
#include "config/config_int.h"

/* Loads with the arguments after the program's name. */
#define LOAD(ret, err, ...) load((char *[]){ "processiond", ##__VA_ARGS__, NULL }, ret, err)

static int load(char **argv, struct config **ret, struct err *e)
{
	int argc = 0;

	while (argv[argc] != NULL)
		argc++;
	memset(e, 0, sizeof(*e));
	return config_load(argc, argv, ret, e);
}

static char path[] = "/tmp/test_config_XXXXXX", flag[64];

static void write_file(const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fputs(text, f) < 0, 0);
	assert_int_equal(fclose(f), 0);
}

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

static void assert_refused(char **argv, const char *part)
{
	struct config *c = NULL;
	struct err e;

	assert_int_equal(load(argv, &c, &e), -1);
	if (strstr(e.text, part) == NULL)
		fail_msg("'%s' lacks '%s'", e.text, part);
	assert_null(c);
}
#define REFUSED(part, ...) assert_refused((char *[]){ "processiond", ##__VA_ARGS__, NULL }, part)

static void defaults_come_from_the_table(void **state)
{
	struct config *c;
	struct err e;

	(void)state;
	assert_int_equal(LOAD(&c, &e, "--data", "/d"), 0);
	assert_string_equal(c->data, "/d");
	assert_string_equal(c->listen, "127.0.0.1:1433");
	assert_string_equal(c->server_name, "");
	assert_int_equal(c->encrypt, ENCRYPT_OPTIONAL);
	assert_int_equal(c->max_connections, 10000);
	config_free(c);
}

static void flags_take_both_forms(void **state)
{
	struct config *c;
	struct err e;

	(void)state;
	assert_int_equal(LOAD(&c, &e, "--data=/x=y", "--io-threads", "7", "--encrypt=Required",
			      "--max-value-size", "16K"),
			 0);
	assert_string_equal(c->data, "/x=y");
	assert_int_equal(c->io_threads, 7);
	assert_int_equal(c->encrypt, ENCRYPT_REQUIRED);
	assert_int_equal(c->max_value_size, 16384);
	config_free(c);
}

static void a_flag_beats_the_environment_and_that_the_file(void **state)
{
	struct config *c;
	struct err e;

	(void)state;
	write_file("# sample\n[processiond]\nio_threads = 3\nreaders = 3\nlogin-timeout = 3 ; a "
		   "comment\nmax_request_size = 1M\n");
	setenv("PROCESSION_READERS", "4", 1);
	setenv("PROCESSION_LOGIN_TIMEOUT", "4", 1);
	assert_int_equal(LOAD(&c, &e, "--config", path, "--login-timeout", "5", "--data", "d"), 0);
	assert_int_equal(c->io_threads, 3);
	assert_int_equal(c->readers, 4);
	assert_int_equal(c->login_timeout, 5);
	assert_int_equal(c->max_request_size, 1048576);
	config_free(c);
	unsetenv("PROCESSION_READERS");
	unsetenv("PROCESSION_LOGIN_TIMEOUT");
}

static void the_environment_can_name_the_file(void **state)
{
	struct config *c;
	struct err e;

	(void)state;
	write_file("data = /from/file\n");
	setenv("PROCESSION_CONFIG", path, 1);
	assert_int_equal(LOAD(&c, &e), 0);
	assert_string_equal(c->data, "/from/file");
	config_free(c);
	unsetenv("PROCESSION_CONFIG");
}

static void a_reload_reads_the_file_again_and_keeps_the_flags(void **state)
{
	struct config *c, *again;
	struct err e;

	(void)state;
	write_file("log_level = warn\nreaders = 3\n");
	assert_int_equal(LOAD(&c, &e, "--config", path, "--data", "d", "--readers=9"), 0);
	assert_int_equal(c->log_level, 1);
	write_file("log_level = debug\nreaders = 5\n");
	assert_int_equal(config_reload(c, &again, &e), 0);
	assert_int_equal(again->log_level, 3);
	assert_int_equal(again->readers, 9);
	assert_int_equal(c->log_level, 1);
	write_file("log_level = loud\n");
	config_free(c);
	assert_int_equal(config_reload(again, &c, &e), -1);
	config_free(again);
}

static void bad_values_are_named_with_their_place(void **state)
{
	(void)state;
	REFUSED("--data DIR is missing");
	REFUSED("flag --io-threads: '-2' is not a value for 'io_threads'; it takes a number of threads, 0 to "
		"64",
		"--data", "d", "--io-threads", "-2");
	REFUSED("'65'", "--data", "d", "--io-threads=65");
	REFUSED("'1K'", "--data", "d", "--io-threads=1K");
	REFUSED("'-1'", "--data", "d", "--io-threads=-1");
	REFUSED("''", "--data", "d", "--io-threads=");
	REFUSED("'99999999999999999999'", "--data", "d", "--max-value-size", "99999999999999999999");
	REFUSED("'9999999999G'", "--data", "d", "--max-value-size", "9999999999G");
	REFUSED("one of off|on|required|strict", "--data", "d", "--encrypt", "maybe");
	REFUSED("a value is missing", "--data");
	REFUSED("unknown flag '--datum'", "--datum", "d");
	REFUSED("unknown argument 'start'", "--data", "d", "start");
	setenv("PROCESSION_MAX_QUEUE", "many", 1);
	REFUSED("environment PROCESSION_MAX_QUEUE: 'many'", "--data", "d");
	unsetenv("PROCESSION_MAX_QUEUE");
}

static void bad_lines_are_named_with_file_and_line(void **state)
{
	char long_line[400], want[200];

	(void)state;
	write_file("\nreaders = 3\nreaders = 4\n");
	snprintf(want, sizeof(want), "%s:3: 'readers' is set twice", path);
	REFUSED(want, "--data", "d", "--config", path);
	write_file("reeders = 3\n");
	REFUSED(":1: unknown setting 'reeders'", "--data", "d", "--config", path);
	write_file("[logs]\nreaders = 3\n");
	REFUSED(":2: unknown section [logs]", "--data", "d", "--config", path);
	write_file("readers = 3\njust words\n");
	REFUSED(":2: not a setting", "--data", "d", "--config", path);
	write_file("readers = 0\n");
	REFUSED(":1: '0' is not a value for 'readers'", "--data", "d", "--config", path);
	write_file("config = other\n");
	REFUSED("a file cannot name another", "--data", "d", "--config", path);
	memset(long_line, 'x', sizeof(long_line));
	memcpy(long_line, "data = ", 7);
	long_line[sizeof(long_line) - 1] = '\0';
	write_file(long_line);
	REFUSED(":1: the line is longer than 198 bytes", "--data", "d", "--config", path);
	REFUSED("cannot read the configuration file '/nowhere'", "--data", "d", "--config", "/nowhere");
}

static void every_setting_is_in_help_and_manual(void **state)
{
	static char help[64 * 1024], man[64 * 1024];
	FILE *f = fmemopen(help, sizeof(help), "w"), *g = fmemopen(man, sizeof(man), "w");

	(void)state;
	config_manual_print_help(f);
	config_manual_print_man(g);
	fclose(f);
	fclose(g);
	for (size_t i = 0; i < config_table.n; i++) {
		const struct setting *s = &config_table.settings[i];
		char item[80];

		if (s->kind == KIND_GROUP)
			continue;
		assert_non_null(strstr(help, s->flag));
		snprintf(item, sizeof(item), ".It Fl \\-%.*s", (int)config_setting_flag_len(s) - 2,
			 s->flag + 2);
		assert_non_null(strstr(man, item));
		assert_ptr_equal(config_table_find(&config_table, s->name), s);
	}
}

/* What is computed of a setting fits: seconds become milliseconds (64 bits), times and counts
 * become int or unsigned, MiB become KiB in an int for SQLite, millions of steps become steps
 * (64 bits). */
static void no_bound_overflows_what_is_computed_of_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < config_table.n; i++) {
		const struct setting *s = &config_table.settings[i];
		char text[32];
		struct config *c;
		struct err e;

		if (s->kind != KIND_INT)
			continue;
		assert_true(s->min >= 0 && s->min <= s->max);
		if (strcmp(s->unit, "bytes") == 0)
			assert_true(s->max <= INT64_MAX / 2);
		else if (strcmp(s->unit, "million steps") == 0)
			assert_true(s->max <= INT64_MAX / 1000000);
		else if (strcmp(s->unit, "MiB") == 0)
			assert_true(s->max <= INT32_MAX / 1024);
		else
			assert_true(s->max <= INT32_MAX);
		snprintf(text, sizeof(text), "%lld", s->max);
		snprintf(flag, sizeof(flag), "%.*s", (int)config_setting_flag_len(s), s->flag);
		assert_int_equal(LOAD(&c, &e, "--data", "d", flag, text), 0);
		assert_int_equal(*(long long *)(void *)((char *)c + s->offset), s->max);
		config_free(c);
		snprintf(text, sizeof(text), "%lld", s->max + 1);
		assert_refused((char *[]){ "processiond", "--data", "d", flag, text, NULL }, s->name);
	}
}

static void help_ends_the_program(void **state)
{
	struct config *c = NULL;
	struct err e;

	(void)state;
	assert_int_equal(LOAD(&c, &e, "--version"), 1);
	assert_int_equal(LOAD(&c, &e, "--data", "d", "--help"), 1);
	assert_null(c);
	config_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_come_from_the_table),
		cmocka_unit_test(flags_take_both_forms),
		cmocka_unit_test(a_flag_beats_the_environment_and_that_the_file),
		cmocka_unit_test(the_environment_can_name_the_file),
		cmocka_unit_test(a_reload_reads_the_file_again_and_keeps_the_flags),
		cmocka_unit_test(bad_values_are_named_with_their_place),
		cmocka_unit_test(bad_lines_are_named_with_file_and_line),
		cmocka_unit_test(every_setting_is_in_help_and_manual),
		cmocka_unit_test(no_bound_overflows_what_is_computed_of_it),
		cmocka_unit_test(help_ends_the_program),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
